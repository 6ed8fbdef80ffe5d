# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``topics`` and ``offsets`` in both clients, with librdkafka's mock cluster."""

import asyncio
import importlib
import socket
from datetime import UTC, datetime, timedelta

import pytest
from confluent_kafka import Producer

COUNTS = {0: 3, 1: 0, 2: 5}


@pytest.fixture(scope="module")
def addresses():
    """Three brokers with a four-partition topic. Two partitions contain records."""
    handle = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 3})
    for partition, count in COUNTS.items():
        for number in range(count):
            handle.produce("orders", b"value %d" % number, partition=partition)
    assert handle.flush(10) == 0
    brokers = handle.list_topics(timeout=10).brokers.values()
    yield ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    del handle


class Blocking:
    """Runs queries with the blocking client."""

    def __init__(self, kwire, addresses):
        """Store the addresses."""
        client = importlib.import_module(f"{kwire.__name__}.client")
        self.kafka = client.connect_sync(addresses, timeout_s=10)

    def ask(self, name, *args, **options):
        """Call a method of the client, close the client, and return the result."""
        with self.kafka:
            return getattr(self.kafka, name)(*args, **options)


class OverAsyncio:
    """Runs queries with the asyncio client."""

    def __init__(self, kwire, addresses):
        """Store the addresses."""
        client = importlib.import_module(f"{kwire.__name__}.client")
        self.kafka = client.connect(addresses, timeout_s=10)

    def ask(self, name, *args, **options):
        """Call a method of the client, close the client, and return the result.

        Check that no task is left.
        """

        async def run():
            async with self.kafka as kafka:
                result = await getattr(kafka, name)(*args, **options)
            assert asyncio.all_tasks() == {asyncio.current_task()}
            return result

        return asyncio.run(run())


@pytest.fixture(params=[Blocking, OverAsyncio])
def kafka(request, kwire, addresses):
    """Object whose method ``ask`` runs a query with one of the clients."""
    return request.param(kwire, addresses)


def test_topics_are_listed(kafka):
    """The result contains partitions, leaders and replicas by topic name."""
    topic = kafka.ask("topics")["orders"]
    assert (topic.name, topic.error_code, topic.is_internal) == ("orders", 0, False)
    assert sorted(topic.partitions) == [0, 1, 2, 3]
    for partition in topic.partitions.values():
        assert partition.leader in partition.replicas and set(partition.in_sync) <= set(
            partition.replicas
        )


def test_offsets_of_a_topic_are_by_partition(kafka):
    """The default is the log end offset. The start can be requested."""
    assert kafka.ask("offsets", "orders") == COUNTS | {3: 0}
    assert kafka.ask("offsets", "orders", at="earliest") == dict.fromkeys(range(4), 0)


@pytest.mark.parametrize("at", [timedelta(0), datetime.now(UTC)])
def test_a_time_after_the_last_record_is_the_end(kafka, at):
    """The result is the log end offset, where a scan from this time starts as well."""
    assert kafka.ask("offsets", "orders", at=at)[2] == COUNTS[2]


def test_offsets_of_several_topics_are_by_place(kafka):
    """The keys are (topic, partition) pairs, which are valid for a scan's ``start``."""
    assert kafka.ask("offsets", {"orders": [0, 2]}) == {
        ("orders", 0): 3,
        ("orders", 2): 5,
    }
    assert kafka.ask("offsets", ["orders"])["orders", 0] == 3


@pytest.mark.parametrize("at", [5, -1, "newest", None, True])
def test_invalid_offset_lookup_is_an_error(kafka, at):
    """``at`` must be a time, "earliest" or "latest". An offset needs no lookup."""
    with pytest.raises(ValueError, match="at must be"):
        kafka.ask("offsets", "orders", at=at)


def test_a_closed_port_is_one_sentence(kwire, kafka):
    """The error contains the address, and is raised before the timeout."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        kafka.kafka.addresses = [free.getsockname()]
        with pytest.raises(kwire.KwireError, match=r"127\.0\.0\.1:"):
            kafka.ask("topics")
