# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a log is sound: its batches, and what stands beside them.

``examine`` is one pass over the segments of a partition: damage, gaps and overlaps.
``verify`` looks at the indexes, the epochs, the transactions and the snapshots in the
same pass. Nothing is looked at record by record unless it is asked for.
"""

from __future__ import annotations

from ..errors import DecodeError
from ..limits import DEFAULT
from . import problems
from .checkpoints import read_leader_epochs, read_partition_metadata
from .decoding import check_records
from .problems import Problem
from .segments import Segment
from .snapshots import ProducerSnapshot
from .transactions import ABORT, marker_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..limits import Limits
    from ..records import BatchHeader
    from .file_bytes import FileBytes
    from .partitions import Partition
    from .storage import Place

_NEVER = 2**63


def verify(
    log: Partition | Segment,
    *,
    deep: bool = False,
    strict_tail: bool = False,
    progress: Callable[[int], object] | None = None,
    limits: Limits = DEFAULT,
) -> Iterator[Problem]:
    """Verify a partition or one segment with all that belongs to it.

    Checksums, offsets, gaps; entries of ``.index``, ``.timeindex`` and ``.txnindex``
    against the batches; leader epochs; producer snapshots. ``deep`` decodes the
    records as well. ``progress`` is called every few MiB with the number of bytes
    since the last call. Findings beside the ``.log`` have the path of their file.
    """
    if isinstance(log, Segment):
        checks = Checks((), is_partition=False)
        yield from examine(
            (log,),
            are_gaps_wrong=lambda: not log.has_holes,
            deep=deep,
            strict_tail=strict_tail,
            progress=progress,
            limits=limits,
            checks=checks,
        )
        return
    place = log.topic, log.partition
    epochs: tuple[tuple[int, int], ...] = ()
    path = log.path / "leader-epoch-checkpoint"
    try:
        epochs = read_leader_epochs(path)
    except FileNotFoundError:
        pass
    except DecodeError as error:
        yield _unreadable(path, place, problems.LEADER_EPOCH, error)
    if list(epochs) != sorted(set(epochs)) or [start for _, start in epochs] != sorted(
        {start for _, start in epochs}
    ):
        detail = "epochs and their offsets do not ascend"
        yield Problem(str(path), *place, 0, 0, problems.LEADER_EPOCH, detail=detail)
        epochs = ()
    path = log.path / "partition.metadata"
    try:
        read_partition_metadata(path)
    except FileNotFoundError:
        pass
    except DecodeError as error:
        yield _unreadable(path, place, problems.METADATA, error)
    for path in log.producer_snapshot_paths:
        try:
            ProducerSnapshot(path, limits=limits)
        except FileNotFoundError:
            pass
        except DecodeError as error:
            yield _unreadable(path, place, problems.SNAPSHOT, error)
    checks = Checks(epochs, is_partition=not log.is_compacted)
    for segments in (log.segments, *((each,) for each in log.snapshots)):
        yield from examine(
            segments,
            are_gaps_wrong=lambda: not log.is_compacted,
            deep=deep,
            strict_tail=strict_tail,
            progress=progress,
            limits=limits,
            checks=checks if segments is log.segments else None,
        )


def examine(
    segments: Iterable[Segment],
    *,
    are_gaps_wrong: Callable[[], bool],
    deep: bool,
    strict_tail: bool,
    progress: Callable[[int], object] | None,
    limits: Limits,
    checks: Checks | None = None,
) -> Iterator[Problem]:
    """Go once through segments of one partition, which are in order."""
    expected: int | None = None
    for segment in segments:
        if expected is not None:
            found = _seam(segment, expected, are_gaps_wrong)
            if found is not None:
                yield found
        with segment.open() as file:
            walk = segment.walk(
                file,
                strict_tail=strict_tail,
                are_gaps_wrong=are_gaps_wrong,
                progress=progress,
                limits=limits,
            )
            if checks is not None:
                yield from checks.begin(segment)
            for item in walk:
                if isinstance(item, Problem):
                    if checks is not None:
                        checks.damaged(item)
                    yield item
                    continue
                if checks is not None:
                    yield from checks.see(item, file)
                if deep:
                    bad = check_records(walk, file, item, limits)
                    if bad is not None:
                        yield bad
            if checks is not None:
                yield from checks.end()
            expected = walk.expected if walk.ends_whole else None


def _seam(
    segment: Segment, expected: int, are_gaps_wrong: Callable[[], bool]
) -> Problem | None:
    """Say what is wrong with the begin of a segment behind another one."""
    base = segment.base_offset
    if base < 0 or base == expected:
        return None
    place = str(segment.path), segment.topic, segment.partition, 0, 0
    if base < expected:
        detail = f"the segment before it goes up to offset {expected - 1}"
        return Problem(*place, problems.OVERLAP, expected - 1, base, detail)
    if not are_gaps_wrong():
        return None
    detail = f"offsets {expected} to {base - 1} are missing"
    return Problem(*place, problems.GAP, expected - 1, base, detail)


def _unreadable(
    path: Place, place: tuple[str, int], reason: str, error: DecodeError
) -> Problem:
    size = path.stat().st_size
    at = min(error.offset, size)
    return Problem(str(path), *place, at, size - at, reason, detail=error.reason)


class Checks:
    """Compares what stands beside the segments with the batches, as they pass.

    ``see`` is called for every batch and has to be quick: it compares with the next
    entry of each index, and does more only where one is reached.
    """

    def __init__(
        self, epochs: tuple[tuple[int, int], ...], *, is_partition: bool
    ) -> None:
        self._epochs = epochs
        # Transactions that began before what is looked at cannot be judged.
        self._is_partition = is_partition
        self._ongoing: dict[int, int] = {}
        self._epoch = -1
        self._epoch_end = -1

    def begin(self, segment: Segment) -> Iterator[Problem]:
        """Begin with a segment: read its indexes."""
        self._segment = segment
        self._place = segment.topic, segment.partition
        self._entries: tuple[tuple[int, int], ...] = ()
        self._times: tuple[tuple[int, int], ...] = ()
        self._next = self._next_time = 0
        self._next_position = self._next_time_offset = _NEVER
        self._latest = -1
        self._last_offset = -1
        self._regions: list[tuple[int, int]] = []
        self._markers: dict[tuple[int, int], int | None] = {}
        try:
            if segment.index is not None:
                self._entries = segment.index.entries
                yield from self._stray(segment.index.path, problems.INDEX, 8)
            if segment.time_index is not None:
                self._times = segment.time_index.entries
                yield from self._stray(segment.time_index.path, problems.TIME_INDEX, 12)
        except DecodeError as error:
            path = segment.path.with_suffix(".index")
            yield _unreadable(path, self._place, problems.INDEX, error)
        self._advance()
        self._advance_time()

    def _stray(self, path: Place, reason: str, width: int) -> Iterator[Problem]:
        """Report what stands behind the entries and is not zeros."""
        index = self._segment.index if width == 8 else self._segment.time_index
        if index is not None and index.has_stray_bytes:
            at = width * len(index.entries)
            size = path.stat().st_size
            detail = f"no entries that ascend behind the first {len(index.entries)}"
            yield Problem(str(path), *self._place, at, size - at, reason, detail=detail)

    def _advance(self) -> None:
        self._next_position = _NEVER
        if self._next < len(self._entries):
            self._next_position = self._entries[self._next][1]

    def _advance_time(self) -> None:
        self._next_time_offset = _NEVER
        if self._next_time < len(self._times):
            self._next_time_offset = self._times[self._next_time][1]

    def damaged(self, problem: Problem) -> None:
        """Note a region in which entries may point to what is no more."""
        if problem.reason in problems.LOST:
            self._regions.append((problem.position, problem.position + problem.length))

    def see(self, header: BatchHeader, file: FileBytes) -> Iterable[Problem]:
        """Compare the next batch; gives what is wrong with the entries up to it."""
        found: list[Problem] = []
        while self._next_position <= header.position:
            offset, position = self._entries[self._next]
            self._next += 1
            if position < header.position:
                self._no_batch(offset, position, found)
            elif header.base_offset > offset:
                begin = header.base_offset
                detail = f"offset {offset}, but the batch begins at {begin}"
                found.append(self._entry(problems.INDEX, self._next - 1, 8, detail))
            self._advance()
        while self._next_time_offset < header.base_offset:
            self._time(found)
        if header.max_timestamp > self._latest:
            self._latest = header.max_timestamp
        if header.count < 0:
            # What a compressed message of magic 0 or 1 begins with is not known.
            self._times = ()
            self._next_time_offset = _NEVER
        self._last_offset = header.last_offset
        if header.base_offset >= self._epoch_end or (
            header.partition_leader_epoch != self._epoch
        ):
            self._judge_epoch(header, found)
        if self._is_partition and header.is_transactional:
            self._transaction(header, file)
        return found

    def _transaction(self, header: BatchHeader, file: FileBytes) -> None:
        if not header.is_control:
            self._ongoing.setdefault(header.producer_id, header.base_offset)
            return
        first = self._ongoing.pop(header.producer_id, None)
        if marker_of(file.data, header) == ABORT:
            self._markers[header.producer_id, header.base_offset] = first

    def _no_batch(self, offset: int, position: int, found: list[Problem]) -> None:
        if not any(start <= position < end for start, end in self._regions):
            detail = f"no batch begins at byte {position}, where offset {offset} is"
            found.append(self._entry(problems.INDEX, self._next - 1, 8, detail))

    def _time(self, found: list[Problem]) -> None:
        timestamp, offset = self._times[self._next_time]
        # Of a damaged region it is not known what times it had.
        right = self._latest == timestamp or (
            bool(self._regions) and self._latest < timestamp
        )
        if not right:
            detail = (
                f"timestamp {timestamp} up to offset {offset}, the batches say"
                f" {self._latest}"
            )
            found.append(self._entry(problems.TIME_INDEX, self._next_time, 12, detail))
        self._next_time += 1
        self._advance_time()

    def _judge_epoch(self, header: BatchHeader, found: list[Problem]) -> None:
        epoch = header.partition_leader_epoch
        if epoch < 0 or not self._epochs or header.base_offset < self._epochs[0][1]:
            return
        right, end = -1, _NEVER
        for each, start in self._epochs:
            if start > header.base_offset:
                end = start
                break
            right = each
        self._epoch, self._epoch_end = right, end
        if epoch != right:
            detail = f"leader epoch {epoch}, where the checkpoint has {right}"
            found.append(
                Problem(
                    str(self._segment.path),
                    *self._place,
                    header.position,
                    header.size,
                    problems.LEADER_EPOCH,
                    header.base_offset - 1,
                    header.last_offset + 1,
                    detail,
                )
            )

    def _entry(self, reason: str, number: int, width: int, detail: str) -> Problem:
        path = self._segment.path.with_suffix(f".{reason}")
        at = width * number
        return Problem(str(path), *self._place, at, width, reason, detail=detail)

    def end(self) -> Iterable[Problem]:
        """End with a segment; gives what is wrong with the entries that are left."""
        found: list[Problem] = []
        while self._next < len(self._entries):
            self._next += 1
            self._no_batch(*self._entries[self._next - 1], found)
        while self._next_time < len(self._times):
            if self._times[self._next_time][1] > self._last_offset:
                if not self._regions:
                    detail = "an offset behind the last batch"
                    found.append(
                        self._entry(problems.TIME_INDEX, self._next_time, 12, detail)
                    )
                break
            self._time(found)
        self._judge_transactions(found)
        return found

    def _judge_transactions(self, found: list[Problem]) -> None:
        reason = problems.TRANSACTION_INDEX
        path = self._segment.path.with_suffix(f".{reason}")
        try:
            index = self._segment.transaction_index
        except DecodeError as error:
            found.append(_unreadable(path, self._place, reason, error))
            return
        if not self._is_partition or self._regions:
            return
        entries = () if index is None else index.entries
        named = {(entry.producer_id, entry.last_offset) for entry in entries}
        for number, entry in enumerate(entries):
            if (entry.producer_id, entry.last_offset) not in self._markers:
                detail = f"no ABORT marker of producer {entry.producer_id}"
                detail += f" stands at offset {entry.last_offset}"
                found.append(self._entry(reason, number, 34, detail))
        for (producer, offset), first in self._markers.items():
            if first is not None and (producer, offset) not in named:
                detail = f"no entry for the ABORT marker of producer {producer}"
                detail += f" at offset {offset}"
                found.append(
                    Problem(str(path), *self._place, 0, 0, reason, detail=detail)
                )
