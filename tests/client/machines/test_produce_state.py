# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Producer state: the files that may change it, and its invariants."""

import ast
import traceback
from pathlib import Path

import pytest

import kwire
from kwire.client import machines
from kwire.client.machines.produce import deliveries
from kwire.client.machines.produce.batch_records import BatchRecords
from kwire.client.machines.produce.deliveries import Deliveries
from kwire.client.machines.produce.partition_writer import Numbering, PartitionWriter
from kwire.client.machines.produce.pending_batch import BatchState, PendingBatch
from kwire.client.machines.produce.transactions import Transactions
from tests.client.machines.produce_scenario import run_produce_seed
from tests.client.machines.transaction_scenario import run_transaction_seed

CLIENT = Path(machines.__file__).parents[1]
PRODUCE = Path(deliveries.__file__).parent
USERS = [
    *PRODUCE.glob("*.py"),
    *CLIENT.glob("*.py"),
    *(CLIENT.parent / "jobs" / "restore_job").glob("*.py"),
]
"""Files whose code has access to producer objects."""

OWNERS = {
    "batch_sender": "BatchSender",
    "deliveries": "Deliveries",
    "identity": "ProducerIdentity",
    "lingering_records": "LingeringRecords",
    "partition_writer": "PartitionWriter",
    "pending_batch": "PendingBatch",
    "transactions": "Transactions",
}
"""Modules with the classes whose fields no other file may change."""

NEW_OBJECTS = {("batch_records.py", "_options")}
"""Files and fields where a class initializes a new instance of itself."""

CHANGES = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop"),
    *("popitem", "popleft", "remove", "setdefault", "update"),
}
"""Names of methods that change a container."""


def find_fields(path, name):
    """Return the fields that a class declares or sets in its own methods."""
    (class_node,) = (
        node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and node.name == name
    )
    declared = {
        node.target.id for node in class_node.body if isinstance(node, ast.AnnAssign)
    }
    return declared | {
        node.attr
        for node in ast.walk(class_node)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }


def find_changes(path):
    """Yield (line, field name) for each change to a field of another object."""
    for node in ast.walk(ast.parse(path.read_text())):
        field = None
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            field = node
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            field = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            field = node.func.value if node.func.attr in CHANGES else None
        if not isinstance(field, ast.Attribute):
            continue
        owner = field.value
        if not (isinstance(owner, ast.Name) and owner.id == "self"):
            yield node.lineno, field.attr


def test_fields_of_a_producer_are_changed_in_their_own_files():
    """Transitions are in one file if no other file changes the object's fields."""
    fields = {
        module: find_fields(PRODUCE / f"{module}.py", name)
        for module, name in OWNERS.items()
    }
    assert {"state", "sequence"} <= fields["pending_batch"]
    assert {"numbering", "batches"} <= fields["partition_writer"]
    assert {"state", "producer"} <= fields["transactions"]
    foreign_changes = [
        f"{path.name}:{line}: {field}"
        for path in USERS
        for line, field in find_changes(path)
        if any(field in fields[module] for module in fields.keys() - {path.stem})
        if (path.name, field) not in NEW_OBJECTS
    ]
    assert foreign_changes == []


def test_impossible_event_of_a_batch_is_an_assertion():
    """If a batch was not sent, it cannot be acknowledged, and remains unchanged."""
    batch = PendingBatch("orders", 0, BatchRecords(100), 1.0)
    with pytest.raises(AssertionError, match="acknowledge: the batch is SEALED"):
        batch.acknowledge(0, -1)
    assert batch.state is BatchState.SEALED
    assert batch.receipt is None


# Each of these functions makes a producer break one rule for its state.


def forget_bytes(patch):
    """Keep counting the bytes of a finished batch."""
    settle = Deliveries.settle

    def forget(self, writer, batch):
        settle(self, writer, batch)
        self.held_bytes += batch.size

    patch.setattr(Deliveries, "settle", forget)


def keep_an_acknowledged_batch(patch):
    """Keep an acknowledged batch in its queue."""
    acknowledge = PartitionWriter.acknowledge

    def keep(self, batch, *offset):
        acknowledge(self, batch, *offset)
        self.add(batch)

    patch.setattr(PartitionWriter, "acknowledge", keep)


def queue_a_batch_twice(patch):
    """Add a batch to the queue twice."""
    add = PartitionWriter.add

    def add_twice(self, batch):
        add(self, batch)
        add(self, batch)

    patch.setattr(PartitionWriter, "add", add_twice)


def skip_a_number(patch):
    """Skip a sequence number between two batches."""
    number = PartitionWriter.number

    def skip(self, batch):
        number(self, batch)
        self._next_sequence += 1

    patch.setattr(PartitionWriter, "number", skip)


def send_everything(patch):
    """Send all batches for a partition concurrently."""

    def next_batch(self, max_in_flight):
        return next((batch for batch in self.batches if not batch.is_in_flight), None)

    patch.setattr(PartitionWriter, "next_batch", next_batch)


def send_before_the_first(patch):
    """Send several batches in flight before the leader knows the producer."""
    next_batch = PartitionWriter.next_batch

    def hasty(self, max_in_flight):
        numbering = self.numbering
        self.numbering = Numbering.ESTABLISHED
        try:
            return next_batch(self, max_in_flight)
        finally:
            self.numbering = numbering

    patch.setattr(PartitionWriter, "next_batch", hasty)


def keep_partitions(patch):
    """Start a transaction with the previous transaction's partitions."""
    finish = Transactions._finish

    def keep(self, *arguments):
        added = set(self._added)
        finish(self, *arguments)
        self._added |= added

    patch.setattr(Transactions, "_finish", keep)


def keep_records(patch):
    """End a transaction while its batches are unacknowledged."""
    advance = Transactions.advance

    def hasty(self, now, *, is_idle):
        advance(self, now, is_idle=True)

    patch.setattr(Transactions, "advance", hasty)


@pytest.mark.parametrize(
    ("mutation", "run"),
    [
        (forget_bytes, run_produce_seed),
        (keep_an_acknowledged_batch, run_produce_seed),
        (queue_a_batch_twice, run_produce_seed),
        (skip_a_number, run_produce_seed),
        (send_everything, run_produce_seed),
        (send_before_the_first, run_produce_seed),
        (keep_partitions, run_transaction_seed),
        (keep_records, run_transaction_seed),
    ],
)
def test_invariants_notice_a_broken_rule(monkeypatch, mutation, run):
    """The check after an ``advance`` fails before a record is lost."""
    mutation(monkeypatch)
    for seed in range(20):
        try:
            run(kwire, seed)
        except AssertionError as error:
            cause = error.__context__ or error
            frames = traceback.extract_tb(cause.__traceback__)
            assert frames[-1].name == "check_invariants"
            return
    pytest.fail("20 seeds did not notice it")
