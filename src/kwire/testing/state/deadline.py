# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Deadline``: a timeout that is extended often, such as the session of a member."""

from __future__ import annotations

from collections.abc import Callable

from .timers import NEVER, Clock, Timer


class Deadline:
    """Function that runs when its time passes without an extension.

    An extension does not create a timer. The existing timer runs at the old time and is
    then started again for the rest, so that frequent heartbeats use no memory.
    """

    def __init__(self, clock: Clock, function: Callable[[], None]) -> None:
        self._clock = clock
        self._function = function
        self._timer: Timer | None = None
        self.time_s = NEVER

    def set(self, delay_s: float) -> None:
        """Run the function after a delay, instead of at the previous time."""
        self.time_s = self._clock.now_s + delay_s
        if self._timer is None or self._timer.time_s > self.time_s:
            self._start_timer()

    def cancel(self) -> None:
        """Ensure that the function does not run until ``set`` is called again."""
        self.time_s = NEVER
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        delay_s = max(self.time_s - self._clock.now_s, 0.0)
        self._timer = self._clock.after(delay_s, self._run)

    def _run(self) -> None:
        self._timer = None
        if self._clock.now_s < self.time_s:
            self._start_timer()
        else:
            self.time_s = NEVER
            self._function()
