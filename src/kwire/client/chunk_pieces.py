# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ChunkPieces``: splits a chunk into pieces of at most ``batch_rows`` records.

The chunk is decoded only once. Every piece becomes a chunk with exact offsets, so that
positions and commits are correct between two pieces. Requires numpy, because the
offsets are read from the columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..records.columns import Records
    from .chunks import Chunk
    from .machines import Fetched


class Piece(NamedTuple):
    """Consecutive records of a chunk.

    ``next_offset`` is the offset after the last record, or None if the piece contains
    the chunk's last records.
    """

    columns: Records
    next_offset: int | None


class ChunkPieces:
    """Records of one chunk that ``take`` has not returned yet.

    One piece is decoded in advance, because ``take`` must know whether the piece that
    it returns is the last one.
    """

    def __init__(self, chunk: Chunk, batch_rows: int) -> None:
        self._data = chunk.data
        self._start_offset = chunk.start_offset
        self._end_offset = chunk.next_offset
        self._slices = _slice_records(chunk.iter_columns(), batch_rows)
        # True if the records after ``_following`` cannot be decoded.
        self._has_failed = False
        self._following = self._decode_piece()

    def has(self, fetched: Fetched) -> bool:
        """Whether ``fetched`` contains exactly the remaining records of this chunk."""
        return fetched.data is self._data and fetched.start_offset == self._start_offset

    def take(self) -> Piece | None:
        """Return the next piece, or None if the remaining records cannot be split.

        They cannot be split if there are no records, if a batch is damaged, or if the
        offsets are not in order. The caller then returns the remaining records as one
        chunk. If a batch is damaged, that chunk raises ``DecodeError`` when it is
        decoded. Otherwise it contains the records as the broker has sent them.
        """
        columns = self._following
        if columns is None:
            return None
        self._following = self._decode_piece()
        if self._following is None and not self._has_failed:
            return Piece(columns, None)
        next_offset = int(columns.offset[-1]) + 1
        if not self._start_offset < next_offset < self._end_offset:
            return None
        self._start_offset = next_offset
        return Piece(columns, next_offset)

    def _decode_piece(self) -> Records | None:
        try:
            return next(self._slices, None)
        except DecodeError:
            self._has_failed = True
            return None


def _slice_records(decoded: Iterator[Records], batch_rows: int) -> Iterator[Records]:
    """Iterate over slices of at most ``batch_rows`` records, without copying them."""
    for records in decoded:
        for start in range(0, len(records), batch_rows):
            yield records[start : start + batch_rows]
