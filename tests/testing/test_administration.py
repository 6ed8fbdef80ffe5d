# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Topics of a test cluster: creation, deletion, partitions and deleted records."""

from __future__ import annotations

from uuid import UUID

import pytest

from kwire import messages
from kwire.schema import error_codes
from kwire.testing.rules import Rule

from .admin_requests import create, create_code, new_topic
from .log_requests import make_batch, produce
from .machine_client import MachineClient, make_machine, versions_of

RELEASES = ("0.10.1", "0.11.0", "1.1", "2.3", "2.8", "3.9", "4.4")


@pytest.fixture
def client():
    return MachineClient(make_machine(brokers=3, topics={"orders": 2}))


@pytest.mark.parametrize("release", RELEASES)
def test_topics_are_created_in_every_version(release):
    machine = make_machine(brokers=3, release=release)
    client = MachineClient(machine)
    for version in versions_of(machine, messages.CreateTopicsRequest):
        name = f"topic{version}"
        request = new_topic(name, 2, 3, retention_ms="5000")
        topic = create(client, request, version=version)[name]
        assert (topic.error_code, topic.error_message or "") == (0, "")
        state = machine.state.topics[name]
        assert [len(part.replicas) for part in state] == [3, 3]
        assert state.configs == {"retention.ms": "5000"}
        if version >= 5:
            configs = {config.name: config for config in topic.configs}
            assert configs["retention.ms"].value == "5000"
            assert (topic.num_partitions, topic.replication_factor) == (2, 3)
            assert configs["retention.ms"].config_source == 1
            assert configs["segment.bytes"].config_source == 5
        assert topic.topic_id == (state.topic_id if version >= 7 else UUID(int=0))


def test_defaults_determine_the_size_of_a_topic(client):
    topic = create(client, new_topic("new", -1, -1))["new"]
    assert (topic.num_partitions, topic.replication_factor) == (1, 3)


def test_defaults_require_release_2_4():
    client = MachineClient(make_machine(release="2.3"))
    code = create_code(client, "new", -1, 1)
    assert code == error_codes.INVALID_PARTITIONS
    code = create_code(client, "new", 1, -1)
    assert code == error_codes.INVALID_REPLICATION_FACTOR


@pytest.mark.parametrize("release", ["2.8", "4.4"])
@pytest.mark.parametrize(
    ("name", "partitions", "factor", "code"),
    [
        ("orders", 1, 1, error_codes.TOPIC_ALREADY_EXISTS),
        ("", 1, 1, error_codes.INVALID_TOPIC_EXCEPTION),
        (".", 1, 1, error_codes.INVALID_TOPIC_EXCEPTION),
        ("..", 1, 1, error_codes.INVALID_TOPIC_EXCEPTION),
        ("a b", 1, 1, error_codes.INVALID_TOPIC_EXCEPTION),
        ("ä", 1, 1, error_codes.INVALID_TOPIC_EXCEPTION),
        ("x" * 250, 1, 1, error_codes.INVALID_TOPIC_EXCEPTION),
        ("a_b", 1, 1, error_codes.INVALID_TOPIC_EXCEPTION),
        ("new", 0, 1, error_codes.INVALID_PARTITIONS),
        ("new", -2, 1, error_codes.INVALID_PARTITIONS),
        ("new", 1, 0, error_codes.INVALID_REPLICATION_FACTOR),
        ("new", 1, 4, error_codes.INVALID_REPLICATION_FACTOR),
        ("new", 0x7FFFFFFF, 1, error_codes.POLICY_VIOLATION),
    ],
)
def test_invalid_topics_are_not_created(release, name, partitions, factor, code):
    machine = make_machine(brokers=3, topics={"orders": 1, "a.b": 1}, release=release)
    client = MachineClient(machine)
    assert create_code(client, name, partitions, factor) == code
    assert set(machine.state.topics) == {"orders", "a.b"}


def test_repeated_topics_are_rejected_and_others_are_created(client):
    topics = [new_topic("twice"), new_topic("once"), new_topic("twice")]
    results = create(client, *topics)
    assert results["twice"].error_code == error_codes.INVALID_REQUEST
    assert results["once"].error_code == 0
    assert set(client.machine.state.topics) == {"orders", "once"}


def test_validation_creates_no_topic(client):
    assert create(client, new_topic("new"), validate_only=True)["new"].error_code == 0
    topic = create(client, new_topic("orders"), validate_only=True)["orders"]
    assert topic.error_code == error_codes.TOPIC_ALREADY_EXISTS
    assert set(client.machine.state.topics) == {"orders"}


def test_manual_assignment_determines_the_replicas(client):
    assignments = [(1, [2, 3]), (0, [3, 1])]
    assert create_code(client, "new", -1, -1, assignments=assignments) == 0
    partitions = client.machine.state.topics["new"].partitions
    assert [part.replicas for part in partitions] == [[3, 1], [2, 3]]
    assert [part.leader for part in partitions] == [3, 2]


