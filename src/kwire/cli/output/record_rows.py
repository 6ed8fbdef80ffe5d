# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats records as table rows or CSV.

CSV has fixed columns, in which ``key_encoding`` specifies the key's encoding.
``record_lines.py`` writes JSON lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..._text import escape_line, format_time
from .byte_formats import NULL, Cell, compact_json, format_cell, make_cell
from .internal_records import decode_control, decode_internal, is_internal
from .internal_text import is_decoded, record_words
from .tables import Csv, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...records import Batch, Record
    from .record_runs import RecordRun
    from .tables import Output


_KEY_WIDTH = 14
_PARTITION_WIDTH = 12


class RecordRow(NamedTuple):
    """Record with its position, and with key and value as cells.

    ``error`` is the reason why a key or value could not be decoded, or an empty string.
    """

    topic: str
    partition: int
    timestamp_type: int
    record: Record
    key: Cell
    value: Cell
    error: str = ""


class RowMaker:
    """Converts records to output rows.

    ``byte_format`` is the encoding of keys and values. With ``raw``, control records
    and the messages in internal topics are not decoded.
    """

    def __init__(self, byte_format: str, raw: bool) -> None:
        self.byte_format = byte_format
        self._raw = raw

    def decodes(self, run: RecordRun) -> bool:
        """Whether ``rows`` decodes the keys and values of this run as messages."""
        return not self._raw and (run.is_control or is_internal(run.topic))

    def rows(self, run: RecordRun) -> Iterator[RecordRow]:
        """Create the output rows of a run."""
        for record in run.records:
            yield self.row(run.topic, run.partition, run, record)

    def row(
        self, topic: str, partition: int, batch: Batch | RecordRun, record: Record
    ) -> RecordRow:
        """Create the output row of a record, with decoded messages if possible."""
        key = value = NULL
        cells = error = None
        if not self._raw:
            decode = decode_control if batch.is_control else decode_internal
            cells, error = decode(topic, record)
        if cells is not None:
            key, value = cells
        else:
            key = make_cell(record.key, self.byte_format)
            value = make_cell(record.value, self.byte_format)
        return RecordRow(
            topic, partition, batch.timestamp_type, record, key, value, error or ""
        )


class RowByRow:
    """Converts the records of a run to rows, and writes the rows individually."""

    def __init__(self, maker: RowMaker, rows: RecordTable | RecordCsv) -> None:
        self._maker = maker
        self._rows = rows

    def write(self, run: RecordRun) -> None:
        """Write the output rows of a run."""
        for row in self._maker.rows(run):
            self._rows.write(row)


class RecordTable:
    """Writes records as a table.

    A terminal shows a heading when the partition changes, because partitions in a live
    topic alternate. In pipes and files, the partition is a column, so that ``grep`` can
    find it.
    """

    def __init__(self, output: Output, byte_format: str, headers: bool) -> None:
        self._byte_format = byte_format
        self._headers = headers
        # In a terminal, use the final column width from the first row.
        key_width = _KEY_WIDTH if output.width is None else output.width // 4
        key = "KEY", max(_KEY_WIDTH, key_width)
        columns = [("OFFSET", -10), ("TIME (UTC)", 23), key, ("VALUE", 0)]
        self._has_headings = output.width is not None
        if not self._has_headings:
            columns.insert(0, ("PARTITION", _PARTITION_WIDTH))
        self._table = Table(output, columns)

    def write(self, row: RecordRow) -> None:
        """Write a record as one table row."""
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
        place = [str(record.offset), format_time(record.timestamp)]
        heading = f"{row.topic}-{row.partition}"
        if not self._has_headings:
            place.insert(0, heading)
            heading = ""
        if is_decoded(row.key, row.value):
            words, needed = record_words(row.key, row.value)
            self._table.write_words(place, words + more, needed, heading)
        else:
            value = " ".join([format_cell(row.value), *more])
            self._table.write((*place, format_cell(row.key), value), heading)


class RecordCsv:
    """Writes records as CSV, with the encoding of each key and value in a column."""

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
        """Write a record as one CSV row."""
        fields: dict[str, Any] = {
            "topic": row.topic,
            "partition": row.partition,
            "offset": row.record.offset,
            "timestamp": read_timestamp(row.record),
            "timestamp_type": row.timestamp_type,
        }
        for name, cell in (("key", row.key), ("value", row.value)):
            fields[f"{name}_encoding"] = cell.encoding
            fields[name] = cell.content
        if self._headers:
            headers = _headers(row.record, self._byte_format)
            fields["headers"] = compact_json(headers) if headers else None
        fields["error"] = row.error
        self._csv.write(fields)


def read_timestamp(record: Record) -> int | None:
    """Return the timestamp of a record, or None if it has no timestamp."""
    return None if record.timestamp == -1 else record.timestamp


def _add_name(name: str, cell: Cell) -> str:
    return name if cell.encoding in ("", "text") else f"{name}_{cell.encoding}"


def _headers(record: Record, byte_format: str) -> list[dict[str, Any]]:
    header_fields = []
    for name, content in record.headers:
        cell = make_cell(content, byte_format)
        header_fields.append({"key": name, _add_name("value", cell): cell.content})
    return header_fields
