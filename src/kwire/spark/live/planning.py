# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Resolves the start and end offsets of a ``kafka-live`` read.

This module runs on the driver. ``reading.py`` reads the records in the tasks.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ...client.machines import TopicNotFound
from ..topics.offsets import divide, report_loss
from ..topics.options import EARLIEST, EVERYWHERE, LATEST, find_given, name_place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...client import KafkaSync
    from ..topics.options import IsolationLevel, Place
    from .options import LiveOptions

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)


class OffsetRange(NamedTuple):
    """Input of one task: partition offsets from ``start`` to ``end`` (exclusive)."""

    topic: str
    partition: int
    start: int
    end: int


class LiveTopics:
    """Looks up the partitions that the options select, and their offsets."""

    def __init__(self, options: LiveOptions) -> None:
        self._options = options

    def find_ends(self, *, decided: bool = True) -> dict[Place, int]:
        """Return the current end offsets of all selected partitions.

        With isolation level "read_committed", the end offset is the last stable offset,
        the first offset of an open transaction. If ``decided`` is false, open
        transactions are ignored.
        """
        with self._options.cluster.open() as kafka:
            try:
                return self._find_ends(kafka, decided)
            except TopicNotFound:
                if self._options.subscribe_pattern is None:
                    raise
                # A topic was deleted after it had been listed. List the topics again.
                return self._find_ends(kafka, decided)

    def _find_ends(self, kafka: KafkaSync, decided: bool) -> dict[Place, int]:
        options = self._options
        topics: Any
        if options.assign is not None:
            topics = _group_by_topic(options.assign)
        elif options.subscribe is not None:
            topics = sorted(options.subscribe)
        else:
            topics = [
                each.name
                for each in kafka.topics().values()
                if options.takes_topic(each.name) and not each.is_internal
            ]
        if not topics:
            return {}
        isolation = options.isolation_level if decided else "read_uncommitted"
        return dict(kafka.offsets(topics, isolation_level=isolation))

    def find_beginnings(self, places: Iterable[Place]) -> dict[Place, int]:
        """Return {(topic, partition): log start offset} for some partitions."""
        partitions_by_topic = _group_by_topic(places)
        if not partitions_by_topic:
            return {}
        with self._options.cluster.open() as kafka:
            return dict(kafka.offsets(partitions_by_topic, at="earliest"))

    def find_starts(self, ends: dict[Place, int]) -> dict[Place, int]:
        """Return {(topic, partition): offset} at which a query starts.

        The starting option determines the offsets. ``ends`` is the result of
        ``find_ends``.
        """
        return self._resolve_position("starting", ends)

    def find_batch(self) -> list[OffsetRange]:
        """Return the offset ranges of a batch query, one per task.

        If requested records are missing, raises ``DataLost``, or warns if
        ``failOnDataLoss`` is false.
        """
        options = self._options
        latest = self.find_ends()
        earliest = self.find_beginnings(latest)
        first, last = (
            self._resolve_position("starting", latest),
            self._resolve_position("ending", latest),
        )
        written = latest
        if options.isolation_level == "read_committed" and any(
            max(first[topic_partition], last[topic_partition]) > latest[topic_partition]
            for topic_partition in latest
        ):
            written = self.find_ends(decided=False)
        ranges = []
        for topic_partition in sorted(latest):
            start, end = first[topic_partition], last[topic_partition]
            if start < earliest[topic_partition]:
                self._report_loss(
                    topic_partition,
                    start,
                    f"the log begins at offset {earliest[topic_partition]}",
                )
            for offset in (start, end):
                if offset > written.get(topic_partition, latest[topic_partition]):
                    self._report_loss(
                        topic_partition,
                        offset,
                        f"the log ends at offset {latest[topic_partition]}",
                    )
            start, end = (
                max(start, earliest[topic_partition]),
                min(end, latest[topic_partition]),
            )
            ranges.append(OffsetRange(*topic_partition, start, end))
        return self.cut_ranges(ranges)

    def cut_ranges(self, ranges: list[OffsetRange]) -> list[OffsetRange]:
        """Split ranges into one range per task, as Spark's own source does.

        A partition is one range, unless ``maxRecordsPerPartition`` or ``minPartitions``
        requires more. Empty ranges are omitted.
        """
        options = self._options
        ranges = [
            offset_range
            for offset_range in ranges
            if offset_range.start < offset_range.end
        ]
        total = sum(offset_range.end - offset_range.start for offset_range in ranges)
        max_offsets, min_ranges = (
            options.max_records_per_partition,
            options.min_partitions,
        )
        split_ranges = []
        for offset_range in ranges:
            size = offset_range.end - offset_range.start
            count = 1 if max_offsets is None else -(-size // max_offsets)
            if min_ranges is not None and min_ranges > len(ranges):
                count = max(count, -(-size * min_ranges // total))
            edges = (
                offset_range.start,
                *divide(offset_range.start, offset_range.end, min(count, size)),
            )
            for start, end in zip(edges, (*edges[1:], offset_range.end), strict=True):
                split_ranges.append(
                    OffsetRange(offset_range.topic, offset_range.partition, start, end)
                )
        return split_ranges

    def _report_loss(self, topic_partition: Place, offset: int, reason: str) -> None:
        fails = self._options.fail_on_data_loss
        report_loss("kafka-live", topic_partition, offset, reason, fails)

    def _resolve_position(self, side: str, ends: dict[Place, int]) -> dict[Place, int]:
        """Resolve the starting or ending option into an offset per partition."""
        options = self._options
        kind, position = options.starting if side == "starting" else options.ending
        if position == "latest":
            return ends
        if isinstance(position, str):
            return self.find_beginnings(ends)
        name = f"{side}Offsets" if kind == "offsets" else f"{side}OffsetsByTimestamp"
        for topic_partition in position.keys() - ends.keys() - {EVERYWHERE}:
            raise ValueError(
                f"{name} names {name_place(topic_partition)}, which is not among the"
                " partitions that are read"
            )
        numbers = {
            topic_partition: find_given(position, topic_partition, name)
            for topic_partition in ends
        }
        if kind == "timestamps":
            return self._find_times(side, numbers, ends)
        early = [
            topic_partition
            for topic_partition, number in numbers.items()
            if number == EARLIEST
        ]
        numbers |= self.find_beginnings(early)
        return {
            topic_partition: ends[topic_partition] if number == LATEST else number
            for topic_partition, number in numbers.items()
        }

    def _find_times(
        self, side: str, times: dict[Place, int], ends: dict[Place, int]
    ) -> dict[Place, int]:
        """Find for every partition the first record at or after its timestamp.

        ``times`` contains the timestamps. Returns the offsets of the records.
        """
        options = self._options
        by_time: dict[int, list[Place]] = {}
        for topic_partition, time in times.items():
            by_time.setdefault(time, []).append(topic_partition)
        offsets: dict[Place, int] = {}
        with options.cluster.open() as kafka:
            for time, places in by_time.items():
                offsets |= _find_time(kafka, time, places, options.isolation_level)
        for topic_partition, offset in offsets.items():
            # If no record has an equal or later timestamp, the client returns the
            # current end offset. It may be greater than the end offset in ``ends``,
            # because records may have been written in the meantime. Ignore these
            # records.
            if offset < ends[topic_partition]:
                continue
            if side == "starting" and options.strategy == "error":
                raise ValueError(
                    f"{name_place(topic_partition)} has no record of timestamp"
                    f" {times[topic_partition]} or later;"
                    " startingOffsetsByTimestampStrategy=latest begins at its end then"
                )
            offsets[topic_partition] = ends[topic_partition]
        return offsets


def _find_time(
    kafka: KafkaSync, time: int, places: list[Place], isolation: IsolationLevel
) -> dict[Place, int]:
    moment = _EPOCH + timedelta(milliseconds=min(time, _LAST_MS))
    return dict(
        kafka.offsets(_group_by_topic(places), at=moment, isolation_level=isolation)
    )


def _group_by_topic(places: Iterable[Place]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(places):
        topics.setdefault(topic, []).append(partition)
    return topics
