# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Log of one partition: batches, leader epochs, producers and transactions.

Batches are stored as bytes, in the format of the release. Replicas share one log,
because a test cluster does not replicate. Batches are checked in ``answers/produce.py``
before they are appended here.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from ...messages import ControlRecordTypeSchema, EndTxnMarker
from ...messages.framing import encode_prefixed
from ...records import (
    BatchHeader,
    Record,
    decode_batches,
    encode_batch,
    read_batch_header,
)
from ...schema import batch_layout as layout
from .producer_state import ProducerEntry, SequenceRange

ABORT, COMMIT = 0, 1
"""Types of transaction markers, as in the keys of control records."""


class StoredBatch(NamedTuple):
    """Batch of the log: its bytes, and the values that a reader looks up."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    max_timestamp: int
    header: BatchHeader
    data: bytes


class AbortedTransaction(NamedTuple):
    """Aborted transaction. ``last_offset`` is the offset of its marker."""

    producer_id: int
    first_offset: int
    last_offset: int


class PartitionLog:
    """Log of a partition.

    * ``magic``: format of new batches, 0 to 2.
    * ``start_offset``, ``end_offset``: log start offset and log end offset.
    * ``producers``: state of idempotent producers by producer id.
    * ``retains_producers``: whether ``producers`` keeps the producers whose records
      have been deleted. Old releases forget them.
    * ``is_read_only``: whether brokers reject all changes of the log. A subclass can
      then read its batches from another place. It must override all methods that use
      ``batches``.
    """

    is_read_only = False
    retains_producers = True

    def __init__(self, magic: int = 2) -> None:
        self.magic = magic
        self.start_offset = 0
        self.end_offset = 0
        self.leader_epoch = 0
        self.size_bytes = 0
        self.batches: list[StoredBatch] = []
        self.producers: dict[int, ProducerEntry] = {}
        self.aborted: list[AbortedTransaction] = []
        self._epoch_starts: dict[int, int] = {}

    @property
    def high_watermark(self) -> int:
        """Offset up to which consumers read. Replicas never lag here."""
        return self.end_offset

    @property
    def last_stable_offset(self) -> int:
        """First offset of the oldest open transaction, or the high watermark."""
        open_since = (entry.open_since for entry in self.producers.values())
        return min(
            (offset for offset in open_since if offset is not None),
            default=self.high_watermark,
        )

    def append(self, header: BatchHeader, data: bytes) -> int:
        """Append one checked batch or message of a producer; return its base offset.

        The broker overwrites the base offset and the leader epoch, which the CRC does
        not cover.
        """
        base_offset = self.end_offset
        self._store(header, *self._place(header, data))
        if header.producer_id >= 0 and not header.is_control:
            self._note_producer(header, base_offset)
        return base_offset

    def append_records(self, records: list[Record], **options: object) -> int:
        """Encode records as a batch and append it; return its base offset.

        ``options`` are arguments of ``records.encode_batch``.
        """
        data = encode_batch(
            [(r.key, r.value, r.timestamp, r.headers) for r in records]
            if self.magic == 2
            else [(r.key, r.value, r.timestamp) for r in records],
            magic=self.magic,
            **options,  # type: ignore[arg-type]
        )
        base_offset = self.end_offset
        for header, entry in split_batches(data):
            self.append(header, entry)
        return base_offset

    def end_transaction(
        self, producer_id: int, epoch: int, marker: int, timestamp_ms: int
    ) -> None:
        """Append a transaction marker. It also starts a higher producer epoch.

        Source: ``ProducerAppendInfo.appendEndTxnMarker``.
        """
        entry = self.producers.setdefault(
            producer_id, ProducerEntry(producer_id, epoch)
        )
        if marker == ABORT and entry.open_since is not None:
            self.aborted.append(
                AbortedTransaction(producer_id, entry.open_since, self.end_offset)
            )
        entry.open_since = None
        entry.start_epoch(max(epoch, entry.epoch))
        entry.coordinator_epoch = 0
        entry.last_timestamp_ms = timestamp_ms
        data = encode_batch(
            [(_encode(ControlRecordTypeSchema(type=marker)), _END, timestamp_ms)],
            producer_id=producer_id,
            producer_epoch=epoch,
            is_transactional=True,
            is_control=True,
        )
        ((header, entry_data),) = split_batches(data)
        self._store(header, *self._place(header, entry_data))

    def start_leader_epoch(self, leader_epoch: int) -> None:
        """Start a leader epoch, in which following batches are stored.

        Earlier epochs without batches are forgotten.
        Source: ``LeaderEpochFileCache.assign``.
        """
        self.leader_epoch = leader_epoch
        self._epoch_starts = {
            epoch: start
            for epoch, start in self._epoch_starts.items()
            if start < self.end_offset
        }
        self._epoch_starts[leader_epoch] = self.end_offset

    def find_leader_epoch(self, offset: int) -> int:
        """Return the leader epoch of an offset, or the current one after the end."""
        position = bisect_left(
            self.batches, offset, key=lambda batch: batch.last_offset
        )
        batches = self.batches[position : position + 1]
        return batches[0].leader_epoch if batches else self.leader_epoch

    def find_epoch_end(self, leader_epoch: int) -> tuple[int, int]:
        """Return the largest epoch up to ``leader_epoch`` and its end offset.

        Returns (-1, -1) if there is none.
        Source: ``LeaderEpochFileCache.endOffsetFor``.
        """
        if leader_epoch < 0:
            return -1, -1
        starts = self._epoch_starts
        if leader_epoch == self.leader_epoch:
            return leader_epoch, self.end_offset
        earlier_epochs = [epoch for epoch in starts if epoch <= leader_epoch]
        later_starts = [
            start for epoch, start in starts.items() if epoch > leader_epoch
        ]
        if not later_starts:
            return -1, -1
        # Epochs before the first cached epoch end at its start.
        return max(earlier_epochs, default=leader_epoch), min(later_starts)

    def delete_records_before(self, offset: int) -> None:
        """Increase the log start offset.

        The batches remain, because a broker only deletes complete segments.
        """
        self.start_offset = max(self.start_offset, min(offset, self.end_offset))
        if not self.retains_producers:
            self._forget_producers()

    def truncate(self, offset: int) -> None:
        """Remove the batches that contain ``offset`` or are after it.

        An unclean leader election loses records in this way.
        """
        remaining = [batch for batch in self.batches if batch.last_offset < offset]
        end_offset = remaining[-1].last_offset + 1 if remaining else self.start_offset
        self.end_offset = min(self.end_offset, end_offset)
        self.start_offset = min(self.start_offset, self.end_offset)
        self._epoch_starts = {
            epoch: start
            for epoch, start in self._epoch_starts.items()
            if start < self.end_offset
        }
        self.aborted = [a for a in self.aborted if a.last_offset < self.end_offset]
        self._keep(remaining)
        self._rebuild_producers()

    def read(self, offset: int, max_bytes: int, limit: int, minimum_one: bool) -> bytes:
        """Return the batches from ``offset`` to the offset ``limit``.

        The last batch is truncated at ``max_bytes``, as in a broker. With
        ``minimum_one``, the first batch is always complete (KIP-74).
        """
        pieces: list[bytes] = []
        size = 0
        position = bisect_left(
            self.batches, offset, key=lambda batch: batch.last_offset
        )
        for index in range(position, len(self.batches)):
            batch = self.batches[index]
            if batch.base_offset >= limit:
                break
            if size + len(batch.data) > max_bytes and not (minimum_one and not pieces):
                pieces.append(batch.data[: max(max_bytes - size, 0)])
                break
            pieces.append(batch.data)
            size += len(batch.data)
        return b"".join(pieces) if len(pieces) != 1 else pieces[0]

    def find_aborted(self, offset: int, limit: int) -> list[AbortedTransaction]:
        """List the aborted transactions with records between two offsets."""
        return [
            transaction
            for transaction in self.aborted
            if transaction.last_offset >= offset and transaction.first_offset < limit
        ]

    def find_timestamp(self, timestamp_ms: int) -> tuple[int, int, int] | None:
        """Find the first record that is not older than a timestamp.

        Returns its offset, its timestamp, and its leader epoch, or None.
        """
        return self._find_timestamp(timestamp_ms, self.start_offset)

    def _find_timestamp(
        self, timestamp_ms: int, first_offset: int
    ) -> tuple[int, int, int] | None:
        for batch in self.batches:
            if batch.max_timestamp < timestamp_ms:
                continue
            for record in decode_entry(batch):
                is_readable = record.offset >= first_offset
                if is_readable and record.timestamp >= timestamp_ms:
                    return record.offset, record.timestamp, batch.leader_epoch
        return None

    def find_max_timestamp(self) -> tuple[int, int, int] | None:
        """Find the first record with the largest timestamp (KIP-734).

        Its offset can be below the log start offset, as in a broker.
        """
        newest = max((batch.max_timestamp for batch in self.batches), default=-1)
        return None if newest < 0 else self._find_timestamp(newest, first_offset=0)

    def records(self) -> Iterator[Record]:
        """Iterate over all records, without transaction markers."""
        for batch in self.batches:
            if not batch.header.is_control:
                for record in decode_entry(batch):
                    if record.offset >= self.start_offset:
                        yield record

    def has_offset(self, offset: int) -> bool:
        """Whether a Fetch can start at an offset. The log end offset is allowed."""
        return self.start_offset <= offset <= self.end_offset

    def _place(self, header: BatchHeader, data: bytes) -> tuple[bytes, int]:
        """Return the bytes of an entry at the log end offset, and its offset count."""
        base = struct.pack(">q", self.end_offset)
        if header.magic == 2:
            epoch = struct.pack(">i", self.leader_epoch)
            offset_count = header.last_offset - header.base_offset + 1
            size = data[layout.SIZE_AT : layout.LEADER_EPOCH_AT]
            parts = base, size, epoch, data[layout.MAGIC_AT :]
            return b"".join(parts), offset_count
        if header.compression == "none":
            return base + data[layout.SIZE_AT :], 1
        (batch,) = decode_batches(data)
        offset_count = len(batch.records)
        if header.magic == 1:
            # Offsets in the payload are relative, and the wrapper has the last one.
            last_offset = self.end_offset + offset_count - 1
            base = struct.pack(">q", last_offset)
            return base + data[layout.SIZE_AT :], offset_count
        return encode_batch(
            [(record.key, record.value) for record in batch.records],
            magic=0,
            compression=header.compression,
            base_offset=self.end_offset,
        ), offset_count

    def _store(self, header: BatchHeader, data: bytes, offset_count: int) -> None:
        base_offset = self.end_offset
        self._epoch_starts.setdefault(self.leader_epoch, base_offset)
        stored = StoredBatch(
            base_offset,
            base_offset + offset_count - 1,
            self.leader_epoch if header.magic == 2 else -1,
            header.max_timestamp,
            header,
            data,
        )
        self.batches.append(stored)
        self.size_bytes += len(data)
        self.end_offset = base_offset + offset_count

    def _note_producer(self, header: BatchHeader, base_offset: int) -> None:
        producer_id = header.producer_id
        entry = self.producers.setdefault(
            producer_id, ProducerEntry(producer_id, header.producer_epoch)
        )
        entry.start_epoch(header.producer_epoch)
        if header.base_sequence >= 0:
            entry.batches.append(
                SequenceRange(
                    header.base_sequence,
                    header.last_sequence,
                    base_offset,
                    header.max_timestamp,
                )
            )
        entry.last_timestamp_ms = header.max_timestamp
        if header.is_transactional and entry.open_since is None:
            entry.open_since = base_offset

    def _forget_producers(self) -> None:
        """Forget the producers whose batches have all been deleted."""
        for producer_id, entry in list(self.producers.items()):
            entry.forget_batches_before(self.start_offset)
            if not entry.batches and entry.open_since is None:
                del self.producers[producer_id]

    def _rebuild_producers(self) -> None:
        """Read the producers again from the batches, as a broker does at its start."""
        self.producers = {}
        for batch in self.batches:
            header = batch.header
            if header.producer_id < 0:
                continue
            if header.is_control:
                entry = self.producers.setdefault(
                    header.producer_id,
                    ProducerEntry(header.producer_id, header.producer_epoch),
                )
                entry.open_since = None
                entry.start_epoch(header.producer_epoch)
            else:
                self._note_producer(header, batch.base_offset)

    def _keep(self, batches: list[StoredBatch]) -> None:
        self.batches = batches
        self.size_bytes = sum(len(batch.data) for batch in batches)


def _encode(message: ControlRecordTypeSchema | EndTxnMarker) -> bytes:
    return encode_prefixed(message, 0)


_END = _encode(EndTxnMarker(coordinator_epoch=0))
"""Value of transaction markers."""


def split_batches(data: bytes) -> Iterator[tuple[BatchHeader, bytes]]:
    """Split a record set into its entries: batches, or messages of magic 0 and 1.

    Raises ``DecodeError`` if an entry is truncated or has an invalid header.
    """
    position = 0
    while position < len(data):
        header = read_batch_header(data, position)
        if header is None:
            break
        yield header, bytes(data[position : position + header.size])
        position += header.size


def decode_entry(batch: StoredBatch) -> tuple[Record, ...]:
    """Return the records of a stored batch or message."""
    return tuple(
        record for entry in decode_batches(batch.data) for record in entry.records
    )
