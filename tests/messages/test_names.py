# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""An error about an unknown name suggests similar names."""

import importlib

import pytest
from click.testing import CliRunner

from kwire._text import suggest_names


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("FetchReqest", "FetchRequest"),
        ("Fetch", "FetchRequest, FetchResponse"),
        ("fetchrequest", "FetchRequest"),
        ("GroupMetadata", "GroupMetadataKey, GroupMetadataValue"),
    ],
)
def test_unknown_message_suggests_similar_names(kwire, name, near):
    """The error about an unknown message name suggests similar message classes.

    The name is misspelled, or is the name of an API.
    """
    with pytest.raises(AttributeError, match=f"{name!r}; did you mean {near}"):
        getattr(kwire.messages, name)


@pytest.mark.parametrize("name", ["zzzzz", "_FetchRequest", "__wrapped__"])
def test_dissimilar_names_are_not_suggested(kwire, name):
    """The error about a dissimilar name refers to the list of messages.

    Private names are not searched, so that looking them up is fast.
    """
    with pytest.raises(AttributeError, match=r"see kwire\.messages\.ALL$"):
        getattr(kwire.messages, name)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("dmup", "unknown command 'dmup'; did you mean dump? "),
        ("exp", "did you mean export or explain? "),
        ("EXPLAIN", "did you mean explain? "),
        ("zzzzz", "unknown command 'zzzzz' "),
    ],
)
def test_unknown_command_suggests_similar_names(kwire, name, suggestion):
    """The error about an unknown command suggests similar commands."""
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    done = CliRunner().invoke(program, [name], prog_name="kwire")
    assert done.exit_code == 2
    assert suggestion in done.stderr and "see kwire --help" in done.stderr


def test_long_names_are_not_searched():
    """Long names are not searched, because they are not typing errors."""
    assert suggest_names("x" * 1_000_000, ["xx", "y"]) == ""
