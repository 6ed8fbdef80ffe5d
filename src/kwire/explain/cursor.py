# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``MapCursor``: reads one value per call and tracks the path of the current field.

It performs the same checks as the engines, in the same order, so that the error in a
byte map is identical to the error that decoding raises. The active engine decodes
varints through ``wire``. ``spans.py`` records the values.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any

from .. import errors
from ..errors import DecodeError
from ..messages import wire
from ..schema import plan

if TYPE_CHECKING:
    from collections.abc import Callable

_FIXED = {
    plan.BOOL: Struct(">?"),
    plan.INT8: Struct(">b"),
    plan.INT16: Struct(">h"),
    plan.UINT16: Struct(">H"),
    plan.INT32: Struct(">i"),
    plan.UINT32: Struct(">I"),
    plan.INT64: Struct(">q"),
    plan.FLOAT64: Struct(">d"),
}
_VARINT_BYTES = 5
_VARLONG_BYTES = 10


class MapCursor:
    """Read position in an input.

    * ``data``: the whole input.
    * ``at``: byte position of the next value.
    * ``end``: byte position at which reading must stop.
    * ``path``: names and indexes that lead to the current field.
    * ``subject``: message name and version for error messages.

    All read methods raise ``DecodeError`` if the value at ``at`` is invalid.
    """

    __slots__ = ("at", "data", "end", "path", "subject")

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data = data
        self.at = at
        self.end = end
        self.path: list[str | int] = []
        self.subject: tuple[str, int | None] = "", None

    def failure(self, fault: int, offset: int, detail: int = 0) -> DecodeError:
        """Create the exception for an error in the current field.

        ``fault`` is an error code from ``errors.py``. ``offset`` is the byte position
        of the error, and ``detail`` is an additional number for the message.
        """
        return errors.decode_failure(
            fault, detail, offset, self.format_path(), *self.subject
        )

    def format_path(self) -> str:
        """Format the path of the current field: ``topics[3].name``."""
        text = ""
        for name in self.path:
            text = join_path(text, f"[{name}]" if isinstance(name, int) else name)
        return text

    def require(self, size: int) -> None:
        """Raise an error if the remaining input is smaller than ``size`` bytes."""
        remaining = self.end - self.at
        if size > remaining:
            raise self.failure(errors.TRUNCATED, self.end, size - remaining)

    def check_end(self) -> None:
        """Raise an error if bytes remain after the current position."""
        if self.at != self.end:
            raise self.failure(errors.TRAILING_BYTES, self.at, self.end - self.at)

    def read_raw(self, size: int) -> bytes:
        """Return the following ``size`` bytes and advance the position."""
        self.require(size)
        self.at += size
        return self.data[self.at - size : self.at]

    def read_fixed(self, code: int) -> Any:
        """Decode a fixed-size value at the current position."""
        if code == plan.UUID:
            return wire.decode_uuid(self.read_raw(plan.SIZES[code]))[0]
        return _FIXED[code].unpack(self.read_raw(plan.SIZES[code]))[0]

    def read_unsigned_varint(self) -> int:
        """Decode an UNSIGNED_VARINT at the current position."""
        return self._read_varint(wire.decode_unsigned_varint, _VARINT_BYTES)

    def read_varint(self) -> int:
        """Decode a VARINT at the current position."""
        return self._read_varint(wire.decode_varint, _VARINT_BYTES)

    def read_varlong(self) -> int:
        """Decode a VARLONG at the current position."""
        return self._read_varint(wire.decode_varlong, _VARLONG_BYTES)

    def _read_varint(
        self, decode: Callable[[bytes], tuple[int, int]], longest: int
    ) -> int:
        try:
            value, size = decode(self.data[self.at : min(self.at + longest, self.end)])
        except DecodeError as error:
            location = self.at + error.offset, self.format_path()
            raise type(error)(error.reason, *location, *self.subject) from None
        self.at += size
        return value

    def read_length(self, compact: bool, code: int) -> int:
        """Decode a length or count. The result is -1 if the value is null.

        If ``compact`` is true, the encoding is an unsigned varint. Otherwise, it is an
        integer with type ``code``.
        """
        if compact:
            return self.read_unsigned_varint() - 1
        start = self.at
        return self.check_length(start, self.read_fixed(code))

    def check_length(self, start: int, length: int) -> int:
        """Return a length from position ``start``. Raise an error if it is below -1."""
        if length < -1:
            raise self.failure(errors.BAD_LENGTH, start, length)
        return length

    def read_count(self, compact: bool, nullable: bool, least: int) -> int:
        """Decode an array count. The result is -1 if the array is null.

        ``least`` is the minimum size of an element in bytes. A count for which the
        remaining input is too short is an error.
        """
        start = self.at
        count = self.read_length(compact, plan.INT32)
        if count < 0 and not nullable:
            raise self.failure(errors.UNEXPECTED_NULL, start)
        if count > (self.end - self.at) // least:
            raise self.failure(errors.BAD_COUNT, start, count)
        return count

    def read_string(self, compact: bool, nullable: bool) -> str | None:
        """Decode a STRING or COMPACT_STRING. Returns None if the value is null."""
        start = self.at
        length = self.read_length(compact, plan.INT16)
        if length < 0:
            self._check_null(start, nullable)
            return None
        if length > plan.LONGEST_STRING:
            raise self.failure(errors.STRING_TOO_LONG, start, length)
        return self.decode_text(self.read_raw(length))

    def decode_text(self, raw: bytes) -> str:
        """Decode the previously read bytes as UTF-8."""
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            error_position = self.at - len(raw) + error.start
            raise self.failure(errors.BAD_UTF8, error_position) from None

    def read_bytes(self, compact: bool, nullable: bool) -> bytes | None:
        """Decode BYTES, COMPACT_BYTES or RECORDS. Returns None if the value is null."""
        start = self.at
        length = self.read_length(compact, plan.INT32)
        if length < 0:
            self._check_null(start, nullable)
            return None
        return self.read_raw(length)

    def _check_null(self, start: int, nullable: bool) -> None:
        if not nullable:
            raise self.failure(errors.UNEXPECTED_NULL, start)

    def read_sized(self) -> bytes | None:
        """Read bytes with a VARINT length, as in records.

        Returns None if the length is -1.
        """
        start = self.at
        length = self.check_length(start, self.read_varint())
        return None if length < 0 else self.read_raw(length)


def join_path(path: str, more: str) -> str:
    """Concatenate a field path and a relative path below this field."""
    return f"{path}.{more}" if path and more and more[0] != "[" else path + more
