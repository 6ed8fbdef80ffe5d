# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ScanMachine``: reads partitions from one offset to another, or follows them.

    topics --Metadata--> partitions --ListOffsets--> positions --Fetch--> Fetched ...

Each partition is at one of these three stages, and each call of ``advance`` moves all
that can be moved. What to do about an error of a broker is decided in
``client/machines/faults.py``; the requests are in ``requests.py``, the first two stages
in ``lookups.py``. Records are not decoded here.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ....connection.negotiation import EPOCH_END, FETCHED_EPOCH, NO_TOPIC_IDS
from ....errors import KwireError
from ....messages import FetchRequest, OffsetForLeaderEpochRequest
from ....records import read_last_header
from ...errors import ClusterError, DataLost
from .. import faults
from ..cluster import hinted_brokers
from ..faults import Reaction
from .fetch_session import FetchSession
from .frame_budget import SPARSE, HeldFrame, frame_size
from .lookups import LookupMachine
from .options import EARLIEST, LATEST, Fetched, choose_spec
from .partition_reader import Asked, PartitionReader
from .requests import epoch_ends_request, fetch_request, leader_epoch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random
    from uuid import UUID

    from ..link import Link
    from ..metadata import Broker, TopicInfo
    from ..settings import ClusterSettings
    from .options import ScanOptions, Spec

_AT_ONCE = float("-inf")

_NAMES = (NO_TOPIC_IDS,)

_REPLICA_S = 300.0
"""How long to read from the replica that a leader named (KIP-392)."""

_MAX_LOSSES = 10_000
"""Number of losses that a scan remembers. Brokers can cause them for ever."""

_ABORTED_BYTES = 160
"""Memory of an aborted transaction in a response: an object, two integers and a place
in a tuple.
"""

_LEAST_ROOM = 1 << 16
"""The least that is worth a Fetch, in bytes."""


