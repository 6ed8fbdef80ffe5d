# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``GroupReader``: a partition that a group consumer owns, or has owned.

It is one ``GroupReader`` from the moment that the consumer owns the partition until it
is lost. If the consumer owns the same partition again later, it is another one.
``TRANSITIONS`` has the states and events, and so has a table in DESIGN.md.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from ..scan.partition_reader import PartitionReader

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from ..scan.options import Fetched


class Committed(NamedTuple):
    """An offset to commit, and the leader epoch of the record before it, or -1."""

    offset: int
    leader_epoch: int


class Ownership(Enum):
    """State of a partition of a group consumer."""

    FINDING_OFFSET = auto()
    """Its committed offset is not known yet."""
    READING = auto()
    """The fetcher reads it."""
    REVOKED = auto()
    """It is no longer read, but the caller may still commit the chunks that it has."""
    LOST = auto()
    """Another consumer may own it. Its offsets are not committed any more."""


_S = Ownership
_OWNED = _S.FINDING_OFFSET, _S.READING

TRANSITIONS: Mapping[str, Mapping[Ownership, Ownership]] = {
    "begin": {_S.FINDING_OFFSET: _S.READING},
    "revoke": dict.fromkeys(_OWNED, _S.REVOKED),
    "give_up": dict.fromkeys((*_OWNED, _S.REVOKED), _S.LOST),
}
"""Next state by event, which is the name of a method, and by state. An event must not
happen in any other state.
"""


class GroupReader(PartitionReader):
    """A partition, its committed offset, and the position of the caller.

    * ``committed``: the last committed offset, or None while it is unknown. Its offset
      is -1 if the group has not committed one.
    * ``taken``: the offset after the last chunk that the caller has taken, or None.
    * ``is_paused``: whether the caller has paused the partition.
    """

    __slots__ = ("committed", "is_paused", "ownership", "taken")

    def __init__(self, topic: str, partition: int, topic_id: UUID) -> None:
        super().__init__(topic, partition, topic_id)
        self.ownership = Ownership.FINDING_OFFSET
        self.committed: Committed | None = None
        self.taken: Committed | None = None
        self.is_paused = False

    @property
    def id_and_partition(self) -> tuple[UUID, int]:
        """Topic id and partition, as assignments contain them."""
        return self.topic_id, self.partition

    @property
    def is_lost(self) -> bool:
        """Whether another consumer may own the partition."""
        return self.ownership is Ownership.LOST

    def begin(self) -> None:
        """Let the fetcher read the partition."""
        self._move("begin")

    def revoke(self) -> None:
        """Read no more, because the group has assigned the partition to another."""
        self._move("revoke")

    def give_up(self) -> None:
        """Commit no more, because another consumer may own the partition."""
        self._move("give_up")

    def take(self, fetched: Fetched) -> None:
        """Record that the caller has taken a chunk."""
        self.taken = position_after(fetched)

    def forget_taken(self) -> None:
        """Forget the chunks that the caller has taken, because it seeks."""
        self.taken = None

    def set_paused(self, is_paused: bool) -> None:
        """Record whether the caller has paused the partition."""
        self.is_paused = is_paused

    def set_committed(self, committed: Committed) -> None:
        """Record the offset that the coordinator has."""
        self.committed = committed

    def _move(self, event: str) -> None:
        following = TRANSITIONS[event].get(self.ownership)
        assert following is not None, f"{event}: {self.name} is {self.ownership.name}"
        self.ownership = following


def position_after(fetched: Fetched) -> Committed:
    """Return the offset to commit after the records of a chunk."""
    return Committed(fetched.next_offset, fetched.leader_epoch)
