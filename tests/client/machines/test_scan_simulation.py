# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated scans under faults: no record is lost or duplicated.

A seed is a cluster, its faults and a scan. Failures contain their seed: ``python -m
tests.client.machines.replay SEED`` runs it again and prints its state.
"""

import os

import pytest

from tests.client.machines.scan_scenario import run_seed

SEEDS = int(os.environ.get("KWIRE_SIMULATION_SEEDS", "500"))
"""Total seed count. The gate runs 2,000, and ``make deep`` runs 100,000."""

FIRST = int(os.environ.get("KWIRE_SIMULATION_FIRST", "0"))
"""First seed, so that later runs can use different seeds."""

SHARE = {"fast": 4, "pure": 1}
"""Fraction of all seeds that run per engine.

Both engines run the same state machines.
"""

PARTS = 4

ENOUGH = 40
"""Number of seeds among which at least one has a data loss."""


@pytest.mark.parametrize("part", range(PARTS))
def test_a_scan_reads_each_record_once_whatever_happens(kwire, part):
    """Records are in order, not aborted, and within the memory budget.

    The scan ends, and reports all data losses.
    """
    share = SHARE[kwire.backend] if len(SHARE) > 1 else 1
    count = SEEDS * share // sum(SHARE.values()) // PARTS
    first = FIRST + part * SEEDS // PARTS
    first += count * 4 if kwire.backend == "pure" else 0
    losses = records = 0
    for seed in range(first, first + count):
        scenario = run_seed(kwire, seed)
        losses += bool(scenario.machine.losses or scenario.machine.failure)
        records += sum(len(seen) for seen in scenario.seen.values())
    # Fail if the simulation had no effect.
    assert records > 20 * count
    assert losses > 0 or count < ENOUGH
