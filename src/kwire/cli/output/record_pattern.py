# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
r"""Formats records by a pattern such as ``-f '%t %o %k\n'``, as kcat does.

    %t topic     %p partition            %o offset   %T timestamp in ms
    %k key       %v or %s value          %h headers, name=value with commas between
    %K and %S    their lengths in bytes, -1 for null
    %R           the length of the value as INT32
    %% a percent sign     \n \r \t \\ and \x00 to \xff

A null key or value is printed as an empty string, and a null header value as NULL.
Records are printed without a separator, unless the pattern contains one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..._text import escape_line
from .byte_formats import compact_json
from .json_fields import encode_bytes
from .line_template import escape_literal, fill_lines

if TYPE_CHECKING:
    from ...records import Record
    from .byte_formats import Cell
    from .record_rows import RowMaker
    from .record_runs import RecordRun
    from .tables import Output

_PART = re.compile(r"%(.?)|\\(x[0-9a-fA-F]{2}|.?)|[^%\\]+", re.DOTALL)
_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "\\": b"\\"}


class RecordFormat(click.ParamType[list[Any]]):
    """Parameter type for patterns: literal bytes and field names."""

    name = "format"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[bytes | str]:
        """Parse a pattern. The error names an unknown field or escape sequence."""
        parts: list[bytes | str] = []
        for match in _PART.finditer(value):
            text, (field, escape) = match[0], match.groups()
            if field == "%":
                parts.append(b"%")
            elif field in _FIELDS:
                parts.append(field)
            elif field is not None:
                known = " ".join(f"%{name}" for name in _FIELDS)
                self.fail(f"unknown field {text!r}; use {known} or %%", param, ctx)
            elif escape is None:
                parts.append(text.encode(errors="surrogateescape"))
            elif escape in _ESCAPES:
                parts.append(_ESCAPES[escape])
            elif escape.startswith("x") and len(escape) == 3:
                parts.append(bytes.fromhex(escape[1:]))
            else:
                self.fail(
                    rf"unknown escape {text!r}; use \n, \r, \t, \\ or \xNN", param, ctx
                )
        return parts


class RecordWriter:
    """Writes records by a pattern: exact bytes, or escaped text in a terminal."""

    def __init__(
        self, output: Output, parts: list[bytes | str], maker: RowMaker
    ) -> None:
        self._output = output
        self._maker = maker
        self._parts = parts
        self._template = b"".join(
            escape_literal(part)
            if isinstance(part, bytes)
            else _FIELDS[part].conversion
            for part in parts
        )
        self._fields = [_FIELDS[part] for part in parts if isinstance(part, str)]

    def write(self, run: RecordRun) -> None:
        """Format and write the records of a run."""
        for piece in run.split():
            contents = _Contents(piece, self._maker)
            columns = [field.make_column(contents) for field in self._fields]
            if self._output.width is None:
                count = len(piece.records)
                self._output.write_bytes(fill_lines(self._template, columns, count))
            else:
                self._write_escaped(columns, len(piece.records))

    def _write_escaped(self, columns: list[Sequence[Any]], count: int) -> None:
        """Write records to a terminal, with control characters escaped."""
        for index in range(count):
            cells = iter([column[index] for column in columns])
            texts = []
            for part in self._parts:
                if isinstance(part, bytes):
                    texts.append(part.decode(errors="backslashreplace"))
                    continue
                data = _FIELDS[part].conversion % next(cells)
                # Only line ends in the pattern end a line. Line ends in a value are
                # escaped.
                texts.append(escape_line(data.decode(errors="backslashreplace")))
            self._output.write("".join(texts))


class _Contents:
    """Keys and values of the records in a run, in the format for output.

    Messages in internal topics are decoded to JSON, unless the user wants raw bytes.
    """

    def __init__(self, run: RecordRun, maker: RowMaker) -> None:
        self.run = run
        self.byte_format = maker.byte_format
        self._rows = list(maker.rows(run)) if maker.decodes(run) else None

    @cached_property
    def keys(self) -> list[bytes | None]:
        """Formatted keys of all records. A null key is None."""
        if self._rows is not None:
            return [self._print_cell(row.key, row.record.key) for row in self._rows]
        return self._print([record.key for record in self.run.records])

    @cached_property
    def values(self) -> list[bytes | None]:
        """Formatted values of all records. A null value is None."""
        if self._rows is not None:
            return [self._print_cell(row.value, row.record.value) for row in self._rows]
        return self._print([record.value for record in self.run.records])

    def _print_cell(self, cell: Cell, data: bytes | None) -> bytes | None:
        if cell.encoding == "json":
            return compact_json(cell.content).encode()
        if cell.encoding == "control":
            return str(cell.content).encode()
        return self._print([data])[0]

    def _print(self, column: list[bytes | None]) -> list[bytes | None]:
        form = self.byte_format
        if form == "text":
            return column
        return [None if data is None else encode_bytes(data, form) for data in column]


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _fill_null(column: list[bytes | None]) -> list[bytes]:
    return [data or b"" for data in column]


def _headers(contents: _Contents) -> list[bytes]:
    form = contents.byte_format
    return [
        _join_headers(record, form) if record.headers else b""
        for record in contents.run.records
    ]


def _join_headers(record: Record, form: str) -> bytes:
    pairs = []
    for name, data in record.headers:
        value = b"NULL" if data is None else data
        if data is not None and form != "text":
            value = encode_bytes(data, form)
        pairs.append(name.encode(errors="surrogateescape") + b"=" + value)
    return b",".join(pairs)


def _topics(contents: _Contents) -> list[bytes]:
    run = contents.run
    return [run.topic.encode(errors="surrogateescape")] * len(run.records)


class _Field(NamedTuple):
    """Field of a pattern, for example ``%k``.

    * ``conversion``: format code for ``%`` formatting of bytes (``%b`` or ``%d``).
    * ``make_column``: function that returns the field of all records in a run.
    """

    conversion: bytes
    make_column: Callable[[_Contents], Sequence[object]]


_FIELDS = {
    "t": _Field(b"%b", _topics),
    "p": _Field(b"%d", lambda c: [c.run.partition] * len(c.run.records)),
    "o": _Field(b"%d", lambda c: [record.offset for record in c.run.records]),
    "T": _Field(b"%d", lambda c: [record.timestamp for record in c.run.records]),
    "k": _Field(b"%b", lambda c: _fill_null(c.keys)),
    "v": _Field(b"%b", lambda c: _fill_null(c.values)),
    "s": _Field(b"%b", lambda c: _fill_null(c.values)),
    "h": _Field(b"%b", _headers),
    "K": _Field(b"%d", lambda c: [_size(data) for data in c.keys]),
    "S": _Field(b"%d", lambda c: [_size(data) for data in c.values]),
    "R": _Field(
        b"%b",
        lambda c: [_size(data).to_bytes(4, "big", signed=True) for data in c.values],
    ),
}
