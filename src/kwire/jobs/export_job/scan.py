# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""First export pass: reads all batch headers in every segment file.

A file is read once. If its name does not match its content, it is read again with other
assumptions. Headers of valid batches are written to a scratch file, and damaged regions
are reported as ``FileFlaw``. Records are only decoded in compressed messages (magic 0
and 1), because their headers do not contain the first offset.

The scratch file of a task is a numpy array with one row per batch. The columns are the
``BatchHeader`` fields. ``FileScan.first_row`` and ``FileScan.batches`` select the rows
that belong to a segment file.
"""

from __future__ import annotations

import copy
from struct import unpack_from
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import log
from ..._files import create_file
from ..._limits import Limits
from ..._text import format_name
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
from .header_rows import FIELDS, ROW_BYTES, join_rows, make_rows, split_runs

if TYPE_CHECKING:
    from typing import BinaryIO

    from numpy.typing import NDArray

    from ...records import BatchHeader


_MAX_WAITING = 16_384
"""Number of batch headers that are collected as objects before they are converted to
rows of an array, which need less memory.
"""


class FileFlaw(NamedTuple):
    """Damaged region in a segment file, or missing data at one position.

    * ``position``: byte position of the damaged region in the file.
    * ``length``: size of the damaged region in bytes.
    * ``low``: first offset that may be affected, or -1 if the file does not show it.
    * ``high``: last offset that may be affected, or -1 if the file does not show it.
    * ``torn_end``: offset after damaged batches at the end of the newest segment, if
      their headers are still readable. Otherwise -1.
    * ``is_tail``: the newest segment ends with zeros. They are either preallocated
      space or overwritten batches.
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
    """Consecutive batches with the same leader epoch in their headers.

    * ``epoch``: leader epoch.
    * ``first_offset``: base offset of the first batch.
    * ``last_offset``: last offset of the last batch.
    * ``batches``: number of batches.
    """

    epoch: int
    first_offset: int
    last_offset: int
    batches: int


class FileScan(NamedTuple):
    """Content of one segment file.

    * ``segment``: the file, configured for later passes. If its name does not match its
      content, the base offset is removed.
    * ``name_offset``: offset in the file name.
    * ``headers``: path of the scratch file. The valid batches are ``batches`` rows,
      starting with ``first_row``.
    * ``good_bytes``: total size of valid batches.
    * ``begin``: first offset of the first batch, or -1 if there are no valid batches.
    * ``end``: offset after the last batch, or -1 if there are no valid batches.
    * ``is_chained``: at least two neighbouring batches have consecutive offsets.
    * ``holes``: the log cleaner has removed records.
    * ``tail_jump``: only the last batch skips more offsets than the bytes before it can
      have contained.
    * ``is_genuine``: the name can be trusted, because there are valid batches or index
      files.
    * ``epochs``: batches grouped by leader epoch.
    * ``nameless``: alternative scan that ignores the file name.
    * ``unbounded``: alternative scan that ignores the name of the next file.

    The alternative scans are None unless they are possibly more accurate.
    """

    segment: log.Segment
    folder: str
    name_offset: int
    headers: str
    first_row: int
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
    def ends_badly(self) -> bool:
        """Whether the file ends with damage other than a truncated last batch."""
        if not self.flaws:
            return False
        last = self.flaws[-1]
        is_at_end = last.position + last.length == self.segment.size
        return is_at_end and last.reason != "cut"

    @property
    def path(self) -> str:
        """Path of the segment file."""
        return format_name(self.segment.path)

    def read_headers(self) -> NDArray[Any]:
        """Map the batch headers of this segment as an array, see ``header_rows``."""
        import numpy

        if not self.batches:
            return make_rows([])
        start = self.first_row * ROW_BYTES
        return numpy.memmap(self.headers, FIELDS, "r", start, (self.batches,))


class ScanTask(NamedTuple):
    """Input for a scan task.

    * ``headers``: path of the scratch file to create.
    * ``segments``: (partition directory, segment file) pairs.
    * ``limits``: decoding limits for a single batch.
    """

    headers: str
    segments: tuple[tuple[str, log.Segment], ...]
    limits: Limits


def scan(task: ScanTask) -> list[FileScan]:
    """Scan the segment files of a task, and write their headers to a scratch file."""
    with create_file(task.headers, replaces=True) as sink:
        return [_scan_file(task, *segment, sink) for segment in task.segments]


