# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""OffsetCommit, OffsetFetch and OffsetDelete of test clusters."""

from __future__ import annotations

from uuid import UUID

import pytest

from kwire.messages import (
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
)
from kwire.schema import error_codes
from kwire.testing.rules import Rule
from kwire.testing.state.group import CommittedOffset
from tests.testing.group_sessions import (
    GROUP,
    ConsumerMember,
    commit_request,
    form_stable_group,
    offset_of,
)
from tests.testing.machine_client import MachineClient, make_machine, versions_of

RELEASES = ("0.8.2", "0.9.0", "0.11.0", "2.0", "2.8", "3.9", "4.4")


@pytest.fixture
def machine():
    return make_machine(topics={"orders": 2, "other": 1})


def commit(client, entry, version=9, **values):
    response = client.request(commit_request(entry, **values), version)
    return response.topics[0].partitions[0].error_code


def fetch(client, version, indexes=(0, 1), *, name="orders", stable=False):
    """Fetch offsets of a topic in the layout of a version; return its partitions."""
    state = client.machine.state
    if version < 8:
        topic = OffsetFetchRequest.OffsetFetchRequestTopic(
            name=name, partition_indexes=list(indexes)
        )
        request = OffsetFetchRequest(
            group_id=GROUP, topics=[topic], require_stable=stable
        )
        return client.request(request, version).topics[0].partitions
    identity = (
        {"topic_id": state.topics[name].topic_id} if version >= 10 else {"name": name}
    )
    topic = OffsetFetchRequest.OffsetFetchRequestTopics(
        **identity, partition_indexes=list(indexes)
    )
    group = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=GROUP, topics=[topic])
    request = OffsetFetchRequest(groups=[group], require_stable=stable)
    return client.request(request, version).groups[0].topics[0].partitions


@pytest.mark.parametrize("release", RELEASES)
def test_every_version_of_a_release_commits_and_fetches(release):
    machine = make_machine(topics={"orders": 2}, release=release)
    client = MachineClient(machine)
    topic_id = machine.state.topics["orders"].topic_id
    offset = 0
    for version in versions_of(machine, OffsetCommitRequest):
        offset += 10
        entry = offset_of(
            "orders", 0, offset, topic_id=topic_id if version >= 10 else None
        )
        assert commit(client, entry, version) == 0
        for fetch_version in versions_of(machine, OffsetFetchRequest):
            partitions = fetch(client, fetch_version)
            assert partitions[0].committed_offset == offset
            assert partitions[0].error_code == 0
            assert partitions[1].committed_offset == -1
            missing = error_codes.UNKNOWN_TOPIC_OR_PARTITION
            assert partitions[1].error_code == (0 if fetch_version else missing)


def test_unknown_topics_and_partitions_are_rejected(machine):
    client = MachineClient(machine)
    missing = error_codes.UNKNOWN_TOPIC_OR_PARTITION
    for name, index in (("none", 0), ("orders", 2), ("orders", -1), ("", 0)):
        assert commit(client, offset_of(name, index, 1)) == missing
    entry = offset_of("", 0, 1, topic_id=UUID(int=7))
    assert commit(client, entry, 10) == error_codes.UNKNOWN_TOPIC_ID
    assert not machine.state.groups


def test_leader_epoch_and_metadata_are_returned(machine):
    client = MachineClient(machine)
    entry = OffsetCommitRequest.OffsetCommitRequestTopic(
        name="orders",
        partitions=[
            OffsetCommitRequest.OffsetCommitRequestPartition(
                partition_index=1,
                committed_offset=5,
                committed_leader_epoch=3,
                committed_metadata="note",
            )
        ],
    )
    commit(client, entry)
    partition = fetch(client, 9)[1]
    assert (partition.committed_offset, partition.committed_leader_epoch) == (5, 3)
    assert partition.metadata == "note"


def test_large_metadata_is_rejected(machine):
    client = MachineClient(machine)
    entry = offset_of("orders", 0, 1, metadata="x" * 4097)
    assert commit(client, entry) == error_codes.OFFSET_METADATA_TOO_LARGE
    assert commit(client, offset_of("orders", 0, 1, metadata="x" * 4096)) == 0


def test_commit_of_a_member_of_a_missing_group_is_rejected(machine):
    client, entry = MachineClient(machine), offset_of("orders", 0, 1)
    values = {"member_id": "a", "generation": 4}
    assert commit(client, entry, 8, **values) == error_codes.ILLEGAL_GENERATION
    assert commit(client, entry, 9, **values) == error_codes.GROUP_ID_NOT_FOUND
    assert not machine.state.groups


def test_simple_commit_to_a_group_with_members_is_rejected(machine):
    (member,) = form_stable_group(machine, 1)
    code = commit(member.client, offset_of("orders", 0, 1))
    assert code == error_codes.UNKNOWN_MEMBER_ID


def test_all_offsets_are_fetched_without_topics(machine):
    client = MachineClient(machine)
    commit(client, offset_of("orders", 1, 5))
    commit(client, offset_of("other", 0, 6))
    for version in (2, 7):
        request = OffsetFetchRequest(group_id=GROUP, topics=None)
        topics = client.request(request, version).topics
        assert [topic.name for topic in topics] == ["orders", "other"]
    groups = [
        OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group_id, topics=None)
        for group_id in (GROUP, "none")
    ]
    response = client.request(OffsetFetchRequest(groups=groups), 10)
    topics = machine.state.topics
    assert [entry.topic_id for entry in response.groups[0].topics] == [
        topics["orders"].topic_id,
        topics["other"].topic_id,
    ]
    assert response.groups[1].topics == ()
    assert response.groups[1].error_code == 0


