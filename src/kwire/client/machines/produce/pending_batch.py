# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``PendingBatch``: a record batch from the moment it is full to its receipt.

    waiting -> in flight -> over
       ^----------'            a retry, or two halves where it was too large

What it contains may be rows or columns; it is encoded when it is first sent, as the
producer's numbers are known then. It decides nothing; ``partition_writer.py`` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ...._engine.active import record_engine as engine
from ....records import decode_records, encode_batch
from ....records.compression import bound, codec_of, find_room
from ....records.options import BatchOptions, make_compressor, make_header
from ....schema.batch_layout import BATCH_OVERHEAD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from ...._engine.record_types import Record
    from ....errors import KwireError
    from .options import Receipt


class BatchContent(Protocol):
    """Records that can be encoded as one batch, again and again."""

    def __len__(self) -> int: ...

    @property
    def size_bound(self) -> int:
        """The most bytes of the batch."""

    def build(
        self, *, producer_id: int, producer_epoch: int, base_sequence: int
    ) -> bytes:
        """Encode the batch."""

    def halves(self) -> tuple[BatchContent, BatchContent]:
        """Return two contents of half as many records, in order."""


class BatchRecords(engine.EncodedRows):
    """Rows of one batch, which are encoded when they are added."""

    __slots__ = ("_codec", "_options", "_room")

    def __init__(
        self,
        max_bytes: int,
        *,
        compression: str = "none",
        compression_level: int | None = None,
        is_transactional: bool = False,
    ) -> None:
        self._codec = codec_of(compression)
        self._room = find_room(self._codec, max_bytes - BATCH_OVERHEAD)
        self._options = BatchOptions(
            compression=compression,
            compression_level=compression_level,
            is_transactional=is_transactional,
        )
        super().__init__(self._room)

    @property
    def size_bound(self) -> int:
        """The most bytes of the batch."""
        return BATCH_OVERHEAD + bound(self._codec, self.content)

    def new_batch(self) -> Self:
        """Return a batch without rows that has the same options."""
        made = type(self).__new__(type(self))
        made._codec, made._options, made._room = self._codec, self._options, self._room
        engine.EncodedRows.__init__(made, self._room)
        return made

    def build(
        self, *, producer_id: int, producer_epoch: int, base_sequence: int
    ) -> bytes:
        """Encode the batch."""
        options = self._options._replace(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
        )
        header = make_header(options, len(self))
        return self.make_batch(header, make_compressor(options))

    def has_headers(self) -> bool:
        """Whether a record has headers, which messages of magic 0 and 1 cannot have."""
        return any(row.headers for row in self.rows())

    def build_messages(self, magic: int) -> bytes:
        """Encode the records as messages of magic 0 or 1, for brokers before 0.11."""
        return encode_batch(
            self.rows(),
            magic=magic,
            compression=self._options.compression,
            compression_level=self._options.compression_level,
        )

    def rows(self) -> list[Record]:
        """Decode the rows; their numbers are offsets from the first."""
        header = make_header(BatchOptions(), len(self))
        return decode_records(self.make_batch(header), check_crc=False)[0]

    def halves(self) -> tuple[Self, Self]:
        """Return two batches of half as many rows, in order."""
        rows, middle = self.rows(), len(self) // 2
        first, second = self.new_batch(), self.new_batch()
        first.extend(rows[:middle])
        second.extend(rows[middle:])
        return first, second


class PendingBatch:
    """A batch to deliver: what it contains, its numbers, and what became of it.

    ``receipt`` or ``failure`` is set once it is over. A batch that was split has
    ``parts`` instead. ``is_in_doubt`` where a broker may have written it without
    saying so. ``attempts`` counts how often it was sent.
    """

    __slots__ = (
        "attempts",
        "content",
        "count",
        "data",
        "failure",
        "give_up_at",
        "is_background",
        "is_in_doubt",
        "is_sent",
        "magic",
        "ordinal",
        "partition",
        "parts",
        "receipt",
        "sequence",
        "size",
        "topic",
    )

    def __init__(
        self,
        topic: str,
        partition: int,
        content: BatchContent,
        give_up_at: float,
        *,
        is_background: bool = False,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.content: BatchContent | None = content
        self.count = len(content)
        self.size = content.size_bound
        self.give_up_at = give_up_at
        # Nothing waits for it: what becomes of it is reported by the next flush.
        self.is_background = is_background
        # The encoded batch, and the magic of its format.
        self.data: bytes | None = None
        self.magic = -1
        self.sequence = -1
        # How many batches of the partition had a number before.
        self.ordinal = -1
        self.attempts = 0
        self.is_sent = False
        self.is_in_doubt = False
        self.parts: tuple[PendingBatch, ...] = ()
        self.receipt: Receipt | None = None
        self.failure: KwireError | None = None

    @property
    def is_over(self) -> bool:
        """Whether its records are acknowledged, or will not be."""
        if self.parts:
            return all(each.is_over for each in self.parts)
        return self.receipt is not None or self.failure is not None

    def leaves(self) -> Iterator[PendingBatch]:
        """Iterate over the batches that it was split into, or itself."""
        if not self.parts:
            yield self
        for each in self.parts:
            yield from each.leaves()

    def split(self) -> tuple[PendingBatch, PendingBatch]:
        """Return two batches of half the records, with the same sequence numbers."""
        assert self.content is not None
        first, second = (
            PendingBatch(
                self.topic,
                self.partition,
                content,
                self.give_up_at,
                is_background=self.is_background,
            )
            for content in self.content.halves()
        )
        first.attempts = second.attempts = self.attempts
        first.ordinal = second.ordinal = self.ordinal
        if self.sequence >= 0:
            first.sequence = self.sequence
            second.sequence = next_sequence(self.sequence, first.count)
        self.parts = first, second
        self.content = self.data = None
        return first, second

    def forget_numbers(self) -> None:
        """Have it encoded again when it is sent next, with other numbers."""
        self.data = None
        self.sequence = -1

    def finish(
        self, receipt: Receipt | None = None, failure: KwireError | None = None
    ) -> None:
        """Set what became of it, and let its memory go."""
        self.receipt = receipt
        self.failure = failure
        self.content = self.data = None


def next_sequence(sequence: int, count: int) -> int:
    """Return the sequence number after ``count`` records; it wraps to 0.

    Source: ``DefaultRecordBatch.incrementSequence``.
    """
    return (sequence + count) & 0x7FFFFFFF
