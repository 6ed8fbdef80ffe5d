# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the records and batches that the options select, in their order.

``cli/output/records.py`` formats records, and ``cli/output/batch_rows.py`` batches.
"""

from __future__ import annotations

from collections import deque
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

    Read = Callable[[log.Segment, int, int | None], Iterator[Any]]
    """Gives batches or headers that begin between two bytes of a file."""

    MakeRows = Callable[[log.Segment, Any], Iterator[Any]]
    """Gives the rows of one of them."""

_PIECES = 256
"""In how many pieces a segment is read backwards; each has a MiB at least."""


class Wanted(NamedTuple):
    """Which records are wanted; None is no condition."""

    from_offset: int | None
    to_offset: int | None
    from_time: int | None
    to_time: int | None
    key: bytes | None

    def has(self, record: Record) -> bool:
        """Whether a record meets all conditions but those on offsets."""
        return (
            (self.key is None or record.key == self.key)
            and (self.from_time is None or record.timestamp >= self.from_time)
            and (self.to_time is None or record.timestamp < self.to_time)
        )

    def select(self, records: Sequence[Record]) -> Sequence[Record]:
        """Return the records that meet all conditions but those on offsets."""
        if self.key is None and self.from_time is None and self.to_time is None:
            return records
        return [record for record in records if self.has(record)]

    def has_batch(self, header: BatchHeader) -> bool:
        """Whether a batch may hold what is wanted."""
        return (
            (self.from_offset is None or header.last_offset >= self.from_offset)
            and (self.to_offset is None or header.base_offset < self.to_offset)
            and (self.from_time is None or header.max_timestamp >= self.from_time)
            and (self.to_time is None or header.base_timestamp < self.to_time)
        )


class RecordReader:
    """Reads what is wanted, file by file, and reports progress.

    With ``tail``, only so many rows of each partition, the last ones.
    """

    def __init__(
        self,
        inputs: LogInputs,
        wanted: Wanted,
        tail: int | None,
        progress: Progress,
        skip_corrupt: bool,
    ) -> None:
        self.skipped = 0
        self._inputs = inputs
        self._wanted = wanted
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

    def record_runs(self, isolation: str, control: bool) -> Iterator[RecordRun]:
        """Iterate over the records that are wanted."""

        def runs(file: log.Segment, batch: Batch) -> Iterator[RecordRun]:
            if batch.is_control and not control:
                return
            records = self._wanted.select(batch.records)
            if self._tail is not None:
                for record in records:
                    yield make_run(file.topic, file.partition, batch, [record])
            elif records:
                yield make_run(file.topic, file.partition, batch, records)

        for partition in self._inputs.partitions:
            read = self._reads_batches(partition, isolation)
            yield from join_runs(self._rows(partition, read, runs))

    def _reads_batches(self, partition: log.Partition, isolation: str) -> Read:
        options: dict[str, Any] = {}
        if isolation == "read_committed":
            options["transactions"] = partition.transactions()

        def read(file: log.Segment, start: int, end: int | None) -> Iterator[Batch]:
            return file.batches(
                start,
                end,
                start_offset=self._wanted.from_offset,
                end_offset=self._wanted.to_offset,
                isolation_level=isolation,
                on_corrupt=self._on_corrupt,
                errors="replace",
                **options,
            )

        return read

    def batch_rows(self) -> Iterator[tuple[log.Segment, BatchHeader]]:
        """Iterate over the batches that are wanted, each with its file."""

        def read(
            file: log.Segment, start: int, end: int | None
        ) -> Iterator[BatchHeader]:
            return file.headers(start, end, on_corrupt=self._on_corrupt)

        def rows(file: log.Segment, header: BatchHeader) -> Iterator[Any]:
            if self._wanted.has_batch(header):
                yield file, header

        for partition in self._inputs.partitions:
            yield from self._rows(partition, read, rows)

    def _rows(
        self, partition: log.Partition, read: Read, rows: MakeRows
    ) -> Iterator[Any]:
        if self._tail is not None:
            yield from self._last_rows(partition, read, rows, self._tail)
            return
        for file in list_files(partition):
            self._progress.name(format_name(file.path))
            start = self._start(file)
            base = self._progress.done
            if start is not None:
                for item in read(file, start, None):
                    yield from rows(file, item)
                    self._progress.reach(base + item.position + item.size)
            self._progress.reach(base + file.size)

    def _last_rows(
        self, partition: log.Partition, read: Read, rows: MakeRows, missing: int
    ) -> list[Any]:
        """Read a partition from its end, piece by piece, until there are enough."""
        found: list[Any] = []
        for file in reversed(list_files(partition)):
            self._progress.name(format_name(file.path))
            start = self._start(file) if missing else None
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

    def _start(self, file: log.Segment) -> int | None:
        """Find the first byte to read; None if nothing in the file can be wanted."""
        wanted = self._wanted
        start: int | None = 0
        above = file.next_base_offset
        if wanted.from_offset is not None:
            passed = above is not None and above <= wanted.from_offset
            start = None if passed else file.seek(wanted.from_offset)
        if wanted.to_offset is not None and file.base_offset >= wanted.to_offset:
            start = None
        if start is not None and wanted.from_time is not None:
            found = file.seek_timestamp(wanted.from_time)
            start = None if found is None else max(start, found)
        return start


def _pieces_from_end(
    file: log.Segment, start: int | None
) -> list[tuple[int, int | None]]:
    """Cut a file between batches, from a byte on: the last piece comes first."""
    if start is None:
        return []
    cuts = file.find_splits(max(MIB, file.size // _PIECES))
    begins = [start, *(cut for cut in cuts if cut > start)]
    return [*pairwise(begins), (begins[-1], None)][::-1]
