# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Backoff``: the pause before the next attempt after failures in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .events import Event

if TYPE_CHECKING:
    from .cluster import ClusterMachine


class Backoff:
    """Failures in a row, and the time ``retry_at`` of the next attempt.

    The pause is ``ClusterSettings.backoff_s``, with the random numbers of ``cluster``.
    """

    __slots__ = ("_cluster", "failures", "retry_at")

    def __init__(self, cluster: ClusterMachine) -> None:
        self._cluster = cluster
        self.failures = 0
        self.retry_at = 0.0

    def must_wait(self, now: float) -> bool:
        """Return whether it is too early for an attempt. The cluster wakes for it."""
        if self.retry_at > now:
            self._cluster.wake(self.retry_at)
        return self.retry_at > now

    def fail(
        self,
        now: float,
        operation: str = "",
        reason: str = "",
        *,
        first_s: float | None = None,
        not_before: float = 0.0,
    ) -> None:
        """Count a failure, and delay the next attempt.

        The retry of ``operation`` is logged with ``reason``, if they are passed.
        """
        self.failures += 1
        jitter = self._cluster.random.random()
        pause = self._cluster.settings.backoff_s(self.failures, jitter, first_s)
        self.retry_at = max(now + pause, not_before)
        if operation:
            self._cluster.report(
                Event.RETRY,
                operation=operation,
                pause_s=self.retry_at - now,
                reason=reason,
            )

    def reset(self) -> None:
        """Begin with the shortest pause again, after a success."""
        self.failures = 0
