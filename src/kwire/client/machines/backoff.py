# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Backoff``: exponential pause between the attempts of one operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .events import Event

if TYPE_CHECKING:
    from .cluster import ClusterMachine


class Backoff:
    """Exponential backoff of one operation (``ClusterSettings.backoff_s``).

    Check ``must_wait`` before every attempt, call ``fail`` after a failure and
    ``reset`` after a success.

    * ``failures``: number of failures since the last success.
    * ``retry_at``: earliest time of the next attempt.
    """

    __slots__ = ("_cluster", "failures", "retry_at")

    def __init__(self, cluster: ClusterMachine) -> None:
        self._cluster = cluster
        self.failures = 0
        self.retry_at = 0.0

    def must_wait(self, now: float) -> bool:
        """Return whether the next attempt has to wait until ``retry_at``.

        If the result is True, the cluster wakes up at ``retry_at`` or earlier.
        """
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

        * ``operation``, ``reason``: texts of the log event. Without an operation, the
          retry is not logged.
        * ``first_s``: first pause in seconds, instead of ``retry_backoff_s``.
        * ``not_before``: earliest time of the next attempt.
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
        """Forget the failures after a success, so that the next pause is short."""
        self.failures = 0