def _scan_file(
    task: ScanTask, folder: str, segment: log.Segment, sink: BinaryIO
) -> FileScan:
    """Scan a file, and repeat the scan if the file name seems to be incorrect."""

    def read(base_offset: int, next_base_offset: int | None) -> FileScan:
        adjusted = copy.copy(segment)
        adjusted.base_offset, adjusted.next_base_offset = base_offset, next_base_offset
        return _SegmentScanner(adjusted, task.limits).write(task.headers, folder, sink)

    name = segment.base_offset
    by_name = read(name, segment.next_base_offset)
    if segment.next_base_offset is not None and by_name.ends_badly:
        unbounded = read(name, None)
        if unbounded.good_bytes > by_name.good_bytes:
            by_name = by_name._replace(unbounded=unbounded)
    # An incorrect file name contradicts many batches. If the name contradicts only the
    # first batch, the offset of this batch is damaged instead, even if the batch is
    # larger than all other batches together.
    misplaced = [flaw.position for flaw in by_name.flaws if flaw.reason == "offset"]
    has_one_misplaced = by_name.batches > 0 and misplaced == [0]
    is_good = not by_name.flaws or by_name.good_bytes * 2 >= segment.size
    if is_good or has_one_misplaced:
        return by_name
    nameless = read(-1, None)
    if nameless.good_bytes <= 2 * by_name.good_bytes:
        return by_name
    detail = f"named after offset {name}, but holds offsets from {nameless.begin}"
    flaws = FileFlaw(0, 0, "name", detail), *nameless.flaws
    nameless = nameless._replace(name_offset=name, flaws=flaws, is_genuine=True)
    # A file with a single batch whose offset is damaged looks like a file with an
    # incorrect name. Only decide here if consecutive batches confirm the offsets.
    return nameless if nameless.is_chained else by_name._replace(nameless=nameless)


