# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Base of the streams of topics: which offsets make a micro-batch.

An offset of the stream is what Spark's own source ``kafka`` has: the next offset of
each partition, ``{"orders": {"0": 23}}``. All that a restart needs is in Spark's
checkpoint; a reader keeps nothing but the target of ``availableNow``. A ``TopicStream``
has the offsets and the records: ``spark/log/stream.py``, ``spark/live/stream.py``.
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
        """Offsets and records of partitions that grow."""

        source_name: str

        @property
        def options(self) -> TopicOptions:
            """Return the options that the stream was made with."""

        def find_starts(self) -> dict[Place, int]:
            """Find where a new query begins."""

        def find_ends(self) -> dict[Place, int]:
            """Find where the partitions end now."""

        def find_beginnings(self, places: Sequence[Place]) -> dict[Place, int]:
            """Find where partitions begin; 0 for one that is gone."""

        def is_pending(self, place: Place, offset: int) -> bool:
            """Whether what is before ``offset`` is there and only undecided."""

        def plan(self, begins: dict[Place, int], ends: dict[Place, int]) -> list[Any]:
            """Cut one micro-batch into what each task reads."""

        def read(self, part: Any) -> Iterator[Any]:
            """Read what one task is for, as Arrow batches."""


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
    """Reads micro-batches, as all versions of Spark 4 want them.

    ``failOnDataLoss`` is true unless it is set: offsets that are gone end the query.
    """

    def __init__(self, stream: TopicStream) -> None:
        self._stream = stream
        self._options = stream.options

    def initialOffset(self) -> StreamOffset:
        """Find where a new query begins."""
        return write_offsets(self._stream.find_starts())

    def latestOffset(self) -> StreamOffset:
        """Find where the partitions end now."""
        return write_offsets(self._stream.find_ends())

    def partitions(
        self, start: StreamOffset, end: StreamOffset
    ) -> Sequence[InputPartition]:
        """Plan one micro-batch."""
        begins, ends = self._read(start), self._read(end)
        for place, begin in begins.items():
            self._check_end(place, begin, ends.get(place))
        return [InputPartition(each) for each in self._stream.plan(begins, ends)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read what one task is for, as Arrow batches."""
        return self._stream.read(partition.value)

    def _read(self, offset: StreamOffset) -> dict[Place, int]:
        return read_offsets(offset, self._stream.source_name)

    def _check_end(self, place: Place, begin: int, end: int | None) -> None:
        """Report a partition that was deleted, or ends before the stream's position."""
        if end is None:
            reason = "the partition no longer exists"
        elif end < begin and not self._stream.is_pending(place, begin):
            reason = f"the log ends at offset {end}, which was already read"
        else:
            return
        fails = self._options.fail_on_data_loss
        report_loss(self._stream.source_name, place, begin, reason, fails)


if KNOWS_LIMITS:

    class LimitedStreamReader(TopicStreamReader, SupportsTriggerAvailableNow):
        """Reads micro-batches of limited size, as Spark 4.2 and newer can."""

        _target: dict[Place, int] | None = None
        _last_trigger = -inf
        """When offsets were last given, in seconds; the first time nothing waits."""

        def getDefaultReadLimit(self) -> ReadLimit:
            """Return the limit that the options set.

            Python's readers have no limit of two parts: ``latestOffset`` knows the
            minimum by itself, and is given ``ReadAllAvailable`` where none counts.
            """
            least = self._options.min_offsets_per_trigger
            most = self._options.max_offsets_per_trigger
            if most is not None:
                return ReadMaxRows(most)
            return ReadAllAvailable() if least is None else ReadMinRows(least)

        def prepareForTriggerAvailableNow(self) -> None:
            """Make the present ends the end of the query."""
            self._target = self._stream.find_ends()

        def reportLatestOffset(self) -> StreamOffset:
            """Find where the partitions end now, for the query's progress."""
            return write_offsets(self._stream.find_ends())

        def latestOffset(  # type: ignore[override]
            self, start: StreamOffset, limit: ReadLimit
        ) -> StreamOffset:
            """Find where the next micro-batch ends."""
            begins = self._read(start)
            target = self._target
            ends = self._stream.find_ends() if target is None else dict(target)
            for place, begin in begins.items():
                end = ends.get(place)
                self._check_end(place, begin, end)
                ends[place] = max(begin, end or 0)
            if isinstance(limit, ReadAllAvailable):
                return write_offsets(ends)
            known = dict(begins)
            new = [place for place in ends if place not in begins]
            if new:
                begins |= self._stream.find_beginnings(new)
            waiting = {place: ends[place] - begins[place] for place in ends}
            if self._delays(sum(waiting.values())):
                return write_offsets(known)
            if isinstance(limit, ReadMaxRows):
                ends = self._limit_ends(begins, ends, waiting, limit.max_rows)
            return write_offsets(ends)

        def _delays(self, waiting: int) -> bool:
            """Decide whether a micro-batch waits until there are more offsets.

            ``maxTriggerDelay`` runs from the last time that it was not, as in Spark's
            own source. ``availableNow`` reads all there is, and so waits for nothing.
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
            """Divide ``most`` offsets among the partitions, by how many each has."""
            total = sum(waiting.values())
            if total <= most:
                return ends
            shares = {place: most * size // total for place, size in waiting.items()}
            # What rounding left goes to those who have most to give, one each.
            rest = most - sum(shares.values())
            by_size = sorted(waiting, key=lambda place: (-waiting[place], place))
            for place in by_size[:rest]:
                shares[place] += 1
            return {place: begins[place] + shares[place] for place in ends}


class RefusedStreamReader(SparkEntry, DataSourceStreamReader):
    """Replaces a stream that is not possible: the first call of Spark fails.

    An error of ``DataSource.streamReader`` itself never reaches the user: Spark 4
    raises an ``UnboundLocalError`` of its own over it.
    """

    def __init__(self, error: Exception) -> None:
        self._error = error

    def initialOffset(self) -> StreamOffset:
        """Raise the error."""
        raise self._error

    def latestOffset(self) -> StreamOffset:
        """Raise the error."""
        raise self._error

    def partitions(
        self, start: StreamOffset, end: StreamOffset
    ) -> Sequence[InputPartition]:
        """Raise the error."""
        raise self._error

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Raise the error."""
        raise self._error


def make_stream_reader(
    make_stream: Callable[[], TopicStream],
) -> DataSourceStreamReader:
    """Make the reader that this version of Spark can use.

    A ``ValueError`` of ``make_stream``, for an option, or an ``OSError``, for a file
    that it names, is raised when the reader is used.
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
                f"{name} requires Spark 4.2 or newer; one batch takes all offsets",
                stacklevel=2,
            )
    return TopicStreamReader(stream)
