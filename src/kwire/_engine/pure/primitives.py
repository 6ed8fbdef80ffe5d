# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Primitive types of the protocol, each with a reader and a writer.

A reader takes a ``Cursor`` and returns a value. A writer takes a ``Writer`` and a
value, which it checks. ``compact`` selects the encoding of a length: in flexible
versions an unsigned varint of n + 1 (0 for null), otherwise an int16 or int32 (-1 for
null). The fields of messages are handled in ``decoder.py`` and ``encoder.py``.

Twin: ``fast/primitives.pxd``. Differs from its twin in: errors are exceptions.

Only in Python: ``read_fixed_array``, ``make_uuid``, ``write_count``, ``check_null``.
"""

from __future__ import annotations

import math
import operator
import struct

from ... import errors
from ...schema import plan
from ..java_utf8 import HANDLER
from .cursor import (
    Cursor,
    CursorFault,
    read_int16,
    read_int32,
    read_unsigned_varint,
    require,
)
from .writer import ValueFault, Writer, write_unsigned_varint

LARGEST = 2**31 - 2
"""Maximum number of bytes or elements that both encodings of a length can represent."""

_FORMATS = {
    plan.BOOL: "?",
    plan.INT8: "b",
    plan.INT16: "h",
    plan.UINT16: "H",
    plan.INT32: "i",
    plan.UINT32: "I",
    plan.INT64: "q",
    plan.FLOAT64: "d",
    plan.UUID: "16s",
}


def read_length(cursor: Cursor, compact: bool, classic_size: int) -> int:
    """Read the length of a string, bytes or array. -1 means null.

    Shape: UNSIGNED_VARINT (n + 1), or INT16/INT32 of ``classic_size`` bytes. Any other
    negative length is an error at its first byte. A lenient cursor treats it as null.
    """
    start = cursor.at
    if compact:
        length = read_unsigned_varint(cursor) - 1
        if length > LARGEST + 1 and cursor.lenient:
            return -1
        return length
    length = read_int16(cursor) if classic_size == 2 else read_int32(cursor)
    if length < -1:
        if not cursor.lenient:
            raise CursorFault(errors.BAD_LENGTH, start, length)
        return -1
    return length


def read_string(cursor: Cursor, compact: bool, nullable: bool) -> str | None:
    """Read a STRING or COMPACT_STRING. The result is None for null.

    Null is an error unless ``nullable``. A length over 32767 bytes is an error at the
    length, and invalid UTF-8 is an error at the first invalid byte. Kafka's reader
    replaces invalid UTF-8, and a lenient cursor does the same.
    """
    start = cursor.at
    size = read_length(cursor, compact, 2)
    if size < 0:
        if not nullable:
            raise CursorFault(errors.UNEXPECTED_NULL, start)
        return None
    if size > plan.LONGEST_STRING:
        raise CursorFault(errors.STRING_TOO_LONG, start, size)
    require(cursor, size)
    raw = bytes(cursor.data[cursor.at : cursor.at + size])
    try:
        text = raw.decode("utf-8", HANDLER if cursor.lenient else "strict")
    except UnicodeDecodeError as error:
        raise CursorFault(errors.BAD_UTF8, cursor.at + error.start) from None
    cursor.at += size
    return text


def read_bytes(
    cursor: Cursor, compact: bool, nullable: bool
) -> bytes | memoryview | None:
    """Read BYTES, COMPACT_BYTES or RECORDS. Null is an error unless ``nullable``."""
    start = cursor.at
    size = read_length(cursor, compact, 4)
    if size < 0:
        if not nullable:
            raise CursorFault(errors.UNEXPECTED_NULL, start)
        return None
    require(cursor, size)
    value = cursor.data[cursor.at : cursor.at + size]
    cursor.at += size
    if cursor.zero_copy:
        return value
    return bytes(value)


def read_fixed(cursor: Cursor, code: int) -> object:
    """Read one integer, BOOLEAN, FLOAT64 or UUID."""
    size = plan.SIZES[code]
    require(cursor, size)
    raw = bytes(cursor.data[cursor.at : cursor.at + size])
    cursor.at += size
    if code == plan.UUID:
        return make_uuid(raw)
    return struct.unpack(f">{_FORMATS[code]}", raw)[0]


def read_fixed_array(cursor: Cursor, code: int, count: int) -> tuple[object, ...]:
    """Read the elements of an array, which have a fixed size.

    ``read_count`` must have checked that the input contains ``count`` elements.
    """
    start = cursor.at
    cursor.at += count * plan.SIZES[code]
    raw = bytes(cursor.data[start : cursor.at])
    return struct.unpack(f">{count}{_FORMATS[code]}", raw)


def read_count(cursor: Cursor, compact: bool, nullable: bool, least: int) -> int:
    """Read the count of an array whose elements have at least ``least`` bytes each.

    -1 means null. The count is rejected at its first byte, before anything is
    allocated, if so many elements cannot fit into the remaining bytes, or if it exceeds
    the limit of the cursor.
    """
    start = cursor.at
    count = read_length(cursor, compact, 4)
    if count < 0:
        if not nullable:
            raise CursorFault(errors.UNEXPECTED_NULL, start)
        return -1
    if count > (cursor.end - cursor.at) // least:
        raise CursorFault(errors.BAD_COUNT, start, count)
    if count > cursor.max_elements:
        raise CursorFault(errors.TOO_MANY_ELEMENTS, start, count)
    return count


def make_uuid(raw: bytes) -> object:
    """Create a ``uuid.UUID`` from 16 bytes, most significant byte first."""
    import uuid

    made = object.__new__(uuid.UUID)
    object.__setattr__(made, "int", int.from_bytes(raw, "big"))
    object.__setattr__(made, "is_safe", uuid.SafeUUID.unknown)
    return made


def write_length(writer: Writer, length: int, compact: bool, classic_size: int) -> None:
    """Write the length of a string, bytes or array. -1 means null."""
    if compact:
        write_unsigned_varint(writer, length + 1)
    else:
        writer.out += length.to_bytes(classic_size, "big", signed=True)


def write_string(writer: Writer, value: object, compact: bool, nullable: bool) -> None:
    """Write a STRING or COMPACT_STRING of at most 32767 bytes."""
    if value is None:
        check_null(nullable)
        write_length(writer, -1, compact, 2)
        return
    if not isinstance(value, str):
        raise ValueFault(errors.WRONG_TYPE, value)
    try:
        raw = str.encode(value)  # a subclass may override the method
    except UnicodeEncodeError:
        raise ValueFault(errors.NOT_UTF8, value) from None
    if len(raw) > plan.LONGEST_STRING:
        raise ValueFault(errors.TEXT_TOO_LONG, value)
    write_length(writer, len(raw), compact, 2)
    writer.out += raw


def write_bytes(writer: Writer, value: object, compact: bool, nullable: bool) -> None:
    """Write BYTES, COMPACT_BYTES or RECORDS from a contiguous bytes-like object."""
    if value is None:
        check_null(nullable)
        write_length(writer, -1, compact, 4)
        return
    try:
        view = memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueFault(errors.WRONG_TYPE, value) from None
    except MemoryError:
        raise
    except Exception:  # a memoryview that was released, or a __buffer__ that fails
        raise ValueFault(errors.WRONG_TYPE, value, "contiguous bytes") from None
    if not view.c_contiguous:
        raise ValueFault(errors.WRONG_TYPE, value, "contiguous bytes")
    if view.nbytes > LARGEST:
        raise ValueFault(errors.TOO_LARGE, value)
    write_length(writer, view.nbytes, compact, 4)
    writer.out += view.cast("B") if view.nbytes else b""


def write_fixed(writer: Writer, code: int, value: object) -> None:
    """Write one integer, BOOLEAN, FLOAT64 or UUID."""
    if value is None:
        check_null(False)
    if code in plan.INT_RANGES:
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except MemoryError:
            raise
        except Exception:
            raise ValueFault(errors.WRONG_TYPE, value) from None
        low, high = plan.INT_RANGES[code]
        if not low <= number <= high:
            raise ValueFault(errors.OUT_OF_RANGE, value)
        writer.out += struct.pack(f">{_FORMATS[code]}", number)
    elif code == plan.BOOL:
        if value is not True and value is not False:
            raise ValueFault(errors.WRONG_TYPE, value)
        writer.out.append(value)
    elif code == plan.FLOAT64:
        try:
            # ldexp does not replace an exception of the value's __float__ method; pack
            # would.
            real = math.ldexp(value, 0)  # type: ignore[arg-type]
            writer.out += struct.pack(">d", real)
        except MemoryError:
            raise
        except Exception:
            raise ValueFault(errors.WRONG_TYPE, value) from None
    else:
        import uuid

        try:
            raw = value.int.to_bytes(16, "big") if isinstance(value, uuid.UUID) else b""
        except MemoryError:
            raise
        except Exception:  # an object that only looks like a uuid
            raw = b""
        if len(raw) != 16:
            raise ValueFault(errors.WRONG_TYPE, value)
        writer.out += raw


def write_count(writer: Writer, count: int, compact: bool) -> None:
    """Write the element count of an array."""
    if count > LARGEST:
        raise ValueFault(errors.TOO_LARGE, count)
    write_length(writer, count, compact, 4)


def check_null(nullable: bool) -> None:
    """Reject None if the field is not nullable in this version."""
    if not nullable:
        raise ValueFault(errors.NULL_NOT_ALLOWED, None)