@pytest.mark.parametrize("release", ["2.8", "4.4"])
@pytest.mark.parametrize(
    "assignments",
    [
        [(0, [1]), (0, [2])],
        [(0, [1]), (2, [2])],
        [(-1, [1])],
        [(0, [])],
        [(0, [4])],
        [(0, [1, 1])],
        [(0, [1, 2]), (1, [1])],
    ],
)
def test_invalid_assignments_are_rejected(release, assignments):
    client = MachineClient(make_machine(brokers=3, release=release))
    code = create_code(client, "new", -1, -1, assignments=assignments)
    assert code == error_codes.INVALID_REPLICA_ASSIGNMENT


def test_assignment_together_with_a_size_is_rejected(client):
    for size in ((1, -1), (-1, 1)):
        code = create_code(client, "new", *size, assignments=[(0, [1])])
        assert code == error_codes.INVALID_REQUEST


@pytest.mark.parametrize(
    "configs",
    [
        {"retention_ms": "x"},
        {"retention_ms": "-2"},
        {"cleanup_policy": "compact,never"},
        {"min_cleanable_dirty_ratio": "1.5"},
        {"preallocate": "yes"},
        {"unknown": "1"},
        {"retention_ms": None},
        {"segment_bytes": "99999999999"},
        {"min_compaction_lag_ms": "9", "max_compaction_lag_ms": "8"},
    ],
)
def test_topics_with_invalid_properties_are_not_created(client, configs):
    code = create_code(client, "new", **configs)
    assert code == error_codes.INVALID_CONFIG
    assert "new" not in client.machine.state.topics


def test_expired_requests_create_no_topic(client):
    topic = create(client, new_topic("new"), timeout_ms=0)["new"]
    assert topic.error_code == error_codes.REQUEST_TIMED_OUT
    assert "new" not in client.machine.state.topics


@pytest.mark.parametrize(
    ("release", "code"), [("2.8", error_codes.NOT_CONTROLLER), ("3.3", 0)]
)
def test_only_controllers_of_zookeeper_releases_accept_changes(release, code):
    machine = make_machine(brokers=3, topics={"orders": 1}, release=release)
    client = MachineClient(machine, 2)
    assert create_code(client, "new") == code
    assert add_partitions(client, "orders", 2) == code
    assert delete(client, "orders")["orders"] == code
    assert delete(MachineClient(machine, 1), "orders")["orders"] == (0 if code else 3)


def test_rule_fails_the_creation_of_one_topic(client):
    rules = client.machine.rules
    code = error_codes.POLICY_VIOLATION
    rules.add(Rule(rules, "CreateTopics", times=1, topic="b", error_code=code))
    results = create(client, new_topic("a"), new_topic("b"))
    assert {name: topic.error_code for name, topic in results.items()} == {
        "a": 0,
        "b": code,
    }


def delete(client, *names, version=None):
    request = messages.DeleteTopicsRequest
    version = client.machine.table.pick(request) if version is None else version
    if version >= 6:
        topics = [request.DeleteTopicState(name=name) for name in names]
        message = request(topics=topics, timeout_ms=1000)
    else:
        message = request(topic_names=names, timeout_ms=1000)
    response = client.request(message, version)
    return {topic.name: topic.error_code for topic in response.responses}


@pytest.mark.parametrize("release", RELEASES)
def test_topics_are_deleted_in_every_version(release):
    machine = make_machine(release=release)
    client = MachineClient(machine)
    missing = error_codes.UNKNOWN_TOPIC_OR_PARTITION
    for version in versions_of(machine, messages.DeleteTopicsRequest):
        machine.state.create_topic("old", 1)
        codes = delete(client, "old", "nope", version=version)
        assert codes == {"old": 0, "nope": missing}
        assert not machine.state.topics and not machine.state.topics_by_id


def test_topics_are_deleted_by_id(client):
    request = messages.DeleteTopicsRequest
    state = request.DeleteTopicState
    topic_id_of_orders = client.machine.state.topics["orders"].topic_id
    ids = {
        topic_id_of_orders: 0,
        UUID(int=9): error_codes.UNKNOWN_TOPIC_ID,
        UUID(int=0): error_codes.INVALID_REQUEST,
    }
    topics = [state(name=None, topic_id=topic_id) for topic_id in ids]
    topics.append(state(name="both", topic_id=UUID(int=5)))
    response = client.request(request(topics=topics, timeout_ms=1000))
    codes = {topic.topic_id: topic.error_code for topic in response.responses}
    assert codes == {**ids, UUID(int=5): error_codes.INVALID_REQUEST}
    assert response.responses[0].name == "orders"


def test_topics_named_twice_are_not_deleted(client):
    request = messages.DeleteTopicsRequest
    state = request.DeleteTopicState
    topic_id = client.machine.state.topics["orders"].topic_id
    for topics in (
        [state(name="orders")] * 2,
        [state(name=None, topic_id=topic_id)] * 2,
        [state(name="orders"), state(name=None, topic_id=topic_id)],
    ):
        response = client.request(request(topics=topics, timeout_ms=1000))
        codes = {topic.error_code for topic in response.responses}
        assert codes == {error_codes.INVALID_REQUEST}
    assert "orders" in client.machine.state.topics


