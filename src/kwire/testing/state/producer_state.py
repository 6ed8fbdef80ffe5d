# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Sequence numbers of idempotent producers in one partition (KIP-98, KIP-360).

Source: ``ProducerStateManager``, ``ProducerStateEntry`` and ``ProducerAppendInfo``.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ...schema import error_codes

CACHED_BATCHES = 5
"""Number of recent batches per producer in which a broker recognizes duplicates."""

_MAX_SEQUENCE = 0x7FFFFFFF


class SequenceRange(NamedTuple):
    """Sequence numbers of one batch, and the base offset of the batch."""

    first: int
    last: int
    base_offset: int
    timestamp_ms: int


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

    def find_duplicate(self, epoch: int, first: int, last: int) -> SequenceRange | None:
        """Return the stored batch with the same sequence numbers, or None."""
        if epoch != self.epoch:
            return None
        for batch in self.batches:
            if (batch.first, batch.last) == (first, last):
                return batch
        return None

    def check(self, epoch: int, first: int) -> int:
        """Return the error code for the next batch of a client, or 0."""
        if epoch < self.epoch:
            return error_codes.INVALID_PRODUCER_EPOCH
        if epoch > self.epoch:
            return error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER if first else 0
        if self.batches and first != (self.last_sequence + 1) & _MAX_SEQUENCE:
            return error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
        if not self.batches and first:
            return error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
        return 0


def last_sequence(first: int, record_count: int) -> int:
    """Return the last sequence number of a batch, which wraps to 0 after 2**31 - 1."""
    return (first + record_count - 1) & _MAX_SEQUENCE
