# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The first pass of an export: read the batch headers of each segment file.

Checksums are checked. What is good goes as columns of numbers into a
scratch file of Arrow, from which ``choice`` reads it without a copy; what is
not is a ``FileFlaw``. Records are not decoded here, but for the old wrapper messages,
whose headers do not have their first offset.
"""

from __future__ import annotations

import copy
from array import array
from struct import unpack_from
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import log
from ..._limits import Limits
from ..._text import format_name
from ...atomic_files import create_file
from ...errors import DecodeError
from ...log.walk import MAX_RECORDS_PER_BYTE
from ...schema.batch_layout import (
    BATCH_OVERHEAD,
    COUNT_AT,
    DELETE_HORIZON,
    LAST_OFFSET_DELTA_AT,
    LOG_OVERHEAD,
    MAGIC_AT,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...records import BatchHeader

COLUMNS = (
    "position",
    "size",
    "base_offset",
    "last_offset",
    "count",
    "partition_leader_epoch",
    "crc",
    "attributes",
    "magic",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
)
"""What is kept of each good batch, all as int64."""

_ROWS = 16_384
"""Batches that are kept in one piece."""


class FileFlaw(NamedTuple):
    """A bad region of a file, or something missing at one place in it.

    ``low`` and ``high`` are the first and last offset that it may have cost, -1 where
    the file itself does not say. ``torn_end`` is the offset after the batches that
    the newest file ends with, as far as their headers can be read, else -1. ``is_tail``
    marks zeros up to its end, which may be room that was never written to.
    """

    position: int
    length: int
    reason: str
    detail: str
    low: int = -1
    high: int = -1
    torn_end: int = -1
    is_tail: bool = False


class EpochRun(NamedTuple):
    """Neighbouring batches of the same leader epoch."""

    epoch: int
    first_offset: int
    last_offset: int
    batches: int


class FileScan(NamedTuple):
    """What one segment file holds.

    ``segment`` is as it is to be read from now on: without a base offset if its name
    is not that of its content. ``pieces`` are record batches of the file ``headers``.
    ``begin`` and ``end`` are offsets of what is good, ``end`` the one after it.
    ``holes`` says that a cleaner was at work, ``tail_jump`` that only the last batch
    skips more offsets than the bytes before it can have held. ``is_genuine``:
    its name can be relied on, as there are batches in it, or indexes beside it.
    ``nameless`` is what was found when its name was not believed, ``unbounded`` when
    that of the file after it was not, if that is more.
    """

    segment: log.Segment
    folder: str
    name_offset: int
    headers: str
    pieces: tuple[int, ...]
    batches: int
    good_bytes: int
    begin: int
    end: int
    is_chained: bool
    holes: bool
    tail_jump: bool
    is_genuine: bool
    epochs: tuple[EpochRun, ...]
    flaws: tuple[FileFlaw, ...]
    nameless: FileScan | None = None
    unbounded: FileScan | None = None

    @property
    def path(self) -> str:
        """The file's path."""
        return format_name(self.segment.path)

    @property
    def ends_badly(self) -> bool:
        """Whether the file ends with something bad that is no cut."""
        last = self.flaws[-1] if self.flaws else None
        size = self.segment.size
        return (
            last is not None
            and last.position + last.length == size
            and (last.reason != "cut")
        )


class ScanTask(NamedTuple):
    """Segments that are scanned by one task, with their folders."""

    headers: str
    segments: tuple[tuple[str, log.Segment], ...]
    limits: Limits


def scan(task: ScanTask) -> list[FileScan]:
    """Scan the segments of a task; the headers are in ``task.headers`` then."""
    import pyarrow

    schema = pyarrow.schema([(name, pyarrow.int64()) for name in COLUMNS])
    with (
        create_file(task.headers, replaces=True) as sink,
        pyarrow.ipc.new_file(sink, schema) as writer,
    ):
        pieces = _HeaderWriter(pyarrow, schema, writer)
        return [
            _scan_file(task, folder, segment, pieces)
            for folder, segment in task.segments
        ]


class _HeaderWriter:
    """Writes pieces, and counts them."""

    def __init__(self, pyarrow: Any, schema: Any, writer: Any) -> None:
        self._pyarrow = pyarrow
        self._schema = schema
        self._writer = writer
        self.count = 0

    def write(self, rows: list[tuple[int, ...]]) -> int:
        columns = [
            self._pyarrow.Array.from_buffers(
                self._pyarrow.int64(),
                len(rows),
                [None, self._pyarrow.py_buffer(array("q", column))],
            )
            for column in zip(*rows, strict=True)
        ]
        self._writer.write_batch(
            self._pyarrow.RecordBatch.from_arrays(columns, schema=self._schema)
        )
        self.count += 1
        return self.count - 1


