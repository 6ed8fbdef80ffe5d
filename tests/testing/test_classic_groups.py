# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Classic groups of test clusters: rebalances, sessions and static members."""

from __future__ import annotations

import pytest

from kwire.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from kwire.schema import error_codes
from kwire.testing.rules import Rule
from kwire.testing.state.classic_group import COMPLETING, EMPTY, PREPARING, STABLE
from tests.testing.group_sessions import (
    GROUP,
    ClassicMember,
    ConsumerMember,
    complete_sync,
    form_stable_group,
    subscribe,
)
from tests.testing.machine_client import MachineClient, make_machine, versions_of

RELEASES = ("0.9.0", "0.11.0", "2.3", "2.8", "3.9", "4.4")


@pytest.fixture
def machine():
    return make_machine(topics={"orders": 4})


def group_of(machine):
    return machine.state.groups[GROUP]


@pytest.mark.parametrize("release", RELEASES)
def test_every_version_of_a_release_runs_a_generation(release):
    machine = make_machine(topics={"orders": 1}, release=release)
    for version in versions_of(machine, JoinGroupRequest):
        member = ClassicMember(machine, version=version)
        response = member.join()
        assert (response.error_code, response.leader) == (0, member.member_id)
        assert [entry.member_id for entry in response.members] == [member.member_id]
        leave_all(machine)
    member = ClassicMember(machine, version=version)
    member.join()
    for version in versions_of(machine, SyncGroupRequest):
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=member.generation,
            member_id=member.member_id,
            protocol_type="consumer" if version >= 5 else None,
            protocol_name="range" if version >= 5 else None,
            assignments=[
                SyncGroupRequest.SyncGroupRequestAssignment(
                    member_id=member.member_id, assignment=b"all"
                )
            ],
        )
        assert member.client.request(request, version).assignment == b"all"
    for version in versions_of(machine, HeartbeatRequest):
        request = HeartbeatRequest(
            group_id=GROUP,
            generation_id=member.generation,
            member_id=member.member_id,
        )
        assert member.client.request(request, version).error_code == 0
    for version in versions_of(machine, LeaveGroupRequest):
        identity = LeaveGroupRequest.MemberIdentity(member_id="nobody")
        request = (
            LeaveGroupRequest(group_id=GROUP, members=[identity])
            if version >= 3
            else LeaveGroupRequest(group_id=GROUP, member_id="nobody")
        )
        response = member.client.request(request, version)
        entry = response.members[0] if version >= 3 else response
        assert entry.error_code == error_codes.UNKNOWN_MEMBER_ID


def leave_all(machine):
    for member_id in list(group_of(machine).members):
        group_of(machine).remove_member(member_id)
    assert group_of(machine).state == EMPTY


def test_dynamic_member_must_join_with_the_assigned_id(machine):
    member = ClassicMember(machine)
    first = member.send_join()
    assert first.error_code == error_codes.MEMBER_ID_REQUIRED
    assert first.member_id.startswith("test-")
    second = member.send_join()
    assert (second.error_code, second.member_id) == (0, first.member_id)
    assert second.generation_id == 1
    assert second.protocol_name == "range"


def test_pending_member_id_expires_with_the_session(machine):
    member = ClassicMember(machine)
    member.send_join()
    member.client.advance(10)
    assert member.send_join().error_code == error_codes.UNKNOWN_MEMBER_ID


def test_rebalance_waits_for_a_member_that_has_only_an_id(machine):
    (first,) = form_stable_group(machine, 1)
    second, third = ClassicMember(machine), ClassicMember(machine)
    second.send_join()
    third.join()
    assert first.send_join() is None
    second.send_join()
    assert len(first.take_join().members) == 3


def test_only_the_leader_receives_the_members(machine):
    first, second = form_stable_group(machine)
    first.send_join()
    assert second.heartbeat() == error_codes.REBALANCE_IN_PROGRESS
    follower = second.send_join()
    leader = first.take_join()
    assert {member.member_id for member in leader.members} == {
        first.member_id,
        second.member_id,
    }
    assert leader.members[0].metadata == subscribe("orders")
    assert follower.members == ()
    assert follower.leader == first.member_id


def test_new_member_waits_until_the_others_rejoin(machine):
    (first,) = form_stable_group(machine, 1)
    second = ClassicMember(machine)
    assert second.join() is None
    assert group_of(machine).state == PREPARING
    assert first.heartbeat() == error_codes.REBALANCE_IN_PROGRESS
    first.send_join()
    assert second.take_join().generation_id == 2
    assert group_of(machine).state == COMPLETING
    complete_sync([first, second])
    assert group_of(machine).state == STABLE
    assert first.heartbeat() == second.heartbeat() == 0


