# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The valid batches of all replicas of a partition, as rows of arrays.

A row number identifies the same batch in all arrays. Rows are in the order of chains
(the best replica first), of the files in a chain, and of positions in a file.
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
"""What becomes of a batch; ``USES`` are the words of the table ``batches``."""


class PartitionBatches:
    """The batches of the chains of a partition, which must be in the order of ranks.

    Arrays with one entry per batch: ``headers`` (see ``header_rows``), ``file`` (index
    into ``files``), ``rank`` (of the chain), ``is_doubtful`` (the leader epoch in the
    header is wrong), and ``is_diverged`` (a leader of a later epoch continued the log
    without the batch).
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
        self.is_doubtful = self._spread(bool, lambda each: not each.is_right)
        self.lineage = Lineage(chains)
        self.is_diverged = self._find_diverged()

    def __len__(self) -> int:
        return len(self.headers)

    def read(self, row: int) -> BatchHeader:
        """Return the header of one batch."""
        return read_row(self.headers, row)

    def path(self, row: int) -> str:
        """Return the path of the file that contains a batch."""
        path: str = self.files[self.file[row]].path
        return path

    def list_stretches(self) -> Iterator[tuple[int, EpochStretch]]:
        """Return each stretch of leader epochs, with its first row."""
        row = 0
        for chain in self.chains:
            for stretches in chain.stretches:
                for stretch in stretches:
                    yield row, stretch
                    row += stretch.batches

    def _spread(self, kind: Any, get: Callable[[EpochStretch], Any]) -> NDArray[Any]:
        """Make an array of a value that all batches of a stretch have in common."""
        import numpy

        stretches = [stretch for _, stretch in self.list_stretches()]
        values = numpy.array([get(each) for each in stretches], kind)
        counts = numpy.array([each.batches for each in stretches], int)
        return numpy.repeat(values, counts)

    def _find_diverged(self) -> NDArray[Any]:
        """Mark the batches with offsets that the log does not have with their epoch.

        A batch whose epoch is uncertain counts as diverged if the last certain batch
        before it in its chain has diverged.
        """
        import numpy

        find_window = self.lineage.find_window
        low = self._spread("i8", lambda each: find_window(each.epoch)[0])
        high = self._spread("i8", lambda each: find_window(each.epoch)[1])
        is_certain = self._spread(bool, lambda each: each.is_certain)
        base, last = self.headers["base_offset"], self.headers["last_offset"]
        is_outside = is_certain & ((base < low) | (last > high))
        decides = is_certain | mark_changes(self.rank)
        rows = numpy.where(decides, numpy.arange(len(self)), 0)
        diverged: NDArray[Any] = is_outside[numpy.maximum.accumulate(rows)]
        return diverged

    def find_known(self) -> NDArray[Any]:
        """Return the offset from which on the file of each batch shows all records.

        If no byte lies between a batch and the batch before it, a cleaner has removed
        the records between them: the result is the offset after the batch before it.
        Otherwise the result is the first offset of the batch.
        """
        headers = self.headers
        known = headers["base_offset"].copy()
        end = headers["position"] + headers["size"]
        is_next = (headers["position"][1:] == end[:-1]) & ~mark_changes(self.file)[1:]
        known[1:][is_next] = headers["last_offset"][:-1][is_next] + 1
        return known
