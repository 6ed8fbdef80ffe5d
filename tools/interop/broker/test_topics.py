# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check topics that are difficult to read, with kwire's scans and client adapters.

The topics contain all codecs, unusual rows, log append time, deleted records,
transactions, an open transaction, and compacted records and emptied batches. The
release 2.8 also writes magic 0 and 1.

Scans must return the records that librdkafka reads: identical in all fields, with both
isolation levels, with the blocking and the asyncio client, as rows and as columns.
kafka-python and aiokafka must read the same with and without the adapter: fields and
their types, the final positions and the errors, in polls and record by record.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import aiokafka
import kafka
import pyarrow
import pytest

from kwire import client
from kwire.client import adapters
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, old_formats, workloads
from tools.interop.broker.broker import Broker
from tools.interop.broker.clients import SECONDS
from tools.interop.broker.harness import expect_same

ISOLATION = ("read_uncommitted", "read_committed")
LEAST_ROWS = 500

Fields = tuple[Any, ...]
Reading = tuple[list[Any], int, str]
"""Described records, final position of the consumer, and error or ""."""


@pytest.fixture(scope="module")
def odd_broker(version: str) -> Iterator[Broker]:
    """Broker that contains only topics that are difficult to read."""
    with brokers.running(version) as running:
        if running.has_zookeeper:
            write_old_topics(running)
        else:
            workloads.write_odd_topics(running)
        open_transaction = workloads.leave_transaction_open(running)
        yield running
        del open_transaction


def write_old_topics(kafka_broker: Broker) -> None:
    """Write the topics of old formats, and topics of magic 2 for comparison."""
    workloads.create_internal_topics(kafka_broker)
    old_formats.write_formats(kafka_broker)
    old_formats.write_compacted_formats(kafka_broker)
    old_formats.write_after_upgrade(kafka_broker)
    workloads.write_codecs(kafka_broker)
    workloads.write_transactions(kafka_broker)


def list_topics(broker: Broker) -> dict[str, list[int]]:
    """Return the partitions of each topic, without Kafka's internal topics."""
    consumer = clients.librdkafka_consumer(broker, "topics")
    topics = consumer.list_topics().topics
    consumer.close()
    return {
        name: list(topic.partitions)
        for name, topic in sorted(topics.items())
        if name[:2] != "__"
    }


def read_with_librdkafka(broker: Broker, topic: str, isolation: str) -> list[Fields]:
    """Read a complete topic with librdkafka.

    Returns the fields of each record, sorted by partition and offset.
    """
    rows_by_partition = clients.read_rows(
        broker, topic, committed=isolation == "read_committed"
    )
    return [
        (partition, *row[:4], tuple(map(tuple, row.headers)))
        for partition, rows in rows_by_partition.items()
        for row in rows
    ]


def fields_of(record: client.ConsumerRecord) -> Fields:
    """Return the compared fields of a scan's record."""
    headers = tuple(tuple(header) for header in record.headers)
    return (
        record.partition,
        record.offset,
        record.timestamp,
        record.key,
        record.value,
        headers,
    )


def rows_of(table: Any) -> list[Fields]:
    """Return the compared fields of each row in a scan's table, sorted by offset."""
    epoch = datetime.fromtimestamp(0, UTC)
    rows = []
    for row in table.to_pylist():
        stamp = round((row["timestamp"] - epoch).total_seconds() * 1000)
        headers = tuple(
            (header["key"], header["value"]) for header in row["headers"] or ()
        )
        fields = row["offset"], stamp, row["key"], row["value"], headers
        rows.append((row["partition"], *fields))
    return sorted(rows, key=lambda row: row[:2])


@pytest.mark.parametrize("isolation", ISOLATION)
@pytest.mark.releases("4.x", "3.9")
def test_scans_return_what_librdkafka_reads(odd_broker: Broker, isolation: Any) -> None:
    """Scans return the same records through records, tables and chunks as librdkafka.

    Small fetches are used, so that scans have to combine many responses.
    """
    order = lambda row: row[:2]  # noqa: E731
    options = {"isolation_level": isolation, "memory_bytes": 1 << 14}

    async def read(topic: str) -> list[Fields]:
        async with client.connect(odd_broker.address) as cluster:
            scan = cluster.scan(topic, **options)
            return [fields_of(record) async for record in scan.records()]

    count = 0
    topics = list_topics(odd_broker)
    for topic in topics:
        expected = read_with_librdkafka(odd_broker, topic, isolation)
        with client.connect_sync(odd_broker.address) as cluster:
            rows = map(fields_of, cluster.scan(topic, **options).records())
            expect_same(f"{topic}, blocking", sorted(rows, key=order), expected)
            table = pyarrow.table(cluster.scan(topic, timestamp_unit="ms", **options))
            expect_same(f"{topic}, Arrow", rows_of(table), expected)
        rows_read = asyncio.run(read(topic))
        expect_same(f"{topic}, asyncio", sorted(rows_read, key=order), expected)
        count += len(expected)
    assert count >= LEAST_ROWS
    print(f"{isolation}: {len(topics)} topics, {count} records")


