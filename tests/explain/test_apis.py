# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the APIs and versions by release, and the search for message names."""

import importlib

import pytest


@pytest.fixture
def apis(kwire):
    """Return the ``apis`` module of the engine under test."""
    return importlib.import_module(f"{kwire.__name__}.explain.apis")


def api(apis, name, release):
    """Return the entry of the API ``name`` in the list for a Kafka release."""
    (match,) = [candidate for candidate in apis.apis(release) if candidate.name == name]
    return match


@pytest.mark.parametrize(
    ("release", "name", "versions", "notes"),
    [
        ("0.9.0", "Fetch", "0-1", []),
        ("2.8", "Fetch", "0-12", []),
        ("3.9", "Fetch", "0-17", [("0-3", "deprecated")]),
        ("4.0", "Fetch", "4-17", [("0-3", "removed in 4.0")]),
        ("4.4", "Fetch", "4-18", [("0-3", "removed in 4.0")]),
        ("4.4", "StopReplica", "none", [("0-4", "removed in 4.0")]),
        ("4.4", "InitProducerId", "0-5", [("6", "unstable")]),
        ("4.0", "ShareFetch", "none", [("0", "unstable")]),
        ("4.1", "ShareFetch", "1", [("0", "removed in 4.1")]),
        ("4.4", "JoinGroup", "0-9", []),
    ],
)
def test_release_describes_its_versions(apis, release, name, versions, notes):
    """An entry lists supported, deprecated and removed versions."""
    description = api(apis, name, release)
    assert str(description.versions) == versions
    assert description.notes() == notes


def test_notes_only_apply_to_their_versions(kwire, apis):
    fetch = api(apis, "Fetch", "4.4")
    assert fetch.notes(kwire.VersionRange(2, 5)) == [("2-3", "removed in 4.0")]
    assert fetch.notes(kwire.VersionRange(4, 18)) == []


def test_later_apis_are_unknown_to_a_release(apis):
    """The list of a release contains its own and removed APIs.

    APIs that a later release added are missing.
    """
    assert [entry.api_key for entry in apis.apis("0.8.0")] == list(range(8))
    assert [entry.api_key for entry in apis.apis()] == list(range(95))


def test_every_message_is_listed_once(kwire, apis):
    """The APIs and the other messages together list every message of kwire once."""
    names = [f"{a.name}{kind}" for a in apis.apis() for kind in ("Request", "Response")]
    for _, group in apis.other_messages():
        names += group
    assert sorted(names) == list(kwire.messages.ALL)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Fetch", ["FetchRequest", "FetchResponse"]),
        ("fetchresponse", ["FetchResponse"]),
        ("1", ["FetchRequest", "FetchResponse"]),
        ("OffsetCommit", ["OffsetCommitRequest", "OffsetCommitResponse"]),
        ("groupmetadata", ["GroupMetadataKey", "GroupMetadataValue"]),
        ("topic", ["TopicRecord"]),
        ("RequestHeader", ["RequestHeader"]),
    ],
)
def test_messages_are_found_by_common_names(apis, text, names):
    assert apis.find_messages(text) == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fetc", "no message fetc; did you mean Fetch, FetchRequest or FetchSnapshot?"),
        ("999", "unknown API key 999; kwire supports 0 to 94"),
        ("qqqq", "no message qqqq; kwire schema --all lists every message"),
    ],
)
def test_unknown_messages_get_a_hint(apis, text, words):
    with pytest.raises(KeyError) as caught:
        apis.find_messages(text)
    assert caught.value.args[0] == words


def test_releases_are_found_by_any_of_their_versions(apis):
    """The name of a patch release, such as 3.9.1, returns its release line, here 3.9.

    An unknown release raises KeyError, and the error contains the known range.
    """
    assert apis.release_name("3.9.1") == apis.release_name("3.9") == "3.9"
    assert apis.release_name("0.10.2.1") == "0.10.2"
    with pytest.raises(KeyError, match=r"no release 9\.1; kwire has 0\.8\.0 to"):
        apis.release_name("9.1")
