# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of connections compare equal work: same bytes, same values.

Every task on connections that ``python -m benchmarks`` times is run once here, by
every contender, in its own process, and what it gives is compared with values that no
contender made.
"""

from __future__ import annotations

import importlib.util

import pytest

from benchmarks.codec.connections.rows import CONNECTION_ROWS, FETCH_VERSIONS

# Without a compiled engine, the pure one is tested in its place.
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
    """A contender that lost or mistook a response would win the race unfairly."""
    assert workers[worker].ask("difference", *task) is None


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_all_contenders_receive_the_same_stream(workers, version):
    """A contender's stream is what it encoded itself, so all streams are one."""
    assert len(RECEIVING) > 1
    found = {
        worker: workers[worker].ask("bytes_of", "encode_stream", version)
        for worker in RECEIVING
    }
    assert len(set(map(str, found.values()))) == 1, found
