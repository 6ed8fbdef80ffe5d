# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks scans of live topics against what librdkafka reads from the same broker.

    python -m tools.interop.broker.scans  # 4.x, 3.9.2 and 2.8
    python -m tools.interop.broker.scans --version 4.x

Every codec, odd rows, log append time, deleted records, transactions, compacted and
emptied topics: each record equal in all fields, under both isolation levels, through
the blocking and the asyncio client, as rows and as columns.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from datetime import UTC, datetime
from typing import Any

import pyarrow
from confluent_kafka import OFFSET_BEGINNING, TopicPartition

from kwire import client
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, workloads
from tools.interop.broker.broker import Broker, BrokerError

Fields = tuple[Any, ...]
ISOLATION = ("read_uncommitted", "read_committed")


def read_with_librdkafka(kafka: Broker, isolation: str) -> dict[str, list[Fields]]:
    """Read every topic to its end, in order of partition and offset."""
    consumer = clients.librdkafka_consumer(
        kafka, "scans", isolation_level=isolation, enable_partition_eof=True
    )
    topics = [name for name in consumer.list_topics().topics if name[:2] != "__"]
    found: dict[str, list[Fields]] = {}
    for topic in topics:
        partitions = consumer.list_topics(topic).topics[topic].partitions
        consumer.assign(
            [TopicPartition(topic, each, OFFSET_BEGINNING) for each in partitions]
        )
        rows, left = [], set(partitions)
        deadline = time.monotonic() + clients.SECONDS
        while left:
            message = consumer.poll(1)
            if time.monotonic() > deadline:
                raise BrokerError(f"librdkafka did not come to the end of {topic}")
            if message is None:
                continue
            if message.error():
                left.discard(message.partition())
                continue
            rows.append(
                (
                    message.partition(),
                    message.offset(),
                    message.timestamp()[1],
                    message.key(),
                    message.value(),
                    tuple(map(tuple, message.headers() or ())),
                )
            )
        found[topic] = sorted(rows, key=lambda row: row[:2])
    consumer.close()
    return found


def fields_of(record: client.ConsumerRecord) -> Fields:
    """Put a record of a scan in the same shape."""
    headers = tuple(tuple(header) for header in record.headers)
    return (
        record.partition,
        record.offset,
        record.timestamp,
        record.key,
        record.value,
        headers,
    )


def check_topic(kafka: Broker, topic: str, isolation: Any, wanted: list[Fields]) -> int:
    """Compare one topic, read in small pieces, every way there is."""
    order = lambda row: row[:2]  # noqa: E731
    options = {"isolation": isolation, "memory_bytes": 1 << 14}
    with client.connect_sync(kafka.address) as cluster:
        rows = map(fields_of, cluster.scan(topic, **options).messages())
        expect_same(f"{topic}, blocking", sorted(rows, key=order), wanted)
        table = pyarrow.table(cluster.scan(topic, timestamp_unit="ms", **options))
        expect_same(f"{topic}, Arrow", rows_of(table), wanted)

    async def read() -> list[Fields]:
        async with client.connect(kafka.address) as cluster:
            scan = cluster.scan(topic, **options)
            return [fields_of(record) async for record in scan.messages()]

    got = asyncio.run(read())
    expect_same(f"{topic}, asyncio", sorted(got, key=order), wanted)
    return len(wanted)


def rows_of(table: Any) -> list[Fields]:
    """Put a table of a scan in the same shape."""
    epoch = datetime.fromtimestamp(0, UTC)
    rows = []
    for row in table.to_pylist():
        stamp = round((row["timestamp"] - epoch).total_seconds() * 1000)
        headers = tuple((each["key"], each["value"]) for each in row["headers"] or ())
        fields = row["offset"], stamp, row["key"], row["value"], headers
        rows.append((row["partition"], *fields))
    return sorted(rows, key=lambda row: row[:2])


def expect_same(what: str, got: list[Fields], wanted: list[Fields]) -> None:
    """Fail at the first difference."""
    for index, (a, b) in enumerate(zip(got, wanted, strict=False)):
        if a != b:
            raise BrokerError(f"{what}: record {index} is {a!r:.200}, not {b!r:.200}")
    if len(got) != len(wanted):
        raise BrokerError(f"{what}: {len(got)} records, not {len(wanted)}")


def check(version: str) -> None:
    """Compare all topics of one broker."""
    begun = time.monotonic()
    with brokers.running(version) as kafka:
        workloads.write_odd_topics(kafka)
        open_transaction = workloads.leave_transaction_open(kafka)
        for isolation in ISOLATION:
            wanted = read_with_librdkafka(kafka, isolation)
            count = sum(
                check_topic(kafka, topic, isolation, rows)
                for topic, rows in wanted.items()
            )
            print(
                f"Kafka {kafka.release}, {isolation}: {len(wanted)} topics,"
                f" {count} records, all as librdkafka reads them",
                flush=True,
            )
        del open_transaction
    print(f"  {time.monotonic() - begun:.0f} s")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="append", help="such as 4.x; may repeat")
    try:
        for version in parser.parse_args().version or ["4.x", "3.9.2", "2.8"]:
            check(version)
    except BrokerError as error:
        sys.exit(f"scans: {error}")


if __name__ == "__main__":
    main()
