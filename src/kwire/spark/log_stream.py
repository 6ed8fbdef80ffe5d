# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-log`` as a stream: what came to the segments since the last micro-batch.

An offset of the stream is what Spark's own source ``kafka`` has: the next offset of
each partition, ``{"orders": {"0": 23}}``. All that a restart needs is in Spark's
checkpoint; a reader keeps nothing but the target of ``availableNow``.
"""

from __future__ import annotations

import warnings
from itertools import chain
from math import inf
from time import monotonic

from pyspark.sql.datasource import DataSourceStreamReader

from ..formatting import format_name
from .log_source import Part
from .options import EARLIEST, LATEST
from .planning import (
    Bounds,
    DataLoss,
    check_loss,
    cut,
    find_partitions,
    look_again,
    offset_from,
    pack,
    split_size,
)
from .reading import read_pieces
from .short_errors import SparkEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TypeAlias

    from pyspark.sql.datasource import InputPartition

    from ..log import Partition
    from .layout import Layout
    from .options import LogOptions, Place

    StreamOffset: TypeAlias = dict[str, dict[str, int]]

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


class LogStreamReader(SparkEntry, DataSourceStreamReader):
    """Reads micro-batches, as all versions of Spark 4 want them.

    A partition that appears later is read from its beginning. ``failOnDataLoss`` is
    true unless it is set: offsets that are gone end the query.
    """

    def __init__(self, options: LogOptions, layout: Layout) -> None:
        if options.view != "records":
            raise ValueError(f"a stream has the view records, not {options.view}")
        if options.ending != ("offsets", "latest"):
            raise ValueError("a stream has no end; leave out ending offsets")
        self._options = options
        self._layout = layout
        self._fails_on_loss = options.fail_on_data_loss is not False
        self._has_warned = False

    def initialOffset(self) -> StreamOffset:
        """Find where a new query begins."""
        return _to_json(look_again(self._begins))

    def _begins(self) -> dict[Place, int]:
        places: dict[Place, int] = {}
        for place, partition in self._partitions(must_be_there=True).items():
            number = offset_from(partition, "starting", self._options)
            if number == EARLIEST:
                number = partition.start_offset
            elif number == LATEST:
                number = self._end_of(partition)
            places[place] = number
        return places

    def latestOffset(self) -> StreamOffset:
        """Find where the log ends now."""
        return _to_json(self._ends())

    def partitions(
        self, start: StreamOffset, end: StreamOffset
    ) -> Sequence[InputPartition]:
        """Plan one micro-batch."""
        begins, ends = _from_json(start), _from_json(end)
        for place, begin in begins.items():
            self._check_end(place, begin, ends.get(place))
        return look_again(lambda: self._plan(begins, ends))

    def _plan(
        self, begins: dict[Place, int], ends: dict[Place, int]
    ) -> Sequence[InputPartition]:
        options, there = self._options, self._partitions()
        wanted = []
        for place, behind in ends.items():
            first = begins.get(place)
            if first is not None and first >= behind:
                continue
            partition = there.get(place)
            if partition is None:
                self._check_end(place, 0 if first is None else first, None)
                continue
            if first is None:
                first = partition.start_offset
            if self._fails_on_loss:
                check_loss(partition, first, behind)
            wanted.append((partition, first, behind))
        size = split_size(sum(each.size for each, _, _ in wanted), options)
        pieces = chain.from_iterable(
            cut(partition, first, behind, options, size, Bounds(), is_micro_batch=True)
            for partition, first, behind in wanted
        )
        return [Part(each) for each in pack(list(pieces), options)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Read what one task is for, as Arrow batches."""
        return read_pieces(partition.value, self._layout, self._options)

    def _partitions(self, must_be_there: bool = False) -> dict[Place, Partition]:
        must_be_there = must_be_there or self._fails_on_loss
        found: dict[Place, Partition] = {}
        for each in find_partitions(self._options, must_be_there, True):
            place = each.topic, each.partition
            if place in found:
                one, other = format_name(found[place].path), format_name(each.path)
                raise ValueError(
                    f"{each.topic}-{each.partition} is in {one} and in"
                    f" {other}; a stream reads it once: duplicates=longest chooses"
                )
            found[place] = each
        if not found and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"kafka-log: no partition to read in {', '.join(self._options.paths)};"
                " the stream waits for one",
                stacklevel=2,
            )
        return found

    def _ends(self) -> dict[Place, int]:
        return look_again(
            lambda: {
                place: self._end_of(each) for place, each in self._partitions().items()
            }
        )

    def _end_of(self, partition: Partition) -> int:
        # The checkpoint of a log's start may be newer than a copy of its segments.
        end = max(_whole_end(partition), partition.start_offset)
        if self._options.isolation_level == "read_committed":
            stable = partition.transactions().last_stable_offset
            end = end if stable is None else min(end, stable)
        return end

    def _check_end(self, place: Place, begin: int, end: int | None) -> None:
        """Say so if a partition ends before what was read of it, or is gone."""
        name = f"{place[0]}-{place[1]}"
        if end is None:
            self._lose(f"{name} is gone, from offset {begin} on")
        elif end < begin and not self._waits(place, begin):
            self._lose(f"{name} ends at offset {end}, and was read to {begin} already")

    def _waits(self, place: Place, begin: int) -> bool:
        """Whether what is behind ``begin`` is there, and no more than undecided."""
        partition = self._partitions().get(place)
        return (
            self._options.isolation_level == "read_committed"
            and partition is not None
            and _whole_end(partition) >= begin
        )

    def _lose(self, what: str) -> None:
        if self._fails_on_loss:
            raise DataLoss(f"{what}; failOnDataLoss=false reads what there is")
        warnings.warn(f"kafka-log: {what}", stacklevel=2)


