# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``PendingBatch``: a record batch from the time at which it is full until its receipt.

Only the methods of ``PendingBatch`` change its state. ``TRANSITIONS`` lists the states
and events. DESIGN.md contains the same table. ``partition_writer.py`` and
``batch_sender.py`` call the methods.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from .options import Receipt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ....errors import KwireError
    from .batch_records import BatchContent


class BatchState(Enum):
    """State of a batch. WRITTEN, FAILED and SPLIT are final."""

    SEALED = auto()
    """Complete, but not sent yet."""
    IN_FLIGHT = auto()
    """Waiting for a response. No earlier attempt can have written the batch."""
    RETRYING = auto()
    """To be sent again. The broker has rejected the batch without writing it."""
    IN_DOUBT = auto()
    """To be sent again. An earlier attempt may have written the batch."""
    RESENT = auto()
    """Waiting for a response. An earlier attempt may have written the batch."""
    WRITTEN = auto()
    """Acknowledged by the broker, or sent with ``acks=0``."""
    FAILED = auto()
    """Not to be sent again. ``PendingBatch.failure`` is the reason."""
    SPLIT = auto()
    """Replaced by two halves, because the broker has rejected it as too large."""


_S = BatchState
TRANSITIONS: Mapping[str, Mapping[BatchState, BatchState]] = {
    "send": {
        _S.SEALED: _S.IN_FLIGHT,
        _S.RETRYING: _S.IN_FLIGHT,
        _S.IN_DOUBT: _S.RESENT,
    },
    "reject": {_S.IN_FLIGHT: _S.RETRYING, _S.RESENT: _S.IN_DOUBT},
    "lose": {_S.IN_FLIGHT: _S.IN_DOUBT, _S.RESENT: _S.IN_DOUBT},
    "split": {_S.IN_FLIGHT: _S.SPLIT},
    "acknowledge": {_S.IN_FLIGHT: _S.WRITTEN, _S.RESENT: _S.WRITTEN},
    "fail": dict.fromkeys(
        (_S.SEALED, _S.IN_FLIGHT, _S.RETRYING, _S.IN_DOUBT, _S.RESENT), _S.FAILED
    ),
}
"""Next state by event and current state. Events are the names of ``PendingBatch``
methods, which must not be called in any other state.
"""


@dataclass(slots=True, eq=False, repr=False)
class PendingBatch:
    """Batch to be delivered, with its content, numbers and state.

    * ``give_up_at``: time at which the delivery timeout passes.
    * ``attempts``: number of times that its records were sent.
    * ``count``: number of records.
    * ``size``: upper bound for the size of the encoded batch in bytes.
    * ``receipt``: set in the state WRITTEN.
    * ``failure``: set in the state FAILED.
    * ``parts``: set in the state SPLIT.
    """

    topic: str
    partition: int
    content: BatchContent | None
    give_up_at: float
    # True if no caller waits for the batch. The next flush reports its failure.
    is_background: bool = False
    state: BatchState = BatchState.SEALED
    attempts: int = 0
    # Sequence number of the first record, or -1 if the batch has none yet.
    sequence: int = -1
    # Number of batches of the partition that were numbered before this one, or -1 if
    # this batch has no sequence number yet.
    ordinal: int = -1
    # Encoded batch. None if the next attempt has to encode it, and after the delivery.
    data: bytes | None = None
    # Magic of the record format in which the batch was last encoded, or -1.
    magic: int = -1
    parts: tuple[PendingBatch, ...] = ()
    receipt: Receipt | None = None
    failure: KwireError | None = None
    count: int = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        assert self.content is not None
        self.count = len(self.content)
        self.size = self.content.size_bound_bytes

    @property
    def is_in_flight(self) -> bool:
        """Whether the batch is waiting for a response."""
        return self.state is BatchState.IN_FLIGHT or self.state is BatchState.RESENT

    @property
    def is_in_doubt(self) -> bool:
        """Whether the log may contain the batch, although it is not acknowledged."""
        return self.state is BatchState.IN_DOUBT or self.state is BatchState.RESENT

    @property
    def is_over(self) -> bool:
        """Whether all records of the batch and its parts are acknowledged or failed."""
        if self.parts:
            return all(part.is_over for part in self.parts)
        return self.receipt is not None or self.failure is not None

    def leaves(self) -> Iterator[PendingBatch]:
        """Iterate over the batch, or over all final parts if it was split."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()

    # Methods that set the sequence number and the encoded batch.

    def number(self, sequence: int, ordinal: int) -> None:
        """Set the sequence number of the first record.

        ``ordinal`` is the number of batches of the partition that were numbered before
        this batch.
        """
        assert self.sequence < 0, "a batch keeps its sequence number within an epoch"
        self.sequence = sequence
        self.ordinal = ordinal

    def forget_numbers(self) -> None:
        """Remove the sequence number, because the producer's epoch has changed.

        The batch is encoded again with a sequence number of the new epoch.
        """
        assert not self.is_in_flight, "a batch in flight keeps its sequence number"
        self.data = None
        self.sequence = -1

    def set_data(self, data: bytes, magic: int) -> None:
        """Store the encoded batch for this attempt and the next ones."""
        self.data = data
        self.magic = magic

    # Events, which change the state as ``TRANSITIONS`` defines.

    def send(self) -> None:
        """Record that the batch was sent."""
        self._move("send")
        self.attempts += 1

    def reject(self) -> None:
        """Record that the broker has rejected the batch without writing it."""
        self._move("reject")

    def lose(self) -> None:
        """Record that the last attempt may have written the batch.

        Either there was no response, or an error that can occur after the append.
        """
        self._move("lose")

    def split(self) -> tuple[PendingBatch, PendingBatch]:
        """Split the batch in two. The records keep their sequence numbers."""
        assert self.content is not None
        self._move("split")
        first, second = (
            PendingBatch(
                self.topic,
                self.partition,
                content,
                self.give_up_at,
                self.is_background,
                BatchState.RETRYING,
                self.attempts,
            )
            for content in self.content.halves()
        )
        if self.sequence >= 0:
            first.number(self.sequence, self.ordinal)
            second.number(next_sequence(self.sequence, first.count), self.ordinal)
        self.parts = first, second
        self.content = self.data = None
        return first, second

    def acknowledge(self, offset: int, timestamp: int) -> None:
        """Record that the log contains the batch, and release its memory."""
        self._move("acknowledge")
        self.receipt = Receipt(
            self.topic, self.partition, offset, timestamp, self.count
        )
        self.content = self.data = None

    def fail(self, failure: KwireError) -> None:
        """Record that the batch will not be sent again, and release its memory."""
        self._move("fail")
        self.failure = failure
        self.content = self.data = None

    def _move(self, event: str) -> None:
        following = TRANSITIONS[event].get(self.state)
        assert following is not None, f"{event}: the batch is {self.state.name}"
        self.state = following

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts the other fields."""
        assert (self.state is BatchState.WRITTEN) == (self.receipt is not None)
        assert (self.state is BatchState.FAILED) == (self.failure is not None)
        assert (self.state is BatchState.SPLIT) == bool(self.parts)
        is_final = self.is_over or bool(self.parts)
        assert is_final == (self.content is None), "only final batches have no content"
        assert (self.state is BatchState.SEALED) <= (self.attempts == 0)
        assert self.is_in_flight <= (self.data is not None and self.attempts > 0)


def next_sequence(sequence: int, count: int) -> int:
    """Return the sequence number after ``count`` records.

    The maximum, 2**31 - 1, is followed by 0.
    Source: ``DefaultRecordBatch.incrementSequence``.
    """
    return (sequence + count) & 0x7FFFFFFF
