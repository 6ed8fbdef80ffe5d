# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Groups whose coordinator assigns the partitions (KIP-848).

A change of members or topics increases the group epoch, and creates a target
assignment. Each member then moves to the target: it first revokes the partitions that
it may not keep, and later receives the partitions that other members have released.
Source: ``GroupMetadataManager.consumerGroupHeartbeat`` and
``CurrentAssignmentBuilder``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from ...schema import error_codes
from .assignors import ASSIGNORS, Assignment, TopicPartition
from .deadline import Deadline
from .features import (
    ACCEPTS_OLD_EPOCHS,
    ACCEPTS_REPEATED_JOINS,
    CLOSES_EMPTY_EPOCHS,
    DELAYS_ASSIGNMENTS,
    STARTS_AT_EPOCH_TWO,
    is_since,
)
from .group import CONSUMER, Group
from .topic_pattern import TopicPattern

if TYPE_CHECKING:
    from .cluster import ClusterState

JOINING, LEAVING, STATIC_LEAVING = 0, -1, -2
"""Member epochs with a special meaning in a heartbeat."""

STABLE, UNREVOKED, UNRELEASED = "stable", "unrevoked", "unreleased"
"""States of a member. Only a stable member has reached its target assignment."""

_NOTHING: Assignment = frozenset()


class Heartbeat(NamedTuple):
    """Heartbeat of a member. Values that the client did not change are None.

    * ``owned``: partitions that the member currently has.
    """

    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    topic_names: frozenset[str] | None
    topic_pattern: str | None
    assignor: str | None
    owned: Assignment | None
    client_id: str
    client_host: str

    @property
    def is_full(self) -> bool:
        """Whether the member requests its complete assignment."""
        is_complete = self.rebalance_timeout_ms >= 0 and self.owned is not None
        has_topics = self.topic_names is not None or self.topic_pattern is not None
        return self.member_epoch == JOINING or (is_complete and has_topics)


class HeartbeatResult(NamedTuple):
    """Member after a heartbeat. ``assignment`` is None if it did not change."""

    error_code: int
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    assignment: Assignment | None = None


class ConsumerMember:
    """Member of the group, with its subscription and its current assignment."""

    def __init__(self, member_id: str, session: Deadline, revocation: Deadline) -> None:
        self.member_id = member_id
        self.session = session
        self.revocation = revocation
        self.instance_id: str | None = None
        self.rack_id: str | None = None
        self.client_id = ""
        self.client_host = ""
        self.rebalance_timeout_ms = -1
        self.topic_names: frozenset[str] = frozenset()
        self.topic_pattern = ""
        self.assignor: str | None = None
        self.epoch = 0
        self.previous_epoch = 0
        self.state = STABLE
        self.assigned = _NOTHING
        self.revoking = _NOTHING
        self.assignment_epochs: dict[TopicPartition, int] = {}
        """Member epochs in which the current partitions were assigned."""

    @property
    def subscription(self) -> tuple[object, ...]:
        """Values that change the target assignment of the group."""
        return self.topic_names, self.topic_pattern, self.assignor, self.rack_id

    def update(self, heartbeat: Heartbeat) -> None:
        """Store the values that a heartbeat contains."""
        self.instance_id = heartbeat.instance_id or self.instance_id
        self.client_id, self.client_host = heartbeat.client_id, heartbeat.client_host
        if heartbeat.rack_id is not None:
            self.rack_id = heartbeat.rack_id
        if heartbeat.rebalance_timeout_ms >= 0:
            self.rebalance_timeout_ms = heartbeat.rebalance_timeout_ms
        if heartbeat.topic_names is not None:
            self.topic_names = heartbeat.topic_names
        if heartbeat.topic_pattern is not None:
            self.topic_pattern = heartbeat.topic_pattern
        if heartbeat.assignor is not None:
            self.assignor = heartbeat.assignor

    def copy_from(self, other: ConsumerMember) -> None:
        """Continue as the instance that a static member has left."""
        for name in ("instance_id", "rack_id", "rebalance_timeout_ms", "topic_names"):
            setattr(self, name, getattr(other, name))
        self.topic_pattern, self.assignor = other.topic_pattern, other.assignor
        self.state = other.state
        self.assigned, self.revoking = other.assigned, other.revoking
        self.assignment_epochs = dict.fromkeys(other.assignment_epochs, 0)

    def note_assignment(self) -> None:
        """Remember the current epoch for the partitions that are new."""
        self.assignment_epochs = {
            partition: self.assignment_epochs.get(partition, self.epoch)
            for partition in self.assigned | self.revoking
        }

    def set_epoch(self, epoch: int) -> None:
        """Set the member epoch, and remember the epoch before it."""
        self.previous_epoch, self.epoch = self.epoch, epoch


