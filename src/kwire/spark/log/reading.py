# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads splits of segment files into Arrow batches, as a task of ``kafka-log``.

This module does not plan, and does not import Spark. Batches are limited to a few MiB,
regardless of the record sizes. Depending on the option ``mode``, damaged data causes an
error or a row, or is skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import log
from ..._text import format_name
from ...errors import CorruptBatch, DecodeError
from ..topics.layout import BATCH_COLUMNS, Layout, arrow_schema
from ..topics.record_batches import make_assembler

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...log import Partition, Problem, Segment
    from .options import LogOptions
    from .planning import FileSplit

_CHUNK = 3 << 20
"""Maximum number of file bytes that are decoded in one call, which limits the size of
an Arrow batch.
"""

_ROWS = 4096
"""Maximum number of rows in an Arrow batch that is created from Python objects, row by
row.
"""

_SHOWN = 4096
"""Maximum number of bytes of a damaged region that a row for the region contains."""


def read_pieces(
    pieces: Iterable[FileSplit], layout: Layout, options: LogOptions
) -> Iterator[Any]:
    """Read the records of several pieces as Arrow batches of the layout.

    In the mode FAILFAST, raises ``CorruptBatch`` for damaged data, with path, byte
    position, offsets and advice, and ``OSError`` if a file cannot be read. Other modes
    return rows for the problems, or skip them.
    """
    read = _read_batches if options.view == "batches" else _read_records
    for piece in pieces:
        rows = CorruptRows(piece, layout, options)
        try:
            segment = log.Segment(
                piece.path,
                topic=piece.topic,
                partition=piece.partition,
                is_newest=piece.is_newest,
                next_base_offset=piece.next_base_offset,
            )
            yield from read(piece, segment, layout, options, rows)
        except OSError as error:
            rows.unreadable(error)
        yield from rows.batches()


class CorruptRows:
    """Collects the problems of one piece, and applies the option ``mode`` to them."""

    def __init__(self, piece: FileSplit, layout: Layout, options: LogOptions) -> None:
        self._piece = piece
        self._layout = layout
        self._mode = options.mode
        self._found: list[Problem] = []

    def __call__(self, problem: Problem) -> None:
        """Raise, collect or ignore a problem, depending on the option ``mode``."""
        if not self._is_ours(problem):
            return
        if self._mode == "FAILFAST":
            advice = ""
            if problem.detail.endswith("not UTF-8"):
                advice = " errors=replace reads such names of headers."
            elif "kwire.Limits" in problem.detail:
                advice = " maxBatchBytes allows larger ones."
            raise CorruptBatch(
                f"{problem.reason}: {problem.detail}{_describe_offsets(problem)}; topic"
                f" {problem.topic}, partition {problem.partition}.{advice}"
                " mode=PERMISSIVE returns a row for each damaged region,"
                " mode=DROPMALFORMED skips it, view=problems lists all of them",
                problem.position,
                problem.path,
            )
        if self._mode == "PERMISSIVE":
            self._found.append(problem)

    def _is_ours(self, problem: Problem) -> bool:
        """Return whether this piece, and not an adjacent one, reports the problem."""
        piece = self._piece
        start, end = piece.start_offset, piece.end_offset
        first_lost = problem.last_good_offset + 1
        last_lost = max(problem.next_good_offset - 1, first_lost)
        # A region that spans several ranges is reported once, by the range that
        # contains its last offset.
        is_placed = max(problem.last_good_offset, problem.next_good_offset) >= 0
        if start is not None:
            if is_placed and piece.is_follow_up:
                if last_lost < start:
                    return False
            elif 0 <= problem.next_good_offset <= start:
                return False
        if end is None:
            return True
        return (last_lost if is_placed and piece.is_followed else first_lost) < end

    def unreadable(self, error: OSError) -> None:
        """Raise, collect or ignore the error of a file that cannot be read.

        The option ``mode`` decides. The file may have been deleted after the planning.
        """
        piece = self._piece
        reason = "missing" if isinstance(error, FileNotFoundError) else "unreadable"
        if self._mode == "FAILFAST":
            kind = FileNotFoundError if reason == "missing" else OSError
            raise kind(
                f"{format_name(piece.path)}: byte {piece.start}: {reason}:"
                f" {error.strerror or error}; topic {piece.topic}, partition"
                f" {piece.partition}. It existed when the read was planned; a broker"
                " may have deleted it. Set mode to PERMISSIVE or DROPMALFORMED to"
                " continue"
            ) from None
        if self._mode == "PERMISSIVE":
            place = piece.topic, piece.partition, piece.start, piece.size
            self._found.append(log.Problem(format_name(piece.path), *place, reason))

    def batches(self) -> Iterator[Any]:
        """Yield the problems collected since the last call, as Arrow batches."""
        found, self._found = self._found, []
        if found:
            yield from _rows_to_batches(map(self._make_row, found), self._layout)

    def _make_row(self, problem: Problem) -> dict[str, Any]:
        row = {
            "topic": problem.topic,
            "partition": problem.partition,
            "file_path": problem.path,
        }
        if self._layout.corrupt is not None:
            row[self._layout.corrupt] = {
                "path": problem.path,
                "position": problem.position,
                "length": problem.length,
                "reason": problem.reason,
                "bytes": _read_damage(self._piece.path, problem),
            }
        return row


def _describe_offsets(problem: Problem) -> str:
    words = []
    if problem.last_good_offset >= 0:
        words.append(f"good up to offset {problem.last_good_offset}")
    if problem.next_good_offset >= 0:
        words.append(f"again from {problem.next_good_offset}")
    return f" ({', '.join(words)})" if words else ""


