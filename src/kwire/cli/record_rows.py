# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats a record as a row of a table, of JSON lines or of CSV.

In JSON lines the name of a field gives its encoding: ``key`` is text or null, and there
are ``key_base64``, ``key_hex`` and ``key_json``. CSV has fixed columns, of which
``key_encoding`` gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..formatting import escape_line, format_time
from .byte_formats import NULL, Cell, compact_json, format_cell, make_cell
from .internal_records import decode_control, decode_internal
from .internal_text import is_decoded, record_words
from .output import Csv, JsonLines, Table

if TYPE_CHECKING:
    from ..records import Batch, Record
    from .output import Output, RowFormat


_KEY_WIDTH = 14


class RecordRow(NamedTuple):
    """A record, where it is from, and its key and value as cells.

    ``error`` says why a key or value is raw that should have been decoded.
    """

    topic: str
    partition: int
    timestamp_type: int
    record: Record
    key: Cell
    value: Cell
    error: str = ""


class RowMaker:
    """Makes rows as the options say."""

    def __init__(self, byte_format: str, raw: bool) -> None:
        self._byte_format = byte_format
        self._raw = raw

    def row(
        self, topic: str, partition: int, batch: Batch, record: Record
    ) -> RecordRow:
        """Make the row of a record."""
        key = value = NULL
        found = error = None
        if not self._raw:
            decode = decode_control if batch.is_control else decode_internal
            found, error = decode(topic, record)
        if found is not None:
            key, value = found
        else:
            key = make_cell(record.key, self._byte_format)
            value = make_cell(record.value, self._byte_format)
        return RecordRow(
            *(topic, partition, batch.timestamp_type, record, key, value, error or "")
        )


def open_records(
    output: Output, form: RowFormat, byte_format: str, headers: bool
) -> RecordTable | RecordJsonLines | RecordCsv:
    """Make the writer for a form."""
    if form.is_table:
        return RecordTable(output, byte_format, headers)
    if form.name == "jsonl":
        return RecordJsonLines(output, byte_format, headers)
    return RecordCsv(output, byte_format, headers, form.csv_safe)


class RecordTable:
    """Records as a table, with a heading for each partition."""

    def __init__(self, output: Output, byte_format: str, headers: bool) -> None:
        self._byte_format = byte_format
        self._headers = headers
        # In a terminal the column has its last width from the first row on.
        key_width = _KEY_WIDTH if output.width is None else output.width // 4
        key = "KEY", max(_KEY_WIDTH, key_width)
        columns = ("OFFSET", -10), ("TIME (UTC)", 23), key, ("VALUE", 0)
        self._table = Table(output, columns)

    def write(self, row: RecordRow) -> None:
        """Write one line."""
        record = row.record
        more = []
        if row.error:
            more.append(f" ! {escape_line(row.error)}")
        if self._headers and record.headers:
            cells = (
                (escape_line(name), make_cell(content, self._byte_format))
                for name, content in record.headers
            )
            pairs = (f"{name}={format_cell(cell)}" for name, cell in cells)
            more.append(f" {{{', '.join(pairs)}}}")
        place = str(record.offset), format_time(record.timestamp)
        heading = f"{row.topic}-{row.partition}"
        if is_decoded(row.key, row.value):
            words, needed = record_words(row.key, row.value)
            self._table.write_words(place, words + more, needed, heading)
        else:
            value = " ".join([format_cell(row.value), *more])
            self._table.write((*place, format_cell(row.key), value), heading)


class RecordJsonLines:
    """Records as JSON lines."""

    def __init__(self, output: Output, byte_format: str, headers: bool) -> None:
        self._byte_format = byte_format
        self._headers = headers
        self._lines = JsonLines(output)

    def write(self, row: RecordRow) -> None:
        """Write one line."""
        fields = _place(row)
        fields[_add_name("key", row.key)] = row.key.content
        fields[_add_name("value", row.value)] = row.value.content
        if self._headers:
            fields["headers"] = _headers(row.record, self._byte_format)
        if row.error:
            fields["error"] = row.error
        self._lines.write(fields)


class RecordCsv:
    """Records as CSV."""

    def __init__(
        self, output: Output, byte_format: str, headers: bool, safe: bool | None
    ) -> None:
        self._byte_format = byte_format
        self._headers = headers
        names = ["topic", "partition", "offset", "timestamp", "timestamp_type"]
        names += ["key_encoding", "key", "value_encoding", "value"]
        names += ["headers"] if headers else []
        self._csv = Csv(output, [*names, "error"], safe)

    def write(self, row: RecordRow) -> None:
        """Write one line."""
        fields = _place(row)
        for name, cell in (("key", row.key), ("value", row.value)):
            fields[f"{name}_encoding"] = cell.encoding
            fields[name] = cell.content
        if self._headers:
            headers = _headers(row.record, self._byte_format)
            fields["headers"] = compact_json(headers) if headers else None
        fields["error"] = row.error
        self._csv.write(fields)


def _place(row: RecordRow) -> dict[str, Any]:
    return {
        "topic": row.topic,
        "partition": row.partition,
        "offset": row.record.offset,
        "timestamp": row.record.timestamp,
        "timestamp_type": row.timestamp_type,
    }


def _add_name(name: str, cell: Cell) -> str:
    return name if cell.encoding in ("", "text") else f"{name}_{cell.encoding}"


def _headers(record: Record, byte_format: str) -> list[dict[str, Any]]:
    found = []
    for name, content in record.headers:
        cell = make_cell(content, byte_format)
        found.append({"key": name, _add_name("value", cell): cell.content})
    return found
