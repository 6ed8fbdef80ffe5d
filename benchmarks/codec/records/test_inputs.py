# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Verify that all record benchmarks do equal work: same bytes, same values.

Every record task that ``python -m benchmarks`` measures runs here once for every
contender, in a separate process. The results are compared with expected values and
bytes that do not depend on any contender. If two tasks only differ in their input size,
only the smaller task runs.
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

# Test the Python engine instead of the compiled engine if the latter is not built.
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
    """Return whether the worker also has the same task with a smaller input."""
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
    """Return the test id of a task, a contender or a list of library tasks."""
    if isinstance(value, list):
        return "+".join(task[-1] for task in value)
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize(("task", "worker"), sorted(ASKED, key=str), ids=name_of)
def test_every_contender_does_all_of_the_work(workers, task, worker):
    """Each contender returns all expected records.

    A contender that skips a record would appear to be faster.
    """
    assert workers[worker].ask("difference", *task) is None


@pytest.mark.parametrize(("task", "libraries"), COMPRESSING, ids=name_of)
def test_kwire_compresses_as_far_as_the_libraries(workers, task, libraries):
    """The compressed data are at most 1 % larger than with the libraries.

    A lower compression level would appear to be faster.
    """
    worker = STANDS_IN.get("kwire records", "kwire records")
    size = workers[worker].ask("compressed_size", *task)
    sizes = [workers["libraries"].ask("compressed_size", *task) for task in libraries]
    assert size <= 1.01 * min(sizes)
