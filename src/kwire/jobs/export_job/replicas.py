# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Chains of segment files, which represent replicas, and the log's leader epochs.

A chain consists of non-overlapping files in one partition directory. Usually a
directory is one chain. A tiered storage directory that contains some offsets twice is
split into two chains.

Batch checksums do not cover the leader epoch, so a leader epoch is only trusted if the
epochs along the chain are ascending.

Together, the chains determine the log's lineage: the leader epoch for every offset
range, according to Kafka's rules. Kafka would truncate batches that contradict the
lineage.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .scan import FileScan

NEVER = 2**63 - 1
"""Maximum value of an offset field. No record can have this offset, because the log end
offset after the record would overflow.
"""


class ReplicaFolder(NamedTuple):
    """Partition directory, with information from its checkpoint and index files.

    * ``log_start``: log start offset, 0 if it is unknown.
    * ``claims``: (offset, sentence) pairs. A file shows that the log end offset was at
      least this offset.
    * ``epochs``: (leader epoch, first offset) pairs from the leader epoch checkpoint.
    * ``is_compacted``: the log cleaner has a checkpoint for this partition.
    * ``orphans``: base offsets of index files without a segment.
    """

    path: str
    log_start: int = 0
    claims: tuple[tuple[int, str], ...] = ()
    epochs: tuple[tuple[int, int], ...] = ()
    is_compacted: bool = False
    orphans: tuple[int, ...] = ()

    def find_orphan(self, first: int, default: int) -> int:
        """Return the lowest offset in ``orphans`` that is at least ``first``.

        Returns ``default`` if there is no such offset.
        """
        return min(
            (orphan for orphan in self.orphans if orphan >= first), default=default
        )


class EpochStretch(NamedTuple):
    """Consecutive batches in a file whose headers contain the same leader epoch.

    * ``epoch``: leader epoch according to the whole chain.
    * ``is_right``: the batch headers contain this epoch.
    * ``is_certain``: no other epoch is possible.
    """

    epoch: int
    first_offset: int
    last_offset: int
    batches: int
    is_right: bool
    is_certain: bool


class ReplicaChain:
    """Non-overlapping segment files of one directory, sorted by offset.

    * ``stretches``: for every file, its batches grouped by leader epoch.
    * ``runs``: stretches with a certain epoch.
    * ``markers``: checkpoint entries (leader epoch, first offset) that do not
      contradict ``runs``. The whole checkpoint is ignored if it is not sorted.
    * ``epoch``: highest epoch in ``runs`` and ``markers``, or -1.
    * ``rank``: set by ``rank_chains``.
    """

    def __init__(self, folder: ReplicaFolder, files: list[FileScan]) -> None:
        self.folder = folder
        self.files = files
        self.rank = 0
        is_sorted = list(folder.epochs) == sorted(set(folder.epochs))
        checkpoint = folder.epochs if is_sorted else ()
        self.stretches = _judge_epochs(files, checkpoint)
        self.runs = [
            run
            for file_stretches in self.stretches
            for run in file_stretches
            if run.is_certain
        ]
        self.markers = []
        run_epochs = [run.epoch for run in self.runs]
        for epoch, start in checkpoint:
            runs_below = bisect_left(run_epochs, epoch)
            if not runs_below or self.runs[runs_below - 1].last_offset < start:
                self.markers.append((epoch, start))
        self.epoch = max([-1, *run_epochs, *(epoch for epoch, _ in self.markers)])

    @property
    def end(self) -> int:
        """Offset after the last valid batch, or -1 if there are no batches."""
        return max((file.end for file in self.files), default=-1)


def find_missing_names(files: Sequence[FileScan]) -> set[int]:
    """Find offsets that occur in a file name although no file begins with them."""
    return {file.name_offset for file in files} - {
        file.begin for file in files if file.batches
    }


def choose_scans(files: Sequence[FileScan], missing: set[int]) -> list[FileScan]:
    """Replace scan results if other files show that a file name is incorrect.

    ``missing`` is the result of ``find_missing_names``. There are two cases:

    * The content of a file begins at an offset that only occurs in another file's name.
      The two names were probably swapped, so the name is ignored.
    * The next file looks like a segment, but is not genuine. The segment before it must
      not be cut off at the offset in that name.
    """
    chosen = []
    for file in files:
        if file.nameless is not None and file.nameless.begin in missing:
            file = file.nameless
        elif file.unbounded is not None:
            later = [other for other in files if other.name_offset > file.name_offset]
            following = min(later, key=lambda other: other.name_offset, default=None)
            if following is not None and not following.is_genuine:
                file = file.unbounded
        chosen.append(file)
    return chosen


def make_chains(folder: ReplicaFolder, files: list[FileScan]) -> list[ReplicaChain]:
    """Distribute a directory's segment files over as few chains as possible."""
    layers: list[list[FileScan]] = []
    for file in sorted(files, key=_get_order):
        for layer in layers:
            if _find_end(layer[-1]) <= _get_order(file)[0]:
                layer.append(file)
                break
        else:
            layers.append([file])
    # Return a chain without files if there is no segment, because the checkpoints can
    # still show how far the log extended.
    return [ReplicaChain(folder, layer) for layer in layers or [[]]]


def _get_order(file: FileScan) -> tuple[int, int, str]:
    begin = file.begin if file.batches else file.name_offset
    return begin, -file.end, file.path


def _find_end(file: FileScan) -> int:
    return file.end if file.batches else file.name_offset


