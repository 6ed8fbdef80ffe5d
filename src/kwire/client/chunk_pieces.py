# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ChunkPieces``: the columns of a chunk in pieces of at most ``batch_rows`` records.

A chunk is decoded once for all of its pieces. Each piece becomes a chunk of its own,
with exact offsets, so that positions and commits are correct between two pieces.
Requires numpy, because the offsets are read from the columns.
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
    """Some of the records of a chunk.

    ``next_offset`` is the offset after the last of them, or None if the chunk has no
    further records.
    """

    columns: Records
    next_offset: int | None


class ChunkPieces:
    """The records of one chunk that have not been returned yet."""

    def __init__(self, chunk: Chunk, batch_rows: int) -> None:
        self._data = chunk.data
        self._start_offset = chunk.start_offset
        self._end_offset = chunk.next_offset
        self._slices = _slice(chunk.iter_columns(), batch_rows)
        # True if the records after ``_following`` cannot be decoded.
        self._has_failed = False
        self._following = self._decode()

    def has(self, fetched: Fetched) -> bool:
        """Whether ``fetched`` is the rest of this chunk."""
        return fetched.data is self._data and fetched.start_offset == self._start_offset

    def take(self) -> Piece | None:
        """Return the next piece, or None if no further piece can be decoded.

        A chunk without records has no piece. Neither have record batches that are
        damaged or not in order: the caller returns them as one chunk, which raises
        ``DecodeError`` when it is used, or has the records as the broker sent them.
        """
        columns = self._following
        if columns is None:
            return None
        self._following = self._decode()
        if self._following is None and not self._has_failed:
            return Piece(columns, None)
        next_offset = int(columns.offset[-1]) + 1
        if not self._start_offset < next_offset < self._end_offset:
            return None
        self._start_offset = next_offset
        return Piece(columns, next_offset)

    def _decode(self) -> Records | None:
        try:
            return next(self._slices, None)
        except DecodeError:
            self._has_failed = True
            return None


def _slice(decoded: Iterator[Records], batch_rows: int) -> Iterator[Records]:
    """Iterate over slices, which copy nothing."""
    for records in decoded:
        for start in range(0, len(records), batch_rows):
            yield records[start : start + batch_rows]
