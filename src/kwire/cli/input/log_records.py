# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the selected records or batches from log files, in order.

``cli/output/records.py`` formats records, and ``cli/output/batch_rows.py`` batches.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..._limits import MIB
from ..._text import escape_line, format_name
from ..output.record_runs import join_runs, make_run
from ..output.terminal import say
from .logs import list_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ... import log
    from ...records import Batch, BatchHeader, Record
    from ..output.progress import Progress
    from ..output.record_runs import RecordRun
    from .logs import LogInputs
    from .selection import Position

    Read = Callable[[log.Segment, int, int | None], Iterator[Any]]
    """Function that returns the batches, or the headers, in a byte range of a file."""

    MakeRows = Callable[[log.Segment, Any], Iterator[Any]]
    """Function that converts a batch or a header in a file to output rows."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_PIECES = 256
"""Maximum number of pieces into which a segment is split when it is read backwards. A
segment has fewer pieces if they would be smaller than 1 MiB.
"""


class OffsetRange(NamedTuple):
    """Offset range of a partition.

    * ``start``: first offset, or None for no limit.
    * ``end``: offset after the last one, or None for no limit.
    """

    start: int | None
    end: int | None

    def has_batch(self, header: BatchHeader) -> bool:
        """Whether a batch may contain records in the range."""
        return (self.start is None or header.last_offset >= self.start) and (
            self.end is None or header.base_offset < self.end
        )


def find_range(
    partition: log.Partition, start: Position, end: Position | None
) -> OffsetRange:
    """Resolve positions to partition offsets.

    A time is resolved to the first record with this timestamp or a later one, as
    brokers do when they answer ListOffsets. Later records may have earlier timestamps.
    """
    begin = _find_offset(partition, start)
    if begin is not None and begin < 0:
        begin += _find_end(partition)
    return OffsetRange(begin, None if end is None else _find_offset(partition, end))


def _find_offset(partition: log.Partition, position: Position) -> int | None:
    """Resolve a position to an offset. None means the beginning of the partition."""
    if position == "earliest":
        return None
    if isinstance(position, int):
        return position
    if isinstance(position, timedelta):
        position = datetime.now(UTC) - position
    if isinstance(position, datetime):
        timestamp = (position - _EPOCH) // timedelta(milliseconds=1)
        for file in list_files(partition):
            offset = file.offset_for_timestamp(timestamp)
            if offset is not None:
                return offset
    return _find_end(partition)


def _find_end(partition: log.Partition) -> int:
    """Return the log end offset: the offset after the last batch."""
    for file in reversed(list_files(partition)):
        headers = file.headers(file.seek_before(2**62), on_corrupt="skip")
        ends = [header.next_offset for header in headers]
        if ends:
            return ends[-1]
    return partition.start_offset


class RecordReader:
    """Reads the selected records or batches file by file, and reports progress.

    * ``start`` and ``end``: positions in the partitions.
    * ``key``: select only records with this key.
    * ``tail``: maximum number of rows per partition. Only the last rows are read.
    * ``skip_corrupt``: if True, problems are printed and counted in ``skipped``, and
      reading continues. If False, the first problem raises ``ClickException``.
    """

    def __init__(
        self,
        inputs: LogInputs,
        start: Position,
        end: Position | None,
        key: bytes | None,
        tail: int | None,
        progress: Progress,
        skip_corrupt: bool,
    ) -> None:
        self.skipped = 0
        self._inputs = inputs
        self._start_position = start
        self._end_position = end
        self._key = key
        self._tail = tail
        self._progress = progress
        self._on_corrupt: Any = self._skip if skip_corrupt else self._stop

    def _skip(self, problem: log.Problem) -> None:
        self.skipped += 1
        with self._progress.hidden():
            say(escape_line(str(problem)))

    def _stop(self, problem: log.Problem) -> None:
        raise click.ClickException(
            f"{escape_line(str(problem))}; add --skip-corrupt to continue after it"
        )

    def record_runs(self, isolation_level: str, control: bool) -> Iterator[RecordRun]:
        """Iterate over the selected records as runs.

        Control records are omitted unless ``control`` is True.
        """

        def runs(file: log.Segment, batch: Batch) -> Iterator[RecordRun]:
            if batch.is_control and not control:
                return
            records: Sequence[Record] = batch.records
            if self._key is not None:
                records = [record for record in records if record.key == self._key]
            if self._tail is not None:
                for record in records:
                    yield make_run(file.topic, file.partition, batch, [record])
            elif records:
                yield make_run(file.topic, file.partition, batch, records)

        for partition in self._inputs.partitions:
            offsets = self._find_range(partition)
            read = self._reads_batches(partition, offsets, isolation_level)
            yield from join_runs(self._rows(partition, offsets, read, runs))

    def _find_range(self, partition: log.Partition) -> OffsetRange:
        return find_range(partition, self._start_position, self._end_position)

    def _reads_batches(
        self, partition: log.Partition, offsets: OffsetRange, isolation_level: str
    ) -> Read:
        options: dict[str, Any] = {}
        if isolation_level == "read_committed":
            options["transactions"] = partition.transactions()

        def read(file: log.Segment, start: int, end: int | None) -> Iterator[Batch]:
            return file.batches(
                start,
                end,
                start_offset=offsets.start,
                end_offset=offsets.end,
                isolation_level=isolation_level,
                on_corrupt=self._on_corrupt,
                errors="replace",
                **options,
            )

        return read

    def batch_rows(self) -> Iterator[tuple[log.Segment, BatchHeader]]:
        """Iterate over the selected batch headers, together with their files."""

        def read(
            file: log.Segment, start: int, end: int | None
        ) -> Iterator[BatchHeader]:
            return file.headers(start, end, on_corrupt=self._on_corrupt)

        for partition in self._inputs.partitions:
            offsets = self._find_range(partition)

            def rows(
                file: log.Segment, header: BatchHeader, offsets: OffsetRange = offsets
            ) -> Iterator[Any]:
                if offsets.has_batch(header):
                    yield file, header

            yield from self._rows(partition, offsets, read, rows)

    def _rows(
        self,
        partition: log.Partition,
        offsets: OffsetRange,
        read: Read,
        rows: MakeRows,
    ) -> Iterator[Any]:
        if self._tail is not None:
            yield from self._last_rows(partition, offsets, read, rows, self._tail)
            return
        for file in list_files(partition):
            self._progress.name(format_name(file.path))
            start = _find_position(file, offsets)
            base = self._progress.done
            if start is not None:
                for item in read(file, start, None):
                    yield from rows(file, item)
                    self._progress.reach(base + item.position + item.size)
            self._progress.reach(base + file.size)

    def _last_rows(
        self,
        partition: log.Partition,
        offsets: OffsetRange,
        read: Read,
        rows: MakeRows,
        missing: int,
    ) -> list[Any]:
        """Read a partition backwards until ``missing`` rows have been read.

        Files are read piece by piece, so that memory is bounded. Returns the rows in
        order.
        """
        found: list[Any] = []
        for file in reversed(list_files(partition)):
            self._progress.name(format_name(file.path))
            start = _find_position(file, offsets) if missing else None
            for begin, end in _pieces_from_end(file, start):
                piece: deque[Any] = deque(maxlen=missing)
                for item in read(file, begin, end):
                    piece.extend(rows(file, item))
                found[:0] = piece
                missing -= len(piece)
                if not missing:
                    break
            self._progress.advance(file.size)
        return found


def _find_position(file: log.Segment, offsets: OffsetRange) -> int | None:
    """Return the first byte position to read, or None if no record is selected."""
    if offsets.end is not None and file.base_offset >= offsets.end:
        return None
    if offsets.start is None:
        return 0
    above = file.next_base_offset
    if above is not None and above <= offsets.start:
        return None
    return file.seek(offsets.start)


def _pieces_from_end(
    file: log.Segment, start: int | None
) -> list[tuple[int, int | None]]:
    """Split a file between batches, and return the pieces in reverse order.

    A piece is a pair (begin, end) of byte positions. ``end`` is None for the last piece
    of the file. ``start`` is the position of the first piece. The result is empty if
    ``start`` is None.
    """
    if start is None:
        return []
    cuts = file.find_splits(max(MIB, file.size // _PIECES))
    begins = [start, *(cut for cut in cuts if cut > start)]
    return [*pairwise(begins), (begins[-1], None)][::-1]
