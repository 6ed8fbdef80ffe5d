# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``PartitionWriter``: the batches of one partition, and their sequence numbers.

    add -> batches [ in flight | waiting ... ] -> acknowledge, fail or split

A broker accepts a producer's batches only in sequence number order, and detects
duplicates by these numbers. Therefore, a batch keeps its sequence number when it is
sent again, and it is sent before all other batches of its partition.

If a numbered batch fails, the broker would reject all later sequence numbers. In this
case, the producer continues with the next epoch, in which sequence numbers start at 0.

``batch_sender.py`` sends the requests.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from ..scan.partition_reader import make_redirect_pace
from .pending_batch import next_sequence

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....errors import KwireError
    from ..backoff import Backoff
    from ..pace import Pace
    from .pending_batch import PendingBatch

_LAST_EPOCH = (1 << 15) - 1


class Numbering(Enum):
    """Whether the leader accepts the next sequence number in the current epoch."""

    NEW = auto()
    """No batch is acknowledged. The leader accepts any sequence number as the first
    one, so only one batch may be in flight."""
    ESTABLISHED = auto()
    """A batch is acknowledged. The leader expects the sequence number after it."""
    FORGOTTEN = auto()
    """The leader has lost the state of this producer. The next epoch is required."""
    BROKEN = auto()
    """A batch with a sequence number has failed. The next epoch is required."""


