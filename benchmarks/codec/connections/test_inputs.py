# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Verify that all connection benchmarks do equal work: same bytes, same values.

Every connection task that ``python -m benchmarks`` measures runs here once for every
contender, in a separate process. The results are compared with expected values that do
not depend on any contender.
"""

from __future__ import annotations

import importlib.util

import pytest

from benchmarks.codec.connections.rows import CONNECTION_ROWS, FETCH_VERSIONS

# Test the Python engine instead of the compiled engine if the latter is not built.
BUILT = importlib.util.find_spec("kwire._engine.fast.decoder") is not None
STANDS_IN = {} if BUILT else {"kwire connections": "kwire pure connections"}

TASKS = {
    (entry.task, STANDS_IN.get(entry.worker, entry.worker))
    for row in CONNECTION_ROWS
    for entry in row.entries
}
RECEIVING = {worker for task, worker in TASKS if task[0] == "receive_stream"}


def name_of(value) -> str:
    """Return the test id of a task or a contender."""
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize(("task", "worker"), sorted(TASKS, key=str), ids=name_of)
def test_every_contender_does_all_of_the_work(workers, task, worker):
    """Each contender returns all expected responses.

    A contender that skips a response would appear to be faster.
    """
    assert workers[worker].ask("difference", *task) is None


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_all_contenders_receive_the_same_stream(workers, version):
    """All contenders encode the same bytes, so they receive equal streams."""
    assert len(RECEIVING) > 1
    found = {
        worker: workers[worker].ask("bytes_of", "encode_stream", version)
        for worker in RECEIVING
    }
    assert len(set(map(str, found.values()))) == 1, found
