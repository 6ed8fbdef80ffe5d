# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Plans a read of ``kafka-log``: files, offsets, and splits of files.

This module lists files, resolves offsets, and creates splits of similar size, without
importing Spark. ``reading.py`` reads the records. Filters can only exclude complete
splits here, because Spark itself decides which rows are returned.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ... import log
from ..._text import format_name
from ...client.errors import DataLost
from ...log.storage import map_requests
from ..topics.offsets import SKIP_ADVICE, divide
from ..topics.options import EARLIEST, LATEST, find_given

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ...log import Partition, Segment, Transactions
    from ...records import BatchHeader
    from ..topics.options import Place
    from .options import LogOptions

    Found = TypeVar("Found")

_LEAST_SPLIT = 4 << 20
"""Minimum split size in bytes, because a task has a fixed cost in addition to the time
for its split.

If ``minPartitions`` is specified, splits may be smaller.
"""

_LOG_APPEND_TIME = 1


_LOOKS = 5
"""Maximum number of attempts to list and open files. An attempt fails if a broker
deletes a file after it was listed, which rarely happens several times in a row.
"""


class FileSplit(NamedTuple):
    """Batches that begin between bytes ``start`` and ``end`` of a segment.

    * ``end``: None if the split extends to the end of the segment.
    * ``start_offset``: offset of the first record to read, or None for no limit.
    * ``end_offset``: offset after the last record to read, or None for no limit.
    """

    path: str
    topic: str
    partition: int
    is_newest: bool
    next_base_offset: int | None
    start: int
    end: int | None
    size: int
    start_offset: int | None
    end_offset: int | None
    transactions: Transactions | None
    is_follow_up: bool = False
    """Whether an earlier range reports problems that end before ``start_offset``."""
    is_followed: bool = False
    """Whether a later range reports problems that extend beyond ``end_offset``."""


class WantedRange(NamedTuple):
    """Offset range of a partition to read.

    * ``start``: first offset, or None for the log start offset.
    * ``end``: offset after the last one, or None for the log end offset.
    """

    partition: Partition
    start: int | None
    end: int | None


@dataclass
class Bounds:
    """Bounds on the requested rows, computed from filters. None means no bound.

    * ``topics``, ``partitions``: the only names and numbers that can match.
    * ``start_offset``, ``end_offset``: range of offsets. ``end_offset`` is exclusive.
    * ``start_timestamp``, ``end_timestamp``: range of timestamps in milliseconds since
      1970. Both are inclusive.
    """

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    start_offset: int | None = None
    end_offset: int | None = None
    start_timestamp: int | None = None
    end_timestamp: int | None = None

    def takes(self, partition: Partition) -> bool:
        """Return whether the partition can contain requested rows."""
        return (self.topics is None or partition.topic in self.topics) and (
            self.partitions is None or partition.partition in self.partitions
        )


def call_again(look: Callable[[], Found]) -> Found:
    """Call ``look``, and repeat the call if it raises ``FileNotFoundError``.

    The error means that a broker has deleted a file since the directory was listed.
    After ``_LOOKS`` attempts, the error is raised.
    """
    for _ in range(_LOOKS - 1):
        try:
            return look()
        except FileNotFoundError:
            continue
    return look()


def find_partitions(
    options: LogOptions, must_be_there: bool = True, may_be_empty: bool = False
) -> list[Partition]:
    """Return the partitions that the options select, in order, with all replicas.

    Raises ``ValueError`` if a path contains no partition (unless ``may_be_empty``), if
    a requested topic or partition does not exist (if ``must_be_there``), or if a
    partition has several replicas and ``duplicates`` is "error".
    """
    all_partitions = _list_all_partitions(options, may_be_empty)
    selected = [
        partition
        for partition in all_partitions
        if options.takes(partition.topic, partition.partition)
    ]
    if options.subscribe is not None and must_be_there:
        missing = options.subscribe - {partition.topic for partition in selected}
        _check_found(
            sorted(missing), {partition.topic for partition in all_partitions}, options
        )
    if options.assign is not None and must_be_there:
        existing_names = {_name_partition(partition) for partition in all_partitions}
        requested_names = {f"{topic}-{number}" for topic, number in options.assign}
        _check_found(sorted(requested_names - existing_names), existing_names, options)
    if options.duplicates == "keep":
        return selected
    replicas: dict[Place, list[Partition]] = {}
    for partition in selected:
        replicas.setdefault((partition.topic, partition.partition), []).append(
            partition
        )
    chosen = []
    for copies in replicas.values():
        if len(copies) > 1 and options.duplicates == "error":
            raise ValueError(
                f"{_name_partition(copies[0])} is in {len(copies)} directories:"
                f" {', '.join(format_name(replica.path) for replica in copies)}; read"
                " one of them, or set duplicates=longest"
            )
        chosen.append(choose_longest(copies))
    return chosen


