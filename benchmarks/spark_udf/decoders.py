# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""UDF bodies. All libraries decode bytes into tuples of the same shape.

Spark imports this file in its workers, where a function imports its library. The
functions return plain tuples and lists, because Spark requires lists for arrays, and
converts a tuple to a struct faster than other objects. ``by_hand`` is the code that
people write without a library.
"""

from __future__ import annotations

import struct
from functools import cache
from io import BytesIO
from typing import Any

from examples.drop_in import by_hand

RECORDS_TYPE = by_hand.SCHEMA
RECORD_TYPE = RECORDS_TYPE.removeprefix("array<").removesuffix(">")
METADATA_TYPE = (
    "struct<brokers:array<struct<node_id:int, host:string, port:int>>,"
    " controller_id:int,"
    " topics:array<struct<error_code:smallint, name:string,"
    " partitions:array<struct<error_code:smallint, partition_index:int,"
    " leader_id:int, replica_nodes:array<int>, isr_nodes:array<int>>>>>>"
)

RecordTuples = list[tuple[int, int, bytes | None, bytes | None, Any]]


def _checked_batches(memory_records: Any) -> RecordTuples:
    """Return the records of a consumer's record class. Checks the CRCs."""
    rows: RecordTuples = []
    while memory_records.has_next():
        batch = memory_records.next_batch()
        if not batch.validate_crc():
            raise ValueError("CRC")
        rows += [
            (record.offset, record.timestamp, record.key, record.value, record.headers)
            for record in batch
        ]
    return rows


def records_by_hand(data: bytes) -> RecordTuples:
    """Decode a record set with ``struct``, without checking its CRC."""
    return by_hand.decode_records(data)  # type: ignore[no-any-return, no-untyped-call]


def records_by_aiokafka(data: bytes) -> RecordTuples:
    """Decode a record set with the record classes from aiokafka's consumer."""
    from aiokafka.record.memory_records import MemoryRecords

    return _checked_batches(MemoryRecords(data))


def records_by_kafka_python(data: bytes) -> RecordTuples:
    """Decode a record set with the record classes from kafka-python's consumer."""
    from kafka.record.memory_records import MemoryRecords

    return _checked_batches(MemoryRecords(data))


def records_by_kio(data: bytes) -> RecordTuples:
    """Decode one record batch with kio."""
    from kio.records.readers import read_batch

    batch, _ = read_batch(data, 0)
    return [
        (
            record.offset,
            round(record.timestamp.timestamp() * 1_000),
            record.key,
            record.value,
            [(header.key.decode(), header.value) for header in record.headers],
        )
        for record in batch.records
    ]


def records_by_kwire(data: bytes) -> RecordTuples:
    """Decode a record set with ``kwire.records``."""
    from kwire import records

    decoded, _ = records.decode_records(data)
    return [
        (
            record.offset,
            record.timestamp,
            record.key,
            record.value,
            list(record.headers),
        )
        for record in decoded
    ]


def metadata_by_hand(data: bytes) -> tuple[Any, ...]:
    """Decode a Metadata response, version 5, with ``struct``."""
    position = 4  # after the throttle time
    brokers = []
    count, position = _int32(data, position)
    for _ in range(count):
        node_id, position = _int32(data, position)
        host, position = _string(data, position)
        port, position = _int32(data, position)
        _, position = _string(data, position)  # rack
        brokers.append((node_id, host, port))
    _, position = _string(data, position)  # cluster id
    controller_id, position = _int32(data, position)
    topics = []
    count, position = _int32(data, position)
    for _ in range(count):
        error_code, position = _int16(data, position)
        name, position = _string(data, position)
        position += 1  # whether the topic is internal
        partitions = []
        partition_count, position = _int32(data, position)
        for _ in range(partition_count):
            partition_error, index, leader = _PARTITION.unpack_from(data, position)
            replicas, position = _int32s(data, position + _PARTITION.size)
            isr, position = _int32s(data, position)
            _, position = _int32s(data, position)  # offline replicas
            partitions.append((partition_error, index, leader, replicas, isr))
        topics.append((error_code, name, partitions))
    return brokers, controller_id, topics


_PARTITION = struct.Struct(">hii")


def _int16(data: bytes, position: int) -> tuple[int, int]:
    return struct.unpack_from(">h", data, position)[0], position + 2


def _int32(data: bytes, position: int) -> tuple[int, int]:
    return struct.unpack_from(">i", data, position)[0], position + 4


def _string(data: bytes, position: int) -> tuple[str | None, int]:
    size, position = _int16(data, position)
    if size < 0:
        return None, position
    return data[position : position + size].decode(), position + size


def _int32s(data: bytes, position: int) -> tuple[list[int], int]:
    count, position = _int32(data, position)
    values = list(struct.unpack_from(f">{count}i", data, position))
    return values, position + 4 * count


def metadata_by_aiokafka(data: bytes) -> tuple[Any, ...]:
    """Decode a Metadata response with aiokafka's schema for version 5."""
    from aiokafka.protocol.metadata import MetadataResponse_v5

    response = MetadataResponse_v5.decode(BytesIO(data))
    return (
        [broker[:3] for broker in response.brokers],
        response.controller_id,
        [
            (error_code, name, [partition[:5] for partition in partitions])
            for error_code, name, _, partitions in response.topics
        ],
    )


def metadata_by_kafka_python(data: bytes) -> tuple[Any, ...]:
    """Decode a Metadata response with kafka-python's classes."""
    from kafka.protocol.metadata import MetadataResponse

    return _metadata_tuple(MetadataResponse.decode(data, version=5))


def metadata_by_kwire(data: bytes) -> tuple[Any, ...]:
    """Decode a Metadata response with ``kwire.decode``."""
    import kwire
    from kwire.messages import MetadataResponse

    return _metadata_tuple(kwire.decode(MetadataResponse, data, version=5))


def _metadata_tuple(response: Any) -> tuple[Any, ...]:
    return (
        [(broker.node_id, broker.host, broker.port) for broker in response.brokers],
        response.controller_id,
        [
            (
                topic.error_code,
                topic.name,
                [
                    (
                        partition.error_code,
                        partition.partition_index,
                        partition.leader_id,
                        list(partition.replica_nodes),
                        list(partition.isr_nodes),
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in response.topics
        ],
    )


def metadata_by_kio(data: bytes) -> tuple[Any, ...]:
    """Decode a Metadata response with kio's entity reader."""
    response, _ = _kio_reader()(data, 0)
    return (
        [(broker.node_id, broker.host, broker.port) for broker in response.brokers],
        response.controller_id,
        [
            (
                topic.error_code.value,
                topic.name,
                [
                    (
                        partition.error_code.value,
                        partition.partition_index,
                        partition.leader_id,
                        list(partition.replica_nodes),
                        list(partition.isr_nodes),
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in response.topics
        ],
    )


@cache
def _kio_reader() -> Any:
    from kio.schema.metadata.v5.response import MetadataResponse
    from kio.serial import entity_reader

    return entity_reader(MetadataResponse)


class Prepared:
    """UDF that decodes nothing. It always returns the result for the first row.

    No decoder can reduce this time, because Spark sends the bytes to Python and
    converts the tuples.
    """

    def __init__(self, decode: Any) -> None:
        """Store the decoder. Each worker calls it once, for its first row."""
        self._decode = decode
        self._result: Any = None

    def __call__(self, data: bytes) -> Any:
        """Return the result that the decoder has returned for the first row."""
        if self._result is None:
            self._result = self._decode(data)
        return self._result
