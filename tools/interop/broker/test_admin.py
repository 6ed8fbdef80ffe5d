# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare kwire's administration functions with Kafka's Admin, using three brokers.

Every function changes the cluster with one of the two clients. Then both clients read
the result, and their JSON values must be identical. Requests that ``kafka.request``
distributes to several brokers must return the results that Java's Admin merges from its
own requests.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import confluent_kafka
import pytest

from kwire import client
from kwire.client import ClusterError, KafkaSync, TopicNotFound
from kwire.messages import (
    DescribeClusterRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    DescribeLogDirsRequest,
    DescribeProducersRequest,
    DescribeTransactionsRequest,
    ListOffsetsRequest,
    ListTransactionsRequest,
)
from tools.interop.broker.cluster import Cluster
from tools.interop.broker.java_admin import (
    AdminFailure,
    JavaAdmin,
    format_group,
    name_partitions,
    read_configs,
    read_groups,
    read_topics,
)

SECONDS = 60
PARTITIONS = 6
COUNT = 10
"""Number of records in each partition of a topic."""
EARLIEST, LATEST = -2, -1


class Setting:
    """Test cluster, with a kwire client and Java's Admin that are connected to it."""

    def __init__(self, cluster: Cluster, kafka: KafkaSync, java: JavaAdmin) -> None:
        self.cluster = cluster
        self.kafka = kafka
        self.java = java

    def topic(self, name: str, partitions: int = PARTITIONS) -> str:
        """Create a topic with ``COUNT`` records in each partition. Returns its name."""
        self.cluster.create_topic(name, partitions)
        with self.kafka.producer() as producer:
            for number in range(partitions):
                producer.send_many(name, [(None, b"x")] * COUNT, partition=number)
        return name

    def offsets(self, topic: str, position: str) -> tuple[Any, Any]:
        """Return the offsets of a topic by partition: kwire's and Java's result."""
        ours = name_partitions(self.kafka.offsets([topic], at=position))
        return ours, self.java.call("offsets", list(ours), position)


@pytest.fixture(scope="module")
def setting(cluster: Cluster) -> Iterator[Setting]:
    """Cluster with both clients, which all checks of this file share."""
    with (
        client.connect_sync(cluster.address) as kafka,
        JavaAdmin(cluster.release, cluster.address) as java,
    ):
        yield Setting(cluster, kafka, java)


def wait_equal(read: Callable[[], tuple[Any, Any]]) -> Any:
    """Read with both clients until the values are equal. Returns the equal value.

    Brokers receive changes at different times, so the values can differ temporarily.
    Fails after ``SECONDS``.
    """
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            ours, theirs = read()
        except (AdminFailure, TopicNotFound) as error:
            # The broker that a client asks may not know a new topic yet. Try again.
            ours, theirs = None, str(error)
        if ours == theirs:
            return ours
        if time.monotonic() > deadline:
            assert ours == theirs
        time.sleep(0.1)


