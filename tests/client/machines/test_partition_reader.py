# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check that the ``PartitionReader`` transitions match the table in DESIGN.md."""

import ast
from pathlib import Path

import pytest

from kwire.client.machines.scan import partition_reader
from kwire.client.machines.scan.options import EARLIEST, LATEST
from kwire.client.machines.scan.partition_reader import PartitionReader, ReaderState
from tests.client.machines.test_state_tables import read_table

MACHINES = Path(__file__).parents[3] / "src/kwire/client/machines"
REQUEST = object()

ARGUMENTS = {
    "start": [(5,), (EARLIEST,), (5, LATEST)],
    "begin_lookup": [(REQUEST,)],
    "begin_check": [(REQUEST, 1)],
    "begin_fetch": [(REQUEST, 1)],
    "end_request": [(REQUEST,)],
    "look_up": [("latest", LATEST)],
    "set_offset": [("start", 5), ("latest", 5), ("latest", 9)],
    "advance": [(6, 1), (9, 1)],
    "rewind": [(4,), (EARLIEST,)],
    "lose": [(4,), (EARLIEST,)],
}
"""Arguments by event. Together they lead to all next states."""

MUTATORS = {
    *("add", "append", "clear", "discard", "extend", "insert", "note", "pop"),
    *("popitem", "remove", "setdefault", "update"),
}
"""Methods that change a mutable field of a reader."""


def make_readers(state):
    """Return functions that create a reader in a state."""

    def reading(*events, start=5, end=None):
        def make():
            reader = PartitionReader("orders", 0, None)
            reader.start(start, end)
            for event in events:
                getattr(reader, event)(*ARGUMENTS.get(event, [()])[0])
            return reader

        return make

    def bounded():
        reader = reading(start=5, end=9)()
        reader.set_offset("latest", 20)
        return reader

    return {
        ReaderState.IDLE: [lambda: PartitionReader("orders", 0, None)],
        ReaderState.LOOKUP_DUE: [
            reading(start=EARLIEST),
            reading(start=5, end=LATEST),
            reading(start=EARLIEST, end=LATEST),
        ],
        ReaderState.LOOKING_UP: [reading("begin_lookup", start=EARLIEST)],
        ReaderState.FETCH_DUE: [reading(), bounded],
        ReaderState.CHECKING: [reading("begin_check")],
        ReaderState.FETCHING: [reading("begin_fetch")],
        ReaderState.PAUSED: [reading("pause"), reading("pause", start=EARLIEST)],
        ReaderState.DONE: [reading("finish")],
    }[state]


def explore(event, state):
    """Return the set of states that an event can lead to from a state."""
    following = set()
    for make in make_readers(state):
        for arguments in ARGUMENTS.get(event, [()]):
            reader = make()
            assert reader.state is state
            reader.check_invariants()
            if event == "end_request" and reader.request is None:
                assert not reader.end_request(*arguments)
                assert reader.state is state
                continue
            if event == "set_offset" and arguments[0] not in reader.lookups:
                continue
            try:
                getattr(reader, event)(*arguments)
            except AssertionError:
                # The reader rejects the event in this state, and must not change.
                assert reader.state is state
                continue
            reader.check_invariants()
            following.add(reader.state)
    return following


def test_events_lead_to_the_states_of_the_table_in_design():
    """Events lead to the listed states with some arguments, and to no others."""
    table = read_table("partition of a scan")
    events = {event for event, _, _ in table}
    assert events == ARGUMENTS.keys() | {"finish", "pause", "resume", "stop"}
    transitions = {
        (event, state.name, following.name)
        for event in events
        for state in ReaderState
        for following in explore(event, state)
    }
    assert transitions == table


def find_writes(path):
    """Return the positions where a file changes a reader's field.

    The receiver ``self`` is ignored, because the file contains no reader class.
    """
    fields = {*PartitionReader.__slots__}

    def is_field(node):
        return (
            isinstance(node, ast.Attribute)
            and node.attr in fields
            and not (isinstance(node.value, ast.Name) and node.value.id == "self")
        )

    writes = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(
            node.ctx, ast.Load
        ):
            target = node.value if isinstance(node, ast.Subscript) else node
            if is_field(target):
                writes.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in MUTATORS
            and is_field(node.func.value)
        ):
            writes.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    return writes


def test_only_a_reader_changes_its_fields():
    """All other files call methods, so that transitions are in one file."""
    paths = [MACHINES / "queries.py", *MACHINES.glob("scan/*.py")]
    paths += MACHINES.glob("group/*.py")
    writes = [
        write
        for path in paths
        if path.name != Path(partition_reader.__file__).name
        for write in find_writes(path)
    ]
    assert writes == []


def test_a_response_to_an_earlier_request_is_stale():
    """A response to a request from before a ``rewind`` is ignored.

    Only the response to the current request changes the state.
    """
    reader = PartitionReader("orders", 0, None)
    reader.start(5)
    reader.begin_fetch("first", 1)
    reader.rewind(3)
    assert not reader.end_request("first")
    reader.begin_fetch("second", 1)
    assert not reader.end_request("first")
    assert reader.state is ReaderState.FETCHING
    assert reader.end_request("second")
    assert reader.state is ReaderState.FETCH_DUE


def test_a_position_only_goes_back_by_a_rewind_or_a_loss():
    """Records that end at or before the position are not read again."""
    reader = PartitionReader("orders", 0, None)
    reader.start(5)
    for position in (5, 4):
        with pytest.raises(AssertionError):
            reader.advance(position, 1)
    reader.rewind(3)
    assert reader.position == 3
    reader.lose(2)
    assert reader.position == 2
