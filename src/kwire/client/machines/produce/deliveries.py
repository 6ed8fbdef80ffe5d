# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Deliveries``: the batches of all partitions until they are acknowledged or fail.

``Deliveries`` measures the memory of a producer and enforces the delivery timeout. It
also collects receipts and failures of background batches, for which no caller waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backoff import Backoff
from .partition_writer import Numbering, PartitionWriter
from .requests import delivery_failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....errors import KwireError
    from ..cluster import ClusterMachine
    from .options import ProducerOptions, Receipt
    from .pending_batch import PendingBatch
    from .transactions import Transactions


class Deliveries:
    """Batches of a producer that are neither acknowledged nor failed.

    * ``writers``: queues by (topic, partition).
    * ``active``: queues with batches, in the order in which they are served.
    * ``held_bytes``: total batch size in bytes, including ``open_bytes``.
    * ``open_bytes``: total size in bytes of batches that a ``Batcher`` is filling.
    * ``background_failure``: first failure of a background batch, or None.
    """

    def __init__(
        self,
        cluster: ClusterMachine,
        options: ProducerOptions,
        transactions: Transactions | None,
        on_receipt: Callable[[Receipt], None] | None,
    ) -> None:
        self.writers: dict[tuple[str, int], PartitionWriter] = {}
        self.active: dict[PartitionWriter, None] = {}
        self.held_bytes = 0
        self.open_bytes = 0
        self.background_failure: KwireError | None = None
        self._cluster = cluster
        self._options = options
        self._transactions = transactions
        self._on_receipt = on_receipt

    def writer(self, topic: str, partition: int) -> PartitionWriter:
        """Return the partition's queue, and create it on first use."""
        writer = self.writers.get((topic, partition))
        if writer is None:
            backoff = Backoff(self._cluster)
            writer = PartitionWriter(topic, partition, backoff, self.settle)
            self.writers[topic, partition] = writer
        return writer

    def hold_open(self, size: int) -> None:
        """Count ``size`` bytes as memory of open batches.

        A negative size releases memory.
        """
        self.open_bytes += size
        self.held_bytes += size

    def add(self, batch: PendingBatch, now: float) -> None:
        """Append a batch to the queue of its partition."""
        writer = self.writer(batch.topic, batch.partition)
        writer.add(batch)
        self.held_bytes += batch.size
        self.active.setdefault(writer)
        self._cluster.wake(now)

    def move_to_end(self, writer: PartitionWriter) -> None:
        """Serve all other partitions before this one from now on."""
        self.active.pop(writer, None)
        if writer.batches:
            self.active[writer] = None

    def settle(self, writer: PartitionWriter, batch: PendingBatch) -> None:
        """Release the memory of a batch that was acknowledged, failed or split.

        ``PartitionWriter`` calls this method. It also reports the result: a failure to
        the transaction, and the result of a background batch to the program.
        """
        self.held_bytes += sum(half.size for half in batch.parts) - batch.size
        if not writer.batches:
            self.active.pop(writer, None)
        if batch.failure is not None:
            self._cluster.metrics.record_error_total += batch.count
            if batch.is_background:
                self.fail_background(batch.failure)
            if self._transactions is not None:
                self._transactions.fail(batch.failure)
        elif batch.receipt is not None:
            self._cluster.note_progress()
            if batch.is_background and self._on_receipt is not None:
                self._on_receipt(batch.receipt)

    def fail_all(self, failure: KwireError, *, is_unsent: bool = False) -> None:
        """Fail all batches. If ``is_unsent`` is True, skip batches in flight."""
        for writer in list(self.active):
            for batch in list(writer.batches):
                if not (is_unsent and batch.is_in_flight):
                    writer.fail(batch, failure)

    def fail_late(self, now: float) -> None:
        """Fail the batches whose delivery timeout has passed.

        A batch in flight waits for its response, which also delays the failures of the
        batches after it. Their order in the partition is kept.
        """
        limit = self._options.delivery_timeout_s
        for writer in list(self.active):
            reason = writer.reason
            if not reason and writer.numbering is not Numbering.NEW:
                reason = "the brokers are slow"
            while writer.batches and not writer.batches[0].is_in_flight:
                batch = writer.batches[0]
                if now < batch.give_up_at:
                    self._cluster.wake(batch.give_up_at)
                    break
                reason = reason or self._cluster.reasons()
                text = f"there was no acknowledgement within {limit:g} s ({reason})"
                writer.fail(batch, delivery_failure(batch, text))

    def fail_background(self, failure: KwireError) -> None:
        """Store the first failure for ``take_background_failure``."""
        self.background_failure = self.background_failure or failure

    def take_background_failure(self) -> KwireError | None:
        """Return the first failure of a background batch, and forget it.

        Returns None if no background batch has failed since the last call.
        """
        failure, self.background_failure = self.background_failure, None
        return failure

    def forget_deleted(self) -> None:
        """Delete empty queues of partitions that no longer exist.

        A topic loses partitions only if it is deleted and created again. If it gets the
        partition again later, the leader does not know the sequence numbers of this
        producer, so the partition needs a new queue.
        """
        for (name, partition), writer in list(self.writers.items()):
            topic = self._cluster.metadata.topics.get(name)
            if topic is None or topic.error_code or not topic.partitions:
                continue
            if partition not in topic.partitions and not writer.batches:
                del self.writers[name, partition]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if queues and counters contradict each other."""
        options = self._options
        max_in_flight = options.max_in_flight if options.is_idempotent else 1
        for writer in self.writers.values():
            writer.check_invariants(max_in_flight)
        queued = sum(writer.queued_bytes for writer in self.writers.values())
        assert self.held_bytes == queued + self.open_bytes, "bytes held"
        batches = [id(b) for writer in self.writers.values() for b in writer.batches]
        assert len(batches) == len(set(batches)), "a batch is in two queues"
        with_batches = {writer for writer in self.writers.values() if writer.batches}
        assert with_batches == set(self.active), "active partitions"
