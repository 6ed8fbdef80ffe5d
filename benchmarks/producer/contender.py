# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One client writes one topic once, in its own process, and prints what it took.

Run as ``python -m benchmarks.producer.contender CLIENT ADDRESS TOPIC RECORDS SIZE
CODEC``. CPU is that of the whole process, all threads, from before the connection is
made to after the last acknowledgement; imports and the making of rows are not in it.
All clients are idempotent, with the same linger and batch size, and write records with
keys of 10 B that Java's murmur2 places.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

BATCH_BYTES = 128 << 10
LINGER_MS = 5
DIFFERENT = 1000


class Job(NamedTuple):
    """What to write, and where."""

    address: str
    topic: str
    codec: str
    rows: list[tuple[bytes, bytes]]


def make_rows(count: int, size: int) -> list[tuple[bytes, bytes]]:
    """Make keys and values; half of a value is random.

    Each value has memory of its own, as those of a program have.
    """
    source = random.Random(size)
    half = size // 2
    starts = [source.randbytes(half) for _ in range(DIFFERENT)]
    end = b"a" * (size - half)
    return [(b"key%07d" % n, starts[n % DIFFERENT] + end) for n in range(count)]


def _options(job: Job) -> Any:
    return {
        "compression": job.codec,
        "max_batch_bytes": BATCH_BYTES,
        "linger_s": LINGER_MS / 1000,
    }


def kwire_rows(job: Job) -> int:
    """Give a list of all rows to ``send_many``, with blocking calls."""
    from kwire import client

    with (
        client.connect_sync(job.address) as kafka,
        kafka.producer(**_options(job)) as producer,
    ):
        return sum(
            each.record_count for each in producer.send_many(job.topic, job.rows)
        )


async def kwire_asyncio_rows(job: Job) -> int:
    """Give a list of all rows to ``send_many``, over asyncio."""
    from kwire import client

    async with (
        client.connect(job.address) as kafka,
        kafka.producer(**_options(job)) as producer,
    ):
        receipts = await producer.send_many(job.topic, job.rows)
        return sum(each.record_count for each in receipts)


def kwire_table(job: Job, table: Any) -> int:
    """Give a table to ``send_table``."""
    from kwire import client

    with (
        client.connect_sync(job.address) as kafka,
        kafka.producer(**_options(job)) as producer,
    ):
        receipts = producer.send_table(job.topic, table, key="key")
        return sum(each.record_count for each in receipts)


def make_table(job: Job) -> Any:
    """Make the table of ``kwire_table``."""
    import pyarrow

    keys, values = zip(*job.rows, strict=True)
    types = pyarrow.binary(), pyarrow.binary()
    columns = [
        pyarrow.array(column, kind)
        for column, kind in zip((keys, values), types, strict=True)
    ]
    return pyarrow.table(columns, ["key", "value"])


def kwire_send(job: Job) -> int:
    """Call ``send`` for each record, with blocking calls."""
    from kwire import client

    written: list[int] = []
    with (
        client.connect_sync(job.address) as kafka,
        kafka.producer(
            **_options(job), on_receipt=lambda each: written.append(each.record_count)
        ) as producer,
    ):
        topic = job.topic
        for key, value in job.rows:
            producer.send(topic, key=key, value=value)
    return sum(written)


async def kwire_asyncio_send(job: Job) -> int:
    """Call ``send`` for each record, over asyncio."""
    from kwire import client

    written: list[int] = []
    async with (
        client.connect(job.address) as kafka,
        kafka.producer(
            **_options(job), on_receipt=lambda each: written.append(each.record_count)
        ) as producer,
    ):
        topic = job.topic
        for key, value in job.rows:
            await producer.send(topic, key=key, value=value)
    return sum(written)


def confluent_produce(job: Job) -> int:
    """Call ``produce`` for each record; where its queue is full, ``poll``."""
    from confluent_kafka import Producer

    producer = Producer(
        {
            "bootstrap.servers": job.address,
            "enable.idempotence": True,
            "acks": "all",
            "compression.type": job.codec,
            "linger.ms": LINGER_MS,
            "batch.size": BATCH_BYTES,
            "partitioner": "murmur2_random",
        }
    )
    topic, produce = job.topic, producer.produce
    for key, value in job.rows:
        while True:
            try:
                produce(topic, value, key)
                break
            except BufferError:
                producer.poll(0.1)
    left = producer.flush(60)
    return len(job.rows) - left


async def aiokafka_send(job: Job) -> int:
    """Call ``send`` for each record, and ``flush``."""
    from aiokafka import AIOKafkaProducer

    producer = AIOKafkaProducer(
        bootstrap_servers=job.address,
        enable_idempotence=True,
        acks="all",
        compression_type=None if job.codec == "none" else job.codec,
        linger_ms=LINGER_MS,
        max_batch_size=BATCH_BYTES,
    )
    await producer.start()
    try:
        topic = job.topic
        for key, value in job.rows:
            last = await producer.send(topic, value, key)
        await producer.flush()
        await last
    finally:
        await producer.stop()
    return len(job.rows)


def kafka_python_send(job: Job) -> int:
    """Call ``send`` for each record, and ``flush``."""
    from kafka import KafkaProducer

    producer = KafkaProducer(
        bootstrap_servers=job.address,
        enable_idempotence=True,
        acks="all",
        compression_type=None if job.codec == "none" else job.codec,
        linger_ms=LINGER_MS,
        batch_size=BATCH_BYTES,
    )
    topic = job.topic
    for key, value in job.rows:
        last = producer.send(topic, value, key)
    producer.flush()
    last.get(60)
    producer.close()
    return len(job.rows)


def kwire_murmur2(job: Job, table: Any) -> int:
    """Hash the column of keys; nothing is written."""
    from kwire.records.partitioners import murmur2_column

    return len(murmur2_column(table.column("key").combine_chunks()))


class Writer(NamedTuple):
    """A way to write: what it imports, and its function."""

    modules: tuple[str, ...]
    write: Callable[..., Any]
    takes_table: bool = False


_KWIRE = ("kwire.client",)
_TABLES = (
    "kwire.client",
    "kwire.records.columns",
    "kwire.records.tables",
    "kwire.records.partitioners",
    "numpy",
    "pyarrow.compute",
)
WRITERS = {
    "kwire send_many": Writer(_KWIRE, kwire_rows),
    "kwire asyncio send_many": Writer(_KWIRE, kwire_asyncio_rows),
    "kwire send_table": Writer(_TABLES, kwire_table, True),
    "kwire send": Writer(_KWIRE, kwire_send),
    "kwire asyncio send": Writer(_KWIRE, kwire_asyncio_send),
    "confluent-kafka produce": Writer(("confluent_kafka",), confluent_produce),
    "aiokafka send": Writer(("aiokafka",), aiokafka_send),
    "kafka-python send": Writer(("kafka",), kafka_python_send),
    "kwire murmur2_column": Writer(_TABLES, kwire_murmur2, True),
}


def main() -> None:
    """Write, and print the figures."""
    name, address, topic, count, size, codec = sys.argv[1:]
    writer = WRITERS[name]
    for module in writer.modules:
        __import__(module)
    job = Job(address, topic, codec, make_rows(int(count), int(size)))
    arguments = (job, make_table(job)) if writer.takes_table else (job,)
    cpu, wall = time.process_time(), time.perf_counter()
    found = writer.write(*arguments)
    written = asyncio.run(found) if asyncio.iscoroutine(found) else found
    figures = {
        "records": written,
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