def describe(record: Any) -> tuple[type, list[tuple[type, Any]]]:
    """Return the type of a record, and its field values with their types."""
    names = getattr(record, "_fields", None) or record.__dataclass_fields__
    values = [getattr(record, name) for name in names]
    return type(record), [(type(value), value) for value in values]


def read_with_kafka_python(
    broker: Broker, topic: str, partition: int, isolation: str, one_by_one: bool
) -> Reading:
    """Read a complete partition with kafka-python.

    * ``one_by_one``: iterate over the consumer instead of polling for lists.

    Returns the described records, the final position, and the error or "".
    """
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=broker.address,
        isolation_level=isolation,
        enable_auto_commit=False,
        consumer_timeout_ms=200,
        max_partition_fetch_bytes=1 << 20 if one_by_one else 3000,
    )
    tp = kafka.TopicPartition(topic, partition)
    records: list[Any] = []
    error = ""
    try:
        consumer.assign([tp])
        consumer.seek_to_beginning()
        end = consumer.end_offsets([tp])[tp]
        deadline = time.monotonic() + SECONDS
        while consumer.position(tp) < end and time.monotonic() < deadline:
            if one_by_one:
                records += map(describe, consumer)
            else:
                for polled in consumer.poll(1000).values():
                    records += map(describe, polled)
    except Exception as failure:
        error = repr(failure)
    position = consumer.position(tp)
    consumer.close()
    return records, position, error


def read_with_aiokafka(
    broker: Broker, topic: str, partition: int, isolation: str, one_by_one: bool
) -> Reading:
    """Read a complete partition with aiokafka.

    * ``one_by_one``: call ``getone`` instead of ``getmany``.

    Returns the described records, the final position, and the error or "".
    """

    async def read() -> Reading:
        consumer = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=broker.address,
            isolation_level=isolation,
            enable_auto_commit=False,
            max_partition_fetch_bytes=1 << 20 if one_by_one else 3000,
        )
        await consumer.start()
        tp = aiokafka.TopicPartition(topic, partition)
        records: list[Any] = []
        error = ""
        try:
            consumer.assign([tp])
            await consumer.seek_to_beginning(tp)
            end = (await consumer.end_offsets([tp]))[tp]
            deadline = time.monotonic() + SECONDS
            while await consumer.position(tp) < end and time.monotonic() < deadline:
                if one_by_one:
                    try:
                        record = await asyncio.wait_for(anext(consumer), 1)
                    except TimeoutError:
                        continue
                    records.append(describe(record))
                else:
                    for batch in (await consumer.getmany(timeout_ms=1000)).values():
                        records += map(describe, batch)
        except Exception as failure:
            error = repr(failure)
        position = await consumer.position(tp)
        await consumer.stop()
        return records, position, error

    return asyncio.run(read())


READERS: dict[str, tuple[adapters.Adapter, Callable[..., Reading]]] = {
    "kafka-python": (adapters.kafka_python, read_with_kafka_python),
    "aiokafka": (adapters.aiokafka, read_with_aiokafka),
}


def summarize(own: Reading, adapted: Reading) -> str:
    """Describe the first difference between the readings of both consumers."""
    for index, (a, b) in enumerate(zip(own[0], adapted[0], strict=False)):
        if a != b:
            return f"record {index} is {b!r:.300}, not {a!r:.300}"
    ends = [(len(records), *rest) for records, *rest in (own, adapted)]
    return f"records, position and error are {ends[1]}, not {ends[0]}"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.releases("4.x", "2.8")
def test_adapted_consumers_read_what_they_read_without(
    odd_broker: Broker, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    adapter, read = READERS[name]
    count = errors = 0
    for topic, partitions in list_topics(odd_broker).items():
        for partition in partitions:
            for isolation in ISOLATION:
                for one_by_one in (False, True):
                    arguments = odd_broker, topic, partition, isolation, one_by_one
                    own = read(*arguments)
                    with adapter:
                        assert adapter.is_installed
                        adapted = read(*arguments)
                    assert adapted == own, (*arguments[1:], summarize(own, adapted))
                    count += len(own[0])
                    errors += bool(own[2])
    assert count >= LEAST_ROWS
    print(f"{count} records and {errors} errors, all as without the adapter")
