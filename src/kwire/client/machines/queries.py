# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State machines that answer one question: topics, offsets or sizes.

They read no records; ``scan/machine.py`` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import KwireError
from ...messages import DescribeLogDirsRequest
from ..errors import BrokersUnreachable
from .cluster import ClusterMachine
from .scan.lookups import LookupMachine
from .scan.partition_reader import PartitionReader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from .metadata import TopicInfo
    from .scan.options import Lookup, ScanOptions
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


class SizesMachine:
    """Finds the size of each partition's log on the disk of its leader.

    ``topics`` are names, or None for all. Each broker gets one DescribeLogDirs; one
    that refuses it, is too old for it, or goes away reports no sizes.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        topics: set[str] | None,
        *,
        now: float,
        random: Random,
    ) -> None:
        self.cluster = ClusterMachine(bootstrap, settings, now=now, random=random)
        self.cluster.topics = topics
        self.failure: KwireError | None = None
        self._timeout_s = settings.timeout_s
        self._give_up_at = now + settings.timeout_s
        # Without topics there is nothing to wait for.
        self._waiting: set[int] | None = None if topics is None or topics else set()
        self._sent: set[int] = set()
        self._sizes: dict[tuple[str, int], int] = {}

    @property
    def wake_at(self) -> float:
        """When ``advance`` has something to do, if nothing happens before."""
        return self.cluster.wake_at

    def has_result(self) -> bool:
        """Whether all brokers have answered, or will not."""
        return self.failure is not None or self._waiting == set()

    def result(self) -> dict[tuple[str, int], int]:
        """Return the bytes of each (topic, partition) whose leader reports them."""
        return dict(sorted(self._sizes.items()))

    def advance(self, now: float) -> None:
        """Do what can be done now."""
        self.cluster.advance(now)
        self.failure = self.failure or self.cluster.failure
        if self._waiting is None and self.cluster.version:
            self._waiting = set(self.cluster.metadata.brokers)
        if self._waiting is not None:
            for node in sorted(self._waiting - self._sent):
                self._send(node, self._waiting, now)
        self.cluster.wake(self._give_up_at)
        if now >= self._give_up_at and not self.has_result():
            if self._waiting is None:
                self.failure = BrokersUnreachable(
                    f"finding sizes: no broker answered within {self._timeout_s:g} s;"
                    f" {self.cluster.reasons()}"
                )
            else:
                self._waiting.clear()

    def close(self, now: float) -> None:
        """End all links."""
        self.cluster.close(now)

    def _send(self, node: int, waiting: set[int], now: float) -> None:
        def done(response: Any, now: float) -> None:
            waiting.discard(node)
            if response is not None:
                self._take_sizes(response, node)

        link = self.cluster.link_to(node, now)
        if link is None:
            if self.cluster.is_failing(node):
                waiting.discard(node)
            return
        self._sent.add(node)
        try:
            link.send(self._request(node), done, now)
        except KwireError:
            # A broker before Kafka 1.0.
            waiting.discard(node)

    def _request(self, node: int) -> DescribeLogDirsRequest:
        """Write the request for what a broker leads."""
        entry = DescribeLogDirsRequest.DescribableLogDirTopic
        entries = []
        for topic in self.cluster.metadata.topics.values():
            led = [n for n, each in topic.partitions.items() if each.leader == node]
            if led:
                entries.append(entry(topic=topic.name, partitions=led))
        return DescribeLogDirsRequest(topics=entries)

    def _take_sizes(self, response: Any, node: int) -> None:
        for directory in response.results:
            for topic in directory.topics:
                for part in topic.partitions:
                    known = self.cluster.metadata.partition(
                        topic.name, part.partition_index
                    )
                    # A future log is a copy that is on its way to another disk.
                    if known and known.leader == node and not part.is_future_key:
                        place = topic.name, part.partition_index
                        self._sizes[place] = part.partition_size


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