def _scan_file(
    task: ScanTask, folder: str, segment: log.Segment, pieces: _HeaderWriter
) -> FileScan:
    """Scan a file by its name, and again without if the name does not fit."""
    by_name = _Scanner(folder, segment, task, pieces).run()
    if segment.next_base_offset is not None and by_name.ends_badly:
        unbounded = copy.copy(segment)
        unbounded.next_base_offset = None
        more = _Scanner(folder, unbounded, task, pieces).run()
        if more.good_bytes > by_name.good_bytes:
            by_name = by_name._replace(unbounded=more)
    if by_name.good_bytes * 2 >= segment.size or not by_name.flaws:
        return by_name
    # A wrong name contradicts all batches up to it. If it contradicts only the first
    # one, the offset of that batch is damaged, however large the batch is.
    misplaced = [flaw.position for flaw in by_name.flaws if flaw.reason == "offset"]
    if by_name.batches and misplaced == [0]:
        return by_name
    nameless = copy.copy(segment)
    nameless.base_offset = -1
    nameless.next_base_offset = None
    by_content = _Scanner(folder, nameless, task, pieces).run()
    if by_content.good_bytes <= 2 * by_name.good_bytes:
        return by_name
    name = segment.base_offset
    detail = f"named after offset {name}, but holds offsets from {by_content.begin}"
    wrong = FileFlaw(0, 0, "name", detail)
    by_content = by_content._replace(
        name_offset=name, flaws=(wrong, *by_content.flaws), is_genuine=True
    )
    # A single batch whose offset is damaged looks like a file with a wrong name.
    if by_content.is_chained:
        return by_content
    return by_name._replace(nameless=by_content)


class _FollowedHeaders(NamedTuple):
    """The position and the offset after the readable headers of a damaged region.

    ``end`` is -1 if no header can be read.
    """

    position: int
    end: int


