# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The read cursor: a position in the input, its end, and the one bounds check.

Every read calls ``require``, which compares the size with the bytes that are left
before the position changes. Only integers and varints are read here; other types are
read in ``primitives.py``, fields in ``decoder.py``.

Twin: ``fast/cursor.pxd``. Differs from its twin in: an offset for a pointer, and
the ``CursorFault`` exception for a noted fault code.
"""

from __future__ import annotations

from ... import errors

NO_LIMIT = float("inf")


class CursorFault(Exception):
    """A fault code of ``errors.py`` with its offset (bytes) and one number of detail.

    Never leaves the engine: the entry turns it into a ``DecodeError``.
    """

    def __init__(self, code: int, offset: int, detail: int = 0) -> None:
        self.code = code
        self.offset = offset
        self.detail = detail


class Cursor:
    """A position ``at`` in ``data``, which may be read up to ``end`` (bytes).

    ``lenient`` reads as Kafka's own classes do; ``zero_copy`` gives memoryviews for
    bytes fields; ``path`` holds the names and indexes that lead to the current field.
    ``max_elements`` and ``max_tags`` are the maximum number of elements in an array and
    of tagged fields in a section.
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
    """Check that ``size`` bytes are left. This is the only bounds check.

    The offset of the fault is the end of the input.
    """
    if size > cursor.end - cursor.at:
        raise CursorFault(errors.TRUNCATED, cursor.end, size - (cursor.end - cursor.at))


def read_uint8(cursor: Cursor) -> int:
    """Read one byte, unsigned."""
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
    """Read an UNSIGNED_VARINT: 1 to 5 bytes, 7 bits each, low bits first.

    More than 32 bits are refused at the varint's first byte. Kafka's reader drops
    the bits of a fifth byte above 0x0f in silence, and so does a lenient cursor.
    This is the reference. Hot loops have copies: ``bulk.read_ints``,
    ``record_walk.take_raw``, ``record_fast_lane._read_long_varint``,
    ``emitter.compact_length``.
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
    """Read an unsigned varint of up to 64 bits: 1 to 10 bytes.

    More than 64 bits are refused at the first byte.
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
