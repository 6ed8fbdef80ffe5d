# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``BatchSender``: sends batches to the leaders of their partitions.

    batch -> Produce to the leader -> response -> receipt, another attempt, or a failure

``Deliveries`` keeps the queues of batches. ``requests.py`` builds the requests, and
maps the error code of every batch to a reaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....connection.negotiation import LZ4, MAGIC_2, NO_TOPIC_IDS, ZSTD
from ....errors import KwireError
from ....messages import ProduceRequest
from ....records.compression import codec_of
from ....schema import error_codes as codes
from ..cluster import hinted_brokers
from ..events import Event
from ..metadata import NO_ID
from ..settings import MAX_EPOCH_RETRIES
from .batch_records import BatchRecords
from .identity import ProducerIdentity
from .partition_writer import Numbering
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
    rejection_failure,
)
from .transaction_requests import transaction_failure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from ....connection.negotiation import Constraint
    from ..cluster import ClusterMachine
    from ..link import Link
    from .deliveries import Deliveries
    from .options import ProducerOptions
    from .partition_writer import PartitionWriter
    from .pending_batch import PendingBatch
    from .transactions import Transactions

_RECORD_BATCH = 2
"""Magic of record batches. Messages of older formats have magic 0 or 1."""

_UNSENT_S = 0.005
"""Interval in seconds between two checks whether the socket has accepted all bytes of
the previous requests. Required only for ``acks=0``, because the broker then sends no
response that would wake the machine.
"""

Sent = list[tuple["PartitionWriter", "PendingBatch"]]


