# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``PartitionWriter``: the batches of one partition, and their sequence numbers.

    add -> batches [ in flight | waiting ... ] -> receipts

A broker takes the batches of one producer by sequence, and reports one that it has
already. So a batch is sent again with the number it had, and only as the first of its
partition. When records are given up, the numbers after them never come; then the epoch
goes up and numbers begin at 0. Requests and brokers are ``batch_sender.py``'s.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ..scan.partition_reader import make_redirect_pace
from .pending_batch import next_sequence

if TYPE_CHECKING:
    from .pending_batch import PendingBatch

_LAST_EPOCH = (1 << 15) - 1


class PartitionWriter:
    """The batches of one partition in order, and the producer's numbers for it."""

    __slots__ = (
        "_next_sequence",
        "_numbered",
        "batches",
        "failures",
        "has_gap",
        "is_established",
        "needs_epoch",
        "partition",
        "producer_epoch",
        "producer_id",
        "queued_bytes",
        "reason",
        "redirects",
        "retry_at",
        "topic",
    )

    def __init__(self, topic: str, partition: int) -> None:
        self.topic = topic
        self.partition = partition
        # To be changed by the methods alone, which count the bytes.
        self.batches: deque[PendingBatch] = deque()
        self.queued_bytes = 0
        self.failures = 0
        self.retry_at = 0.0
        self.redirects = make_redirect_pace()
        # Why the last try came to nothing.
        self.reason = ""
        self.producer_id = -1
        self.producer_epoch = -1
        self._next_sequence = 0
        self._numbered = 0
        # Whether the broker has taken a batch of this epoch: it takes any sequence
        # number as the first one.
        self.is_established = False
        # Whether records with a sequence number were given up; and whether the broker
        # has lost what it had of this producer.
        self.has_gap = False
        self.needs_epoch = False

    @property
    def name(self) -> str:
        """Topic and partition as Kafka writes them: "orders-3"."""
        return f"{self.topic}-{self.partition}"

    @property
    def in_flight(self) -> int:
        """The number of batches that wait for a response."""
        return sum(each.is_sent for each in self.batches)

    def next_batch(self, most_in_flight: int) -> PendingBatch | None:
        """Return the batch to send next; None while others have to be answered first.

        A batch is sent again alone, as the first: the broker rejects all that come
        after one that it has not. It knows the last five batches of a producer, and no
        older one to be a duplicate. So no more are sent after the first than that,
        acknowledged or not.
        """
        first = self.batches[0] if self.batches else None
        if first is None or first.attempts > 1 or not first.is_sent:
            return None if first is None or first.is_sent else first
        for batch in self.batches:
            if batch.is_sent:
                continue
            if batch.attempts or self._numbered - first.ordinal >= most_in_flight:
                return None
            return batch
        return None

    def set_producer(self, producer_id: int, producer_epoch: int) -> None:
        """Begin with the first sequence number of a producer id."""
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self._restart()

    def raise_epoch(self) -> None:
        """Begin with the first sequence number again, in the next epoch.

        The broker rejects what is still on its way from the epoch before. After the
        last epoch there is no producer id, until ``set_producer``.
        """
        if self.producer_epoch >= _LAST_EPOCH:
            self.producer_id = self.producer_epoch = -1
        else:
            self.producer_epoch += 1
        self._restart()

    def number(self, batch: PendingBatch) -> None:
        """Give a batch its sequence number, unless it has one."""
        if batch.sequence < 0:
            batch.sequence = self._next_sequence
            batch.ordinal = self._numbered
            self._numbered += 1
            self._next_sequence = next_sequence(batch.sequence, batch.count)

    def add(self, batch: PendingBatch) -> None:
        """Put a batch after all others."""
        self.batches.append(batch)
        self.queued_bytes += batch.size

    def remove(self, batch: PendingBatch) -> None:
        """Take a batch out that is over."""
        self.batches.remove(batch)
        self.queued_bytes -= batch.size

    def clear(self) -> list[PendingBatch]:
        """Take all batches out and return them."""
        taken = list(self.batches)
        self.batches.clear()
        self.queued_bytes = 0
        return taken

    def replace(self, batch: PendingBatch, parts: tuple[PendingBatch, ...]) -> None:
        """Put the parts of a batch in its place."""
        index = self.batches.index(batch)
        self.remove(batch)
        for part in reversed(parts):
            self.batches.insert(index, part)
            self.queued_bytes += part.size

    def _restart(self) -> None:
        self._next_sequence = 0
        self.is_established = False
        self.has_gap = self.needs_epoch = False
        for batch in self.batches:
            batch.forget_numbers()
