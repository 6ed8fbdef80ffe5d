# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``PartitionFinder``: detects new, recreated and deleted partitions of topics.

    names or pattern --Metadata--> topics --> partitions

It compares the metadata with the readers of its caller, and returns the differences.
``client/machines/faults.py`` defines which errors of a topic are temporary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...errors import TopicNotFound
from .. import faults
from ..metadata import NO_ID
from ..settings import MAX_UNKNOWN_TOPIC_S
from .options import partitions_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ....errors import KwireError
    from ..cluster import ClusterMachine
    from ..metadata import TopicInfo
    from .options import ScanOptions
    from .partition_reader import PartitionReader

_SEARCH_S = 3.0
"""Interval in seconds between metadata requests while no topic matches a pattern. After
the first match, ``ClusterSettings.metadata_max_age_s`` applies.
"""

_MAX_MISSING = 1000
"""Maximum number of readers whose partitions are missing in the metadata, in addition
to the maximum number of partitions with a reader that the metadata has contained at the
same time. If more are missing, ``take_deleted`` returns the excess immediately.
"""

_MAX_NAME_CHARACTERS = 1000
"""Maximum length of a topic name that is compared with a pattern. Kafka permits only
249 characters, so a longer name comes from a hostile broker, and matching it may take
long.
"""


class FoundPartitions(NamedTuple):
    """Differences between the metadata and a task's readers.

    * ``new``: partitions without a reader.
    * ``recreated``: readers whose topic was deleted and created again, each with the
      metadata of the new topic.
    """

    new: list[tuple[TopicInfo, int]]
    recreated: list[tuple[PartitionReader, TopicInfo]]


_NOTHING = FoundPartitions([], [])


