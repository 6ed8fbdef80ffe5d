# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fast lane of the Python engine: reads and writes valid records without a cursor.

Without a twin: the compiled engine does not need it. Each function has the same result
as functions of ``record_decoder.py``, ``legacy_records.py`` or ``record_encoder.py`` if
the input is valid. It uses slices and local variables instead of a cursor, and fills
the slots of a builder before it turns the builder into a record.

This code must not accept anything that those files reject, and must not produce a
different result. It does not determine the cause of an error: it returns None, and the
caller repeats the work with the functions that check each field.
"""

from __future__ import annotations

import struct

from ...schema.batch_layout import (
    BATCH_OVERHEAD,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MAGIC_AT,
)
from .batches import wrap_int64
from .checksums import crc32
from .rows import LARGEST, VARINTS, varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..record_types import BatchHeader, Record

_INT64 = 2**63 - 1
_LEAST_HEADER = 2
_MESSAGES = (struct.Struct(">qiIbbi"), struct.Struct(">qiIbbqi"))
"""Fields of a magic 0 or 1 message up to the length of the key."""


def try_read_records(
    data: bytes, at: int, end: int, header: BatchHeader, cls: Any
) -> tuple[Record, ...] | None:
    """Read the records of a magic 2 batch.

    Returns None if any record may be invalid. The caller then checks each field.
    """
    try:
        return _read_records(data, at, end, header, cls)
    except Exception:
        return None


def _read_records(
    data: bytes, at: int, end: int, header: BatchHeader, cls: Any
) -> tuple[Record, ...]:
    """Read records with slices only. Any exception means that the input is invalid.

    A slice at the end of ``data`` may be shorter than requested. This cannot remain
    undetected, because the position advances by the size of each field and must be
    equal to the end of each record.
    """
    builder = cls._builder
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    fixed = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    lowest, highest = -_INT64 - 1, _INT64
    records = []
    for _ in range(header.record_count):
        byte = data[at]
        at += 1
        if byte > 127:
            byte, at = _read_long_varint(data, at, byte)
        stop = at + (byte >> 1)
        if byte & 1 or stop > end:
            raise ValueError
        at += 1
        byte = data[at]
        at += 1
        if byte > 127:
            byte, at = _read_long_varint(data, at, byte, 64)
        made = builder()
        if fixed is None:
            made.timestamp = base_timestamp + (byte >> 1 ^ -(byte & 1))
        else:
            made.timestamp = fixed
        byte = data[at]
        at += 1
        if byte > 127:
            byte, at = _read_long_varint(data, at, byte)
        made.offset = base_offset + (byte >> 1 ^ -(byte & 1))
        # Both iterations read into ``value``. The second iteration first moves the key,
        # which the first iteration has read, to ``key``.
        value: bytes | None = None
        for _ in ("key", "value"):
            key = value
            byte = data[at]
            at += 1
            if byte > 127:
                byte, at = _read_long_varint(data, at, byte)
            if byte == 1:
                value = None
            elif byte & 1:
                raise ValueError
            else:
                start, at = at, at + (byte >> 1)
                value = data[start:at]
        made.key, made.value = key, value
        byte = data[at]
        at += 1
        if byte:
            if byte > 127:
                byte, at = _read_long_varint(data, at, byte)
            if byte & 1 or byte >> 1 > (stop - at) // _LEAST_HEADER:
                raise ValueError
            headers: list[tuple[str, bytes | None]] = []
            for _ in range(byte >> 1):
                byte = data[at]
                at += 1
                if byte > 127:
                    byte, at = _read_long_varint(data, at, byte)
                if byte & 1:
                    raise ValueError
                start, at = at, at + (byte >> 1)
                name = data[start:at].decode()
                byte = data[at]
                at += 1
                if byte > 127:
                    byte, at = _read_long_varint(data, at, byte)
                if byte == 1:
                    headers.append((name, None))
                elif byte & 1:
                    raise ValueError
                else:
                    start, at = at, at + (byte >> 1)
                    headers.append((name, data[start:at]))
            made.headers = tuple(headers)
        else:
            made.headers = ()
        if at != stop or not (lowest <= made.timestamp <= highest):
            raise ValueError
        if not lowest <= made.offset <= highest:
            raise ValueError
        made.__class__ = cls
        records.append(made)
    if at != end:
        raise ValueError
    return tuple(records)


def try_read_run(
    data: bytes | memoryview, header: BatchHeader, end: int, check_crc: bool, cls: Any
) -> tuple[tuple[Record, ...], int, int] | None:
    """Read similar uncompressed messages up to the first invalid one.

    Returns the records, the position after them, and their max timestamp. Returns None
    if there are no such messages.
    """
    made, place, largest = _read_messages(
        data, header.position, end, header.magic, header.attributes, check_crc, cls
    )
    for each in made:
        each.__class__ = cls
    return (tuple(made), place, largest) if made else None


def try_read_inner(
    data: bytes, header: BatchHeader, check_crc: bool, cls: Any
) -> tuple[Record, ...] | None:
    """Read the messages inside a wrapper message.

    Returns None if any message may be invalid. The caller then checks each field.
    """
    made, place, _ = _read_messages(data, 0, len(data), header.magic, 0, check_crc, cls)
    if not made or place != len(data):
        return None
    base = 0
    if header.magic and header.last_offset:
        base = header.last_offset - made[-1].offset
        if base < 0:
            return None
    fixed = header.magic and header.attributes & LOG_APPEND_TIME
    for each in made:
        if fixed:
            each.timestamp = header.max_timestamp
        if base:
            each.offset = wrap_int64(each.offset + base)
        each.__class__ = cls
    return tuple(made)


def _read_messages(
    data: bytes | memoryview,
    at: int,
    end: int,
    magic: int,
    wanted: int,
    check_crc: bool,
    cls: Any,
) -> tuple[list[Any], int, int]:
    """Read messages with the given magic and attributes up to the first invalid one.

    Returns the messages, the position after them, and their max timestamp. The slots of
    the messages are filled, but they still have the builder class.
    """
    builder = cls._builder
    unpack, before_key = _MESSAGES[magic].unpack_from, _MESSAGES[magic].size
    made: list[Any] = []
    largest = timestamp = -1
    while end - at >= before_key:
        if magic:
            offset, size, crc, found, attributes, timestamp, length = unpack(data, at)
        else:
            offset, size, crc, found, attributes, length = unpack(data, at)
        stop = at + LOG_OVERHEAD + size
        if found != magic or attributes != wanted or stop > end or length < -1:
            break
        if check_crc and crc32(data[at + MAGIC_AT : stop]) != crc:
            break
        place = at + before_key
        each = builder()
        if length < 0:
            each.key = None
        else:
            each.key = bytes(data[place : place + length])
            place += length
        if stop - place < 4:
            break
        length = int.from_bytes(data[place : place + 4], "big", signed=True)
        place += 4
        if length < 0:
            each.value = None
        else:
            each.value = bytes(data[place : place + length])
            place += length
        if place != stop or length < -1:
            break
        each.offset = offset
        each.timestamp = timestamp
        each.headers = ()
        made.append(each)
        if timestamp > largest or len(made) == 1:
            largest = timestamp
        at = stop
    return made, at, largest


def _read_long_varint(
    data: bytes, at: int, byte: int, bits: int = 32
) -> tuple[int, int]:
    """Read the remaining bytes of a varint. Any exception means that it is invalid."""
    value = byte & 0x7F
    for shift in range(7, bits + 3, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 128:
            if value >> bits:
                break
            return value, at
    raise ValueError


def try_write_records(
    rows: Any, header: BatchHeader, cls: Any
) -> tuple[bytes, int, int, int] | None:
    """Write the rows of a magic 2 batch.

    Returns the bytes, the base timestamp, the max timestamp, and the last offset.
    Returns None if any row may be invalid. The caller then checks each field.
    """
    base_offset = header.base_offset
    lowest, highest = -_INT64 - 1, _INT64
    previous = base_offset - 1
    most = min(base_offset + LARGEST, highest)
    largest = -1
    base_timestamp = None
    if header.attributes & DELETE_HORIZON:
        base_timestamp = header.base_timestamp
    parts: list[bytes] = []
    push = parts.append
    known, short = VARINTS, len(VARINTS)
    timestamp: Any
    headers: Any
    pairs: bytes | None
    size = 0
    for row in rows:
        timestamp, offset, headers = -1, previous + 1, ()
        if type(row) is cls:
            key, value, headers = row.key, row.value, row.headers
            timestamp, offset = row.timestamp, row.offset
        elif type(row) is not tuple:
            return None
        elif len(row) == 3:
            key, value, timestamp = row
        elif len(row) == 4:
            key, value, timestamp, headers = row
        elif len(row) == 2:
            key, value = row
        else:
            return None
        if timestamp is None:
            timestamp = -1
        if type(timestamp) is not int or type(offset) is not int:
            return None
        if base_timestamp is None:
            base_timestamp = timestamp
        delta = timestamp - base_timestamp
        if not (-1 <= timestamp <= highest and lowest <= delta <= highest):
            return None
        if not previous < offset <= most:
            return None
        previous = offset
        if timestamp > largest:
            largest = timestamp
        raw = (delta << 1) ^ (delta >> 63)
        stamp = known[raw] if raw < short else varint(raw)
        raw = (offset - base_offset) << 1
        place = known[raw] if raw < short else varint(raw)
        if type(key) is bytes:
            raw = len(key) << 1
            key_size = known[raw] if raw < short else varint(raw)
        elif key is None:
            key, key_size = b"", b"\1"
        else:
            return None
        if type(value) is bytes:
            raw = len(value) << 1
            value_size = known[raw] if raw < short else varint(raw)
        elif value is None:
            value, value_size = b"", b"\1"
        else:
            return None
        pairs = b"\0"
        if headers or type(headers) is not tuple:
            pairs = _encode_headers(headers)
            if pairs is None:
                return None
        # Collect the parts, so that values are copied only once, by the final join.
        length = 1 + len(stamp) + len(place) + len(key_size) + len(key)
        length += len(value_size) + len(value) + len(pairs)
        raw = length << 1
        push(known[raw] if raw < short else varint(raw))
        parts += (b"\0", stamp, place, key_size, key, value_size, value, pairs)
        size += length + 5
    if size > LARGEST - BATCH_OVERHEAD:
        return None
    return (
        b"".join(parts),
        -1 if base_timestamp is None else base_timestamp,
        largest,
        previous,
    )


def _encode_headers(headers: Any) -> bytes | None:
    """Encode record headers.

    Returns None unless each header is a pair of a str and of bytes or None.
    """
    known, short = VARINTS, len(VARINTS)
    if type(headers) is not tuple and type(headers) is not list:
        return None
    try:
        raw = len(headers) << 1
        parts = [varint(raw)]
        for name, value in headers:
            text = str.encode(name)
            raw = len(text) << 1
            parts.append(known[raw] if raw < short else varint(raw))
            parts.append(text)
            if value is None:
                parts.append(b"\1")
            elif type(value) is bytes and type(name) is str:
                raw = len(value) << 1
                parts.append(known[raw] if raw < short else varint(raw))
                parts.append(value)
            else:
                return None
    except (TypeError, ValueError, AttributeError):
        return None
    return b"".join(parts)