def _list_all_partitions(options: LogOptions, may_be_empty: bool) -> list[Partition]:
    """List all partitions, each directory once, even if several paths contain it."""
    every: dict[str, Partition] = {}
    for path in options.paths:
        directory = log.LogDirectory(path)
        if not len(directory) and not may_be_empty:
            raise ValueError(
                f"no partition in {path}: give a data directory of Kafka, a parent"
                " directory of several, a partition directory, or a .log file"
            )
        for partition in directory:
            path_key = str(partition.path)
            path_key = path_key if "://" in path_key else os.path.realpath(path_key)
            first_listed = every.setdefault(path_key, partition)
            if first_listed is not partition:
                segments_by_name = {
                    s.path.name: s
                    for s in (*first_listed.segments, *partition.segments)
                }
                first_listed.segments = tuple(
                    segments_by_name[name] for name in sorted(segments_by_name)
                )
    return list(every.values())


def choose_longest(replicas: Sequence[Partition]) -> Partition:
    """Return the replica with the highest end offset.

    If several replicas have the same end offset, the largest of them is returned.
    """
    if len(replicas) == 1:
        return replicas[0]
    return max(replicas, key=lambda replica: (replica.end_offset, replica.size))


def _name_partition(partition: Partition) -> str:
    return f"{partition.topic}-{partition.partition}"


def _check_found(
    missing: Sequence[str], existing_names: Iterable[str], options: LogOptions
) -> None:
    if missing:
        sorted_names = sorted(existing_names)
        listed = ", ".join(sorted_names[:20]) + (
            ", ..." if len(sorted_names) > 20 else ""
        )
        raise ValueError(
            f"no {', '.join(missing)} under {', '.join(options.paths)};"
            f" {f'found {listed}' if listed else 'no partition was found'}"
        )


def offset_range(
    partition: Partition, options: LogOptions
) -> tuple[int | None, int | None]:
    """Return the start and end offset (exclusive) that the options specify.

    None means the log start offset or the log end offset. Raises ``ValueError`` if the
    options specify no offset for the partition, "latest" (-1) as its start or
    "earliest" (-2) as its end, if it has no record for a timestamp, or if the start is
    greater than the end.
    """
    start = _offset_of_batch(partition, "starting", options)
    end = _offset_of_batch(partition, "ending", options)
    if start is not None and end is not None and start > end:
        raise ValueError(
            f"{_name_partition(partition)} would be read from offset {start} to {end};"
            " the start must not exceed the end"
        )
    if start is None and "log-start" in partition.checkpoints:
        # Files may still contain deleted records below the log start offset. Kafka does
        # not return these records, so exclude them.
        start = partition.start_offset
    return start, end


def _offset_of_batch(
    partition: Partition, side: str, options: LogOptions
) -> int | None:
    number = offset_from(partition, side, options)
    if number == (EARLIEST if side == "starting" else LATEST):
        return None
    if number < 0:
        word = "latest" if side == "starting" else "earliest"
        raise ValueError(f"{side}Offsets of a batch cannot be {number} ({word})")
    return number


def offset_from(partition: Partition, side: str, options: LogOptions) -> int:
    """Return the offset for one side. The result may be EARLIEST or LATEST.

    ``side`` is "starting" or "ending". A timestamp selects the first record, in offset
    order, whose timestamp is equal or later, as in Kafka. Raises ``ValueError`` if the
    options specify no offset for the partition. Also raises it if there is no record
    for the starting timestamp, unless startingOffsetsByTimestampStrategy is "latest".
    """
    kind, position = options.starting if side == "starting" else options.ending
    if isinstance(position, str):
        return EARLIEST if position == "earliest" else LATEST
    topic_partition = partition.topic, partition.partition
    number = find_given(position, topic_partition, f"{side}Offsets")
    if kind == "offsets":
        return number
    offset = partition.offset_for_timestamp(number)
    if offset is None and side == "starting" and options.strategy == "error":
        raise ValueError(
            f"{_name_partition(partition)} has no record of timestamp {number} or"
            " later; startingOffsetsByTimestampStrategy=latest starts at its end"
        )
    if offset is None:
        return LATEST if side == "ending" else partition.end_offset
    return offset


