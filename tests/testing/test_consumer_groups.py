# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-848 groups of test clusters: epochs, reconciliation, fencing, static members."""

from __future__ import annotations

import pytest

from kwire.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    OffsetFetchRequest,
)
from kwire.schema import error_codes
from kwire.testing.rules import Rule
from kwire.testing.state.group import CLASSIC
from tests.testing.admin_requests import GROUP as GROUP_RESOURCE
from tests.testing.admin_requests import SET, alter
from tests.testing.group_sessions import (
    GROUP,
    ClassicMember,
    ConsumerMember,
    commit_request,
    form_stable_group,
    offset_of,
)
from tests.testing.machine_client import MachineClient, make_machine, versions_of

RELEASES = ("3.8", "3.9", "4.0", "4.4")


@pytest.fixture
def machine():
    # The first member epoch is 1 before release 4.3.
    topics = {"orders": 4, "orders-eu": 2, "other": 1}
    return make_machine(topics=topics, release="4.2")


@pytest.fixture
def newest_machine():
    return make_machine(topics={"orders": 4})


def partitions(*indexes, topic="orders"):
    return {(topic, index) for index in indexes}


def group_of(machine):
    return machine.state.groups[GROUP]


def join_two(machine):
    """Return two members with two partitions each."""
    first, second = ConsumerMember(machine, "a"), ConsumerMember(machine, "b")
    first.join("orders")
    second.join("orders")
    first.beat()
    first.heartbeat()
    second.beat()
    assert len(first.assigned) == len(second.assigned) == 2
    assert group_of(machine).state_name == "Stable"
    return first, second


@pytest.mark.parametrize("release", RELEASES)
def test_every_version_of_a_release_joins_and_describes(release):
    machine = make_machine(topics={"orders": 2}, release=release)
    for version in versions_of(machine, ConsumerGroupHeartbeatRequest):
        member = ConsumerMember(machine, "a" if version else "", version=version)
        response = member.join("orders")
        assert response.error_code == 0
        assert response.heartbeat_interval_ms == 500
        assert member.assigned == partitions(0, 1)
        for describe_version in versions_of(machine, ConsumerGroupDescribeRequest):
            described = member.client.request(
                ConsumerGroupDescribeRequest(group_ids=[GROUP]), describe_version
            ).groups[0]
            assert described.members[0].member_id == member.member_id
        member.leave()


def test_partitions_are_revoked_before_another_member_receives_them(machine):
    first, second = ConsumerMember(machine, "a"), ConsumerMember(machine, "b")
    assert first.join("orders").member_epoch == 1
    assert first.assigned == partitions(0, 1, 2, 3)
    assert second.join("orders").member_epoch == 2
    assert second.assigned == set()
    held = first.assigned
    assert first.beat().member_epoch == 1
    assert len(first.assigned) == 2
    assert first.heartbeat(owned=held).assignment is None
    assert second.beat().assignment is None
    assert group_of(machine).state_name == "Reconciling"
    assert first.heartbeat().member_epoch == 2
    second.beat()
    assert second.assigned == held - first.assigned
    assert group_of(machine).state_name == "Stable"


def test_assignment_is_sent_only_when_it_changes(machine):
    first, _ = join_two(machine)
    assert first.beat().assignment is None
    full = first.send(
        rebalance_timeout_ms=1000,
        subscribed_topic_names=["orders"],
        topic_partitions=first._list_partitions(first.assigned),
    )
    assert full.assignment is not None


def test_member_that_does_not_revoke_in_time_is_removed(machine):
    first, second = ConsumerMember(machine, "a"), ConsumerMember(machine, "b")
    first.join("orders", rebalance_timeout_ms=10_000)
    held = first.assigned
    second.join("orders")
    first.beat()
    first.client.advance(9)
    assert first.heartbeat(owned=held).error_code == 0
    first.client.advance(2)
    code = error_codes.UNKNOWN_MEMBER_ID
    assert first.heartbeat(owned=held).error_code == code
    second.beat()
    assert second.assigned == partitions(0, 1, 2, 3)


