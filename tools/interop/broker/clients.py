# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write and read records with common Kafka clients through the same interface.

The clients are librdkafka (confluent-kafka), kafka-python, aiokafka, and Kafka's
console producer. ``workloads.py`` defines the written records.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import aiokafka
import confluent_kafka
import kafka

from tools.interop.broker.broker import Broker, BrokerError

SECONDS = 180
"""Timeout for client operations in seconds. It is long for busy machines."""


class Row(NamedTuple):
    """Record to write. The broker assigns its offset."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    timestamp: int


class Received(NamedTuple):
    """Record that a client has read. All clients convert records to this class."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


class HasAddress(Protocol):
    """Broker or cluster. ``address`` contains its bootstrap servers."""

    address: str


Produce = Callable[[Broker, str, list[Row], str, int], None]


def groups(rows: list[Row], size: int) -> Iterator[list[Row]]:
    """Split rows into lists of ``size`` rows. Every list is written as one batch."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def librdkafka_producer(
    broker: HasAddress, **settings: Any
) -> confluent_kafka.Producer:
    """Create a librdkafka producer. Underscores in setting names become dots."""
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return confluent_kafka.Producer(
        {"bootstrap.servers": broker.address, "linger.ms": 20, **named}
    )


def librdkafka_consumer(
    broker: HasAddress, group: str, **settings: Any
) -> confluent_kafka.Consumer:
    """Create a librdkafka consumer that starts at the earliest offset.

    Offsets are only committed if the caller commits them. Underscores in the names of
    settings become dots.
    """
    return confluent_kafka.Consumer(
        {
            "bootstrap.servers": broker.address,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
    )


def send_with_librdkafka(
    producer: confluent_kafka.Producer, topic: str, rows: list[Row]
) -> None:
    """Send rows to partition 0 and wait until the broker has acknowledged them.

    Raises ``BrokerError`` if that fails for one of the rows.
    """
    failed: list[Any] = []

    def delivered(error: Any, _message: Any) -> None:
        if error is not None:
            failed.append(error)

    for row in rows:
        producer.produce(
            topic,
            row.value,
            row.key,
            partition=0,
            timestamp=row.timestamp,
            headers=[*row.headers] or None,
            on_delivery=delivered,
        )
    left = producer.flush(SECONDS)
    if failed or left:
        raise BrokerError(f"librdkafka: {topic} got no answer or {failed[:1]}")


def produce_with_librdkafka(
    broker: Broker, topic: str, rows: list[Row], codec: str, batch: int
) -> None:
    """Write rows to partition 0 with librdkafka, in batches of ``batch`` rows."""
    producer = librdkafka_producer(broker, compression_type=codec)
    for group in groups(rows, batch):
        send_with_librdkafka(producer, topic, group)


def produce_with_old_librdkafka(
    broker: Broker, topic: str, rows: list[Row], codec: str, batch: int
) -> None:
    """Write rows to partition 0 with librdkafka, which assumes a broker of release 0.9.

    For such a broker, librdkafka writes magic 0.
    """
    producer = librdkafka_producer(
        broker,
        compression_type=codec,
        api_version_request=False,
        broker_version_fallback="0.9.0",
    )
    for group in groups(rows, batch):
        send_with_librdkafka(producer, topic, group)


def produce_with_kafka_python(
    broker: Broker,
    topic: str,
    rows: list[Row],
    codec: str,
    batch: int,
    **settings: Any,
) -> None:
    """Write rows to partition 0 with kafka-python, ``batch`` rows at a time.

    ``settings`` are further arguments of ``KafkaProducer``.
    """
    producer = kafka.KafkaProducer(
        bootstrap_servers=broker.address,
        compression_type=None if codec == "none" else codec,
        linger_ms=20,
        **settings,
    )
    try:
        for group in groups(rows, batch):
            sent = [
                producer.send(topic, row.value, row.key, row.headers, 0, row.timestamp)
                for row in group
            ]
            for each in sent:
                each.get(SECONDS)
    finally:
        producer.close()


def produce_with_old_kafka_python(
    broker: Broker, topic: str, rows: list[Row], codec: str, batch: int
) -> None:
    """Write rows to partition 0 with kafka-python, as for a broker of release 0.10.

    For such a broker, kafka-python writes magic 1.
    """
    old = {"api_version": (0, 10), "enable_idempotence": False}
    produce_with_kafka_python(broker, topic, rows, codec, batch, **old)


def produce_with_aiokafka(
    broker: Broker, topic: str, rows: list[Row], codec: str, batch: int
) -> None:
    """Write rows to partition 0 with aiokafka, ``batch`` rows at a time."""

    async def produce() -> None:
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=broker.address,
            compression_type=None if codec == "none" else codec,
            linger_ms=20,
        )
        await producer.start()
        try:
            for group in groups(rows, batch):
                sent = [
                    await producer.send(
                        topic, row.value, row.key, 0, row.timestamp, row.headers
                    )
                    for row in group
                ]
                await asyncio.gather(*sent)
        finally:
            await producer.stop()

    asyncio.run(produce())


def produce_with_java(
    broker: Broker, topic: str, rows: list[Row], codec: str, batch: int
) -> None:
    """Write text rows with Kafka's console producer.

    The timestamps of the rows are ignored, because the console producer sets its own.
    """
    with_headers = not broker.has_zookeeper
    options = ["parse.key=true", f"parse.headers={str(with_headers).lower()}"]
    broker.tool(
        "ConsoleProducer",
        "--bootstrap-server",
        broker.address,
        "--topic",
        topic,
        "--compression-codec",
        codec,
        "--producer-property",
        f"batch.size={batch}00",
        *[part for option in options for part in ("--property", option)],
        text="".join(console_line(row, with_headers) for row in rows),
    )


def console_line(row: Row, with_headers: bool) -> str:
    """Format a row as an input line of the console producer, separated by tabs."""
    headers = ",".join(f"{key}:{(value or b'').decode()}" for key, value in row.headers)
    fields = [headers] if with_headers else []
    fields += [(part or b"").decode() for part in (row.key, row.value)]
    return "\t".join(fields) + "\n"


def read_back(
    kafka: HasAddress, topic: str, *, committed: bool = False
) -> dict[int, list[Any]]:
    """Read a complete topic with librdkafka. Returns its messages by partition.

    ``committed`` selects the isolation level read_committed.
    """
    isolation = "read_committed" if committed else "read_uncommitted"
    consumer = librdkafka_consumer(
        kafka, "reader", isolation_level=isolation, enable_partition_eof=True
    )
    try:
        left = set(consumer.list_topics(topic, SECONDS).topics[topic].partitions)
        messages: dict[int, list[Any]] = {each: [] for each in sorted(left)}
        consumer.assign(
            [
                confluent_kafka.TopicPartition(
                    topic, each, confluent_kafka.OFFSET_BEGINNING
                )
                for each in messages
            ]
        )
        deadline = time.monotonic() + SECONDS
        while left and time.monotonic() < deadline:
            for message in consumer.consume(1000, 0.2):
                partition: Any = message.partition()
                error = message.error()
                if error is None:
                    messages[partition].append(message)
                elif error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
                    left.discard(partition)
                else:
                    raise BrokerError(f"librdkafka cannot read {topic}: {error}")
    finally:
        consumer.close()
    if left:
        raise BrokerError(f"librdkafka did not reach the end of {topic}: {left}")
    return messages


def read_rows(
    kafka: HasAddress, topic: str, *, committed: bool = False
) -> dict[int, list[Received]]:
    """Read a complete topic with librdkafka. Returns its records by partition."""
    messages = read_back(kafka, topic, committed=committed)
    return {
        each: list(map(received_by_librdkafka, messages[each])) for each in messages
    }


def librdkafka_messages(
    broker: Broker, topic: str, partition: int = 0, *, committed: bool = False
) -> list[Any]:
    """Read a complete partition with librdkafka. Returns its messages unconverted."""
    return read_back(broker, topic, committed=committed)[partition]


def received_by_librdkafka(message: Any) -> Received:
    """Convert a librdkafka message to ``Received``."""
    return Received(
        message.offset(),
        timestamp_of(message),
        message.key(),
        message.value(),
        message.headers() or [],
    )


def read_with_librdkafka(broker: Broker, topic: str) -> list[Received]:
    """Read all records of partition 0 with librdkafka."""
    return read_rows(broker, topic)[0]


def timestamp_of(message: Any) -> int:
    """Return the timestamp of a librdkafka message in milliseconds.

    Messages of magic 0 have no timestamp. The result is -1 in this case, as in Kafka.
    """
    kind, timestamp = message.timestamp()
    return -1 if kind == confluent_kafka.TIMESTAMP_NOT_AVAILABLE else int(timestamp)


def read_with_kafka_python(broker: Broker, topic: str) -> list[Received]:
    """Read all records of partition 0 with kafka-python."""
    partition = kafka.TopicPartition(topic, 0)
    consumer = kafka.KafkaConsumer(bootstrap_servers=broker.address)
    try:
        consumer.assign([partition])
        consumer.seek_to_beginning()
        end = consumer.end_offsets([partition])[partition]
        received: list[Received] = []
        while consumer.position(partition) < end:
            for records in consumer.poll(SECONDS * 1000).values():
                received += map(received_by_python, records)
        return received
    finally:
        consumer.close()


def read_with_aiokafka(broker: Broker, topic: str) -> list[Received]:
    """Read all records of partition 0 with aiokafka."""

    async def read() -> list[Received]:
        partition = aiokafka.TopicPartition(topic, 0)
        consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=broker.address)
        await consumer.start()
        try:
            consumer.assign([partition])
            await consumer.seek_to_beginning(partition)
            end = (await consumer.end_offsets([partition]))[partition]
            received: list[Received] = []
            while await consumer.position(partition) < end:
                answer = await consumer.getmany(timeout_ms=SECONDS * 1000)
                for records in answer.values():
                    received += map(received_by_python, records)
            return received
        finally:
            await consumer.stop()

    return asyncio.run(read())


def received_by_python(record: Any) -> Received:
    """Convert a record of kafka-python or aiokafka to ``Received``.

    Both clients use the same attribute names.
    """
    # Records of magic 0 have no timestamp. Kafka represents that as -1.
    timestamp = -1 if record.timestamp is None else record.timestamp
    headers = [(name, value) for name, value in record.headers]
    return Received(record.offset, timestamp, record.key, record.value, headers)


PRODUCERS: dict[str, Produce] = {
    "librdkafka": produce_with_librdkafka,
    "kafka-python": produce_with_kafka_python,
    "aiokafka": produce_with_aiokafka,
    "java": produce_with_java,
}
READERS: dict[str, Callable[[Broker, str], list[Received]]] = {
    "librdkafka": read_with_librdkafka,
    "kafka-python": read_with_kafka_python,
    "aiokafka": read_with_aiokafka,
}
