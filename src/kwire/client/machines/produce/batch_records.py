# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``BatchRecords``: the records of one batch, encoded when they are added.

A producer sends any ``BatchContent``. It builds the batch when it sends it for the
first time, because the producer id, the epoch and the sequence number of the batch
header are unknown before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ...._engine.active import record_engine as engine
from ....records import decode_records, encode_batch
from ....records.compression import bound, codec_of, find_room
from ....records.options import BatchOptions, make_compressor, make_header
from ....schema.batch_layout import BATCH_OVERHEAD

if TYPE_CHECKING:
    from typing import Self

    from ...._engine.record_types import Record


class BatchContent(Protocol):
    """Records of a batch, which can be encoded repeatedly.

    Every encoding may have another producer epoch and other sequence numbers.
    """

    def __len__(self) -> int: ...

    @property
    def size_bound_bytes(self) -> int:
        """Upper bound for the size of the encoded batch in bytes."""

    def build(
        self, *, producer_id: int, producer_epoch: int, base_sequence: int
    ) -> bytes:
        """Encode the record batch with these fields in its header."""

    def halves(self) -> tuple[BatchContent, BatchContent]:
        """Return the first and the second half of the records as two contents."""


class BatchRecords(engine.EncodedRows):
    """Records of one batch, encoded when they are added.

    ``max_bytes`` limits the batch, including its header. The first record is always
    accepted, even if it is larger.
    """

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
    def size_bound_bytes(self) -> int:
        """Upper bound for the size of the encoded batch in bytes."""
        return BATCH_OVERHEAD + bound(self._codec, self.content)

    def new_batch(self) -> Self:
        """Return an empty batch with the same options."""
        batch = type(self).__new__(type(self))
        batch._codec, batch._options, batch._room = (
            self._codec,
            self._options,
            self._room,
        )
        engine.EncodedRows.__init__(batch, self._room)
        return batch

    def build(
        self, *, producer_id: int, producer_epoch: int, base_sequence: int
    ) -> bytes:
        """Encode the record batch with these fields in its header."""
        options = self._options._replace(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
        )
        header = make_header(options, len(self))
        return self.make_batch(header, make_compressor(options))

    def has_headers(self) -> bool:
        """Whether a record has headers, which only record batches support."""
        return any(record.headers for record in self.records())

    def build_messages(self, magic: int) -> bytes:
        """Encode the records as messages of magic 0 or 1.

        Brokers before Kafka 0.11 do not support record batches.
        """
        return encode_batch(
            self.records(),
            magic=magic,
            compression=self._options.compression,
            compression_level=self._options.compression_level,
        )

    def records(self) -> list[Record]:
        """Decode the records of the batch. The first record has the offset 0."""
        header = make_header(BatchOptions(), len(self))
        return decode_records(self.make_batch(header), check_crc=False)[0]

    def halves(self) -> tuple[Self, Self]:
        """Return the first and the second half of the records as two batches."""
        records, middle = self.records(), len(self) // 2
        first, second = self.new_batch(), self.new_batch()
        first.extend(records[:middle])
        second.extend(records[middle:])
        return first, second
