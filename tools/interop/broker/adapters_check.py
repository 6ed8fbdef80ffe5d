# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks kwire's adapters: consumers read from brokers what they read without them.

    python -m tools.interop.broker.adapters_check  # 4.x and 2.8
    python -m tools.interop.broker.adapters_check --version 4.x

Every topic is read by kafka-python and by aiokafka, by polls and by records, under
both isolation levels, without and with the adapter. All fields and their types are
equal, and so are the positions at the end and the errors. Every codec, odd rows, log
append time, deleted records, transactions, compacted and emptied topics; from 2.8 also
magic 0 and 1.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time
from collections.abc import Callable
from typing import Any

import aiokafka
import kafka

from kwire import adapters
from tools.interop.broker import broker as brokers
from tools.interop.broker import old_formats, scans, workloads
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.clients import SECONDS, librdkafka_consumer

Reading = tuple[list[Any], int, str]
"""Records with the types of their fields, the last position, the error if any."""

LEAST_ROWS = 500


def describe(record: Any) -> tuple[type, list[tuple[type, Any]]]:
    """List the fields of a record with their types."""
    names = getattr(record, "_fields", None) or record.__dataclass_fields__
    values = [getattr(record, name) for name in names]
    return type(record), [(type(value), value) for value in values]


def read_with_kafka_python(
    kafka_broker: Broker, topic: str, partition: int, isolation: str, one_by_one: bool
) -> Reading:
    """Read a partition to its end with kafka-python."""
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=kafka_broker.address,
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
                for found in consumer.poll(1000).values():
                    records += map(describe, found)
    except Exception as failure:
        error = repr(failure)
    position = consumer.position(tp)
    consumer.close()
    return records, position, error


def read_with_aiokafka(
    kafka_broker: Broker, topic: str, partition: int, isolation: str, one_by_one: bool
) -> Reading:
    """Read a partition to its end with aiokafka."""

    async def read() -> Reading:
        consumer = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=kafka_broker.address,
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
                        found = await asyncio.wait_for(anext(consumer), 1)
                    except TimeoutError:
                        continue
                    records.append(describe(found))
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


def list_partitions(kafka_broker: Broker) -> list[tuple[str, int]]:
    """List the partitions that were written for this."""
    consumer = librdkafka_consumer(kafka_broker, "adapters")
    topics = consumer.list_topics().topics
    consumer.close()
    return [
        (name, partition)
        for name, topic in sorted(topics.items())
        if name[:2] != "__"
        for partition in topic.partitions
    ]


def check_partition(
    client: str, kafka_broker: Broker, topic: str, partition: int
) -> tuple[int, int]:
    """Compare all readings of a partition; count records and errors."""
    adapter, read = READERS[client]
    count = errors = 0
    for isolation in scans.ISOLATION:
        for one_by_one in (False, True):
            arguments = (kafka_broker, topic, partition, isolation, one_by_one)
            own = read(*arguments)
            with adapter:
                if not adapter.is_installed:
                    raise BrokerError(f"the adapter of {client} cannot be installed")
                adapted = read(*arguments)
            if adapted != own:
                raise BrokerError(
                    f"{client}, {topic}-{partition}, {isolation}, {one_by_one=}: "
                    f"{summarize(own, adapted)}"
                )
            count += len(own[0])
            errors += bool(own[2])
    return count, errors


def summarize(own: Reading, adapted: Reading) -> str:
    """Describe the first difference of two readings."""
    for index, (a, b) in enumerate(zip(own[0], adapted[0], strict=False)):
        if a != b:
            return f"record {index} is {b!r:.300}, not {a!r:.300}"
    ends = [(len(records), *rest) for records, *rest in (own, adapted)]
    return f"records, position and error are {ends[1]}, not {ends[0]}"


def write_old_topics(kafka_broker: Broker) -> None:
    """Write magic 0 and 1, and topics with and without transactions for comparison."""
    workloads.create_internal_topics(kafka_broker)
    old_formats.write_formats(kafka_broker)
    old_formats.write_compacted_formats(kafka_broker)
    old_formats.write_after_upgrade(kafka_broker)
    workloads.write_codecs(kafka_broker)
    workloads.write_transactions(kafka_broker)


def check(version: str) -> None:
    """Compare all topics of one broker."""
    begun = time.monotonic()
    with brokers.running(version) as kafka_broker:
        if kafka_broker.has_zookeeper:
            write_old_topics(kafka_broker)
        else:
            workloads.write_odd_topics(kafka_broker)
        open_transaction = workloads.leave_transaction_open(kafka_broker)
        partitions = list_partitions(kafka_broker)
        for client in READERS:
            found = [
                check_partition(client, kafka_broker, *each) for each in partitions
            ]
            count, errors = map(sum, zip(*found, strict=True))
            if count < LEAST_ROWS:
                raise BrokerError(f"{client} read {count} records, too few to compare")
            print(
                f"Kafka {kafka_broker.release}, {client}: {len(partitions)} partitions,"
                f" {count} records and {errors} errors, all as without the adapter",
                flush=True,
            )
        del open_transaction
    print(f"  {time.monotonic() - begun:.0f} s")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="append", help="such as 4.x; may repeat")
    logging.disable()
    try:
        for version in parser.parse_args().version or ["4.x", "2.8"]:
            check(version)
    except BrokerError as error:
        sys.exit(f"adapters_check: {error}")


if __name__ == "__main__":
    main()
