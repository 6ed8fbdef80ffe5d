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
    """Clock that shows the total duration replayed so far, in seconds."""

    def __init__(self) -> None:
        """Start at zero."""
        self.now = 0.0

    def __call__(self) -> float:
        """Return the current time in seconds."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        self.now += seconds


clock = Clock()


def replay(benchmark: Any, durations: Sequence[float], **labels: Any) -> None:
    """Record durations with one round per value.

    The test must use ``clock`` as its timer.
    """
    remaining = iter(durations)
    benchmark.group = labels["section"]
    benchmark.extra_info |= labels
    benchmark.pedantic(
        lambda: clock.advance(next(remaining)), rounds=len(durations), iterations=1
    )
