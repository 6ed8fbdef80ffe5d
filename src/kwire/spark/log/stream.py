# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LogStream``: segment files of data directories as a stream.

A restart only requires Spark's checkpoint. ``spark/topics/stream_reader.py`` selects
the offsets of every micro-batch. This module does not import Spark.
"""

from __future__ import annotations

import warnings
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..._text import format_name
from ..topics.offsets import report_loss
from ..topics.options import EARLIEST, LATEST
from .planning import (
    Bounds,
    WantedRange,
    call_again,
    check_losses,
    cut_partition,
    find_partitions,
    offset_from,
    pack,
    split_size,
)
from .reading import read_pieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...log import Partition
    from ..topics.layout import Layout
    from ..topics.options import Place
    from .options import LogOptions
    from .planning import FileSplit


class LogStream:
    """Offsets and records of the growing partitions in data directories.

    A partition that is created later is read from its start offset.
    """

    source_name = "kafka-log"

    def __init__(self, options: LogOptions, layout: Layout) -> None:
        if options.view != "records":
            raise ValueError(f"view must be records in a stream (got {options.view})")
        if options.ending != ("offsets", "latest"):
            raise ValueError("a stream has no end; leave out ending offsets")
        self.options = options
        self._layout = layout
        self._has_warned = False

    def find_starts(self) -> dict[Place, int]:
        """Return the offsets at which a new query starts."""
        return call_again(self._find_starts)

    def find_ends(self) -> dict[Place, int]:
        """Return the current end offsets of the partitions."""
        return call_again(
            lambda: {
                topic_partition: self._find_end(partition)
                for topic_partition, partition in self._find_partitions().items()
            }
        )

    def find_beginnings(self, places: Sequence[Place]) -> dict[Place, int]:
        """Return the start offsets of partitions, or 0 for a deleted partition."""
        partitions = self._find_partitions()
        return {
            topic_partition: partitions[topic_partition].start_offset
            if topic_partition in partitions
            else 0
            for topic_partition in places
        }

    def is_pending(self, topic_partition: Place, offset: int) -> bool:
        """Return whether an open transaction hides records before ``offset``."""
        partition = self._find_partitions().get(topic_partition)
        return (
            self.options.isolation_level == "read_committed"
            and partition is not None
            and _find_complete_end(partition) >= offset
        )

    def plan(
        self, begins: dict[Place, int], ends: dict[Place, int]
    ) -> list[tuple[FileSplit, ...]]:
        """Split one micro-batch into input partitions, one per task."""
        return call_again(lambda: self._plan_pieces(begins, ends))

    def read(self, pieces: tuple[FileSplit, ...]) -> Iterator[Any]:
        """Read the input partition of one task as Arrow batches."""
        return read_pieces(pieces, self._layout, self.options)

    def _find_starts(self) -> dict[Place, int]:
        places: dict[Place, int] = {}
        for topic_partition, partition in self._find_partitions(
            must_be_there=True
        ).items():
            number = offset_from(partition, "starting", self.options)
            if number == EARLIEST:
                number = partition.start_offset
            elif number == LATEST:
                number = self._find_end(partition)
            places[topic_partition] = number
        return places

    def _plan_pieces(
        self, begins: dict[Place, int], ends: dict[Place, int]
    ) -> list[tuple[FileSplit, ...]]:
        options, partitions = self.options, self._find_partitions()
        ranges = []
        for topic_partition, end in ends.items():
            first = begins.get(topic_partition)
            if first is not None and first >= end:
                continue
            partition = partitions.get(topic_partition)
            if partition is None:
                start = 0 if first is None else first
                report_loss(
                    "kafka-log",
                    topic_partition,
                    start,
                    "the partition no longer exists",
                    options.fail_on_data_loss,
                )
                continue
            if first is None:
                first = partition.start_offset
            ranges.append(WantedRange(partition, first, end))
        if options.fail_on_data_loss:
            check_losses(ranges)
        size = split_size(
            sum(range_partition.size for range_partition, _, _ in ranges), options
        )
        pieces = chain.from_iterable(
            cut_partition(
                partition, first, end, options, size, Bounds(), is_micro_batch=True
            )
            for partition, first, end in ranges
        )
        return pack(list(pieces), options)

    def _find_partitions(self, must_be_there: bool = False) -> dict[Place, Partition]:
        must_be_there = must_be_there or self.options.fail_on_data_loss
        partitions: dict[Place, Partition] = {}
        for partition in find_partitions(self.options, must_be_there, True):
            topic_partition = partition.topic, partition.partition
            if topic_partition in partitions:
                first_path, second_path = (
                    format_name(partitions[topic_partition].path),
                    format_name(partition.path),
                )
                raise ValueError(
                    f"{partition.topic}-{partition.partition} is in {first_path} and in"
                    f" {second_path}; set duplicates=longest to read one of them"
                )
            partitions[topic_partition] = partition
        if not partitions and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"kafka-log: no partition to read in {', '.join(self.options.paths)};"
                " the stream waits for one",
                stacklevel=2,
            )
        return partitions

    def _find_end(self, partition: Partition) -> int:
        # In a copied directory, the log start offset checkpoint may be newer than the
        # copied segments.
        end = max(_find_complete_end(partition), partition.start_offset)
        if self.options.isolation_level == "read_committed":
            stable = partition.transactions().last_stable_offset
            end = end if stable is None else min(end, stable)
        return end


def _find_complete_end(partition: Partition) -> int:
    """Return the offset after the last batch of a partition with a correct checksum."""
    for segment in reversed(partition.segments):
        before = last = None
        for header in segment.headers(segment.seek_before(2**62), on_corrupt="skip"):
            before, last = last, header
        if last is not None:
            # A concurrent writer or copy may have extended the file without writing all
            # bytes of the last batch. Check the CRC.
            end = last.position + 1
            for _ in segment.headers(
                last.position, end, check_crc=True, on_corrupt="skip"
            ):
                return last.next_offset
            return last.base_offset if before is None else before.next_offset
    return partition.start_offset
