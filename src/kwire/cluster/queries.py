# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Machines that find something out and are over: topics, and offsets.

They read no records; ``scan.py`` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import BrokersUnreachable
from .lookups import LookupMachine
from .machine import ClusterMachine
from .partition_reader import PartitionReader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from ..errors import KwireError
    from .metadata import TopicInfo
    from .scan_options import Lookup, ScanOptions
    from .settings import ClusterSettings


class TopicsMachine:
    """Finds all topics that the user may see.

    ``has_result`` once ``result`` or ``failure`` is there.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        *,
        now: float,
        random: Random,
    ) -> None:
        self.cluster = ClusterMachine(bootstrap, settings, now=now, random=random)
        self.cluster.topics = None
        self.failure: KwireError | None = None
        self._timeout_s = settings.timeout_s
        self._give_up_at = now + settings.timeout_s

    @property
    def wake_at(self) -> float:
        """When ``advance`` has something to do, if nothing happens before."""
        return self.cluster.wake_at

    def has_result(self) -> bool:
        """Whether the topics are known, or will not be."""
        return self.failure is not None or self.cluster.version > 0

    def result(self) -> dict[str, TopicInfo]:
        """Return the topics by name, sorted."""
        return dict(sorted(self.cluster.metadata.topics.items()))

    def advance(self, now: float) -> None:
        """Do what can be done now."""
        self.cluster.advance(now)
        self.failure = self.cluster.failure
        self.cluster.wake(self._give_up_at)
        if now >= self._give_up_at and not self.has_result():
            self.failure = BrokersUnreachable(
                f"listing topics: no broker answered within {self._timeout_s:g} s;"
                f" {self.cluster.reasons()}"
            )

    def close(self, now: float) -> None:
        """End all links."""
        self.cluster.close(now)


class OffsetsMachine(LookupMachine):
    """Finds one offset for each partition of some topics.

    ``options`` names the topics and the isolation, ``lookup`` the offset.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        options: ScanOptions,
        lookup: Lookup,
        *,
        now: float,
        random: Random,
    ) -> None:
        super().__init__(bootstrap, settings, options, now=now, random=random)
        self._lookup = lookup

    def result(self) -> dict[tuple[str, int], int]:
        """Return the offset of each (topic, partition) for which it was found."""
        return {
            place: reader.position
            for place, reader in sorted(self._readers.items())
            if reader.position is not None
        }

    def _read_partition(self, topic: TopicInfo, partition: int) -> None:
        reader = PartitionReader(topic.name, partition, topic.topic_id)
        reader.lookups["start"] = self._lookup
        self._readers[topic.name, partition] = reader

    def _start_over(self, reader: PartitionReader, topic: TopicInfo) -> None:
        # What was sent is about the topic that is gone.
        reader.generation += 1
        self._read_partition(topic, reader.partition)

    def _set_offset(self, reader: PartitionReader, kind: str, offset: int) -> None:
        reader.position = offset
        reader.is_done = True
