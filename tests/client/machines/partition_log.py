# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Log of a simulated partition: batches, transactions, retention, compaction.

The log remembers every written record and what happened to it. A test can therefore
compute the records that a reader must receive.
"""

from __future__ import annotations

from typing import NamedTuple

COMMIT, ABORT = 1, 0


class StoredBatch(NamedTuple):
    """Batch in the log.

    * ``epoch``: leader epoch of the batch.
    * ``data``: the encoded batch.
    * ``values``: value of each record by offset.
    * ``producer_id``: -1 if the batch is not transactional.
    """

    base_offset: int
    last_offset: int
    epoch: int
    data: bytes
    values: dict[int, bytes]
    producer_id: int = -1
    is_control: bool = False


class Produced(NamedTuple):
    """Batch from an idempotent producer.

    * ``first``, ``last``: first and last sequence number.
    * ``base_offset``: offset of the first record.
    """

    producer_id: int
    epoch: int
    first: int
    last: int
    base_offset: int


class Aborted(NamedTuple):
    """Aborted transaction in a Fetch response.

    ``last_offset`` is the offset of its abort marker, which responses do not contain.
    """

    producer_id: int
    first_offset: int
    last_offset: int


class PartitionLog:
    """Log of one partition.

    ``append`` and similar methods write the log, and ``read`` returns bytes from it.
    """

    def __init__(self, kwire, name, random):
        """Start empty in leader epoch 0."""
        self.name = name
        self.start = 0
        self.end = 0
        self.epoch = 0
        self.batches: list[StoredBatch] = []
        self.epoch_starts = {0: 0}
        self.unseen = 0
        """Number of records at the end that a new leader does not return yet."""
        self.open: dict[int, int] = {}
        self.aborted: list[Aborted] = []
        self.ever: dict[int, set[bytes]] = {}
        """All values that have ever been readable at an offset."""
        self.last: dict[int, bytes] = {}
        """Newest value that was written at an offset, by offset.

        Compaction does not change it.
        """
        self.cut: list[int] = []
        """Log end offsets after log truncations, in order."""
        self.produced: list[Produced] = []
        """Batches of idempotent producers, in order."""
        self.acknowledged = 0
        """Offset after the last record that was acknowledged to a producer."""
        self.max_bytes = 1 << 20
        """Maximum size of a batch from a producer."""
        self.magic = 2
        """Magic of the stored batches."""
        self._kwire = kwire
        self._random = random
        self._number = 0

    @property
    def high_watermark(self):
        """Offset up to which consumers can read. In a new leader, it lags (KIP-207)."""
        return max(self.end - self.unseen, self.start)

    @property
    def last_stable(self):
        """Last stable offset: the start of the oldest open transaction.

        Without an open transaction, it is the high watermark.
        """
        return min(self.open.values(), default=self.high_watermark)

    @property
    def size(self):
        """Size of all batches in bytes."""
        return sum(len(batch.data) for batch in self.batches)

    def append(self, count, producer_id=-1):
        """Append a batch of ``count`` records.

        The batch is transactional if it has a ``producer_id``.
        """
        random = self._random
        base = self.end
        rows, values = [], {}
        for index in range(count):
            self._number += 1
            value = b"%s#%d" % (self.name.encode(), self._number)
            values[base + index] = value
            rows.append((b"key-%d" % random.randrange(5), value, 1000 + self._number))
        if producer_id >= 0:
            self.open.setdefault(producer_id, base)
        self._store(rows, values, producer_id)

    def append_bytes(self, data, count):
        """Append one batch as bytes. It occupies ``count`` offsets."""
        last = self.end + count - 1
        self.batches.append(StoredBatch(self.end, last, self.epoch, data, {}))
        self.end = last + 1

    def take(self, batch):
        """Append the batch of a producer; return the offset of its first record."""
        base = self.end
        values = {base + n: row.value for n, row in enumerate(batch.records)}
        rows = [(row.key, row.value, row.timestamp) for row in batch.records]
        producer_id = batch.producer_id if batch.is_transactional else -1
        if producer_id >= 0:
            self.open.setdefault(producer_id, base)
        self._store(rows, values, producer_id)
        if batch.producer_id >= 0:
            first = batch.base_sequence
            last = (first + len(rows) - 1) & 0x7FFFFFFF
            self.produced.append(
                Produced(batch.producer_id, batch.producer_epoch, first, last, base)
            )
        return base

    def end_transaction(self, producer_id, kind, epoch=-1):
        """Append a transaction marker.

        * ``kind``: ``COMMIT`` or ``ABORT``.
        * ``epoch``: producer epoch. -1 does not change the epoch.
        """
        first = self.open.pop(producer_id, None)
        if kind == ABORT and first is not None:
            self.aborted.append(Aborted(producer_id, first, self.end))
        epochs = [p.epoch for p in self.produced if p.producer_id == producer_id]
        if epoch > max(epochs, default=-1):
            # The marker fences batches of earlier epochs, and sequence numbers restart
            # at 0.
            self.produced.append(Produced(producer_id, epoch, 0, -1, self.end))
        key = b"\0\0" + kind.to_bytes(2, "big")
        self._store([(key, b"\0\0\0\0\0\0")], {}, producer_id, is_control=True)
        self.acknowledged = max(self.acknowledged, self.end)

    def delete_before(self, offset):
        """Delete the records before an offset, as retention does."""
        self.start = min(max(self.start, offset), self.end)
        self.batches = [
            batch for batch in self.batches if batch.last_offset >= self.start
        ]

    def compact(self):
        """Remove random records, as the log cleaner does.

        Control batches, batches with a producer id and the last batch are not changed.
        """
        random = self._random
        remaining_batches = []
        for batch in self.batches[:-1]:
            if batch.is_control or batch.producer_id >= 0 or random.random() < 0.5:
                remaining_batches.append(batch)
            elif random.random() < 0.5:
                remaining_values = {
                    offset: value
                    for offset, value in batch.values.items()
                    if random.random() < 0.5
                }
                if remaining_values or self.magic == 2:
                    remaining_batches.append(self._rewritten(batch, remaining_values))
        self.batches = remaining_batches + self.batches[-1:]

    def new_leader(self, cut=0):
        """Start a leader epoch. An unclean election loses the last ``cut`` records."""
        self.epoch += 1
        if cut:
            end = max(self.end - cut, self.start)
            whole = [batch for batch in self.batches if batch.last_offset < end]
            self.end = whole[-1].last_offset + 1 if whole else self.start
            self.batches = whole
            self.cut.append(self.end)
            self.last = {k: v for k, v in self.last.items() if k < self.end}
            self.produced = [p for p in self.produced if p.base_offset < self.end]
            self.open = {k: v for k, v in self.open.items() if v < self.end}
            self.aborted = [a for a in self.aborted if a.last_offset < self.end]
        self.epoch_starts[self.epoch] = self.end

    def end_of_epoch(self, epoch):
        """Return the largest epoch up to ``epoch``, and the end offset of this epoch.

        Return (-1, -1) if there is no such epoch.
        """
        earlier_epochs = [
            start_epoch for start_epoch in self.epoch_starts if start_epoch <= epoch
        ]
        if not earlier_epochs:
            return -1, -1
        later = [s for e, s in self.epoch_starts.items() if e > epoch]
        return max(earlier_epochs), min(later, default=self.end)

    def read(self, offset, max_bytes, committed, at_least_one):
        """Return stored bytes, starting with the batch that contains ``offset``.

        * ``max_bytes``: the size limit. As in a broker, the last batch may be
          truncated.
        * ``committed``: end before the last stable offset.
        * ``at_least_one``: return the first batch completely, even if it exceeds the
          limit.
        """
        limit = self.high_watermark
        if committed:
            limit = min(limit, self.last_stable)
        parts, size = [], 0
        entries = self.batches if self.magic == 2 else self._messages()
        for batch in entries:
            if batch.last_offset < offset:
                continue
            if batch.base_offset >= limit:
                break
            if size + len(batch.data) > max_bytes and not (at_least_one and not parts):
                # Brokers truncate the response at the size limit, in the middle of a
                # batch.
                parts.append(batch.data[: max(max_bytes - size, 0)])
                break
            parts.append(batch.data)
            size += len(batch.data)
        return b"".join(parts)

    def _messages(self):
        """Split stored batches into messages, as magic 0 and 1 store them."""
        records = self._kwire.records
        for batch in self.batches:
            position = 0
            while header := records.read_batch_header(batch.data, position):
                data = batch.data[position : position + header.size]
                position += header.size
                message = batch._replace(data=data, last_offset=header.last_offset)
                if header.compression == "none":
                    message = message._replace(base_offset=header.last_offset)
                yield message

    def aborted_in(self, offset):
        """Return the aborted transactions whose marker is at or after ``offset``."""
        return [
            transaction
            for transaction in self.aborted
            if transaction.last_offset >= offset
        ]

    def readable(self, start, end, committed):
        """Return the values of all records that a reader must receive, by offset."""
        values_by_offset = {}
        for batch in self.batches:
            for offset, value in batch.values.items():
                if not start <= offset < end:
                    continue
                if committed and self.is_aborted(batch.producer_id, offset):
                    continue
                values_by_offset[offset] = value
        return values_by_offset

    def is_aborted(self, producer_id, offset):
        """Return whether an aborted transaction of a producer contains an offset."""
        return any(
            transaction.producer_id == producer_id
            and transaction.first_offset <= offset <= transaction.last_offset
            for transaction in self.aborted
        )

    def _store(self, rows, values, producer_id, is_control=False):
        options = {
            "base_offset": self.end,
            "compression": self._random.choice(["none", "none", "gzip"]),
            "magic": self.magic,
        }
        if self.magic == 2:
            options |= {
                "producer_id": producer_id,
                "producer_epoch": 0 if producer_id >= 0 else -1,
                "base_sequence": 0 if producer_id >= 0 else -1,
                "is_transactional": producer_id >= 0,
                "is_control": is_control,
                "partition_leader_epoch": self.epoch,
            }
        data = self._kwire.records.encode_batch(rows, **options)
        last = self.end + len(rows) - 1
        batch = StoredBatch(
            self.end, last, self.epoch, data, values, producer_id, is_control
        )
        self.batches.append(batch)
        for offset, value in values.items():
            self.ever.setdefault(offset, set()).add(value)
            self.last[offset] = value
        self.end = last + 1

    def _rewritten(self, batch, values):
        records = self._kwire.records
        (old,) = records.decode_batches(batch.data)
        rows = [record for record in old.records if record.offset in values]
        if self.magic < 2:
            data = records.encode_batch(rows, magic=self.magic)
            return batch._replace(data=data, values=values)
        data = records.encode_batch(
            rows,
            base_offset=batch.base_offset,
            last_offset=batch.last_offset,
            max_timestamp=None if values else 5000,
            partition_leader_epoch=batch.epoch,
        )
        return batch._replace(data=data, values=values)
