# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Puts figures that were measured elsewhere into pytest-benchmark.

pytest-benchmark runs all rounds of one test before those of the next, which cannot
interleave contenders. So the rounds are timed first, in the contenders' own
processes, and then replayed on a clock that shows what was measured there: the
statistics and the JSON stay pytest-benchmark's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Clock:
    """Shows the sum of all durations that were replayed so far."""

    def __init__(self) -> None:
        """Start at zero."""
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time shown."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


clock = Clock()


def replay(benchmark: Any, durations: Sequence[float], **labels: Any) -> None:
    """Record durations, one round each; the test must be marked with ``clock``."""
    remaining = iter(durations)
    benchmark.group = labels["section"]
    benchmark.extra_info |= labels
    benchmark.pedantic(
        lambda: clock.advance(next(remaining)), rounds=len(durations), iterations=1
    )
