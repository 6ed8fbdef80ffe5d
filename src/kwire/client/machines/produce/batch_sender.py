# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``BatchSender``: sends batches to the leaders of partitions, and tries them again.

    batch -> Produce to the leader -> response -> receipt, another try, or a failure

``ProducerMachine`` is one, and decides what is to be sent. What an error of a broker
asks for, and the requests, are in ``requests.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....connection.negotiation import LZ4, MAGIC_2, NO_TOPIC_IDS, ZSTD
from ....errors import KwireError
from ....messages import ProduceRequest
from ....records.compression import codec_of
from ....schema import error_codes as codes
from ...errors import DeliveryFailed
from ..cluster import hinted_brokers
from ..metadata import NO_ID
from .identity import ProducerIdentity
from .options import Receipt
from .partition_writer import PartitionWriter
from .pending_batch import BatchRecords, PendingBatch
from .requests import (
    MAGIC_CONSTRAINTS,
    Verdict,
    choose_magic,
    delivery_failure,
    fatal_failure,
    may_be_written,
    produce_request,
    read_append_time,
    read_verdict,
)
from .transaction_requests import transaction_failure
from .transactions import Transactions

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....connection.negotiation import Constraint
    from ..cluster import ClusterMachine
    from ..link import Link
    from ..settings import ClusterSettings
    from .options import ProducerOptions

_RECORD_BATCH = 2
"""Magic of record batches. Messages of older formats have magic 0 or 1."""

_DOUBTS = 6
"""After how many tries an older leader epoch is believed."""

_UNSENT_S = 0.005
"""When to look again whether the network took what has no response."""

_BROKER_SHARE = 0.8
"""The part of the request timeout that brokers may wait for replicas."""

Sent = list[tuple[PartitionWriter, PendingBatch]]


