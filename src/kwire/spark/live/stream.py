# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LiveStream``: topics of a cluster as a stream.

``spark/topics/stream_reader.py`` selects the offsets of every micro-batch. This module
does not import Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..topics.offsets import report_loss
from .planning import LiveTopics, OffsetRange
from .reading import read_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..topics.layout import Layout
    from ..topics.options import Place
    from .options import LiveOptions


class LiveStream:
    """Offsets and records of topics. New partitions are read from the start."""

    source_name = "kafka-live"

    def __init__(self, options: LiveOptions, layout: Layout) -> None:
        self.options = options
        self._layout = layout
        self._topics = LiveTopics(options)

    def find_starts(self) -> dict[Place, int]:
        """Return the offsets at which a new query starts."""
        return self._topics.find_starts(self._topics.find_ends())

    def find_ends(self) -> dict[Place, int]:
        """Return the current end offsets of the partitions."""
        return self._topics.find_ends()

    def find_beginnings(self, places: Sequence[Place]) -> dict[Place, int]:
        """Return the start offsets of partitions.

        Raises ``TopicNotFound`` if a topic was deleted.
        """
        return self._topics.find_beginnings(places)

    def is_pending(self, topic_partition: Place, offset: int) -> bool:
        """Return whether an open transaction hides records before ``offset``."""
        if self.options.isolation_level != "read_committed":
            return False
        return self._topics.find_ends(decided=False).get(topic_partition, 0) >= offset

    def plan(
        self, begins: dict[Place, int], ends: dict[Place, int]
    ) -> list[OffsetRange]:
        """Split one micro-batch into input partitions, one per task."""
        new = self._topics.find_beginnings(ends.keys() - begins.keys())
        for topic_partition, begin in new.items():
            if begin:
                report_loss(
                    "kafka-live",
                    topic_partition,
                    0,
                    f"the partition is new and begins at offset {begin}",
                    self.options.fail_on_data_loss,
                )
        known = {**new, **begins}
        return self._topics.cut_ranges(
            [
                OffsetRange(*topic_partition, known[topic_partition], end)
                for topic_partition, end in ends.items()
            ]
        )

    def read(self, wanted: OffsetRange) -> Iterator[Any]:
        """Read the input partition of one task as Arrow batches."""
        return read_range(wanted, self._layout, self.options)
