# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LookupMachine``: finds the partitions of topics, and offsets in them.

    topics --Metadata--> partitions --ListOffsets--> offsets

``machine.py`` continues from these offsets, ``client/machines/queries.py`` returns
them. ``client/machines/faults.py`` decides what to do about an error of a broker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....connection.negotiation import OFFSETS_BY_TIME
from ....errors import KwireError
from ....messages import ListOffsetsRequest
from ...errors import BrokersUnreachable, TopicNotFound
from .. import faults
from ..cluster import ClusterMachine
from ..faults import Reaction
from ..metadata import NO_ID
from .options import LATEST, partitions_in
from .partition_reader import Asked, PartitionReader
from .requests import lookups_request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from ..link import Link
    from ..metadata import TopicInfo
    from ..settings import ClusterSettings
    from .options import ScanOptions

_UNKNOWN_TOPIC_S = 3.0
"""How long a topic may be unknown before that is believed: news travels."""

_SEARCH_S = 3.0
"""Interval in seconds between metadata requests while no topic matches a pattern. As
soon as a partition is read, ``ClusterSettings.metadata_max_age_s`` applies.
"""

_MAX_MISSING = 1000
"""Number of missing partitions that are kept, in addition to as many as metadata has
named at the same time.
"""

_LONGEST_NAME = 1000
"""Longer names, which Kafka does not allow (it has 249), match no pattern."""

_CATCH_UP_S = 0.01
"""The first pause for a broker that has yet to hear what the cluster decided."""

_CATCH_UP_DOUBTS = 9
"""As ``_DOUBTS``, with these shorter pauses."""

_DOUBTS = 6
"""After how many tries, some seconds, an older leader epoch is believed: the cluster
agrees on a new leader within that time.
"""


