# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Data sources for comparison: replays, which decode nothing, and peers.

Spark imports this file in its workers. A replay returns prepared batches. The records
of a peer are collected in one list per column, and converted to arrays by pyarrow.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

CHUNK_BYTES = 2 << 20
_CLASSES = {
    "aiokafka": "aiokafka.record.memory_records:MemoryRecords",
    "kafka-python": "kafka.record.memory_records:MemoryRecords",
}
"""Record class by peer. It is only imported in the worker that reads."""

HEADERS = pa.list_(
    pa.field("element", pa.struct([("key", pa.string()), ("value", pa.binary())]))
)
_SCHEMA = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("timestampType", pa.int32()),
        ("headers", HEADERS),
    ]
)
SPARK_SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint,"
    " timestamp timestamp, timestampType int,"
    " headers array<struct<key:string,value:binary>>"
)


def save(batch: pa.RecordBatch, path: str) -> None:
    """Write a batch in a format that ``ready_batch`` can read."""
    with pa.ipc.new_file(path, batch.schema) as file:
        file.write(batch)


@cache
def ready_batch(path: str) -> pa.RecordBatch:
    """Read a batch that ``save`` has written. Each process reads it only once."""
    with open(path, "rb") as file:
        return pa.ipc.open_file(pa.py_buffer(file.read())).get_batch(0)


class ReplaySource(DataSource):
    """Data source that repeats one prepared batch for the requested row count.

    Options: ``batch`` is the batch file, and ``rows`` is a comma-separated list with
    the row count for every task.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name of the format in Spark."""
        return "replay"

    def reader(self, schema: Any) -> DataSourceReader:
        """Return a reader with a task for each number of rows.

        Spark always specifies a schema for this source, because it does not provide
        one.
        """
        rows = [int(text) for text in self.options["rows"].split(",")]
        return ReplayReader(self.options["batch"], rows)


class ReplayReader(DataSourceReader):
    """Reader that plans one task per row count, and returns the prepared batch."""

    def __init__(self, path: str, rows: list[int]) -> None:
        """Store the path of the batch, and the number of rows of each task."""
        self._path = path
        self._rows = rows

    def partitions(self) -> list[InputPartition]:
        """Return a task for each number of rows."""
        return [InputPartition(rows) for rows in self._rows]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the batch repeatedly, and a slice of it for the remaining rows."""
        batch, left = ready_batch(self._path), partition.value
        while left >= batch.num_rows:
            yield batch
            left -= batch.num_rows
        if left:
            yield batch.slice(0, left)


class PeerSource(DataSource):
    """Data source that reads a segment with the record classes from a peer's consumer.

    Options: ``peer``, ``segment`` (path), ``size`` (segment bytes), ``step`` and
    ``tasks``. Batches begin at multiples of ``step`` bytes.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name of the format in Spark."""
        return "peer"

    def schema(self) -> str:
        """Return the schema of ``kafka-log`` with headers in Spark's syntax."""
        return SPARK_SCHEMA

    def reader(self, schema: Any) -> DataSourceReader:
        """Return a reader that divides the segment into byte ranges."""
        size, step = int(self.options["size"]), int(self.options["step"])
        each = -(-size // int(self.options["tasks"]) // step) * step
        ranges = [(at, min(at + each, size)) for at in range(0, size, each)]
        return PeerReader(self.options["peer"], self.options["segment"], ranges, step)


class PeerReader(DataSourceReader):
    """Reader of byte ranges in a segment. A chunk of records becomes an Arrow batch."""

    def __init__(
        self, peer: str, path: str, ranges: list[tuple[int, int]], step: int
    ) -> None:
        """Store the peer, the path of the segment, and the byte ranges.

        Chunks have at most ``CHUNK_BYTES``, and consist of complete batches of ``step``
        bytes.
        """
        self._peer = peer
        self._path = path
        self._ranges = ranges
        self._chunk = CHUNK_BYTES // step * step

    def partitions(self) -> list[InputPartition]:
        """Return a task for each byte range."""
        return [InputPartition(each) for each in self._ranges]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read the chunks of one byte range. Yields an Arrow batch for each chunk."""
        at, end = partition.value
        memory_records = pkgutil.resolve_name(_CLASSES[self._peer])
        with open(self._path, "rb") as file:
            file.seek(at)
            while at < end:
                data = file.read(min(self._chunk, end - at))
                at += len(data)
                yield peer_batch(memory_records(data), "orders", 0)


def peer_batch(found: Any, topic: str, partition: int) -> pa.RecordBatch:
    """Convert the records of a peer to an Arrow batch.

    CRCs are verified, as in the peer's consumer. The topic and the partition, which all
    records share, are not collected but repeated by pyarrow. Raises ``ValueError`` if a
    CRC is wrong.
    """
    offsets: list[int] = []
    timestamps: list[int] = []
    kinds: list[int] = []
    keys: list[bytes | None] = []
    values: list[bytes | None] = []
    ends = [0]
    header_keys: list[str] = []
    header_values: list[bytes | None] = []
    add_offset, add_timestamp = offsets.append, timestamps.append
    add_key, add_value, add_end = keys.append, values.append, ends.append
    add_header_key, add_header_value = header_keys.append, header_values.append
    while found.has_next():
        batch = found.next_batch()
        if not batch.validate_crc():
            raise ValueError("CRC")
        before = len(offsets)
        for record in batch:
            add_offset(record.offset)
            add_timestamp(record.timestamp)
            add_key(record.key)
            add_value(record.value)
            for key, value in record.headers:
                add_header_key(key)
                add_header_value(value)
            add_end(len(header_keys))
        kinds.extend([batch.timestamp_type] * (len(offsets) - before))
    pairs = pa.StructArray.from_arrays(
        [pa.array(header_keys, pa.string()), pa.array(header_values, pa.binary())],
        fields=list(HEADERS.value_type),
    )
    millis = pa.array(timestamps, pa.timestamp("ms", "UTC"))
    count = len(offsets)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(keys, pa.binary()),
            pa.array(values, pa.binary()),
            pa.repeat(pa.scalar(topic), count),
            pa.repeat(pa.scalar(partition, pa.int32()), count),
            pa.array(offsets, pa.int64()),
            millis.cast(_SCHEMA.field("timestamp").type),
            pa.array(kinds, pa.int32()),
            pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pairs, type=HEADERS),
        ],
        schema=_SCHEMA,
    )


class ReplayHeaders:
    """Replay function for ``mapInArrow``, which returns prepared columns."""

    def __init__(self, path: str) -> None:
        """Store the path of a batch with at least as many rows as any input batch."""
        self._path = path

    def __call__(self, batches: Iterator[Any]) -> Iterator[pa.RecordBatch]:
        """Yield a slice of the prepared columns for each batch, with as many rows."""
        ready = ready_batch(self._path)
        for batch in batches:
            yield ready.slice(0, batch.num_rows)
