# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes the records of a magic 2 batch into objects.

The input is an entry that ``batches.py`` has validated, or its decompressed records.
The offset of an error in an uncompressed batch is its position in the input. For a
compressed batch it is the first byte of the batch, because the decompressed bytes have
no position in the input.

A length below -1 is an error, although Kafka treats it as null. ``legacy_records.py``
decodes magic 0 and 1 messages.

Twin: ``fast/record_decoder.pyx``. Differs from its twin in: errors are exceptions, and
``record_fast_lane.py`` is called first to read records without errors.
"""

from __future__ import annotations

from ... import errors
from ...schema.batch_layout import (
    BATCH_OVERHEAD,
    LEAST_RECORD,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MESSAGE_OVERHEADS,
)
from .batches import wrap_int64
from .cursor import (
    Cursor,
    CursorFault,
    read_uint8,
    read_unsigned_varint,
    read_unsigned_varlong,
    require,
)
from .path import format_path
from .record_fast_lane import try_read_records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ..record_types import BatchHeader, Record

_LEAST_HEADER = 2

classes: dict[str, type[Record]] = {}


def bind_record(cls: type[Record]) -> None:
    """Set the class of records.

    The engine cannot import it, because the module of the class imports the engine.
    """
    classes["record"] = cls


def read_records(
    data: Buffer,
    header: BatchHeader,
    *,
    compressed: bool = False,
    replace: bool = False,
) -> tuple[Record, ...]:
    """Read the records of a magic 2 batch.

    * ``data``: the input to which ``header.position`` refers. If ``compressed`` is
      True, the decompressed records.
    * ``replace``: replace invalid UTF-8 in header keys by U+FFFD instead of raising.

    Shape: ``header.record_count`` times: length VARINT, attributes INT8, timestamp
    delta VARLONG, offset delta VARINT, key and value each as VARINT length (-1 is null)
    and bytes, header count VARINT, then for each header: VARINT length and key in
    UTF-8, VARINT length (-1 is null) and value.

    Units: offsets and timestamps (ms) of the records are absolute.

    Raises ``DecodeError`` if a record does not end at its length, or if the records do
    not end at the end of the batch.

    Source: ``DefaultRecord.readFrom``.
    """
    start = 0 if compressed else header.position + BATCH_OVERHEAD
    with memoryview(data) as view:
        if not compressed:
            check_place(header, view.nbytes)
        stop = view.nbytes if compressed else header.position + header.size
        if type(data) is bytes:
            # A bytes object can be sliced without copying the batch first.
            body, first, last = data, start, stop
        else:
            body = bytes(view.cast("B")[start:stop]) if stop > start else b""
            first, last = 0, len(body)
    if not 0 <= header.record_count <= (last - first) // LEAST_RECORD:
        raise errors.decode_failure(
            errors.BAD_RECORD_COUNT, header.record_count, header.position, ""
        )
    done = try_read_records(body, first, last, header, classes["record"])
    if done is not None:
        return done
    cursor = Cursor(body, first, last)
    records = []
    try:
        for index in range(header.record_count):
            cursor.path[:] = ["records", index]
            records.append(read_record(cursor, header, replace))
        cursor.path.clear()
        check_end(cursor)
    except CursorFault as fault:
        fault.offset = header.position if compressed else start + fault.offset - first
        failure = make_failure(fault, cursor)
    else:
        return tuple(records)
    raise failure


def read_record(cursor: Cursor, header: BatchHeader, replace: bool) -> Record:
    """Read one magic 2 record. More records may follow it."""
    end = cursor.end
    start = cursor.at
    length = zigzag(read_unsigned_varint(cursor))
    if length < 0:
        raise CursorFault(errors.BAD_LENGTH, start, length)
    require(cursor, length)
    cursor.end = cursor.at + length
    read_uint8(cursor)
    timestamp = header.base_timestamp + zigzag(read_unsigned_varlong(cursor))
    if header.attributes & LOG_APPEND_TIME:
        timestamp = header.max_timestamp
    offset = header.base_offset + zigzag(read_unsigned_varint(cursor))
    cursor.path.append("key")
    key = read_sized(cursor)
    cursor.path[-1] = "value"
    value = read_sized(cursor)
    cursor.path[-1] = "headers"
    start = cursor.at
    count = zigzag(read_unsigned_varint(cursor))
    if not 0 <= count <= (cursor.end - cursor.at) // _LEAST_HEADER:
        raise CursorFault(errors.BAD_COUNT, start, count)
    headers = []
    for index in range(count):
        cursor.path += (index, "key")
        start = cursor.at
        name = read_sized(cursor)
        if name is None:
            raise CursorFault(errors.UNEXPECTED_NULL, start)
        text = decode_header_key(name, cursor.at, replace)
        cursor.path[-1] = "value"
        headers.append((text, read_sized(cursor)))
        del cursor.path[-2:]
    cursor.path.pop()
    check_end(cursor)
    cursor.end = end
    return classes["record"](
        offset=wrap_int64(offset),
        timestamp=wrap_int64(timestamp),
        key=key,
        value=value,
        headers=tuple(headers),
    )


def read_sized(cursor: Cursor) -> bytes | None:
    """Read a VARINT length and that number of bytes. The result is None for -1."""
    start = cursor.at
    length = zigzag(read_unsigned_varint(cursor))
    if length < -1:
        raise CursorFault(errors.BAD_LENGTH, start, length)
    if length < 0:
        return None
    require(cursor, length)
    cursor.at += length
    return bytes(cursor.data[cursor.at - length : cursor.at])


def check_place(header: BatchHeader, size: int) -> None:
    """Raise ``ValueError`` if the input does not contain the entry of a header."""
    least = BATCH_OVERHEAD
    if 0 <= header.magic < 2:
        least = LOG_OVERHEAD + MESSAGE_OVERHEADS[header.magic]
    if (
        not 0 <= header.magic <= 2
        or header.size < least
        or not 0 <= header.position <= size
        or header.size > size - header.position
    ):
        raise ValueError(
            "the header must be of a batch in this input; read it from the same bytes"
        )


def make_failure(fault: CursorFault, cursor: Cursor) -> errors.DecodeError:
    """Create the ``DecodeError`` for a fault while reading records."""
    path = format_path(cursor.path)
    return errors.decode_failure(fault.code, fault.detail, fault.offset, path)


def zigzag(raw: int) -> int:
    """Decode the zigzag encoding: 0, 1, 2, 3 mean 0, -1, 1, -2."""
    return (raw >> 1) ^ -(raw & 1)


def decode_header_key(name: bytes, end: int, replace: bool) -> str:
    """Decode a header key from UTF-8. Errors have the offset of the invalid byte."""
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        if replace:
            return name.decode(errors="replace")
        raise CursorFault(errors.BAD_UTF8, end - len(name) + error.start) from None


def check_end(cursor: Cursor) -> None:
    """Check that no bytes remain before the end of the cursor.

    Otherwise, the fault is at the first remaining byte.
    """
    if cursor.at != cursor.end:
        raise CursorFault(errors.TRAILING_BYTES, cursor.at, cursor.end - cursor.at)
