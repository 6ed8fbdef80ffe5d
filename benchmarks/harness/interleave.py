# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Times a row of the tables: every entry in turn, round after round.

Other programs on the machine, its clock and its heat then touch all entries alike. In
each round the order is drawn anew, and each entry runs once with the collector off
and once with it on.
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
    """The running contenders, started at their first use."""

    def __init__(self) -> None:
        """Start with none."""
        self._running: dict[str, Worker] = {}

    def __getitem__(self, label: str) -> Worker:
        """Return the contender of this label."""
        if label not in self._running:
            self._running[label] = Worker(label)
        return self._running[label]

    def close(self) -> None:
        """End all of them."""
        for worker in self._running.values():
            worker.close()


def measure(row: Row, workers: Workers) -> Durations:
    """Time a row; return the seconds of each round per entry and collector."""

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
    found: Durations = {(entry.name, state): [] for entry, state in turns}
    order = random.Random(row.title)
    for _ in range(rounds):
        order.shuffle(turns)
        for entry, state in turns:
            taken = seconds(entry, loops[entry], state)
            found[entry.name, state].append(taken)
    return found