def check_losses(ranges: Sequence[WantedRange]) -> None:
    """Raise ``DataLost`` if offsets of a range are missing.

    Records that the log cleaner has removed are not missing. The check reads the last
    batch headers of all segments. In object storage, several segments are read
    concurrently.
    """
    is_remote = any(
        s.is_remote for requested in ranges for s in requested.partition.segments[:1]
    )
    for _ in map_requests(_check_ends, ranges, is_remote=is_remote):
        pass
    neighbours = []
    for partition, start, end in ranges:
        for before, following in pairwise(partition.segments):
            if start is not None and following.base_offset <= start:
                continue
            if end is not None and before.base_offset >= end:
                break
            neighbours.append((partition, end, before, following))
    segments = (before for _, _, before, _ in neighbours)
    next_offsets = map_requests(_find_next_offset, segments, is_remote=is_remote)
    for (partition, end, _, following), ends_at in zip(
        neighbours, next_offsets, strict=True
    ):
        if ends_at is None or (end is not None and ends_at >= end):
            continue
        if ends_at < following.base_offset and not partition.is_compacted:
            raise _make_loss(
                partition,
                ends_at,
                f"offsets {ends_at} to {following.base_offset - 1} are in no segment"
                f" before {format_name(following.path)}",
            )


def _check_ends(requested: WantedRange) -> None:
    """Raise ``DataLost`` if a range begins before its partition or ends after it."""
    partition, start, end = requested
    path = format_name(partition.path)
    first, last = partition.start_offset, partition.end_offset
    if start is not None and start < first:
        raise _make_loss(partition, start, f"{path} begins at offset {first}")
    for offset in (start, end):
        if offset is not None and offset > last:
            raise _make_loss(partition, offset, f"{path} ends before offset {last}")


def _find_next_offset(segment: Segment) -> int | None:
    """Return the offset after a segment's last batch, or None if batches are damaged.

    Damaged batches are not missing: the option ``mode`` determines their treatment.
    """
    next_offset = segment.base_offset
    damaged: list[object] = []
    start = segment.seek_before(2**62)
    for header in segment.headers(start, on_corrupt=damaged.append):
        next_offset = header.next_offset
    segment.forget_indexes()
    return None if damaged else next_offset


def _make_loss(partition: Partition, offset: int, reason: str) -> DataLost:
    number = partition.partition
    return DataLost(partition.topic, number, offset, reason, SKIP_ADVICE)


def plan_pieces(
    partitions: Sequence[Partition], options: LogOptions, bounds: Bounds
) -> list[FileSplit]:
    """Split the partitions into pieces that do not exceed the maximum split size."""
    selected = list(filter(bounds.takes, partitions))
    is_remote = any(
        segment.is_remote
        for partition in selected
        for segment in partition.segments[:1]
    )

    def find_range(partition: Partition) -> WantedRange:
        return WantedRange(partition, *offset_range(partition, options))

    ranges = list(map_requests(find_range, selected, is_remote=is_remote))
    if options.fail_on_data_loss:
        check_losses(ranges)
    bounded_ranges = [
        WantedRange(
            partition,
            _choose_higher(start, bounds.start_offset),
            _choose_lower(end, bounds.end_offset),
        )
        for partition, start, end in ranges
    ]
    size = split_size(
        sum(requested.partition.size for requested in bounded_ranges), options
    )
    cuts = _find_remote_cuts(bounded_ranges, size) if is_remote else {}

    def cut(requested: WantedRange) -> list[FileSplit]:
        return list(cut_partition(*requested, options, size, bounds, cuts=cuts))

    piece_lists = map_requests(cut, bounded_ranges, is_remote=is_remote)
    return [piece for pieces in piece_lists for piece in pieces]


