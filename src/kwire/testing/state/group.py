# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What groups of all kinds have in common: an id, a kind, and committed offsets.

Offsets belong to a group, even if the group has no members. Both protocols have
modules of their own.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from ...schema import error_codes

CLASSIC, CONSUMER = "classic", "consumer"
"""Kinds of groups: JoinGroup and KIP-848."""


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
        """Delete the offset of a partition if there is one."""
        self.committed.pop((topic, partition), None)
        for offsets in self.pending.values():
            offsets.pop((topic, partition), None)

    def forget_topic(self, topic: str) -> None:
        """Delete the offsets of a deleted topic."""
        for offsets in (self.committed, *self.pending.values()):
            for key in [key for key in offsets if key[0] == topic]:
                del offsets[key]


class GroupSettings:
    """Broker configuration of groups. A test may change the values at any time.

    * ``initial_rebalance_delay_s``: time to wait for further members of an empty
      classic group. Kafka's default is 3 seconds.
    * ``heartbeat_interval_ms``: heartbeat interval of KIP-848 members. Kafka's default
      is 5 seconds. With this value, tests do not have to wait for a rebalance.
    * ``assignment_interval_s``: minimum time between two target assignments of a
      KIP-848 group since release 4.3, where Kafka's default is 1 second.
    """

    def __init__(self) -> None:
        self.initial_rebalance_delay_s = 0.0
        self.assignment_interval_s = 0.0
        self.min_session_timeout_ms = 6_000
        self.max_session_timeout_ms = 1_800_000
        self.new_member_timeout_s = 300.0
        self.max_size = 10_000
        self.max_metadata_bytes = 4096
        self.session_timeout_ms = 45_000
        self.heartbeat_interval_ms = 500


class Group:
    """Base class of groups. ``kind`` is CLASSIC or CONSUMER.

    The methods ``check_...`` return an error code, or 0 if the operation is allowed.
    """

    kind: str

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.offsets = GroupOffsets()

    @property
    def state_name(self) -> str:
        """State in the terms of ListGroups, such as "Stable"."""
        raise NotImplementedError

    @property
    def protocol_type(self) -> str:
        """Protocol type in the terms of ListGroups, such as "consumer"."""
        return self.kind

    @property
    def is_empty(self) -> bool:
        """Whether the group has no members."""
        raise NotImplementedError

    def check_commit(
        self,
        member_id: str,
        generation: int,
        instance_id: str | None,
        has_member_epochs: bool,
        partitions: Collection[tuple[str, int]],
    ) -> int:
        """Check a member that commits offsets.

        * ``generation``: generation of a classic group, or member epoch (KIP-848).
        * ``has_member_epochs``: whether the request version supports KIP-848.
        * ``partitions``: topic names and partitions of the offsets.
        """
        raise NotImplementedError

    def check_transactional_member(
        self,
        member_id: str,
        generation: int,
        instance_id: str | None,
        partitions: Collection[tuple[str, int]],
    ) -> int:
        """Check a member that commits offsets in a transaction.

        The arguments are those of ``check_commit``.
        """
        raise NotImplementedError

    def check_fetch(self, member_id: str | None, member_epoch: int) -> int:
        """Check a member that fetches committed offsets."""
        raise NotImplementedError

    def check_offset_deletion(self) -> int:
        """Check whether committed offsets can be deleted."""
        raise NotImplementedError

    def check_deletion(self) -> int:
        """Check whether the group can be deleted."""
        return 0 if self.is_empty else error_codes.NON_EMPTY_GROUP

    def note_commit(self, member_id: str) -> None:
        """Note that a member has committed offsets, which extends its session.

        KIP-848 members only extend their sessions with heartbeats.
        """

    def remove_member(self, member_id: str) -> None:
        """Remove a member if it exists. The other members rebalance."""
        raise NotImplementedError
