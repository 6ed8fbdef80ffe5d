# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""DescribeGroups, ListGroups and DeleteGroups of test clusters."""

from __future__ import annotations

import pytest

from kwire.messages import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    JoinGroupRequest,
    ListGroupsRequest,
)
from kwire.schema import error_codes
from tests.testing.group_sessions import (
    GROUP,
    ClassicMember,
    ConsumerMember,
    commit_request,
    form_stable_group,
    offset_of,
    subscribe,
)
from tests.testing.machine_client import MachineClient, make_machine, versions_of

RELEASES = ("0.9.0", "1.0", "2.3", "2.8", "3.9", "4.4")


@pytest.fixture
def machine():
    return make_machine(topics={"orders": 2})


def describe(client, group_id=GROUP, version=6, operations=False):
    request = DescribeGroupsRequest(
        groups=[group_id], include_authorized_operations=operations
    )
    return client.request(request, version).groups[0]


def list_groups(client, version=5, **filters):
    groups = client.request(ListGroupsRequest(**filters), version).groups
    return {group.group_id for group in groups}


@pytest.mark.parametrize("release", RELEASES)
def test_every_version_of_a_release_lists_describes_and_deletes(release):
    machine = make_machine(topics={"orders": 1}, release=release)
    client = MachineClient(machine)
    member = ClassicMember(machine, version=versions_of(machine, JoinGroupRequest)[-1])
    member.join()
    for version in versions_of(machine, DescribeGroupsRequest):
        group = describe(client, version=version)
        assert (group.error_code, group.group_state) == (0, "CompletingRebalance")
        assert group.members[0].member_id == member.member_id
        assert describe(client, "none", version).group_state == "Dead"
    for version in versions_of(machine, ListGroupsRequest):
        assert list_groups(client, version) == {GROUP}
    for version in versions_of(machine, DeleteGroupsRequest):
        request = DeleteGroupsRequest(groups_names=[GROUP, "none"])
        codes = [r.error_code for r in client.request(request, version).results]
        assert codes == [error_codes.NON_EMPTY_GROUP, error_codes.GROUP_ID_NOT_FOUND]


def test_stable_group_is_described_with_metadata_and_assignments(machine):
    member, other = form_stable_group(machine)
    group = describe(member.client, operations=True)
    assert (group.group_state, group.protocol_type) == ("Stable", "consumer")
    assert group.protocol_data == "range"
    assert group.authorized_operations == 0b1100_1100_1000
    described = {entry.member_id: entry for entry in group.members}
    assert described[member.member_id].member_metadata == subscribe("orders")
    assert described[other.member_id].member_assignment == b"1"
    assert described[member.member_id].client_host == "/127.0.0.1"
    member.send_join()
    group = describe(MachineClient(machine))
    assert (group.group_state, group.protocol_data) == ("PreparingRebalance", "")
    assert {entry.member_assignment for entry in group.members} == {b""}


def test_group_of_another_kind_is_not_described(machine):
    ConsumerMember(machine, "a").join("orders")
    client = MachineClient(machine)
    group = describe(client)
    assert group.error_code == error_codes.GROUP_ID_NOT_FOUND
    assert group.error_message == f"Group {GROUP} is not a classic group."
    assert describe(client, version=5).error_code == 0


def test_groups_are_filtered_by_state_and_type(machine):
    ConsumerMember(machine, "a").join("orders")
    client = MachineClient(machine)
    client.request(commit_request(offset_of("orders", 0, 1), group_id="simple"), 9)
    assert list_groups(client) == {GROUP, "simple"}
    assert list_groups(client, types_filter=["Classic"]) == {"simple"}
    assert list_groups(client, types_filter=["consumer"]) == {GROUP}
    assert list_groups(client, types_filter=["unknown"]) == set()
    assert list_groups(client, states_filter=[" stable"]) == {GROUP}
    assert list_groups(client, states_filter=["Empty", "Dead"]) == {"simple"}
    groups = client.request(ListGroupsRequest()).groups
    assert {(g.group_type, g.group_state, g.protocol_type) for g in groups} == {
        ("consumer", "Stable", "consumer"),
        ("classic", "Empty", ""),
    }


def test_brokers_list_only_the_groups_that_they_coordinate():
    machine = make_machine(brokers=2, topics={"orders": 1})
    for number in range(8):
        group_id = f"group-{number}"
        node_id = machine.state.choose_coordinator(group_id)
        request = commit_request(offset_of("orders", 0, 1), group_id=group_id)
        MachineClient(machine, node_id).request(request, 9)
    first, second = (list_groups(MachineClient(machine, node)) for node in (1, 2))
    assert first and second
    assert not first & second
    assert len(first | second) == 8
    code = describe(MachineClient(machine, 1), next(iter(second))).error_code
    assert code == error_codes.NOT_COORDINATOR


def test_empty_group_is_deleted_with_its_offsets(machine):
    (member,) = form_stable_group(machine, 1)
    member.commit("orders", 0, 1)
    member.leave()
    request = DeleteGroupsRequest(groups_names=[GROUP, GROUP])
    response = member.client.request(request)
    assert [(r.group_id, r.error_code) for r in response.results] == [(GROUP, 0)]
    assert not machine.state.groups


def test_consumer_group_with_members_is_not_deleted(machine):
    member = ConsumerMember(machine, "a")
    member.join("orders")
    request = DeleteGroupsRequest(groups_names=[GROUP])
    response = member.client.request(request)
    assert response.results[0].error_code == error_codes.NON_EMPTY_GROUP
    member.leave()
    assert member.client.request(request).results[0].error_code == 0