def test_unknown_topic_id_has_an_error_for_each_partition(machine):
    topic = OffsetFetchRequest.OffsetFetchRequestTopics(
        topic_id=UUID(int=9), partition_indexes=[0, 1]
    )
    group = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=GROUP, topics=[topic])
    client = MachineClient(machine)
    response = client.request(OffsetFetchRequest(groups=[group]), 10)
    (entry,) = response.groups[0].topics
    codes = [partition.error_code for partition in entry.partitions]
    assert codes == [error_codes.UNKNOWN_TOPIC_ID] * 2
    assert entry.topic_id == UUID(int=9)


@pytest.mark.parametrize("version", [7, 10])
def test_offset_of_an_open_transaction_is_unstable(machine, version):
    client = MachineClient(machine)
    commit(client, offset_of("orders", 0, 5))
    offsets = machine.state.groups[GROUP].offsets
    offsets.commit_pending(1, "orders", 0, CommittedOffset(9))
    first, second = fetch(client, version, stable=True)
    assert first.error_code == error_codes.UNSTABLE_OFFSET_COMMIT
    assert first.committed_offset == -1
    assert second.error_code == 0
    assert fetch(client, version)[0].committed_offset == 5
    offsets.end_transaction(1, is_commit=True)
    assert fetch(client, version, stable=True)[0].committed_offset == 9


def test_errors_are_at_the_level_of_the_version():
    machine = make_machine(brokers=2, topics={"orders": 2}, release="3.9")
    other = 3 - machine.state.choose_coordinator(GROUP)
    client, code = MachineClient(machine, other), error_codes.NOT_COORDINATOR
    topic = OffsetFetchRequest.OffsetFetchRequestTopic(
        name="orders", partition_indexes=[0, 1]
    )
    request = OffsetFetchRequest(group_id=GROUP, topics=[topic])
    old = client.request(request, 1)
    assert [part.error_code for part in old.topics[0].partitions] == [code, code]
    assert client.request(request, 2).error_code == code
    group = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=GROUP, topics=None)
    response = client.request(OffsetFetchRequest(groups=[group]), 8)
    assert response.groups[0].error_code == code
    assert commit(client, offset_of("orders", 0, 1)) == code


def test_offsets_of_a_deleted_topic_are_deleted(machine):
    client = MachineClient(machine)
    commit(client, offset_of("orders", 0, 5))
    machine.state.delete_topic(machine.state.topics["orders"])
    machine.state.create_topic("orders", 2)
    assert fetch(client, 9)[0].committed_offset == -1


def delete(client, *names, index=0):
    make = OffsetDeleteRequest
    request = make(
        group_id=GROUP,
        topics=[
            make.OffsetDeleteRequestTopic(
                name=name,
                partitions=[make.OffsetDeleteRequestPartition(partition_index=index)],
            )
            for name in names
        ],
    )
    response = client.request(request, 0)
    codes = {topic.name: topic.partitions[0].error_code for topic in response.topics}
    return response.error_code or codes


def test_only_offsets_of_topics_without_subscription_are_deleted(machine):
    (member,) = form_stable_group(machine, 1)
    member.commit("orders", 0, 5)
    member.commit("other", 0, 5)
    subscribed = error_codes.GROUP_SUBSCRIBED_TO_TOPIC
    codes = delete(member.client, "orders", "other", "none")
    missing = error_codes.UNKNOWN_TOPIC_OR_PARTITION
    assert codes == {"orders": subscribed, "other": 0, "none": missing}
    assert set(machine.state.groups[GROUP].offsets.committed) == {("orders", 0)}
    member.leave()
    assert delete(member.client, "orders") == {"orders": 0}
    assert not machine.state.groups[GROUP].offsets.committed


def test_consumer_group_protects_offsets_of_its_subscription(machine):
    member = ConsumerMember(machine, "a")
    member.join("orders")
    codes = delete(member.client, "orders", "other")
    assert codes == {"orders": error_codes.GROUP_SUBSCRIBED_TO_TOPIC, "other": 0}


def test_offsets_of_a_missing_group_cannot_be_deleted(machine):
    code = delete(MachineClient(machine), "orders")
    assert code == error_codes.GROUP_ID_NOT_FOUND


def test_injected_error_applies_to_its_partition(machine):
    code = error_codes.COORDINATOR_LOAD_IN_PROGRESS
    rules = machine.rules
    rules.add(
        Rule(
            rules, "OffsetCommit", times=1, topic="orders", partition=1, error_code=code
        )
    )
    client = MachineClient(machine)
    make = OffsetCommitRequest.OffsetCommitRequestPartition
    entry = OffsetCommitRequest.OffsetCommitRequestTopic(
        name="orders",
        partitions=[
            make(partition_index=index, committed_offset=3) for index in (0, 1)
        ],
    )
    response = client.request(commit_request(entry), 9)
    codes = [partition.error_code for partition in response.topics[0].partitions]
    assert codes == [0, code]
    assert set(machine.state.groups[GROUP].offsets.committed) == {("orders", 0)}