def test_deleted_topic_can_be_created_again_with_another_id(client):
    topic_id = client.machine.state.topics["orders"].topic_id
    produce(client, make_batch(b"1"), partition=0)
    delete(client, "orders")
    assert create_code(client, "orders") == 0
    topic = client.machine.state.topics["orders"]
    assert topic.topic_id != topic_id
    assert topic.partitions[0].log.end_offset == 0


def add_partitions(client, name, count, *, assignments=None, version=None, **options):
    request = messages.CreatePartitionsRequest
    entries = None
    if assignments is not None:
        make = request.CreatePartitionsAssignment
        entries = [make(broker_ids=ids) for ids in assignments]
    topic = request.CreatePartitionsTopic(name=name, count=count, assignments=entries)
    message = request(topics=[topic], timeout_ms=1000, **options)
    return client.request(message, version).results[0].error_code


@pytest.mark.parametrize("release", ["1.0", "2.3", "2.8", "3.9", "4.4"])
def test_partitions_are_added_in_every_version(release):
    machine = make_machine(topics={"orders": 1}, release=release)
    client = MachineClient(machine)
    count = 1
    for version in versions_of(machine, messages.CreatePartitionsRequest):
        count += 1
        assert add_partitions(client, "orders", count, version=version) == 0
        assert len(machine.state.topics["orders"].partitions) == count


@pytest.mark.parametrize(
    ("name", "count", "assignments", "code"),
    [
        ("nope", 5, None, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 2, None, error_codes.INVALID_PARTITIONS),
        ("orders", 1, None, error_codes.INVALID_PARTITIONS),
        ("orders", -1, None, error_codes.INVALID_PARTITIONS),
        ("orders", 0x7FFFFFFF, None, error_codes.POLICY_VIOLATION),
        ("orders", 4, [[1, 2, 3]], error_codes.INVALID_REPLICA_ASSIGNMENT),
        ("orders", 3, [[1, 2]], error_codes.INVALID_REPLICA_ASSIGNMENT),
        ("orders", 3, [[1, 2, 9]], error_codes.INVALID_REPLICA_ASSIGNMENT),
        ("orders", 3, [], error_codes.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_invalid_partition_counts_are_rejected(client, name, count, assignments, code):
    assert add_partitions(client, name, count, assignments=assignments) == code
    assert len(client.machine.state.topics["orders"].partitions) == 2


def test_added_partitions_have_the_assigned_replicas(client):
    code = add_partitions(client, "orders", 3, assignments=[[3, 2, 1]])
    assert code == 0
    partition = client.machine.state.topics["orders"].partitions[2]
    assert (partition.replicas, partition.leader) == ([3, 2, 1], 3)


def test_validation_adds_no_partition(client):
    assert add_partitions(client, "orders", 3, validate_only=True) == 0
    assert len(client.machine.state.topics["orders"].partitions) == 2


def delete_records(client, offset, *, topic="orders", partition=0, version=None):
    request = messages.DeleteRecordsRequest
    part = request.DeleteRecordsPartition(partition_index=partition, offset=offset)
    entry = request.DeleteRecordsTopic(name=topic, partitions=[part])
    response = client.request(request(topics=[entry], timeout_ms=1000), version)
    result = response.topics[0].partitions[0]
    return result.error_code, result.low_watermark


@pytest.mark.parametrize("release", ["0.11.0", "2.8", "4.4"])
def test_records_are_deleted_in_every_version(release):
    machine = make_machine(topics={"orders": 1}, release=release)
    client = MachineClient(machine)
    for _ in range(5):
        produce(client, make_batch(b"1"))
    for version in versions_of(machine, messages.DeleteRecordsRequest):
        assert delete_records(client, version + 1, version=version) == (0, version + 1)
    assert delete_records(client, 1) == (
        0,
        machine.table.pick(messages.DeleteRecordsRequest) + 1,
    )
    assert delete_records(client, -1) == (0, 5)


@pytest.mark.parametrize(
    ("topic", "partition", "offset", "code"),
    [
        ("orders", 0, 2, error_codes.OFFSET_OUT_OF_RANGE),
        ("orders", 0, -2, error_codes.OFFSET_OUT_OF_RANGE),
        ("orders", 9, 0, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", -1, 0, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        ("nope", 0, 0, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        ("compacted", 0, 0, error_codes.POLICY_VIOLATION),
        ("__consumer_offsets", 0, 0, error_codes.INVALID_TOPIC_EXCEPTION),
    ],
)
def test_records_that_cannot_be_deleted_have_an_error(topic, partition, offset, code):
    machine = make_machine(topics={"orders": 1, "__consumer_offsets": 1})
    machine.state.create_topic("compacted", 1, configs={"cleanup.policy": "compact"})
    client = MachineClient(machine)
    produce(client, make_batch(b"1"))
    result = delete_records(client, offset, topic=topic, partition=partition)
    assert result == (code, -1)


def test_followers_do_not_delete_records(client):
    leader = client.machine.state.find_partition("orders", 0).leader
    other = MachineClient(client.machine, leader % 3 + 1)
    assert delete_records(other, 0)[0] == error_codes.NOT_LEADER_OR_FOLLOWER
