# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Fetcher``: reads the records of its partitions.

    reader --ListOffsets--> position --Fetch--> Fetched --take--> caller

A scan or a group consumer owns the fetcher. It chooses the partitions (``add``,
``remove``, ``seek``, ``pause``, ``resume``), calls ``advance`` after every event, and
returns chunks to its caller (``has_chunk``, ``take``, ``release``). The fetcher does
not decode records. ``requests.py`` builds the requests.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ....connection.negotiation import NO_TOPIC_IDS
from ....errors import KwireError
from ....messages import FetchRequest
from ....records import read_last_header
from ....schema import error_codes as codes
from .. import faults
from ..cluster import hinted_brokers
from ..faults import Reaction
from ..metrics import FETCH_METRICS
from .fetch_session import FetchSession
from .frame_budget import HeldFrame, find_frame
from .log_truncation import LogTruncation
from .lookups import OffsetLookups
from .options import EARLIEST, LATEST, Fetched
from .partition_reader import ReaderState
from .partition_set import PartitionSet
from .requests import fetch_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...errors import DataLost
    from ..cluster import ClusterMachine
    from ..link import Link
    from ..metadata import Broker, TopicInfo
    from .options import ScanOptions, Spec
    from .partition_reader import PartitionReader

_AT_ONCE = float("-inf")

_NAMES = (NO_TOPIC_IDS,)

_FETCH_DUE = ReaderState.FETCH_DUE

_REPLICA_S = 300.0
"""Time in seconds for which a preferred read replica is used (KIP-392). Afterwards, the
client fetches from the leader again, which may choose another replica.
"""

_ABORTED_BYTES = 160
"""Estimated memory in bytes of an aborted transaction in a decoded response. It
consists of an object, two integers and an item of a tuple.
"""

_MIN_FETCH_BYTES = 1 << 16
"""Minimum free memory in bytes for which a Fetch is sent, so that no request is wasted
on a tiny response. Smaller responses are requested only if the options limit them.
"""