def _find_remote_cuts(
    ranges: Sequence[WantedRange], size: int
) -> dict[Segment, tuple[int, ...]]:
    """Return {segment: split positions} for all segments above ``size`` bytes.

    The segments are in an object store, so several of them are read in parallel.
    """
    segments = [
        segment
        for partition, start, end in ranges
        for segment in _find_overlapping(partition, start, end)
        if segment.size > size
    ]

    def find_cuts(segment: Segment) -> tuple[int, ...]:
        positions = segment.find_splits(size)
        segment.forget_indexes()
        return positions

    return dict(
        zip(segments, map_requests(find_cuts, segments, is_remote=True), strict=True)
    )


def split_size(total: int, options: LogOptions) -> int:
    """Choose the maximum split size in bytes, so that all cores have work.

    ``total`` is the size of all files to read, in bytes.
    """
    parts = options.min_partitions or os.cpu_count() or 1
    min_size = 1 if options.min_partitions else _LEAST_SPLIT
    return max(1, min(options.max_partition_bytes, max(min_size, -(-total // parts))))


def cut_partition(
    partition: Partition,
    start: int | None,
    end: int | None,
    options: LogOptions,
    size: int,
    bounds: Bounds,
    is_micro_batch: bool = False,
    cuts: dict[Segment, tuple[int, ...]] | None = None,
) -> Iterator[FileSplit]:
    """Create the pieces for an offset range of one partition, in order.

    A piece belongs to a single range of ``maxRecordsPerPartition``. The pieces of a
    micro-batch leave problems at its edges to the adjacent micro-batches. ``cuts``
    contains the known split positions by segment, and new positions are added to it.
    """
    transactions = None
    if options.isolation_level == "read_committed":
        transactions = partition.transactions()
        end = _choose_lower(end, transactions.last_stable_offset)
    ranges = _divide_range(partition, start, end, options.max_records_per_partition)
    # The split positions and transactions of a segment are equal for all ranges.
    cuts = {} if cuts is None else cuts
    of_segments: dict[Segment, Transactions] = {}
    for turn, (first, behind) in enumerate(ranges):
        for segment, begin, stop in _cut_range(
            partition, first, behind, size, bounds, cuts
        ):
            if transactions is not None and segment not in of_segments:
                of_segments[segment] = _select_transactions(transactions, segment)
            yield FileSplit(
                str(segment.path),
                segment.topic,
                segment.partition,
                segment.is_newest,
                segment.next_base_offset,
                begin,
                stop,
                (segment.size if stop is None else stop) - begin,
                first,
                behind,
                of_segments.get(segment),
                is_follow_up=is_micro_batch or turn > 0,
                is_followed=is_micro_batch or turn < len(ranges) - 1,
            )


def _divide_range(
    partition: Partition, start: int | None, end: int | None, most: int | None
) -> list[tuple[int | None, int | None]]:
    """Divide offsets into ranges of similar size with at most ``most`` offsets each.

    Returns (start, end) pairs. ``end`` is exclusive, and None means no limit. If
    ``most`` is None, there is only one range.
    """
    if most is None:
        return [(start, end)]
    low = _choose_higher(partition.start_offset, start) or 0
    high = _choose_lower(partition.end_offset, end) or 0
    return list(pairwise((start, *divide(low, high, -(-(high - low) // most)), end)))


def _cut_range(
    partition: Partition,
    start: int | None,
    end: int | None,
    size: int,
    bounds: Bounds,
    cuts: dict[Segment, tuple[int, ...]],
) -> Iterator[tuple[Segment, int, int | None]]:
    """Yield (segment, begin, stop) for the file parts with the offsets of a range.

    ``begin`` and ``stop`` are byte positions. ``stop`` is None for the last part of a
    segment. A part has about ``size`` bytes. Parts that ``bounds`` excludes are
    omitted.
    """
    for segment in _find_overlapping(partition, start, end):
        first = 0
        if start is not None and start > segment.base_offset:
            first = segment.seek_before(start)
        above = segment.next_base_offset
        may_be_behind = end is not None and (above is None or above > end)
        edges = [first]
        if segment.size - first > size:
            if segment not in cuts:
                cuts[segment] = segment.find_splits(size)
            edges += (position for position in cuts[segment] if position > first)
        is_behind = False
        for begin, stop in zip(edges, (*edges[1:], None), strict=True):
            if is_behind:
                break
            header = _header_at(segment, begin) if begin and may_be_behind else None
            if header is not None and end is not None and header.base_offset >= end:
                if header.record_count >= 0:
                    break
                # The base offset of a wrapper message is the offset of its last
                # message. The wrapper may also contain lower offsets, so include this
                # last part.
                is_behind = True
            if not _is_spared(segment, begin, stop, bounds):
                yield segment, begin, stop
        # Release the index data, because the indexes of thousands of segments would
        # need too much memory.
        segment.forget_indexes()


def _find_overlapping(
    partition: Partition, start: int | None, end: int | None
) -> Iterator[Segment]:
    """Iterate over the segments that may contain offsets of a range."""
    for segment in partition.segments:
        above = segment.next_base_offset
        if start is not None and above is not None and above <= start:
            continue
        if end is not None and 0 <= end <= segment.base_offset:
            return
        yield segment


def _select_transactions(transactions: Transactions, segment: Segment) -> Transactions:
    """Select the transactions of one segment, to keep the serialized task small."""
    last = segment.base_offset
    for header in segment.headers(segment.seek_before(2**62), on_corrupt="skip"):
        last = max(last, header.last_offset)
    aborted = [
        transaction
        for transaction in transactions.aborted
        if transaction.last_offset >= segment.base_offset
        and transaction.first_offset <= last
    ]
    return log.Transactions(aborted, transactions.open)


def _header_at(segment: Segment, position: int) -> BatchHeader | None:
    return next(segment.headers(position, position + 1, on_corrupt="skip"), None)


def _is_spared(segment: Segment, begin: int, stop: int | None, bounds: Bounds) -> bool:
    """Return whether the piece certainly has no record with a requested timestamp.

    A batch header contains the maximum timestamp of its records, so a piece can be too
    early. It does not contain the minimum, because the base timestamp is only the
    timestamp of the first record. A piece is therefore only too late if the broker has
    set all timestamps (LogAppendTime), so that all records in a batch have the same.
    """
    low, high = bounds.start_timestamp, bounds.end_timestamp
    if low is None and high is None:
        return False
    if segment.is_remote:
        return low is not None and _ends_before(segment, low)
    damaged: list[object] = []
    too_early = low is not None
    too_late = high is not None
    for header in segment.headers(begin, stop, on_corrupt=damaged.append):
        if low is not None and header.max_timestamp >= low:
            too_early = False
        if high is not None and not (
            header.timestamp_type == _LOG_APPEND_TIME and header.max_timestamp > high
        ):
            too_late = False
        if not too_early and not too_late:
            return False
    return not damaged


def _ends_before(segment: Segment, timestamp: int) -> bool:
    """Return whether the time index of an inactive segment ends before a timestamp."""
    if segment.is_newest:
        return False
    try:
        index = segment.time_index
    except ValueError:
        return False
    if index is None or not index.entries:
        return False
    return index.entries[-1][0] < timestamp


def pack(
    pieces: Sequence[FileSplit], options: LogOptions
) -> list[tuple[FileSplit, ...]]:
    """Combine consecutive small pieces into splits of nearly the maximum size.

    With ``maxRecordsPerPartition``, a split only contains pieces of one offset range.
    """
    size = split_size(sum(piece.size for piece in pieces), options)
    splits: list[list[FileSplit]] = []
    capacity = 0
    for piece in pieces:
        if (
            not splits
            or piece.size > capacity
            or _is_apart(splits[-1][-1], piece, options)
        ):
            splits.append([])
            capacity = size
        splits[-1].append(piece)
        capacity -= piece.size
    return [tuple(split) for split in splits]


def _is_apart(first: FileSplit, second: FileSplit, options: LogOptions) -> bool:
    """Return whether two pieces must be in separate splits.

    This is the case if they belong to different offset ranges of
    ``maxRecordsPerPartition``.
    """
    return options.max_records_per_partition is not None and (
        (os.path.dirname(first.path), first.start_offset, first.end_offset)
        != (os.path.dirname(second.path), second.start_offset, second.end_offset)
    )


def _choose_higher(first: int | None, second: int | None) -> int | None:
    return first if second is None else second if first is None else max(first, second)


def _choose_lower(first: int | None, second: int | None) -> int | None:
    return first if second is None else second if first is None else min(first, second)
