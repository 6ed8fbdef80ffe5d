# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Drafts accept versions as lists, pairs, texts and ranges."""

import importlib

import pytest

FORMS = ([0, 1], (0, 1), "0-1", {0, 1}, range(2))
"""Versions 0 and 1 of an API in all supported forms."""


def draft_of(kwire, name):
    return importlib.import_module(f"{kwire.__name__}.drafts.{name}")


def forms_of(kwire):
    return (*FORMS, kwire.VersionRange(0, 1))


def test_documents_of_document_000_accept_each_form(kwire):
    draft = draft_of(kwire, "kip35_api_version")
    for versions in forms_of(kwire):
        documents = {4: {12: versions}}
        table = draft.documented_table(4, documents)
        assert table.advertised == {12: (0, 1)}, versions
        server = draft.Server(4, "0.10.0", documents=documents)
        assert server.table == table


def test_documents_exclude_what_a_list_omits(kwire):
    """A table contains ranges, so its policy excludes gaps in the documentation."""
    draft = draft_of(kwire, "kip35_api_version")
    table = draft.documented_table(4, {4: {1: [0, 2]}})
    assert (table.usable(1), table.advertised) == ((0, 2), {1: (0, 2)})
    assert draft.documented_table(4, {4: {1: (0, 2)}}).usable(1) == (0, 1, 2)


def test_lists_of_document_001_accept_each_form(kwire):
    draft = draft_of(kwire, "kip35_protocol_version_request")
    for versions in forms_of(kwire):
        response = draft.supported_apis({1: versions}, {1: versions})
        row = response.apis[0]
        assert (row.api_versions, row.api_deprecated_versions) == ((0, 1), (0, 1))
    (row,) = draft.supported_apis({1: [2, 1, 0]}).apis
    assert row.api_versions == (2, 1, 0)


def test_ranges_of_document_004_accept_each_form(kwire):
    draft = draft_of(kwire, "kip35_api_versions_query")
    for versions in forms_of(kwire):
        server = draft.Server(1000, {0: versions, 1: [3, 2]})
        assert server.table.advertised == {0: (0, 1), 1: (2, 3)}, versions
    with pytest.raises(ValueError, match=r"API key 5 must have no gaps.*\[0, 2\]"):
        draft.Server(1000, {5: [0, 2]})


@pytest.mark.parametrize(
    ("versions", "error", "words"),
    [
        ((1, 0), ValueError, r"lowest and the highest one \(got \(1, 0\)\)"),
        ("3-1", ValueError, "ends before it starts"),
        ([0, -1], ValueError, r"must be 0 to 32767 \(got -1\)"),
        ([0, "1"], ValueError, r"must be 0 to 32767 \(got '1'\)"),
        (3, TypeError, "must be a list, a pair of both ends"),
    ],
)
def test_versions_without_meaning_are_rejected(kwire, versions, error, words):
    lists = draft_of(kwire, "version_lists")
    with pytest.raises(error, match=words):
        lists.list_versions(versions)


def test_a_pair_is_a_range_and_a_list_is_not(kwire):
    lists = draft_of(kwire, "version_lists")
    assert lists.list_versions((0, 3)) == (0, 1, 2, 3)
    assert lists.list_versions([0, 3]) == (0, 3)
    assert lists.list_versions((0, 3, 1)) == (0, 3, 1)
