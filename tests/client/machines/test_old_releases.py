# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Clients of old releases under faults, while the brokers are upgraded.

Leaders move, brokers stop and connections break. Every run of every release before 2.3
ends with its records, or with the error that names the release and the feature.
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
    """Logs are compacted, cut and deleted from as well."""
    records = 0
    for seed in SEEDS:
        scenario = OldScan(kwire, seed, release)
        scenario.run()
        records += sum(len(seen) for seen in scenario.seen.values())
    assert records > 20


@pytest.mark.parametrize("release", OLD)
def test_a_producer_of_an_old_release_delivers_under_faults(kwire, release):
    """Also when an upgrade changes the record format. Without idempotence, a retry can
    write a record again.
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
    """Whichever of the brokers answers first."""
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
    """Each consumer begins where the last one has committed, and all is read."""
    complete = 0
    for seed in SEEDS:
        failure = CommittingScenario(kwire, seed, release).run()
        complete += failure is None
    assert complete > 0 or release not in NAMES[NAMES.index("0.8.2") :]
