# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Sequence numbers of idempotent producers in one partition (KIP-98, KIP-360).

Source: ``ProducerStateManager``, ``ProducerStateEntry`` and ``ProducerAppendInfo``.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ...schema import error_codes
from .features import (
    ACCEPTS_UNKNOWN_PRODUCERS,
    CACHES_FIVE_BATCHES,
    REPORTS_UNKNOWN_PRODUCERS,
    is_since,
)

CACHED_BATCHES = 5
"""Number of recent batches per producer in which a broker recognizes duplicates."""

_MAX_SEQUENCE = 0x7FFFFFFF


class SequenceRange(NamedTuple):
    """Sequence numbers of one batch, and the base offset of the batch."""

    first: int
    last: int
    base_offset: int
    timestamp_ms: int

    @property
    def last_offset(self) -> int:
        """Offset of the last record of the batch."""
        return self.base_offset + ((self.last - self.first) & _MAX_SEQUENCE)


class ProducerEntry:
    """State of one producer: epoch, last batches and open transaction.

    * ``coordinator_epoch``: epoch of the coordinator that wrote the last marker.
    * ``open_since``: first offset of the open transaction, or None.
    """

    def __init__(self, producer_id: int, epoch: int) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.batches: deque[SequenceRange] = deque(maxlen=CACHED_BATCHES)
        self.open_since: int | None = None
        self.coordinator_epoch = -1
        self.last_timestamp_ms = -1

    @property
    def last_sequence(self) -> int:
        """Last sequence number of the current epoch, or -1 if there is none."""
        return self.batches[-1].last if self.batches else -1

    def start_epoch(self, epoch: int) -> None:
        """Start a new epoch, in which sequence numbers start at 0."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()

    def find_duplicate(
        self, epoch: int, first: int, last: int, release: str
    ) -> SequenceRange | None:
        """Return the stored batch with the same sequence numbers, or None."""
        if epoch != self.epoch:
            return None
        count = CACHED_BATCHES if is_since(release, CACHES_FIVE_BATCHES) else 1
        for batch in list(self.batches)[-count:]:
            if (batch.first, batch.last) == (first, last):
                return batch
        return None

    def forget_batches_before(self, offset: int) -> None:
        """Forget the batches whose records have been deleted."""
        while self.batches and self.batches[0].last_offset < offset:
            self.batches.popleft()


def check_sequence(
    entry: ProducerEntry | None, epoch: int, first: int, release: str
) -> int:
    """Return the error code for the next batch of a producer, or 0.

    * ``entry``: state of the producer in the partition, or None if it is unknown.
    * ``first``: first sequence number of the batch.
    """
    unknown_error = (
        error_codes.UNKNOWN_PRODUCER_ID
        if is_since(release, REPORTS_UNKNOWN_PRODUCERS)
        and not is_since(release, ACCEPTS_UNKNOWN_PRODUCERS)
        else error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    )
    if entry is None:
        is_accepted = not first or is_since(release, ACCEPTS_UNKNOWN_PRODUCERS)
        return error_codes.NONE if is_accepted else unknown_error
    if epoch < entry.epoch:
        return error_codes.INVALID_PRODUCER_EPOCH
    if epoch > entry.epoch:
        return error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER if first else 0
    if not entry.batches:
        # Only a transaction marker of this epoch is left.
        return unknown_error if first else error_codes.NONE
    if first != (entry.last_sequence + 1) & _MAX_SEQUENCE:
        return error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    return error_codes.NONE


def last_sequence(first: int, record_count: int) -> int:
    """Return the last sequence number of a batch, which wraps to 0 after 2**31 - 1."""
    return (first + record_count - 1) & _MAX_SEQUENCE
