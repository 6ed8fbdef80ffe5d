# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Base of the topic streams: selects the offsets of every micro-batch.

A stream offset has the format of Spark's own source ``kafka``: the next offset per
partition, ``{"orders": {"0": 23}}``. Spark's checkpoint contains all state for a
restart. A reader only stores the target of ``availableNow``. A ``TopicStream`` provides
offsets and records: ``spark/log/stream.py``, ``spark/live/stream.py``.
"""

from __future__ import annotations

import warnings
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from ..short_errors import SparkEntry
from .offsets import read_offsets, report_loss, write_offsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .offsets import StreamOffset
    from .options import Place, TopicOptions

    class TopicStream(Protocol):
        """Source of offsets and records for growing partitions.

        All methods identify a partition by (topic, partition).
        """

        source_name: str

        @property
        def options(self) -> TopicOptions:
            """Return the stream's options."""

        def find_starts(self) -> dict[Place, int]:
            """Return the offsets at which a new query starts."""

        def find_ends(self) -> dict[Place, int]:
            """Return the current end offsets of the partitions."""

        def find_beginnings(self, places: Sequence[Place]) -> dict[Place, int]:
            """Return the start offsets of partitions.

            A deleted partition has the offset 0, or raises an error.
            """

        def is_pending(self, topic_partition: Place, offset: int) -> bool:
            """Return whether an open transaction hides records before ``offset``."""

        def plan(self, begins: dict[Place, int], ends: dict[Place, int]) -> list[Any]:
            """Split one micro-batch into input partitions, one per task."""

        def read(self, part: Any) -> Iterator[Any]:
            """Read the input partition of one task as Arrow batches."""


try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxRows,
        ReadMinRows,
        SupportsTriggerAvailableNow,
    )
except ImportError:  # before Spark 4.2
    KNOWS_LIMITS = False
else:
    KNOWS_LIMITS = True