class LookupMachine:
    """Finds the partitions of topics and the offsets that each is to be read from.

    Call ``advance`` after anything that happened, and at ``wake_at``. ``is_done`` once
    nothing is left to do; ``failure`` is what ended it before that. Subclasses define
    what is looked up for a partition, and what is done with the offset.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        options: ScanOptions,
        *,
        now: float,
        random: Random,
    ) -> None:
        self.cluster = ClusterMachine(bootstrap, settings, now=now, random=random)
        self.cluster.topics = None if options.pattern else set(options.topics)
        self.options = options
        self.failure: KwireError | None = None
        self._settings = settings
        self._readers: dict[tuple[str, int], PartitionReader] = {}
        self._seen_version = 0
        self._is_planned = False
        self._unknown_since: dict[str, float] = {}
        self._search_at = now
        # Partitions that metadata has stopped to name, by when that was noticed first,
        # and the maximum number of partitions that one response has named.
        self._missing_since: dict[tuple[str, int], float] = {}
        self._max_named = 0
        self._cleaned_version = 0
        self._progress_at = now

    @property
    def wake_at(self) -> float:
        """When ``advance`` has something to do, if nothing happens before."""
        return self.cluster.wake_at

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        if self.options.follow:
            # Topics and partitions may appear at any time.
            return False
        return self._is_planned and not self._has_open_readers()

    def has_result(self) -> bool:
        """Whether there is something to take, or nothing more to come."""
        return self.failure is not None or self.is_done

    def advance(self, now: float) -> None:
        """Do what can be done now."""
        self.cluster.advance(now)
        self.failure = self.failure or self.cluster.failure
        if self.failure is None:
            if self.cluster.version != self._cleaned_version:
                self._cleaned_version = self.cluster.version
                self._forget_deleted(now)
            self._plan(now)
            self._look_up(now)
            self._fetch(now)
            self._check_progress(now)
            # Some of these may have found metadata wanting.
            self.cluster.refresh_metadata(now)

    def close(self, now: float) -> None:
        """End all links."""
        self.cluster.close(now)

    # What subclasses define.

    def _read_partition(self, topic: TopicInfo, partition: int) -> None:
        """Make a reader for a partition that was not known before."""
        raise NotImplementedError

    def _start_over(self, reader: PartitionReader, topic: TopicInfo) -> None:
        """Note that the topic was deleted and created again."""
        raise NotImplementedError

    def _set_offset(self, reader: PartitionReader, kind: str, offset: int) -> None:
        """Take the offset that a lookup of the partition found."""
        raise NotImplementedError

    def _fetch(self, now: float) -> None:
        """Read from the offsets that were found, if that is wanted."""

    # Topics to partitions.

    def _plan(self, now: float) -> None:
        """Make a reader for each partition that is known and is to be read."""
        self._find_partitions(now)
        self._search_topics(now)

    def _find_partitions(self, now: float) -> None:
        cluster = self.cluster
        is_news = cluster.version != self._seen_version
        if not cluster.version or not (is_news or self._unknown_since):
            return
        self._seen_version = cluster.version
        if self.is_done:
            return
        for name in self._names():
            topic = cluster.metadata.topics.get(name)
            if topic is None or topic.error_code or not topic.partitions:
                self._miss(name, topic, now)
            else:
                self._unknown_since.pop(name, None)
                self._read_topic(topic)
        if not self._unknown_since:
            self._is_planned = True
            pattern = self.options.pattern
            may_appear = self.options.follow and (pattern or self.options.topics)
            if not self._readers and not may_appear:
                text = (
                    f"no topic matches the pattern {pattern.pattern!r}"
                    if pattern
                    else ""
                )
                self.failure = self.failure or TopicNotFound(
                    text or "topics must name at least one topic (got none)"
                )

    def _search_topics(self, now: float) -> None:
        """Request metadata regularly while no topic matches the pattern."""
        if not self._is_planned or self._readers or self.options.pattern is None:
            return
        if now >= self._search_at:
            self._search_at = now + _SEARCH_S
            self.cluster.want_metadata()
        self.cluster.wake(self._search_at)

    def _forget_deleted(self, now: float) -> None:
        """Forget partitions that metadata no longer names.

        A broker that has just started may name too few topics for a while. Therefore a
        partition has to be missing for ``timeout_s``, unless there are so many that
        brokers must name other ones in each response. Once all partitions of a bounded
        task are known, no partition is added, and none is forgotten.
        """
        if self._is_planned and not self.options.follow:
            return
        missing, topics = self._missing_since, self.cluster.metadata.topics
        for name in self._unknown_since.keys() - topics.keys():
            if name not in self.options.topics:
                del self._unknown_since[name]
        readers = self._chosen_readers()
        for place in readers:
            topic = topics.get(place[0])
            if topic is not None and (topic.error_code or place[1] in topic.partitions):
                missing.pop(place, None)
            else:
                missing.setdefault(place, now)
        present = len(readers) - len(missing)
        self._max_named = max(self._max_named, present)
        excess = len(missing) - self._max_named - _MAX_MISSING
        for number, (place, since) in enumerate(list(missing.items())):
            if number < excess or now >= since + self._settings.timeout_s:
                del missing[place]
                if place in readers:
                    self._forget_reader(readers[place])

    def _forget_reader(self, reader: PartitionReader) -> None:
        """Forget a partition; earlier requests no longer concern it."""
        reader.generation += 1
        self._readers.pop((reader.topic, reader.partition), None)

    def _chosen_readers(self) -> Mapping[tuple[str, int], PartitionReader]:
        """Return all partitions that metadata added, also before they are read."""
        return self._readers

    def _names(self) -> Sequence[str]:
        pattern = self.options.pattern
        if pattern is None:
            return self.options.topics
        return sorted(
            each.name
            for each in self.cluster.metadata.topics.values()
            if not each.is_internal and not each.error_code
            if len(each.name) <= _LONGEST_NAME and each.name.isprintable()
            if pattern.fullmatch(each.name)
        )

    def _miss(self, name: str, topic: TopicInfo | None, now: float) -> None:
        """Wait for a topic that metadata does not describe, or give up."""
        code = faults.NOT_THERE if topic is None else topic.error_code
        failure = faults.topic_failure(name, code)
        give_up_at = self._unknown_since.setdefault(name, now) + _UNKNOWN_TOPIC_S
        if failure is None or (faults.may_pass(code) and now < give_up_at):
            self.cluster.want_metadata()
            self.cluster.wake(give_up_at if failure else now + _UNKNOWN_TOPIC_S)
        else:
            self.failure = failure

    def _read_topic(self, topic: TopicInfo) -> None:
        wanted = (self.options.partitions or {}).get(topic.name)
        chosen = set(topic.partitions if wanted is None else wanted)
        named = chosen | partitions_in(self.options.start, topic.name)
        named |= partitions_in(self.options.end, topic.name)
        for partition in sorted(named):
            if partition not in topic.partitions:
                self.failure = TopicNotFound(
                    f"topic {topic.name!r} has no partition {partition}; it has"
                    f" {len(topic.partitions)}, numbered from 0"
                )
                return
            if partition not in chosen:
                continue
            reader = self._readers.get((topic.name, partition))
            if reader is None:
                # A bounded task ends although partitions are added meanwhile.
                if not self._is_planned or self.options.follow:
                    self._read_partition(topic, partition)
            elif reader.topic_id == NO_ID:
                # Brokers were upgraded: the topic has an id from now on (KIP-516).
                reader.topic_id = topic.topic_id
            elif topic.topic_id not in (NO_ID, reader.topic_id) and not reader.is_done:
                self._start_over(reader, topic)

    # Lookups to offsets.

    def _look_up(self, now: float) -> None:
        """Find offsets: one request for each leader and kind of lookup."""
        waiting: dict[tuple[int, str], list[PartitionReader]] = {}
        for reader in self._readers.values():
            if reader.lookups and not reader.is_busy and self._is_due(reader, now):
                leader = self._leader(reader)
                if leader >= 0:
                    kind = next(iter(reader.lookups))
                    waiting.setdefault((leader, kind), []).append(reader)
        for (leader, kind), readers in waiting.items():
            link = self.cluster.link_to(leader, now, ListOffsetsRequest)
            if link is not None:
                self._send_lookups(link, kind, readers, now)

    def _send_lookups(
        self, link: Link, kind: str, readers: list[PartitionReader], now: float
    ) -> None:
        by_time = any(each.lookups[kind].timestamp >= 0 for each in readers)
        try:
            version = link.pick(
                ListOffsetsRequest, *((OFFSETS_BY_TIME,) if by_time else ())
            )
        except KwireError as error:
            self.failure = error
            return
        request = lookups_request(
            readers, kind, self.cluster.metadata, self.options, version
        )
        asked = Asked(readers)

        def done(response: Any, now: float) -> None:
            waiting = asked.take_back()
            if response is None:
                self._retry_all(waiting, now)
                return
            by_name = {(each.topic, each.partition): each for each in waiting}
            is_fruitless = True
            for topic in response.topics:
                for part in topic.partitions:
                    reader = by_name.pop((topic.name, part.partition_index), None)
                    if reader is not None and self._take_offset(
                        reader, kind, part, now
                    ):
                        is_fruitless = False
            if is_fruitless:
                self.cluster.note_fruitless(link, ListOffsetsRequest, now)
            self._retry_all(list(by_name.values()), now)

        if self._send(link, request, done, now, version=version):
            asked.begin()

    def _take_offset(
        self, reader: PartitionReader, kind: str, part: Any, now: float
    ) -> bool:
        """Use the result of a lookup; return whether this kind succeeds the first time.

        A scan may repeat a lookup, which is not progress.
        """
        if part.error_code:
            self._take_fault(reader, part.error_code, now)
            return False
        # The oldest version returns a list, whose first offset is the requested one.
        offset = next(iter(part.old_style_offsets), part.offset)
        if offset < 0 and reader.lookups[kind].timestamp < 0:
            # Each log has a start and an end; this leader does not know them yet.
            self._retry(reader, now)
            return False
        if offset < 0:
            # No record is as late as that: the end of the log.
            reader.lookups[kind] = LATEST
            return False
        is_first = kind not in reader.found
        if is_first:
            reader.found.add(kind)
            reader.failures = 0
            self._progress_at = now
        del reader.lookups[kind]
        self._set_offset(reader, kind, offset)
        return is_first

    def _take_fault(
        self,
        reader: PartitionReader,
        error_code: int,
        now: float,
        node: int = -1,
        is_hinted: bool = False,
    ) -> None:
        """Handle the error of a partition.

        ``node`` is the broker that answered, if it need not be the leader.
        """
        reaction = faults.choose_reaction(error_code)
        if reaction is Reaction.RETRY:
            self._retry(reader, now)
        elif reaction is Reaction.CATCH_UP:
            self._catch_up(reader, now)
        elif reaction is not Reaction.NEW_LEADER:
            self.failure = faults.failure(reader.name, error_code)
        elif is_hinted and self._can_redirect(reader, now):
            # The new leader gets a request immediately (KIP-951).
            pass
        else:
            self.cluster.want_metadata()
            self._retry(reader, now)
            if reader.failures >= _DOUBTS:
                self.cluster.metadata.forget_leader(reader.topic, reader.partition)

    def _can_redirect(self, reader: PartitionReader, now: float) -> bool:
        """Count a redirect; return whether the next request needs no pause."""
        reader.redirects.note(now)
        return reader.redirects.next_at <= now

    def _catch_up(self, reader: PartitionReader, now: float) -> None:
        """Wait for a leader that does not know its epoch yet: mostly milliseconds."""
        reader.failures += 1
        jitter = self.cluster.random.random()
        pause = self._settings.backoff_s(reader.failures, jitter, _CATCH_UP_S)
        reader.retry_at = now + pause
        if reader.failures >= _DOUBTS:
            self.cluster.want_metadata()
        if reader.failures >= _CATCH_UP_DOUBTS:
            self.cluster.metadata.forget_leader(reader.topic, reader.partition)

    def _retry_all(self, readers: list[PartitionReader], now: float) -> None:
        for reader in readers:
            self._retry(reader, now)

    def _retry(self, reader: PartitionReader, now: float) -> None:
        reader.failures += 1
        jitter = self.cluster.random.random()
        pause = self._settings.backoff_s(reader.failures, jitter)
        reader.retry_at = max(now + pause, reader.redirects.next_at)

    def _is_due(self, reader: PartitionReader, now: float) -> bool:
        if reader.retry_at > now:
            self.cluster.wake(reader.retry_at)
            return False
        return True

    def _send(
        self,
        link: Link,
        request: Any,
        done: Any,
        now: float,
        wait_s: float = 0.0,
        version: int | None = None,
    ) -> bool:
        try:
            link.send(request, done, now, wait_s=wait_s, version=version)
        except KwireError as error:
            self.failure = error
            return False
        return True

    def _leader(self, reader: PartitionReader) -> int:
        """Return the leader; -1, and new metadata to come, while there is none."""
        known = self.cluster.metadata.partition(reader.topic, reader.partition)
        if known is None or known.leader < 0:
            self.cluster.want_metadata()
            return -1
        return known.leader

    def _has_open_readers(self) -> bool:
        return any(not each.is_done for each in self._readers.values())

    def _check_progress(self, now: float) -> None:
        """Fail a task that makes no progress."""
        if self.is_done:
            return
        give_up_at = self._progress_at + self._settings.timeout_s
        self.cluster.wake(give_up_at)
        if now >= give_up_at:
            waiting = [each.name for each in self._readers.values() if not each.is_done]
            what = ", ".join(waiting[:3] or self.options.topics[:3]) or "topics"
            reasons = self.cluster.reasons(since=self._progress_at)
            self.failure = BrokersUnreachable(
                f"reading {what}: no progress for {self._settings.timeout_s:g} s;"
                f" {reasons}"
            )
