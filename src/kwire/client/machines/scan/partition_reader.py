# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``PartitionReader``: the position of a scan in one partition, and its state.

It holds state and decides nothing; ``machine.py`` changes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..pace import Pace

if TYPE_CHECKING:
    from .options import Lookup


_REDIRECTS = 3
_REDIRECT_S = 1.0
"""Redirects of a partition to another broker that need no pause, and the interval
between further ones. Brokers that name each other in a circle are paused for this long.
"""


def make_redirect_pace() -> Pace:
    """Return the pace of redirects for one partition."""
    return Pace(_REDIRECTS, _REDIRECT_S)


class PartitionReader:
    """One partition of a scan: how far it is, and what it waits for."""

    __slots__ = (
        "checked_epoch",
        "end",
        "epoch",
        "failures",
        "fetch_bytes",
        "found",
        "generation",
        "is_busy",
        "is_done",
        "is_start_given",
        "lookups",
        "partition",
        "position",
        "redirects",
        "replica",
        "replica_until",
        "retry_at",
        "sent_epoch",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str, partition: int, topic_id: Any) -> None:
        self.topic = topic
        self.partition = partition
        self.topic_id = topic_id
        self.position: int | None = None
        self.end: int | None = None
        # What is still to be found before the first fetch: "start", "end".
        self.lookups: dict[str, Lookup] = {}
        # What was found once: to find it again is no progress.
        self.found: set[str] = set()
        # The epoch of the record read last; the leader's in the request in flight;
        # and the leader's when a response showed that the log was not cut.
        self.epoch = -1
        self.sent_epoch = -1
        self.checked_epoch = -1
        # How often the position was set anew, which makes older responses stale.
        self.generation = 0
        self.is_busy = False
        self.is_done = False
        # Whether the position is an offset that has to be there, not one looked up.
        self.is_start_given = False
        self.retry_at = 0.0
        self.failures = 0
        # Counted apart from failures, which a response without records resets.
        self.redirects = make_redirect_pace()
        self.fetch_bytes = 0
        self.replica = -1
        self.replica_until = 0.0

    @property
    def name(self) -> str:
        """Topic and partition as Kafka writes them: "orders-3"."""
        return f"{self.topic}-{self.partition}"


class Asked:
    """The partitions of a request, and which of them its response still concerns.

    One that was set to another position meanwhile is not.
    """

    __slots__ = ("_generations", "_readers")

    def __init__(self, readers: list[PartitionReader]) -> None:
        self._readers = readers
        self._generations = [each.generation for each in readers]

    def begin(self) -> None:
        """Note that the request was sent: no other is sent for its partitions."""
        for each in self._readers:
            each.is_busy = True

    def take_back(self) -> list[PartitionReader]:
        """End the request; return the partitions that its response concerns."""
        for each in self._readers:
            each.is_busy = False
        return [
            each
            for each, generation in zip(self._readers, self._generations, strict=True)
            if each.generation == generation
        ]
