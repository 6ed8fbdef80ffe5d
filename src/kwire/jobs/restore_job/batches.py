# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RestoredBatch``: records with the numbers that make a broker refuse them twice.

Offset, sequence number and the place of a record in its source are one number:

    source     record 0   record 1 ...  record n ...
    target     offset 0   offset 1 ...  offset n      batch: base sequence = base offset

All runs of a restore write with one producer id, which is made of the first record. A
broker takes a batch only if its sequence number is the next one of that producer. So
what a run that was killed has still on its way is refused once a later run has
written the same records, and the other way round.
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
"""The most bytes of a batch before compression, unless it is one record."""

EPOCH = 0
"""The producer epoch of all batches."""

_ROW_OVERHEAD = 31
"""The most bytes of a record besides its key, value and headers."""

_HEADER_OVERHEAD = 10
"""The most bytes of a header besides its key and value."""

_FIRST_ID = 1 << 62
"""Brokers assign producer ids from 0 on; none reaches this one."""

_SEQUENCE_MASK = 0x7FFFFFFF


class Numbering(NamedTuple):
    """What the batches of a partition have in common."""

    producer_id: int
    compression: str


class RestoredBatch:
    """Records of one batch, from the record ``position`` of the source on."""

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
        """The most bytes of the batch."""
        codec = codec_of(self._numbering.compression)
        return BATCH_OVERHEAD + bound(codec, self.row_bytes)

    def build(
        self, *, producer_id: int, producer_epoch: int, base_sequence: int
    ) -> bytes:
        """Encode the batch, with numbers of its own instead of a producer's."""
        return columns.encode_batch(
            self._rows,
            compression=self._numbering.compression,
            producer_id=self._numbering.producer_id,
            producer_epoch=EPOCH,
            base_sequence=sequence_of(self.position),
        )

    def halves(self) -> tuple[Self, Self]:
        """Return two batches of half as many records, in order."""
        middle = len(self) // 2
        kind = type(self)
        # No half has more bytes than the whole.
        return (
            kind(
                self._rows.slice(0, middle),
                self.position,
                self.row_bytes,
                self._numbering,
            ),
            kind(
                self._rows.slice(middle),
                self.position + middle,
                self.row_bytes,
                self._numbering,
            ),
        )


def sequence_of(position: int) -> int:
    """Return the sequence number of a record; after 2^31 - 1 comes 0."""
    return position & _SEQUENCE_MASK


def make_producer_id(rows: Any) -> int:
    """Make the producer id of a partition of its first record.

    So two sources are not taken for one, even if they are restored at the same time.
    """
    (first,) = make_rows(rows.slice(0, 1))
    digest = hashlib.sha256(repr(first).encode("utf-8", "surrogatepass")).digest()
    return _FIRST_ID | int.from_bytes(digest[:8], "big") >> 2


def make_rows(rows: Any) -> list[tuple[Any, ...]]:
    """Return records as (timestamp, key, value, headers), to be compared."""
    times = rows.column("timestamp").cast("int64").to_pylist()
    keys, values = rows.column("key").to_pylist(), rows.column("value").to_pylist()
    headers = (
        tuple((each["key"], each["value"]) for each in found or ())
        for found in rows.column("headers").to_pylist()
    )
    return list(zip(times, keys, values, headers, strict=True))


def cut_rows(
    rows: Any, position: int, numbering: Numbering, *, is_first: bool
) -> Iterator[RestoredBatch]:
    """Cut records into batches; with ``is_first`` the first one has one record."""
    sizes = row_sizes(rows).cumsum()
    room = BATCH_BYTES - BATCH_OVERHEAD
    start, count = 0, rows.num_rows
    while start < count:
        before = int(sizes[start - 1]) if start else 0
        stop = int(sizes.searchsorted(before + room, "right"))
        stop = min(max(stop, start + 1), count)
        if is_first and not start:
            stop = 1
        size = int(sizes[stop - 1]) - before
        piece = rows.slice(start, stop - start)
        yield RestoredBatch(piece, position + start, size, numbering)
        start = stop


def row_sizes(rows: Any) -> Any:
    """Return the most bytes that each row takes in a batch."""
    import numpy
    import pyarrow.compute

    def lengths(column: Any) -> Any:
        found = pyarrow.compute.binary_length(column).fill_null(0)
        return found.to_numpy(zero_copy_only=False).astype("int64")

    sizes = lengths(rows.column("key")) + lengths(rows.column("value"))
    sizes += _ROW_OVERHEAD
    if "headers" in rows.schema.names:
        lists = rows.column("headers")
        counts = pyarrow.compute.list_value_length(lists).fill_null(0)
        ends = numpy.cumsum(counts.to_numpy(zero_copy_only=False).astype("int64"))
        pairs = pyarrow.compute.list_flatten(lists)
        names, values = pairs.flatten()
        items = lengths(names) + lengths(values) + _HEADER_OVERHEAD
        sums = numpy.concatenate(([0], numpy.cumsum(items)))
        totals = sums[ends]
        sizes += numpy.diff(totals, prepend=0)
    return sizes
