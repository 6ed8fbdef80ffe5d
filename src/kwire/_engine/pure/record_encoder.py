# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes rows as a record batch, or as magic 0 or 1 messages.

``rows.py`` reads and checks the rows. ``records/options.py`` checks which options a
format supports.

Twin: ``fast/record_encoder.pyx``. Differs from its twin in: errors are exceptions, and
``record_fast_lane.py`` is called first to write rows without errors.

Only in Python: ``write_records``, ``encode_record``, ``join_batch``,
``encode_message``.
"""

from __future__ import annotations

import struct

from ... import errors
from ...schema.batch_layout import (
    BATCH_OVERHEAD,
    CODEC_MASK,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MESSAGE_OVERHEADS,
)
from .batches import wrap_int64
from .checksums import crc32, crc32c
from .record_fast_lane import try_write_records
from .rows import (
    LARGEST,
    check_no_headers,
    classes,
    encode_headers,
    make_encode_failure,
    split,
    varint,
)
from .writer import ValueFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..record_types import BatchHeader, Compress, RecordLikes

_BATCH_HEAD = struct.Struct(">qii")
_BATCH_REST = struct.Struct(">hiqqqhii")


def encode_batch(
    rows: RecordLikes, header: BatchHeader, compress: Compress | None = None
) -> bytes:
    """Encode a magic 2 batch.

    ``header`` contains the fields that do not follow from the rows. The size, the
    checksum and the record count are computed. Other fields are computed as follows:

    * last offset: the last row's offset, or the one in ``header`` if it is greater.
      Compaction preserves the last offset of a batch whose last records it removes.
    * base timestamp: the first row's timestamp, unless the batch has a delete horizon.
    * max timestamp: the maximum timestamp in the rows, unless there are none or the
      timestamp type is LogAppendTime.

    ``compress`` is a function that compresses the record bytes.

    Shape: see ``read_entry`` and ``read_records``. Raises ``EncodeError`` if a row
    cannot be encoded. The error path contains the row.

    Source: ``DefaultRecord.writeTo``, ``DefaultRecordBatch``.
    """
    check_base(header)
    written = try_write_records(rows, header, classes["record"])
    if written is None:
        written = write_records(rows, header)
    payload, base_timestamp, largest, last = written
    numbers = base_timestamp, largest, last, len(rows)
    return join_batch(header, payload, compress, *numbers)


def join_batch(
    header: BatchHeader,
    payload: bytes,
    compress: Compress | None,
    base_timestamp: int,
    largest: int,
    last: int,
    count: int,
) -> bytes:
    """Return a magic 2 batch: its header, and the records in ``payload``.

    * ``compress``: function that compresses the records, or None.
    * ``base_timestamp``, ``largest``: base timestamp and maximum timestamp in ms.
    * ``last``: offset of the last row.
    * ``count``: number of records.

    The maximum timestamp of ``header`` is used if there are no records, or if the
    timestamp type is LogAppendTime.
    """
    if compress is not None:
        payload = compress(payload)
        if len(payload) > LARGEST - BATCH_OVERHEAD:
            raise errors.encode_failure(errors.TOO_LARGE, "", None, "records")
    if header.attributes & LOG_APPEND_TIME or not count:
        largest = header.max_timestamp
    rest = _BATCH_REST.pack(
        header.attributes,
        max(header.last_offset, last) - header.base_offset,
        base_timestamp,
        largest,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        count,
    )
    size = BATCH_OVERHEAD - LOG_OVERHEAD + len(payload)
    crc = crc32c(payload, crc32c(rest))
    head = _BATCH_HEAD.pack(header.base_offset, size, header.partition_leader_epoch)
    return b"".join((head, b"\2", crc.to_bytes(4, "big"), rest, payload))


def write_records(
    rows: RecordLikes, header: BatchHeader
) -> tuple[bytes, int, int, int]:
    """Write the records of a batch, and check each field.

    Returns the bytes, the base timestamp, the max timestamp, and the last offset.
    """
    base_offset = header.base_offset
    path: list[str | int] = ["records"]
    base_timestamp = largest = -1
    if header.attributes & DELETE_HORIZON:
        base_timestamp = header.base_timestamp
    previous = base_offset - 1
    parts: list[bytes] = []
    size = 0
    try:
        for index, row in enumerate(rows):
            path[1:] = (index,)
            offset, timestamp, key, value, headers = split(row, previous + 1, path)
            if not previous < offset <= base_offset + LARGEST:
                path.append("offset")
                words = f"an offset from {previous + 1} to {base_offset + LARGEST}"
                raise ValueFault(errors.OUT_OF_RANGE, offset, words)
            previous = offset
            if index == 0 and not header.attributes & DELETE_HORIZON:
                base_timestamp = timestamp
            largest = max(largest, timestamp)
            place = timestamp - base_timestamp, offset - base_offset
            parts.append(encode_record(*place, key, value, headers, path))
            size += len(parts[-1])
            if size > LARGEST - BATCH_OVERHEAD:
                raise ValueFault(errors.TOO_LARGE, row)
    except ValueFault as fault:
        failure = make_encode_failure(fault, path)
    else:
        return b"".join(parts), base_timestamp, largest, previous
    raise failure


def encode_record(
    timestamp_delta: int,
    offset_delta: int,
    key: bytes | None,
    value: bytes | None,
    headers: tuple[Any, ...],
    path: list[str | int],
) -> bytes:
    """Encode one magic 2 record. The caller must have checked its fields."""
    delta = wrap_int64(timestamp_delta)
    body = b"".join(
        (
            b"\0",
            varint((delta << 1) ^ (delta >> 63)),
            varint(offset_delta << 1),
            b"\1" if key is None else varint(len(key) << 1),
            key or b"",
            b"\1" if value is None else varint(len(value) << 1),
            value or b"",
            encode_headers(headers, path) if headers else b"\0",
        )
    )
    return varint(len(body) << 1) + body


def check_base(header: BatchHeader) -> None:
    """Raise ``EncodeError`` if the base offset of a header is negative."""
    if header.base_offset < 0:
        raise errors.EncodeError("expected an int64 from 0", "base_offset")


def encode_messages(
    rows: RecordLikes, header: BatchHeader, compress: Compress | None = None
) -> bytes:
    """Encode magic 0 or 1 messages: each separately, or all in one wrapper message.

    With ``compress``, the messages are compressed together in a wrapper message. For
    magic 1, the offsets inside are relative, beginning at 0. The wrapper has the offset
    of the last message, and their max timestamp unless the timestamp type is
    LogAppendTime.

    Shape: see ``read_entry`` and ``read_message``. Raises ``EncodeError`` if a row
    cannot be encoded. The error path contains the row.

    Source: ``LegacyRecord.write``, ``MemoryRecordsBuilder``.
    """
    check_base(header)
    magic = header.magic
    path: list[str | int] = ["records"]
    previous = header.base_offset - 1
    largest = -1
    base = header.base_offset if magic and compress is not None else 0
    attributes = header.attributes & ~CODEC_MASK
    parts = []
    size = 0
    try:
        for index, row in enumerate(rows):
            path[1:] = (index,)
            offset, timestamp, key, value, headers = split(row, previous + 1, path)
            check_no_headers(headers, path)
            if not previous < offset < 2**63:
                path.append("offset")
                words = f"an offset of at least {previous + 1}"
                raise ValueFault(errors.OUT_OF_RANGE, offset, words)
            previous = offset
            if magic == 0:
                timestamp = -1
            elif attributes & LOG_APPEND_TIME:
                timestamp = header.max_timestamp
            largest = max(largest, timestamp)
            place = (offset - base, timestamp, attributes)
            parts.append(encode_message(magic, *place, key, value))
            size += len(parts[-1])
            if size > LARGEST - LOG_OVERHEAD - MESSAGE_OVERHEADS[1]:
                raise ValueFault(errors.TOO_LARGE, row)
    except ValueFault as fault:
        failure = make_encode_failure(fault, path)
    else:
        payload = b"".join(parts)
        if compress is None:
            return payload
        payload = compress(payload)
        if len(payload) > LARGEST - LOG_OVERHEAD - MESSAGE_OVERHEADS[1]:
            raise errors.encode_failure(errors.TOO_LARGE, "", None, "records")
        place = (previous, largest, header.attributes)
        return encode_message(magic, *place, None, payload)
    raise failure


def encode_message(
    magic: int,
    offset: int,
    timestamp: int,
    attributes: int,
    key: bytes | None,
    value: bytes | None,
) -> bytes:
    """Encode one magic 0 or 1 message."""
    head = (magic, attributes, timestamp) if magic else (magic, attributes)
    body = b"".join(
        (
            struct.pack(">bbq" if magic else ">bb", *head),
            (-1 if key is None else len(key)).to_bytes(4, "big", signed=True),
            key or b"",
            (-1 if value is None else len(value)).to_bytes(4, "big", signed=True),
            value or b"",
        )
    )
    return struct.pack(">qiI", offset, 4 + len(body), crc32(body)) + body
