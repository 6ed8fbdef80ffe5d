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
def test_messages_name_what_is_near(kwire, name, near):
    """Who writes an API's name or mistypes one reads the class that is meant."""
    with pytest.raises(AttributeError, match=f"{name!r}; did you mean {near}"):
        getattr(kwire.messages, name)


@pytest.mark.parametrize("name", ["zzzzz", "_FetchRequest", "__wrapped__"])
def test_messages_do_not_guess_at_random(kwire, name):
    """What is near to nothing leads to the list; Python's own look-ups cost nothing."""
    with pytest.raises(AttributeError, match=r"see kwire\.messages\.ALL$"):
        getattr(kwire.messages, name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dmup", "no command is named 'dmup'; did you mean dump? "),
        ("exp", "did you mean export or explain? "),
        ("EXPLAIN", "did you mean explain? "),
        ("zzzzz", "no command is named 'zzzzz' "),
    ],
)
def test_commands_name_what_is_near(kwire, name, said):
    """A typing error in a command is answered with the command."""
    program = importlib.import_module(f"{kwire.__name__}.cli.main").program
    done = CliRunner().invoke(program, [name], prog_name="kwire")
    assert done.exit_code == 2
    assert said in done.stderr and "see kwire --help" in done.stderr


def test_long_names_cost_little():
    """The search is for typing errors; a name of a megabyte is none."""
    assert suggest_names("x" * 1_000_000, ["xx", "y"]) == ""
