# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ProducerIdentity``: the id of an idempotent producer without transactions.

Any broker gives one. A transactional producer has its id from ``transactions.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....errors import KwireError
from .. import faults
from .requests import fatal_failure, producer_id_request

if TYPE_CHECKING:
    from ..cluster import ClusterMachine


class ProducerIdentity:
    """A producer id and its epoch: ``producer``, None until ``find`` has found one."""

    def __init__(self, cluster: ClusterMachine, now: float) -> None:
        self.producer: tuple[int, int] | None = None
        self.failure: KwireError | None = None
        self._cluster = cluster
        self._is_asking = False
        self._failures = 0
        self._retry_at = now

    def find(self, now: float) -> None:
        """Request a producer id, unless there is one or it is on its way."""
        if self.producer is not None or self._is_asking:
            return
        if now < self._retry_at:
            self._cluster.wake(self._retry_at)
            return
        link = self._cluster.any_link(now)
        if link is None:
            return
        try:
            link.send(producer_id_request(), self._take, now)
        except KwireError as error:
            self.failure = error
            return
        self._is_asking = True

    def _take(self, response: Any, now: float) -> None:
        self._is_asking = False
        if response is not None and not response.error_code:
            self.producer = response.producer_id, response.producer_epoch
            self._failures = 0
        elif response is None or faults.may_pass(response.error_code):
            self._failures += 1
            jitter = self._cluster.random.random()
            pause = self._cluster.settings.backoff_s(self._failures, jitter)
            self._retry_at = now + pause
        else:
            self.failure = fatal_failure("records", response.error_code)