def test_member_that_revokes_in_time_stays_in_the_group(machine):
    first, second = ConsumerMember(machine, "a"), ConsumerMember(machine, "b")
    first.join("orders", rebalance_timeout_ms=10_000)
    second.join("orders")
    first.beat()
    first.client.advance(9)
    first.heartbeat()
    first.client.advance(9)
    assert first.beat().error_code == 0
    assert group_of(machine).epoch == 2


def test_silent_member_is_removed_after_the_session_timeout(machine):
    first, second = join_two(machine)
    first.client.advance(44)
    assert first.beat().error_code == 0
    first.client.advance(2)
    assert second.beat().error_code == error_codes.UNKNOWN_MEMBER_ID
    first.beat()
    assert first.assigned == partitions(0, 1, 2, 3)


def test_configuration_of_a_group_determines_its_timeouts(machine):
    admin = MachineClient(machine)
    changes = [
        ("consumer.session.timeout.ms", SET, "60000"),
        ("consumer.heartbeat.interval.ms", SET, "7000"),
    ]
    assert alter(admin, GROUP_RESOURCE, GROUP, *changes) == 0
    first, second = join_two(machine)
    assert first.beat().heartbeat_interval_ms == 7000
    first.client.advance(59)
    assert first.beat().error_code == 0
    assert len(group_of(machine).members) == 2
    first.client.advance(2)
    assert second.beat().error_code == error_codes.UNKNOWN_MEMBER_ID


def test_member_that_leaves_releases_its_partitions(machine):
    first, second = join_two(machine)
    response = first.leave()
    assert (response.error_code, response.member_epoch) == (0, -1)
    second.beat()
    assert second.assigned == partitions(0, 1, 2, 3)
    second.leave()
    assert group_of(machine).state_name == "Empty"


@pytest.mark.parametrize("release", ["4.3", "4.4"])
def test_assignment_epoch_of_an_empty_group_follows_since_release_4_4(release):
    machine = make_machine(topics={"orders": 4}, release=release)
    member = ConsumerMember(machine, "a")
    assert member.join("orders").member_epoch == 2
    member.leave()
    epochs = group_of(machine).epoch, group_of(machine).assignment_epoch
    assert epochs == ((3, 3) if release == "4.4" else (3, 2))


def test_changes_within_the_interval_get_one_assignment(newest_machine):
    newest_machine.state.group_settings.assignment_interval_s = 1.0
    first, second = (ConsumerMember(newest_machine, name) for name in "ab")
    first.join("orders")
    assert second.join("orders").member_epoch == 2
    assert second.assigned == set()
    group = group_of(newest_machine)
    assert (group.state_name, group.epoch, group.assignment_epoch) == (
        "Assigning",
        3,
        2,
    )
    second.client.advance(1)
    first.beat()
    assert len(first.assigned) == 2
    assert group.assignment_epoch == 3


def test_other_epochs_are_fenced(machine):
    first, _ = join_two(machine)
    epoch = first.epoch
    for wrong_epoch in (epoch + 1, epoch - 1, 1 << 30):
        first.epoch = wrong_epoch
        assert first.beat().error_code == error_codes.FENCED_MEMBER_EPOCH
    first.epoch = epoch
    assert first.beat().error_code == 0


def test_heartbeat_is_repeated_after_a_lost_response(machine):
    first = ConsumerMember(machine, "a")
    first.join("orders")
    assert first.join("orders").member_epoch == 1
    assert first.assigned == partitions(0, 1, 2, 3)