class ConsumerGroup(Group):
    """Group of KIP-848.

    * ``epoch``: group epoch. ``assignment_epoch`` is the epoch of the target.
    * ``target``: target assignment by member id.
    """

    kind = CONSUMER

    def __init__(self, group_id: str, state: ClusterState) -> None:
        super().__init__(group_id)
        self.epoch = 1 if is_since(state.release, STARTS_AT_EPOCH_TWO) else 0
        self.assignment_epoch = 0
        self.members: dict[str, ConsumerMember] = {}
        self.static_members: dict[str, ConsumerMember] = {}
        self.target: dict[str, Assignment] = {}
        self._cluster = state
        self._partition_counts: dict[UUID, int] = {}
        self._next_assignment_s = 0.0
        self._patterns: dict[str, TopicPattern] = {}

    @property
    def state_name(self) -> str:
        """State such as "Reconciling"."""
        if not self.members:
            return "Empty"
        if self.epoch > self.assignment_epoch:
            return "Assigning"
        is_stable = all(
            member.state == STABLE and member.epoch == self.assignment_epoch
            for member in self.members.values()
        )
        return "Stable" if is_stable else "Reconciling"

    @property
    def is_empty(self) -> bool:
        """Whether the group has no members."""
        return not self.members

    @property
    def assignor_name(self) -> str:
        """Assignor that most members prefer, or the default assignor."""
        names = Counter(m.assignor for m in self.members.values() if m.assignor)
        return names.most_common(1)[0][0] if names else next(iter(ASSIGNORS))

    @property
    def subscribed_topics(self) -> set[str]:
        """Names of all topics to which members are subscribed."""
        return set().union(*map(self._list_topics, self.members.values()))

    def heartbeat(self, heartbeat: Heartbeat) -> HeartbeatResult:
        """Process a heartbeat. Only a first heartbeat adds a member."""
        if heartbeat.member_epoch in (LEAVING, STATIC_LEAVING):
            return self._leave(heartbeat)
        pattern = heartbeat.topic_pattern
        if pattern and TopicPattern.parse(pattern) is None:
            return HeartbeatResult(
                error_codes.INVALID_REGULAR_EXPRESSION,
                f"SubscribedTopicRegex `{pattern:.200}` is not a valid regular"
                " expression.",
            )
        member, code, text = self._find_or_add(heartbeat)
        if member is None:
            return HeartbeatResult(code, text)
        old_assigned = member.assigned
        old_subscription = member.subscription
        is_new = member.member_id not in self.members
        if heartbeat.instance_id not in (None, member.instance_id):
            self.static_members.pop(member.instance_id or "", None)
        member.update(heartbeat)
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member
        self._refresh(has_changed=is_new or member.subscription != old_subscription)
        self._reconcile(member, heartbeat.owned)
        timeout_ms = self._cluster.configs.group_number(
            self.group_id,
            "consumer.session.timeout.ms",
            self._cluster.group_settings.session_timeout_ms,
        )
        member.session.set(timeout_ms / 1000)
        must_send = heartbeat.is_full or member.assigned != old_assigned
        return HeartbeatResult(
            0,
            None,
            member.member_id,
            member.epoch,
            member.assigned if must_send else None,
        )

    def remove_member(self, member_id: str) -> None:
        """Remove a member if it exists. The other members rebalance."""
        member = self.members.get(member_id)
        if member is not None:
            self._forget(member)
            self.epoch += 1
            if not self.members and is_since(
                self._cluster.release, CLOSES_EMPTY_EPOCHS
            ):
                self.assignment_epoch = self.epoch

    def check_member(self, member_id: str | None, epoch: int) -> int:
        """Return an error code unless the member has this epoch."""
        member = self.members.get(member_id or "")
        if member is None:
            return error_codes.UNKNOWN_MEMBER_ID
        return 0 if member.epoch == epoch else error_codes.STALE_MEMBER_EPOCH

    def check_commit(
        self,
        member_id: str,
        generation: int,
        instance_id: str | None,
        has_member_epochs: bool,
        partitions: Collection[tuple[str, int]],
    ) -> int:
        """Check a member that commits offsets."""
        if generation < 0 and self.is_empty:
            return 0
        if member_id in self.members and not has_member_epochs:
            return error_codes.UNSUPPORTED_VERSION
        return self._check_epoch(member_id, generation, partitions)

    def check_transactional_member(
        self,
        member_id: str,
        generation: int,
        instance_id: str | None,
        partitions: Collection[tuple[str, int]],
    ) -> int:
        """Check a member that commits offsets in a transaction.

        Producers may omit the member, because old producers do not know it.
        """
        is_anonymous = generation < 0 and not member_id and instance_id is None
        if is_anonymous or (generation < 0 and self.is_empty):
            return 0
        code = self._check_epoch(member_id, generation, partitions)
        is_stale = code == error_codes.STALE_MEMBER_EPOCH
        return error_codes.ILLEGAL_GENERATION if is_stale else code

    def check_fetch(self, member_id: str | None, member_epoch: int) -> int:
        """Check a member that fetches committed offsets."""
        if member_id is None and member_epoch < 0:
            return 0
        return self.check_member(member_id, member_epoch)

    def check_offset_deletion(self) -> int:
        """Allow deletion. Subscribed topics are checked for each topic."""
        return 0

    def _check_epoch(
        self, member_id: str, epoch: int, partitions: Collection[tuple[str, int]]
    ) -> int:
        """Check the member epoch of a commit. An older epoch may be allowed."""
        code = self.check_member(member_id, epoch)
        is_stale = code == error_codes.STALE_MEMBER_EPOCH
        if is_stale and is_since(self._cluster.release, ACCEPTS_OLD_EPOCHS):
            member = self.members[member_id]
            if epoch < member.epoch and self._owns_since(member, epoch, partitions):
                return 0
        return code

    def _owns_since(
        self,
        member: ConsumerMember,
        epoch: int,
        partitions: Collection[tuple[str, int]],
    ) -> bool:
        """Whether a member has owned all partitions since a member epoch."""
        topics, epochs = self._cluster.topics, member.assignment_epochs
        keys = [
            (topics[name].topic_id, index)
            for name, index in partitions
            if name in topics
        ]
        return all(key in epochs and epochs[key] <= epoch for key in keys)

    def _find_or_add(
        self, heartbeat: Heartbeat
    ) -> tuple[ConsumerMember | None, int, str]:
        """Return the member, or None with an error code and a message."""
        member_id, epoch = heartbeat.member_id, heartbeat.member_epoch
        is_full = len(self.members) >= self._cluster.group_settings.max_size
        if is_full and member_id not in self.members:
            code = error_codes.GROUP_MAX_SIZE_REACHED
            return None, code, "The consumer group has reached its maximum capacity."
        instance_id = heartbeat.instance_id
        if instance_id is not None:
            static = self.static_members.get(instance_id)
            if epoch == JOINING and static is not None:
                return self._replace_static(static, heartbeat)
            if epoch != JOINING:
                code, text = self._check_static(heartbeat)
                if code:
                    return None, code, text
        member = self.members.get(member_id)
        if member is None:
            if epoch != JOINING:
                code = error_codes.UNKNOWN_MEMBER_ID
                text = f"Member {member_id} is not a member of group {self.group_id}."
                return None, code, text
            return self._make_member(member_id), 0, ""
        is_late = epoch == member.previous_epoch and epoch < member.epoch
        is_subset = heartbeat.owned is not None and heartbeat.owned <= member.assigned
        if epoch == member.epoch or (is_late and is_subset):
            return member, 0, ""
        if epoch == JOINING and is_since(self._cluster.release, ACCEPTS_REPEATED_JOINS):
            return member, 0, ""
        size = "greater" if epoch > member.epoch else "smaller"
        return (
            None,
            error_codes.FENCED_MEMBER_EPOCH,
            f"The consumer group member has a {size} member epoch ({epoch}) than the"
            f" one known by the group coordinator ({member.epoch}). The member must"
            " abandon all its partitions and rejoin.",
        )

    def _check_static(self, heartbeat: Heartbeat) -> tuple[int, str]:
        """Check that a static member still has its instance id."""
        instance_id, member_id = heartbeat.instance_id, heartbeat.member_id
        static = self.static_members.get(instance_id or "")
        if static is None:
            text = f"Instance id {instance_id} is unknown."
            return error_codes.UNKNOWN_MEMBER_ID, text
        if static.member_id != member_id:
            return (
                error_codes.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced"
                f" by member {static.member_id}.",
            )
        return 0, ""

    def _replace_static(
        self, static: ConsumerMember, heartbeat: Heartbeat
    ) -> tuple[ConsumerMember | None, int, str]:
        """Give the assignment of a static member that has left to its new instance."""
        if static.epoch != STATIC_LEAVING:
            return (
                None,
                error_codes.UNRELEASED_INSTANCE_ID,
                f"Static member {heartbeat.member_id} with instance id"
                f" {heartbeat.instance_id} cannot join the group because the instance"
                f" id is owned by {static.member_id} member.",
            )
        target = self.target.get(static.member_id, _NOTHING)
        self._forget(static)
        if heartbeat.member_id in self.members:
            self._forget(self.members[heartbeat.member_id])
        member = self._make_member(heartbeat.member_id)
        member.copy_from(static)
        self.members[member.member_id] = member
        self.target[member.member_id] = target
        return member, 0, ""

    def _make_member(self, member_id: str) -> ConsumerMember:
        clock = self._cluster.clock
        return ConsumerMember(
            member_id,
            Deadline(clock, lambda: self.remove_member(member_id)),
            Deadline(clock, lambda: self.remove_member(member_id)),
        )

    def _leave(self, heartbeat: Heartbeat) -> HeartbeatResult:
        member_id, epoch = heartbeat.member_id, heartbeat.member_epoch
        if heartbeat.instance_id is not None:
            code, text = self._check_static(heartbeat)
            if code:
                return HeartbeatResult(code, text)
        member = self.members.get(member_id)
        if member is None:
            return HeartbeatResult(
                error_codes.UNKNOWN_MEMBER_ID,
                f"Member {member_id} is not a member of group {self.group_id}.",
            )
        if epoch == STATIC_LEAVING:
            # The member keeps its partitions until its session times out.
            member.epoch = STATIC_LEAVING
            member.revoking = _NOTHING
            member.revocation.cancel()
        else:
            self.remove_member(member_id)
        return HeartbeatResult(0, None, member_id, epoch)

    def _forget(self, member: ConsumerMember) -> None:
        member.session.cancel()
        member.revocation.cancel()
        self.members.pop(member.member_id, None)
        self.target.pop(member.member_id, None)
        if self.static_members.get(member.instance_id or "") is member:
            del self.static_members[member.instance_id or ""]

    def _list_topics(self, member: ConsumerMember) -> set[str]:
        """Return the names of the topics to which a member is subscribed."""
        names = set(member.topic_names)
        if member.topic_pattern:
            pattern = self._patterns.get(member.topic_pattern)
            if pattern is None:
                pattern = TopicPattern.parse(member.topic_pattern)
                assert pattern is not None, "heartbeat checks the pattern"
                self._patterns = {
                    text: pattern
                    for text, pattern in self._patterns.items()
                    if any(m.topic_pattern == text for m in self.members.values())
                }
                self._patterns[member.topic_pattern] = pattern
            names.update(pattern.filter(self._cluster.topics))
        return names

    def _refresh(self, has_changed: bool) -> None:
        """Create a new target assignment after a change of members or topics."""
        topics = self._cluster.topics
        counts = {
            topics[name].topic_id: len(topics[name].partitions)
            for name in self.subscribed_topics
            if name in topics
        }
        if has_changed or counts != self._partition_counts:
            self.epoch += 1
        self._partition_counts = counts
        now_s = self._cluster.clock.now_s
        if self.epoch <= self.assignment_epoch or now_s < self._next_assignment_s:
            return
        if is_since(self._cluster.release, DELAYS_ASSIGNMENTS):
            interval_s = self._cluster.group_settings.assignment_interval_s
            self._next_assignment_s = now_s + interval_s
        subscriptions = {
            member.member_id: frozenset(
                topics[name].topic_id
                for name in self._list_topics(member)
                if name in topics
            )
            for member in self.members.values()
        }
        assign = ASSIGNORS[self.assignor_name]
        self.target = assign(subscriptions, counts, self.target)
        self.assignment_epoch = self.epoch

    def _reconcile(self, member: ConsumerMember, owned: Assignment | None) -> None:
        """Move a member towards its target assignment, as far as others allow it."""
        if member.state == STABLE and member.epoch == self.assignment_epoch:
            return
        epoch = member.epoch
        if member.state == UNREVOKED:
            if owned is None or owned & member.revoking:
                return
            # The member has revoked all partitions, and enters the next epoch.
            epoch += 1
        target = self.target.get(member.member_id, _NOTHING)
        retained = member.assigned & target
        revoking = member.assigned - target
        if revoking and (owned is None or owned & revoking):
            member.state, member.assigned, member.revoking = (
                UNREVOKED,
                retained,
                revoking,
            )
            member.set_epoch(epoch)
            member.note_assignment()
            member.revocation.set(member.rebalance_timeout_ms / 1000)
            return
        missing = target - retained
        unreleased = missing & self._list_held(member)
        member.assigned, member.revoking = retained | (missing - unreleased), _NOTHING
        member.state = UNRELEASED if unreleased else STABLE
        member.set_epoch(self.assignment_epoch)
        member.note_assignment()
        member.revocation.cancel()

    def _list_held(self, member: ConsumerMember) -> Assignment:
        """Return the partitions that other members have not released yet."""
        return _NOTHING.union(
            *(
                other.assigned | other.revoking
                for other in self.members.values()
                if other is not member
            )
        )