class ScanMachine(LookupMachine):
    """A scan over the links of its own ``cluster``.

    Call ``advance`` after anything that happened, and at ``wake_at``. ``take`` returns
    what was fetched, oldest first, and ``release`` gives its memory back to the budget:
    ``wake_at`` is at once then if a Fetch or a large response waited for it.
    ``is_done`` once all was taken; ``failure`` is what ended the scan before that.
    ``losses`` are the records that are gone, if ``on_data_loss`` lets it go on: the
    last 10,000.
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
        super().__init__(bootstrap, settings, options, now=now, random=random)
        self.losses: list[DataLost] = []
        self._fetched: deque[Fetched] = deque()
        self._budget = self.cluster.frame_budget
        self._budget.limit = options.memory_bytes
        self._is_out_of_room = False
        # Whether the caller has had records since the last ``advance``.
        self._was_taken = False
        self._fetching: set[int] = set()
        self._sessions: dict[int, FetchSession] = {}

    def has_result(self) -> bool:
        """Whether there is something to take, or nothing more to come."""
        return bool(self._fetched) or super().has_result()

    @property
    def is_done(self) -> bool:
        """Whether everything was read and taken."""
        return not self._fetched and super().is_done

    def position(self) -> dict[tuple[str, int], int]:
        """Return where each partition goes on, after what was taken."""
        positions = {
            place: each.position
            for place, each in self._readers.items()
            if each.position is not None
        }
        for each in reversed(self._fetched):
            positions[each.topic, each.partition] = each.start_offset
        return positions

    def remaining_offsets(self) -> int | None:
        """Return the number of offsets from ``position`` to the end of the scan.

        Returns None if the scan follows its topics, and until all ends are known.
        """
        if self.options.follow or not self._is_planned:
            return None
        position = self.position()
        count = 0
        for partition, reader in self._readers.items():
            if reader.end is None or partition not in position:
                return None
            count += max(reader.end - position[partition], 0)
        return count

    def take(self) -> Fetched | None:
        """Return what was fetched next, if anything was."""
        return self._fetched.popleft() if self._fetched else None

    def release(self, fetched: Fetched) -> None:
        """Return the memory of what was taken to the budget."""
        assert fetched.frame is not None, "a scan holds the frame of what it fetched"
        fetched.frame.release()
        self._was_taken = True
        if self._is_out_of_room or self._budget.has_waiting:
            self.cluster.wake(_AT_ONCE)

    # From where to where.

    def _read_partition(self, topic: TopicInfo, partition: int) -> None:
        place = (topic.name, partition)
        reader = PartitionReader(*place, topic.topic_id)
        start = choose_spec(self.options.start, place, EARLIEST)
        # Of a partition that appears while others are read, nothing is left out.
        self._set_start(reader, EARLIEST if self._is_planned else start)
        if not self.options.follow:
            # Nothing waits for an end that the log does not have yet.
            reader.lookups["latest"] = LATEST
            end = choose_spec(self.options.end, place, LATEST)
            if isinstance(end, int):
                reader.end = end
            elif end != LATEST:
                reader.lookups["end"] = end
        self._readers[place] = reader

    def _forget_deleted(self, now: float) -> None:
        super()._forget_deleted(now)
        self._forget_sessions()

    def _forget_sessions(self) -> None:
        """Forget the fetch sessions of brokers that metadata no longer names."""
        brokers = self.cluster.metadata.brokers
        for node in self._sessions.keys() - brokers.keys() - self._fetching:
            del self._sessions[node]

    def _stop_reading(self, reader: PartitionReader) -> None:
        """Give up a partition while others are read on; drop what was not taken."""
        self._readers.pop((reader.topic, reader.partition), None)
        self._missing_since.pop((reader.topic, reader.partition), None)
        # What is on its way for it is of no use any more.
        reader.generation += 1
        dropped = [each for each in self._fetched if each.reader is reader]
        if dropped:
            self._fetched = deque(
                each for each in self._fetched if each.reader is not reader
            )
            for each in dropped:
                self.release(each)

    def _set_start(self, reader: PartitionReader, start: Spec) -> None:
        reader.is_start_given = isinstance(start, int)
        if isinstance(start, int):
            reader.position = start
        else:
            reader.position = None
            reader.lookups["start"] = start

    def _start_over(self, reader: PartitionReader, topic: TopicInfo) -> None:
        reason = "the topic was deleted and created again"
        self._lose(reader, reason, topic_id=topic.topic_id)

    def _set_offset(self, reader: PartitionReader, kind: str, offset: int) -> None:
        if kind == "start":
            reader.position = offset
        else:
            reader.end = offset if reader.end is None else min(reader.end, offset)
        if kind == "latest" and reader.is_start_given:
            assert reader.position is not None
            if reader.position > offset:
                self._lose(reader, f"the log ends at offset {offset}")
        if not reader.lookups and reader.end is not None:
            assert reader.position is not None
            reader.is_done = reader.position >= reader.end

    # Fetches.

    def _fetch(self, now: float) -> None:
        """Send a Fetch to each broker that has none in flight, within the budget."""
        waiting: dict[int, list[PartitionReader]] = {}
        for reader in self._readers.values():
            if reader.is_busy or reader.is_done or reader.lookups:
                continue
            if self._is_due(reader, now):
                node = self._replica(reader, now)
                if node >= 0 and node not in self._fetching:
                    waiting.setdefault(node, []).append(reader)
        self._is_out_of_room = False
        for node, readers in waiting.items():
            room = self._room()
            if not room:
                self._is_out_of_room = True
                return
            link = self.cluster.link_to(node, now, FetchRequest)
            if link is None:
                continue
            readers = self._check_epochs(link, readers, now)
            if readers:
                self._send_fetch(link, node, readers, room, now)

    def _room(self) -> int:
        """Return how many bytes may be fetched at once now; 0 is to wait."""
        budget = self._budget
        brokers = max(len(self.cluster.metadata.brokers), 1)
        room = max(min(self.options.fetch_bytes, budget.limit // (2 * brokers)), 1)
        if not budget.used:
            return room
        free = budget.free
        return min(room, free) if free >= min(_LEAST_ROOM, room) else 0

    def _send_fetch(
        self,
        link: Link,
        node: int,
        readers: list[PartitionReader],
        room: int,
        now: float,
    ) -> None:
        # While brokers are upgraded, the metadata of an old one has no ids.
        topics = self.cluster.metadata.topics
        has_ids = all(topics[each.topic].topic_id.int for each in readers)
        try:
            version = link.pick(FetchRequest, *(() if has_ids else _NAMES))
        except KwireError as error:
            self.failure = error
            return
        session = self._sessions.get(node)
        if session is None:
            session = self._sessions[node] = FetchSession()
        session.use_version(version)
        request = fetch_request(readers, room, self.options, session)
        wait_s = self.options.max_wait_ms / 1000
        sent_at = now
        asked = Asked(readers)

        def done(response: Any, now: float) -> None:
            self._budget.end_expected(link)
            self._fetching.discard(node)
            waiting = asked.take_back()
            # A broker that has nothing waits; one that does not is waited for.
            again_at = sent_at + wait_s / 2
            if response is None:
                session.reset()
                self._retry_all(waiting, now)
                return
            if now < again_at and not _has_records(response):
                self.cluster.note_fruitless(link, FetchRequest, now)
            if response.error_code:
                is_forgotten = faults.is_of_session(response.error_code)
                is_forgotten = is_forgotten and session.is_incremental
                session.reset()
                for each in () if is_forgotten else waiting:
                    self._take_fault(each, response.error_code, now, node)
            else:
                self._take_response(response, waiting, session, node, now, again_at)

        if self._send(link, request, done, now, wait_s, version):
            self._budget.expect(link, room)
            self._fetching.add(node)
            asked.begin()

    def _check_epochs(
        self, link: Link, readers: list[PartitionReader], now: float
    ) -> list[PartitionReader]:
        """Return the partitions that can be fetched at once.

        Of the others it requests first where the epoch of what was read ends (KIP-320).
        Brokers from Fetch 12 on see by the epoch in a Fetch that a log was cut.
        """
        unchecked: list[PartitionReader] = []
        for each in readers:
            each.sent_epoch = epoch = leader_epoch(each, self.cluster.metadata)
            is_known = each.epoch >= 0 and epoch >= 0
            if is_known and -1 < each.checked_epoch != epoch:
                unchecked.append(each)
        if not unchecked or link.table.usable(FetchRequest, FETCHED_EPOCH):
            return readers
        usable = link.table.usable(OffsetForLeaderEpochRequest, EPOCH_END)
        if not usable:
            return readers
        self._request_epoch_ends(link, unchecked, usable[-1], now)
        return [each for each in readers if each not in unchecked]

    def _request_epoch_ends(
        self, link: Link, unchecked: list[PartitionReader], version: int, now: float
    ) -> None:
        asked = Asked(unchecked)
        request = epoch_ends_request(unchecked, self.cluster.metadata)

        def done(response: Any, now: float) -> None:
            waiting = asked.take_back()
            # Only a Fetch makes progress after this response.
            self.cluster.note_fruitless(link, FetchRequest, now)
            by_name = {(each.topic, each.partition): each for each in waiting}
            for topic in () if response is None else response.topics:
                for part in topic.partitions:
                    reader = by_name.pop((topic.topic, part.partition), None)
                    if reader is not None:
                        self._take_epoch_end(reader, part, now)
            self._retry_all(list(by_name.values()), now)

        if self._send(link, request, done, now, 0.0, version):
            asked.begin()

    def _take_epoch_end(self, reader: PartitionReader, part: Any, now: float) -> None:
        if part.error_code:
            self._take_fault(reader, part.error_code, now)
            return
        reader.failures = 0
        reader.checked_epoch = reader.sent_epoch
        if part.end_offset < 0:
            self._lose(reader, "the log has nothing left of what was read before")
        else:
            self._truncate(reader, part.leader_epoch, part.end_offset)

    def _take_response(
        self,
        response: Any,
        readers: list[PartitionReader],
        session: FetchSession,
        node: int,
        now: float,
        again_at: float,
    ) -> None:
        """Take what each partition got.

        If there was nothing new in all of them, the next Fetch is at ``again_at``.
        """
        session.take_response(response.session_id)
        has_names = session.has_names
        waiting = {
            (each.topic if has_names else each.topic_id.int, each.partition): each
            for each in readers
        }
        has_news = has_records = False
        quiet: list[PartitionReader] = []
        endpoints = hinted_brokers(response.node_endpoints)
        frame = self._find_frame(response)
        for topic in response.responses:
            name = topic.topic if has_names else topic.topic_id.int
            for part in topic.partitions:
                reader = waiting.pop((name, part.partition_index), None)
                if reader is None:
                    # Not requested, or in the response twice.
                    continue
                diverging = part.diverging_epoch
                if part.error_code:
                    is_hinted = self._take_hint(reader, part, endpoints)
                    self._take_fault(reader, part.error_code, now, node, is_hinted)
                    has_news = has_news or is_hinted
                elif diverging.end_offset >= 0:
                    self._truncate(reader, diverging.epoch, diverging.end_offset)
                    self._retry(reader, now)
                elif part.records:
                    has_records = True
                    session.note_limit(reader, self._limit(part))
                    self._take_records(reader, part, frame, now)
                elif part.preferred_read_replica >= 0:
                    reader.replica = part.preferred_read_replica
                    reader.replica_until = now + _REPLICA_S
                    if self._can_redirect(reader, now):
                        has_news = True
                    else:
                        self._retry(reader, now)
                else:
                    session.note_limit(reader, self._limit(part))
                    quiet.append(reader)
        # A session leaves out those of which there is nothing to say.
        quiet += waiting.values()
        has_news = has_news or has_records
        for reader in quiet:
            self._take_quiet(reader, session, has_records)
            if not has_news:
                reader.retry_at = max(reader.retry_at, again_at)

    def _limit(self, part: Any) -> int:
        """Return up to where the partition can be read now."""
        if self.options.read_committed and part.last_stable_offset >= 0:
            return int(part.last_stable_offset)
        return int(part.high_watermark)

    def _take_quiet(
        self, reader: PartitionReader, session: FetchSession, has_records: bool
    ) -> None:
        """Note that a broker had no records of this partition."""
        reader.failures = 0
        reader.checked_epoch = reader.sent_epoch
        self.cluster.note_progress()
        limit = session.limit(reader)
        if has_records or reader.end is None or limit is None:
            return
        # The broker had all the time that it wanted, and nothing before the end.
        if limit >= reader.end:
            # Compaction took what was there.
            reader.is_done = True
        else:
            # The log is shorter than it was. Its leader knows where it ends, or says
            # that it does not know yet (KIP-207).
            reader.lookups["latest"] = LATEST

    def _find_frame(self, response: Any) -> HeldFrame | None:
        """Return the memory of the records in a response; None if it is sparse.

        A sparse frame would use much more of the budget than its records. Brokers add
        padding in unknown tagged fields, in errors, or in partitions that were not
        requested.
        """
        sets = [
            part.records
            for topic in response.responses
            for part in topic.partitions
            if part.records
        ]
        if not sets:
            return None
        size = frame_size(sets[0])
        if SPARSE * sum(map(len, sets)) < size:
            return None
        return HeldFrame(self._budget, size)

    def _take_records(
        self, reader: PartitionReader, part: Any, frame: HeldFrame | None, now: float
    ) -> None:
        reader.failures = 0
        reader.checked_epoch = reader.sent_epoch
        self.cluster.note_progress()
        self._progress_at = now
        assert reader.position is not None
        try:
            last = read_last_header(part.records)
        except KwireError as error:
            self._fail(reader, str(error), error)
            return
        if last is None:
            self._enlarge(reader, len(part.records))
            return
        after = last.last_offset + 1
        if after <= reader.position:
            self._fail(
                reader, f"the broker sent records that end before it, at {after}"
            )
            return
        end = reader.end
        aborted = None
        if self.options.read_committed:
            aborted = part.aborted_transactions or ()
        data = part.records
        if frame is None:
            data = bytes(data)
            frame = HeldFrame(self._budget, len(data))
        frame.hold(_ABORTED_BYTES * len(aborted or ()))
        self._fetched.append(
            Fetched(
                reader.topic,
                reader.partition,
                data,
                reader.position,
                end,
                after if end is None else min(after, end),
                part.high_watermark,
                aborted,
                last.partition_leader_epoch,
                reader,
                frame,
            )
        )
        # A broker fills a response from the first partition on: others are next.
        place = (reader.topic, reader.partition)
        self._readers[place] = self._readers.pop(place)
        reader.position = after
        reader.epoch = last.partition_leader_epoch
        reader.fetch_bytes = 0
        reader.is_start_given = True
        reader.is_done = end is not None and after >= end

    def _enlarge(self, reader: PartitionReader, size: int) -> None:
        """Fetch more at once: brokers before 0.10.1 cut a batch that is too large."""
        limit = self._settings.limits.frame_bytes or (1 << 31) - 1
        if reader.fetch_bytes >= limit:
            self._fail(
                reader,
                f"a record batch is larger than limits.frame_bytes, {limit} bytes",
            )
        reader.fetch_bytes = min(2 * max(size, reader.fetch_bytes), limit)

    # What goes wrong.

    def _take_hint(
        self, reader: PartitionReader, part: Any, endpoints: Mapping[int, Broker]
    ) -> bool:
        leader = part.current_leader
        return self.cluster.metadata.take_hint(
            reader.topic,
            reader.partition,
            leader.leader_id,
            leader.leader_epoch,
            endpoints,
        )

    def _take_fault(
        self,
        reader: PartitionReader,
        error_code: int,
        now: float,
        node: int = -1,
        is_hinted: bool = False,
    ) -> None:
        if 0 <= reader.replica == node:
            # The leader knows better than a follower.
            reader.replica = -1
            self._retry(reader, now)
        elif faults.choose_reaction(error_code) is Reaction.OUT_OF_RANGE:
            self._take_out_of_range(reader)
            self._retry(reader, now)
        else:
            super()._take_fault(reader, error_code, now, node, is_hinted)

    def _take_out_of_range(self, reader: PartitionReader) -> None:
        if reader.is_start_given:
            self._lose(reader, "the log has no such offset any more")
        else:
            # The log moved on between the lookup and the first fetch.
            self._set_start(reader, EARLIEST)

    def _truncate(self, reader: PartitionReader, epoch: int, end: int) -> None:
        """Go back where the log was cut below what was read (KIP-320).

        ``end`` is where records of ``epoch``, the last one in common, end in the log.
        """
        assert reader.position is not None
        if end < reader.position:
            reason = (
                f"records from offset {end} on were read, and then lost by the cluster"
            )
            self._lose(reader, reason, resume=end)
        reader.epoch = epoch

    def _lose(
        self,
        reader: PartitionReader,
        reason: str,
        *,
        topic_id: UUID | None = None,
        resume: int | None = None,
    ) -> None:
        """Handle lost records: end the scan, or continue where the options say."""
        wanted = -1 if reader.position is None else reader.position
        lost = DataLost(reader.topic, reader.partition, wanted, reason)
        policy = self.options.on_data_loss
        if policy == "raise":
            self.failure = lost
            return
        self.losses.append(lost)
        del self.losses[:-_MAX_LOSSES]
        reader.generation += 1
        reader.epoch = -1
        reader.checked_epoch = -1
        if topic_id is not None:
            reader.topic_id = topic_id
            reader.end = None
        if not self.options.follow:
            reader.lookups["latest"] = LATEST
        start = EARLIEST if policy == "earliest" else LATEST
        self._set_start(reader, start if resume is None else resume)

    def _fail(
        self, reader: PartitionReader, text: str, cause: KwireError | None = None
    ) -> None:
        failure = ClusterError(
            f"reading {reader.name} at offset {reader.position}: {text}"
        )
        failure.__cause__ = cause
        self.failure = failure

    def _replica(self, reader: PartitionReader, now: float) -> int:
        """Return the node to fetch from: the leader, or the replica that it named."""
        if reader.replica >= 0:
            metadata = self.cluster.metadata
            is_there = reader.replica in metadata.brokers
            is_there &= metadata.partition(reader.topic, reader.partition) is not None
            if is_there and now < reader.replica_until:
                return reader.replica
            reader.replica = -1
        return self._leader(reader)

    def _retry_all(self, readers: list[PartitionReader], now: float) -> None:
        for reader in readers:
            reader.replica = -1
        super()._retry_all(readers, now)

    def _check_progress(self, now: float) -> None:
        if self.options.follow and self._is_planned:
            return
        if self._fetched or self._was_taken or self._budget.held:
            # The caller may take any time over what it has.
            self._progress_at = now
        self._was_taken = False
        super()._check_progress(now)


def _has_records(response: Any) -> bool:
    return any(
        part.records for topic in response.responses for part in topic.partitions
    )
