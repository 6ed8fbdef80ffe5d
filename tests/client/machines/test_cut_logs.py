# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Scans that report a log truncation even if the log has grown again (KIP-320).

An unclean election loses the last records, and new records get their offsets. From
Fetch version 12 on, brokers detect the truncation. For older versions, the scan uses
OffsetForLeaderEpoch.
"""

import importlib
import random as random_module

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World


@pytest.mark.parametrize("release", ["2.3", "2.6", "2.8", "4.1"])
def test_records_that_were_read_and_lost_are_reported(kwire, release):
    """A truncated log grows to its old end. Its offsets alone do not show the loss."""
    random = random_module.Random(3)
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    cluster = SimulatedCluster(kwire, random, 1, (release,))
    world, log = World(cluster, random), cluster.add_topic("a", 1).logs[0]
    log.append(3)
    log.append(3)
    cluster.brokers[1].learn()
    machine = module.ScanMachine(
        [("sim", 9001)],
        module.ClusterSettings(),
        module.ScanOptions(topics=("a",), follow=True),
        now=START_S,
        random=random,
    )
    assert world.run(machine, machine.has_result, START_S + 3)
    fetched = machine.take()
    assert fetched.next_offset == 6
    machine.release(fetched)
    log.new_leader(cut=3)
    log.append(3)
    cluster.brokers[1].learn()
    assert world.run(machine, machine.has_result, START_S + 10)
    assert isinstance(machine.failure, module.DataLost)
    assert "truncated to offset 3" in str(machine.failure)
