# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What groups of all kinds have in common: an id, a kind, and committed offsets.

Offsets belong to a group, even if the group has no members. The three protocols have
modules of their own.
"""

from __future__ import annotations

from typing import NamedTuple

CLASSIC, CONSUMER, SHARE = "classic", "consumer", "share"
"""Kinds of groups: JoinGroup, KIP-848 and KIP-932."""


class CommittedOffset(NamedTuple):
    """Committed offset of a partition. ``leader_epoch`` is -1 if it is unknown."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""
    commit_timestamp_ms: int = -1


class GroupOffsets:
    """Committed offsets of one group by topic name and partition.

    Offsets of an open transaction are pending until its coordinator ends it.
    """

    def __init__(self) -> None:
        self.committed: dict[tuple[str, int], CommittedOffset] = {}
        self.pending: dict[int, dict[tuple[str, int], CommittedOffset]] = {}
        """Offsets of open transactions by producer id."""
        self.producer_epochs: dict[int, int] = {}
        """Last epoch of each producer that has committed offsets in transactions."""

    def commit(self, topic: str, partition: int, offset: CommittedOffset) -> None:
        """Store a committed offset."""
        self.committed[topic, partition] = offset

    def is_fenced(self, producer_id: int, epoch: int) -> bool:
        """Whether a producer has written offsets or a marker in a higher epoch."""
        return epoch < self.producer_epochs.get(producer_id, -1)

    def note_epoch(self, producer_id: int, epoch: int) -> None:
        """Fence the lower epochs of a producer."""
        last_epoch = self.producer_epochs.get(producer_id, -1)
        self.producer_epochs[producer_id] = max(epoch, last_epoch)

    def commit_pending(
        self, producer_id: int, topic: str, partition: int, offset: CommittedOffset
    ) -> None:
        """Store an offset that becomes valid when its transaction commits."""
        self.pending.setdefault(producer_id, {})[topic, partition] = offset

    def end_transaction(self, producer_id: int, is_commit: bool) -> None:
        """Apply or forget the pending offsets of a transaction."""
        offsets = self.pending.pop(producer_id, {})
        if is_commit:
            self.committed.update(offsets)

    def is_unstable(self, topic: str, partition: int) -> bool:
        """Whether an open transaction contains an offset of the partition (KIP-447)."""
        return any((topic, partition) in offsets for offsets in self.pending.values())

    def forget(self, topic: str, partition: int) -> None:
        """Delete the committed offset of a partition if there is one."""
        self.committed.pop((topic, partition), None)


class Group:
    """Base class of groups. ``kind`` is CLASSIC, CONSUMER or SHARE."""

    kind = CLASSIC

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.offsets = GroupOffsets()