@pytest.mark.parametrize("release", ["4.1", "4.2"])
def test_member_joins_again_in_a_later_epoch_since_release_4_2(release):
    machine = make_machine(topics={"orders": 4}, release=release)
    first, second = join_two(machine)
    second.leave()
    first.beat()
    assert first.epoch == 3
    response = first.join("orders")
    if release == "4.1":
        assert response.error_code == error_codes.FENCED_MEMBER_EPOCH
    else:
        assert (response.error_code, response.member_epoch) == (0, 3)
        assert first.assigned == partitions(0, 1, 2, 3)


def test_transactions_without_a_member_may_commit(newest_machine):
    machine = newest_machine
    first, second = join_two(machine)
    own = first.assigned

    def check(member_id, epoch, owned=own):
        group = group_of(machine)
        return group.check_transactional_member(member_id, epoch, None, owned)

    assert check("", -1) == check("a", first.epoch) == check("a", 2) == 0
    assert check("a", 2, second.assigned) == error_codes.ILLEGAL_GENERATION
    assert check("a", first.epoch + 1) == error_codes.ILLEGAL_GENERATION
    assert check("x", 1) == check("x", -1) == error_codes.UNKNOWN_MEMBER_ID


def test_unknown_member_and_missing_group_are_rejected(machine):
    first = ConsumerMember(machine, "a")
    first.epoch = 3
    assert first.beat().error_code == error_codes.GROUP_ID_NOT_FOUND
    first.join("orders")
    other = ConsumerMember(machine, "b")
    other.epoch = 1
    assert other.beat().error_code == error_codes.UNKNOWN_MEMBER_ID
    assert other.leave().error_code == error_codes.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    "values",
    [
        {"group_id": ""},
        {"member_id": ""},
        {"instance_id": ""},
        {"rack_id": ""},
        {"member_epoch": -3},
        {"member_epoch": -2},
        {"rebalance_timeout_ms": -1},
        {"topic_partitions": None},
        {"subscribed_topic_names": None},
    ],
    ids=lambda values: next(iter(values)),
)
def test_invalid_first_heartbeat_is_rejected(machine, values):
    valid = {
        "group_id": GROUP,
        "member_id": "a",
        "member_epoch": 0,
        "rebalance_timeout_ms": 1000,
        "subscribed_topic_names": ["orders"],
        "topic_partitions": [],
    }
    response = MachineClient(machine).request(
        ConsumerGroupHeartbeatRequest(**{**valid, **values})
    )
    assert response.error_code == error_codes.INVALID_REQUEST
    assert response.error_message
    assert not machine.state.groups


def test_unsupported_assignor_is_rejected(machine):
    response = ConsumerMember(machine, "a").join("orders", assignor="sticky")
    assert response.error_code == error_codes.UNSUPPORTED_ASSIGNOR


def test_range_assignor_gives_the_same_partitions_of_equal_topics(machine):
    machine.state.create_topic("refunds", 4)
    first, second = ConsumerMember(machine, "a"), ConsumerMember(machine, "b")
    for member in (first, second):
        member.join("orders", "refunds", assignor="range")
    first.beat()
    first.heartbeat()
    second.beat()
    for member, indexes in ((first, (0, 1)), (second, (2, 3))):
        expected = partitions(*indexes) | partitions(*indexes, topic="refunds")
        assert member.assigned == expected


def test_pattern_subscribes_to_matching_topics_also_later(machine):
    first = ConsumerMember(machine, "a")
    first.join(pattern="orders(-[a-z]+)?")
    expected = partitions(0, 1, 2, 3) | partitions(0, 1, topic="orders-eu")
    assert first.assigned == expected
    machine.state.create_topic("orders-us", 1)
    first.beat()
    assert first.assigned == expected | {("orders-us", 0)}


def test_invalid_pattern_is_rejected(machine):
    response = ConsumerMember(machine, "a").join(pattern="orders(")
    assert response.error_code == error_codes.INVALID_REGULAR_EXPRESSION


