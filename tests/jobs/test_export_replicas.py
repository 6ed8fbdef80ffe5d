# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of offsets, leader epochs, and the replicas that belong to the log."""

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from kwire.jobs.export_job.ranges import (
    count,
    find_overlapping,
    merge_ranges,
    subtract_ranges,
)
from kwire.jobs.export_job.replicas import (
    Lineage,
    ReplicaChain,
    ReplicaFolder,
    mark_ascending,
)
from kwire.jobs.export_job.scan import EpochRun, FileScan

RANGES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 8)).map(lambda r: (r[0], sum(r)))
)


def offsets(ranges):
    """Return the set of all offsets in (first, last) ranges."""
    return {offset for first, last in ranges for offset in range(first, last + 1)}


@given(RANGES, RANGES)
def test_ranges_are_sets_of_offsets(one, other):
    """Union, difference and count of ranges equal those of sets of offsets."""
    joined = merge_ranges(one)
    assert offsets(joined) == offsets(one)
    assert all(a[1] + 1 < b[0] for a, b in itertools.pairwise(joined))
    assert count(joined) == len(offsets(one))
    assert offsets(subtract_ranges(joined, merge_ranges(other))) == offsets(
        one
    ) - offsets(other)


@given(RANGES, st.integers(0, 50), st.integers(0, 5))
def test_overlapping_ranges_are_found(ranges, first, length):
    joined = merge_ranges(ranges)
    query_offsets = offsets([(first, first + length)])
    overlapping = [
        epoch_range for epoch_range in joined if offsets([epoch_range]) & query_offsets
    ]
    assert list(find_overlapping(joined, first, first + length)) == overlapping


@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(1, 9)), max_size=9))
def test_the_heaviest_epochs_that_ascend_are_right(runs):
    """The chosen runs have ascending epochs and the maximum total weight.

    The test compares the weight with that of every possible choice.
    """
    epochs, weights = [e for e, _ in runs], [w for _, w in runs]
    right = mark_ascending(epochs, weights)
    right_epochs = [
        epoch for epoch, is_right in zip(epochs, right, strict=True) if is_right
    ]
    assert right_epochs == sorted(right_epochs)
    best = max(
        sum(weights[i] for i in chosen)
        for size in range(len(runs) + 1)
        for chosen in itertools.combinations(range(len(runs)), size)
        if [epochs[i] for i in chosen] == sorted(epochs[i] for i in chosen)
    )
    assert sum(w for w, r in zip(weights, right, strict=True) if r) == best


def chain(*runs, epochs=()):
    """Return a chain with one file.

    * ``runs``: (epoch, first offset, last offset) of consecutive batches.
    * ``epochs``: (epoch, first offset) entries of the leader epoch checkpoint.
    """
    file = FileScan(
        None,
        "f",
        0,
        "",
        (),
        len(runs),
        1,
        runs[0][1],
        runs[-1][2] + 1,
        True,
        False,
        False,
        True,
        tuple(EpochRun(*run, 3) for run in runs),
        (),
    )
    return ReplicaChain(ReplicaFolder("f", epochs=epochs), [file])


def test_later_batches_of_an_older_leader_are_not_in_the_log():
    """Batches of epoch 1 are not in the log at offsets where epoch 2 has started."""
    true = chain((1, 0, 99), (2, 100, 109))
    stale = chain((1, 0, 150))
    lineage = Lineage([true, stale])
    assert lineage.find_window(1)[1] == 99
    assert lineage.find_window(2)[0] == 100


def test_checkpoint_contains_the_start_of_an_epoch_without_batches():
    lineage = Lineage([chain((1, 0, 80), (2, 120, 130), epochs=((1, 0), (2, 100)))])
    assert lineage.find_window(1)[1] == 99
    # A checkpoint is ignored if the epochs of the batches contradict it.
    lineage = Lineage([chain((1, 0, 80), (2, 120, 130), epochs=((1, 0), (2, 50)))])
    assert lineage.find_window(1)[1] == 119


def test_the_highest_epoch_decides_which_history_is_the_log():
    """If two replicas have diverged, the one with the highest epoch is the log."""
    last = chain((1, 0, 114), (3, 115, 120))
    other = chain((1, 0, 99), (2, 100, 130))
    lineage = Lineage([last, other])
    assert lineage.find_window(1)[1] == 114
    low, high = lineage.find_window(2)
    assert low > high


def test_a_single_flipped_epoch_does_not_decide():
    """A single batch with a wrong high epoch does not decide which replica is right.

    The epoch of the later batches is lower, so the single epoch must be damaged.
    """
    flipped = chain((2, 0, 50), (1 << 20, 51, 53), (2, 54, 90))
    assert flipped.epoch == 2
    assert [stretch.is_right for stretch in flipped.stretches[0]] == [True, False, True]
    assert {stretch.epoch for stretch in flipped.stretches[0]} == {2}


def test_many_epochs_take_little_time():
    """A file with a different epoch in every batch is processed in linear time."""
    generator = random.Random(1)
    epochs = [generator.randrange(1 << 30) for _ in range(60_000)]
    right = mark_ascending(epochs, [1] * len(epochs))
    assert 200 < sum(right) < 700
