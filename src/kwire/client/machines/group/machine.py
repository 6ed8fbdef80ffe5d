# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ConsumerMachine``: reads the partitions of a consumer group, and commits offsets.

    Membership --target--> owned partitions --OffsetFetch--> Fetcher --> Fetched
        ^--- owned partitions, after the caller has finished its chunks ---'

When the group revokes a partition, the consumer stops reading it immediately. It gives
up the partition when the caller waits for its next chunk, and no commit of the
partition is in progress. Until then, the caller can commit the chunks that it is
processing.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import BrokersUnreachable, PartitionLost
from ..cluster import ClusterMachine
from ..coordinators import Coordinators
from ..events import Event, list_partitions
from ..metrics import GROUP_METRICS
from ..scan.fetcher import Fetcher
from ..scan.options import EARLIEST, choose_spec
from ..scan.partition_finder import PartitionFinder
from .group_reader import Committed, GroupReader, Ownership, position_after
from .member import GroupMember
from .offsets import GroupOffsets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from random import Random

    from ....errors import KwireError
    from ...errors import DataLost
    from ..metadata import TopicInfo
    from ..scan.options import Fetched, ScanOptions, Spec
    from ..settings import ClusterSettings
    from .membership import Assignment, Membership
    from .offsets import PendingCommit
    from .options import GroupMetadata, GroupOptions

_MAX_DELAY_S = 1.0
"""Maximum age in seconds of the last ``advance`` for which ``begin_wait`` trusts the
membership. After a longer time, the session may have timed out.
"""


class ConsumerState(Enum):
    """State of a consumer. A state may only change to a later state of this list."""

    STARTING = auto()
    """No coordinator has answered yet. This is an error after
    ``ClusterSettings.timeout_s``."""
    RUNNING = auto()
    """A coordinator has answered. The consumer waits for an unreachable coordinator
    without a time limit."""
    FAILED = auto()
    """An error has ended reading. The caller may still commit the chunks that it
    has."""
    CLOSING = auto()
    """Waiting for the commits in flight. Then the consumer leaves the group."""
    LEFT = auto()
    """The consumer is outside the group, or ``leave_timeout_s`` has passed."""


class CallerState(Enum):
    """Whether the caller processes chunks or waits for the next one."""

    BUSY = auto()
    """The caller is processing chunks."""
    WAITING = auto()
    """The caller waits for the next chunk, and has processed all earlier chunks."""


class PartitionChanges(NamedTuple):
    """Changes of the owned partitions since the last call of ``take_changes``.

    * ``lost``: (topic, partition) pairs that the consumer has lost.
    * ``assigned``: (topic, partition) pairs that were assigned to the consumer.

    A partition that was lost and assigned again is in both lists.
    """

    lost: list[tuple[str, int]]
    assigned: list[tuple[str, int]]


