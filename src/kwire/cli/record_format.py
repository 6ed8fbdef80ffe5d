# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
r"""Formats records by a pattern such as ``-f '%t %o %k\n'``, as kcat does.

    %t topic     %p partition            %o offset   %T timestamp in ms
    %k key       %v or %s value          %h headers, name=value with commas between
    %K and %S    their lengths in bytes, -1 for null
    %R           the length of the value as INT32
    %% a percent sign     \n \r \t \\ and \x00 to \xff

A null is printed as no byte, in headers as NULL. Nothing is printed between records but
what the pattern has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from ..formatting import escape_line
from .byte_formats import compact_json, make_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from .byte_formats import Cell
    from .output import Output
    from .record_rows import RecordRow

    Field = Callable[["RecordWriter", RecordRow], bytes]

_PART = re.compile(r"%(.?)|\\(x[0-9a-fA-F]{2}|.?)|[^%\\]+", re.DOTALL)
_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\"}


class RecordFormat(click.ParamType[list[Any]]):
    """A pattern: literal bytes, and names of fields."""

    name = "format"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[bytes | str]:
        """Parse a pattern; the error names an unknown field or escape."""
        parts: list[bytes | str] = []
        for match in _PART.finditer(value):
            text, (field, escape) = match[0], match.groups()
            if field == "%":
                parts.append(b"%")
            elif field in _FIELDS:
                parts.append(field)
            elif field is not None:
                known = " ".join(f"%{name}" for name in _FIELDS)
                self.fail(f"unknown field {text!r}; there are {known} %%", param, ctx)
            elif escape is None:
                parts.append(text.encode(errors="surrogateescape"))
            elif escape in _ESCAPES:
                parts.append(_ESCAPES[escape])
            elif escape.startswith("x") and len(escape) == 3:
                parts.append(bytes.fromhex(escape[1:]))
            else:
                self.fail(
                    rf"unknown escape {text!r}; there are \n \r \t \\ \xNN", param, ctx
                )
        return parts


class RecordWriter:
    """Writes records by a pattern, byte for byte; a terminal gets escaped text."""

    def __init__(
        self, output: Output, parts: list[bytes | str], byte_format: str
    ) -> None:
        self._output = output
        self._parts = parts
        self.byte_format = byte_format

    def write(self, row: RecordRow) -> None:
        """Write one record."""
        pieces = [
            part if isinstance(part, bytes) else _FIELDS[part](self, row)
            for part in self._parts
        ]
        if self._output.width is None:
            self._output.write_bytes(b"".join(pieces))
            return
        texts = [piece.decode(errors="backslashreplace") for piece in pieces]
        # Line ends are those of the form; one in a value would be a line of its own.
        self._output.write(
            "".join(
                text if isinstance(part, bytes) else escape_line(text)
                for text, part in zip(texts, self._parts, strict=True)
            )
        )

    def content(self, cell: Cell, data: bytes | None) -> bytes | None:
        """Return what is printed of a key or value."""
        if cell.encoding == "json":
            return compact_json(cell.content).encode()
        if cell.encoding == "control":
            return str(cell.content).encode()
        if data is None or self.byte_format == "text":
            return data
        return str(cell.content).encode()


def _key(writer: RecordWriter, row: RecordRow) -> bytes | None:
    return writer.content(row.key, row.record.key)


def _value(writer: RecordWriter, row: RecordRow) -> bytes | None:
    return writer.content(row.value, row.record.value)


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _headers(writer: RecordWriter, row: RecordRow) -> bytes:
    pairs = []
    for name, data in row.record.headers:
        content = writer.content(make_cell(data, writer.byte_format), data)
        value = b"NULL" if content is None else content
        pairs.append(name.encode(errors="surrogateescape") + b"=" + value)
    return b",".join(pairs)


_FIELDS: dict[str, Field] = {
    "t": lambda _, row: row.topic.encode(errors="surrogateescape"),
    "p": lambda _, row: b"%d" % row.partition,
    "o": lambda _, row: b"%d" % row.record.offset,
    "T": lambda _, row: b"%d" % row.record.timestamp,
    "k": lambda writer, row: _key(writer, row) or b"",
    "v": lambda writer, row: _value(writer, row) or b"",
    "s": lambda writer, row: _value(writer, row) or b"",
    "h": _headers,
    "K": lambda writer, row: b"%d" % _size(_key(writer, row)),
    "S": lambda writer, row: b"%d" % _size(_value(writer, row)),
    "R": lambda writer, row: _size(_value(writer, row)).to_bytes(4, "big", signed=True),
}
