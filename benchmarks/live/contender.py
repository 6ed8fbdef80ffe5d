# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read one topic once in a separate process, and print time and memory as JSON.

Usage: ``python -m benchmarks.live.contender CLIENT TASK ADDRESS TOPIC PARTITIONS
RECORDS``. The CPU time covers all threads of the process, from before the connection is
opened until after the last record. Imports are not included. All clients verify
checksums.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

COLUMNS = ("offset", "timestamp", "key", "value")
BUDGET_BYTES = 64 << 20
FETCH_BYTES = 1 << 20


class Job:
    """Topic to read: address of the broker, partitions, and number of records."""

    def __init__(self, arguments: list[str]) -> None:
        """Parse the arguments: address, topic, partitions, records, and memory in
        bytes.
        """
        self.address, self.topic = arguments[:2]
        self.partitions, self.records = map(int, arguments[2:4])
        self.memory_bytes = int(arguments[4]) if len(arguments) > 4 else BUDGET_BYTES


def kwire_arrow(job: Job) -> Iterator[Any]:
    """Scan the topic with kwire's blocking client. Yields Arrow batches."""
    from kwire import client

    with client.connect_sync(job.address) as kafka:
        for chunk in kafka.scan(
            job.topic, columns=COLUMNS, memory_bytes=job.memory_bytes
        ):
            yield chunk.to_arrow()


async def kwire_asyncio_arrow(job: Job) -> AsyncIterator[Any]:
    """Scan the topic with kwire's asyncio client. Yields Arrow batches."""
    from kwire import client

    async with client.connect(job.address) as kafka:
        async for chunk in kafka.scan(
            job.topic, columns=COLUMNS, memory_bytes=job.memory_bytes
        ):
            yield chunk.to_arrow()


def kwire_rows(job: Job) -> Iterator[Any]:
    """Scan the topic with kwire's blocking client. Yields lists of records."""
    from kwire import client

    with client.connect_sync(job.address) as kafka:
        for chunk in kafka.scan(job.topic):
            yield chunk.records()


async def kwire_asyncio_rows(job: Job) -> AsyncIterator[Any]:
    """Scan the topic with kwire's asyncio client. Yields lists of records."""
    from kwire import client

    async with client.connect(job.address) as kafka:
        async for chunk in kafka.scan(job.topic):
            yield chunk.records()


def kwire_each(job: Job) -> tuple[int, int]:
    """Scan the topic with kwire's blocking client, record by record.

    Returns the number of records and the total size of their values.
    """
    from kwire import client

    count = size = 0
    with client.connect_sync(job.address) as kafka:
        for each in kafka.scan(job.topic).records():
            _ = each.offset, each.timestamp, each.key, each.headers
            size += len(each.value or b"")
            count += 1
    return count, size


async def kwire_asyncio_each(job: Job) -> tuple[int, int]:
    """Scan the topic with kwire's asyncio client, record by record.

    Returns the number of records and the total size of their values.
    """
    from kwire import client

    count = size = 0
    async with client.connect(job.address) as kafka:
        async for each in kafka.scan(job.topic).records():
            _ = each.offset, each.timestamp, each.key, each.headers
            size += len(each.value or b"")
            count += 1
    return count, size


