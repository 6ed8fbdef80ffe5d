# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Replay externally measured durations in pytest-benchmark.

pytest-benchmark finishes all rounds for a test before it starts the next test,
therefore it cannot alternate between contenders. Instead, the rounds are first measured
in the contenders' processes. Afterwards they are replayed with a clock that shows the
measured durations, so that pytest-benchmark still computes the statistics and writes
the JSON report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Clock:
    """Clock for pytest-benchmark.

    ``now`` is the sum of the replayed durations in seconds.
    """

    def __init__(self) -> None:
        """Start the clock at zero."""
        self.now = 0.0

    def __call__(self) -> float:
        """Return the sum of the replayed durations in seconds."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Advance the clock by a duration in seconds."""
        self.now += seconds


clock = Clock()


def replay(benchmark: Any, durations: Sequence[float], **labels: Any) -> None:
    """Store the durations of a test, in seconds, with one round for each of them.

    ``labels`` are stored as well. The test must use ``clock`` as its timer.
    """
    remaining = iter(durations)
    benchmark.group = labels["section"]
    benchmark.extra_info |= labels
    benchmark.pedantic(
        lambda: clock.advance(next(remaining)), rounds=len(durations), iterations=1
    )
