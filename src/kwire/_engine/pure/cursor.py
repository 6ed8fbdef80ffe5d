# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read cursor: a position in the input, the end of the input, and the bounds check.

Every read first calls ``require``, which compares the requested byte count with the
remaining byte count, before the position changes. This file reads only integers and
varints. ``primitives.py`` reads the other types, ``decoder.py`` reads fields.

Twin: ``fast/cursor.pxd``. Differs from its twin in: the position is an offset instead
of a pointer, and an error is a ``CursorFault`` exception instead of a fault code in the
cursor.
"""

from __future__ import annotations

from ... import errors

NO_LIMIT = float("inf")


class CursorFault(Exception):
    """Error at a position in the input, which never leaves the engine.

    ``code`` is a fault code from ``errors.py``, ``offset`` is in bytes, and ``detail``
    is a number that the error message needs. Public functions convert the fault to a
    ``DecodeError``.
    """

    def __init__(self, code: int, offset: int, detail: int = 0) -> None:
        self.code = code
        self.offset = offset
        self.detail = detail


class Cursor:
    """Position ``at`` in ``data``, which may be read up to ``end`` (both in bytes).

    * ``lenient``: accept the same invalid input as Kafka's own classes.
    * ``zero_copy``: return memoryviews of ``data`` for bytes fields.
    * ``path``: names and indexes that lead to the current field.
    * ``max_elements``: maximum number of elements in an array.
    * ``max_tags``: maximum number of tagged fields in a tag section.
    """

    __slots__ = (
        "at",
        "data",
        "end",
        "lenient",
        "max_elements",
        "max_tags",
        "path",
        "zero_copy",
    )

    def __init__(
        self,
        data: bytes | memoryview,
        at: int,
        end: int,
        zero_copy: bool = False,
        lenient: bool = False,
        max_elements: float = NO_LIMIT,
        max_tags: float = NO_LIMIT,
    ) -> None:
        self.data = data
        self.at = at
        self.end = end
        self.zero_copy = zero_copy
        self.lenient = lenient
        self.max_elements = max_elements
        self.max_tags = max_tags
        self.path: list[str | int] = []


def require(cursor: Cursor, size: int) -> None:
    """Check that ``size`` bytes remain. This is the only bounds check of the cursor.

    The fault offset is the end of the input.
    """
    if size > cursor.end - cursor.at:
        raise CursorFault(errors.TRUNCATED, cursor.end, size - (cursor.end - cursor.at))


def read_uint8(cursor: Cursor) -> int:
    """Read one unsigned byte."""
    require(cursor, 1)
    value = cursor.data[cursor.at]
    cursor.at += 1
    return value


def read_int16(cursor: Cursor) -> int:
    """Read a big-endian int16."""
    require(cursor, 2)
    value = int.from_bytes(cursor.data[cursor.at : cursor.at + 2], "big", signed=True)
    cursor.at += 2
    return value


def read_int32(cursor: Cursor) -> int:
    """Read a big-endian int32."""
    require(cursor, 4)
    value = int.from_bytes(cursor.data[cursor.at : cursor.at + 4], "big", signed=True)
    cursor.at += 4
    return value


def read_unsigned_varint(cursor: Cursor) -> int:
    """Read an UNSIGNED_VARINT: 1 to 5 bytes with 7 bits each, lowest bits first.

    A value with more than 32 bits is an error at its first byte. Kafka's reader
    silently ignores the bits of a fifth byte above 0x0f, and a lenient cursor does the
    same. If the fifth byte is not the last one, both report an error.

    This function is the reference implementation. Hot loops contain copies of it:
    ``bulk.read_ints``, ``record_walk.take_raw``,
    ``record_fast_lane._read_long_varint``, ``emitter.compact_length``.

    Source: ``ByteUtils.readUnsignedVarint``.
    """
    start = cursor.at
    value = 0
    for shift in (0, 7, 14, 21):
        byte = read_uint8(cursor)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
    byte = read_uint8(cursor)
    if byte > 0x0F and (byte >= 0x80 or not cursor.lenient):
        raise CursorFault(errors.BAD_VARINT, start)
    return value | (byte & 0x0F) << 28


def read_unsigned_varlong(cursor: Cursor) -> int:
    """Read an unsigned varint with up to 64 bits: 1 to 10 bytes.

    A value with more than 64 bits is an error at its first byte.

    Source: ``ByteUtils.readUnsignedVarlong``.
    """
    start = cursor.at
    value = 0
    for shift in range(0, 63, 7):
        byte = read_uint8(cursor)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
    byte = read_uint8(cursor)
    if byte > 0x01:
        raise CursorFault(errors.BAD_VARLONG, start)
    return value | byte << 63
