# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RestoredBatch``: batches with sequence numbers that brokers accept only once.

The target offset, the sequence number and the index of a record in its source are the
same number:

    source     record 0   record 1 ...  record n ...
    target     offset 0   offset 1 ...  offset n      batch: base sequence = base offset

All restore runs use the same producer id, which is derived from the first record. A
broker only accepts a batch if its sequence number continues the previous batch of this
producer. Therefore it rejects batches that a killed run still had in flight if a later
run has already written these records, and vice versa.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from ...records import columns
from ...records.compression import bound, codec_of
from ...schema.batch_layout import BATCH_OVERHEAD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

BATCH_BYTES = 512 << 10
"""Maximum batch size in bytes before compression. A larger record is sent alone."""

EPOCH = 0
"""Producer epoch in all restored batches."""

_MAX_RECORD_OVERHEAD = 36
"""Maximum encoded record size without key, value and headers, in bytes.

Attributes need 1 byte, the timestamp delta 10, and five VARINTs 5 bytes each: the sizes
of record, key and value, the offset delta, and the header count.
"""

_MAX_HEADER_OVERHEAD = 10
"""Maximum size of an encoded record header in bytes, without its key and value."""

_MIN_PRODUCER_ID = 1 << 62
"""Minimum producer id for restores. Brokers allocate producer ids starting with 0, and
never reach this value.
"""

_SEQUENCE_MASK = 0x7FFFFFFF


class Numbering(NamedTuple):
    """Producer id and compression codec, which all batches of a partition share."""

    producer_id: int
    compression: str


class RestoredBatch:
    """Batch of consecutive source records, starting with the record ``position``.

    ``row_bytes`` is the maximum encoded size of the records before compression.
    """

    def __init__(
        self, rows: Any, position: int, size: int, numbering: Numbering
    ) -> None:
        self.position = position
        self.row_bytes = size
        self._rows = rows
        self._numbering = numbering

    def __len__(self) -> int:
        return int(self._rows.num_rows)

    @property
    def size_bound_bytes(self) -> int:
        """Upper bound for the size of the encoded batch in bytes."""
        codec = codec_of(self._numbering.compression)
        return BATCH_OVERHEAD + bound(codec, self.row_bytes)

    def build(
        self, *, producer_id: int, producer_epoch: int, base_sequence: int
    ) -> bytes:
        """Encode the batch with its own producer id, epoch and sequence number.

        The values that the producer passes as arguments are ignored.
        """
        return columns.encode_batch(
            self._rows,
            compression=self._numbering.compression,
            producer_id=self._numbering.producer_id,
            producer_epoch=EPOCH,
            base_sequence=sequence_of(self.position),
        )

    def halves(self) -> tuple[Self, Self]:
        """Split the batch into two batches with half of the records, in order."""
        middle = len(self) // 2
        batch_class = type(self)
        # Reuse the size limit of the whole batch, because neither half can be larger.
        return (
            batch_class(
                self._rows.slice(0, middle),
                self.position,
                self.row_bytes,
                self._numbering,
            ),
            batch_class(
                self._rows.slice(middle),
                self.position + middle,
                self.row_bytes,
                self._numbering,
            ),
        )


def sequence_of(position: int) -> int:
    """Return the sequence number of a record. After 2^31 - 1 it continues with 0."""
    return position & _SEQUENCE_MASK


def make_producer_id(rows: Any) -> int:
    """Derive the producer id of a partition from its first record.

    Different sources have different producer ids, so that their batches are never
    mistaken for each other, even if two sources are restored to the same partition at
    the same time.
    """
    (first,) = make_rows(rows.slice(0, 1))
    digest = hashlib.sha256(repr(first).encode("utf-8", "surrogatepass")).digest()
    return _MIN_PRODUCER_ID | int.from_bytes(digest[:8], "big") >> 2


def make_rows(rows: Any) -> list[tuple[Any, ...]]:
    """Convert records to comparable tuples (timestamp, key, value, headers).

    Timestamps are milliseconds, and -1 if a record has none, as in record batches.
    """
    times = rows.column("timestamp").cast("int64").fill_null(-1).to_pylist()
    keys, values = rows.column("key").to_pylist(), rows.column("value").to_pylist()
    headers = (
        tuple((header["key"], header["value"]) for header in row_headers or ())
        for row_headers in rows.column("headers").to_pylist()
    )
    return list(zip(times, keys, values, headers, strict=True))


def cut_rows(
    rows: Any, position: int, numbering: Numbering, *, is_first: bool
) -> Iterator[RestoredBatch]:
    """Split records into batches of limited size.

    * ``rows``: records as an Arrow batch or table.
    * ``position``: source index of the first record.
    * ``numbering``: settings of the partition.
    * ``is_first``: the first batch only contains a single record.
    """
    sizes = row_sizes(rows).cumsum()
    capacity = BATCH_BYTES - BATCH_OVERHEAD
    start, count = 0, rows.num_rows
    while start < count:
        bytes_before = int(sizes[start - 1]) if start else 0
        stop = int(sizes.searchsorted(bytes_before + capacity, "right"))
        stop = min(max(stop, start + 1), count)
        if is_first and not start:
            stop = 1
        size = int(sizes[stop - 1]) - bytes_before
        batch_rows = rows.slice(start, stop - start)
        yield RestoredBatch(batch_rows, position + start, size, numbering)
        start = stop


def row_sizes(rows: Any) -> Any:
    """Return the maximum encoded size of every row within a batch, in bytes."""
    import numpy
    import pyarrow.compute

    def lengths(column: Any) -> Any:
        column_lengths = pyarrow.compute.binary_length(column).fill_null(0)
        return column_lengths.to_numpy(zero_copy_only=False).astype("int64")

    sizes = lengths(rows.column("key")) + lengths(rows.column("value"))
    sizes += _MAX_RECORD_OVERHEAD
    if "headers" in rows.schema.names:
        lists = rows.column("headers")
        counts = pyarrow.compute.list_value_length(lists).fill_null(0)
        ends = numpy.cumsum(counts.to_numpy(zero_copy_only=False).astype("int64"))
        pairs = pyarrow.compute.list_flatten(lists)
        names, values = pairs.flatten()
        items = lengths(names) + lengths(values) + _MAX_HEADER_OVERHEAD
        sums = numpy.concatenate(([0], numpy.cumsum(items)))
        totals = sums[ends]
        sizes += numpy.diff(totals, prepend=0)
    return sizes