class PartitionFinder:
    """Finds the partitions of the topics in ``options``.

    During each ``advance`` of the task, call ``take_deleted`` and ``find``. A group
    consumer, whose coordinator assigns the partitions, calls ``check_topics`` instead.

    * ``is_complete``: True when all topics have been found. Bounded tasks ignore
      partitions that are created later.
    * ``failure``: error if a topic or partition does not exist, or None.
    """

    def __init__(
        self, cluster: ClusterMachine, options: ScanOptions, now: float
    ) -> None:
        cluster.topics = None if options.pattern else set(options.topics)
        self.is_complete = False
        self.failure: KwireError | None = None
        self._cluster = cluster
        self._options = options
        self._seen_version = 0
        self._cleaned_version = 0
        self._unknown_since: dict[str, float] = {}
        self._search_at = now
        # Partitions that have a reader, but are missing from the metadata. The value is
        # the time when the partition was first missing.
        self._missing_since: dict[tuple[str, int], float] = {}
        # Maximum number of partitions with a reader that the metadata has contained at
        # the same time.
        self._max_named = 0

    def find(
        self, readers: Mapping[tuple[str, int], PartitionReader], now: float
    ) -> FoundPartitions:
        """Compare new metadata with all readers of the task.

        Returns no differences if the metadata has not changed.
        """
        cluster = self._cluster
        is_news = cluster.version != self._seen_version or self._unknown_since
        if not is_news or not cluster.version:
            if not readers:
                self._search_topics(now)
            return _NOTHING
        self._seen_version = cluster.version
        changes = FoundPartitions([], [])
        for topic in self._known_topics(now):
            self._compare_topic(topic, readers, changes)
        if not self._unknown_since:
            self.is_complete = True
            if not readers and not changes.new:
                self._check_choice()
                self._search_topics(now)
        return changes

    def check_topics(self, now: float) -> None:
        """Set ``failure`` if a topic does not exist, until all have been found once."""
        if self._cluster.version and not self.is_complete:
            self._known_topics(now)
            self.is_complete = not self._unknown_since

    def take_deleted(
        self, readers: Mapping[tuple[str, int], PartitionReader], now: float
    ) -> list[PartitionReader]:
        """Return the readers of partitions that the metadata no longer contains.

        A broker that has just started may return too few topics for some time.
        Therefore, a partition must be missing for ``ClusterSettings.timeout_s``. This
        does not apply if too many are missing, because brokers could return different
        topics in every response.

        A bounded task removes no partitions after all have been found.
        """
        if self._cluster.version == self._cleaned_version or (
            self.is_complete and not self._options.follow
        ):
            return []
        self._cleaned_version = self._cluster.version
        missing, topics = self._missing_since, self._cluster.metadata.topics
        for name in self._unknown_since.keys() - topics.keys():
            if name not in self._options.topics:
                del self._unknown_since[name]
        for topic_partition in missing.keys() - readers.keys():
            del missing[topic_partition]
        for topic_partition in readers:
            topic = topics.get(topic_partition[0])
            if topic is not None and (
                topic.error_code or topic_partition[1] in topic.partitions
            ):
                missing.pop(topic_partition, None)
            else:
                missing.setdefault(topic_partition, now)
        self._max_named = max(self._max_named, len(readers) - len(missing))
        excess = len(missing) - self._max_named - _MAX_MISSING
        timeout_s = self._cluster.settings.timeout_s
        deleted = [
            topic_partition
            for number, (topic_partition, since) in enumerate(missing.items())
            if number < excess or now >= since + timeout_s
        ]
        for topic_partition in deleted:
            del missing[topic_partition]
        return [readers[topic_partition] for topic_partition in deleted]

    def _known_topics(self, now: float) -> list[TopicInfo]:
        """Return the requested topics that have metadata.

        Calls ``_wait_for_topic`` for each of the other topics.
        """
        topics = []
        for name in self._list_topic_names():
            topic = self._cluster.metadata.topics.get(name)
            if topic is None or topic.error_code or not topic.partitions:
                self._wait_for_topic(name, topic, now)
            else:
                self._unknown_since.pop(name, None)
                topics.append(topic)
        return topics

    def _list_topic_names(self) -> Sequence[str]:
        pattern = self._options.pattern
        if pattern is None:
            return self._options.topics
        return sorted(
            topic.name
            for topic in self._cluster.metadata.topics.values()
            if not topic.is_internal and not topic.error_code
            if len(topic.name) <= _MAX_NAME_CHARACTERS and topic.name.isprintable()
            if pattern.fullmatch(topic.name)
        )

    def _wait_for_topic(self, name: str, topic: TopicInfo | None, now: float) -> None:
        """Wait for a topic that is missing in the metadata, or set ``failure``."""
        code = faults.NOT_THERE if topic is None else topic.error_code
        failure = faults.topic_failure(name, code)
        give_up_at = self._unknown_since.setdefault(name, now) + MAX_UNKNOWN_TOPIC_S
        if failure is None or (faults.may_pass(code) and now < give_up_at):
            self._cluster.want_metadata()
            self._cluster.wake(give_up_at if failure else now + MAX_UNKNOWN_TOPIC_S)
        else:
            self.failure = failure

    def _compare_topic(
        self,
        topic: TopicInfo,
        readers: Mapping[tuple[str, int], PartitionReader],
        changes: FoundPartitions,
    ) -> None:
        """Add the differences between a topic and its readers to ``changes``.

        Sets ``failure`` if the options contain a partition that does not exist.
        """
        options = self._options
        requested = (options.partitions or {}).get(topic.name)
        chosen = set(topic.partitions if requested is None else requested)
        required = chosen | partitions_in(options.start, topic.name)
        required |= partitions_in(options.end, topic.name)
        for partition in sorted(required):
            if partition not in topic.partitions:
                self.failure = TopicNotFound(
                    f"topic {topic.name!r} has no partition {partition}; it has"
                    f" {len(topic.partitions)}, numbered from 0"
                )
                return
            if partition not in chosen:
                continue
            reader = readers.get((topic.name, partition))
            if reader is None:
                if not self.is_complete or options.follow:
                    changes.new.append((topic, partition))
            elif reader.topic_id == NO_ID:
                reader.set_topic_id(topic.topic_id)
            elif topic.topic_id not in (NO_ID, reader.topic_id):
                changes.recreated.append((reader, topic))

    def _check_choice(self) -> None:
        """Set ``failure`` if there is no partition, and none can be created later."""
        pattern = self._options.pattern
        if self._options.follow and (pattern or self._options.topics):
            return
        self.failure = self.failure or TopicNotFound(
            f"no topic matches the pattern {pattern.pattern!r}"
            if pattern
            else "topics must name at least one topic (got none)"
        )

    def _search_topics(self, now: float) -> None:
        """Request metadata regularly while no topic matches the pattern."""
        if not self.is_complete or self._options.pattern is None:
            return
        if now >= self._search_at:
            self._search_at = now + _SEARCH_S
            self._cluster.want_metadata()
        self._cluster.wake(self._search_at)