class _SegmentScanner:
    """Scan of one segment file under fixed assumptions about its name.

    ``_chunks`` collects header rows. ``_flaws`` are pairs (number of batches before the
    flaw, flaw). ``_followed`` are tuples (number of batches before it, byte position,
    offset), which record how far the headers within a damaged region can be followed.
    """

    def __init__(self, segment: log.Segment, limits: Limits) -> None:
        self._segment = segment
        self._limits = limits
        self._waiting_headers: list[BatchHeader] = []
        self._chunks = [make_rows([])]
        self._batches = 0
        self._end = -1
        self._flaws: list[tuple[int, FileFlaw]] = []
        self._followed = [(0, 0, -1)]
        try:
            for header in segment.headers(
                check_crc=True,
                on_corrupt=self._add_problem,
                strict_tail=True,
                limits=limits,
            ):
                self._waiting_headers.append(header)
                if len(self._waiting_headers) >= _MAX_WAITING:
                    self._add_batches()
        except OSError as error:
            self._add_batches()
            reason = error.strerror or type(error).__name__
            self._add_flaw(FileFlaw(0, 0, "unreadable", reason))
        self._add_batches()

    def _add_flaw(self, flaw: FileFlaw) -> None:
        self._flaws.append((self._batches, flaw._replace(low=self._end)))

    def _add_problem(self, problem: log.Problem) -> None:
        """Record a damaged region reported while reading the file."""
        self._add_batches()
        stop = problem.position + problem.length
        is_tail = stop >= self._segment.size and self._segment.is_newest
        expected = self._end if self._end >= 0 else self._segment.base_offset
        position, end = _follow_headers(self._segment, problem.position, stop, expected)
        self._followed.append((self._batches, position, end))
        flaw = _make_flaw(problem)
        if is_tail:
            flaw = flaw._replace(torn_end=end, is_tail=flaw.reason == "zeros")
        self._add_flaw(flaw)

    def _add_batches(self) -> None:
        """Convert waiting headers to rows.

        Compressed messages (magic 0 and 1) have headers without first offset and record
        count, so the records are decoded. Messages that cannot be decoded become flaws.
        """
        rows = make_rows(self._waiting_headers)
        if (rows["record_count"] < 0).any():
            rows = self._decode_messages(rows)
        self._waiting_headers.clear()
        self._append_rows(rows)

    def _append_rows(self, rows: NDArray[Any]) -> None:
        if len(rows):
            self._chunks.append(rows)
            self._batches += len(rows)
            self._end = int(rows["last_offset"][-1]) + 1

    def _decode_messages(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Add first offsets and record counts by decoding the batches of ``rows``.

        Rows before the last flaw are appended. Returns the remaining rows.
        """
        problems: dict[int, log.Problem] = {}
        row_by_position = {
            position: row for row, position in enumerate(rows["position"].tolist())
        }
        for batch in self._segment.batches(
            self._waiting_headers[0].position,
            self._waiting_headers[-1].position + self._waiting_headers[-1].size,
            on_corrupt=lambda problem: problems.setdefault(problem.position, problem),
            are_offsets_right=True,
            errors="replace",
            limits=self._limits,
        ):
            row = rows[row_by_position[batch.position]]
            if row["record_count"] < 0:
                row["base_offset"], row["record_count"] = (
                    batch.base_offset,
                    len(batch.records),
                )
        start = 0
        for position, problem in problems.items():
            self._append_rows(rows[start : row_by_position[position]])
            self._add_flaw(_make_flaw(problem))
            start = row_by_position[position] + 1
        return rows[start:]

    def write(self, headers: str, folder: str, sink: BinaryIO) -> FileScan:
        """Write the rows to the scratch file, and return the scan result.

        * ``headers``: path of the scratch file.
        * ``folder``: partition directory of the segment.
        * ``sink``: the opened scratch file.
        """
        first_row = sink.tell() // ROW_BYTES
        rows = join_rows(self._chunks)
        sink.write(rows.tobytes())
        base, last = rows["base_offset"], rows["last_offset"]
        is_thinned = (rows["record_count"] <= last - base) | (
            rows["attributes"] & DELETE_HORIZON != 0
        )
        jumps = _find_jumps(rows, self._followed)
        epoch = rows["partition_leader_epoch"]
        return FileScan(
            segment=self._segment,
            folder=folder,
            name_offset=self._segment.base_offset,
            headers=headers,
            first_row=first_row,
            batches=len(rows),
            good_bytes=int(rows["size"].sum()),
            begin=int(base[0]) if len(rows) else -1,
            end=self._end,
            is_chained=bool((base[1:] == last[:-1] + 1).any()),
            holes=bool((is_thinned & (rows["magic"] == 2)).any() or jumps[:-1].any()),
            tail_jump=bool(jumps[-1:].any()),
            is_genuine=len(rows) > 0 or _has_index(self._segment),
            epochs=tuple(
                EpochRun(
                    int(epoch[first]),
                    int(base[first]),
                    int(last[stop - 1]),
                    stop - first,
                )
                for first, stop in split_runs(epoch)
            ),
            flaws=tuple(
                flaw._replace(high=int(base[batch_index]) - 1)
                if batch_index < len(rows)
                else flaw
                for batch_index, flaw in self._flaws
            ),
        )


def _make_flaw(problem: log.Problem) -> FileFlaw:
    return FileFlaw(problem.position, problem.length, problem.reason, problem.detail)


def _find_jumps(rows: NDArray[Any], followed: list[tuple[int, int, int]]) -> Any:
    """Mark batches that skip more offsets than the preceding bytes can have contained.

    The result has no entry for the first batch. Only the bytes after the previous batch
    count. If readable headers in the last damaged region extend beyond that batch, only
    the bytes after these headers count.
    """
    import numpy

    base, position = rows["base_offset"][1:], rows["position"][1:]
    end = rows["last_offset"][:-1] + 1
    begin = rows["position"][:-1] + rows["size"][:-1]
    region_rows, region_positions, region_ends = numpy.array(followed).T
    regions = numpy.searchsorted(region_rows, numpy.arange(1, len(rows)), "right") - 1
    leads_further = (region_ends[regions] > end) & (
        region_positions[regions] <= position
    )
    begin = numpy.where(leads_further, region_positions[regions], begin)
    end = numpy.where(leads_further, region_ends[regions], end)
    return base - end > MAX_RECORDS_PER_BYTE * (position - begin)


def _follow_headers(
    segment: log.Segment, position: int, stop: int, expected: int
) -> tuple[int, int]:
    """Follow the headers of damaged batches between two byte positions.

    A header is accepted if it has magic 2, its record count matches its last offset
    delta, and its base offset is ``expected``, which is then advanced. Returns the
    position and the offset after the last accepted header, or offset -1 if no header is
    acceptable.
    """
    end = -1
    with segment.open() as file:
        while position < stop:
            header_end = position + BATCH_OVERHEAD
            if file.fill(position, header_end) < header_end:
                break
            base, length = unpack_from(">qi", file.data, position)
            (delta,) = unpack_from(">i", file.data, position + LAST_OFFSET_DELTA_AT)
            (count,) = unpack_from(">i", file.data, position + COUNT_AT)
            if (
                file.data[position + MAGIC_AT] != 2
                or not count == delta + 1 > 0
                or base != expected
                or length < BATCH_OVERHEAD - LOG_OVERHEAD
            ):
                break
            end = expected = base + count
            position += LOG_OVERHEAD + length
    return position, end


def _has_index(segment: log.Segment) -> bool:
    """Return whether an index file exists, which proves that Kafka wrote the segment.

    A damaged index also counts.
    """
    try:
        return segment.index is not None or segment.time_index is not None
    except (DecodeError, OSError):
        return True