class _Scanner:
    """Goes once through one file."""

    def __init__(
        self, folder: str, segment: log.Segment, task: ScanTask, pieces: _HeaderWriter
    ) -> None:
        self._folder = folder
        self._segment = segment
        self._task = task
        self._pieces = pieces
        self._written: list[int] = []
        self._unwritten: list[tuple[int, ...]] = []
        self._flaws: list[FileFlaw] = []
        self._open = 0
        self._batches = self._good_bytes = self._position = 0
        self._begin = self._end = -1
        self._is_chained = self._holes = False
        # The last damaged region, as far as its headers can be read.
        self._damage = _FollowedHeaders(0, -1)
        # The last batch that skips more offsets than the bytes before it can have held.
        self._jump = -1
        self._epochs: list[list[int]] = []

    def run(self) -> FileScan:
        rows: list[BatchHeader] = []
        segment = self._segment
        try:
            for header in segment.headers(
                check_crc=True,
                on_corrupt=lambda problem: self._note_problem(problem, rows),
                strict_tail=True,
                limits=self._task.limits,
            ):
                rows.append(header)
                if len(rows) >= _ROWS:
                    self._flush(rows)
        except OSError as error:
            self._flush(rows)
            reason = error.strerror or type(error).__name__
            self._flaws.append(FileFlaw(0, 0, "unreadable", reason, self._end))
        self._flush(rows)
        self._write()
        is_genuine = self._batches > 0 or self._has_neighbours()
        return FileScan(
            segment=segment,
            folder=self._folder,
            name_offset=segment.base_offset,
            headers=self._task.headers,
            pieces=tuple(self._written),
            batches=self._batches,
            good_bytes=self._good_bytes,
            begin=self._begin,
            end=self._end,
            is_chained=self._is_chained,
            holes=self._holes or 0 <= self._jump < self._batches - 1,
            tail_jump=self._jump >= 0 and self._jump == self._batches - 1,
            is_genuine=is_genuine,
            epochs=tuple(EpochRun(*run) for run in self._epochs),
            flaws=tuple(self._flaws),
        )

    def _has_neighbours(self) -> bool:
        """Whether indexes of the same name show that Kafka made this file."""
        try:
            return (
                self._segment.index is not None or self._segment.time_index is not None
            )
        except (DecodeError, OSError):
            return True

    def _note_problem(self, problem: log.Problem, rows: list[BatchHeader]) -> None:
        self._flush(rows)
        stop = problem.position + problem.length
        at_end = stop >= self._segment.size
        self._damage = self._follow_headers(problem.position, stop)
        torn_end = -1
        if at_end and self._segment.is_newest:
            torn_end = self._damage.end
        self._flaws.append(
            FileFlaw(
                problem.position,
                problem.length,
                problem.reason,
                problem.detail,
                low=self._end,
                torn_end=torn_end,
                is_tail=at_end
                and self._segment.is_newest
                and problem.reason == "zeros",
            )
        )

    def _follow_headers(self, position: int, stop: int) -> _FollowedHeaders:
        """Follow the headers of damaged batches from ``position`` to ``stop``.

        A header counts if its offsets agree with the batch before it and with its own
        number of records.
        """
        expected = self._end if self._end >= 0 else self._segment.base_offset
        end = -1
        with self._segment.open() as file:
            while (
                position < stop
                and file.fill(position, position + BATCH_OVERHEAD)
                >= position + BATCH_OVERHEAD
            ):
                base, length = unpack_from(">qi", file.data, position)
                (delta,) = unpack_from(">i", file.data, position + LAST_OFFSET_DELTA_AT)
                (count,) = unpack_from(">i", file.data, position + COUNT_AT)
                is_sound = (
                    file.data[position + MAGIC_AT] == 2 and count == delta + 1 > 0
                )
                if (
                    not is_sound
                    or base != expected
                    or length < BATCH_OVERHEAD - LOG_OVERHEAD
                ):
                    break
                end = expected = base + count
                position += LOG_OVERHEAD + length
        return _FollowedHeaders(position, end)

    def _flush(self, rows: list[BatchHeader]) -> None:
        """Take the headers that were gathered."""
        for values in self._make_columns(rows):
            self._observe(values)
            self._unwritten.append(values)
        rows.clear()
        if len(self._unwritten) >= _ROWS:
            self._write()

    def _write(self) -> None:
        if self._unwritten:
            self._written.append(self._pieces.write(self._unwritten))
            self._unwritten.clear()

    def _observe(self, values: tuple[int, ...]) -> None:
        at, size, base, last, count, epoch, _crc, attributes, magic = values[:9]
        if self._begin < 0:
            self._begin = base
        elif base == self._end:
            self._is_chained = True
        elif self._skips_too_much(base, at):
            self._holes = self._holes or self._jump >= 0
            self._jump = self._batches
        while self._open < len(self._flaws):
            flaw = self._flaws[self._open]
            self._flaws[self._open] = flaw._replace(high=base - 1)
            self._open += 1
        if magic == 2 and (count <= last - base or attributes & DELETE_HORIZON):
            self._holes = True
        runs = self._epochs
        if runs and runs[-1][0] == epoch:
            runs[-1][2] = last
            runs[-1][3] += 1
        else:
            runs.append([epoch, base, last, 1])
        self._batches += 1
        self._good_bytes += size
        self._end = last + 1
        self._position = at + size

    def _skips_too_much(self, base: int, position: int) -> bool:
        """Whether the bytes before a batch cannot have held the offsets it skips."""
        begin, end = self._position, self._end
        if self._damage.end > end and self._damage.position <= position:
            begin, end = self._damage
        return base - end > MAX_RECORDS_PER_BYTE * (position - begin)

    def _make_columns(self, rows: list[BatchHeader]) -> Iterator[tuple[int, ...]]:
        """Give the columns of headers; wrappers are decoded for their first offset."""
        wrappers: dict[int, tuple[int, int]] = {}
        problems: dict[int, log.Problem] = {}
        if any(header.count < 0 for header in rows):
            for batch in self._segment.batches(
                rows[0].position,
                rows[-1].position + rows[-1].size,
                on_corrupt=lambda each: problems.setdefault(each.position, each),
                are_offsets_right=True,
                errors="replace",
                limits=self._task.limits,
            ):
                wrappers[batch.position] = batch.base_offset, len(batch.records)
        for header in rows:
            position, base, count = header.position, header.base_offset, header.count
            if position in problems:
                bad = problems[position]
                self._flaws.append(
                    FileFlaw(
                        position, bad.length, bad.reason, bad.detail, low=self._end
                    )
                )
                continue
            if count < 0:
                base, count = wrappers[position]
            yield (
                position,
                header.size,
                base,
                header.last_offset,
                count,
                header.partition_leader_epoch,
                header.crc,
                header.attributes,
                header.magic,
                header.base_timestamp,
                header.max_timestamp,
                header.producer_id,
                header.producer_epoch,
                header.base_sequence,
            )
