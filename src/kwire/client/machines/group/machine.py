# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ConsumerMachine``: reads the partitions that a group gives it, and commits offsets.

    GroupMember --target--> owned partitions --OffsetFetch--> Fetcher --> Fetched
         ^--- what is owned, once the caller is done with what was taken ---'

A partition that the group takes away is not read on at once, but is given up only when
the caller comes for the next chunk: until then it can commit what it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import BrokersUnreachable, PartitionLost
from ..cluster import ClusterMachine
from ..coordinators import Coordinators
from ..scan.fetcher import Fetcher
from ..scan.options import EARLIEST, choose_spec
from ..scan.partition_finder import PartitionFinder
from .member import GroupMember
from .offsets import GroupOffsets, PendingCommit
from .options import Committed, GroupReader, Ownership, position_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random
    from uuid import UUID

    from ....errors import KwireError
    from ...errors import DataLost
    from ..metadata import TopicInfo
    from ..scan.options import Fetched, ScanOptions
    from ..settings import ClusterSettings
    from .membership import Membership
    from .options import GroupMetadata, GroupOptions

_NEVER = float("inf")

_NO_LIFE = -1
"""Of a member before the first chunk."""

_LATE_S = 1.0
"""After how long without ``advance`` what was fetched may belong to others."""


class ConsumerMachine:
    """A scan without an end, of partitions that come and go.

    The caller waits for a chunk between ``begin_wait`` and ``end_wait``, and then has
    it from ``take``; its memory is free with ``release``. ``commit`` commits offsets.
    ``begin_close`` leaves the group; ``has_left`` once that is over.
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
        self.failure: KwireError | None = None
        self._fetcher = Fetcher(self.cluster, options, now=now)
        self._finder = PartitionFinder(self.cluster, options, now)
        coordinators = Coordinators(self.cluster, is_apart=True)
        self._member: Membership | None = (
            GroupMember(self.cluster, coordinators, group, options.topics, options.rack)
            if group.joins
            else None
        )
        self._offsets = GroupOffsets(
            self.cluster, coordinators, group.group, self._member, self._begin_reading
        )
        self._owned: dict[tuple[str, int], GroupReader] = {}
        self._incarnation = 0
        # The caller, who is either waiting for a chunk or busy with one.
        self._is_waiting = False
        self._away_since = now
        self._is_closing = False
        self._close_at = _NEVER
        self._begun_at = now
        self._advanced_at = now
        self._has_revoked = False
        self._is_in_doubt = False
        self._is_established = False
        self._taken_as = _NO_LIFE, self._offsets.identity

    @property
    def wake_at(self) -> float:
        """Time of the next ``advance`` if nothing happens before."""
        return self.cluster.wake_at

    @property
    def losses(self) -> list[DataLost]:
        """The data losses that were skipped, at most the last 10,000."""
        return self._fetcher.losses

    @property
    def is_done(self) -> bool:
        """Whether nothing will come any more: never before it is closed."""
        return self._is_closing

    @property
    def metadata(self) -> GroupMetadata:
        """Who commits, as a transaction has to name it.

        Who has lost the membership since the last chunk is named as before: others may
        have its partitions, so the coordinator has to refuse the offset.
        """
        incarnation, known = self._taken_as
        if self._member is not None and incarnation not in (
            _NO_LIFE,
            self._member.incarnation,
        ):
            return known
        return self._offsets.identity

    def assignment(self) -> set[tuple[str, int]]:
        """Return the partitions that this consumer owns and reads."""
        return {
            each.place
            for each in self._owned.values()
            if each.ownership is not Ownership.REVOKED
        }

    # The caller.

    def begin_wait(self, now: float) -> None:
        """Note that the caller came for a chunk: it is done with those before."""
        self._is_waiting = True
        if self._member is None or self._is_closing:
            return
        is_late = now > self._advanced_at + _LATE_S
        if is_late or self._has_revoked or self._member.is_outside:
            # What was fetched may belong to others by now.
            self._is_in_doubt = True
            self.cluster.wake(now)

    def end_wait(self, now: float) -> None:
        """Note that the caller leaves: from now on it is late in some time."""
        self._is_waiting = False
        self._away_since = now
        self.cluster.wake(now + self.group.max_poll_interval_s)

    def take(self) -> Fetched | None:
        """Return what was fetched next, if anything was that is owned for sure."""
        if self._is_in_doubt or self._is_closing:
            return None
        fetched = self._fetcher.take()
        if fetched is not None:
            fetched.reader.taken = position_after(fetched)
            if self._member is not None:
                self._taken_as = self._member.incarnation, self._offsets.identity
        return fetched

    def has_result(self) -> bool:
        """Whether there is something to take, or nothing more to come."""
        has_result = self._fetcher.has_chunk() or self.failure is not None
        return not self._is_in_doubt and (has_result or self.is_done)

    def release(self, fetched: Fetched) -> None:
        """Return the memory of a chunk to the budget. The caller no longer uses it."""
        self._fetcher.release(fetched)

    def position(self) -> dict[tuple[str, int], int]:
        """Return the next offset of each partition after the chunks that were taken."""
        return self._fetcher.position()

    def commit(self, now: float, fetched: Fetched | None = None) -> PendingCommit:
        """Commit what was taken up to a chunk, or of all partitions.

        Raises ``PartitionLost`` if the chunk's partition is not owned any more.
        """
        if fetched is None:
            return self._offsets.commit(self._uncommitted(), now)
        reader = self._owner_of(fetched)
        return self._offsets.commit({reader: position_after(fetched)}, now)

    def offsets_to_send(
        self, chunks: Iterable[Fetched]
    ) -> tuple[GroupMetadata, dict[tuple[str, int], int]]:
        """Return who commits, and the offsets after chunks, for a transaction.

        Raises ``PartitionLost`` if the partition of one is not owned any more. If one
        goes to another member later, the coordinator refuses all of them.
        """
        offsets: dict[tuple[str, int], int] = {}
        for fetched in chunks:
            place = self._owner_of(fetched).place
            offsets[place] = max(fetched.next_offset, offsets.get(place, 0))
        return self._offsets.identity, offsets

    def begin_close(self, now: float) -> None:
        """Stop reading, and leave the group once commits are over."""
        if not self._is_closing:
            self._is_closing = True
            self._close_at = now + self.group.leave_timeout_s
            for reader in self._owned.values():
                self._fetcher.remove(reader)
            self.cluster.wake(now)

    def has_left(self) -> bool:
        """Whether the group does not count on this consumer any more."""
        if not self._is_closing:
            return False
        member = self._member
        has_left = member is None or member.is_outside
        is_lost = self.cluster.failure is not None or self._close_at == 0.0
        return is_lost or (has_left and not self._offsets.has_pending())

    # The machine.

    def advance(self, now: float) -> None:
        """Do what can be done now."""
        self._advanced_at = now
        self._is_in_doubt = False
        if self._is_closing:
            self._advance_close(now)
        elif self.failure is None:
            self._advance_open(now)
        else:
            self._advance_failed(now)

    def close(self, now: float) -> None:
        """Close all connections."""
        self.cluster.close(now)

    def _advance_open(self, now: float) -> None:
        self.cluster.advance(now)
        self.failure = self.cluster.failure or self._fetcher.failure
        if self.failure is None:
            self._plan(now)
            self._fetcher.advance(now)
            self._check_progress(now)
            self.failure = self.failure or self._fetcher.failure
            # Some of these may have requested metadata.
            self.cluster.refresh_metadata(now)

    def _advance_failed(self, now: float) -> None:
        """Read no more; what was read may still be committed."""
        self.cluster.advance(now)
        self._offsets.advance(now)
        if self._member is not None:
            self._member.advance(now)
        self.cluster.refresh_metadata(now)

    def _advance_close(self, now: float) -> None:
        self.cluster.advance(now)
        if now >= self._close_at:
            self._close_at = 0.0
            return
        self.cluster.wake(self._close_at)
        self._offsets.advance(now)
        member = self._member
        if member is not None and not self._offsets.has_pending():
            self._lose_all()
            member.leave(now)
            member.advance(now)
        self.cluster.refresh_metadata(now)

    def _plan(self, now: float) -> None:
        """Own what the group gives, and find where to begin with it."""
        if self._member is None:
            self._find_chosen(now)
        else:
            self._finder.check_topics(now)
            self._check_caller(self._member, now)
            self._reconcile(self._member, now)
            self._member.advance(now)
            if self._member.incarnation != self._incarnation:
                # Out of the group between two heartbeats.
                self._reconcile(self._member, now)
            self.failure = self.failure or self._member.failure
        self.failure = self.failure or self._finder.failure
        self._offsets.advance(now)
        self.failure = self.failure or self._offsets.failure

    def _find_chosen(self, now: float) -> None:
        """Own the partitions that were chosen by hand, as long as they exist."""
        for deleted in self._finder.take_deleted(self._owned, now):
            reader = self._owned[deleted.place]
            self._fetcher.remove(reader)
            self._lose_reader(reader)
        found = self._finder.find(self._owned, now)
        self._offsets.find([self._own(*partition) for partition in found.new])
        for reading, topic in found.recreated:
            if reading.place in self._fetcher.readers:
                self._fetcher.start_over(reading, topic)

    def _check_caller(self, member: Membership, now: float) -> None:
        """Leave the group if the caller has not come back for too long."""
        if self._is_waiting:
            member.join(now)
        if self._is_waiting or member.is_outside:
            return
        late_at = self._away_since + self.group.max_poll_interval_s
        if now < late_at:
            self.cluster.wake(late_at)
            return
        self._lose_all()
        member.leave(now)

    def _reconcile(self, member: Membership, now: float) -> None:
        """Bring what is owned nearer to what the coordinator wants."""
        if member.incarnation != self._incarnation:
            self._incarnation = member.incarnation
            self._lose_all()
        if member.target is None:
            return
        owned = {each.id_and_partition for each in self._owned.values()}
        if owned != member.target:
            self._take_target(member.target, member.can_add)
        member.report(frozenset(each.id_and_partition for each in self._owned.values()))

    def _take_target(self, target: Iterable[tuple[UUID, int]], can_add: bool) -> None:
        wanted = set(target)
        for reader in self._owned.values():
            if (
                reader.id_and_partition not in wanted
                and reader.ownership is not Ownership.REVOKED
            ):
                reader.ownership = Ownership.REVOKED
                self._has_revoked = True
                self._fetcher.remove(reader)
        if self._is_waiting:
            self._give_up_revoked()
        wanted -= {each.id_and_partition for each in self._owned.values()}
        if not wanted or not can_add:
            return
        names = {each.topic_id: each for each in self.cluster.metadata.topics.values()}
        new: list[GroupReader] = []
        for topic_id, partition in sorted(wanted):
            topic = names.get(topic_id)
            if topic is None:
                # The coordinator knows of it before this client does.
                self.cluster.want_metadata()
            elif (topic.name, partition) not in self._owned:
                new.append(self._own(topic, partition))
        self._offsets.find(new)

    def _give_up_revoked(self) -> None:
        """Give up what the group wants back, but for what is being committed."""
        revoked = [
            each for each in self._owned.values() if each.ownership is Ownership.REVOKED
        ]
        for reader in revoked:
            if not self._offsets.is_pending(reader):
                self._lose_reader(reader)
        self._has_revoked = any(each.ownership is Ownership.REVOKED for each in revoked)

    def _own(self, topic: TopicInfo, partition: int) -> GroupReader:
        reader = GroupReader(topic.name, partition, topic.topic_id)
        self._owned[reader.place] = reader
        return reader

    def _lose_all(self) -> None:
        for reader in list(self._owned.values()):
            self._fetcher.remove(reader)
            self._lose_reader(reader)
        self._has_revoked = False

    def _lose_reader(self, reader: GroupReader) -> None:
        reader.ownership = Ownership.LOST
        del self._owned[reader.place]

    def _begin_reading(self, reader: GroupReader) -> None:
        """Read from the committed offset on, or from where the options say."""
        assert reader.committed is not None
        reader.ownership = Ownership.READING
        offset, epoch = reader.committed
        if offset >= 0:
            self._fetcher.add(reader, offset, epoch=epoch)
        else:
            start = choose_spec(self.options.start, reader.place, EARLIEST)
            self._fetcher.add(reader, start)

    def _owner_of(self, fetched: Fetched) -> GroupReader:
        """Return the partition of a chunk, which is still owned as it was then."""
        reader = fetched.reader
        if not isinstance(reader, GroupReader):
            raise ValueError("chunk must be one of this consumer (got one of a scan)")
        if self._owned.get(reader.place) is not reader:
            raise PartitionLost(*reader.place)
        return reader

    def _uncommitted(self) -> dict[GroupReader, Committed]:
        """Return where each partition goes on that has not been committed there."""
        position = self.position()
        found: dict[GroupReader, Committed] = {}
        for place, reader in self._owned.items():
            at = reader.taken
            offset = position.get(place)
            if offset is not None and (at is None or at.offset != offset):
                # Nothing was taken from there yet, and there may be no commit.
                at = Committed(offset, -1)
            known = reader.committed
            if at is not None and (known is None or at.offset != known.offset):
                found[reader] = at
        return found

    def _check_progress(self, now: float) -> None:
        """Fail if no coordinator answers at the beginning; later, wait for ever."""
        if self._is_established:
            return
        member = self._member
        if self._offsets.has_answered or (member is not None and member.has_answered):
            self._is_established = True
            return
        timeout_s = self.cluster.settings.timeout_s
        give_up_at = self._begun_at + timeout_s
        self.cluster.wake(give_up_at)
        if now >= give_up_at and self.failure is None:
            doing = "joining" if self.group.joins else "reading the offsets of"
            self.failure = BrokersUnreachable(
                f"{doing} group {self.group.group!r}: no coordinator answered within"
                f" {timeout_s:g} s; {self.cluster.reasons(since=self._begun_at)}"
            )

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        self._fetcher.check_invariants()
        self._offsets.check_invariants()
        target = None
        if self._member is not None:
            self._member.check_invariants()
            target = self._member.target
        for place, reader in self._owned.items():
            ownership = reader.ownership
            is_read = place in self._fetcher.readers
            is_reading = ownership is Ownership.READING and not self._is_closing
            assert is_read is is_reading, f"{reader.name} is {ownership}"
            assert ownership is not Ownership.LOST, f"{reader.name} is lost"
            if target is not None and ownership is not Ownership.REVOKED:
                is_target = reader.id_and_partition in target
                assert is_target, f"{reader.name} is not assigned"
