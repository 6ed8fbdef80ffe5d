# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure a table row: run all entries in turn, in several rounds.

This way, other programs, the clock rate and the machine's temperature affect all
entries equally. Every round has a random order. It runs all entries once with the
garbage collector disabled and once with it enabled.
"""

from __future__ import annotations

import random
from typing import Any

from benchmarks.harness.work import Row
from benchmarks.harness.worker import Worker

BATCH_SECONDS = 0.002
ROW_SECONDS = 2.5
ROUNDS = range(7, 42)

Durations = dict[tuple[str, bool], list[float]]


class Workers:
    """Worker processes by contender.

    A process starts at the first use of its contender.
    """

    def __init__(self) -> None:
        """Create the collection. No process is started yet."""
        self._running: dict[str, Worker] = {}

    def __getitem__(self, label: str) -> Worker:
        """Return the worker of a contender, whose process starts when it is needed."""
        if label not in self._running:
            self._running[label] = Worker(label)
        return self._running[label]

    def close(self) -> None:
        """Stop all workers that have been started."""
        for worker in self._running.values():
            worker.close()


def measure(row: Row, workers: Workers) -> Durations:
    """Measure all entries of a row.

    Returns the seconds of all rounds for each pair of entry and collector state.
    """

    def seconds(entry: Any, loops: int, collector: bool) -> float:
        return workers[entry.worker].ask("seconds", loops, collector, *entry.task)

    loops = {}
    cost = 0.0
    for entry in row.entries:
        once = min(seconds(entry, 1, False) for _ in range(3))
        once *= workers[entry.worker].ask("calls", *entry.task)
        loops[entry] = max(1, round(BATCH_SECONDS / once))
        cost += 2 * (loops[entry] + 1) * once
    rounds = min(max(ROUNDS.start, int(ROW_SECONDS / cost)), ROUNDS.stop - 1)

    turns = [(entry, state) for entry in row.entries for state in (False, True)]
    durations: Durations = {(entry.name, state): [] for entry, state in turns}
    order = random.Random(row.title)
    for _ in range(rounds):
        order.shuffle(turns)
        for entry, state in turns:
            taken = seconds(entry, loops[entry], state)
            durations[entry.name, state].append(taken)
    return durations