class TopicStreamReader(SparkEntry, DataSourceStreamReader):
    """Reads micro-batches without limits, as all versions of Spark 4 support.

    ``failOnDataLoss`` is true by default: if offsets no longer exist, the query fails.
    """

    def __init__(self, stream: TopicStream) -> None:
        self._stream = stream
        self._options = stream.options

    def initialOffset(self) -> StreamOffset:
        """Return the offsets at which a new query starts."""
        return write_offsets(self._stream.find_starts())

    def latestOffset(self) -> StreamOffset:
        """Return the current end offsets of the partitions."""
        return write_offsets(self._stream.find_ends())

    def partitions(
        self, start: StreamOffset, end: StreamOffset
    ) -> Sequence[InputPartition]:
        """Plan the input partitions of one micro-batch."""
        begins, ends = self._parse_offset(start), self._parse_offset(end)
        for topic_partition, begin in begins.items():
            self._check_end(topic_partition, begin, ends.get(topic_partition))
        return [InputPartition(each) for each in self._stream.plan(begins, ends)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read the input partition of one task as Arrow batches."""
        return self._stream.read(partition.value)

    def _parse_offset(self, offset: StreamOffset) -> dict[Place, int]:
        return read_offsets(offset, self._stream.source_name)

    def _check_end(self, topic_partition: Place, begin: int, end: int | None) -> None:
        """Report a data loss if a partition was deleted, or ends before ``begin``."""
        if end is None:
            reason = "the partition no longer exists"
        elif end < begin and not self._stream.is_pending(topic_partition, begin):
            reason = f"the log ends at offset {end}, which was already read"
        else:
            return
        fails = self._options.fail_on_data_loss
        report_loss(self._stream.source_name, topic_partition, begin, reason, fails)


if KNOWS_LIMITS:

    class LimitedStreamReader(TopicStreamReader, SupportsTriggerAvailableNow):
        """Reads micro-batches of limited size, which requires Spark 4.2 or newer."""

        _target: dict[Place, int] | None = None
        _last_trigger = -inf
        """Monotonic time in seconds of the last trigger that was not delayed.

        The initial value ensures that the first trigger is not delayed.
        """

        def getDefaultReadLimit(self) -> ReadLimit:
            """Return the limit that the options set.

            Python stream readers do not support composite limits. ``latestOffset``
            therefore reads the minimum from the options. The result is
            ``ReadAllAvailable`` if neither a minimum nor a maximum is set.
            """
            least = self._options.min_offsets_per_trigger
            most = self._options.max_offsets_per_trigger
            if most is not None:
                return ReadMaxRows(most)
            return ReadAllAvailable() if least is None else ReadMinRows(least)

        def prepareForTriggerAvailableNow(self) -> None:
            """Set the current end offsets as the end of the query."""
            self._target = self._stream.find_ends()

        def reportLatestOffset(self) -> StreamOffset:
            """Return the current end offsets, for the progress report of the query."""
            return write_offsets(self._stream.find_ends())

        def latestOffset(  # type: ignore[override]
            self, start: StreamOffset, limit: ReadLimit
        ) -> StreamOffset:
            """Return the end offsets of the next micro-batch."""
            begins = self._parse_offset(start)
            target = self._target
            ends = self._stream.find_ends() if target is None else dict(target)
            for topic_partition, begin in begins.items():
                end = ends.get(topic_partition)
                self._check_end(topic_partition, begin, end)
                ends[topic_partition] = max(begin, end or 0)
            if isinstance(limit, ReadAllAvailable):
                return write_offsets(ends)
            known = dict(begins)
            new = [
                topic_partition
                for topic_partition in ends
                if topic_partition not in begins
            ]
            if new:
                begins |= self._stream.find_beginnings(new)
            waiting = {
                topic_partition: ends[topic_partition] - begins[topic_partition]
                for topic_partition in ends
            }
            if self._should_delay(sum(waiting.values())):
                return write_offsets(known)
            if isinstance(limit, ReadMaxRows):
                ends = self._limit_ends(begins, ends, waiting, limit.max_rows)
            return write_offsets(ends)

        def _should_delay(self, waiting: int) -> bool:
            """Return whether a micro-batch is delayed until there are more offsets.

            ``maxTriggerDelay`` is measured from the last trigger that was not delayed,
            as in Spark's own source. ``availableNow`` reads all available offsets and
            is never delayed.
            """
            least = self._options.min_offsets_per_trigger
            if least is None or self._target is not None:
                return False
            now = monotonic()
            delay = 1000 * (now - self._last_trigger)
            if waiting < least and delay < self._options.max_trigger_delay_ms:
                return True
            self._last_trigger = now
            return False

        def _limit_ends(
            self,
            begins: dict[Place, int],
            ends: dict[Place, int],
            waiting: dict[Place, int],
            most: int,
        ) -> dict[Place, int]:
            """Return the end offsets of a micro-batch with at most ``most`` offsets.

            The offsets are divided in proportion to the backlogs of the partitions,
            which ``waiting`` contains.
            """
            total = sum(waiting.values())
            if total <= most:
                return ends
            shares = {
                topic_partition: most * size // total
                for topic_partition, size in waiting.items()
            }
            # Rounding leaves some offsets unassigned. Assign one each to the partitions
            # with the largest backlog.
            rest = most - sum(shares.values())
            by_size = sorted(
                waiting,
                key=lambda topic_partition: (
                    -waiting[topic_partition],
                    topic_partition,
                ),
            )
            for topic_partition in by_size[:rest]:
                shares[topic_partition] += 1
            return {
                topic_partition: begins[topic_partition] + shares[topic_partition]
                for topic_partition in ends
            }


class RefusedStreamReader(SparkEntry, DataSourceStreamReader):
    """Placeholder for a stream with invalid options: every method raises the error.

    Spark 4 does not show an error from ``DataSource.streamReader`` to the user, because
    it fails with its own ``UnboundLocalError`` while it handles the error.
    """

    def __init__(self, error: Exception) -> None:
        self._error = error

    def initialOffset(self) -> StreamOffset:
        """Raise the error about the invalid options."""
        raise self._error

    def latestOffset(self) -> StreamOffset:
        """Raise the error about the invalid options."""
        raise self._error

    def partitions(
        self, start: StreamOffset, end: StreamOffset
    ) -> Sequence[InputPartition]:
        """Raise the error about the invalid options."""
        raise self._error

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Raise the error about the invalid options."""
        raise self._error


def make_stream_reader(
    make_stream: Callable[[], TopicStream],
) -> DataSourceStreamReader:
    """Return a stream reader with the features that this version of Spark supports.

    If ``make_stream`` raises ``ValueError`` for an option, or ``OSError`` for a file
    that an option names, the error is raised when Spark uses the reader.
    """
    try:
        stream = make_stream()
    except (ValueError, OSError) as error:
        return RefusedStreamReader(error)
    if KNOWS_LIMITS:
        return LimitedStreamReader(stream)
    limits = {
        "minOffsetsPerTrigger": stream.options.min_offsets_per_trigger,
        "maxOffsetsPerTrigger": stream.options.max_offsets_per_trigger,
    }
    for name, limit in limits.items():
        if limit is not None:
            warnings.warn(
                f"{name} requires Spark 4.2 or newer; a batch reads all new offsets",
                stacklevel=2,
            )
    return TopicStreamReader(stream)
