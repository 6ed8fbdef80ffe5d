# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Span``, ``ByteMap``, and ``SpanNotes``, which adds a span per value read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..schema import plan, registry
from ..schema.error_codes import name as error_name
from .cursor import join_path
from .guide import TYPES

if TYPE_CHECKING:
    from ..errors import DecodeError, KwireError
    from .cursor import MapCursor

KINDS = (
    "number",
    "bool",
    "text",
    "bytes",
    "uuid",
    "timestamp",
    "checksum",
    "structure",
    "unknown",
    "compressed",
    "cut",
    "damaged",
    "unread",
)
"""Supported span types.

* "structure": a size, count, tag or marker.
* "unknown": a tagged field without a schema, or fields that a newer version appends.
* "compressed": the records in a compressed batch.
* "cut": an incomplete last batch, which fetch responses can contain.
* "damaged": a damaged part of a record set.
* "unread": the bytes after an error.

The other types describe the value: "number", "bool", "text", "bytes", "uuid",
"timestamp" and "checksum".
"""


class Span(NamedTuple):
    """Range of input bytes, and the value that they encode.

    * ``position``, ``size``: in bytes.
    * ``part``: message or header that contains the bytes (``FetchResponse v12``).
    * ``path``: field path, in the same format as in errors.
    * ``owner``: path of the struct that contains the field.
    * ``type``: type name in Kafka's protocol guide.
    * ``value``: decoded value. For an array, its element count.
    * ``kind``: an element of ``KINDS``.
    * ``meaning``: explanation of the value, or None. For example, the name of an error
      code, the absolute offset for an offset delta, or the time in milliseconds for a
      timestamp.
    * ``prefix``: size in bytes of the length prefix, which is part of the span.
    """

    position: int
    size: int
    part: str
    path: str
    owner: str
    type: str
    value: object
    kind: str
    meaning: object = None
    prefix: int = 0

    @property
    def end(self) -> int:
        """Position of the first byte after the span."""
        return self.position + self.size

    @property
    def name(self) -> str:
        """Field path, relative to the struct that contains the field (``owner``)."""
        return self.path.removeprefix(self.owner).lstrip(".")


class ByteMap(NamedTuple):
    """Spans and errors of an input.

    * ``spans``: spans in the order of the input, without gaps.
    * ``error``: exception that decoding the input raises, or None.
    * ``damage``: errors in record sets inside the message. The message can be decoded
      despite these errors, because a records field is an opaque byte string.
    """

    spans: tuple[Span, ...]
    error: KwireError | None
    damage: tuple[DecodeError, ...]


KIND_OF = {
    plan.BOOL: "bool",
    plan.UUID: "uuid",
    plan.STRING: "text",
    plan.BYTES: "bytes",
    plan.RECORDS: "bytes",
}

_API_KEYS = ("api_key", "request_api_key")


class SpanNotes:
    """Adds a span for every value that a cursor reads.

    * ``root``: path of the field to which the paths of the cursor are relative.
    * ``owner``: full path of the current struct.
    """

    def __init__(
        self, cursor: MapCursor, spans: list[Span], part: str, root: str, owner: str
    ) -> None:
        self.cursor = cursor
        self.spans = spans
        self.part = part
        self.root = root
        self.owner = owner

    def format_path(self, name: str = "") -> str:
        """Format the full path of the current field, or of a field below it."""
        return join_path(join_path(self.root, self.cursor.format_path()), name)

    def note(
        self,
        start: int,
        type: str,
        value: object,
        kind: str,
        *,
        name: str = "",
        meaning: object = None,
        prefix: int = 0,
    ) -> None:
        """Add a span from ``start`` to the cursor position."""
        size = self.cursor.at - start
        location = start, size, self.part, self.format_path(name), self.owner
        self.spans.append(Span(*location, type, value, kind, meaning, prefix))

    def read_fixed(self, code: int, *, name: str = "", kind: str = "") -> Any:
        """Decode a fixed-size value at the current position and add its span."""
        start = self.cursor.at
        value = self.cursor.read_fixed(code)
        field = name or (self.cursor.path[-1] if self.cursor.path else "")
        meaning = value if kind == "timestamp" else _find_meaning(field, value)
        kind = kind or KIND_OF.get(code, "number")
        self.note(start, TYPES[code], value, kind, name=name, meaning=meaning)
        return value

    def note_rest(self, start: int, end: int, kind: str, reason: str = "") -> None:
        """Add one span for the remaining bytes between ``start`` and ``end``."""
        if self.spans:
            start = max(start, self.spans[-1].end)
        if start < end:
            self.cursor.at = end
            self.note(start, "", None, kind, meaning=reason or None)


def measure_varint(data: bytes, start: int) -> int:
    """Return the size in bytes of a varint that has already been read."""
    size = 1
    while data[start + size - 1] & 0x80:
        size += 1
    return size


def _find_meaning(field: str | int, value: Any) -> str | None:
    if field == "error_code":
        return error_name(value)
    if field not in _API_KEYS:
        return None
    try:
        return registry.find_by_key(value, "request").name.removesuffix("Request")
    except KeyError:
        return None
