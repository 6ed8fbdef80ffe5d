# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The options of a group consumer, and ``GroupReader``, a partition that it owns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from ..scan.partition_reader import PartitionReader

if TYPE_CHECKING:
    from uuid import UUID

    from ..scan.options import Fetched


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """The group, and how to be a member of it. Times are in seconds.

    * ``joins``: False if partitions are chosen by hand. Then only the committed offsets
      belong to the group.
    * ``pattern``: topic pattern for the broker, in the syntax of RE2/J.
    * ``session_timeout_s``: all partitions are lost if no heartbeat was answered for
      this time.
    * ``max_poll_interval_s``: the consumer leaves the group if the caller does not
      return for this time.
    """

    group: str
    joins: bool = True
    pattern: str | None = None
    instance_id: str | None = None
    server_assignor: str | None = None
    session_timeout_s: float = 45.0
    max_poll_interval_s: float = 300.0
    leave_timeout_s: float = 5.0


class GroupMetadata(NamedTuple):
    """Identity of a consumer in its group: sent with commits and by transactions.

    A consumer that has not joined has an empty ``member_id`` and ``member_epoch`` -1.
    """

    group: str
    member_id: str
    member_epoch: int
    instance_id: str | None


class Committed(NamedTuple):
    """An offset to commit, and the leader epoch of the record before it, or -1."""

    offset: int
    leader_epoch: int


class Ownership(Enum):
    """State of a partition that this consumer owns, or has owned."""

    FINDING_OFFSET = auto()
    """Its committed offset is not known yet."""
    READING = auto()
    """It is read."""
    REVOKED = auto()
    """It is not read any more, and the caller may still commit what it has."""
    LOST = auto()
    """It may belong to another consumer. Offsets are not committed any more."""


class GroupReader(PartitionReader):
    """A partition from the moment that this consumer owns it until it is lost.

    If the consumer owns the same partition again later, it is another ``GroupReader``.
    ``committed`` is the last committed offset, or None while it is unknown; its offset
    is -1 if nothing was committed. ``taken`` is the offset to commit after the chunks
    that the caller has taken.
    """

    __slots__ = ("committed", "ownership", "taken")

    def __init__(self, topic: str, partition: int, topic_id: UUID) -> None:
        super().__init__(topic, partition, topic_id)
        self.ownership = Ownership.FINDING_OFFSET
        self.committed: Committed | None = None
        self.taken: Committed | None = None

    @property
    def id_and_partition(self) -> tuple[UUID, int]:
        """Topic id and partition, as assignments contain them."""
        return self.topic_id, self.partition


def position_after(fetched: Fetched) -> Committed:
    """Return the offset to commit after the records of a chunk."""
    return Committed(fetched.next_offset, fetched.leader_epoch)
