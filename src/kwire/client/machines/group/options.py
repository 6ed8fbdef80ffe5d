# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The options of a group consumer, and ``GroupReader``, a partition that it owns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..scan.partition_reader import PartitionReader

if TYPE_CHECKING:
    from uuid import UUID

    from ..scan.options import Fetched


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """Which group to read with, and how.

    ``joins`` is False for partitions that are chosen by hand: only the committed
    offsets are the group's then. ``pattern`` is what the broker matches topics with,
    in the syntax of RE2/J. Times are in seconds: without a heartbeat that was answered
    for ``session_timeout_s``, partitions count as lost; a caller who does not come back
    for ``max_poll_interval_s`` leaves the group.
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
    """Who commits: what a transaction names that includes a group's offsets.

    ``member_epoch`` is -1 and ``member_id`` empty of who has not joined.
    """

    group: str
    member_id: str
    member_epoch: int
    instance_id: str | None


class Committed(NamedTuple):
    """An offset to commit, and the leader epoch of the record before it, or -1."""

    offset: int
    leader_epoch: int


class GroupReader(PartitionReader):
    """A partition from the moment that this consumer gets it until it is lost.

    ``committed`` is None until it is known, and has offset -1 if there is none.
    ``taken`` is where reading goes on after the chunks that the caller has had.
    ``is_revoked`` while the caller may still commit what it has; then ``is_lost``.
    """

    __slots__ = ("committed", "is_lost", "is_revoked", "taken")

    def __init__(self, topic: str, partition: int, topic_id: UUID) -> None:
        super().__init__(topic, partition, topic_id)
        self.committed: Committed | None = None
        self.taken: Committed | None = None
        self.is_revoked = False
        self.is_lost = False

    @property
    def place(self) -> tuple[str, int]:
        """Topic and partition, a key of dicts."""
        return self.topic, self.partition

    @property
    def id_and_partition(self) -> tuple[UUID, int]:
        """Topic id and partition, as an assignment has them."""
        return self.topic_id, self.partition


def position_after(fetched: Fetched) -> Committed:
    """Return what to commit once the records of a chunk are done with."""
    return Committed(fetched.next_offset, fetched.leader_epoch)
