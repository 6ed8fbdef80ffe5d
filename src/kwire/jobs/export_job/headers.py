# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The headers that the scan wrote to its scratch files, read back batch by batch.

``ScannedHeaders`` reads them, ``SourceFile`` is one file in a pass, ``Candidate`` one
of its batches.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from ...schema.batch_layout import CODEC_MASK, CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from .scan import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .replicas import EpochStretch, ReplicaChain
    from .scan import FileScan

USES = ("copy", "used", "diverged", "disagrees", "refused")
COPY, USED, DIVERGED, DISAGREES, REFUSED = range(5)
"""What becomes of a batch; ``USES`` are the words for it in the table."""

FLAGS = CODEC_MASK | LOG_APPEND_TIME | TRANSACTIONAL | CONTROL
"""The bits of a batch's attributes that are in ``Candidate.flags`` too."""

DOUBTFUL, UNCERTAIN = 0x100, 0x200
"""Bits of ``Candidate.flags`` for what is known about the leader epoch of a batch."""


class Candidate(NamedTuple):
    """A batch on its way through the pass; items are merged in this order of fields.

    From ``known`` up to ``base`` its file shows that nothing is missing. ``rank`` is
    that of its chain, ``source`` the number of its file, ``row`` its own in there.
    """

    known: int
    base: int
    last: int
    rank: int
    source: int
    row: int
    position: int
    size: int
    crc: int
    records: int
    flags: int

    @property
    def is_full(self) -> bool:
        """Whether it has a record for each of its offsets."""
        return self.records == self.last - self.base + 1


class ScannedHeaders:
    """Reads the columns that the scan left, as views into mapped files."""

    def __init__(self) -> None:
        self._files: dict[str, Any] = {}
        self._ends: dict[tuple[str, tuple[int, ...]], list[int]] = {}

    def read_table(self, scan: FileScan, piece: int) -> Any:
        """Give a piece as a record batch."""
        if scan.headers not in self._files:
            import pyarrow

            mapped = pyarrow.memory_map(scan.headers)
            self._files[scan.headers] = pyarrow.ipc.open_file(mapped)
        return self._files[scan.headers].get_batch(piece)

    def read_pieces(self, scan: FileScan) -> Iterator[list[memoryview]]:
        """Go through the pieces of a file, each a view for each column."""
        for piece in scan.pieces:
            yield self._read_views(scan, piece)

    def _read_views(self, scan: FileScan, piece: int) -> list[memoryview]:
        return [
            memoryview(column.buffers()[1]).cast("q")[: len(column)]
            for column in self.read_table(scan, piece).columns
        ]

    def read_row(self, scan: FileScan, row: int) -> dict[str, int]:
        """Give one row; for the few cases that need more than the pass itself."""
        key = scan.headers, scan.pieces
        if key not in self._ends:
            sizes = (self.read_table(scan, piece).num_rows for piece in scan.pieces)
            self._ends[key] = list(accumulate(sizes))
        ends = self._ends[key]
        at = bisect_right(ends, row)
        begin = ends[at - 1] if at else 0
        views = self._read_views(scan, scan.pieces[at])
        return {
            name: view[row - begin] for name, view in zip(COLUMNS, views, strict=True)
        }


class SourceFile:
    """One file in the pass: what became of each of its batches.

    ``diverged`` are rows. Up to ``confirmed_end`` other folders have the same batches.
    """

    def __init__(
        self, scan: FileScan, chain: ReplicaChain, stretches: Sequence[EpochStretch]
    ) -> None:
        self.scan = scan
        self.chain = chain
        self.stretches = stretches
        self.uses = bytearray(scan.batches)
        self.diverged: list[int] = []
        self.confirmed_end = -1

    @property
    def fits_its_name(self) -> bool:
        """Whether the file begins with the offset that it is named after."""
        return self.scan.segment.base_offset == self.scan.begin