def test_member_that_does_not_rejoin_is_removed_after_the_rebalance_timeout(machine):
    first, second = form_stable_group(machine)
    third = ClassicMember(machine)
    third.join()
    second.send_join()
    for _ in range(6):
        first.client.advance(9.9)
        assert first.heartbeat() == error_codes.REBALANCE_IN_PROGRESS
    first.client.advance(0.7)
    assert second.take_join().leader == second.member_id
    assert third.take_join().error_code == 0
    assert first.heartbeat() == error_codes.UNKNOWN_MEMBER_ID


def test_member_that_does_not_sync_is_removed_after_the_rebalance_timeout(machine):
    first, second = form_stable_group(machine)
    first.send_join()
    second.send_join()
    first.take_join()
    first.sync({first.member_id: b"a", second.member_id: b"b"})
    for _ in range(7):
        first.client.advance(9)
        second.heartbeat()
        first.heartbeat()
    assert second.heartbeat() == error_codes.UNKNOWN_MEMBER_ID
    assert first.send_join().generation_id == first.generation
    assert list(group_of(machine).members) == [first.member_id]


def test_silent_member_is_removed_after_the_session_timeout(machine):
    first, second = form_stable_group(machine)
    first.client.advance(9)
    assert first.heartbeat() == 0
    first.client.advance(2)
    assert first.heartbeat() == error_codes.REBALANCE_IN_PROGRESS
    assert second.heartbeat() == error_codes.UNKNOWN_MEMBER_ID
    assert len(first.send_join().members) == 1


def test_commit_extends_the_session(machine):
    (member,) = form_stable_group(machine, 1)
    for _ in range(3):
        member.client.advance(9)
        assert member.commit("orders", 0, 5) == 0
    assert member.heartbeat() == 0


def test_heartbeats_leave_one_timer(machine):
    (member,) = form_stable_group(machine, 1)
    for _ in range(1000):
        member.heartbeat()
    assert len(machine.state.clock._timers) < 10


def test_waiting_member_does_not_expire(machine):
    (first,) = form_stable_group(machine, 1)
    second = ClassicMember(machine)
    second.join()
    for _ in range(5):
        second.client.advance(9)
        first.heartbeat()
    first.send_join()
    assert second.take_join().error_code == 0


def test_initial_rebalance_waits_for_further_members(machine):
    machine.state.group_settings.initial_rebalance_delay_s = 3.0
    first, second = ClassicMember(machine), ClassicMember(machine)
    assert first.join() is None
    first.client.advance(2)
    assert second.join() is None
    first.client.advance(2)
    assert first.take_join() is None
    first.client.advance(2)
    assert len(first.take_join().members) == 2
    assert second.take_join().generation_id == 1


def test_last_leave_empties_the_group_and_keeps_offsets(machine):
    (member,) = form_stable_group(machine, 1)
    member.commit("orders", 1, 7)
    assert member.leave() == 0
    group = group_of(machine)
    assert (group.state, group.generation) == (EMPTY, 2)
    assert group.offsets.committed["orders", 1].offset == 7


def test_leave_starts_a_rebalance_of_the_others(machine):
    first, second = form_stable_group(machine)
    assert first.leave() == 0
    assert second.heartbeat() == error_codes.REBALANCE_IN_PROGRESS
    response = second.send_join()
    assert response.leader == second.member_id


def test_protocol_must_be_common_to_all_members(machine):
    form_stable_group(machine, 1)
    other = ClassicMember(machine, protocols={"sticky": b""})
    assert other.send_join().error_code == error_codes.INCONSISTENT_GROUP_PROTOCOL


def test_most_preferred_common_protocol_is_selected(machine):
    both = {"sticky": b"s", "range": b"r"}
    (first,) = form_stable_group(machine, 1, protocols=dict(reversed(both.items())))
    second, third = (ClassicMember(machine, protocols=both) for _ in range(2))
    second.join()
    third.join()
    assert first.send_join().protocol_name == "sticky"
    assert second.take_join().protocol_name == "sticky"


def test_old_generation_and_unknown_members_are_rejected(machine):
    (member,) = form_stable_group(machine, 1)
    member.generation -= 1
    assert member.heartbeat() == error_codes.ILLEGAL_GENERATION
    assert member.commit("orders", 0, 1) == error_codes.ILLEGAL_GENERATION
    assert member.sync().error_code == error_codes.ILLEGAL_GENERATION
    member.member_id = "nobody"
    assert member.heartbeat() == error_codes.UNKNOWN_MEMBER_ID


def test_commit_during_the_sync_phase_is_rejected(machine):
    member = ClassicMember(machine)
    member.join()
    assert member.commit("orders", 0, 1) == error_codes.REBALANCE_IN_PROGRESS


def test_session_timeout_outside_the_limits_is_rejected(machine):
    for timeout_ms in (0, 5_999, 1_800_001):
        response = MachineClient(machine).request(
            JoinGroupRequest(group_id=GROUP, session_timeout_ms=timeout_ms)
        )
        assert response.error_code == error_codes.INVALID_SESSION_TIMEOUT
    assert GROUP not in machine.state.groups