def test_rejected_first_heartbeat_creates_no_group(machine):
    member = ConsumerMember(machine, "a")
    assert member.join(pattern="orders(").error_code != 0
    assert GROUP not in machine.state.groups
    (classic,) = form_stable_group(machine, 1)
    classic.leave()
    assert member.join(pattern="orders(").error_code != 0
    assert group_of(machine).kind == CLASSIC


def test_new_partitions_are_assigned(machine):
    first = ConsumerMember(machine, "a")
    first.join("orders")
    machine.state.add_partitions(machine.state.topics["orders"], 5)
    response = first.beat()
    assert (response.member_epoch, len(first.assigned)) == (2, 5)


def test_restarted_static_member_keeps_its_partitions(machine):
    first = ConsumerMember(machine, "a", instance_id="i")
    second = ConsumerMember(machine, "b")
    first.join("orders")
    second.join("orders")
    first.beat()
    first.heartbeat()
    second.beat()
    held, epoch = first.assigned, group_of(machine).epoch
    restarted = ConsumerMember(machine, "c", instance_id="i")
    code = error_codes.UNRELEASED_INSTANCE_ID
    assert restarted.join("orders").error_code == code
    assert first.leave(epoch=-2).member_epoch == -2
    assert restarted.join("orders").member_epoch == epoch
    assert restarted.assigned == held
    assert group_of(machine).epoch == epoch
    first.epoch = epoch
    assert first.beat().error_code == error_codes.FENCED_INSTANCE_ID


def test_static_member_that_does_not_return_is_removed(machine):
    first = ConsumerMember(machine, "a", instance_id="i")
    second = ConsumerMember(machine, "b")
    first.join("orders")
    second.join("orders")
    first.leave(epoch=-2)
    second.client.advance(40)
    second.beat()
    assert second.assigned == set()
    second.client.advance(6)
    second.beat()
    assert second.assigned == partitions(0, 1, 2, 3)


def test_static_leave_requires_an_instance_id(machine):
    first = ConsumerMember(machine, "a")
    first.join("orders")
    assert first.leave(epoch=-2).error_code == error_codes.INVALID_REQUEST


def commit(member, epoch, partition, version=9):
    """Commit an offset of a partition; return its error code."""
    request = commit_request(
        offset_of("orders", partition, 4),
        member_id=member.member_id,
        generation=epoch,
    )
    response = member.client.request(request, version)
    return response.topics[0].partitions[0].error_code


def test_member_commits_only_in_its_epoch_before_release_4_3():
    machine = make_machine(topics={"orders": 4}, release="4.2")
    first, _ = join_two(machine)
    partition = min(index for _, index in first.assigned)
    stale = error_codes.STALE_MEMBER_EPOCH
    assert commit(first, first.epoch, partition) == 0
    assert commit(first, first.epoch - 1, partition) == stale
    assert commit(first, first.epoch + 1, partition) == stale
    code = error_codes.UNSUPPORTED_VERSION
    assert commit(first, first.epoch, partition, version=8) == code


def test_member_commits_with_the_epochs_in_which_it_owned_the_partition(
    newest_machine,
):
    first, second = join_two(newest_machine)
    (own, _), (other, _) = sorted(first.assigned), sorted(second.assigned)
    stale = error_codes.STALE_MEMBER_EPOCH
    assert commit(first, 2, own[1]) == 0
    assert commit(first, 4, own[1]) == stale
    assert commit(first, 2, other[1]) == stale
    assert commit(second, 2, other[1]) == stale
    assert commit(second, 3, other[1]) == 0


def test_member_enters_the_next_epoch_after_each_revocation(machine):
    members = [ConsumerMember(machine, name) for name in "abcd"]
    first, second, *others = members
    first.join("orders")
    second.join("orders")
    assert first.beat().member_epoch == 1
    for member in others:
        member.join("orders")
    response = first.heartbeat()
    assert (response.member_epoch, len(first.assigned)) == (2, 1)
    assert first.heartbeat().member_epoch == 4


