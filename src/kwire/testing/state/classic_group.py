# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Classic groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup and static members.

Source: ``GroupMetadataManager.classicGroupJoin`` and ``ClassicGroup``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from ...schema import error_codes
from .classic_member import (
    ClassicMember,
    Deferred,
    JoinedMember,
    Joining,
    JoinResult,
    SyncResult,
    select_protocol,
)
from .deadline import Deadline
from .group import CLASSIC, Group

if TYPE_CHECKING:
    from .cluster import ClusterState

EMPTY, STABLE, DEAD = "Empty", "Stable", "Dead"
PREPARING, COMPLETING = "PreparingRebalance", "CompletingRebalance"

_MIN_RETRY_S = 0.1
"""Minimum time before a join phase without members is completed again.

A client can set its rebalance timeout to 0, and the clock runs timers that are due
immediately in an endless loop.
"""


class ClassicGroup(Group):
    """Group whose leader assigns the partitions.

    * ``pending_members``: sessions of members that have received a member id and did
      not join with it yet (KIP-394).
    """

    kind = CLASSIC

    def __init__(self, group_id: str, state: ClusterState) -> None:
        super().__init__(group_id)
        self.state = EMPTY
        self.generation = 0
        self.leader_id: str | None = None
        self.type: str | None = None
        self.protocol_name: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.static_members: dict[str, str] = {}
        self.pending_members: dict[str, Deadline] = {}
        self._cluster = state
        self._is_initial = False
        self._has_new_member = False
        self._unsynced: set[str] = set()
        self._join_deadline = Deadline(state.clock, self._complete_join)
        self._sync_deadline = Deadline(state.clock, self._expire_sync)

    @property
    def state_name(self) -> str:
        """State such as "PreparingRebalance"."""
        return self.state

    @property
    def protocol_type(self) -> str:
        """Protocol type of the members. It is empty before the first join."""
        return self.type or ""

    @property
    def is_empty(self) -> bool:
        """Whether the group has no members."""
        return self.state == EMPTY

    @property
    def rebalance_timeout_s(self) -> float:
        """Longest rebalance timeout of the members."""
        timeouts = [member.rebalance_timeout_s for member in self.members.values()]
        return max(timeouts, default=0.0)

    def join(
        self, joining: Joining, requires_member_id: bool, can_skip_assignment: bool
    ) -> Deferred[JoinResult]:
        """Add or update a member, and start a rebalance if it is necessary.

        * ``requires_member_id``: whether a dynamic member must join with a member id.
        * ``can_skip_assignment``: whether the request version supports
          ``JoinResult.skip_assignment``.
        """
        deferred: Deferred[JoinResult] = Deferred(self._cluster.note_change)
        member_id = joining.member_id
        if not self._accepts(member_id):
            self._drop(member_id)
            return _fail(deferred, error_codes.GROUP_MAX_SIZE_REACHED, "")
        if not self._supports(joining):
            code = error_codes.INCONSISTENT_GROUP_PROTOCOL
            return _fail(deferred, code, member_id)
        if member_id:
            self._join_with_id(joining, deferred)
            return deferred
        new_id = self._make_member_id(joining)
        if joining.instance_id is not None:
            old_id = self.static_members.get(joining.instance_id)
            if old_id is None:
                self._add(joining, new_id, deferred)
            else:
                self._replace_static(
                    joining, old_id, new_id, deferred, can_skip_assignment
                )
        elif requires_member_id:
            session = Deadline(self._cluster.clock, lambda: self._leave_pending(new_id))
            session.set(joining.session_timeout_s)
            self.pending_members[new_id] = session
            _fail(deferred, error_codes.MEMBER_ID_REQUIRED, new_id)
        else:
            self._add(joining, new_id, deferred)
        return deferred

    def sync(
        self,
        member_id: str,
        instance_id: str | None,
        generation: int,
        protocol: tuple[str | None, str | None],
        assignments: Mapping[str, bytes],
    ) -> Deferred[SyncResult]:
        """Return the assignment of a member, when the leader has sent it.

        * ``protocol``: protocol type and name, which are None in old versions.
        * ``assignments``: assignments by member id. Only the leader sends them.
        """
        deferred: Deferred[SyncResult] = Deferred(self._cluster.note_change)
        code = self.check_member(member_id, instance_id, generation)
        current = self.type, self.protocol_name
        if not code and any(
            sent is not None and own is not None and sent != own
            for sent, own in zip(protocol, current, strict=True)
        ):
            code = error_codes.INCONSISTENT_GROUP_PROTOCOL
        if not code and self.state == PREPARING:
            code = error_codes.REBALANCE_IN_PROGRESS
        if code:
            deferred.resolve(SyncResult(code))
            return deferred
        member = self.members[member_id]
        self._unsynced.discard(member_id)
        if not self._unsynced:
            self._sync_deadline.cancel()
        if self.state == STABLE:
            deferred.resolve(self._make_sync_result(member))
            return deferred
        member.awaiting_sync = deferred
        if member_id == self.leader_id:
            for other in self.members.values():
                other.assignment = assignments.get(other.member_id, b"")
            self.state = STABLE
            self._finish_syncs()
        return deferred

    def heartbeat(
        self, member_id: str, instance_id: str | None, generation: int
    ) -> int:
        """Extend the session of a member; return an error code."""
        code = self.check_member(member_id, instance_id, generation)
        if code:
            return code
        self.members[member_id].extend_session()
        is_joining = self.state == PREPARING
        return error_codes.REBALANCE_IN_PROGRESS if is_joining else 0

    def leave(self, identities: Iterable[tuple[str, str | None]]) -> list[int]:
        """Remove members by member id or instance id; return an error code for each."""
        codes = [self._leave_one(*identity) for identity in identities]
        if 0 in codes:
            self._continue_without_members()
        return codes

    def remove_member(self, member_id: str) -> None:
        """Remove a member if it exists. The other members rebalance."""
        if member_id in self.members or member_id in self.pending_members:
            self._drop(member_id)
            self._continue_without_members()

    def check_member(
        self, member_id: str, instance_id: str | None, generation: int | None = None
    ) -> int:
        """Return an error code unless the member is in the group.

        Source: ``ClassicGroup.validateMember``.
        """
        if instance_id is not None:
            current_id = self.static_members.get(instance_id)
            if current_id is None:
                return error_codes.UNKNOWN_MEMBER_ID
            if current_id != member_id:
                return error_codes.FENCED_INSTANCE_ID
        if member_id not in self.members:
            return error_codes.UNKNOWN_MEMBER_ID
        if generation is not None and generation != self.generation:
            return error_codes.ILLEGAL_GENERATION
        return 0

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
        if generation >= 0 or member_id or instance_id is not None:
            code = self.check_member(member_id, instance_id, generation)
            if code:
                return code
        else:
            return error_codes.UNKNOWN_MEMBER_ID
        is_syncing = self.state == COMPLETING
        return error_codes.REBALANCE_IN_PROGRESS if is_syncing else 0

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
        return self.check_member(member_id, instance_id, generation)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> int:
        """Accept all members, because classic members do not identify themselves."""
        return 0

    def check_offset_deletion(self) -> int:
        """Allow deletion in a group of consumers, or in an empty group."""
        is_allowed = self.is_empty or self.type == "consumer"
        return 0 if is_allowed else error_codes.NON_EMPTY_GROUP

    def note_commit(self, member_id: str) -> None:
        """Extend the session of a member that has committed offsets."""
        member = self.members.get(member_id)
        if member is not None and self.state in (STABLE, PREPARING):
            member.extend_session()

    def _accepts(self, member_id: str) -> bool:
        """Whether the group is not full. Source: ``acceptJoiningMember``."""
        max_size = self._cluster.group_settings.max_size
        if self.state == EMPTY:
            return len(self.pending_members) < max_size
        if member_id in self.members:
            return True
        return len(self.members) + len(self.pending_members) < max_size or (
            member_id in self.pending_members
        )

    def _supports(self, joining: Joining) -> bool:
        """Whether all members and the new member have a common protocol."""
        if self.state == EMPTY:
            return bool(joining.protocol_type and joining.protocols)
        common = self._find_common_protocols()
        return joining.protocol_type == self.type and any(
            name in common for name, _ in joining.protocols
        )

    def _find_common_protocols(self) -> set[str]:
        protocols = [member.protocol_names for member in self.members.values()]
        return set.intersection(*protocols) if protocols else set()

    def _make_member_id(self, joining: Joining) -> str:
        prefix = joining.client_id if joining.instance_id is None else None
        number = self._cluster.random.getrandbits(128)
        return f"{prefix or joining.instance_id or ''}-{UUID(int=number, version=4)}"

    def _join_with_id(self, joining: Joining, deferred: Deferred[JoinResult]) -> None:
        member_id = joining.member_id
        if member_id in self.pending_members:
            if joining.instance_id is not None:
                _fail(deferred, error_codes.UNKNOWN_SERVER_ERROR, member_id)
            else:
                self._add(joining, member_id, deferred)
            return
        code = self.check_member(member_id, joining.instance_id)
        if code or self.state == EMPTY:
            _fail(deferred, code or error_codes.UNKNOWN_MEMBER_ID, member_id)
            return
        member = self.members[member_id]
        is_unchanged = member.protocols == joining.protocols
        is_leader = member_id == self.leader_id
        if self.state == PREPARING or not is_unchanged:
            self._update(member, joining, deferred)
        elif self.state == COMPLETING:
            # The response was lost, therefore the client joins again.
            deferred.resolve(self._make_join_result(member))
        elif is_leader:
            self._update(member, joining, deferred)
        else:
            deferred.resolve(self._make_join_result(member))

    def _add(
        self, joining: Joining, member_id: str, deferred: Deferred[JoinResult]
    ) -> None:
        pending = self.pending_members.pop(member_id, None)
        if pending is not None:
            pending.cancel()
        if not self.members:
            self.type = joining.protocol_type
        member = ClassicMember(
            member_id,
            joining,
            Deadline(self._cluster.clock, lambda: self._expire_session(member)),
        )
        member.awaiting_join = deferred
        self._has_new_member = True
        self.members[member_id] = member
        if joining.instance_id is not None:
            self.static_members[joining.instance_id] = member_id
        self.leader_id = self.leader_id or member_id
        member.session.set(self._cluster.group_settings.new_member_timeout_s)
        self._rebalance_or_complete()

    def _update(
        self, member: ClassicMember, joining: Joining, deferred: Deferred[JoinResult]
    ) -> None:
        member.update(joining)
        member.awaiting_join = deferred
        self._rebalance_or_complete()

    def _replace_static(
        self,
        joining: Joining,
        old_id: str,
        new_id: str,
        deferred: Deferred[JoinResult],
        can_skip_assignment: bool,
    ) -> None:
        """Give a restarted static member a new id (KIP-345), without a rebalance."""
        old_leader = self.leader_id
        self._rename(old_id, new_id)
        member = self.members[new_id]
        member.update(joining)
        member.awaiting_join = deferred
        member.extend_session()
        if self.state == STABLE:
            names = select_protocol(self.members.values())
            if names != self.protocol_name:
                self._rebalance_or_complete()
                return
            member.awaiting_join = None
            result = self._make_join_result(member)
            if can_skip_assignment:
                is_leader = self.leader_id == new_id
                deferred.resolve(result._replace(skip_assignment=is_leader))
            else:
                # An old client would assign partitions if it were the leader.
                deferred.resolve(result._replace(leader=old_leader or "", members=()))
        elif self.state == COMPLETING:
            self._prepare_rebalance()
        else:
            self._complete_if_all_joined()

    def _rename(self, old_id: str, new_id: str) -> None:
        """Replace a member id. The old instance of the client is fenced."""
        member = self.members[old_id]
        fenced = error_codes.FENCED_INSTANCE_ID
        member.fail(fenced, old_id)
        member.member_id = new_id
        self.members = {other.member_id: other for other in self.members.values()}
        self.static_members[member.instance_id or ""] = new_id
        if self.leader_id == old_id:
            self.leader_id = new_id
        if old_id in self._unsynced:
            self._unsynced.remove(old_id)
            self._unsynced.add(new_id)

    def _rebalance_or_complete(self) -> None:
        if self.state == PREPARING:
            self._complete_if_all_joined()
        else:
            self._prepare_rebalance()

    def _prepare_rebalance(self) -> None:
        if self.state == COMPLETING:
            for member in self.members.values():
                member.assignment = b""
            self._finish_syncs(error_codes.REBALANCE_IN_PROGRESS)
        self._sync_deadline.cancel()
        self._is_initial = self.state == EMPTY
        self.state = PREPARING
        delay_s = self._cluster.group_settings.initial_rebalance_delay_s
        if not self._is_initial:
            self._join_deadline.set(self.rebalance_timeout_s)
            self._complete_if_all_joined()
        elif delay_s > 0:
            self._has_new_member = False
            remaining_s = max(self.rebalance_timeout_s - delay_s, 0.0)
            self._join_deadline = Deadline(
                self._cluster.clock, lambda: self._extend_initial(delay_s, remaining_s)
            )
            self._join_deadline.set(delay_s)
        else:
            self._complete_join()

    def _extend_initial(self, delay_s: float, remaining_s: float) -> None:
        """Wait again while new members join, but at most the rebalance timeout."""
        if not (self._has_new_member and remaining_s > 0):
            self._complete_join()
            return
        self._has_new_member = False
        initial_delay_s = self._cluster.group_settings.initial_rebalance_delay_s
        next_delay_s = min(initial_delay_s, remaining_s)
        next_remaining_s = max(remaining_s - delay_s, 0.0)
        self._join_deadline = Deadline(
            self._cluster.clock,
            lambda: self._extend_initial(next_delay_s, next_remaining_s),
        )
        self._join_deadline.set(next_delay_s)

    def _complete_if_all_joined(self) -> None:
        """Complete the join phase, unless members are missing or may still arrive."""
        is_waiting = self.state != PREPARING or self._is_initial
        if is_waiting or self.pending_members:
            return
        if all(member.awaiting_join for member in self.members.values()):
            self._complete_join()

    def _complete_join(self) -> None:
        """Start a generation with the members that have joined."""
        self._join_deadline.cancel()
        self._join_deadline = Deadline(self._cluster.clock, self._complete_join)
        for member in list(self.members.values()):
            if member.awaiting_join is None and member.instance_id is None:
                self._drop(member.member_id)
        if self.members and not self._elect_leader():
            self._join_deadline.set(max(self.rebalance_timeout_s, _MIN_RETRY_S))
            return
        self._is_initial = False
        self.generation += 1
        self._unsynced = set(self.members)
        if not self.members:
            self.protocol_name = None
            self.state = EMPTY
            return
        self.protocol_name = select_protocol(self.members.values())
        self.state = COMPLETING
        for member in self.members.values():
            member.finish_join(self._make_join_result(member))
        self._sync_deadline.set(self.rebalance_timeout_s)

    def _elect_leader(self) -> bool:
        """Choose a leader that has joined. Returns False if no member has joined."""
        joined = [m.member_id for m in self.members.values() if m.awaiting_join]
        if self.leader_id not in joined:
            self.leader_id = joined[0] if joined else self.leader_id
        return bool(joined)

    def _make_join_result(self, member: ClassicMember) -> JoinResult:
        members: tuple[JoinedMember, ...] = ()
        if member.member_id == self.leader_id:
            members = tuple(
                JoinedMember(
                    other.member_id,
                    other.instance_id,
                    other.metadata_of(self.protocol_name),
                )
                for other in self.members.values()
            )
        return JoinResult(
            generation=self.generation,
            protocol_type=self.type,
            protocol_name=self.protocol_name,
            leader=self.leader_id or "",
            member_id=member.member_id,
            members=members,
        )

    def _make_sync_result(self, member: ClassicMember) -> SyncResult:
        return SyncResult(0, self.type, self.protocol_name, member.assignment)

    def _finish_syncs(self, error_code: int = 0) -> None:
        for member in self.members.values():
            result = self._make_sync_result(member)
            member.finish_sync(SyncResult(error_code) if error_code else result)

    def _expire_sync(self) -> None:
        """Remove the members that did not send SyncGroup in time."""
        if self.state not in (COMPLETING, STABLE) or not self._unsynced:
            return
        for member_id in list(self._unsynced):
            self._drop(member_id)
        self._prepare_rebalance()

    def _expire_session(self, member: ClassicMember) -> None:
        is_waiting = member.awaiting_join or member.awaiting_sync
        if member.is_new or not is_waiting:
            self.remove_member(member.member_id)

    def _leave_pending(self, member_id: str) -> None:
        self.pending_members.pop(member_id, None)
        self._complete_if_all_joined()

    def _leave_one(self, member_id: str, instance_id: str | None) -> int:
        if not member_id:
            static_id = self.static_members.get(instance_id or "")
            if static_id is None:
                return error_codes.UNKNOWN_MEMBER_ID
            self._drop(static_id)
            return 0
        if member_id not in self.pending_members:
            code = self.check_member(member_id, instance_id)
            if code:
                return code
        self._drop(member_id)
        return 0

    def _drop(self, member_id: str) -> None:
        """Remove a member from all tables, without a rebalance."""
        self._unsynced.discard(member_id)
        pending = self.pending_members.pop(member_id, None)
        if pending is not None:
            pending.cancel()
        member = self.members.pop(member_id, None)
        if member is None:
            return
        member.session.cancel()
        if member.instance_id is not None:
            self.static_members.pop(member.instance_id, None)
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)
        member.fail(error_codes.UNKNOWN_MEMBER_ID, "")

    def _continue_without_members(self) -> None:
        """Start a rebalance, or complete one that waited only for removed members."""
        if self.state in (STABLE, COMPLETING):
            self._prepare_rebalance()
        else:
            self._complete_if_all_joined()


def _fail(
    deferred: Deferred[JoinResult], code: int, member_id: str
) -> Deferred[JoinResult]:
    deferred.resolve(JoinResult(code, member_id=member_id))
    return deferred


def ensure_simple_group(state: ClusterState, group_id: str) -> Group:
    """Return a group. Creates a group without members if it does not exist.

    Clients without a group protocol commit offsets to such a group.
    """
    group = state.groups.get(group_id)
    if group is None:
        group = state.groups[group_id] = ClassicGroup(group_id, state)
    return group
