# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ProducerMachine``: writes record batches to partitions of topics, each once.

    rows -> partition -> batch -> Produce to the leader -> receipt

Batches wait in the ``PartitionWriter`` of their partition; each call of ``advance``
sends what can be sent: ``batch_sender.py``. Here is what callers give and ask for. How
rows come into batches is in ``record_batcher.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....errors import KwireError
from ...errors import ClusterError
from ..cluster import ClusterMachine
from .batch_sender import BatchSender
from .lingering_records import LingeringRecords
from .options import Receipt
from .partition_writer import PartitionWriter
from .pending_batch import BatchRecords, PendingBatch
from .wanted_topics import WantedTopics

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from random import Random

    from ..group.options import GroupMetadata
    from ..metadata import TopicInfo
    from ..settings import ClusterSettings
    from .options import ProducerOptions
    from .pending_batch import BatchContent
    from .transactions import PendingOffsets


class ProducerMachine(BatchSender):
    """A producer over the links of its own ``cluster``.

    Call ``advance`` after anything that happened, and at ``wake_at``. Topics have to be
    known before they are written to: ``want_topic``, then ``topic`` until it returns
    one. ``add_batch`` and ``append`` take records; look at ``has_room`` before.
    ``failure`` is what ended the producer, and with it every batch that was not over.
    ``background_failure`` is the first failure of what was appended, until it is taken.
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
        cluster = ClusterMachine(bootstrap, settings, now=now, random=random)
        super().__init__(cluster, settings, options, now=now, on_receipt=on_receipt)
        cluster.push_metrics("producer", cluster.read_metrics, {}, now)
        # Those of ``held_bytes`` that are in batches that are not full.
        self.open_bytes = 0
        self._new_batch = BatchRecords(
            options.max_batch_bytes,
            compression=options.compression,
            compression_level=options.compression_level,
            is_transactional=options.transactional_id is not None,
        ).new_batch
        self._writers: dict[tuple[str, int], PartitionWriter] = {}
        self.lingering = LingeringRecords(self, options)
        self._topics = WantedTopics(cluster, settings.timeout_s)
        self._cleaned_version = 0

    @property
    def wake_at(self) -> float:
        """When ``advance`` has something to do, if nothing happens before."""
        return self.cluster.wake_at

    def advance(self, now: float) -> None:
        """Do what can be done now."""
        self.cluster.advance(now)
        self.failure = self.failure or self.cluster.failure
        if self.failure is None:
            if self.cluster.version != self._cleaned_version:
                self._cleaned_version = self.cluster.version
                self._forget_deleted()
            self._topics.advance(now)
            self.lingering.close_lingering(now)
            self._expire(now)
            self._send_batches(now)
            self._advance_transactions(now)
            # Some of these may have found metadata wanting.
            self.cluster.refresh_metadata(now)
        if self.failure is not None:
            self._fail_all(self.failure)

    def close(self, now: float) -> None:
        """End all links; what is not acknowledged has failed."""
        self.failure = self.failure or ClusterError(
            "writing records: the producer is closed; make a new one"
        )
        self._fail_all(self.failure)
        self.cluster.close(now)

    # Transactions.

    def begin_transaction(self) -> None:
        """Begin a transaction, once ``transactions`` is ready for it.

        Raises ``ValueError`` while there is another.
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
        """Commit offsets of a group with the transaction; raises why not."""
        assert self.transactions is not None
        if failure := self._refusal():
            raise failure
        return self.transactions.add_offsets(member, offsets, now)

    def end_transaction(self, is_commit: bool, now: float) -> None:
        """Commit what was given since ``begin_transaction``, or abort it.

        ``transactions.is_over`` once that is done, or the producer has failed.
        """
        assert self.transactions is not None
        if self.failure is not None:
            return
        if is_commit:
            self.flush(now)
        self.transactions.end(is_commit, now)

    def _advance_transactions(self, now: float) -> None:
        transactions = self.transactions
        if transactions is None:
            return
        if transactions.is_failed:
            self._drop_unsent(transactions.refusal())
        transactions.advance(now, is_idle=self.is_idle())
        self.failure = self.failure or transactions.fatal
        if transactions.is_over:
            # It was reported as the result of the transaction.
            self.background_failure = None

    def _drop_unsent(self, failure: KwireError) -> None:
        """Fail what is not in flight, of a transaction that will be aborted."""
        for writer in list(self._active):
            for batch in [each for each in writer.batches if not each.is_sent]:
                self._fail(writer, batch, failure)
            if not writer.batches:
                del self._active[writer]
        self.lingering.abandon()

    # What is to be written.

    def want_topic(self, name: str, now: float) -> None:
        """Have the partitions of a topic found out; ``advance`` comes next."""
        self._topics.want(name, now)

    def is_settled(self, name: str) -> bool:
        """Whether a wanted topic is known, or will not be: ``topic`` reports which."""
        return self.failure is not None or self._topics.is_settled(name)

    def topic(self, name: str) -> TopicInfo | None:
        """Return what is known of a topic; None while its partitions are not.

        Raises ``ClusterError`` if it does not exist, or the producer or its transaction
        has failed.
        """
        if failure := self._refusal():
            raise failure
        return self._topics.find(name)

    @property
    def topic_names(self) -> Collection[str]:
        """Names of the topics that records were passed for."""
        return self._topics.names

    def known_topic(self, name: str) -> TopicInfo | None:
        """Return a topic that was found before; None for any other."""
        if name not in self._topics.names or self._refusal():
            return None
        return self._topics.find(name)

    def has_room(self) -> bool:
        """Whether more records may be given, or will fail at once."""
        return self.failure is not None or self.held_bytes < self.options.memory_bytes

    def is_idle(self) -> bool:
        """Whether every record that was given is acknowledged, or has failed."""
        return not self._active and self.lingering.is_empty()

    def new_batch(self) -> BatchRecords:
        """Return an empty batch of rows."""
        return self._new_batch()

    def choose_partition(self, topic: TopicInfo) -> int:
        """Choose a partition for records without a key: one that is not busy.

        Source: KIP-794, ``BuiltInPartitioner.nextPartition``.
        """
        partitions = [n for n, each in topic.partitions.items() if each.leader >= 0]
        partitions = partitions or list(topic.partitions)
        loads = [self._writer(topic.name, each).queued_bytes for each in partitions]
        most = max(loads) + self.options.max_batch_bytes
        weights = [most - load for load in loads]
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
        """Take records as one batch, after all that the partition was given before.

        ``is_lingering`` is for batches of ``appended``, which are in order already.
        """
        if not is_lingering:
            self.lingering.release(topic, partition, now)
        writer = self._writer(topic, partition)
        give_up_at = now + self.options.delivery_timeout_s
        batch = PendingBatch(
            topic,
            partition,
            content,
            give_up_at,
            is_background=is_background or is_lingering,
        )
        if failure := self._refusal():
            batch.finish(failure=failure)
            return batch
        self.held_bytes += batch.size
        writer.add(batch)
        self._active[writer] = None
        self.cluster.wake(now)
        return batch

    def append(
        self,
        topic: TopicInfo,
        partition: int | None,
        row: tuple[Any, Any, Any, Any],
        now: float,
    ) -> bool:
        """Take one record, to be sent within ``linger_s``.

        Returns whether there is more for ``advance`` to do. Without a partition the key
        decides, and records without a key go where the one before went, until that
        batch is sent. Raises ``EncodeError`` for what is no row.
        """
        if failure := self._refusal():
            raise failure
        return self.lingering.append(topic, partition, row, now)

    def flush(self, now: float) -> list[PendingBatch]:
        """Have everything that was appended sent now; return what is not over."""
        self.lingering.flush(now)
        return [batch for writer in self._active for batch in writer.batches]

    def take_background_failure(self) -> KwireError | None:
        """Return the first failure of what was appended, once."""
        failure, self.background_failure = self.background_failure, None
        return failure

    def _refusal(self) -> KwireError | None:
        """Return why no records are taken, if so."""
        transactions = self.transactions
        if self.failure is None and transactions and not transactions.takes_records:
            return transactions.refusal()
        return self.failure

    def _forget_deleted(self) -> None:
        """Forget partitions without batches that their topic no longer has.

        A topic loses partitions only if it is deleted and created again. Its brokers
        then know nothing of the sequence numbers of this producer.
        """
        for place, writer in list(self._writers.items()):
            topic = self.cluster.metadata.topics.get(place[0])
            if topic is None or topic.error_code or not topic.partitions:
                continue
            if place[1] not in topic.partitions and not writer.batches:
                del self._writers[place]

    def _writer(self, topic: str, partition: int) -> PartitionWriter:
        writer = self._writers.get((topic, partition))
        if writer is None:
            writer = self._writers[topic, partition] = PartitionWriter(topic, partition)
        return writer

    def _fail_all(self, failure: KwireError) -> None:
        for writer in self._writers.values():
            for batch in writer.clear():
                self._end(batch, failure)
        self._active.clear()
        if self.lingering.abandon():
            self.background_failure = self.background_failure or failure
        if self.transactions is not None:
            self.transactions.stop(failure)