def rank_chains(chains: list[ReplicaChain]) -> list[ReplicaChain]:
    """Sort chains by rank, best first, and set their ``rank``.

    The best chain has the highest leader epoch, then the highest end offset, then the
    largest number of valid bytes. Paths decide remaining ties.
    """
    chains = sorted(
        chains,
        key=lambda chain: (
            -chain.epoch,
            -chain.end,
            -sum(file.good_bytes for file in chain.files),
            chain.folder.path,
            [file.path for file in chain.files],
        ),
    )
    for rank, chain in enumerate(chains):
        chain.rank = rank
    return chains


def _judge_epochs(
    files: Sequence[FileScan], checkpoint: tuple[tuple[int, int], ...]
) -> list[list[EpochStretch]]:
    """Check the leader epochs in batch headers against the surrounding batches.

    ``checkpoint`` contains (leader epoch, first offset) pairs. Returns the stretches of
    every file.
    """
    runs = [run for file in files for run in file.epochs]
    starts = [start for _, start in checkpoint]
    positions = [bisect_right(starts, run.first_offset) for run in runs]
    checkpoint_epochs = [
        checkpoint[position - 1][0] if position else None for position in positions
    ]
    # A batch counts twice as much as the checkpoint entry, so the checkpoint only
    # decides if the batches alone are ambiguous.
    right = mark_ascending(
        [run.epoch for run in runs],
        [
            2 * run.batches + (run.epoch == epoch)
            for run, epoch in zip(runs, checkpoint_epochs, strict=True)
        ],
    )
    for index in {0, len(runs) - 1} if runs else ():
        # The first and the last run have only one neighbour, so trust the checkpoint if
        # the run is a single batch.
        if checkpoint_epochs[index] is not None and runs[index].batches == 1:
            right[index] = runs[index].epoch == checkpoint_epochs[index]
    # For every run, the epoch of the next correct run, or -1.
    following, next_epoch = [], -1
    for index in reversed(range(len(runs))):
        following.append(next_epoch)
        right[index] = right[index] and runs[index].epoch >= -1
        if right[index]:
            next_epoch = runs[index].epoch
    stretches_judged, current = [], -1
    for run, is_right, guess in zip(runs, right, checkpoint_epochs, strict=True):
        next_epoch = following.pop()
        is_certain = is_right or 0 <= next_epoch == current
        if is_right:
            current = run.epoch
        elif not is_certain:
            guess = current if guess is None else guess
            current = max(current, guess if next_epoch < 0 else min(guess, next_epoch))
        stretches_judged.append(EpochStretch(current, *run[1:], is_right, is_certain))
    stretches = iter(stretches_judged)
    return [[next(stretches) for _ in file.epochs] for file in files]


def mark_ascending(epochs: Sequence[int], weights: Sequence[int]) -> list[bool]:
    """Mark the ascending subsequence of epochs that has the maximum total weight."""
    if all(a <= b for a, b in pairwise(epochs)):
        return [True] * len(epochs)
    # Best subsequences so far, as (last epoch, total weight, index of the last
    # element). Both epochs and weights are strictly ascending, so bisection can be
    # used.
    best: list[tuple[int, int, int]] = []
    predecessors = []
    for index, epoch in enumerate(epochs):
        slot = bisect_left(best, (epoch + 1,))
        _, total, previous = best[slot - 1] if slot else (0, 0, -1)
        predecessors.append(previous)
        total += weights[index]
        stop = slot
        while stop < len(best) and best[stop][1] <= total:
            stop += 1
        if slot and best[slot - 1][0] == epoch:
            slot -= 1
        best[slot:stop] = [(epoch, total, index)]
    right = [False] * len(epochs)
    index = best[-1][2]
    while index >= 0:
        right[index] = True
        index = predecessors[index]
    return right


class Lineage:
    """Leader epochs of a log by offset range. Epochs increase with offsets.

    Chains must be added by descending epoch: a chain only adds ranges that are still
    open. ``_runs`` contains (epoch, first offset, last offset). ``_markers`` contains
    (epoch, first offset) for epochs whose batches may be missing.
    """

    def __init__(self, chains: Sequence[ReplicaChain]) -> None:
        self._runs: list[tuple[int, int, int]] = []
        self._markers: list[tuple[int, int]] = []
        for chain in chains:
            self._add_chain(chain)

    def find_window(self, epoch: int) -> tuple[int, int]:
        """Find the first and last possible offset for this leader epoch."""
        low, high = -NEVER, NEVER
        below = bisect_left(self._runs, (epoch,))
        if below:
            low = min(self._runs[below - 1][2] + 1, NEVER)
        for later in (self._runs, self._markers):
            above = bisect_left(later, (epoch + 1,))
            if above < len(later):
                high = min(high, later[above][1] - 1)
        return low, high

    def _add_chain(self, chain: ReplicaChain) -> None:
        spans = {epoch: (first, last) for epoch, first, last in self._runs}
        for run in chain.runs:
            low, high = self.find_window(run.epoch)
            first, last = max(run.first_offset, low), min(run.last_offset, high)
            if first <= last:
                span = spans.get(run.epoch, (first, last))
                spans[run.epoch] = min(first, span[0]), max(last, span[1])
        self._runs = sorted((epoch, *span) for epoch, span in spans.items())
        markers = self._markers
        for epoch, start in chain.markers:
            below = bisect_left(self._runs, (epoch,))
            if not below or self._runs[below - 1][2] < start:
                markers.append((epoch, start))
        # If several markers have the same or a higher epoch, keep the lowest offset.
        self._markers = []
        lowest = NEVER
        for epoch, start in sorted(markers, reverse=True):
            if start < lowest:
                lowest = start
                self._markers.append((epoch, start))
        self._markers.reverse()
