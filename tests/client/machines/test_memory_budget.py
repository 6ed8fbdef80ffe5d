# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Memory budget: a waiting Fetch is sent as soon as a scan releases memory."""

import importlib
import random as random_module

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World

BATCHES = 40


def test_released_memory_is_used_by_the_next_fetch_immediately(kwire):
    """Even if the memory budget is always used up, a scan never waits for a timeout."""
    random = random_module.Random(3)
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    cluster = SimulatedCluster(kwire, random, 1, ("4.1",))
    world = World(cluster, random)
    world.delay = lambda: 0.001
    log = cluster.add_topic("a", 1).logs[0]
    for _ in range(BATCHES):
        log.append(3)
    cluster.brokers[1].learn()
    machine = module.ScanMachine(
        [("sim", 9001)],
        module.ClusterSettings(),
        module.ScanOptions(topics=("a",), memory_bytes=450, fetch_bytes=150),
        now=START_S,
        random=random,
    )
    held = None
    while world.run(machine, machine.has_result, START_S + 600):
        # Take the next chunk before the memory of the previous one is released.
        if held is not None:
            machine.release(held)
        held = machine.take()
        if held is None:
            break
        world.run(machine, lambda: False, world.now + 0.1)
    assert machine.is_done
    assert world.now - START_S < 0.2 * BATCHES