def test_restarted_static_member_keeps_its_assignment_without_a_rebalance(machine):
    first = ClassicMember(machine, instance_id="a")
    first.join()
    first.sync({first.member_id: b"mine"})
    restarted = ClassicMember(machine, instance_id="a")
    response = restarted.join()
    assert response.generation_id == first.generation
    assert response.skip_assignment
    assert response.leader == restarted.member_id != first.member_id
    assert [entry.group_instance_id for entry in response.members] == ["a"]
    assert restarted.sync().assignment == b"mine"
    assert first.heartbeat() == error_codes.FENCED_INSTANCE_ID


def test_old_static_client_does_not_become_the_leader_after_a_restart(machine):
    first = ClassicMember(machine, instance_id="a", version=5)
    first.join()
    first.sync({first.member_id: b"mine"})
    restarted = ClassicMember(machine, instance_id="a", version=5)
    response = restarted.join()
    assert response.leader == first.member_id
    assert response.members == ()


def test_static_member_without_rebalance_timeout_does_not_block_the_cluster(machine):
    static = ClassicMember(machine, instance_id="a")
    static.join()
    other = ClassicMember(machine, instance_id="b")
    other.join()
    static.send_join()
    other.take_join()
    complete_sync([static, other])
    static.member_id, static.rebalance_timeout_ms = "", 0
    assert static.join().error_code == 0
    other.leave()
    machine.advance(5)
    assert group_of(machine).state == PREPARING
    machine.advance(10)
    assert group_of(machine).state == EMPTY


def test_static_member_is_removed_by_its_instance_id(machine):
    (member,) = form_stable_group(machine, 1, instance_id="a")
    identity = LeaveGroupRequest.MemberIdentity(member_id="", group_instance_id="a")
    response = member.client.request(
        LeaveGroupRequest(group_id=GROUP, members=[identity, identity])
    )
    codes = [entry.error_code for entry in response.members]
    assert codes == [0, error_codes.UNKNOWN_MEMBER_ID]
    assert group_of(machine).is_empty


def test_repeated_join_in_the_sync_phase_returns_the_same_generation(machine):
    member = ClassicMember(machine)
    first = member.join()
    assert member.send_join() == first


def test_injected_member_error_removes_the_member(machine):
    first, second = form_stable_group(machine)
    code = error_codes.UNKNOWN_MEMBER_ID
    machine.rules.add(Rule(machine.rules, "Heartbeat", times=1, error_code=code))
    assert second.heartbeat() == code
    assert first.heartbeat() == error_codes.REBALANCE_IN_PROGRESS
    assert len(first.send_join().members) == 1


def test_requests_to_another_broker_are_rejected():
    machine = make_machine(brokers=2, topics={"orders": 1})
    other = 3 - machine.state.choose_coordinator(GROUP)
    client = MachineClient(machine, other)
    code = error_codes.NOT_COORDINATOR
    request = JoinGroupRequest(group_id=GROUP, session_timeout_ms=10_000)
    assert client.request(request).error_code == code
    assert client.request(HeartbeatRequest(group_id=GROUP)).error_code == code
    assert client.request(LeaveGroupRequest(group_id=GROUP)).error_code == code


def test_waiting_member_learns_that_the_coordinator_has_moved():
    machine = make_machine(brokers=2, topics={"orders": 4})
    moved_to = machine.state.choose_coordinator(GROUP)
    machine.state.stop_broker(moved_to)
    (first,) = form_stable_group(machine, 1, node_id=3 - moved_to)
    second = ClassicMember(machine, node_id=3 - moved_to)
    assert second.join() is None
    machine.state.start_broker(moved_to)
    second.client.advance(0)
    assert second.take_join().error_code == error_codes.NOT_COORDINATOR
    second.connect(moved_to)
    assert second.send_join() is None
    first.connect(moved_to)
    assert len(first.send_join().members) == 2
    assert second.take_join().error_code == 0


def test_empty_consumer_group_becomes_a_classic_group_with_its_offsets(machine):
    consumer = ConsumerMember(machine, "c")
    consumer.join("orders")
    classic = ClassicMember(machine)
    code = error_codes.INCONSISTENT_GROUP_PROTOCOL
    assert classic.send_join().error_code == code
    offsets = group_of(machine).offsets
    consumer.leave()
    assert classic.join().error_code == 0
    assert group_of(machine).kind == "classic"
    assert group_of(machine).offsets is offsets


def test_full_group_rejects_further_members(machine):
    form_stable_group(machine, 1)
    machine.state.group_settings.max_size = 1
    response = ClassicMember(machine, instance_id="b").send_join()
    assert response.error_code == error_codes.GROUP_MAX_SIZE_REACHED
