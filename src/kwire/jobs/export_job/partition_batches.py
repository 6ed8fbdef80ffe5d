# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Valid batches from all replicas of a partition, as parallel arrays.

A row number identifies the same batch in all arrays. Rows are sorted by chain (best
replica first), then by file, then by position in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .header_rows import join_rows, make_rows, mark_changes, read_row
from .replicas import Lineage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ...records import BatchHeader
    from .replicas import EpochStretch, ReplicaChain

USES = ("copy", "used", "diverged", "disagrees", "refused")
COPY, USED, DIVERGED, DISAGREES, REFUSED = range(5)
"""How an export uses a batch. ``USES`` contains the names for the table ``batches``.

* ``COPY``: not read, because another copy of the same batch is used.
* ``USED``: read, so that its records are exported.
* ``DIVERGED``: rejected, because a later leader has replaced it.
* ``DISAGREES``: rejected, because a more trustworthy batch contradicts it.
* ``REFUSED``: rejected, because it cannot be decoded or its offset is incorrect.
"""


class PartitionBatches:
    """Arrays with one entry per batch of a partition.

    * ``headers``: batch headers, see ``header_rows``.
    * ``file``: index into ``files``.
    * ``rank``: rank of the chain. 0 is the best replica.
    * ``is_doubtful``: the leader epoch in the batch header is incorrect.
    * ``is_diverged``: a leader with a later epoch has continued the log without this
      batch, so Kafka would have truncated it.

    The argument ``chains`` must be sorted by rank.
    """

    def __init__(self, chains: Sequence[ReplicaChain]) -> None:
        import numpy

        self.chains = chains
        self.files = [file for chain in chains for file in chain.files]
        counts = numpy.array([file.batches for file in self.files], int)
        headers = (file.read_headers() for file in self.files)
        self.headers = join_rows([make_rows([]), *headers])
        self.file: NDArray[Any] = numpy.repeat(numpy.arange(len(counts)), counts)
        ranks = [chain.rank for chain in chains for _ in chain.files]
        self.rank: NDArray[Any] = numpy.repeat(numpy.array(ranks, int), counts)
        self.is_doubtful = self._expand_stretches(
            bool, lambda stretch: not stretch.is_right
        )
        self.lineage = Lineage(chains)
        self.is_diverged = self._find_diverged()

    def __len__(self) -> int:
        return len(self.headers)

    def read(self, row: int) -> BatchHeader:
        """Return the header of the batch in a row."""
        return read_row(self.headers, row)

    def path(self, row: int) -> str:
        """Return the path of the segment file that contains a batch."""
        path: str = self.files[self.file[row]].path
        return path

    def list_stretches(self) -> Iterator[tuple[int, EpochStretch]]:
        """Yield pairs of a row number and a leader epoch stretch, for all files.

        The row number belongs to the first batch of the stretch.
        """
        row = 0
        for chain in self.chains:
            for stretches in chain.stretches:
                for stretch in stretches:
                    yield row, stretch
                    row += stretch.batches

    def _expand_stretches(
        self, dtype: Any, get: Callable[[EpochStretch], Any]
    ) -> NDArray[Any]:
        """Convert a stretch property to an array with one entry per batch."""
        import numpy

        stretches = [stretch for _, stretch in self.list_stretches()]
        values = numpy.array([get(stretch) for stretch in stretches], dtype)
        counts = numpy.array([stretch.batches for stretch in stretches], int)
        return numpy.repeat(values, counts)

    def _find_diverged(self) -> NDArray[Any]:
        """Mark batches whose offsets belong to another leader epoch in the lineage.

        If a batch's epoch is uncertain, the result for the previous certain batch in
        the same chain applies.
        """
        import numpy

        find_window = self.lineage.find_window
        low = self._expand_stretches(
            "i8", lambda stretch: find_window(stretch.epoch)[0]
        )
        high = self._expand_stretches(
            "i8", lambda stretch: find_window(stretch.epoch)[1]
        )
        is_certain = self._expand_stretches(bool, lambda stretch: stretch.is_certain)
        base, last = self.headers["base_offset"], self.headers["last_offset"]
        is_outside = is_certain & ((base < low) | (last > high))
        decides = is_certain | mark_changes(self.rank)
        rows = numpy.where(decides, numpy.arange(len(self)), 0)
        diverged: NDArray[Any] = is_outside[numpy.maximum.accumulate(rows)]
        return diverged

    def find_known(self) -> NDArray[Any]:
        """Return for every batch the first offset whose record must be in its file.

        If two batches are adjacent in a file, the log cleaner has removed any records
        between them. In this case the result is the offset after the previous batch,
        because the offsets in between are known to be empty. Otherwise it is the base
        offset.
        """
        headers = self.headers
        first_known = headers["base_offset"].copy()
        end = headers["position"] + headers["size"]
        is_next = (headers["position"][1:] == end[:-1]) & ~mark_changes(self.file)[1:]
        first_known[1:][is_next] = headers["last_offset"][:-1][is_next] + 1
        return first_known
