# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The replicas of a partition as chains of files, and the leader epochs of the log.

A chain consists of files of one folder that do not overlap. A folder of tiered storage
that has a part of the log twice makes two chains. The checksum of a batch does not
cover its leader epoch, so an epoch is accepted if epochs ascend along the chain.

All chains together show the lineage: the leader epoch of each part of the log, as Kafka
would decide it. Kafka truncates the batches of a replica that contradict the lineage.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .scan import FileScan

NEVER = 2**63 - 1
"""Highest possible offset, which no record has: its log would have no end offset."""


class ReplicaFolder(NamedTuple):
    """Content of the files beside the segments of a folder.

    ``claims`` are pairs (offset, sentence): files show that the log had an end of at
    least this offset. ``epochs`` are pairs of leader epoch and first offset.
    ``orphans`` are the offsets in the names of indexes without a segment.
    """

    path: str
    log_start: int = 0
    claims: tuple[tuple[int, str], ...] = ()
    epochs: tuple[tuple[int, int], ...] = ()
    is_compacted: bool = False
    orphans: tuple[int, ...] = ()

    def find_orphan(self, first: int, default: int) -> int:
        """Return the lowest offset from ``first`` on of an index without a segment."""
        return min((at for at in self.orphans if at >= first), default=default)


class EpochStretch(NamedTuple):
    """Consecutive batches of one file with the same leader epoch in their headers.

    ``epoch`` is the epoch that the chain shows. ``is_right``: the headers have the same
    epoch. ``is_certain``: no other epoch is possible.
    """

    epoch: int
    first_offset: int
    last_offset: int
    batches: int
    is_right: bool
    is_certain: bool


class ReplicaChain:
    """Files of one folder that do not overlap, in the order of their offsets.

    ``stretches`` has the judged leader epochs of each file. ``runs`` are those that are
    certain, and ``markers`` the entries of the folder's epoch checkpoint that these do
    not contradict. ``epoch`` is the highest epoch of both, or -1.
    """

    def __init__(self, folder: ReplicaFolder, files: list[FileScan]) -> None:
        self.folder = folder
        self.files = files
        self.rank = 0
        is_sorted = list(folder.epochs) == sorted(set(folder.epochs))
        checkpoint = folder.epochs if is_sorted else ()
        self.stretches = _judge_epochs(files, checkpoint)
        self.runs = [run for own in self.stretches for run in own if run.is_certain]
        self.markers = []
        tops = [run.epoch for run in self.runs]
        for epoch, start in checkpoint:
            below = bisect_left(tops, epoch)
            if not below or self.runs[below - 1].last_offset < start:
                self.markers.append((epoch, start))
        self.epoch = max([-1, *tops, *(epoch for epoch, _ in self.markers)])

    @property
    def end(self) -> int:
        """Offset after the last valid batch, or -1 without batches."""
        return max((each.end for each in self.files), default=-1)


def find_missing_names(files: Sequence[FileScan]) -> set[int]:
    """Return the offsets in names of files with which no file begins."""
    return {file.name_offset for file in files} - {
        file.begin for file in files if file.batches
    }


def choose_scans(files: Sequence[FileScan], missing: set[int]) -> list[FileScan]:
    """Replace the scans of files if the other files show that a name is wrong.

    ``missing`` is the result of ``find_missing_names``. A file may have the content to
    which the name of another file belongs. If a file has the name of a segment but is
    none, the preceding segment seems to end at the offset in that name.
    """
    found = []
    for file in files:
        if file.nameless is not None and file.nameless.begin in missing:
            file = file.nameless
        elif file.unbounded is not None:
            later = [each for each in files if each.name_offset > file.name_offset]
            following = min(later, key=lambda each: each.name_offset, default=None)
            if following is not None and not following.is_genuine:
                file = file.unbounded
        found.append(file)
    return found


def make_chains(folder: ReplicaFolder, files: list[FileScan]) -> list[ReplicaChain]:
    """Distribute the files of a folder over as few chains as possible."""
    layers: list[list[FileScan]] = []
    for file in sorted(files, key=_get_order):
        for layer in layers:
            if _find_end(layer[-1]) <= _get_order(file)[0]:
                layer.append(file)
                break
        else:
            layers.append([file])
    # Files beside the segments may show how far the log went, without any segment.
    return [ReplicaChain(folder, layer) for layer in layers or [[]]]