def confluent_rows(job: Job) -> Iterator[Any]:
    """Consume the topic with librdkafka. Yields lists of messages."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": job.address,
            "group.id": "benchmark",
            "enable.auto.commit": False,
            "check.crcs": True,
        }
    )
    partitions = range(job.partitions)
    consumer.assign(
        [TopicPartition(job.topic, n, OFFSET_BEGINNING) for n in partitions]
    )
    while True:
        yield consumer.consume(5000, 1)


def confluent_arrow(job: Job) -> Iterator[Any]:
    """Consume the topic with librdkafka. Yields Arrow batches."""
    import pyarrow

    schema = _schema(pyarrow)
    for messages in confluent_rows(job):
        offsets, stamps, keys, values = [], [], [], []
        for each in messages:
            offsets.append(each.offset())
            stamps.append(each.timestamp()[1])
            keys.append(each.key())
            values.append(each.value())
        arrays = [offsets, stamps, keys, values]
        yield _batch(pyarrow, schema, arrays)


async def _aiokafka_lists(job: Job) -> AsyncIterator[Any]:
    async for consumer in _aiokafka_consumer(job):
        while True:
            messages_by_partition = await consumer.getmany(timeout_ms=1000)
            for messages in messages_by_partition.values():
                yield messages


async def aiokafka_arrow(job: Job) -> AsyncIterator[Any]:
    """Consume the topic with aiokafka. Yields Arrow batches."""
    import pyarrow

    schema = _schema(pyarrow)
    async for messages in _aiokafka_lists(job):
        arrays: list[list[Any]] = [[], [], [], []]
        for each in messages:
            for array, name in zip(arrays, COLUMNS, strict=True):
                array.append(getattr(each, name))
        yield _batch(pyarrow, schema, arrays)


aiokafka_rows = _aiokafka_lists


async def aiokafka_each(job: Job) -> tuple[int, int]:
    """Iterate over the messages of an aiokafka consumer.

    Returns the number of messages and the total size of their values.
    """
    count = size = 0
    async for consumer in _aiokafka_consumer(job):
        async for each in consumer:
            _ = each.offset, each.timestamp, each.key, each.headers
            size += len(each.value or b"")
            count += 1
            if count >= job.records:
                break
    return count, size


async def _aiokafka_consumer(job: Job) -> AsyncIterator[Any]:
    from aiokafka import AIOKafkaConsumer, TopicPartition

    consumer = AIOKafkaConsumer(
        bootstrap_servers=job.address, enable_auto_commit=False, group_id=None
    )
    await consumer.start()
    try:
        partitions = [TopicPartition(job.topic, each) for each in range(job.partitions)]
        consumer.assign(partitions)
        await consumer.seek_to_beginning()
        yield consumer
    finally:
        await consumer.stop()


def kafka_python_rows(job: Job) -> Iterator[Any]:
    """Poll messages with kafka-python. Yields lists of messages."""
    consumer = _kafka_python_consumer(job)
    while True:
        yield from consumer.poll(1000, max_records=5000).values()


def kafka_python_each(job: Job) -> tuple[int, int]:
    """Iterate over the messages of a kafka-python consumer.

    Returns the number of messages and the total size of their values.
    """
    count = size = 0
    for each in _kafka_python_consumer(job):
        _ = each.offset, each.timestamp, each.key, each.headers
        size += len(each.value or b"")
        count += 1
        if count >= job.records:
            break
    return count, size


def _kafka_python_consumer(job: Job) -> Any:
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(
        bootstrap_servers=job.address, enable_auto_commit=False, group_id=None
    )
    consumer.assign([TopicPartition(job.topic, each) for each in range(job.partitions)])
    consumer.seek_to_beginning()
    return consumer


def _schema(pyarrow: Any) -> Any:
    binary, stamp = pyarrow.binary(), pyarrow.timestamp("ms")
    types = pyarrow.int64(), stamp, binary, binary
    return pyarrow.schema(list(zip(COLUMNS, types, strict=True)))


def _batch(pyarrow: Any, schema: Any, arrays: list[list[Any]]) -> Any:
    columns = [
        pyarrow.array(values, field.type)
        for values, field in zip(arrays, schema, strict=True)
    ]
    return pyarrow.record_batch(columns, schema=schema)


# Each of the following functions reads all fields of one chunk. It returns the number
# of records and the total size of their values, which is compared. Readers that iterate
# over single records count these figures themselves, because an additional call for
# each record would distort the result.


def touch_batch(batch: Any) -> tuple[int, int]:
    """Return the number of rows of a batch, and the total size of their values."""
    values = batch.column(batch.schema.get_field_index("value"))
    # binary_length only reads the offsets of the array, which contain the size of every
    # value.
    import pyarrow.compute

    size = pyarrow.compute.sum(pyarrow.compute.binary_length(values)).as_py()
    return batch.num_rows, size or 0


def touch_rows(rows: Any) -> tuple[int, int]:
    """Read all fields of kwire's, aiokafka's or kafka-python's records.

    Returns their number and the total size of their values.
    """
    size = 0
    for row in rows:
        _ = row.offset, row.timestamp, row.key, row.headers
        size += len(row.value)
    return len(rows), size


def touch_messages(messages: Any) -> tuple[int, int]:
    """Read all fields of librdkafka messages.

    Returns their number and the total size of their values.
    """
    size = 0
    for each in messages:
        _ = each.offset(), each.timestamp(), each.key(), each.headers()
        size += len(each.value())
    return len(messages), size


TASKS: dict[str, dict[str, tuple[Callable[[Job], Any], Any]]] = {
    "arrow": {
        "kwire": (kwire_arrow, touch_batch),
        "kwire asyncio": (kwire_asyncio_arrow, touch_batch),
        "confluent-kafka": (confluent_arrow, touch_batch),
        "aiokafka": (aiokafka_arrow, touch_batch),
    },
    "rows": {
        "kwire": (kwire_rows, touch_rows),
        "kwire asyncio": (kwire_asyncio_rows, touch_rows),
        "confluent-kafka": (confluent_rows, touch_messages),
        "aiokafka": (aiokafka_rows, touch_rows),
        "kafka-python": (kafka_python_rows, touch_rows),
    },
    "each": {
        "kwire": (kwire_each, None),
        "kwire asyncio": (kwire_asyncio_each, None),
        "aiokafka": (aiokafka_each, None),
        "kafka-python": (kafka_python_each, None),
    },
}
MODULES = {
    "kwire": ("kwire.client", "kwire.records.columns"),
    "kwire asyncio": ("kwire.client", "kwire.records.columns"),
    "confluent-kafka": ("confluent_kafka",),
    "aiokafka": ("aiokafka",),
    "kafka-python": ("kafka",),
}


async def _drain(
    found: AsyncIterator[Any], touch: Callable[[Any], Any], records: int
) -> tuple[int, int]:
    count = size = 0
    async for each in found:
        more, bytes_more = touch(each)
        count += more
        size += bytes_more
        if count >= records:
            break
    await found.aclose()  # type: ignore[attr-defined]
    return count, size


def drain(read: Callable[[Job], Any], touch: Any, job: Job) -> tuple[int, int]:
    """Read at least ``job.records`` records.

    Returns their number and the total size of their values. ``touch`` reads the fields
    of a chunk. It is None if ``read`` returns the totals itself.
    """
    result = read(job)
    if touch is None:
        total: tuple[int, int] = (
            asyncio.run(result) if asyncio.iscoroutine(result) else result
        )
        return total
    if hasattr(result, "__anext__"):
        return asyncio.run(_drain(result, touch, job.records))
    count = size = 0
    for each in result:
        more, bytes_more = touch(each)
        count += more
        size += bytes_more
        if count >= job.records:
            break
    result.close()
    return count, size


def measure(read: Callable[[Job], Any], touch: Any, job: Job) -> dict[str, float]:
    """Run a reader. Returns its records, their bytes, and its times in seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    count, size = drain(read, touch, job)
    return {
        "records": count,
        "bytes": size,
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
    }


def _peak_bytes() -> int:
    # ``getrusage`` would include the memory of the parent process.
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise SystemExit("no peak of memory in /proc/self/status; this needs Linux")


def main() -> None:
    """Run the reader that the command line names, and print its figures as JSON."""
    name, task, *arguments = sys.argv[1:]
    job = Job(arguments)
    read, touch = TASKS[task][name]
    for module in (*MODULES[name], *(("pyarrow.compute",) if task == "arrow" else ())):
        __import__(module)
    peak = _peak_bytes()
    figures = measure(read, touch, job)
    print(json.dumps(figures | {"memory": _peak_bytes() - peak}))


if __name__ == "__main__":
    main()