def test_offset_fetch_checks_the_member_epoch(machine):
    first, _ = join_two(machine)

    def fetch(member_id, epoch):
        entry = OffsetFetchRequest.OffsetFetchRequestGroup(
            group_id=GROUP, member_id=member_id, member_epoch=epoch, topics=None
        )
        request = OffsetFetchRequest(groups=[entry])
        return first.client.request(request).groups[0].error_code

    assert fetch(None, -1) == fetch("a", first.epoch) == 0
    assert fetch("a", first.epoch + 1) == error_codes.STALE_MEMBER_EPOCH
    assert fetch("x", 1) == error_codes.UNKNOWN_MEMBER_ID


def test_empty_classic_group_becomes_a_consumer_group_with_its_offsets(machine):
    (classic,) = form_stable_group(machine, 1)
    classic.commit("orders", 0, 9)
    consumer = ConsumerMember(machine, "a")
    assert consumer.join("orders").error_code == error_codes.GROUP_ID_NOT_FOUND
    classic.leave()
    assert consumer.join("orders").error_code == 0
    assert group_of(machine).offsets.committed["orders", 0].offset == 9
    rejected = ClassicMember(machine).send_join()
    assert rejected.error_code == error_codes.INCONSISTENT_GROUP_PROTOCOL


def test_injected_fencing_lets_the_member_join_again(machine):
    first, second = join_two(machine)
    code = error_codes.FENCED_MEMBER_EPOCH
    rules = machine.rules
    rules.add(Rule(rules, "ConsumerGroupHeartbeat", times=1, error_code=code))
    assert first.beat().error_code == code
    assert "a" not in group_of(machine).members
    assert first.join("orders").error_code == 0
    second.beat()
    assert len(first.assigned | second.assigned) == 4


def test_description_contains_current_and_target_assignments(machine):
    first, second = ConsumerMember(machine, "a"), ConsumerMember(machine, "b")
    first.join("orders")
    second.join("orders")
    request = ConsumerGroupDescribeRequest(
        group_ids=[GROUP, "none", ""], include_authorized_operations=True
    )
    described, missing, invalid = first.client.request(request).groups
    assert missing.error_code == error_codes.GROUP_ID_NOT_FOUND
    assert invalid.error_code == error_codes.INVALID_GROUP_ID
    assert (described.group_state, described.assignor_name) == (
        "Reconciling",
        "uniform",
    )
    assert (described.group_epoch, described.assignment_epoch) == (2, 2)
    assert described.authorized_operations == 0b1100_1100_1000
    member = described.members[0]
    assert (member.member_id, member.member_type) == ("a", 1)
    assert (member.client_id, member.client_host) == ("test", "/127.0.0.1")
    assert list(member.subscribed_topic_names) == ["orders"]
    assert list(member.assignment.topic_partitions[0].partitions) == [0, 1, 2, 3]
    assert len(member.target_assignment.topic_partitions[0].partitions) == 2


def test_members_of_random_groups_never_share_a_partition(machine):
    import random

    source = random.Random(5)
    names = ("orders", "orders-eu", "other")
    members = {}
    for _ in range(600):
        key = source.choice("abcde")
        member = members.get(key)
        action = source.random()
        if member is None:
            member = members[key] = ConsumerMember(machine, f"{key}{source.random()}")
            member.join(*source.sample(names, source.randint(1, 3)))
        elif action < 0.05:
            member.leave()
            del members[key]
        elif action < 0.1:
            member.client.advance(source.choice((1, 5, 20)))
        else:
            response = member.heartbeat()
            if response.error_code:
                del members[key]
        held = [
            partition
            for member in group_of(machine).members.values()
            for partition in member.assigned | member.revoking
        ]
        assert len(held) == len(set(held))
    for _ in range(4):
        for member in list(members.values()):
            member.heartbeat()
    assert group_of(machine).state_name == "Stable"