class BatchSender:
    """Sends the batches of partitions over the links of ``cluster``."""

    def __init__(
        self,
        cluster: ClusterMachine,
        settings: ClusterSettings,
        options: ProducerOptions,
        *,
        now: float,
        on_receipt: Callable[[Receipt], None] | None,
    ) -> None:
        self.cluster = cluster
        self.options = options
        self.failure: KwireError | None = None
        self.background_failure: KwireError | None = None
        self.held_bytes = 0
        self._settings = settings
        self._on_receipt = on_receipt
        self._constraints: tuple[Constraint, ...] = ()
        if codec_of(options.compression) == codec_of("zstd"):
            self._constraints += (ZSTD,)
        self._is_lz4 = codec_of(options.compression) == codec_of("lz4")
        # Those with batches, in the order in which they are served.
        self._active: dict[PartitionWriter, None] = {}
        self._identity = ProducerIdentity(cluster, now)
        self.transactions: Transactions | None = None
        if options.transactional_id is not None:
            self.transactions = Transactions(
                cluster,
                options.transactional_id,
                timeout_s=options.transaction_timeout_s,
                give_up_s=options.delivery_timeout_s,
                now=now,
            )

    # From batches to requests.

    def _send_batches(self, now: float) -> None:
        """Send what can be sent, to each leader."""
        by_leader: dict[int, list[PartitionWriter]] = {}
        for writer in list(self._active):
            if not writer.batches:
                del self._active[writer]
            elif self._is_ready(writer, now):
                leader = self._leader(writer)
                if leader >= 0:
                    by_leader.setdefault(leader, []).append(writer)
        for leader, writers in by_leader.items():
            link = self.cluster.link_to(leader, now, ProduceRequest)
            if link is not None:
                self._send_to(link, leader, writers, now)

    def _is_ready(self, writer: PartitionWriter, now: float) -> bool:
        if writer.retry_at > now:
            self.cluster.wake(writer.retry_at)
            return False
        if not self.options.is_idempotent:
            return True
        if self.transactions is not None:
            return self._is_in_transaction(writer, self.transactions)
        if writer.has_gap or writer.needs_epoch:
            if writer.in_flight:
                return False
            self._begin_epoch(writer, now)
        if writer.producer_id < 0:
            if self._identity.producer is None:
                self._identity.find(now)
                self.failure = self.failure or self._identity.failure
                return False
            writer.set_producer(*self._identity.producer)
        return bool(writer.batches)

    def _is_in_transaction(
        self, writer: PartitionWriter, transactions: Transactions
    ) -> bool:
        """Whether a partition may get records in the present transaction."""
        if not transactions.takes_records or transactions.producer is None:
            return False
        if (writer.producer_id, writer.producer_epoch) != transactions.producer:
            writer.set_producer(*transactions.producer)
        if writer.has_gap:
            self.failure = transactions.stale_epoch()
            return False
        return transactions.add_partition(writer.topic, writer.partition)

    def _begin_epoch(self, writer: PartitionWriter, now: float) -> None:
        """Number the batches of a partition anew, those that cannot be in the log."""
        if writer.has_gap:
            for batch in [each for each in writer.batches if each.is_in_doubt]:
                reason = "records before them were given up"
                self._fail(writer, batch, _undelivered(batch, reason))
        known = writer.producer_id
        writer.raise_epoch()
        given = self._identity.producer
        if writer.producer_id < 0 and given is not None and given[0] == known:
            self._identity.producer = None
            self.cluster.wake(now)

    def _leader(self, writer: PartitionWriter) -> int:
        """Return the leader; -1, and new metadata to come, while there is none."""
        known = self.cluster.metadata.partition(writer.topic, writer.partition)
        if known is None or known.leader < 0:
            self.cluster.want_metadata()
            return -1
        return known.leader

    def _send_to(
        self, link: Link, node: int, writers: list[PartitionWriter], now: float
    ) -> None:
        options = self.options
        magic = choose_magic(link.table)
        try:
            # Before encoding: an old format cannot be compressed with every codec.
            link.pick(ProduceRequest, *self._constraints, MAGIC_CONSTRAINTS[magic])
            if self._is_lz4:
                link.require(LZ4)
        except KwireError as error:
            self.failure = error
            return
        while link.in_flight < options.max_in_flight and link.is_free(now):
            if not options.acks and link.has_unsent:
                # Nothing else holds up one who writes faster than the network.
                self.cluster.wake(now + _UNSENT_S)
                return
            chosen: Sent = []
            size = 0
            for writer in writers:
                most = 1
                if options.is_idempotent and writer.is_established:
                    most = options.max_in_flight
                batch = writer.next_batch(most)
                if batch is None:
                    continue
                if chosen and size + batch.size > options.max_request_bytes:
                    break
                if self._encode(writer, batch, magic, link):
                    assert batch.data is not None
                    chosen.append((writer, batch))
                    size += len(batch.data)
            if not chosen or not self._send_produce(link, node, chosen, magic, now):
                return
            for writer, _ in chosen:
                # Who was served goes to the end.
                del self._active[writer]
                self._active[writer] = None
                writers.remove(writer)
                writers.append(writer)

    def _encode(
        self, writer: PartitionWriter, batch: PendingBatch, magic: int, link: Link
    ) -> bool:
        """Encode a batch in the format of the broker, unless it is encoded already.

        Return False if it cannot be encoded: the batch has failed then.
        """
        if batch.data is not None and batch.magic == magic:
            return True
        assert batch.content is not None
        if self.options.is_idempotent:
            writer.number(batch)
        try:
            if magic == _RECORD_BATCH:
                batch.data = batch.content.build(
                    producer_id=writer.producer_id,
                    producer_epoch=writer.producer_epoch,
                    base_sequence=batch.sequence,
                )
            else:
                # Only idempotent producers have batches of another type.
                assert isinstance(batch.content, BatchRecords)
                if batch.content.has_headers():
                    # Raises the error that names the release.
                    link.pick(ProduceRequest, MAGIC_2)
                batch.data = batch.content.build_messages(magic)
            batch.magic = magic
        except KwireError as error:
            self._fail(writer, batch, error)
            return False
        return True

    def _send_produce(
        self, link: Link, node: int, sent: Sent, magic: int, now: float
    ) -> bool:
        topics = self.cluster.metadata.topics
        batches = [batch for _, batch in sent]
        constraints = (*self._constraints, MAGIC_CONSTRAINTS[magic])
        if any(topics[each.topic].topic_id == NO_ID for each in batches):
            constraints += (NO_TOPIC_IDS,)
        timeout_ms = int(self._settings.request_timeout_s * _BROKER_SHARE * 1000)
        request = produce_request(
            batches,
            self.options.acks,
            timeout_ms,
            topics,
            self.options.transactional_id,
        )
        if self.transactions is not None:
            constraints += self.transactions.constraints()
            self.transactions.note_write()

        def done(response: Any, now: float) -> None:
            for _, batch in sent:
                batch.is_sent = False
            if response is None:
                for writer, batch in sent:
                    batch.is_in_doubt = True
                    self._retry(writer, link.reason, now)
            else:
                self._take_response(response, sent, node, now)
                if not any(batch.is_over or batch.parts for _, batch in sent):
                    self.cluster.note_fruitless(link, ProduceRequest, now)

        try:
            version = link.pick(ProduceRequest, *constraints)
            link.send(request, done, now, version=version)
        except KwireError as error:
            self.failure = error
            return False
        for writer, batch in sent:
            batch.attempts += 1
            if self.options.acks:
                batch.is_sent = True
            else:
                self._finish(writer, batch, -1, -1)
        return True

    # What became of a batch.

    def _take_response(self, response: Any, sent: Sent, node: int, now: float) -> None:
        topics = self.cluster.metadata.topics
        parts: dict[Any, Any] = {}
        for topic in response.responses:
            for part in topic.partition_responses:
                parts[topic.name or topic.topic_id, part.index] = part
        for writer, batch in sent:
            if batch.is_over:
                continue
            topic_id = topics[batch.topic].topic_id
            part = parts.get((batch.topic, batch.partition))
            part = part or parts.get((topic_id, batch.partition))
            if part is None:
                batch.is_in_doubt = True
                self._retry(writer, "the broker left the batch unanswered", now)
            else:
                self._take_part(writer, batch, part, response, node, now)

    def _take_part(
        self,
        writer: PartitionWriter,
        batch: PendingBatch,
        part: Any,
        response: Any,
        node: int,
        now: float,
    ) -> None:
        code = part.error_code
        verdict = read_verdict(code)
        batch.is_in_doubt |= may_be_written(code)
        reason = f"the broker answered {codes.name(code)}"
        if verdict is Verdict.DONE:
            offset = -1 if code else part.base_offset
            self._finish(writer, batch, offset, read_append_time(part, batch))
        elif verdict is Verdict.RENUMBER and self.transactions is not None:
            if batch is writer.batches[0]:
                self._fail(writer, batch, delivery_failure(batch, code, None))
        elif verdict is Verdict.RENUMBER and self.options.is_idempotent:
            if batch is writer.batches[0]:
                writer.needs_epoch = True
                self._retry(writer, reason, now)
        elif verdict is Verdict.SPLIT and batch.count > 1 and not batch.is_in_doubt:
            # One that is in doubt may be in the log as it was, before a new limit.
            self.held_bytes -= batch.size
            halves = batch.split()
            self.held_bytes += sum(each.size for each in halves)
            writer.replace(batch, halves)
        elif verdict is Verdict.RETRY:
            self._retry(writer, reason, now)
        elif verdict is Verdict.NEW_LEADER:
            self._change_leader(writer, part, response, node, reason, now)
        elif verdict is Verdict.FATAL:
            name, transactional_id = writer.name, self.options.transactional_id
            self.failure = (
                fatal_failure(name, code)
                if transactional_id is None
                else transaction_failure(f"writing {name}", transactional_id, code)
            )
        else:
            message = part.error_message
            self._fail(writer, batch, delivery_failure(batch, code, message))

    def _finish(
        self, writer: PartitionWriter, batch: PendingBatch, offset: int, timestamp: int
    ) -> None:
        receipt = Receipt(batch.topic, batch.partition, offset, timestamp, batch.count)
        batch.finish(receipt)
        writer.remove(batch)
        writer.failures = 0
        writer.reason = ""
        writer.is_established = True
        self.held_bytes -= batch.size
        self.cluster.note_progress()
        if batch.is_background and self._on_receipt is not None:
            self._on_receipt(receipt)

    def _change_leader(
        self,
        writer: PartitionWriter,
        part: Any,
        response: Any,
        node: int,
        reason: str,
        now: float,
    ) -> None:
        metadata = self.cluster.metadata
        leader = part.current_leader
        metadata.take_hint(
            writer.topic,
            writer.partition,
            leader.leader_id,
            leader.leader_epoch,
            hinted_brokers(response.node_endpoints),
        )
        known = metadata.partition(writer.topic, writer.partition)
        if known is not None and known.leader not in (-1, node):
            # By a hint (KIP-951), or by metadata that came before the response. The
            # batch is sent to the new leader immediately, unless this happens often.
            writer.redirects.note(now)
            if writer.redirects.next_at <= now:
                return
        self.cluster.want_metadata()
        self._retry(writer, reason, now)
        if writer.failures >= _DOUBTS:
            metadata.forget_leader(writer.topic, writer.partition)

    def _retry(self, writer: PartitionWriter, reason: str, now: float) -> None:
        writer.reason = reason
        if writer.retry_at <= now:
            # Once for all requests that ended together.
            writer.failures += 1
            jitter = self.cluster.random.random()
            pause = self._settings.backoff_s(writer.failures, jitter)
            writer.retry_at = max(now + pause, writer.redirects.next_at)

    def _fail(
        self, writer: PartitionWriter, batch: PendingBatch, failure: KwireError
    ) -> None:
        writer.has_gap |= batch.sequence >= 0
        writer.remove(batch)
        self._end(batch, failure)
        if self.transactions is not None:
            self.transactions.fail(failure)

    def _end(self, batch: PendingBatch, failure: KwireError) -> None:
        batch.finish(failure=failure)
        self.held_bytes -= batch.size
        if batch.is_background:
            self.background_failure = self.background_failure or failure

    def _expire(self, now: float) -> None:
        """Give batches up that were not acknowledged in time."""
        limit = self.options.delivery_timeout_s
        for writer in self._active:
            while writer.batches and not writer.batches[0].is_sent:
                batch = writer.batches[0]
                if now < batch.give_up_at:
                    self.cluster.wake(batch.give_up_at)
                    break
                why = writer.reason
                if not why:
                    is_slow = writer.is_established
                    why = "the brokers are slow" if is_slow else self.cluster.reasons()
                text = f"there was no acknowledgement within {limit:g} s ({why})"
                self._fail(writer, batch, _undelivered(batch, text))


def _undelivered(batch: PendingBatch, reason: str) -> DeliveryFailed:
    return DeliveryFailed(
        batch.topic, batch.partition, batch.count, reason, batch.is_in_doubt
    )
