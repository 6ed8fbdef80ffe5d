# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Scans of a simulated cluster under faults: no record is lost or doubled.

Each seed is a cluster, its faults and a scan. A seed that fails names itself:
``python -m tests.client.machines.replay SEED`` runs it again and prints what was known.
"""

import os

import pytest

from tests.client.machines.scan_scenario import run_seed

SEEDS = int(os.environ.get("KWIRE_SIMULATION_SEEDS", "500"))
"""How many in all; the gate runs 2,000 and ``make deep`` 100,000."""

FIRST = int(os.environ.get("KWIRE_SIMULATION_FIRST", "0"))
"""The seed to begin with, for runs over others than before."""

SHARE = {"fast": 4, "pure": 1}
"""How the seeds are shared between the engines: the logic is the same for both."""

PARTS = 4

ENOUGH = 40
"""How many seeds lose records at least once."""


@pytest.mark.parametrize("part", range(PARTS))
def test_a_scan_reads_each_record_once_whatever_happens(kwire, part):
    """In order, none aborted, within its memory, with an end, and losses reported."""
    share = SHARE[kwire.backend] if len(SHARE) > 1 else 1
    count = SEEDS * share // sum(SHARE.values()) // PARTS
    first = FIRST + part * SEEDS // PARTS
    first += count * 4 if kwire.backend == "pure" else 0
    losses = records = 0
    for seed in range(first, first + count):
        scenario = run_seed(kwire, seed)
        losses += bool(scenario.machine.losses or scenario.machine.failure)
        records += sum(len(seen) for seen in scenario.seen.values())
    # A simulation in which nothing happens would protect nothing.
    assert records > 20 * count
    assert losses > 0 or count < ENOUGH
