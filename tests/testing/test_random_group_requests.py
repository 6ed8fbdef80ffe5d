# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Random requests to the group coordinators of test clusters."""

from __future__ import annotations

import random
from uuid import UUID

import pytest

from kwire import messages
from kwire.testing.state.classic_group import ClassicGroup
from kwire.testing.state.consumer_group import ConsumerGroup
from tests.testing.machine_client import MachineClient, make_machine, versions_of
from tests.testing.random_requests import RandomTaste, draw_request, replace_fields

APIS = (
    "FindCoordinator",
    "OffsetCommit",
    "OffsetFetch",
    "OffsetDelete",
    "JoinGroup",
    "SyncGroup",
    "Heartbeat",
    "LeaveGroup",
    "ConsumerGroupHeartbeat",
    "ConsumerGroupDescribe",
    "DescribeGroups",
    "ListGroups",
    "DeleteGroups",
)
TEXTS = ["", "g", "h", "orders", "consumer", "range", "uniform", "(a*)*", "i", "x" * 99]


def check_groups(machine):
    """Check what is true of all groups after each request."""
    for group_id, group in machine.state.groups.items():
        assert group.group_id == group_id
        if isinstance(group, ClassicGroup):
            static = {
                member.instance_id: member_id
                for member_id, member in group.members.items()
                if member.instance_id is not None
            }
            assert group.static_members == static
            assert not group.members or group.leader_id in group.members
            assert not (group.is_empty and group.members)
        elif isinstance(group, ConsumerGroup):
            for instance_id, member in group.static_members.items():
                assert member.instance_id == instance_id
                assert group.members[member.member_id] is member
            assert set(group.target) <= set(group.members)


def make_plausible(source, machine, name, request):
    """Return values with which a request often belongs to a member of a group."""
    group = machine.state.groups.get("g")
    if name == "ConsumerGroupHeartbeat":
        return make_plausible_heartbeat(source, machine.state.groups.get("k"), request)
    if not isinstance(group, ClassicGroup):
        member_ids = [""]
    else:
        member_ids = [*group.members, *group.pending_members] or [""]
    values = {"group_id": "g", "member_id": source.choice(member_ids)}
    instance_id = None
    if name == "JoinGroup":
        protocol = request.JoinGroupRequestProtocol(name="range", metadata=b"")
        values |= {"session_timeout_ms": 10_000, "rebalance_timeout_ms": 20_000}
        values |= {"protocol_type": "consumer", "protocols": [protocol]}
        if source.random() < 0.3:
            values["member_id"] = ""
            instance_id = source.choice((None, "i", "j"))
    elif name == "SyncGroup":
        values |= {"protocol_type": "consumer", "protocol_name": "range"}
    if source.random() < 0.8:
        values["group_instance_id"] = instance_id
    if group is not None:
        generation = getattr(group, "generation", -1)
        values["generation_id"] = values["generation_id_or_member_epoch"] = generation
    return values


def make_plausible_heartbeat(source, group, request):
    members = group.members if isinstance(group, ConsumerGroup) else {}
    member_id = source.choice([*members, f"new{source.randrange(99)}"])
    member = members.get(member_id)
    values = {
        "group_id": "k",
        "member_id": member_id,
        "server_assignor": source.choice((None, "range", "uniform")),
        "rack_id": None,
    }
    if member is None:
        return values | {
            "instance_id": source.choice((None, None, None, "i")),
            "member_epoch": 0,
            "rebalance_timeout_ms": 15_000,
            "topic_partitions": [],
            "subscribed_topic_names": source.choice((["orders"], ["orders", "a"])),
            "subscribed_topic_regex": source.choice((None, ".*", "a|b")),
        }
    is_leaving = source.random() < 0.1
    return values | {
        "instance_id": member.instance_id,
        "member_epoch": source.choice((-1, -2)) if is_leaving else member.epoch,
        "topic_partitions": [
            request.TopicPartitions(topic_id=topic_id, partitions=[index])
            for topic_id, index in member.assigned
        ],
    }


@pytest.mark.parametrize("seed", range(8))
def test_random_requests_are_answered_and_keep_the_groups_valid(seed):
    source = random.Random(seed)
    release = ("4.4", "4.4", "3.9", "2.3")[seed % 4]
    machine = make_machine(topics={"orders": 3, "a": 1}, release=release, seed=seed)
    machine.state.group_settings.min_session_timeout_ms = 0
    state = machine.state

    def list_texts():
        members = [
            member_id
            for group in state.groups.values()
            for member_id in (*group.members, *getattr(group, "pending_members", ()))
        ]
        return TEXTS + members[:20]

    taste = RandomTaste(
        source, list_texts, lambda: [*state.topics_by_id, UUID(int=0), UUID(int=1)]
    )
    clients = [MachineClient(machine) for _ in range(6)]
    answered = 0
    for number in range(700):
        name = f"{source.choice(APIS)}Request"
        versions = versions_of(machine, getattr(messages, name))
        if not versions:
            continue
        version = source.choice(versions)
        position = source.randrange(len(clients))
        client = clients[position]
        request = draw_request(taste, name, version)
        if source.random() < 0.7:
            values = make_plausible(source, machine, name[: -len("Request")], request)
            request = replace_fields(request, name, version, values)
        client.send(request, version)
        answered += client.take_response() is not None
        assert not client.is_closed
        check_groups(machine)
        if number % 20 == 0:
            client.advance(source.choice((0, 1, 10, 60)))
            check_groups(machine)
        if source.random() < 0.1:
            client.close()
            clients[position] = MachineClient(machine)
    assert answered > 200