@dataclass(slots=True, eq=False, repr=False)
class PartitionWriter:
    """Queue of batches for one partition, with the state of their numbering.

    ``BatchSender`` requests the next batch with ``next_batch``, numbers it with
    ``number``, and sends it. For each response it calls ``acknowledge``, ``fail``,
    ``split`` or ``retry``. If ``needs_epoch`` is True, it calls ``raise_epoch`` before
    it sends more batches.

    * ``queued_bytes``: size of all batches in the queue.
    * ``reason``: description of the last failed attempt, or an empty string.
    * ``producer_id``, ``producer_epoch``: -1 until ``set_producer`` is called.
    """

    topic: str
    partition: int
    backoff: Backoff
    # Called with this object and each batch that was acknowledged, failed or split.
    _settle: Callable[[PartitionWriter, PendingBatch], None]
    batches: deque[PendingBatch] = field(default_factory=deque)
    queued_bytes: int = 0
    reason: str = ""
    numbering: Numbering = Numbering.NEW
    producer_id: int = -1
    producer_epoch: int = -1
    _next_sequence: int = 0
    # Number of batches that were numbered so far, in all epochs together.
    _numbered: int = 0
    # Redirects have their own limit, because each acknowledged batch resets
    # ``backoff``.
    _redirects: Pace = field(default_factory=make_redirect_pace)

    @property
    def name(self) -> str:
        """Topic and partition in Kafka's notation: "orders-3"."""
        return f"{self.topic}-{self.partition}"

    @property
    def in_flight(self) -> int:
        """Number of batches that wait for a response."""
        return sum(batch.is_in_flight for batch in self.batches)

    @property
    def needs_epoch(self) -> bool:
        """Whether the leader would reject further batches of the current epoch."""
        return self.numbering in (Numbering.FORGOTTEN, Numbering.BROKEN)

    def next_batch(self, max_in_flight: int) -> PendingBatch | None:
        """Return the batch to send next, or None if a response must arrive first.

        A batch is repeated alone, before all other batches, because the broker rejects
        all batches after a missing one.

        The broker recognizes only the last five batches of a producer as duplicates.
        The oldest batch without an acknowledgement may have to be repeated, so it must
        remain one of these five batches. Therefore, ``max_in_flight`` limits the number
        of batches that are sent from this batch on, including acknowledged batches.
        """
        if not self.batches:
            return None
        first = self.batches[0]
        if not first.is_in_flight:
            return first
        if first.attempts > 1:
            return None
        if self.numbering is Numbering.NEW:
            max_in_flight = 1
        for batch in self.batches:
            if not batch.is_in_flight:
                is_free = self._numbered - first.ordinal < max_in_flight
                return batch if is_free and not batch.attempts else None
        return None

    # Methods that change epochs and sequence numbers.

    def set_producer(self, producer_id: int, producer_epoch: int) -> None:
        """Use another producer id and epoch, in which sequence numbers start at 0."""
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self._restart()

    def raise_epoch(self) -> None:
        """Use the next epoch, in which sequence numbers start at 0.

        The broker rejects batches of the previous epoch that arrive later. After the
        last epoch (32767), the producer id is -1 until ``set_producer`` is called.
        """
        if self.producer_epoch >= _LAST_EPOCH:
            self.producer_id = self.producer_epoch = -1
        else:
            self.producer_epoch += 1
        self._restart()

    def number(self, batch: PendingBatch) -> None:
        """Set the sequence number of a batch, unless it has one."""
        if batch.sequence < 0:
            batch.number(self._next_sequence, self._numbered)
            self._numbered += 1
            self._next_sequence = next_sequence(batch.sequence, batch.count)

    def note_forgotten(self) -> None:
        """Record that the leader has lost the state of this producer."""
        if self.numbering is not Numbering.BROKEN:
            self.numbering = Numbering.FORGOTTEN

    def _restart(self) -> None:
        self._next_sequence = 0
        self.numbering = Numbering.NEW
        for batch in self.batches:
            batch.forget_numbers()

    # Methods that change the queue of batches.

    def add(self, batch: PendingBatch) -> None:
        """Append a batch to the queue."""
        self.batches.append(batch)
        self.queued_bytes += batch.size

    def acknowledge(self, batch: PendingBatch, offset: int, timestamp: int) -> None:
        """Remove a batch that the leader has acknowledged.

        ``offset`` is the base offset or -1, and ``timestamp`` (ms) the log append time
        or -1.
        """
        self.backoff.reset()
        self.reason = ""
        if self.numbering is Numbering.NEW:
            self.numbering = Numbering.ESTABLISHED
        batch.acknowledge(offset, timestamp)
        self._remove(batch)

    def fail(self, batch: PendingBatch, failure: KwireError) -> None:
        """Remove a batch that has failed and will not be sent again."""
        if batch.sequence >= 0:
            self.numbering = Numbering.BROKEN
        batch.fail(failure)
        self._remove(batch)

    def split(self, batch: PendingBatch) -> None:
        """Replace a batch by two halves, which are sent separately."""
        index = self.batches.index(batch)
        for half in reversed(batch.split()):
            self.batches.insert(index + 1, half)
            self.queued_bytes += half.size
        self._remove(batch)

    def retry(self, reason: str, now: float) -> None:
        """Delay the next attempt after a failed one."""
        self.reason = reason
        if self.backoff.retry_at <= now:
            # During the pause, count no further failures: several requests that were
            # in flight may fail for the same reason.
            operation, not_before = f"writing {self.name}", self._redirects.next_at
            self.backoff.fail(now, operation, reason, not_before=not_before)

    def redirect(self, now: float) -> bool:
        """Count a redirect to another broker.

        Returns whether the next attempt may be sent without a pause.
        """
        self._redirects.note(now)
        return self._redirects.next_at <= now

    def _remove(self, batch: PendingBatch) -> None:
        self.batches.remove(batch)
        self.queued_bytes -= batch.size
        self._settle(self, batch)

    def check_invariants(self, max_in_flight: int) -> None:
        """Raise ``AssertionError`` if the queue contradicts itself."""
        batches, name = self.batches, self.name
        size = sum(batch.size for batch in batches)
        assert self.queued_bytes == size, f"{name}: queued bytes"
        assert self.in_flight <= max_in_flight, f"{name}: too many batches in flight"
        if self.numbering is Numbering.NEW:
            assert self.in_flight <= 1, f"{name}: the leader does not know the order"
        previous: PendingBatch | None = None
        for batch in batches:
            batch.check_invariants()
            assert not batch.is_over, f"{name}: a batch is over, but in the queue"
            assert (batch.topic, batch.partition) == (self.topic, self.partition)
            assert batch is batches[0] or not batch.is_in_flight or batch.attempts == 1
            if previous is not None and self.numbering is not Numbering.BROKEN:
                has_number = batch.sequence >= 0
                assert previous.sequence >= 0 or not has_number, f"{name}: number order"
                if has_number and batch.ordinal - previous.ordinal <= 1:
                    expected = next_sequence(previous.sequence, previous.count)
                    assert batch.sequence == expected, f"{name}: sequence gap"
            previous = batch
