# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State machines that query topics, offsets or partition sizes without reading records.

Call ``advance`` after every event and at ``wake_at`` until ``has_result`` returns True.
Then ``failure`` is set, or ``result`` returns the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import KwireError
from ...messages import DescribeLogDirsRequest
from ..errors import BrokersUnreachable
from .cluster import ClusterMachine
from .scan.lookups import OffsetLookups
from .scan.partition_finder import PartitionFinder
from .scan.partition_reader import PartitionReader, ReaderState
from .scan.partition_set import PartitionSet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from .metadata import TopicInfo
    from .scan.options import Lookup, ScanOptions
    from .settings import ClusterSettings


class QueryMachine:
    """Base class of queries, with a ``ClusterMachine`` and a timeout."""

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
        self._give_up_at = now + settings.timeout_s

    @property
    def wake_at(self) -> float:
        """Time of the next ``advance`` if nothing happens before."""
        return self.cluster.wake_at

    def close(self, now: float) -> None:
        """Close all connections."""
        self.cluster.close(now)

    def _give_up(self, operation: str) -> None:
        timeout_s = self.cluster.settings.timeout_s
        self.failure = BrokersUnreachable(
            f"{operation}: no broker answered within {timeout_s:g} s;"
            # Only this query uses the cluster object, so include all connection
            # failures of the cluster.
            f" {self.cluster.reasons(since=0.0)}"
        )


class TopicsMachine(QueryMachine):
    """Requests the metadata of all topics that the user may describe."""

    def has_result(self) -> bool:
        """Return whether the topics are available, or the query has failed."""
        return self.failure is not None or self.cluster.version > 0

    def result(self) -> dict[str, TopicInfo]:
        """Return {topic name: topic}, sorted by name."""
        return dict(sorted(self.cluster.metadata.topics.items()))

    def advance(self, now: float) -> None:
        """Request metadata, or fail after the timeout."""
        self.cluster.advance(now)
        self.failure = self.cluster.failure
        self.cluster.wake(self._give_up_at)
        if now >= self._give_up_at and not self.has_result():
            self._give_up("listing topics")


class SizesMachine(QueryMachine):
    """Requests the log size of every partition from its leader.

    ``topics`` are names, or None for all topics. Every broker gets one DescribeLogDirs
    request. If a broker rejects the request, does not support it, or becomes
    unavailable, the result does not contain its partitions.
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
        super().__init__(bootstrap, settings, now=now, random=random)
        self.cluster.topics = topics
        # Ids of the brokers that have not answered. None until the first metadata
        # response lists the brokers. Empty from the start if an empty list of topics
        # was requested, so that the query ends immediately.
        self._waiting: set[int] | None = None if topics is None or topics else set()
        self._sent: set[int] = set()
        self._sizes: dict[tuple[str, int], int] = {}

    def has_result(self) -> bool:
        """Return whether all brokers have answered or are unavailable."""
        return self.failure is not None or self._waiting == set()

    def result(self) -> dict[tuple[str, int], int]:
        """Return the reported sizes in bytes by (topic, partition)."""
        return dict(sorted(self._sizes.items()))

    def advance(self, now: float) -> None:
        """Send the requests to brokers that have not got one, or end after the timeout.

        After the timeout, the result contains the sizes that have been received.
        """
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
                self._give_up("finding sizes")
            else:
                self._waiting.clear()

    def _send(self, node: int, waiting: set[int], now: float) -> None:
        """Send DescribeLogDirs to a broker.

        If the broker is unavailable or does not support the request, its partitions are
        omitted from the result.
        """

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
            link.send(self._build_request(node), done, now)
        except KwireError:
            # The broker does not support DescribeLogDirs, which requires Kafka 1.0.
            waiting.discard(node)

    def _build_request(self, node: int) -> DescribeLogDirsRequest:
        """Build the request for the partitions that a broker leads."""
        entry = DescribeLogDirsRequest.DescribableLogDirTopic
        entries = []
        for topic in self.cluster.metadata.topics.values():
            led = [n for n, info in topic.partitions.items() if info.leader == node]
            if led:
                entries.append(entry(topic=topic.name, partitions=led))
        return DescribeLogDirsRequest(topics=entries)

    def _take_sizes(self, response: Any, node: int) -> None:
        for directory in response.results:
            for topic in directory.topics:
                for part in topic.partitions:
                    info = self.cluster.metadata.partition(
                        topic.name, part.partition_index
                    )
                    # A future log is a copy that is being moved to another disk.
                    if info and info.leader == node and not part.is_future_key:
                        topic_partition = topic.name, part.partition_index
                        self._sizes[topic_partition] = part.partition_size


class OffsetsMachine(QueryMachine):
    """Looks up one offset in every partition of some topics.

    ``options`` specifies the topics and the isolation level. ``lookup`` specifies the
    offset.
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
        super().__init__(bootstrap, settings, now=now, random=random)
        self._lookup = lookup
        self._finder = PartitionFinder(self.cluster, options, now)
        self._partitions = PartitionSet(self.cluster, options, now)
        self._lookups = OffsetLookups(self.cluster, options, self._partitions)

    def has_result(self) -> bool:
        """Return whether all offsets were found, or cannot be found."""
        return self.failure is not None or self._is_done()

    def result(self) -> dict[tuple[str, int], int]:
        """Return the offsets that were found, by (topic, partition)."""
        return {
            topic_partition: reader.position
            for topic_partition, reader in sorted(self._partitions.readers.items())
            if reader.position is not None
        }

    def advance(self, now: float) -> None:
        """Look up the offsets, and fail if there is no progress until the timeout."""
        self.cluster.advance(now)
        self._collect_failure()
        for reader in self._partitions.readers.values():
            if reader.state is ReaderState.FETCH_DUE:
                reader.finish()
        if self.failure is None and not self._is_done():
            self._choose_partitions(now)
            self._lookups.advance(now)
            self._partitions.check_progress(now)
            self._collect_failure()
            # Send the metadata request now if one of the steps above has required it.
            self.cluster.refresh_metadata(now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        self._partitions.check_invariants()

    def _collect_failure(self) -> None:
        self.failure = (
            self.failure
            or self.cluster.failure
            or self._finder.failure
            or self._partitions.failure
        )

    def _is_done(self) -> bool:
        return self._finder.is_complete and self._partitions.is_done()

    def _choose_partitions(self, now: float) -> None:
        readers = self._partitions.readers
        for reader in self._finder.take_deleted(readers, now):
            reader.stop()
            del readers[reader.place]
        changes = self._finder.find(readers, now)
        for reader, topic in changes.recreated:
            if reader.state is not ReaderState.DONE:
                # Look up the offset of the new topic. A response in flight belongs to
                # the deleted topic.
                reader.stop()
                changes.new.append((topic, reader.partition))
        for topic, partition in changes.new:
            reader = PartitionReader(topic.name, partition, topic.topic_id)
            reader.start(self._lookup)
            readers[reader.place] = reader
