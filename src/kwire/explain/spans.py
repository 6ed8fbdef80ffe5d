# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Span`` and ``ByteMap``, and ``SpanNotes``, which both walks note spans with."""

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
"""The kinds of spans. "structure" is a size, count, tag or marker; "unknown" is a
tagged field that no schema has, or what a newer version appends; "compressed" is the
records of a compressed batch; "cut" is an incomplete last batch, as a fetch may return
it; "damaged" is a damaged part of a record set; "unread" is what follows an error."""


class Span(NamedTuple):
    """A range of bytes of the input, and the value they hold.

    ``position`` and ``size`` are in bytes. ``part`` is the message or header the bytes
    belong to (``FetchResponse v12``), ``path`` the field as in errors, and ``owner``
    the path of the struct that has the field. ``type`` is the protocol guide's name of
    the type, ``value`` the decoded value (of an array its count), ``kind`` one of
    ``KINDS``. ``meaning`` explains some values: the name of an error code, the absolute
    offset of an offset delta, the time in milliseconds of a timestamp; otherwise it is
    None. ``prefix`` is the size in bytes of the length in front, which is part of the
    span.
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
        """The path within the struct."""
        return self.path.removeprefix(self.owner).lstrip(".")


class ByteMap(NamedTuple):
    """The spans of an input, in order and without gaps, and the errors in it.

    ``error`` is the exception that decoding the input raises, or None. ``damage`` has
    the errors in the record sets of a message; the message itself decodes all the same,
    because record sets are bytes to it.
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
    """Appends a span for each value that a cursor reads.

    ``root`` is the path of the field that the cursor's own paths start from; ``owner``
    is the full path of the struct that is being read.
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
        """Format the full path of the current field, or of a name below it."""
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
        """Append a span for the bytes from ``start`` to the cursor."""
        size = self.cursor.at - start
        place = start, size, self.part, self.format_path(name), self.owner
        self.spans.append(Span(*place, type, value, kind, meaning, prefix))

    def read_fixed(self, code: int, *, name: str = "", kind: str = "") -> Any:
        """Read and note a value of a type that always has the same size."""
        start = self.cursor.at
        value = self.cursor.read_fixed(code)
        field = name or (self.cursor.path[-1] if self.cursor.path else "")
        meaning = value if kind == "timestamp" else _find_meaning(field, value)
        kind = kind or KIND_OF.get(code, "number")
        self.note(start, TYPES[code], value, kind, name=name, meaning=meaning)
        return value

    def note_rest(self, start: int, end: int, kind: str, reason: str = "") -> None:
        """Note all bytes from ``start`` to ``end`` that have no span as one span."""
        if self.spans:
            start = max(start, self.spans[-1].end)
        if start < end:
            self.cursor.at = end
            self.note(start, "", None, kind, meaning=reason or None)


def measure_varint(data: bytes, start: int) -> int:
    """Return the size (bytes) of a varint that has been read."""
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
