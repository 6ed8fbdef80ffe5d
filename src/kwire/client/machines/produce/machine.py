# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ProducerMachine``: writes records to partitions of topics.

    records -> partition -> batch -> Produce to the leader -> receipt

Every step has its own class:

* ``WantedTopics`` looks up topics.
* ``LingeringRecords`` and the batchers of callers sort records into batches.
* ``Deliveries`` keeps the batches until they are acknowledged or fail.
* ``BatchSender`` sends the batches and processes the responses.
* ``Transactions`` begins and ends the transactions of a transactional producer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import ClusterError, ProducerFenced
from ..cluster import ClusterMachine
from ..events import Event
from ..metrics import PRODUCE_METRICS
from .batch_records import BatchRecords
from .batch_sender import BatchSender
from .deliveries import Deliveries
from .lingering_records import LingeringRecords
from .pending_batch import PendingBatch
from .transactions import Transactions
from .wanted_topics import WantedTopics

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from random import Random

    from ....errors import KwireError
    from ..group.options import GroupMetadata
    from ..metadata import TopicInfo
    from ..settings import ClusterSettings
    from .batch_records import BatchContent
    from .options import ProducerOptions, Receipt
    from .transactions import PendingOffsets


class ProducerMachine:
    """State machine of a producer. It owns a ``ClusterMachine`` with its own links.

    Call ``advance`` after every event, and when the clock reaches ``wake_at``.

    * Look up the topic first: call ``want_topic``, wait until ``is_settled`` is True,
      and call ``topic``.
    * Then pass records to ``send`` or batches to ``add_batch``. Wait until ``has_room``
      is True before every call.
    * To wait for the acknowledgements, call ``flush`` and wait until all batches of its
      result are over. ``take_background_failure`` returns the failure of a record that
      was passed to ``send``.
    * In a transaction, call ``begin_transaction`` before the first record and
      ``end_transaction`` after the last one.
    * To close, call ``begin_close``, continue until ``is_closable`` is True, and call
      ``close``.

    ``failure`` is the error that ended the producer and all its batches, or None.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        options: ProducerOptions,
        *,
        now: float,
        random: Random,
        on_receipt: Callable[[Receipt], None] | None = None,
    ) -> None:
        self.cluster = ClusterMachine(bootstrap, settings, now=now, random=random)
        self.options = options
        self.failure: KwireError | None = None
        self.transactions: Transactions | None = None
        if options.transactional_id is not None:
            self.transactions = Transactions(
                self.cluster,
                options.transactional_id,
                timeout_s=options.transaction_timeout_s,
                give_up_s=options.delivery_timeout_s,
                now=now,
            )
        self.deliveries = Deliveries(
            self.cluster, options, self.transactions, on_receipt
        )
        self.lingering = LingeringRecords(self, options)
        # Function that returns an empty batch with the options of this producer.
        self.new_batch = BatchRecords(
            options.max_batch_bytes,
            compression=options.compression,
            compression_level=options.compression_level,
            is_transactional=options.transactional_id is not None,
        ).new_batch
        self._sender = BatchSender(
            self.cluster, options, self.deliveries, self.transactions
        )
        self._topics = WantedTopics(self.cluster)
        self._cleaned_version = 0
        labels = {}
        if options.transactional_id is not None:
            labels["transactional_id"] = options.transactional_id
        self.cluster.push_metrics("producer", self.read_metrics, labels, now)

    @property
    def wake_at(self) -> float:
        """Time of the next ``advance`` if no event occurs before."""
        return self.cluster.wake_at

    def advance(self, now: float) -> None:
        """Send all requests that are due, and fail late batches and lookups."""
        self.cluster.advance(now)
        self._note_failure()
        if self.failure is None:
            if self.cluster.version != self._cleaned_version:
                self._cleaned_version = self.cluster.version
                self.deliveries.forget_deleted()
            self._topics.advance(now)
            self.lingering.close_due(now)
            self.deliveries.fail_late(now)
            self._sender.send_batches(now)
            self._advance_transactions(now)
            # Send the metadata request now if one of the steps above has required it.
            self.cluster.refresh_metadata(now)
            self._note_failure()
        if self.failure is not None:
            self._fail_all(self.failure)

    def begin_close(self, now: float) -> None:
        """Fail all batches without an acknowledgement, and push the last metrics."""
        self._end()
        self.cluster.begin_close(now)

    def is_closable(self) -> bool:
        """Return whether all requests after ``begin_close`` are complete."""
        return self.cluster.is_closable

    def close(self, now: float) -> None:
        """Fail all batches without an acknowledgement, and close all links."""
        self._end()
        self.cluster.close(now)

    def _end(self) -> None:
        self.failure = self.failure or ClusterError(
            "writing records: the producer is closed; make a new one"
        )
        self._fail_all(self.failure)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the parts of the producer contradict each other.

        Tests call this method after ``advance``.
        """
        self.deliveries.check_invariants()
        assert self.deliveries.open_bytes >= self.lingering.open_bytes, "open bytes"
        if self.transactions is not None:
            self.transactions.check_invariants()
            is_open = not self.transactions.is_over
            assert is_open or self.is_idle(), "records outside of a transaction"
        assert self.failure is None or self.is_idle(), "records of a failed producer"

    def read_metrics(self, now: float) -> dict[str, float]:
        """Return the metrics that ``PRODUCER_SNAPSHOT`` lists.

        This method may be called from any thread.
        """
        metrics = self.cluster.read_metrics(now)
        metrics |= self.cluster.metrics.snapshot(PRODUCE_METRICS)
        metrics["held_bytes"] = self.deliveries.held_bytes
        return metrics

    def _note_failure(self) -> None:
        if self.failure is not None:
            return
        self.failure = self._sender.failure or self.cluster.failure
        if self.transactions is not None:
            self.failure = self.failure or self.transactions.fatal
        if isinstance(self.failure, ProducerFenced):
            self.cluster.report(Event.PRODUCER_FENCED, reason=self.failure)

    def _fail_all(self, failure: KwireError) -> None:
        self.deliveries.fail_all(failure)
        if self.lingering.abandon():
            self.deliveries.fail_background(failure)
        if self.transactions is not None:
            self.transactions.stop(failure)

    # Methods for transactions.

    def begin_transaction(self) -> None:
        """Begin a transaction. ``transactions.is_settled`` must be True.

        Raises ``ValueError`` if the previous transaction has not ended.
        """
        assert self.transactions is not None
        if not self.transactions.is_over:
            raise ValueError(
                "the producer has an open transaction; leave its block before the next"
            )
        self.transactions.begin()

    def add_offsets(
        self, member: GroupMetadata, offsets: Mapping[tuple[str, int], int], now: float
    ) -> PendingOffsets:
        """Add the offsets of a consumer group to the transaction.

        The returned object receives the result. Raises the failure of the producer or
        the transaction if no further offsets are accepted.
        """
        assert self.transactions is not None
        if failure := self._refusal():
            raise failure
        return self.transactions.add_offsets(member, offsets, now)

    def end_transaction(self, is_commit: bool, now: float) -> None:
        """Start to commit or abort the transaction.

        ``transactions.is_over`` becomes True when the coordinator has ended it. Does
        nothing if the producer has failed.
        """
        assert self.transactions is not None
        if self.failure is not None or self.transactions.fatal is not None:
            return
        if is_commit:
            self.flush(now)
        self.transactions.end(is_commit, now)

    def _advance_transactions(self, now: float) -> None:
        transactions = self.transactions
        if transactions is None:
            return
        if transactions.is_failed:
            self.deliveries.fail_all(transactions.refusal(), is_unsent=True)
            self.lingering.abandon()
        transactions.advance(now, is_idle=self.is_idle())
        if transactions.is_over:
            # Drop the failure of the batches, because ``Transactions.result`` contains
            # it already.
            self.deliveries.take_background_failure()

    # Methods for topics and records.

    def want_topic(self, name: str, now: float) -> None:
        """Start a topic's lookup, unless it is known or being looked up."""
        self._topics.want(name, now)

    def is_settled(self, name: str) -> bool:
        """Return whether a topic's lookup has succeeded or failed.

        Call ``want_topic`` before. Afterwards, ``topic`` returns the topic or raises
        the failure.
        """
        return self.failure is not None or self._topics.is_settled(name)

    def topic(self, name: str) -> TopicInfo | None:
        """Return a topic, or None while its partitions are not known.

        Raises ``ClusterError`` if it does not exist, or if the producer or its
        transaction has failed.
        """
        if failure := self._refusal():
            raise failure
        return self._topics.find(name)

    @property
    def topic_names(self) -> Collection[str]:
        """Names of the topics that ``want_topic`` has looked up or is looking up."""
        return self._topics.names

    def known_topic(self, name: str) -> TopicInfo | None:
        """Return a topic that was looked up before, or None.

        Also returns None if the producer or its transaction accepts no records.
        """
        if name not in self._topics.names or self._refusal():
            return None
        return self._topics.find(name)

    def has_room(self) -> bool:
        """Return whether there is memory for more records.

        Also True after a failure, because records are then rejected immediately.
        """
        held_bytes = self.deliveries.held_bytes
        return self.failure is not None or held_bytes < self.options.memory_bytes

    def is_idle(self) -> bool:
        """Return whether every record is acknowledged or has failed."""
        return not self.deliveries.active and self.lingering.is_empty()

    def choose_partition(self, topic: TopicInfo) -> int:
        """Choose a random partition for records without a key.

        Partitions with fewer queued bytes are more probable. Partitions without a
        leader are excluded if any other exists.
        Source: KIP-794, ``BuiltInPartitioner.nextPartition``.
        """
        partitions = [n for n, info in topic.partitions.items() if info.leader >= 0]
        partitions = partitions or list(topic.partitions)
        writer = self.deliveries.writer
        loads = [writer(topic.name, number).queued_bytes for number in partitions]
        maximum = max(loads) + self.options.max_batch_bytes
        weights = [maximum - load for load in loads]
        (chosen,) = self.cluster.random.choices(partitions, weights)
        return chosen

    def add_batch(
        self,
        topic: str,
        partition: int,
        content: BatchContent,
        now: float,
        *,
        is_background: bool = False,
        is_lingering: bool = False,
    ) -> PendingBatch:
        """Append a batch to a partition's queue, after all earlier records.

        * ``is_background``: no caller waits for the batch, so its failure is returned
          by ``take_background_failure``.
        * ``is_lingering``: the batch comes from ``lingering``, so earlier lingering
          records are already in the queue.

        The batch fails immediately if the producer or its transaction accepts no
        records.
        """
        if not is_lingering:
            self.lingering.release(topic, partition, now)
        batch = PendingBatch(
            topic,
            partition,
            content,
            now + self.options.delivery_timeout_s,
            is_background=is_background or is_lingering,
        )
        if failure := self._refusal():
            batch.fail(failure)
        else:
            self.deliveries.add(batch, now)
        return batch

    def send(
        self,
        topic: TopicInfo,
        partition: int | None,
        record: tuple[Any, Any, Any, Any],
        now: float,
    ) -> bool:
        """Accept one record. Its batch is closed at the latest after ``linger_s``.

        Without a ``partition``, the key determines the partition. Records without a key
        are added to the same partition until its batch is closed.

        Returns whether the machine must be advanced, because a linger time has begun.
        Raises ``EncodeError`` for an invalid record, and the failure of the producer or
        its transaction if no records are accepted.
        """
        if failure := self._refusal():
            raise failure
        return self.lingering.send(topic, partition, record, now)

    def flush(self, now: float) -> list[PendingBatch]:
        """Close all batches of lingering records.

        Returns all batches of the producer that are not over.
        """
        self.lingering.flush(now)
        return [batch for writer in self.deliveries.active for batch in writer.batches]

    def take_background_failure(self) -> KwireError | None:
        """Return the first failure of a background batch, and forget it.

        Returns None if no background batch has failed since the last call.
        """
        return self.deliveries.take_background_failure()

    def _refusal(self) -> KwireError | None:
        """Return the reason why records are rejected, or None if they are accepted."""
        transactions = self.transactions
        if self.failure is None and transactions and not transactions.takes_records:
            return transactions.refusal()
        return self.failure
