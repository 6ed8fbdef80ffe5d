# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes and encodes recorded frames again, in Spark's workers.

``check`` is a function for ``DataFrame.mapInArrow`` on the format ``kafka-capture``.
The frames are real traffic of clients and brokers. This module does not import Spark.
"""

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa

import kwire
from kwire import messages
from kwire.messages import framing

COLUMNS = (
    "backend string, client_id string, outcome string, produced int,"
    " fetched map<string,int>"
)
SCHEMA = pa.schema(
    [
        ("backend", pa.string()),
        ("client_id", pa.string()),
        ("outcome", pa.string()),
        ("produced", pa.int32()),
        ("fetched", pa.map_(pa.string(), pa.int32())),
    ]
)
SAME, ODD = "same", "odd"

UNSUPPORTED_VERSION = b"\x00\x23"
ODD_METADATA = 9
ALL_TOPICS = b"\0\0\0\0\x01\0\0"

# Base offset, length of the remaining batch, leader epoch, magic, CRC, attributes, 34
# bytes with offset delta, timestamps and producer fields, record count.
BATCH_HEADER = struct.Struct(">qiibIh34xi")
LENGTH_END = 12
CONTROL = 0x20
BYTES_SHOWN = 12


class Frame(NamedTuple):
    """Columns of a capture row that the checks require."""

    direction: str
    api_key: int
    api_version: int
    client_id: str | None
    sequence: int
    frame: bytes

    @property
    def title(self) -> str:
        """Description of the frame: its message, version and sequence number."""
        name = messages.by_key(self.api_key, self.direction).__name__
        return f"{name} v{self.api_version}, frame {self.sequence}"


def check(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield a row for every frame, with the outcome and the number of its records.

    * ``outcome``: "same", "odd", or a description of the error.
    * ``produced``: number of records in a Produce request.
    * ``fetched``: numbers of records in a Fetch response by batch position.
    """
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in Frame._fields)
        rows = []
        for values in zip(*columns, strict=True):
            frame = Frame(*values)
            outcome, message = round_trip(frame)
            produced, fetched = 0, {}
            if isinstance(message, messages.ProduceRequest):
                produced = sum(count for _, count in produced_batches(message))
            elif isinstance(message, messages.FetchResponse):
                fetched = dict(fetched_batches(message))
            pairs = list(fetched.items())
            rows.append((kwire.backend, frame.client_id, outcome, produced, pairs))
        arrays = map(pa.array, zip(*rows, strict=True), SCHEMA.types)
        yield pa.RecordBatch.from_arrays(list(arrays), schema=SCHEMA)


def round_trip(frame: Frame):
    """Decode a frame and encode it again.

    Returns the outcome, and the message or None if the frame cannot be decoded.
    """
    if is_odd(frame):
        return ODD, None
    version, data = frame.api_version, frame.frame
    try:
        if frame.direction == "request":
            header, message = framing.decode_request(data)
            again = framing.encode_request(
                message, version, header.correlation_id, frame.client_id
            )
        else:
            cls = messages.by_key(frame.api_key, "response")
            correlation_id, message = framing.decode_response(cls, data, version)
            again = framing.encode_response(message, version, correlation_id)
    except kwire.KwireError as error:
        return f"{frame.title}: {error}", None
    again = again[4:]
    if again == data:
        return SAME, message
    pairs = enumerate(zip(data, again, strict=False))
    place = next((at for at, (one, other) in pairs if one != other), len(again))
    before = data[max(0, place - BYTES_SHOWN) : place + BYTES_SHOWN].hex(" ")
    return f"{frame.title}: encoded again it differs at byte {place}: {before}", message


def is_odd(frame: Frame) -> bool:
    """Return whether a frame contains a known protocol violation.

    The mock cluster answers an unknown version of ApiVersions with error 35, followed
    by a body that does not match any version. Since Metadata version 9, its responses
    contain an additional byte for every topic, and librdkafka's requests for all topics
    contain four bytes instead of one.
    """
    if frame.api_key == messages.MetadataRequest.api_key:
        if frame.direction == "request":
            body = frame.frame[-len(ALL_TOPICS) :]
            return frame.api_version >= ODD_METADATA and body == ALL_TOPICS
        return frame.api_version >= ODD_METADATA
    is_versions = frame.api_key == messages.ApiVersionsRequest.api_key
    is_refused = is_versions and frame.api_version > 0 and frame.direction == "response"
    return is_refused and frame.frame[4:6] == UNSUPPORTED_VERSION


def produced_batches(request) -> Iterator[tuple[int, int]]:
    """Yield (base offset, record count) for every batch in a Produce request."""
    for topic in request.topic_data:
        for partition in topic.partition_data:
            yield from record_batches(partition.records)


def fetched_batches(response) -> Iterator[tuple[str, int]]:
    """Yield (log position, record count) for every batch in a Fetch response.

    If a batch is fetched several times, its log position is the same each time.
    """
    for answer in response.responses:
        topic = answer.topic or answer.topic_id
        for partition in answer.partitions:
            for base_offset, count in record_batches(partition.records):
                yield f"{topic}-{partition.partition_index}:{base_offset}", count


def record_batches(records: bytes | None) -> Iterator[tuple[int, int]]:
    """Yield (base offset, record count) for every complete batch, from its header.

    Control batches mark the end of a transaction. They are skipped, because they
    contain no messages.
    """
    records = records or b""
    position = 0
    while len(records) - position >= BATCH_HEADER.size:
        base_offset, length, _, magic, _, attributes, count = BATCH_HEADER.unpack_from(
            records, position
        )
        position += LENGTH_END + length
        if position > len(records):
            return  # a Fetch response may contain an incomplete last batch
        if magic != 2:
            raise ValueError(f"a record batch of magic {magic}, expected 2")
        if not attributes & CONTROL:
            yield base_offset, count
