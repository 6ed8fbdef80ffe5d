# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Consumers of four clients in groups of a test cluster, over sockets.

Each test runs the same steps: one member reads all records and commits, a second member
joins and receives half of the partitions, and it continues from the commits when the
first member leaves.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from contextlib import ExitStack

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Consumer

from kwire import client, testing

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    # kafka-python reads its schemas with a deprecated function.
    from kafka import KafkaConsumer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:kafka")

TIMEOUT_S = 20
GROUP = "readers"
PARTITIONS, RECORDS = 4, 10


@pytest.fixture
def release():
    return "4.4"


@pytest.fixture
def cluster(release):
    with testing.cluster(
        brokers=2, topics={"orders": PARTITIONS}, release=release
    ) as kafka:
        for partition in range(PARTITIONS):
            values = [f"{partition}-{number}".encode() for number in range(RECORDS)]
            kafka.write(
                "orders", [(None, value) for value in values], partition=partition
            )
        yield kafka


class ConfluentMember:
    """Consumer of confluent-kafka."""

    def __init__(self, kafka, protocol, **extra):
        options = {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": GROUP,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "group.protocol": protocol,
        }
        if protocol == "classic":
            options |= {"session.timeout.ms": 6000, "heartbeat.interval.ms": 200}
        self._consumer = Consumer(options | extra)
        self._consumer.subscribe(["orders"])

    def read(self):
        message = self._consumer.poll(0.05)
        if message is None:
            return []
        assert message.error() is None, message.error()
        return [message.value()]

    def partitions(self):
        return {entry.partition for entry in self._consumer.assignment()}

    def commit(self):
        self._consumer.commit(asynchronous=False)

    def close(self):
        self._consumer.close()


class KafkaPythonMember:
    """Consumer of kafka-python."""

    def __init__(self, kafka):
        self._consumer = KafkaConsumer(
            "orders",
            bootstrap_servers=kafka.bootstrap_servers.split(","),
            group_id=GROUP,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=6000,
            heartbeat_interval_ms=200,
        )

    def read(self):
        batches = self._consumer.poll(50)
        return [record.value for records in batches.values() for record in records]

    def partitions(self):
        return {entry.partition for entry in self._consumer.assignment()}

    def commit(self):
        self._consumer.commit()

    def close(self):
        self._consumer.close()


class KwireMember:
    """Consumer of kwire, which supports KIP-848 groups."""

    def __init__(self, kafka):
        self._stack = ExitStack()
        connection = client.connect_sync(kafka.bootstrap_servers)
        self._stack.enter_context(connection)
        self._consumer = connection.consumer("orders", group_id=GROUP)
        self._stack.callback(self._consumer.close)

    def read(self):
        chunk = self._consumer.poll(0.05)
        return [] if chunk is None else [record.value for record in chunk.records()]

    def partitions(self):
        return {partition for _, partition in self._consumer.assignment()}

    def commit(self):
        self._consumer.commit()

    def close(self):
        self._stack.close()


def poll_until(condition, *members):
    """Poll members until a condition is true; return the values that they read."""
    values, end = [], time.monotonic() + TIMEOUT_S
    while not condition(values):
        assert time.monotonic() < end, (len(values), [m.partitions() for m in members])
        for member in members:
            values += member.read()
    return values


def share_partitions(kafka, make_member):
    """Run the steps of two members, which are described above."""
    first = make_member(kafka)
    values = poll_until(lambda read: len(read) >= PARTITIONS * RECORDS, first)
    assert len(set(values)) == PARTITIONS * RECORDS
    first.commit()
    second = make_member(kafka)
    repeated = poll_until(
        lambda read: len(first.partitions()) == len(second.partitions()) == 2,
        first,
        second,
    )
    assert not first.partitions() & second.partitions()
    first.close()
    repeated += poll_until(lambda read: len(second.partitions()) == PARTITIONS, second)
    for partition in range(PARTITIONS):
        kafka.write("orders", [(None, b"late-%d" % partition)], partition=partition)
    late = poll_until(lambda read: len(read) >= PARTITIONS, second)
    second.close()
    assert repeated == []
    assert sorted(late) == [b"late-%d" % partition for partition in range(PARTITIONS)]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_of_confluent_kafka_share_partitions(cluster, protocol):
    share_partitions(cluster, lambda kafka: ConfluentMember(kafka, protocol))
    (group,) = cluster._state.groups.values()
    assert (group.kind, group.state_name) == (protocol, "Empty")


@pytest.mark.parametrize("release", ["0.9.0", "0.10.2", "2.3"])
def test_members_of_confluent_kafka_share_partitions_of_old_brokers(cluster):
    extra = {}
    if cluster.release == "0.9.0":
        extra = {"broker.version.fallback": "0.9.0.1", "api.version.request": False}
    share_partitions(cluster, lambda kafka: ConfluentMember(kafka, "classic", **extra))


def test_members_of_kafka_python_share_partitions(cluster):
    share_partitions(cluster, KafkaPythonMember)


def test_members_of_kwire_share_partitions(cluster):
    share_partitions(cluster, KwireMember)


def test_members_of_aiokafka_share_partitions(cluster):
    async def run():
        def make_consumer():
            return AIOKafkaConsumer(
                "orders",
                bootstrap_servers=cluster.bootstrap_servers,
                group_id=GROUP,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                session_timeout_ms=6000,
                heartbeat_interval_ms=200,
            )

        async def read_until(condition, *consumers):
            values = []
            while not condition(values):
                for consumer in consumers:
                    batches = await consumer.getmany(timeout_ms=50)
                    values += [
                        record.value
                        for records in batches.values()
                        for record in records
                    ]
            return values

        first, second = make_consumer(), make_consumer()
        await first.start()
        await read_until(lambda values: len(values) >= PARTITIONS * RECORDS, first)
        await first.commit()
        await second.start()
        repeated = await read_until(
            lambda _: len(first.assignment()) == len(second.assignment()) == 2,
            first,
            second,
        )
        assert not first.assignment() & second.assignment()
        await first.stop()
        repeated += await read_until(
            lambda _: len(second.assignment()) == PARTITIONS, second
        )
        assert repeated == []
        offsets = [await second.committed(entry) for entry in second.assignment()]
        assert offsets == [RECORDS] * PARTITIONS
        await second.stop()

    asyncio.run(asyncio.wait_for(run(), TIMEOUT_S))


def test_group_survives_the_stop_of_its_coordinator(cluster):
    member = ConfluentMember(cluster, "classic")
    poll_until(lambda read: len(read) >= PARTITIONS * RECORDS, member)
    member.commit()
    cluster.stop(cluster._state.choose_coordinator(GROUP))
    cluster.write("orders", [(None, b"late")])
    assert poll_until(lambda read: len(read) >= 1, member) == [b"late"]
    member.commit()
    member.close()
    (group,) = cluster._state.groups.values()
    assert group.offsets.committed["orders", 0].offset == RECORDS + 1


def test_fenced_member_of_kwire_joins_again(cluster):
    member = KwireMember(cluster)
    poll_until(lambda read: len(read) >= PARTITIONS * RECORDS, member)
    member.commit()
    rule = cluster.fail("ConsumerGroupHeartbeat", "FENCED_MEMBER_EPOCH")
    poll_until(lambda _: rule.hits == 1, member)
    cluster.write("orders", [(None, b"late")])
    assert poll_until(lambda read: len(read) >= 1, member) == [b"late"]
    (group,) = cluster._state.groups.values()
    assert group.epoch == 4
    member.close()