def _read_damage(path: str, problem: Problem) -> bytes | None:
    try:
        with log.Segment(path).open() as file:
            end = problem.position + min(problem.length, _SHOWN)
            return bytes(file.data[problem.position : file.fill(problem.position, end)])
    except OSError:
        return None


def _read_records(
    piece: FileSplit,
    segment: Segment,
    layout: Layout,
    options: LogOptions,
    rows: CorruptRows,
) -> Iterator[Any]:
    constants = {"topic": piece.topic, "partition": piece.partition}
    constants["file_path"] = format_name(piece.path)
    assemble = make_assembler(layout, constants)
    names = layout.columns
    tables = segment.columns(
        piece.start,
        piece.end,
        start_offset=piece.start_offset,
        end_offset=piece.end_offset,
        isolation_level=options.isolation_level,
        transactions=piece.transactions,
        on_corrupt=rows,
        strict_tail=options.strict_tail,
        chunk_bytes=_CHUNK,
        timestamp_unit="us",
        headers="headers" in names,
        batch_columns=not BATCH_COLUMNS.isdisjoint(names),
        errors=options.errors,
        limits=options.limits,
    )
    for records in tables:
        yield from rows.batches()
        yield from assemble(records)


def _read_batches(
    piece: FileSplit,
    segment: Segment,
    layout: Layout,
    options: LogOptions,
    rows: CorruptRows,
) -> Iterator[Any]:
    low = -(2**63) if piece.start_offset is None else piece.start_offset
    high = 2**63 if piece.end_offset is None else piece.end_offset

    def make_rows() -> Iterator[dict[str, Any]]:
        behind = low
        for header in segment.headers(
            piece.start,
            piece.end,
            check_crc=options.verify_crc,
            on_corrupt=rows,
            strict_tail=options.strict_tail,
            limits=options.limits,
        ):
            # The base offset of a wrapper message is the offset of its last message.
            # Its first message follows the previous batch at the earliest.
            first = header.base_offset if header.record_count >= 0 else behind
            behind = header.next_offset
            if header.last_offset < low or first >= high:
                continue
            yield {
                "topic": piece.topic,
                "partition": piece.partition,
                "base_offset": header.base_offset,
                "last_offset": header.last_offset,
                "record_count": header.record_count
                if header.record_count >= 0
                else None,
                "position": header.position,
                "size": header.size,
                "magic": header.magic,
                "compression": header.compression,
                "timestamp_type": header.timestamp_type,
                "base_timestamp": _to_micros(header.base_timestamp),
                "max_timestamp": _to_micros(header.max_timestamp),
                "partition_leader_epoch": header.partition_leader_epoch,
                "producer_id": header.producer_id,
                "producer_epoch": header.producer_epoch,
                "base_sequence": header.base_sequence,
                "is_transactional": header.is_transactional,
                "is_control": header.is_control,
                "file_path": format_name(piece.path),
            }

    for batch in _rows_to_batches(make_rows(), layout):
        yield batch
        yield from rows.batches()


def _to_micros(milliseconds: int) -> int | None:
    micros = milliseconds * 1000
    return micros if milliseconds != -1 and -(2**63) <= micros < 2**63 else None


def read_problems(
    partition: Partition, layout: Layout, options: LogOptions
) -> Iterator[Any]:
    """Return the problems in a partition's segments, as rows.

    A file that is missing or cannot be read is also returned as a row.
    """
    problems = partition.problems(
        strict_tail=options.strict_tail, limits=options.limits
    )

    def rows() -> Iterator[dict[str, Any]]:
        try:
            for problem in problems:
                yield {name: getattr(problem, name) for name in layout.columns}
        except OSError as error:
            path = format_name(error.filename or partition.path)
            lost = log.Problem(
                path,
                partition.topic,
                partition.partition,
                0,
                0,
                reason="missing"
                if isinstance(error, FileNotFoundError)
                else "unreadable",
                detail=str(error.strerror or error),
            )
            yield {name: getattr(lost, name) for name in layout.columns}

    yield from _rows_to_batches(rows(), layout)


def read_indexes(segments: Sequence[Segment], layout: Layout) -> Iterator[Any]:
    """Return the entries of the index files of segments, as rows.

    Index files that are missing or cannot be decoded are skipped.
    """
    yield from _rows_to_batches(
        (row for segment in segments for row in _index_rows(segment)), layout
    )


def _index_rows(segment: Segment) -> Iterator[dict[str, Any]]:
    place = {"topic": segment.topic, "partition": segment.partition}
    for name in ("index", "time_index", "transaction_index"):
        try:
            index = getattr(segment, name)
        except DecodeError:
            continue
        if index is None:
            continue
        common_fields = place | {"path": format_name(index.path)}
        for entry in index.entries:
            if name == "index":
                yield common_fields | {
                    "index": "offset",
                    "offset": entry[0],
                    "position": entry[1],
                }
            elif name == "time_index":
                moment = _to_micros(entry[0])
                yield common_fields | {
                    "index": "time",
                    "timestamp": moment,
                    "offset": entry[1],
                }
            else:
                yield common_fields | {
                    "index": "transaction",
                    "offset": entry.last_offset,
                    "first_offset": entry.first_offset,
                    "producer_id": entry.producer_id,
                }


def _rows_to_batches(rows: Iterable[dict[str, Any]], layout: Layout) -> Iterator[Any]:
    import pyarrow as pa

    schema = arrow_schema(layout)
    names = set(schema.names)
    gathered: list[dict[str, Any]] = []
    for row in rows:
        gathered.append({name: row[name] for name in names & row.keys()})
        if len(gathered) == _ROWS:
            yield pa.RecordBatch.from_pylist(gathered, schema=schema)
            gathered = []
    if gathered:
        yield pa.RecordBatch.from_pylist(gathered, schema=schema)
