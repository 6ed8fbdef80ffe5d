# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The replicas of one partition as chains of batches, and their leader epochs.

A chain is what one folder holds without overlaps; a folder of tiered storage that has
a part of the log twice makes two. The leader epoch of a batch is not under its
checksum, so it is believed where it ascends along the chain. From all chains comes the
lineage: which epoch each part of the log is of, as Kafka would decide it. What a chain
holds against the lineage was cut off by Kafka, or would have been.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .scan import EpochRun, FileScan

NEVER = 2**63
"""Above every offset."""


class ReplicaFolder(NamedTuple):
    """What the files beside the segments of a folder say about its log.

    ``claims`` are (offset, words): so far the log went once. ``epochs`` are pairs of
    leader epoch and first offset. ``orphans`` are offsets of indexes without a segment.
    """

    path: str
    log_start: int = 0
    claims: tuple[tuple[int, str], ...] = ()
    epochs: tuple[tuple[int, int], ...] = ()
    is_compacted: bool = False
    orphans: tuple[int, ...] = ()


class EpochStretch(NamedTuple):
    """Batches of one file that follow each other, and the epoch that they are of.

    ``epoch`` is the one that the chain shows; ``is_right`` says that the batches have
    it too, ``is_certain`` that it can be no other.
    """

    epoch: int
    first_offset: int
    last_offset: int
    batches: int
    is_right: bool
    is_certain: bool


class ReplicaChain:
    """Files of one folder that do not overlap, in the order of their offsets."""

    def __init__(self, folder: ReplicaFolder, files: list[FileScan]) -> None:
        self.folder = folder
        self.files = files
        self.rank = 0
        self.stretches = _judge_epochs(files, folder.epochs)
        runs = [run for each in self.stretches for run in each if run.is_certain]
        self.markers = _find_sound_markers(folder.epochs, runs)
        self.epoch = max(
            (epoch for epoch in (*(r.epoch for r in runs), *self.epochs)), default=-1
        )

    @property
    def epochs(self) -> list[int]:
        """The epochs that the folder's checkpoint rightly names."""
        return [epoch for epoch, _ in self.markers]

    @property
    def end(self) -> int:
        """The offset after the last good batch; -1 if there is none."""
        return max((each.end for each in self.files), default=-1)


def find_missing_names(files: Sequence[FileScan]) -> set[int]:
    """Give the offsets that files are named after and that none begins with."""
    return {file.name_offset for file in files} - {
        file.begin for file in files if file.batches
    }


