# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check that the state and event tables in DESIGN.md match the code."""

import importlib
import re
from enum import Enum
from pathlib import Path

import pytest

DESIGN = Path(__file__).parents[3] / "DESIGN.md"

TABLES = {
    "batch of a producer": "produce.pending_batch",
    "member of a group": "group.member",
    "partition of a group": "group.group_reader",
    "transaction": "produce.transactions",
}
"""Subject in a table header, and the module with its ``TRANSITIONS``."""


def read_table(subject):
    """Return the transitions of a subject in DESIGN.md.

    The result is a set of (event, state, next state) tuples.
    """
    text = DESIGN.read_text()
    _, _, rest = text.partition(f"| event of a {subject} | from | to |\n")
    assert rest, f"DESIGN.md has no table for a {subject}"
    transitions = set()
    for line in rest.splitlines()[1:]:
        if not line.startswith("|"):
            break
        event, before, after = line.strip("|").split("|")
        name = event.split("`")[1]
        for state in re.findall("[A-Z_]+", before):
            for following in re.findall("[A-Z_]+|same", after):
                following = state if following == "same" else following
                transitions.add((name, state, following))
    return transitions


@pytest.mark.parametrize("subject", TABLES)
def test_table_of_states_contains_the_transitions_of_the_code(kwire, subject):
    """The table in DESIGN.md lists all transitions of the code, and no others."""
    name = f"{kwire.__name__}.client.machines.{TABLES[subject]}"
    transitions = importlib.import_module(name).TRANSITIONS
    expected = {
        (event, state.name, following.name)
        for event, states in transitions.items()
        for state, after in states.items()
        for following in ([after] if isinstance(after, Enum) else after)
    }
    assert read_table(subject) == expected