class BatchSender:
    """Sends the batches in ``deliveries`` to the partition leaders.

    Call ``send_batches`` after every event. It sends all batches that can be sent, and
    processes each response when it arrives.

    ``failure`` is the error that ends the producer, or None.
    """

    def __init__(
        self,
        cluster: ClusterMachine,
        options: ProducerOptions,
        deliveries: Deliveries,
        transactions: Transactions | None,
    ) -> None:
        self.failure: KwireError | None = None
        self._cluster = cluster
        self._options = options
        self._deliveries = deliveries
        self._transactions = transactions
        self._identity = ProducerIdentity(cluster)
        self._constraints: tuple[Constraint, ...] = ()
        if codec_of(options.compression) == codec_of("zstd"):
            self._constraints += (ZSTD,)
        self._is_lz4 = codec_of(options.compression) == codec_of("lz4")

    # Methods that send batches.

    def send_batches(self, now: float) -> None:
        """Send all batches that can be sent now."""
        by_leader: dict[int, list[PartitionWriter]] = {}
        for writer in list(self._deliveries.active):
            if self._prepare(writer, now):
                leader = self._find_leader(writer)
                if leader >= 0:
                    by_leader.setdefault(leader, []).append(writer)
        for leader, writers in by_leader.items():
            link = self._cluster.link_to(leader, now, ProduceRequest)
            if link is not None:
                self._send_to(link, leader, writers, now)

    def _prepare(self, writer: PartitionWriter, now: float) -> bool:
        """Return whether batches of a partition can be sent now.

        If the producer id is missing, it is requested. If the partition must be added
        to the transaction first, ``Transactions`` does that.
        """
        if writer.backoff.must_wait(now):
            return False
        if not self._options.is_idempotent:
            return True
        if self._transactions is not None:
            return self._join_transaction(writer, self._transactions)
        if writer.needs_epoch:
            if writer.in_flight:
                return False
            self._begin_epoch(writer, now)
        if writer.producer_id < 0:
            producer = self._identity.find(now)
            if producer is None:
                self.failure = self.failure or self._identity.failure
                return False
            writer.set_producer(*producer)
        return bool(writer.batches)

    def _join_transaction(
        self, writer: PartitionWriter, transactions: Transactions
    ) -> bool:
        """Add a partition to the current transaction.

        Returns whether batches of the partition can be sent now.
        """
        if not transactions.takes_records or transactions.producer is None:
            return False
        if (writer.producer_id, writer.producer_epoch) != transactions.producer:
            writer.set_producer(*transactions.producer)
        if writer.numbering is Numbering.BROKEN:
            self.failure = transactions.stale_epoch()
            return False
        return transactions.add_partition(writer.topic, writer.partition)

    def _begin_epoch(self, writer: PartitionWriter, now: float) -> None:
        """Begin a partition's next epoch, in which sequence numbers start at 0.

        After the last epoch, a new producer id is requested.
        """
        if writer.numbering is Numbering.BROKEN:
            for batch in [batch for batch in writer.batches if batch.is_in_doubt]:
                # The log may contain this batch. With a new sequence number, the broker
                # would not recognize the next attempt as a duplicate.
                reason = "earlier records of the partition failed"
                failure = delivery_failure(batch, reason)
                writer.fail(batch, failure)
        producer_id = writer.producer_id
        writer.raise_epoch()
        if writer.producer_id < 0:
            self._identity.replace(producer_id)
            self._cluster.wake(now)

    def _find_leader(self, writer: PartitionWriter) -> int:
        """Return the leader's node id, or request metadata and return -1."""
        info = self._cluster.metadata.partition(writer.topic, writer.partition)
        if info is None or info.leader < 0:
            self._cluster.want_metadata()
            return -1
        return info.leader

    def _send_to(
        self, link: Link, node: int, writers: list[PartitionWriter], now: float
    ) -> None:
        """Send the next batches of some partitions to their leader.

        A request contains at most one batch per partition. Further requests follow
        until ``max_in_flight`` is reached.
        """
        options = self._options
        magic = choose_magic(link.table)
        try:
            # Check the versions before encoding, because older record formats do not
            # support all compression codecs.
            link.pick(ProduceRequest, *self._constraints, MAGIC_CONSTRAINTS[magic])
            if self._is_lz4:
                link.require(LZ4)
        except KwireError as error:
            self.failure = error
            return
        max_in_flight = options.max_in_flight if options.is_idempotent else 1
        while link.in_flight < options.max_in_flight and link.is_free(now):
            if not options.acks and link.has_unsent:
                # With acks=0, there are no responses, so ``max_in_flight`` limits
                # nothing. Wait until the socket has accepted the previous requests.
                # Otherwise, a program that writes faster than the network would need
                # more and more memory.
                self._cluster.wake(now + _UNSENT_S)
                return
            chosen: Sent = []
            size = 0
            for writer in writers:
                batch = writer.next_batch(max_in_flight)
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
            # Serve the other partitions first next time, because a request may be too
            # small for all of them.
            for writer, _ in chosen:
                self._deliveries.move_to_end(writer)
                writers.remove(writer)
                writers.append(writer)

    def _encode(
        self, writer: PartitionWriter, batch: PendingBatch, magic: int, link: Link
    ) -> bool:
        """Encode a batch in the record format of its leader, unless it is encoded.

        Returns False if that is not possible. In this case, the batch has failed.
        """
        if batch.data is not None and batch.magic == magic:
            return True
        try:
            if self._options.is_idempotent:
                writer.number(batch)
            content = batch.content
            assert content is not None
            if magic == _RECORD_BATCH:
                data = content.build(
                    producer_id=writer.producer_id,
                    producer_epoch=writer.producer_epoch,
                    base_sequence=batch.sequence,
                )
            else:
                # Other classes of content require an idempotent producer, and therefore
                # a broker that supports record batches.
                assert isinstance(content, BatchRecords)
                if content.has_headers():
                    # Only record batches support headers. ``pick`` raises an error that
                    # contains the first Kafka release with record batches.
                    link.pick(ProduceRequest, MAGIC_2)
                data = content.build_messages(magic)
        except KwireError as error:
            writer.fail(batch, error)
            return False
        batch.set_data(data, magic)
        return True

    def _send_produce(
        self, link: Link, node: int, sent: Sent, magic: int, now: float
    ) -> bool:
        """Send one Produce request.

        Returns False if the request cannot be sent, because the broker does not support
        it.
        """
        options, topics = self._options, self._cluster.metadata.topics
        batches = [batch for _, batch in sent]
        constraints = (*self._constraints, MAGIC_CONSTRAINTS[magic])
        if any(topics[batch.topic].topic_id == NO_ID for batch in batches):
            constraints += (NO_TOPIC_IDS,)
        request = produce_request(
            batches,
            options.acks,
            self._cluster.settings.broker_timeout_ms,
            topics,
            options.transactional_id,
        )
        if self._transactions is not None:
            constraints += self._transactions.constraints()
            self._transactions.note_write()

        sent_at = now

        def done(response: Any, now: float) -> None:
            self._cluster.metrics.produce_latency.add(now - sent_at)
            # Skip batches that are over, because the producer may have failed while
            # the request was in flight.
            waiting = [(writer, batch) for writer, batch in sent if not batch.is_over]
            if response is None:
                for writer, batch in waiting:
                    batch.lose()
                    writer.retry(link.reason, now)
                return
            names = {topic.topic_id: topic.name for topic in request.topic_data}
            self._take_response(response, waiting, names, node, now)
            if not any(batch.is_over or batch.parts for _, batch in sent):
                self._cluster.note_fruitless(link, ProduceRequest, now)

        try:
            version = link.pick(ProduceRequest, *constraints)
            link.send(request, done, now, version=version)
        except KwireError as error:
            self.failure = error
            return False
        for writer, batch in sent:
            batch.send()
            self._count_attempt(writer, batch, now)
            if not options.acks:
                writer.acknowledge(batch, -1, -1)
        return True

    def _count_attempt(
        self, writer: PartitionWriter, batch: PendingBatch, now: float
    ) -> None:
        """Update the metrics for the first attempt, and report each further one."""
        metrics = self._cluster.metrics
        if batch.attempts == 1:
            begun_at = batch.give_up_at - self._options.delivery_timeout_s
            metrics.record_queue_time.add(now - begun_at)
            metrics.record_send_total += batch.count
        else:
            self._cluster.report(
                Event.BATCH_RESENT,
                batch.count,
                partition=writer.name,
                record_count=batch.count,
                attempt=batch.attempts,
                reason=writer.reason or "the leader has moved",
            )

    # Methods that process responses.

    def _take_response(
        self,
        response: Any,
        sent: Sent,
        names: Mapping[UUID, str],
        node: int,
        now: float,
    ) -> None:
        """Process the result of every batch in a Produce response.

        ``names`` contains the request's topic names by topic id. Since the request was
        sent, the metadata may have changed the id of a topic or lost the topic.
        """
        parts: dict[tuple[str | None, int], Any] = {}
        for topic in response.responses:
            name = topic.name or names.get(topic.topic_id)
            for part in topic.partition_responses:
                parts[name, part.index] = part
        for writer, batch in sent:
            part = parts.get((batch.topic, batch.partition))
            if part is None:
                batch.lose()
                writer.retry("the broker left the batch unanswered", now)
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
        """Acknowledge, retry, split or fail one batch, depending on its error code.

        * ``part``: result of the batch's partition in the Produce response.
        * ``response``: the whole response, which may contain leader hints.
        * ``node``: node id of the broker that has answered.
        """
        code = part.error_code
        reason = f"the broker answered {codes.name(code)}"
        match read_verdict(code):
            case Verdict.DONE:
                offset = -1 if code else part.base_offset
                append_time = read_append_time(part, batch)
                writer.acknowledge(batch, offset, append_time)
            case Verdict.RETRY | Verdict.NEW_LEADER as verdict:
                if may_be_written(code):
                    batch.lose()
                else:
                    batch.reject()
                if verdict is Verdict.RETRY:
                    writer.retry(reason, now)
                else:
                    self._change_leader(writer, part, response, node, reason, now)
            case Verdict.RENUMBER if self._options.is_idempotent and (
                self._transactions is None or batch is not writer.batches[0]
            ):
                batch.reject()
                if batch is writer.batches[0]:
                    writer.note_forgotten()
                    writer.retry(reason, now)
                # A later batch was rejected because an earlier one is missing. It is
                # sent again after the first batch.
            case Verdict.SPLIT if batch.count > 1 and not batch.is_in_doubt:
                # A batch in doubt must not be split: the log may contain it already, if
                # the size limit of the topic has been reduced since.
                writer.split(batch)
            case Verdict.FATAL:
                name, transactional_id = writer.name, self._options.transactional_id
                self.failure = (
                    fatal_failure(name, code)
                    if transactional_id is None
                    else transaction_failure(f"writing {name}", transactional_id, code)
                )
            case _:
                failure = rejection_failure(batch, code, part.error_message)
                writer.fail(batch, failure)

    def _change_leader(
        self,
        writer: PartitionWriter,
        part: Any,
        response: Any,
        node: int,
        reason: str,
        now: float,
    ) -> None:
        """Continue with a partition's new leader, or request metadata.

        ``node`` is the node id of the broker that is not the leader.
        """
        metadata = self._cluster.metadata
        metadata.take_hint(
            writer.topic,
            writer.partition,
            part.current_leader.leader_id,
            part.current_leader.leader_epoch,
            hinted_brokers(response.node_endpoints),
        )
        info = metadata.partition(writer.topic, writer.partition)
        is_known = info is not None and info.leader not in (-1, node)
        if is_known and writer.redirect(now):
            # The leader is known from the hint (KIP-951) or from newer metadata. The
            # batch is sent to it immediately, unless this happens often.
            return
        self._cluster.want_metadata()
        writer.retry(reason, now)
        if writer.backoff.failures >= MAX_EPOCH_RETRIES:
            # If the topic was deleted and created again, the epochs of its leaders
            # start again and look outdated. Accept any leader from now on.
            metadata.forget_leader(writer.topic, writer.partition)
