# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Pace``: limits how often something happens, whatever brokers answer.

An exponential backoff counts failures in a row, so an answer that looks like a success
resets it. A broker can alternate both answers, or redirect two partitions in turns. A
``Pace`` is reset by time alone.
"""

from __future__ import annotations


class Pace:
    """Limit for the frequency of an event.

    * ``burst``: number of events that may happen without a pause.
    * ``interval_s``: time in seconds after which one event is forgotten, so that one
      further event may happen. Events are forgotten one after another.
    """

    __slots__ = ("_forgotten_at", "_grace_s", "_interval_s")

    def __init__(self, burst: int, interval_s: float) -> None:
        self._interval_s = interval_s
        self._grace_s = burst * interval_s
        # Time at which the last event is forgotten, after all events before it.
        self._forgotten_at = float("-inf")

    @property
    def next_at(self) -> float:
        """Time from which the next event is allowed."""
        return self._forgotten_at - self._grace_s

    def note(self, now: float) -> None:
        """Count an event that happens at the time ``now``."""
        self._forgotten_at = max(self._forgotten_at, now) + self._interval_s

    def is_idle(self, now: float) -> bool:
        """Whether all events are forgotten, so that the object holds no information."""
        return self._forgotten_at <= now
