# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats a record as a row of a table or of CSV.

CSV has fixed columns, and ``key_encoding`` gives the encoding of the key. JSON lines
are in ``record_lines.py``.
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
    """Makes rows as the options specify."""

    def __init__(self, byte_format: str, raw: bool) -> None:
        self.byte_format = byte_format
        self._raw = raw

    def decodes(self, run: RecordRun) -> bool:
        """Whether keys and values of the run are messages, which rows have decoded."""
        return not self._raw and (run.is_control or is_internal(run.topic))

    def rows(self, run: RecordRun) -> Iterator[RecordRow]:
        """Make the rows of a run."""
        for record in run.records:
            yield self.row(run.topic, run.partition, run, record)

    def row(
        self, topic: str, partition: int, batch: Batch | RecordRun, record: Record
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
            key = make_cell(record.key, self.byte_format)
            value = make_cell(record.value, self.byte_format)
        return RecordRow(
            topic, partition, batch.timestamp_type, record, key, value, error or ""
        )


class RowByRow:
    """Writes the rows of runs, one after the other."""

    def __init__(self, maker: RowMaker, rows: RecordTable | RecordCsv) -> None:
        self._maker = maker
        self._rows = rows

    def write(self, run: RecordRun) -> None:
        """Write the rows of a run."""
        for row in self._maker.rows(run):
            self._rows.write(row)


class RecordTable:
    """Records as a table: with a heading for each partition, or a column elsewhere.

    Partitions of a live topic take turns, so that a terminal shows a heading for each
    turn. A pipe or a file has the partition in each line, which ``grep`` finds.
    """

    def __init__(self, output: Output, byte_format: str, headers: bool) -> None:
        self._byte_format = byte_format
        self._headers = headers
        # In a terminal the column has its last width from the first row on.
        key_width = _KEY_WIDTH if output.width is None else output.width // 4
        key = "KEY", max(_KEY_WIDTH, key_width)
        columns = [("OFFSET", -10), ("TIME (UTC)", 23), key, ("VALUE", 0)]
        self._has_headings = output.width is not None
        if not self._has_headings:
            columns.insert(0, ("PARTITION", _PARTITION_WIDTH))
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
    """Return the timestamp of a record; None, in place of -1, if it has none."""
    return None if record.timestamp == -1 else record.timestamp


def _add_name(name: str, cell: Cell) -> str:
    return name if cell.encoding in ("", "text") else f"{name}_{cell.encoding}"


def _headers(record: Record, byte_format: str) -> list[dict[str, Any]]:
    found = []
    for name, content in record.headers:
        cell = make_cell(content, byte_format)
        found.append({"key": name, _add_name("value", cell): cell.content})
    return found