def choose_scans(files: Sequence[FileScan], missing: set[int]) -> list[FileScan]:
    """Take the other scan of files where a wrong name is shown to be one.

    ``missing`` is what ``find_missing_names`` gives for them.
    A file may hold what another one is named after that holds something else; and a
    file that is no segment may have the name of one, as if those before it ended there.
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
    """Put the files of a folder into as few chains as there need to be."""
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
    """Order chains by how much they know: the highest epoch, then the longest log."""
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
    files: Sequence[FileScan], epochs: tuple[tuple[int, int], ...]
) -> list[list[EpochStretch]]:
    """Judge the epochs of the batches of each file by those around them."""
    runs = [run for file in files for run in file.epochs]
    if list(epochs) != sorted(set(epochs)):
        epochs = ()
    starts = [start for _, start in epochs]
    noted = []
    for run in runs:
        at = bisect_right(starts, run.first_offset) - 1
        noted.append(epochs[at][0] if at >= 0 else None)
    # Where the batches alone leave it open, the checkpoint decides.
    right = mark_ascending(
        [run.epoch for run in runs],
        [
            2 * run.batches + (run.epoch == epoch)
            for run, epoch in zip(runs, noted, strict=True)
        ],
    )
    for index in {0, len(runs) - 1} if runs else ():
        # Only one side could show these to be wrong, so the checkpoint has to.
        if noted[index] is not None and runs[index].batches == 1:
            right[index] = runs[index].epoch == noted[index]
    for index, run in enumerate(runs):
        right[index] = right[index] and run.epoch >= -1
    judged, index, current = [], 0, -1
    following = _find_next_right(runs, right)
    for file in files:
        stretches = []
        for run in file.epochs:
            upper, is_right = following[index], right[index]
            is_certain = is_right or 0 <= upper == current
            if is_right:
                current = run.epoch
            elif not is_certain:
                guess = noted[index]
                guess = current if guess is None else guess
                current = max(current, guess if upper < 0 else min(guess, upper))
            stretches.append(EpochStretch(current, *run[1:], is_right, is_certain))
            index += 1
        judged.append(stretches)
    return judged


def _find_next_right(runs: Sequence[EpochRun], right: Sequence[bool]) -> list[int]:
    """Give for each run the epoch of the next one that is right, or -1."""
    found, epoch = [-1] * len(runs), -1
    for index in range(len(runs) - 1, -1, -1):
        found[index] = epoch
        if right[index]:
            epoch = runs[index].epoch
    return found


def mark_ascending(epochs: Sequence[int], weights: Sequence[int]) -> list[bool]:
    """Mark those epochs that ascend and weigh most together."""
    if all(a <= b for a, b in pairwise(epochs)):
        return [True] * len(epochs)
    # The best sums up to each epoch: both lists ascend.
    tops: list[int] = []
    best: list[tuple[int, int]] = []
    before = []
    for index, epoch in enumerate(epochs):
        at = bisect_right(tops, epoch)
        total, previous = best[at - 1] if at else (0, -1)
        before.append(previous)
        total += weights[index]
        stop = at
        while stop < len(best) and best[stop][0] <= total:
            stop += 1
        if at and tops[at - 1] == epoch:
            at -= 1
        tops[at:stop] = [epoch]
        best[at:stop] = [(total, index)]
    right = [False] * len(epochs)
    index = best[-1][1]
    while index >= 0:
        right[index] = True
        index = before[index]
    return right


def _find_sound_markers(
    epochs: tuple[tuple[int, int], ...], runs: Sequence[EpochStretch]
) -> tuple[tuple[int, int], ...]:
    """Give the entries of a checkpoint that the chain does not contradict."""
    if list(epochs) != sorted(set(epochs)):
        return ()
    tops = [run.epoch for run in runs]
    found = []
    for epoch, start in epochs:
        below = bisect_left(tops, epoch)
        if below and runs[below - 1].last_offset >= start:
            continue
        found.append((epoch, start))
    return tuple(found)


class Lineage:
    """Which leader epoch each part of a log is of; both ascend together.

    Chains are added from the highest epoch down: each one fills in what those before
    it leave open.
    """

    def __init__(self, chains: Sequence[ReplicaChain]) -> None:
        self._runs: list[tuple[int, int, int]] = []
        self._epochs: list[int] = []
        self._markers: list[tuple[int, int]] = []
        for chain in chains:
            self._add(chain)

    def find_window(self, epoch: int) -> tuple[int, int]:
        """Give the first and last offset that a batch of an epoch may have."""
        below = bisect_left(self._epochs, epoch) - 1
        above = bisect_right(self._epochs, epoch)
        low = self._runs[below][1] + 1 if below >= 0 else -NEVER
        high = self._runs[above][0] - 1 if above < len(self._runs) else NEVER
        marker = bisect_right(self._markers, (epoch, NEVER))
        if marker < len(self._markers):
            high = min(high, self._markers[marker][1] - 1)
        return low, high

    def find_begin_above(self, epoch: int) -> int:
        """Give the first offset that is known to be of a higher epoch."""
        return self.find_window(epoch)[1] + 1

    def _add(self, chain: ReplicaChain) -> None:
        found = list(self._runs)
        for stretches in chain.stretches:
            for run in filter(_is_certain, stretches):
                low, high = self.find_window(run.epoch)
                first, last = max(run.first_offset, low), min(run.last_offset, high)
                if first <= last:
                    found.append((first, last, run.epoch))
        self._runs = _merge_runs(found)
        self._epochs = [epoch for _, _, epoch in self._runs]
        markers = list(self._markers)
        for epoch, start in chain.markers:
            below = bisect_left(self._epochs, epoch) - 1
            if below < 0 or self._runs[below][1] < start:
                markers.append((epoch, start))
        # Of several that name an epoch, or a higher one, the lowest offset counts.
        self._markers = []
        lowest = NEVER
        for epoch, start in sorted(markers, reverse=True):
            if start < lowest:
                lowest = start
                self._markers.append((epoch, start))
        self._markers.reverse()


def _is_certain(stretch: EpochStretch) -> bool:
    return stretch.is_certain


def _merge_runs(runs: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Make one run of each epoch."""
    found: dict[int, tuple[int, int, int]] = {}
    for first, last, epoch in runs:
        if epoch in found:
            first, last = min(first, found[epoch][0]), max(last, found[epoch][1])
        found[epoch] = first, last, epoch
    return sorted(found.values(), key=lambda run: run[2])