class Fetcher:
    """Reads partitions with at most ``options.memory_bytes`` of response memory.

    Call ``advance`` after each ``advance`` of the cluster. ``cluster.wake_at`` includes
    the next request of the fetcher.

    * ``readers``: the partitions by (topic, partition), in the order in which they are
      fetched.
    * ``failure``: error that ended reading, or None.
    * ``losses``: data losses that were skipped because of ``options.on_data_loss``, at
      most the last 10,000.
    """

    def __init__(
        self, cluster: ClusterMachine, options: ScanOptions, *, now: float
    ) -> None:
        self.partitions = PartitionSet(cluster, options, now)
        self.readers = self.partitions.readers
        self._lookups = OffsetLookups(cluster, options, self.partitions)
        self._truncation = LogTruncation(cluster, self.partitions)
        self._cluster = cluster
        self._metrics = cluster.metrics
        self._options = options
        self._fetched: deque[Fetched] = deque()
        self._budget = cluster.frame_budget
        self._budget.limit = options.memory_bytes
        self._is_out_of_room = False
        # Fetch requests in flight by node id: at most one per broker.
        self._fetching: dict[int, FetchRequest] = {}
        self._sessions: dict[int, FetchSession] = {}
        self._seen_version = 0

    @property
    def failure(self) -> KwireError | None:
        """Error that ended reading, or None."""
        return self.partitions.failure

    @property
    def losses(self) -> list[DataLost]:
        """Data losses that were skipped, at most the last 10,000."""
        return self.partitions.losses

    # Methods that choose the partitions and their positions.

    def add(
        self,
        reader: PartitionReader,
        start: Spec,
        *,
        end: Spec | None = None,
        epoch: int = -1,
    ) -> None:
        """Begin to read a partition.

        * ``start``, ``end``: offsets or lookups. ``end`` is exclusive, and None means
          to follow the log.
        * ``epoch``: leader epoch of the record before ``start``, or -1 if it is
          unknown.
        """
        reader.start(start, end, epoch)
        self.readers[reader.place] = reader

    def remove(self, reader: PartitionReader, *, keeps_chunks: bool = False) -> None:
        """Stop reading a partition, if it was added.

        Its chunks that were not taken are dropped unless ``keeps_chunks`` is True.
        """
        if self.readers.get(reader.place) is reader:
            del self.readers[reader.place]
        reader.stop()
        if not keeps_chunks:
            self._drop_chunks(reader)

    def start_over(self, reader: PartitionReader, topic: TopicInfo) -> None:
        """Handle a topic that was deleted and created again as a data loss."""
        reason = "the topic was deleted and created again"
        self.partitions.lose(reader, reason, topic_id=topic.topic_id)

    def seek(self, reader: PartitionReader, start: Spec) -> None:
        """Continue at another position, and drop the chunks that were not taken."""
        self._drop_chunks(reader)
        reader.rewind(start)
        self._cluster.wake(_AT_ONCE)

    def pause(self, reader: PartitionReader) -> None:
        """Stop fetching and returning records of a partition until ``resume``.

        Chunks that were not taken are dropped, and fetched again later. Otherwise, the
        chunks of paused partitions could use the memory that other partitions need.
        """
        dropped_from = self._drop_chunks(reader)
        if dropped_from is not None:
            reader.rewind(dropped_from)
        if reader.state is not ReaderState.PAUSED:
            reader.pause()

    def resume(self, reader: PartitionReader) -> None:
        """Fetch and return records of a paused partition again."""
        if reader.state is ReaderState.PAUSED:
            reader.resume()
            self._cluster.wake(_AT_ONCE)

    def position(self) -> dict[tuple[str, int], int]:
        """Return the offset per partition after the chunks that were taken.

        Partitions whose offset is unknown are omitted.
        """
        # Iterate over copies, because another thread may call this method to read the
        # metrics.
        positions = {
            topic_partition: reader.position
            for topic_partition, reader in self.readers.copy().items()
            if reader.position is not None
        }
        for fetched in reversed(self._fetched.copy()):
            positions[fetched.topic, fetched.partition] = fetched.start_offset
        return positions

    # Methods that return chunks to the caller and release their memory.

    def has_chunk(self) -> bool:
        """Return whether there is a chunk to take."""
        return bool(self._fetched)

    def take(self) -> Fetched | None:
        """Return the oldest chunk that has not been taken, or None."""
        if not self._fetched:
            return None
        fetched = self._fetched.popleft()
        metrics = self._metrics
        metrics.bytes_consumed_total += len(fetched.data)
        metrics.offsets_consumed_total += fetched.next_offset - fetched.start_offset
        return fetched

    def split(self, fetched: Fetched, offset: int) -> Fetched:
        """Return the part of a chunk before an offset; ``take`` returns its remainder.

        The chunk must be the last result of ``take``. The part's leader epoch is -1,
        because only the leader epoch of the last batch in the chunk is known.
        """
        assert fetched.start_offset < offset < fetched.next_offset
        assert fetched.frame is not None, "a chunk of a fetcher has a frame"
        remainder = fetched._replace(start_offset=offset)
        # Count a second chunk for the frame, because both parts use its memory. The
        # metrics are reduced below, because ``take`` will count the remainder again.
        fetched.frame.hold(0)
        self._fetched.appendleft(remainder)
        metrics = self._cluster.metrics
        metrics.add("bytes_consumed_total", -len(remainder.data))
        metrics.add("offsets_consumed_total", offset - fetched.next_offset)
        return fetched._replace(end_offset=offset, next_offset=offset, leader_epoch=-1)

    def read_metrics(self, now: float) -> dict[str, Any]:
        """Return the cluster metrics and the fetch metrics.

        "records_lag" is a dict by (topic, partition). It omits partitions whose end
        offset no broker has reported in its current session. This method may be called
        from any thread.
        """
        lags: dict[tuple[str, int], int] = {}
        position = self.position()
        for session in self._sessions.copy().values():
            for reader, limit in session.limits.copy().items():
                offset = position.get(reader.place)
                if offset is not None and self.readers.get(reader.place) is reader:
                    lags[reader.place] = max(limit - offset, lags.get(reader.place, 0))
        metrics: dict[str, Any] = self._cluster.read_metrics(now)
        metrics |= self._metrics.snapshot(FETCH_METRICS)
        metrics["held_bytes"] = self._budget.held
        metrics["records_lag_max"] = max(lags.values(), default=0)
        metrics["records_lag"] = lags
        return metrics

    def release(self, fetched: Fetched) -> None:
        """Return the memory of a chunk to the budget.

        The caller must not use the chunk afterwards.

        If a Fetch or a large response waits for memory, the cluster wakes up
        immediately.
        """
        assert fetched.frame is not None, "a chunk of a fetcher has a frame"
        fetched.frame.release()
        if self._is_out_of_room or self._budget.has_waiting:
            self._cluster.wake(_AT_ONCE)

    def _drop_chunks(self, reader: PartitionReader) -> int | None:
        """Drop the chunks that were not taken; return the offset of the first."""
        dropped = [chunk for chunk in self._fetched if chunk.reader is reader]
        if not dropped:
            return None
        self._fetched = deque(
            chunk for chunk in self._fetched if chunk.reader is not reader
        )
        for fetched in dropped:
            self.release(fetched)
        return dropped[0].start_offset

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state of the fetcher contradicts itself.

        Tests call this after each ``advance``.
        """
        self.partitions.check_invariants()
        self._budget.check_invariants(fetched.frame for fetched in self._fetched)
        in_flight: dict[int, list[PartitionReader]] = {}
        for reader in self.readers.values():
            if reader.state is ReaderState.FETCHING:
                requests = self._fetching.items()
                nodes = [node for node, sent in requests if sent is reader.request]
                assert len(nodes) == 1, f"{reader.name} is fetched from nodes {nodes}"
                in_flight.setdefault(nodes[0], []).append(reader)
        for node, readers in in_flight.items():
            self._sessions[node].check_invariants(readers)

    # Methods that send requests.

    def advance(self, now: float) -> None:
        """Send the requests that are due."""
        if self._cluster.version != self._seen_version:
            self._seen_version = self._cluster.version
            self._forget_sessions()
        self._lookups.advance(now)
        waiting: dict[int, dict[PartitionReader, int]] = {}
        for reader in self.readers.values():
            if reader.state is _FETCH_DUE and self.partitions.is_due(reader, now):
                info = self._cluster.metadata.partition(reader.topic, reader.partition)
                node = -1 if info is None else info.leader
                if info is not None and reader.replica >= 0:
                    node = self._choose_node(reader, node, now)
                if info is None or node < 0:
                    self._cluster.want_metadata()
                elif node not in self._fetching:
                    waiting.setdefault(node, {})[reader] = info.leader_epoch
        self._is_out_of_room = False
        for node, epochs in waiting.items():
            room = self._choose_response_size()
            if not room:
                self._is_out_of_room = True
                return
            link = self._cluster.link_to(node, now, FetchRequest)
            if link is not None:
                self._truncation.check(link, epochs, now)
                if epochs:
                    self._send_fetch(link, node, epochs, room, now)

    def _forget_sessions(self) -> None:
        """Forget the fetch sessions of brokers that metadata no longer contains."""
        brokers = self._cluster.metadata.brokers
        for node in self._sessions.keys() - brokers.keys() - self._fetching.keys():
            del self._sessions[node]

    def _choose_node(self, reader: PartitionReader, leader: int, now: float) -> int:
        """Return the node id of the preferred read replica, or of the leader."""
        if reader.replica >= 0:
            is_known = reader.replica in self._cluster.metadata.brokers
            if is_known and now < reader.replica_until:
                return reader.replica
            reader.set_replica(-1)
        return leader

    def _choose_response_size(self) -> int:
        """Return the maximum number of bytes in the next Fetch response, or 0 to wait.

        The number is the minimum of ``fetch_bytes``, the free memory of the budget, and
        half of the budget divided by the number of brokers.
        """
        budget = self._budget
        brokers = max(len(self._cluster.metadata.brokers), 1)
        room = max(min(self._options.fetch_bytes, budget.limit // (2 * brokers)), 1)
        if not budget.used:
            return room
        free = budget.free
        return min(room, free) if free >= min(_MIN_FETCH_BYTES, room) else 0

    def _send_fetch(
        self,
        link: Link,
        node: int,
        epochs: Mapping[PartitionReader, int],
        room: int,
        now: float,
    ) -> None:
        """Send a Fetch request to one broker.

        * ``epochs``: partitions of the request with their current leader epochs.
        * ``room``: maximum size of the response in bytes, which is reserved in the
          budget.
        """
        # Use topic ids only if all topics have one. During a rolling upgrade, the
        # metadata of a broker with an older release does not contain topic ids.
        topics = self._cluster.metadata.topics
        has_ids = all(topics[reader.topic].topic_id.int for reader in epochs)
        session = self._sessions.get(node)
        if session is None:
            session = self._sessions[node] = FetchSession()
        wait_s = self._options.max_wait_ms / 1000
        sent_at = now

        def done(response: Any, now: float) -> None:
            self._metrics.fetch_latency.add(now - sent_at)
            self._budget.end_expected(link)
            del self._fetching[node]
            waiting = [reader for reader in epochs if reader.end_request(request)]
            # A broker without new records should wait for ``max_wait_ms`` before it
            # answers. If it answers earlier, delay the next Fetch.
            again_at = sent_at + wait_s / 2
            if response is None:
                session.reset()
                self.partitions.retry_all(waiting, now)
                return
            has_records = False
            if response.error_code:
                is_forgotten = faults.is_of_session(response.error_code)
                is_forgotten = is_forgotten and session.is_incremental
                session.reset()
                for reader in () if is_forgotten else waiting:
                    self._take_error(reader, response.error_code, now, node)
            else:
                has_records = self._take_response(
                    response, waiting, session, node, now, again_at
                )
            if now < again_at and not has_records:
                self._cluster.note_fruitless(link, FetchRequest, now)

        try:
            version = link.pick(FetchRequest, *(() if has_ids else _NAMES))
            session.use_version(version)
            request = fetch_request(epochs, room, self._options, session)
            link.send(request, done, now, wait_s=wait_s, version=version)
        except KwireError as error:
            self.partitions.failure = error
            return
        self._budget.expect(link, room)
        self._fetching[node] = request
        for reader, epoch in epochs.items():
            reader.begin_fetch(request, epoch)

    # Methods that process responses.

    def _take_response(
        self,
        response: Any,
        readers: list[PartitionReader],
        session: FetchSession,
        node: int,
        now: float,
        again_at: float,
    ) -> bool:
        """Process the result of every partition; return whether there were records.

        If no partition has changed, the next Fetch is sent at ``again_at``.
        """
        session.take_response(response.session_id)
        has_names = session.has_names
        waiting = {
            (
                reader.topic if has_names else reader.topic_id.int,
                reader.partition,
            ): reader
            for reader in readers
        }
        has_news = has_records = False
        quiet: list[PartitionReader] = []
        endpoints = response.node_endpoints
        hints = hinted_brokers(endpoints) if endpoints else {}
        frame = find_frame(response, self._budget)
        for topic in response.responses:
            name = topic.topic if has_names else topic.topic_id.int
            for part in topic.partitions:
                reader = waiting.pop((name, part.partition_index), None)
                if reader is None:
                    # The partition was not requested, or the response contains it
                    # twice.
                    continue
                diverging = part.diverging_epoch
                if part.error_code:
                    is_hinted = self._take_hint(reader, part, hints)
                    self._take_error(reader, part.error_code, now, node, is_hinted)
                    has_news = has_news or is_hinted
                elif diverging.end_offset >= 0:
                    self._truncation.rewind(
                        reader, diverging.epoch, diverging.end_offset
                    )
                    self.partitions.retry(reader, now, "the log was truncated")
                elif part.records:
                    has_records = True
                    session.note_limit(reader, self._read_limit(part))
                    self._take_records(reader, part, frame, now)
                elif part.preferred_read_replica >= 0:
                    reader.set_replica(part.preferred_read_replica, now + _REPLICA_S)
                    if reader.redirect(now):
                        has_news = True
                    else:
                        reason = "the preferred read replica changed too often"
                        self.partitions.retry(reader, now, reason)
                else:
                    session.note_limit(reader, self._read_limit(part))
                    quiet.append(reader)
        # The response omits partitions without changes (KIP-227).
        quiet += waiting.values()
        if has_records or quiet:
            self._cluster.note_progress()
        has_news = has_news or has_records
        for reader in quiet:
            self._process_empty(reader, session, has_records)
            if not has_news:
                reader.wait_until(again_at)
        return has_records

    def _read_limit(self, part: Any) -> int:
        """Return the offset up to which the partition can currently be read.

        It is the last stable offset or the high watermark.
        """
        if self._options.read_committed and part.last_stable_offset >= 0:
            return int(part.last_stable_offset)
        return int(part.high_watermark)

    def _process_empty(
        self, reader: PartitionReader, session: FetchSession, has_records: bool
    ) -> None:
        """Process a response without records of this partition."""
        reader.confirm()
        limit = session.limit(reader)
        if has_records or reader.end is None or limit is None:
            return
        # The response contains no records at all. Therefore, neither its size limit nor
        # a lack of time explains why there are no records before the end offset.
        if limit >= reader.end:
            # Compaction has removed the records before the end.
            reader.finish()
        else:
            # The log has become shorter. Request its end from the leader, which reports
            # an error as long as it does not know the end (KIP-207).
            reader.look_up("latest", LATEST)

    def _take_records(
        self, reader: PartitionReader, part: Any, frame: HeldFrame | None, now: float
    ) -> None:
        """Append a partition's records as a chunk, and move its position.

        Ends the task if the records are invalid or end before the position. ``frame``
        is None if the response is sparse. The records are then copied.
        """
        self.partitions.progress_at = now
        assert reader.position is not None
        try:
            last = read_last_header(part.records)
        except KwireError as error:
            self.partitions.fail(reader, str(error), error)
            return
        if last is None:
            self._enlarge(reader, len(part.records))
            return
        after = last.last_offset + 1
        if after <= reader.position:
            self.partitions.fail(
                reader, f"the broker returned only records before offset {after}"
            )
            return
        end = reader.end
        aborted = None
        if self._options.read_committed:
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
        # A broker fills a response in the order of the request. Move this partition to
        # the end, so that the other partitions are first in the next request.
        topic_partition = (reader.topic, reader.partition)
        self.readers[topic_partition] = self.readers.pop(topic_partition)
        reader.advance(after, last.partition_leader_epoch)

    def _enlarge(self, reader: PartitionReader, size: int) -> None:
        """Increase the fetch size, because a response contained no complete batch.

        Brokers before Kafka 0.10.1 truncate a batch that is larger than the fetch size.
        """
        limit = self._cluster.settings.limits.frame_bytes or (1 << 31) - 1
        if reader.fetch_bytes >= limit:
            self.partitions.fail(
                reader,
                f"a record batch is larger than limits.frame_bytes, {limit} bytes",
            )
        reader.enlarge(min(2 * max(size, reader.fetch_bytes), limit))

    # Methods that process the errors of partitions.

    def _take_hint(
        self, reader: PartitionReader, part: Any, brokers: Mapping[int, Broker]
    ) -> bool:
        """Use the leader hint of an error response.

        Returns whether the hint has changed the leader or its leader epoch.
        """
        leader = part.current_leader
        return self._cluster.metadata.take_hint(
            reader.topic,
            reader.partition,
            leader.leader_id,
            leader.leader_epoch,
            brokers,
        )

    def _take_error(
        self,
        reader: PartitionReader,
        error_code: int,
        now: float,
        node: int = -1,
        is_hinted: bool = False,
    ) -> None:
        """Handle a partition's error code.

        ``node`` is the node id of the broker that has answered.
        """
        if 0 <= reader.replica == node:
            # A follower may not have all records yet, so send the next request to the
            # leader.
            reader.set_replica(-1)
            self.partitions.retry(reader, now, codes.name(error_code))
        elif faults.choose_reaction(error_code) is Reaction.OUT_OF_RANGE:
            if reader.is_start_given:
                reason = "the log no longer contains this offset"
                self.partitions.lose(reader, reason)
            else:
                # Records were deleted between the lookup and the first Fetch.
                reader.rewind(EARLIEST)
            self.partitions.retry(reader, now, codes.name(error_code))
        else:
            self.partitions.take_error(reader, error_code, now, is_hinted)
