# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Deliveries``: the batches of all partitions from ``add`` until they are over.

It counts the bytes of a producer, fails batches that take too long, and collects the
receipts and failures of batches that no caller waits for.
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
    """The batches of a producer that are neither acknowledged nor failed.

    ``active`` contains the partitions with batches, in the order in which they are
    served. ``held_bytes`` is the size of all batches, including the ``open_bytes`` of
    batches that a ``Batcher`` still fills. ``background_failure`` is the first failure
    of a batch that no caller waits for.
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
        """Return the queue of a partition."""
        writer = self.writers.get((topic, partition))
        if writer is None:
            backoff = Backoff(self._cluster)
            writer = PartitionWriter(topic, partition, backoff, self.settle)
            self.writers[topic, partition] = writer
        return writer

    def hold_open(self, size: int) -> None:
        """Count bytes of open batches. A negative size releases them."""
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
        """Serve all other partitions before this one."""
        self.active.pop(writer, None)
        if writer.batches:
            self.active[writer] = None

    def settle(self, writer: PartitionWriter, batch: PendingBatch) -> None:
        """Release a batch that ``writer`` has acknowledged, failed or split."""
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
        """Give up all batches, or only those that are not in flight (``is_unsent``)."""
        for writer in list(self.active):
            for batch in list(writer.batches):
                if not (is_unsent and batch.is_in_flight):
                    writer.fail(batch, failure)

    def fail_late(self, now: float) -> None:
        """Give up batches that are not acknowledged within the delivery timeout."""
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
        """Keep a failure until ``take_background_failure``, unless there is one."""
        self.background_failure = self.background_failure or failure

    def take_background_failure(self) -> KwireError | None:
        """Return the first failure of a batch that no caller waits for, once."""
        failure, self.background_failure = self.background_failure, None
        return failure

    def forget_deleted(self) -> None:
        """Forget partitions without batches that their topic no longer has.

        A topic loses partitions only if it is deleted and created again. Its brokers
        then do not know the sequence numbers of this producer.
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
