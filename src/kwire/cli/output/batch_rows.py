# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats record batches as table rows, JSON lines or CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..._text import format_name, format_time
from .tables import Table

if TYPE_CHECKING:
    from ... import log
    from ...records import BatchHeader
    from .tables import Output, RowFormat

    Item = tuple[log.Segment, BatchHeader]

    class BatchWriter(Protocol):
        """Writes (segment file, batch header) pairs in one output format."""

        def write(self, item: Item) -> None: ...


_NUMBERS = (
    "position",
    "size",
    "magic",
    "base_offset",
    "last_offset",
    "record_count",
    "base_timestamp",
    "max_timestamp",
    "timestamp_type",
    "compression",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "partition_leader_epoch",
    "is_transactional",
    "is_control",
    "delete_horizon",
    "crc",
)


def open_batches(output: Output, form: RowFormat) -> BatchWriter:
    """Create the batch writer for the specified format."""
    return BatchTable(output) if form.is_table else BatchLines(output, form)


class BatchLines:
    """Writes batches as JSON lines or CSV."""

    def __init__(self, output: Output, form: RowFormat) -> None:
        names = "topic", "partition", "path", *_NUMBERS
        self._rows = form.open_rows(output, names)

    def write(self, item: Item) -> None:
        """Write the properties of a batch as one line."""
        file, header = item
        fields = {
            "topic": file.topic,
            "partition": file.partition,
            "path": format_name(file.path),
        }
        self._rows.write(fields | {name: getattr(header, name) for name in _NUMBERS})


class BatchTable:
    """Writes batches as a table, with a heading per file."""

    def __init__(self, output: Output) -> None:
        columns = ("POSITION", -9), ("SIZE", -7), ("OFFSETS", 11), ("COUNT", -5)
        more = ("LAST TIME (UTC)", 19), ("FORMAT", 9), ("PRODUCER", 0)
        self._table = Table(output, columns + more)

    def write(self, item: Item) -> None:
        """Write the properties of a batch as one table row."""
        file, header = item
        writer = []
        if header.is_control:
            writer.append("control")
        elif header.is_transactional:
            writer.append("transaction")
        if header.producer_id >= 0:
            writer.append(f"{header.producer_id}:{header.producer_epoch}")
        if header.base_sequence >= 0:
            writer.append(f"sequence {header.base_sequence}")
        if header.partition_leader_epoch >= 0:
            writer.append(f"leader epoch {header.partition_leader_epoch}")
        self._table.write(
            (
                str(header.position),
                str(header.size),
                f"{header.base_offset}..{header.last_offset}",
                "?" if header.record_count < 0 else str(header.record_count),
                format_time(header.max_timestamp).partition(".")[0],
                f"v{header.magic} {header.compression}",
                " ".join(writer),
            ),
            format_name(file.path),
        )