def _whole_end(partition: Partition) -> int:
    """Find the offset behind the last batch that is written to its end."""
    for segment in reversed(partition.segments):
        before = last = None
        for header in segment.headers(segment.floor(2**62), on_corrupt="skip"):
            before, last = last, header
        if last is not None:
            # Its bytes may still be on their way, though its length is there.
            end = last.position + 1
            for _ in segment.headers(
                last.position, end, check_crc=True, on_corrupt="skip"
            ):
                return last.next_offset
            return last.base_offset if before is None else before.next_offset
    return partition.start_offset


def _to_json(places: dict[Place, int]) -> StreamOffset:
    """Write offsets as Spark's Kafka source does, in a fixed order."""
    offset: StreamOffset = {}
    for (topic, partition), number in sorted(places.items()):
        offset.setdefault(topic, {})[str(partition)] = number
    return offset


def _from_json(offset: StreamOffset) -> dict[Place, int]:
    try:
        return {
            (topic, int(partition)): int(number)
            for topic, numbers in offset.items()
            for partition, number in numbers.items()
        }
    except (AttributeError, TypeError, ValueError):
        raise ValueError(
            f"the checkpoint has the offset {offset!r:.200}, which is none of"
            ' kafka-log, such as {"orders": {"0": 23}}; each query wants a'
            " checkpointLocation of its own"
        ) from None


if KNOWS_LIMITS:

    class LimitedStreamReader(LogStreamReader, SupportsTriggerAvailableNow):
        """Reads micro-batches of limited size, as Spark 4.2 and newer can."""

        _target: dict[Place, int] | None = None
        _last_trigger = -inf
        """When offsets were last given, in seconds; the first time nothing waits."""

        def getDefaultReadLimit(self) -> ReadLimit:
            """Give the limit that the options set.

            Python's readers have no limit of two parts: ``latestOffset`` knows the
            minimum by itself, and is given ``ReadAllAvailable`` where none counts.
            """
            least = self._options.min_offsets_per_trigger
            most = self._options.max_offsets_per_trigger
            if most is not None:
                return ReadMaxRows(most)
            return ReadAllAvailable() if least is None else ReadMinRows(least)

        def prepareForTriggerAvailableNow(self) -> None:
            """Take what there is now for all that there is to be read."""
            self._target = self._ends()

        def reportLatestOffset(self) -> StreamOffset:
            """Find where the log ends now, for the query's progress."""
            return _to_json(self._ends())

        def latestOffset(  # type: ignore[override]
            self, start: StreamOffset, limit: ReadLimit
        ) -> StreamOffset:
            """Find where the next micro-batch ends."""
            begins = _from_json(start)
            ends = dict(self._target) if self._target is not None else self._ends()
            for place, begin in begins.items():
                end = ends.get(place)
                self._check_end(place, begin, end)
                ends[place] = max(begin, end or 0)
            if isinstance(limit, ReadAllAvailable):
                return _to_json(ends)
            known = dict(begins)
            self._add_beginnings(begins, ends)
            waiting = {place: ends[place] - begins[place] for place in ends}
            if self._delays(sum(waiting.values())):
                return _to_json(known)
            if isinstance(limit, ReadMaxRows):
                ends = self._limited(begins, ends, waiting, limit.max_rows)
            return _to_json(ends)

        def _add_beginnings(
            self, begins: dict[Place, int], ends: dict[Place, int]
        ) -> None:
            """Add where partitions begin that are new."""
            there = None
            for place in ends.keys() - begins.keys():
                there = there or self._partitions()
                begins[place] = there[place].start_offset if place in there else 0

        def _delays(self, waiting: int) -> bool:
            """Decide whether a micro-batch is put off until more offsets wait.

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

        def _limited(
            self,
            begins: dict[Place, int],
            ends: dict[Place, int],
            waiting: dict[Place, int],
            most: int,
        ) -> dict[Place, int]:
            """Share ``most`` offsets among the partitions by what they have to give."""
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
    """Stands for a stream that cannot be; the first thing that Spark asks for fails.

    An error of ``DataSource.streamReader`` itself never reaches the user: Spark 4
    raises an ``UnboundLocalError`` of its own over it.
    """

    def __init__(self, error: ValueError) -> None:
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


def stream_reader(options: LogOptions, layout: Layout) -> LogStreamReader:
    """Make the reader that this version of Spark can use."""
    if KNOWS_LIMITS:
        return LimitedStreamReader(options, layout)
    limits = {
        "minOffsetsPerTrigger": options.min_offsets_per_trigger,
        "maxOffsetsPerTrigger": options.max_offsets_per_trigger,
    }
    for name, limit in limits.items():
        if limit is not None:
            warnings.warn(
                f"{name} needs Spark 4.2 or newer; all there is comes at once",
                stacklevel=2,
            )
    return LogStreamReader(options, layout)
