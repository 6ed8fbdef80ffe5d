# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run clients under faults, while brokers with old releases are upgraded.

Leaders move, brokers stop and connections break. For all releases before 2.3, every run
returns its records, or raises the error that contains the release and the feature.
"""

import pytest

from tests.client.machines.old_releases import (
    NAMES,
    OLD,
    CommittingScenario,
    JoiningScenario,
    OldProducer,
    OldScan,
)

SEEDS = range(4)


@pytest.mark.parametrize("release", OLD)
def test_a_scan_of_an_old_release_reads_each_record_once_under_faults(kwire, release):
    """The faults include record compaction, truncation and deletion."""
    records = 0
    for seed in SEEDS:
        scenario = OldScan(kwire, seed, release)
        scenario.run()
        records += sum(len(seen) for seen in scenario.seen.values())
    assert records > 20


@pytest.mark.parametrize("release", OLD)
def test_a_producer_of_an_old_release_delivers_under_faults(kwire, release):
    """The brokers may be upgraded to a release with another record format.

    Without idempotence, a retry may write a record twice.
    """
    done = 0
    for seed in SEEDS:
        scenario = OldProducer(kwire, seed, release)
        scenario.run()
        for batch, _ in scenario.given:
            done += sum(leaf.receipt is not None for leaf in batch.leaves())
    assert done > 20


@pytest.mark.parametrize("release", OLD)
def test_joining_a_group_of_an_old_release_is_a_typed_error_under_faults(
    kwire, release
):
    """The error names KIP-848 and release 3.7, whichever broker responds first."""
    named = 0
    for seed in SEEDS:
        failure = JoiningScenario(kwire, seed, release).run()
        if failure is not None:
            assert failure.feature == "the group protocol of KIP-848"
            assert failure.first_release == "3.7"
            named += 1
    assert named > 0


@pytest.mark.parametrize("release", OLD)
def test_committed_offsets_of_an_old_release_are_kept_under_faults(kwire, release):
    """Every consumer starts at the previous consumer's offsets, until all is read."""
    complete = 0
    for seed in SEEDS:
        failure = CommittingScenario(kwire, seed, release).run()
        complete += failure is None
    assert complete > 0 or release not in NAMES[NAMES.index("0.8.2") :]
