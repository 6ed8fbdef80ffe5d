# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of records compare equal work: same bytes, same values.

Every task on records that ``python -m benchmarks`` times is run once here, by every
contender, in its own process, and its result is compared with values and bytes that
no contender made. Of two tasks that differ by the size of their input alone, the
smaller one is run.
"""

from __future__ import annotations

import importlib.util

import pytest

from benchmarks.codec.records.rows import COMPRESS, RECORD_ROWS
from benchmarks.codec.records.targets import (
    COLUMN_HOLDERS,
    COLUMN_TASKS,
    HELD_TASK,
    HOLDERS,
)

# Without a compiled engine, the pure one is tested in its place.
BUILT = importlib.util.find_spec("kwire._engine.fast.record_decoder") is not None
STANDS_IN = {} if BUILT else {"kwire records": "kwire pure records"}

TASKS = {
    (entry.task, STANDS_IN.get(entry.worker, entry.worker))
    for row in RECORD_ROWS
    for entry in row.entries
}
HELD = [(HELD_TASK, label) for label in HOLDERS]
HELD += [(task, label) for task in COLUMN_TASKS.values() for label in COLUMN_HOLDERS]
for task, label in HELD:
    TASKS.add((task, STANDS_IN.get(f"{label} records", f"{label} records")))
LARGE, SMALL = "10k_1KB", "1k_100B"


def is_run_smaller(operation, name, *options, worker):
    """Whether the same is asked of a worker on a smaller input."""
    return name == LARGE and ((operation, SMALL, *options), worker) in TASKS


ASKED = [each for each in TASKS if not is_run_smaller(*each[0], worker=each[1])]
COMPRESSING = [
    (
        row.entries[0].task,
        [entry.task for entry in row.entries if entry.worker == "libraries"],
    )
    for row in RECORD_ROWS
    if row.section == COMPRESS
]


def name_of(value) -> str:
    """Return the test id of a task, a contender or the tasks of libraries."""
    if isinstance(value, list):
        return "+".join(task[-1] for task in value)
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize(("task", "worker"), sorted(ASKED, key=str), ids=name_of)
def test_every_contender_does_all_of_the_work(workers, task, worker):
    """A contender that lost or changed a record would win the race unfairly."""
    assert workers[worker].ask("difference", *task) is None


@pytest.mark.parametrize(("task", "libraries"), COMPRESSING, ids=name_of)
def test_kwire_compresses_as_far_as_the_libraries(workers, task, libraries):
    """At a lower level than asked for, kwire would win the race unfairly."""
    worker = STANDS_IN.get("kwire records", "kwire records")
    size = workers[worker].ask("compressed_size", *task)
    sizes = [workers["libraries"].ask("compressed_size", *task) for task in libraries]
    assert size <= 1.01 * min(sizes)
