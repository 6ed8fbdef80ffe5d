# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``GroupReader``: one period in which a group consumer owns a partition.

The period begins when the group assigns the partition and ends when it is lost. If the
same partition is assigned again later, the consumer creates a new ``GroupReader``.
Chunks of the earlier period can therefore be recognized, and are not committed.

``TRANSITIONS`` lists the states and events. DESIGN.md contains the same table.
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
    """Committed offset, or an offset to commit.

    * ``offset``: offset of the next record to process.
    * ``leader_epoch``: leader epoch of the record before this offset, or -1 if it is
      unknown.
    """

    offset: int
    leader_epoch: int


class Ownership(Enum):
    """State of a partition in a group consumer, from its assignment to its loss."""

    FINDING_OFFSET = auto()
    """Owned, but not read yet, because its committed offset is unknown."""
    READING = auto()
    """Owned, and read by the fetcher."""
    REVOKED = auto()
    """No longer assigned and no longer read. The consumer has not given up the
    partition yet, so that the caller can commit the chunks that it has."""
    LOST = auto()
    """Final state. Another consumer may own the partition, so its offsets must not be
    committed."""


_S = Ownership
_OWNED = _S.FINDING_OFFSET, _S.READING

TRANSITIONS: Mapping[str, Mapping[Ownership, Ownership]] = {
    "begin": {_S.FINDING_OFFSET: _S.READING},
    "revoke": dict.fromkeys(_OWNED, _S.REVOKED),
    "give_up": dict.fromkeys((*_OWNED, _S.REVOKED), _S.LOST),
}
"""Next state by event and current state. Events are the names of ``GroupReader``
methods, which must not be called in any other state.
"""


class GroupReader(PartitionReader):
    """Partition of a group consumer: its ownership and its offsets.

    * ``ownership``: current state. Only ``begin``, ``revoke`` and ``give_up`` change
      it.
    * ``committed``: last committed offset, or None while it is unknown. Its ``offset``
      is -1 if the group has not committed an offset of the partition.
    * ``taken``: offset after the last chunk that the caller has taken, or None if it
      has taken no chunk since the assignment or the last seek.
    * ``is_paused``: True if the caller has paused the partition.
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
        """Topic id and partition number, which identify a partition in assignments."""
        return self.topic_id, self.partition

    @property
    def is_lost(self) -> bool:
        """Whether another consumer may own the partition."""
        return self.ownership is Ownership.LOST

    def begin(self) -> None:
        """Record that the fetcher has begun to read the partition."""
        self._move("begin")

    def revoke(self) -> None:
        """Record that the partition is no longer assigned to this consumer.

        The caller of this method removes the partition from the fetcher.
        """
        self._move("revoke")

    def give_up(self) -> None:
        """Record that another consumer may own the partition from now on."""
        self._move("give_up")

    def take(self, fetched: Fetched) -> None:
        """Move ``taken`` to the end of a chunk that the caller has taken."""
        self.taken = position_after(fetched)

    def forget_taken(self) -> None:
        """Reset ``taken``, because the position has changed by a seek."""
        self.taken = None

    def set_paused(self, is_paused: bool) -> None:
        """Record whether the caller has paused the partition."""
        self.is_paused = is_paused

    def set_committed(self, committed: Committed) -> None:
        """Set ``committed`` to the offset that the coordinator has stored."""
        self.committed = committed

    def _move(self, event: str) -> None:
        following = TRANSITIONS[event].get(self.ownership)
        assert following is not None, f"{event}: {self.name} is {self.ownership.name}"
        self.ownership = following


def position_after(fetched: Fetched) -> Committed:
    """Return the offset and leader epoch to commit after processing a chunk."""
    return Committed(fetched.next_offset, fetched.leader_epoch)
