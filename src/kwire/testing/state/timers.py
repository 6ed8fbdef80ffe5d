# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Clock of a test cluster, and functions that run at a later time.

The host of the cluster moves the clock. Timers therefore also work with simulated time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

NEVER = float("inf")

_MIN_SWEEP = 1000


class Timer:
    """Function that runs once at a time, unless it is cancelled before."""

    __slots__ = ("function", "time_s")

    def __init__(self, time_s: float, function: Callable[[], None]) -> None:
        self.time_s = time_s
        self.function: Callable[[], None] | None = function

    def cancel(self) -> None:
        """Ensure that the function does not run."""
        self.function = None


class Clock:
    """Current time, and the timers that are not due yet.

    * ``now_s``: seconds since an arbitrary moment. It never decreases.
    * ``epoch_ms``: Unix time in milliseconds of that moment.
    """

    def __init__(self, epoch_ms: int = 0) -> None:
        self.now_s = 0.0
        self._epoch_ms = epoch_ms
        self._timers: list[tuple[float, int, Timer]] = []
        self._count = 0
        self._sweep_size = _MIN_SWEEP

    @property
    def unix_ms(self) -> int:
        """Current Unix time in milliseconds, which brokers store in records."""
        return self._epoch_ms + int(self.now_s * 1000)

    @property
    def next_due_s(self) -> float:
        """Time in seconds at which the next timer runs, or infinity without a timer."""
        self._drop_cancelled()
        return self._timers[0][0] if self._timers else NEVER

    def after(self, delay_s: float, function: Callable[[], None]) -> Timer:
        """Run a function after a delay in seconds."""
        timer = Timer(self.now_s + delay_s, function)
        self._count += 1
        if len(self._timers) >= self._sweep_size:
            self._sweep()
        heapq.heappush(self._timers, (timer.time_s, self._count, timer))
        return timer

    def advance(self, now_s: float) -> None:
        """Move the clock forward and run the timers that are due, in their order."""
        while self.next_due_s <= now_s:
            time_s, _, timer = heapq.heappop(self._timers)
            self.now_s = max(self.now_s, time_s)
            function = timer.function
            timer.cancel()
            if function is not None:
                function()
        self.now_s = max(self.now_s, now_s)

    def _sweep(self) -> None:
        """Remove all cancelled timers, which can have a distant time."""
        self._timers = [e for e in self._timers if e[2].function is not None]
        heapq.heapify(self._timers)
        self._sweep_size = max(2 * len(self._timers), _MIN_SWEEP)

    def _drop_cancelled(self) -> None:
        while self._timers and self._timers[0][2].function is None:
            heapq.heappop(self._timers)
