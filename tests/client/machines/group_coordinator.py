# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State of a simulated group in its coordinator (KIP-848): epochs, target, offsets.

A member first revokes the partitions that it may not keep, and is then assigned the
partitions that other members have released. As in Kafka's offsets log, this state
survives a change of the coordinator. ``group_answers.py`` contains the requests and
responses.
"""

from __future__ import annotations

STABLE, UNREVOKED, UNRELEASED = "stable", "unrevoked", "unreleased"


class GroupError(Exception):
    """Error that makes the coordinator respond with an error code."""

    def __init__(self, code):
        """Store the error code."""
        super().__init__(code)
        self.code = code


class Member:
    """Member of a group, as the coordinator knows it."""

    def __init__(self, member_id, instance_id):
        """Start in epoch 0 without partitions."""
        self.id = member_id
        self.instance_id = instance_id
        self.epoch = 0
        self.previous_epoch = 0
        self.state = STABLE
        self.assigned: set = set()
        self.revoked: set = set()
        """Partitions that the member must revoke before it gets other partitions."""
        self.heard_at = 0.0
        self.revoke_by = float("inf")
        self.rebalance_s = 0.0
        self.is_away = False
        """Whether the member is a static member that has left temporarily."""

    @property
    def held(self):
        """Partitions that the member may still read: assigned, or not revoked yet.

        They cannot be assigned to another member.
        """
        return self.assigned | self.revoked


class SimulatedGroup:
    """One group: members, target assignment, committed offsets."""

    def __init__(self, cluster, topics):
        """Subscribe the group to topics by name."""
        self.cluster = cluster
        self.topics = topics
        self.codes = cluster.codes
        self.epoch = 0
        self.members: dict[str, Member] = {}
        self.target: dict[str, set] = {}
        self.target_epoch = 0
        self.offsets: dict[tuple, tuple[int, int]] = {}
        self.session_s = 6.0
        self.turn = 0
        """Number of shuffles. It rotates the target assignment."""
        self.check_commit = lambda place, offset: None
        """Called with the partition and the offset of each commit that is stored."""
        self.check_removal = lambda member: None
        """Called with each member that did not revoke its partitions in time."""

    def partitions(self):
        """Return all partitions as (topic id, partition)."""
        return {
            (topic.topic_id, index)
            for name in self.topics
            if (topic := self.cluster.topics.get(name))
            for index in range(len(topic.logs))
        }

    def shuffle(self):
        """Start a group epoch in which the members have other partitions."""
        self.turn += 1
        self.epoch += 1

    def expire(self, now):
        """Remove members that missed their session timeout or their rebalance timeout.

        The rebalance timeout limits how long a member may keep revoked partitions.
        """
        for member in list(self.members.values()):
            is_silent = now > member.heard_at + self.session_s
            if now > member.revoke_by:
                self.check_removal(member)
            if is_silent or now > member.revoke_by:
                self.remove(member)

    def remove(self, member):
        """Remove a member. Its partitions are assigned to others."""
        del self.members[member.id]
        self.target.pop(member.id, None)
        self.epoch += 1

    def heartbeat(self, request, now):
        """Process a heartbeat at the time ``now``.

        Return the member, and whether the response must contain its assignment.
        """
        self.expire(now)
        if request.member_epoch < 0:
            return self._leave(request), False
        if request.member_epoch == 0:
            member = self._join(request)
        else:
            member = self._find(request)
        member.heard_at = now
        if request.rebalance_timeout_ms >= 0:
            member.rebalance_s = request.rebalance_timeout_ms / 1000
        owned = None
        if request.topic_partitions is not None:
            owned = {
                (topic.topic_id, partition)
                for topic in request.topic_partitions
                for partition in topic.partitions
            }
        before = set(member.assigned)
        self._move(member, owned, now)
        is_full = request.rebalance_timeout_ms >= 0
        return member, is_full or member.assigned != before

    def check_member(self, member_id, epoch, now):
        """Raise ``GroupError`` for an unknown member or a different member epoch."""
        self.expire(now)
        codes = self.codes
        if not member_id and epoch < 0:
            if self.members:
                raise GroupError(codes.UNKNOWN_MEMBER_ID)
            return
        member = self.members.get(member_id)
        if member is None:
            raise GroupError(codes.UNKNOWN_MEMBER_ID)
        if member.epoch != epoch:
            raise GroupError(codes.STALE_MEMBER_EPOCH)

    def commit(self, id_and_partition, offset, leader_epoch):
        """Store the committed offset and the leader epoch of a partition."""
        self.check_commit(id_and_partition, offset)
        self.offsets[id_and_partition] = (offset, leader_epoch)

    def _leave(self, request):
        member = self.members.get(request.member_id)
        if member is None:
            raise GroupError(self.codes.UNKNOWN_MEMBER_ID)
        if request.member_epoch == -2:
            member.is_away = True
        else:
            self.remove(member)
        return member

    def _join(self, request):
        instance_id = request.instance_id
        assert request.topic_partitions == (), "who joins owns nothing"
        names = request.subscribed_topic_names or ()
        assert names or request.subscribed_topic_regex
        rejoining = self.members.get(request.member_id)
        if rejoining is not None:
            rejoining.epoch = rejoining.previous_epoch = 0
            rejoining.is_away = False
            return rejoining
        member = Member(request.member_id, instance_id)
        for other in list(self.members.values()):
            if instance_id is not None and other.instance_id == instance_id:
                if not other.is_away:
                    raise GroupError(self.codes.UNRELEASED_INSTANCE_ID)
                member.assigned = other.assigned
                member.state, member.revoked = other.state, other.revoked
                self.target[member.id] = self.target.pop(other.id, set())
                del self.members[other.id]
        self.members[member.id] = member
        self.epoch += 1
        return member

    def _find(self, request):
        member = self.members.get(request.member_id)
        if member is None:
            raise GroupError(self.codes.UNKNOWN_MEMBER_ID)
        if request.member_epoch == member.epoch:
            return member
        owned = {
            (topic.topic_id, partition)
            for topic in request.topic_partitions or ()
            for partition in topic.partitions
        }
        is_last = request.member_epoch == member.previous_epoch
        is_subset = request.topic_partitions is not None and owned <= member.assigned
        if not (is_last and is_subset):
            raise GroupError(self.codes.FENCED_MEMBER_EPOCH)
        return member

    def _move(self, member, owned, now):
        """Move a member one step towards its target assignment.

        Partitions that it must release are revoked first. It gets new partitions when
        their previous members have released them.
        """
        if self.target_epoch != self.epoch:
            self._assign()
        if member.state == STABLE and member.epoch == self.target_epoch:
            return
        if member.state == UNREVOKED:
            if owned is None or owned & member.revoked:
                return
            member.revoked = set()
        target = self.target.get(member.id, set())
        revoked = member.assigned - target
        member.assigned &= target
        if revoked and (owned is None or owned & revoked):
            member.state, member.revoked = UNREVOKED, revoked
            member.revoke_by = now + member.rebalance_s
            return
        held = {
            id_and_partition
            for other in self.members.values()
            if other is not member
            for id_and_partition in other.held
        }
        missing = target - member.assigned
        member.assigned |= missing - held
        member.state = UNRELEASED if missing & held else STABLE
        member.revoke_by = float("inf")
        if member.epoch != self.target_epoch:
            member.previous_epoch, member.epoch = member.epoch, self.target_epoch

    def _assign(self):
        """Compute a new target assignment: round robin, rotated by ``turn``."""
        self.target_epoch = self.epoch
        ids = sorted(self.members)
        self.target = {member_id: set() for member_id in ids}
        for number, id_and_partition in enumerate(sorted(self.partitions())):
            if ids:
                self.target[ids[(number + self.turn) % len(ids)]].add(id_and_partition)