def assert_same_error(ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    """Check that kwire and Java's Admin fail with the same Kafka error."""
    with pytest.raises(AdminFailure) as expected:
        theirs()
    with pytest.raises(ClusterError, match=rf"\b{re.escape(expected.value.name)}\b"):
        ours()


def test_the_cluster_is_described(setting: Setting) -> None:
    response = setting.kafka.request(DescribeClusterRequest())
    ours = {
        "id": response.cluster_id,
        "nodes": {
            str(item.broker_id): [item.host, item.port] for item in response.brokers
        },
    }
    assert ours == setting.java.call("cluster")
    versions = setting.kafka.broker_versions()
    assert {str(n): [v.host, v.port] for n, v in versions.items()} == ours["nodes"]
    assert all(item.table is not None for item in versions.values())


@pytest.mark.parametrize("creator", ["kwire", "java"])
def test_topics_are_created_extended_and_deleted(
    setting: Setting, creator: str
) -> None:
    kafka, java = setting.kafka, setting.java
    counts = {f"admin-{creator}-a": 3, f"admin-{creator}-b": 1}
    values = {"retention.ms": "1234567", "cleanup.policy": "compact"}
    grown = {f"admin-{creator}-b": 5}
    if creator == "kwire":
        kafka.create_topics(counts, replication_factor=3, configs=values)
    else:
        java.call("create_topics", counts, 3, values)

    def read() -> tuple[Any, Any]:
        return read_topics(kafka, counts), java.call("topics", list(counts))

    topics = wait_equal(read)
    assert {name: len(topic["partitions"]) for name, topic in topics.items()} == counts
    for name in counts:

        def read_topic(name: str = name) -> tuple[Any, Any]:
            return read_configs(kafka, "topic", name), java.configs("topic", name)

        configs = wait_equal(read_topic)
        assert {key: configs[key]["value"] for key in values} == values
    assert_same_error(
        lambda: kafka.create_topics(counts, replication_factor=3),
        lambda: java.call("create_topics", counts, 3, {}),
    )
    assert_same_error(
        lambda: kafka.create_topics({"admin-many": 1}, replication_factor=9),
        lambda: java.call("create_topics", {"admin-many": 1}, 9, {}),
    )
    if creator == "kwire":
        kafka.add_partitions(grown)
    else:
        java.call("add_partitions", grown)
    deadline = time.monotonic() + SECONDS
    while len(wait_equal(read)[f"admin-{creator}-b"]["partitions"]) < 5:
        assert time.monotonic() < deadline
    assert_same_error(
        lambda: kafka.add_partitions(grown), lambda: java.call("add_partitions", grown)
    )
    if creator == "kwire":
        kafka.delete_topics(counts)
    else:
        java.call("delete_topics", list(counts))
    while set(kafka.topics()) & set(counts):
        assert time.monotonic() < deadline + SECONDS
    with pytest.raises(AdminFailure, match="UNKNOWN_TOPIC_OR_PARTITION"):
        java.call("topics", list(counts))
    assert_same_error(
        lambda: kafka.delete_topics(counts),
        lambda: java.call("delete_topics", list(counts)),
    )


@pytest.mark.parametrize("writer", ["kwire", "java"])
@pytest.mark.parametrize(
    ("resource_type", "values"),
    [
        ("topic", {"retention.ms": "7654321", "compression.type": "zstd"}),
        ("broker", {"log.cleaner.threads": "2"}),
        ("group", {"consumer.session.timeout.ms": "6000"}),
        ("client_metrics", {"interval.ms": "5000"}),
    ],
)
def test_configs_are_changed_and_reset(
    setting: Setting, writer: str, resource_type: Any, values: dict[str, str | None]
) -> None:
    kafka, java = setting.kafka, setting.java
    name = {"broker": "2"}.get(resource_type, f"admin-configs-{resource_type}-{writer}")
    if resource_type == "topic":
        setting.cluster.create_topic(name, 1)
    if resource_type == "group":
        values = {"consumer.session.timeout.ms": "4000"}

    def write(changes: dict[str, str | None]) -> None:
        if writer == "kwire":
            kafka.set_configs(resource_type, name, changes)
        else:
            java.call("set_configs", resource_type, name, changes)

    def read() -> tuple[Any, Any]:
        ours = read_configs(kafka, resource_type, name)
        return ours, java.configs(resource_type, name)

    before = wait_equal(read)
    write(values)
    deadline = time.monotonic() + SECONDS
    while True:
        changed = wait_equal(read)
        if {key: changed.get(key, {}).get("value") for key in values} == values:
            break
        assert time.monotonic() < deadline, changed
    write(dict.fromkeys(values))
    while wait_equal(read) != before:
        assert time.monotonic() < deadline
    wrong: dict[str, str | None] = dict.fromkeys(values, "no such value")
    assert_same_error(
        lambda: kafka.set_configs(resource_type, name, wrong),
        lambda: java.call("set_configs", resource_type, name, wrong),
    )
    with pytest.raises(ClusterError):
        kafka.set_configs(resource_type, name, wrong, validate_only=True)
    kafka.set_configs(resource_type, name, values, validate_only=True)
    assert wait_equal(read) == before


def test_broker_configs_and_loggers_are_read(setting: Setting) -> None:
    for name in ("", "1", "3"):
        ours = read_configs(setting.kafka, "broker", name)
        assert ours == setting.java.configs("broker", name)
    ours = read_configs(setting.kafka, "broker_logger", "2")
    assert ours == setting.java.configs("broker_logger", "2")
    assert_same_error(
        lambda: setting.kafka.configs("topic", "admin-none"),
        lambda: setting.java.configs("topic", "admin-none"),
    )


@pytest.mark.parametrize("writer", ["kwire", "java"])
def test_records_are_deleted(setting: Setting, writer: str) -> None:
    topic = setting.topic(f"admin-records-{writer}")
    offsets = {(topic, n): n + 1 for n in range(PARTITIONS)}
    if writer == "kwire":
        offsets_left = name_partitions(setting.kafka.delete_records(offsets))
    else:
        offsets_left = setting.java.call("delete_records", name_partitions(offsets))
    assert offsets_left == name_partitions(offsets)
    earliest = wait_equal(lambda: setting.offsets(topic, "earliest"))
    assert earliest == name_partitions(offsets)
    latest = wait_equal(lambda: setting.offsets(topic, "latest"))
    assert set(latest.values()) == {COUNT}
    too_far = {(topic, 0): 1000}
    assert_same_error(
        lambda: setting.kafka.delete_records(too_far),
        lambda: setting.java.call("delete_records", name_partitions(too_far)),
    )
    assert setting.kafka.delete_records({(topic, 1): -1}) == {(topic, 1): COUNT}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_groups_are_listed_and_described(setting: Setting, protocol: str) -> None:
    """Use a librdkafka group with two members, once with each group protocol."""
    topic = setting.topic(f"admin-members-{protocol}")
    group_id = f"admin-members-{protocol}"
    settings: dict[str, Any] = {
        "bootstrap.servers": setting.cluster.address,
        "group.id": group_id,
        "group.protocol": protocol,
        "auto.offset.reset": "earliest",
        "log_level": 0,
    }
    members = [
        confluent_kafka.Consumer(
            {**settings, "client.id": f"member-{n}", "group.instance.id": f"static-{n}"}
        )
        for n in range(2)
    ]
    try:
        deadline = time.monotonic() + SECONDS
        for member in members:
            member.subscribe([topic])
        while any(
            len(consumer.assignment()) != PARTITIONS // 2 for consumer in members
        ):
            for member in members:
                member.poll(0.2)
            assert time.monotonic() < deadline

        def read() -> tuple[Any, Any]:
            for member in members:
                member.poll(0.1)
            ours = format_group(setting.kafka.describe_group(group_id))
            return ours, setting.java.call("describe_group", group_id)

        group = wait_equal(read)
        assert (group["group_type"], group["state"]) == (protocol, "Stable")
        partitions = [
            p
            for described in group["members"].values()
            for p in described["partitions"]
        ]
        assert sorted(partitions) == [f"{topic}-{n}" for n in range(PARTITIONS)]
        listed = wait_equal(
            lambda: (read_groups(setting.kafka), setting.java.call("groups"))
        )
        assert listed[group_id]["group_type"] == protocol
        assert_same_error(
            lambda: setting.kafka.delete_groups(group_id),
            lambda: setting.java.call("delete_groups", [group_id]),
        )
        assert_same_error(
            lambda: setting.kafka.set_group_offsets(group_id, {(topic, 0): 1}),
            lambda: setting.java.call("set_group_offsets", group_id, {f"{topic}-0": 1}),
        )
    finally:
        for member in members:
            member.close()


@pytest.mark.parametrize("writer", ["kwire", "java"])
def test_group_offsets_are_set_and_groups_deleted(
    setting: Setting, writer: str
) -> None:
    """Offsets of groups are set and read by both clients, and the groups are deleted.

    There are so many groups that every broker coordinates at least one of them.
    """
    kafka, java = setting.kafka, setting.java
    topic = setting.topic(f"admin-offsets-{writer}")
    names = [f"admin-offsets-{writer}-{n}" for n in range(9)]
    for number, name in enumerate(names):
        offsets = {(topic, n): number + n for n in range(PARTITIONS)}
        if writer == "kwire":
            kafka.set_group_offsets(name, offsets)
        else:
            java.call("set_group_offsets", name, name_partitions(offsets))
        ours = name_partitions(kafka.group_offsets(name))
        assert ours == java.call("group_offsets", name) == name_partitions(offsets)
        ours = format_group(kafka.describe_group(name))
        assert ours == java.call("describe_group", name)
        assert ours["state"] == "Empty"
    response = kafka.request(DescribeGroupsRequest(groups=names))
    assert [result.group_id for result in response.groups] == names
    assert {result.error_code for result in response.groups} == {0}
    assert set(names) <= set(
        wait_equal(lambda: (read_groups(kafka), java.call("groups")))
    )
    if writer == "kwire":
        kafka.delete_groups(names)
    else:
        java.call("delete_groups", names)
    left = wait_equal(lambda: (read_groups(kafka), java.call("groups")))
    assert not set(names) & set(left)
    assert_same_error(
        lambda: kafka.describe_group(names[0]),
        lambda: java.call("describe_group", names[0]),
    )
    assert_same_error(
        lambda: kafka.delete_groups(names), lambda: java.call("delete_groups", names)
    )


def list_offsets(topic: str, timestamp: int) -> ListOffsetsRequest:
    """Create a request for the offset of each partition of a topic at a timestamp."""
    make = ListOffsetsRequest
    parts = [
        make.ListOffsetsPartition(partition_index=n, timestamp=timestamp)
        for n in range(PARTITIONS)
    ]
    return make(
        replica_id=-1, topics=[make.ListOffsetsTopic(name=topic, partitions=parts)]
    )


def test_split_requests_have_the_answers_of_java(setting: Setting) -> None:
    kafka, java = setting.kafka, setting.java
    topic = setting.topic("admin-split")
    assert len(set(setting.cluster.leaders(topic).values())) == 3
    names = [f"{topic}-{n}" for n in range(PARTITIONS)]
    for timestamp, position in ((EARLIEST, "earliest"), (LATEST, "latest")):
        response = kafka.request(list_offsets(topic, timestamp))
        ours = {
            f"{item.name}-{part.partition_index}": part.offset
            for item in response.topics
            for part in item.partitions
        }
        assert ours == java.call("offsets", names, position)
    make = DescribeProducersRequest
    topic_request = make.TopicRequest(
        name=topic, partition_indexes=[*range(PARTITIONS)]
    )
    described = kafka.request(make(topics=[topic_request]))
    producers = {
        f"{item.name}-{part.partition_index}": [
            [state.producer_id, state.producer_epoch, state.last_sequence]
            for state in part.active_producers
        ]
        for item in described.topics
        for part in item.partitions
    }
    assert producers == java.call("producers", names)
    assert all(producers.values())


def test_requests_to_every_broker_have_the_answers_of_java(setting: Setting) -> None:
    kafka, java = setting.kafka, setting.java
    setting.topic("admin-every")
    settled = wait_equal(
        lambda: (read_log_dirs(kafka), sorted(java.call("log_dirs", [1, 2, 3])))
    )
    assert len(settled) == 3
    assert all("admin-every-0" in sizes for _, sizes in settled)
    ids = [f"admin-transaction-{n}" for n in range(9)]
    for number, name in enumerate(ids):
        with kafka.producer(transactional_id=name) as producer, producer.transaction():
            producer.send_many("admin-every", [(None, b"%d" % number)])

    def read() -> tuple[Any, Any]:
        listed = kafka.request(ListTransactionsRequest())
        assert listed.error_code == 0
        names = sorted(state.transactional_id for state in listed.transaction_states)
        response = kafka.request(DescribeTransactionsRequest(transactional_ids=names))
        ours = {
            state.transactional_id: {
                "state": state.transaction_state,
                "producer_id": state.producer_id,
                "producer_epoch": state.producer_epoch,
            }
            for state in response.transaction_states
        }
        return ours, java.call("transactions")

    states = wait_equal(read)
    assert set(ids) <= set(states)


def read_log_dirs(kafka: KafkaSync) -> Any:
    """Return each log directory of all brokers with the partition sizes in bytes."""
    response = kafka.request(DescribeLogDirsRequest(topics=None))
    return sorted(
        [
            directory.log_dir,
            {
                f"{topic.name}-{part.partition_index}": part.partition_size
                for topic in directory.topics
                for part in topic.partitions
            },
        ]
        for directory in response.results
    )


def test_a_request_reaches_the_node_or_the_address_in_to(setting: Setting) -> None:
    """``to`` selects a broker by node id or by address.

    DescribeConfigs for a broker's configuration is suitable for this check, because
    only that broker answers it.
    """
    make = DescribeConfigsRequest
    codes: dict[int, list[int]] = {}
    for number, node in setting.cluster.nodes.items():
        resource = make.DescribeConfigsResource(
            resource_type=4, resource_name=str(number), configuration_keys=["node.id"]
        )
        request = make(resources=[resource])
        targets: list[Any] = [None, number, node.address, number % 3 + 1]
        answers = [setting.kafka.request(request, to=to).results[0] for to in targets]
        codes[number] = [answer.error_code for answer in answers]
        assert {answer.configs[0].value for answer in answers[:3]} == {str(number)}
    assert {tuple(node_codes[:3]) for node_codes in codes.values()} == {(0, 0, 0)}
    assert all(node_codes[3] for node_codes in codes.values()), (
        "another broker answered"
    )
