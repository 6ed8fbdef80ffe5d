# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write one topic once in a separate process, and print the figures as JSON.

Usage: ``python -m benchmarks.producer.contender CLIENT ADDRESS TOPIC RECORDS SIZE
CODEC``. The CPU time covers all threads of the process, from before the connection is
opened until after the last acknowledgement. Imports and the creation of the rows are
not included. All clients are idempotent and have the same linger time and batch size.
Keys have 10 bytes, and the partition is selected by Java's murmur2.
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
    """Records to write, the address of the broker, the topic, and the codec."""

    address: str
    topic: str
    codec: str
    rows: list[tuple[bytes, bytes]]


def make_rows(count: int, size: int) -> list[tuple[bytes, bytes]]:
    """Return ``count`` keys and values.

    A value has ``size`` bytes, half of them random.

    Every value is a separate bytes object, as in a typical program.
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
    """Pass all rows as a list to ``send_many`` of kwire's blocking client.

    Returns the number of acknowledged records.
    """
    from kwire import client

    with (
        client.connect_sync(job.address) as kafka,
        kafka.producer(**_options(job)) as producer,
    ):
        return sum(
            each.record_count for each in producer.send_many(job.topic, job.rows)
        )


async def kwire_asyncio_rows(job: Job) -> int:
    """Pass all rows as a list to ``send_many`` of kwire's asyncio client.

    Returns the number of acknowledged records.
    """
    from kwire import client

    async with (
        client.connect(job.address) as kafka,
        kafka.producer(**_options(job)) as producer,
    ):
        receipts = await producer.send_many(job.topic, job.rows)
        return sum(each.record_count for each in receipts)


def kwire_table(job: Job, table: Any) -> int:
    """Pass all rows as a table to ``send_table`` of kwire's blocking client.

    Returns the number of acknowledged records.
    """
    from kwire import client

    with (
        client.connect_sync(job.address) as kafka,
        kafka.producer(**_options(job)) as producer,
    ):
        receipts = producer.send_table(job.topic, table, key="key")
        return sum(each.record_count for each in receipts)


def make_table(job: Job) -> Any:
    """Return the Arrow table that ``kwire_table`` and ``kwire_murmur2`` receive."""
    import pyarrow

    keys, values = zip(*job.rows, strict=True)
    types = pyarrow.binary(), pyarrow.binary()
    columns = [
        pyarrow.array(column, kind)
        for column, kind in zip((keys, values), types, strict=True)
    ]
    return pyarrow.table(columns, ["key", "value"])


def kwire_send(job: Job) -> int:
    """Call ``send`` of kwire's blocking client once per record.

    Returns the number of acknowledged records.
    """
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
    """Call ``send`` of kwire's asyncio client once per record.

    Returns the number of acknowledged records.
    """
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
    """Call ``produce`` of librdkafka once per record, and ``poll`` if its queue is
    full.

    Returns the number of records.
    """
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
    """Call ``send`` of aiokafka's producer once per record, and finally ``flush``."""
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
    """Call ``send`` of kafka-python once per record, and finally ``flush``."""
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
    """Compute the hashes of the keys without writing any record.

    Returns the number of hashes.
    """
    from kwire.records.partitioners import murmur2_column

    return len(murmur2_column(table.column("key").combine_chunks()))


class Writer(NamedTuple):
    """Way to write records: modules to import, and function to measure.

    ``takes_table``: pass an Arrow table in addition to the job.
    """

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
    """Run the writer that the command line names, and print its figures as JSON."""
    name, address, topic, count, size, codec = sys.argv[1:]
    writer = WRITERS[name]
    for module in writer.modules:
        __import__(module)
    job = Job(address, topic, codec, make_rows(int(count), int(size)))
    arguments = (job, make_table(job)) if writer.takes_table else (job,)
    cpu, wall = time.process_time(), time.perf_counter()
    result = writer.write(*arguments)
    written = asyncio.run(result) if asyncio.iscoroutine(result) else result
    figures = {
        "records": written,
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