class ConsumerMachine:
    """State machine of a group consumer, with its own ``ClusterMachine``.

    Call ``advance`` after every event, and when the clock reaches ``wake_at``.

    * To read: call ``begin_wait``, wait until ``has_result`` is True, and call
      ``end_wait``. ``take`` returns the chunk. When its data is no longer needed, call
      ``release`` to return its memory. The machine detects a late caller by the time
      between ``end_wait`` and the next ``begin_wait``.
    * To commit: ``commit`` returns a ``PendingCommit``, which receives its result
      during a later ``advance``.
    * To close: call ``begin_close``, continue with ``advance`` until ``is_closable`` is
      True, and call ``close``.

    ``state`` is a ``ConsumerState``. ``failure`` is the error that ended the consumer,
    or None.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        options: ScanOptions,
        group: GroupOptions,
        *,
        now: float,
        random: Random,
    ) -> None:
        self.cluster = ClusterMachine(bootstrap, settings, now=now, random=random)
        self.options = options
        self.group = group
        self.state = ConsumerState.STARTING
        self.failure: KwireError | None = None
        self._fetcher = Fetcher(self.cluster, options, now=now)
        self._finder = PartitionFinder(self.cluster, options, now)
        coordinators = Coordinators(self.cluster, is_apart=True)
        # None if the caller has chosen the partitions. The consumer then only uses the
        # group's committed offsets.
        self._membership: Membership | None = (
            GroupMember(self.cluster, coordinators, group, options.topics, options.rack)
            if group.joins
            else None
        )
        self._offsets = GroupOffsets(
            self.cluster,
            coordinators,
            group.group_id,
            self._membership,
            self._begin_at_committed,
        )
        self._owned: dict[tuple[str, int], GroupReader] = {}
        # Owned partitions at the last call of ``take_changes``.
        self._announced: dict[tuple[str, int], GroupReader] = {}
        # Incarnation of the membership in which ``_owned`` was assigned.
        self._incarnation = 0
        self._caller = CallerState.BUSY
        self._busy_since = self._started_at = self._advanced_at = now
        self._close_at = 0.0
        # Time at which the owned partitions began to differ from the assignment, or
        # None if they are equal. The rebalance latency is measured from this time on.
        self._rebalance_began_at: float | None = None
        # Incarnation and identity of the member when the caller took its last chunk.
        self._taken_as: tuple[int, GroupMetadata] | None = None
        self.cluster.push_metrics("consumer", self.read_metrics, self._labels(), now)

    def _labels(self) -> dict[str, str]:
        """Return the labels of the metrics that are pushed to brokers (KIP-714)."""
        labels = {"group_id": self.group.group_id}
        if self._membership is not None:
            labels["group_member_id"] = self._membership.metadata.member_id
        if self.group.group_instance_id is not None:
            labels["group_instance_id"] = self.group.group_instance_id
        if self.options.rack:
            labels["client_rack"] = self.options.rack
        return labels

    @property
    def wake_at(self) -> float:
        """Time of the next ``advance`` if no event occurs before."""
        return self.cluster.wake_at

    @property
    def is_done(self) -> bool:
        """Whether the consumer is closing or closed, and returns no more chunks.

        False after a failure: the caller gets the chunks that were read before it.
        """
        return self.state in (ConsumerState.CLOSING, ConsumerState.LEFT)

    @property
    def losses(self) -> list[DataLost]:
        """Data losses that the consumer has skipped, at most the last 10,000."""
        return self._fetcher.losses

    @property
    def metadata(self) -> GroupMetadata:
        """Identity of the consumer, to be sent with offsets in a transaction.

        If the membership was lost after the caller took its last chunk, the identity is
        still that of the lost membership. Other consumers may own the partitions by
        then, and the coordinator must reject offsets of this consumer.
        """
        member, taken_as = self._membership, self._taken_as
        if member is None or taken_as is None or taken_as[0] == member.incarnation:
            return self._offsets.identity
        return taken_as[1]

    def assignment(self) -> set[tuple[str, int]]:
        """Return the owned partitions, without those that are revoked."""
        return {
            topic_partition
            for topic_partition, reader in self._owned.items()
            if reader.ownership is not Ownership.REVOKED
        }

    def position(self) -> dict[tuple[str, int], int]:
        """Return the offset per partition after the chunks that were taken.

        Partitions whose offset is unknown are omitted.
        """
        return self._fetcher.position()

    # Methods that the caller uses to read, commit and seek.

    def begin_wait(self, now: float) -> None:
        """Record that the caller waits, and has processed all earlier chunks."""
        self._caller = CallerState.WAITING
        member = self._membership
        if member is None or self.is_done:
            return
        is_late = now > self._advanced_at + _MAX_DELAY_S
        if is_late or member.is_outside or any(self._list_revoked()):
            # Update the owned partitions before ``take`` returns a chunk. Otherwise, it
            # could belong to a partition that another consumer owns.
            self.advance(now)
            self.cluster.wake(now)

    def end_wait(self, now: float) -> None:
        """Record that the caller is busy.

        The consumer leaves the group if ``begin_wait`` is not called within
        ``max_poll_interval_s``.
        """
        self._caller = CallerState.BUSY
        self._busy_since = now
        self.cluster.wake(now + self.group.max_poll_interval_s)

    def take(self) -> Fetched | None:
        """Return the oldest chunk that has not been taken yet, or None."""
        fetched = None if self.is_done else self._fetcher.take()
        if fetched is not None:
            fetched.reader.take(fetched)
            if self._membership is not None:
                self._taken_as = self._membership.incarnation, self._offsets.identity
        return fetched

    def split(self, fetched: Fetched, offset: int) -> Fetched:
        """Return the part of a chunk before ``offset``; ``take`` returns the remainder.

        ``fetched`` must be the last result of ``take``.
        """
        part = self._fetcher.split(fetched, offset)
        fetched.reader.take(part)
        return part

    def has_result(self) -> bool:
        """Return whether a chunk is available, or the consumer has failed or closed."""
        return self._fetcher.has_chunk() or self.failure is not None or self.is_done

    def release(self, fetched: Fetched) -> None:
        """Return the memory of a chunk to the budget.

        The caller must not use the chunk afterwards.
        """
        self._fetcher.release(fetched)

    def commit(self, now: float, fetched: Fetched | None = None) -> PendingCommit:
        """Start to commit the offset after a chunk, or the positions of all partitions.

        Without a chunk, partitions whose position is already committed are omitted.
        Raises ``PartitionLost`` if the chunk's partition is no longer owned.
        """
        if fetched is None:
            return self._offsets.commit(self._find_uncommitted(), now)
        reader = self._owner_of(fetched)
        return self._offsets.commit({reader: position_after(fetched)}, now)

    def offsets_to_send(
        self, chunks: Iterable[Fetched]
    ) -> tuple[GroupMetadata, dict[tuple[str, int], int]]:
        """Return the identity of the consumer and the offsets after some chunks.

        A transaction commits both. If several chunks have the same partition, the
        largest offset is used. Raises ``PartitionLost`` if a chunk's partition is no
        longer owned. If a partition is lost later, the coordinator rejects all offsets.
        """
        offsets: dict[tuple[str, int], int] = {}
        for fetched in chunks:
            topic_partition = self._owner_of(fetched).place
            offsets[topic_partition] = max(
                fetched.next_offset, offsets.get(topic_partition, 0)
            )
        return self._offsets.identity, offsets

    def seek(self, starts: Mapping[tuple[str, int], Spec]) -> None:
        """Continue to read partitions at other positions.

        Chunks of these partitions that were not taken are dropped. Raises
        ``PartitionLost`` if a partition is not owned or is revoked. In this case, all
        positions stay unchanged.
        """
        readers = {
            self._reader_at(topic_partition, "seeking in"): start
            for topic_partition, start in starts.items()
        }
        for reader, start in readers.items():
            reader.forget_taken()
            if reader.ownership is Ownership.FINDING_OFFSET:
                self._start_reading(reader, start)
            else:
                self._fetcher.seek(reader, start)

    def pause(self, places: Iterable[tuple[str, int]]) -> None:
        """Return no chunks of some partitions until ``resume``. They stay owned.

        Raises ``PartitionLost`` if a partition is not owned or is revoked.
        """
        for reader in [
            self._reader_at(topic_partition, "pausing") for topic_partition in places
        ]:
            reader.set_paused(True)
            if reader.ownership is Ownership.READING:
                self._fetcher.pause(reader)

    def resume(self, places: Iterable[tuple[str, int]]) -> None:
        """Continue to read paused partitions.

        Raises ``PartitionLost`` if a partition is not owned or is revoked.
        """
        for reader in [
            self._reader_at(topic_partition, "resuming") for topic_partition in places
        ]:
            reader.set_paused(False)
            self._fetcher.resume(reader)

    def paused(self) -> set[tuple[str, int]]:
        """Return the owned partitions that are paused."""
        return {
            topic_partition
            for topic_partition, reader in self._owned.items()
            if reader.is_paused
        }

    def read_metrics(self, now: float) -> dict[str, Any]:
        """Return the metrics that ``CONSUMER_SNAPSHOT`` lists.

        This method may be called from any thread.
        """
        metrics = self._fetcher.read_metrics(now)
        metrics |= self.cluster.metrics.snapshot(GROUP_METRICS)
        metrics["assigned_partition_count"] = len(self._owned)
        return metrics

    def has_changes(self) -> bool:
        """Return whether partitions have changed since the last ``take_changes``."""
        return self._announced != self._list_reportable()

    def take_changes(self) -> PartitionChanges:
        """Return the partitions that were lost or assigned since the last call."""
        before, self._announced = self._announced, self._list_reportable()
        return PartitionChanges(
            lost=[p for p, reader in before.items() if reader.is_lost],
            assigned=[p for p, r in self._announced.items() if before.get(p) is not r],
        )

    def _list_reportable(self) -> dict[tuple[str, int], GroupReader]:
        """Return the owned partitions that ``take_changes`` may report.

        A partition that was revoked before it was reported is omitted, because a
        callback for assigned partitions could no longer seek in it.
        """
        return {
            topic_partition: reader
            for topic_partition, reader in self._owned.items()
            if reader.ownership is not Ownership.REVOKED
            or self._announced.get(topic_partition) is reader
        }

    def begin_close(self, now: float) -> None:
        """Stop reading, and leave the group after the commits in flight.

        The consumer stops waiting after ``leave_timeout_s``.
        """
        if not self.is_done:
            self.state = ConsumerState.CLOSING
            self._close_at = now + self.group.leave_timeout_s
            for reader in self._owned.values():
                self._fetcher.remove(reader)
            self.cluster.begin_close(now)
            self.cluster.wake(now)

    def has_left(self) -> bool:
        """Return whether the consumer has left the group, or has given up leaving."""
        return self.state is ConsumerState.LEFT

    def is_closable(self) -> bool:
        """Return whether all requests after ``begin_close`` are complete."""
        return self.has_left() and self.cluster.is_closable

    def close(self, now: float) -> None:
        """Close all connections."""
        self.cluster.close(now)

    # Steps of the machine after every event.

    def advance(self, now: float) -> None:
        """Update the owned partitions, and send all requests that are due."""
        self._advanced_at = now
        self.cluster.advance(now)
        self._check_failure()
        if self.state is ConsumerState.CLOSING:
            self._advance_close(now)
        elif not self.is_done:
            self._advance_open(now)
        self.cluster.refresh_metadata(now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        self._fetcher.check_invariants()
        self._offsets.check_invariants()
        target = None
        if self._membership is not None:
            self._membership.check_invariants()
            target = self._membership.target
        is_open = self.state in (ConsumerState.STARTING, ConsumerState.RUNNING)
        for topic_partition, reader in self._owned.items():
            is_read = self._fetcher.readers.get(topic_partition) is reader
            is_reading = reader.ownership is Ownership.READING and not self.is_done
            assert is_read is is_reading, f"{reader.name} is {reader.ownership}"
            assert not reader.is_lost, f"{reader.name} is lost"
            if is_open and target is not None:
                is_assigned = reader.id_and_partition in target
                is_revoked = reader.ownership is Ownership.REVOKED
                assert is_assigned or is_revoked, f"{reader.name} is not assigned"
        is_owned = self._fetcher.readers.keys() <= self._owned.keys()
        assert is_owned, "partitions are read that are not owned"
        assert self.state is not ConsumerState.FAILED or self.failure, "no failure"

    def _advance_open(self, now: float) -> None:
        member = self._membership
        if self.state is not ConsumerState.FAILED:
            if member is None:
                self._update_chosen(now)
            else:
                self._finder.check_topics(now)
                self._check_caller(member, now)
                self._reconcile(member)
        if member is not None:
            member.advance(now)
            # ``advance`` may have detected that the session has timed out. Lose the
            # partitions now, so that no offset of them is committed below.
            self._lose_earlier(member)
        self._offsets.advance(now)
        if self.state is not ConsumerState.FAILED:
            self._fetcher.advance(now)
            self._check_start(now)
            self._check_failure()

    def _advance_close(self, now: float) -> None:
        self._offsets.advance(now)
        member, has_pending = self._membership, self._offsets.has_pending()
        if member is not None and not has_pending:
            self._lose_all(Event.PARTITIONS_REVOKED)
            member.leave(now)
            member.advance(now)
        has_left = not has_pending and (member is None or member.is_outside)
        if has_left or now >= self._close_at or self.cluster.failure is not None:
            self.state = ConsumerState.LEFT
        else:
            self.cluster.wake(self._close_at)

    def _check_failure(self) -> None:
        """Set ``failure`` if a part of the consumer has failed.

        The parts are the cluster, the fetcher, the partition finder, the membership and
        the offsets. If several have failed, the first one in this order counts. Does
        nothing if the consumer has already failed, or is closing or closed.
        """
        failure = self.cluster.failure or self._fetcher.failure or self._finder.failure
        if self._membership is not None:
            failure = failure or self._membership.failure
        failure = failure or self._offsets.failure
        if failure is not None:
            self._fail(failure)

    def _fail(self, failure: KwireError) -> None:
        if self.state in (ConsumerState.STARTING, ConsumerState.RUNNING):
            self.state = ConsumerState.FAILED
            self.failure = failure

    def _check_start(self, now: float) -> None:
        """Leave the state STARTING when a coordinator answers or the timeout passes.

        The timeout applies only to the first answer. Later, the consumer waits until a
        coordinator is available.
        """
        if self.state is not ConsumerState.STARTING:
            return
        member = self._membership
        if self._offsets.has_answered or (member is not None and member.has_answered):
            self.state = ConsumerState.RUNNING
            return
        timeout_s = self.cluster.settings.timeout_s
        give_up_at = self._started_at + timeout_s
        self.cluster.wake(give_up_at)
        if now >= give_up_at:
            self._check_failure()
            doing = "joining" if self.group.joins else "reading the offsets of"
            self._fail(
                BrokersUnreachable(
                    f"{doing} group {self.group.group_id!r}: no coordinator answered"
                    f" within {timeout_s:g} s;"
                    f" {self.cluster.reasons(since=self._started_at)}"
                )
            )

    # Methods that change the owned partitions.

    def _check_caller(self, member: Membership, now: float) -> None:
        """Join the group when the caller waits, and leave it if the caller is late."""
        late_at = self._busy_since + self.group.max_poll_interval_s
        if self._caller is CallerState.WAITING:
            member.join(now)
        elif member.is_outside:
            return
        elif now < late_at:
            self.cluster.wake(late_at)
        else:
            self._report(Event.CALLER_LATE, pause_s=now - self._busy_since)
            member.leave(now)

    def _update_chosen(self, now: float) -> None:
        """Own the partitions that the caller has chosen, as long as they exist."""
        deleted = self._finder.take_deleted(self._owned, now)
        readers = [self._owned[reader.place] for reader in deleted]
        self._lose(readers, Event.PARTITIONS_LOST)
        changes = self._finder.find(self._owned, now)
        for topic, partition in changes.new:
            self._own_partition(topic, partition)
        for reader, topic in changes.recreated:
            if reader.place in self._fetcher.readers:
                self._fetcher.start_over(reader, topic)

    def _reconcile(self, member: Membership) -> None:
        """Change the owned partitions towards the assignment.

        Revoked partitions are given up when the caller waits. Partitions are added when
        the membership permits it. The membership then reports the owned partitions.
        """
        self._lose_earlier(member)
        target = member.target
        if target is None:
            return
        owned = self._owned_ids()
        if owned != target or any(self._list_revoked()):
            if self._rebalance_began_at is None:
                self._rebalance_began_at = self._advanced_at
            self._revoke(owned - target)
            if self._caller is CallerState.WAITING:
                self._give_up_revoked()
            if member.can_add:
                self._add_partitions(target - self._owned_ids())
            owned = self._owned_ids()
            if owned == target:
                latency_s = self._advanced_at - self._rebalance_began_at
                self.cluster.metrics.rebalance_latency.add(latency_s)
                self._rebalance_began_at = None
        member.report(owned)

    def _owned_ids(self) -> Assignment:
        return frozenset(reader.id_and_partition for reader in self._owned.values())

    def _list_revoked(self) -> Iterable[GroupReader]:
        return (
            reader
            for reader in self._owned.values()
            if reader.ownership is Ownership.REVOKED
        )

    def _revoke(self, partitions: Assignment) -> None:
        """Stop reading partitions whose chunks the caller may still commit."""
        for reader in self._owned.values():
            is_revoked = reader.ownership is Ownership.REVOKED
            if reader.id_and_partition in partitions and not is_revoked:
                self._fetcher.remove(reader)
                reader.revoke()

    def _give_up_revoked(self) -> None:
        """Give up the revoked partitions without a commit in progress."""
        readers = [
            reader
            for reader in self._list_revoked()
            if not self._offsets.is_pending(reader)
        ]
        self._lose(readers, Event.PARTITIONS_REVOKED)

    def _add_partitions(self, partitions: Assignment) -> None:
        topics = {
            topic.topic_id: topic for topic in self.cluster.metadata.topics.values()
        }
        added = []
        for topic_id, partition in sorted(partitions):
            topic = topics.get(topic_id)
            if topic is None:
                # The coordinator knows a topic that is missing in the metadata of this
                # client. Add its partitions after the next metadata response.
                self.cluster.want_metadata()
            elif (topic.name, partition) not in self._owned:
                self._own_partition(topic, partition)
                added.append((topic.name, partition))
        if added:
            self._report(Event.PARTITIONS_ASSIGNED, partitions=list_partitions(added))

    def _own_partition(self, topic: TopicInfo, partition: int) -> None:
        reader = GroupReader(topic.name, partition, topic.topic_id)
        self._owned[reader.place] = reader
        self._offsets.find(reader)

    def _lose_earlier(self, member: Membership) -> None:
        """Lose all partitions if the membership has begun another incarnation."""
        if member.incarnation != self._incarnation:
            self._incarnation = member.incarnation
            self._rebalance_began_at = None
            self._lose_all()

    def _lose_all(self, event: Event = Event.PARTITIONS_LOST) -> None:
        self._lose(list(self._owned.values()), event)

    def _lose(self, readers: Sequence[GroupReader], event: Event) -> None:
        for reader in readers:
            self._fetcher.remove(reader)
            reader.give_up()
            del self._owned[reader.place]
        if readers:
            names = list_partitions(reader.place for reader in readers)
            self._report(event, len(readers), partitions=names)

    def _report(self, event: Event, count: int = 1, **fields: Any) -> None:
        self.cluster.report(event, count, group=self.group.group_id, **fields)

    def _begin_at_committed(self, reader: GroupReader) -> None:
        """Begin to read a partition at its committed offset.

        Without a committed offset, ``ScanOptions.start`` determines the position.
        """
        assert reader.committed is not None
        offset, epoch = reader.committed
        if offset >= 0:
            self._start_reading(reader, offset, epoch)
        else:
            start = choose_spec(self.options.start, reader.place, EARLIEST)
            self._start_reading(reader, start)

    def _start_reading(self, reader: GroupReader, start: Spec, epoch: int = -1) -> None:
        self._fetcher.add(reader, start, epoch=epoch)
        if reader.is_paused:
            self._fetcher.pause(reader)
        reader.begin()

    def _reader_at(
        self, topic_partition: tuple[str, int], operation: str
    ) -> GroupReader:
        """Return a partition's reader.

        Raises ``PartitionLost`` if the partition is not owned or is revoked.
        ``operation`` describes the operation in the error.
        """
        reader = self._owned.get(topic_partition)
        if reader is None or reader.ownership is Ownership.REVOKED:
            raise PartitionLost(*topic_partition, operation)
        return reader

    def _owner_of(self, fetched: Fetched) -> GroupReader:
        """Return a chunk's reader.

        Raises ``PartitionLost`` if its partition is no longer owned, and ``ValueError``
        if the chunk belongs to a scan.
        """
        reader = fetched.reader
        if not isinstance(reader, GroupReader):
            raise ValueError("chunk must be one of this consumer (got one of a scan)")
        if self._owned.get(reader.place) is not reader:
            raise PartitionLost(*reader.place)
        return reader

    def _find_uncommitted(self) -> dict[GroupReader, Committed]:
        """Return the positions that differ from the committed offsets, by reader."""
        position = self.position()
        offsets: dict[GroupReader, Committed] = {}
        for topic_partition, reader in self._owned.items():
            reached = reader.taken
            offset = position.get(topic_partition)
            if offset is not None and (reached is None or reached.offset != offset):
                # The position is not the end of a taken chunk, for example after a
                # seek. The leader epoch of the record before it is unknown.
                reached = Committed(offset, -1)
            committed = reader.committed
            if reached is not None and (
                committed is None or reached.offset != committed.offset
            ):
                offsets[reader] = reached
        return offsets