def _get_order(file: FileScan) -> tuple[int, int, str]:
    begin = file.begin if file.batches else file.name_offset
    return begin, -file.end, file.path


def _find_end(file: FileScan) -> int:
    return file.end if file.batches else file.name_offset


def rank_chains(chains: list[ReplicaChain]) -> list[ReplicaChain]:
    """Sort chains: the highest epoch first, then the longest log, then most bytes."""
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
    """Judge the epochs of the batches of each file by the batches around them."""
    runs = [run for file in files for run in file.epochs]
    starts = [start for _, start in checkpoint]
    positions = [bisect_right(starts, run.first_offset) for run in runs]
    noted = [checkpoint[at - 1][0] if at else None for at in positions]
    # If the batches alone leave it open, the checkpoint decides.
    right = mark_ascending(
        [run.epoch for run in runs],
        [
            2 * run.batches + (run.epoch == epoch)
            for run, epoch in zip(runs, noted, strict=True)
        ],
    )
    for index in {0, len(runs) - 1} if runs else ():
        # These runs have a neighbour on one side only, so the checkpoint decides.
        if noted[index] is not None and runs[index].batches == 1:
            right[index] = runs[index].epoch == noted[index]
    # For each run the epoch of the next one that is right, or -1.
    following, upper = [], -1
    for index in reversed(range(len(runs))):
        following.append(upper)
        right[index] = right[index] and runs[index].epoch >= -1
        if right[index]:
            upper = runs[index].epoch
    judged, current = [], -1
    for run, is_right, guess in zip(runs, right, noted, strict=True):
        upper = following.pop()
        is_certain = is_right or 0 <= upper == current
        if is_right:
            current = run.epoch
        elif not is_certain:
            guess = current if guess is None else guess
            current = max(current, guess if upper < 0 else min(guess, upper))
        judged.append(EpochStretch(current, *run[1:], is_right, is_certain))
    stretches = iter(judged)
    return [[next(stretches) for _ in file.epochs] for file in files]


def mark_ascending(epochs: Sequence[int], weights: Sequence[int]) -> list[bool]:
    """Mark the ascending epochs whose sum of weights is the highest."""
    if all(a <= b for a, b in pairwise(epochs)):
        return [True] * len(epochs)
    # The best sum of weights up to each epoch, as (epoch, sum, index of the last one):
    # epochs and sums ascend.
    best: list[tuple[int, int, int]] = []
    before = []
    for index, epoch in enumerate(epochs):
        at = bisect_left(best, (epoch + 1,))
        _, total, previous = best[at - 1] if at else (0, 0, -1)
        before.append(previous)
        total += weights[index]
        stop = at
        while stop < len(best) and best[stop][1] <= total:
            stop += 1
        if at and best[at - 1][0] == epoch:
            at -= 1
        best[at:stop] = [(epoch, total, index)]
    right = [False] * len(epochs)
    index = best[-1][2]
    while index >= 0:
        right[index] = True
        index = before[index]
    return right


class Lineage:
    """The leader epoch of each part of a log. Epochs ascend with offsets.

    Chains are added from the highest epoch down: each chain adds the parts that the
    chains before it leave open. ``_runs`` are (epoch, first offset, last offset), and
    ``_markers`` are (epoch, first offset) of epochs whose batches may be gone.
    """

    def __init__(self, chains: Sequence[ReplicaChain]) -> None:
        self._runs: list[tuple[int, int, int]] = []
        self._markers: list[tuple[int, int]] = []
        for chain in chains:
            self._add(chain)

    def find_window(self, epoch: int) -> tuple[int, int]:
        """Return the first and last offset that a batch of an epoch may have."""
        low, high = -NEVER, NEVER
        below = bisect_left(self._runs, (epoch,))
        if below:
            low = min(self._runs[below - 1][2] + 1, NEVER)
        for later in (self._runs, self._markers):
            above = bisect_left(later, (epoch + 1,))
            if above < len(later):
                high = min(high, later[above][1] - 1)
        return low, high

    def _add(self, chain: ReplicaChain) -> None:
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
        # Of several that name an epoch, or a higher one, the lowest offset counts.
        self._markers = []
        lowest = NEVER
        for epoch, start in sorted(markers, reverse=True):
            if start < lowest:
                lowest = start
                self._markers.append((epoch, start))
        self._markers.reverse()
