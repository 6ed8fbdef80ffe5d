# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats records as JSON lines.

The field name specifies the encoding: ``key`` is text or null. Other encodings use
``key_base64``, ``key_hex`` and ``key_json``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .byte_formats import compact_json
from .json_fields import format_fields
from .line_template import escape_literal, fill_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...records import Record
    from .byte_formats import Cell
    from .record_rows import RowMaker
    from .record_runs import RecordRun
    from .tables import Output


class RecordJsonLines:
    """Writes records as JSON lines."""

    def __init__(self, output: Output, maker: RowMaker, headers: bool) -> None:
        self._output = output
        self._maker = maker
        self._headers = headers

    def write(self, run: RecordRun) -> None:
        """Write the records of a run as JSON lines."""
        for piece in run.split():
            self._output.write_json_lines(self._format(piece))

    def _format(self, run: RecordRun) -> bytes:
        records = run.records
        record_start = b'{"topic":%b,"partition":%d,"offset":' % (
            _encode_json(run.topic),
            run.partition,
        )
        stamps = [record.timestamp for record in records]
        times: Sequence[object] = stamps
        form = b"%d"
        if -1 in stamps:
            # Records without a timestamp have the value null.
            times = [b"null" if stamp == -1 else b"%d" % stamp for stamp in stamps]
            form = b"%b"
        template = escape_literal(record_start) + (
            b'%%d,"timestamp":%b,"timestamp_type":%d,%%b,%%b'
            % (form, run.timestamp_type)
        )
        columns: list[Sequence[object]] = [[record.offset for record in records], times]
        errors = None
        if self._maker.decodes(run):
            rows = list(self._maker.rows(run))
            columns.append([_format_cell("key", row.key) for row in rows])
            columns.append([_format_cell("value", row.value) for row in rows])
            errors = [
                b',"error":' + _encode_json(row.error) if row.error else b""
                for row in rows
            ]
        else:
            byte_format = self._maker.byte_format
            keys = [record.key for record in records]
            columns.append(format_fields(b"key", keys, byte_format))
            values = [record.value for record in records]
            columns.append(format_fields(b"value", values, byte_format))
        if self._headers:
            template += b',"headers":%b'
            columns.append(_format_headers(records, self._maker.byte_format))
        if errors is not None:
            template += b"%b"
            columns.append(errors)
        return fill_lines(template + b"}\n", columns, len(records))


def _format_cell(name: str, cell: Cell) -> bytes:
    suffix = "" if cell.encoding in ("", "text") else f"_{cell.encoding}"
    return b'"%b":%b' % (f"{name}{suffix}".encode(), _encode_json(cell.content))


def _format_headers(records: Sequence[Record], byte_format: str) -> list[bytes]:
    headers = [header for record in records for header in record.headers]
    if not headers:
        return [b"[]"] * len(records)
    names = {name: _encode_json(name) for name in {name for name, _ in headers}}
    values = format_fields(b"value", [value for _, value in headers], byte_format)
    pairs = iter(
        [
            b'{"key":%b,%b}' % (names[name], value)
            for (name, _), value in zip(headers, values, strict=True)
        ]
    )
    return [
        b"[%b]" % b",".join([next(pairs) for _ in record.headers]) for record in records
    ]


def _encode_json(value: object) -> bytes:
    # Names may contain bytes that are not valid UTF-8. Python decodes them as
    # surrogates, and "backslashreplace" encodes these as JSON escapes such as "\udcff".
    return compact_json(value).encode(errors="backslashreplace")
