# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What a byte map is made of, and the note-taking that both walks share."""

from __future__ import annotations

from typing import NamedTuple

from .. import plan
from .._pure.path import path_text
from .._pure.primitives import read_fixed
from ..error_codes import name as error_name
from ..protocol_guide import TYPES
from ..schema import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._pure.cursor import Cursor
    from ..errors import DecodeError, KwireError

KINDS = (
    *("number", "bool", "text", "bytes", "uuid", "timestamp", "checksum"),
    *("structure", "unknown", "compressed", "cut", "damaged", "unread"),
)
"""The kinds of spans. "structure" are sizes, counts, tags and markers; "unknown" is
what no schema knows: a tagged field, or what a newer version appends; "compressed" are
the records of a compressed batch; "cut" is a last batch that is not complete, as a
fetch may leave it; "damaged" what is wrong in a record set; "unread" what stands at and
behind an error."""


class Span(NamedTuple):
    """Some bytes of the input, and what they are.

    ``offset`` and ``size`` are in bytes. ``part`` is what the bytes belong to
    (``FetchResponse v12``), ``path`` the field's, as in errors, and ``owner`` the path
    of the struct it is in. ``type`` is the protocol guide's name of the type, ``value``
    what decoding gives (of an array its count), ``kind`` one of ``KINDS``. ``meaning``
    tells what a value stands for, where it stands for something: the name of an error
    code, the absolute offset of a delta; of a timestamp it is the time in ms.
    ``prefix`` is the size of the length in front, which is part of the span.
    """

    offset: int
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
        """The offset behind the span."""
        return self.offset + self.size

    @property
    def name(self) -> str:
        """The path within the struct."""
        return self.path.removeprefix(self.owner).lstrip(".")


class ByteMap(NamedTuple):
    """The spans of an input, which cover all of it, and what is wrong with it.

    ``error`` is what decoding the input raises, or None. ``damage`` are errors about
    record sets inside a message, which decodes all the same: to it they are bytes.
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


class Notes:
    """Notes spans: of what a cursor reads, at the path where it is.

    ``root`` stands before the paths of a cursor that knows only the last part of its
    way; ``owner`` is the whole path of the struct that is being read.
    """

    def __init__(
        self, cursor: Cursor, spans: list[Span], part: str, root: str, owner: str
    ) -> None:
        self.cursor = cursor
        self.spans = spans
        self.part = part
        self.root = root
        self.owner = owner

    def path(self, name: str = "") -> str:
        """Write the path of what is read, or of a name below it."""
        return joined(joined(self.root, path_text(self.cursor.path)), name)

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
        """Note what stands between ``start`` and the cursor."""
        size = self.cursor.at - start
        place = start, size, self.part, self.path(name), self.owner
        self.spans.append(Span(*place, type, value, kind, meaning, prefix))

    def fixed(self, code: int, *, name: str = "", kind: str = "") -> Any:
        """Read and note a value of a type that always has the same size."""
        start = self.cursor.at
        value: Any = read_fixed(self.cursor, code)
        field = name or (self.cursor.path[-1] if self.cursor.path else "")
        meaning = value if kind == "timestamp" else _meaning(field, value)
        kind = kind or KIND_OF.get(code, "number")
        self.note(start, TYPES[code], value, kind, name=name, meaning=meaning)
        return value

    def rest(self, start: int, end: int, kind: str, reason: str = "") -> None:
        """Note what is not read between two positions, as far as nothing was noted."""
        if self.spans:
            start = max(start, self.spans[-1].end)
        if start < end:
            self.cursor.at = end
            self.note(start, "", None, kind, meaning=reason or None)


def joined(path: str, more: str) -> str:
    """Write one path below another."""
    return f"{path}.{more}" if path and more and more[0] != "[" else path + more


def varint_size(data: bytes, start: int) -> int:
    """Tell the size (bytes) of a varint that has been read."""
    size = 1
    while data[start + size - 1] & 0x80:
        size += 1
    return size


def _meaning(field: str | int, value: Any) -> str | None:
    if field == "error_code":
        return error_name(value)
    if field not in _API_KEYS:
        return None
    try:
        return registry.find_by_key(value, "request").name.removesuffix("Request")
    except KeyError:
        return None
