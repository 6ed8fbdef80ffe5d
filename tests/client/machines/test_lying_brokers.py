# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""If brokers send wrong responses, a scan must end after limited work.

Random fields in correct responses are changed: offsets that decrease or are huge,
leaders that do not exist or point in circles, all error codes, records at other
offsets, invalid bytes, partitions that are missing or repeated.
"""

import importlib
import random as random_module

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.liar import Liar
from tests.client.machines.world import START_S, World

SEEDS = 150
LONGEST_S = 600.0


@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_a_scan_of_liars_ends(kwire, first):
    """The scan ends normally or with a typed error, and sends few requests."""
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    ended = failed = 0
    for seed in range(first, first + 50):
        random = random_module.Random(seed)
        cluster = SimulatedCluster(kwire, random, random.choice([1, 3]), ["4.1", "2.8"])
        topic = cluster.add_topic("a", 2)
        for log in topic.logs:
            for _ in range(10):
                log.append(2)
        liar = Liar(kwire, random)
        for broker in cluster.brokers.values():
            broker.learn()
            broker.answer = liar.in_place_of(broker.answer)
            broker.answer_fetch = liar.in_place_of(broker.answer_fetch)
        world = World(cluster, random)
        settings = module.ClusterSettings(timeout_s=20.0)
        options = module.ScanOptions(
            topics=("a",), on_data_loss=random.choice(["raise", "earliest", "latest"])
        )
        addresses = [("sim", 9000 + node) for node in cluster.brokers]
        machine = module.ScanMachine(
            addresses, settings, options, now=START_S, random=random
        )
        chunk_count = 0
        while world.run(machine, machine.has_result, START_S + LONGEST_S):
            fetched = machine.take()
            if fetched is None:
                break
            assert fetched.next_offset > fetched.start_offset
            machine.release(fetched)
            chunk_count += 1
            if chunk_count > 1000:
                # The broker may invent records forever, which does not block the
                # caller.
                break
        else:
            raise AssertionError(f"seed {seed}: the scan came to no end")
        if machine.failure is not None:
            assert isinstance(machine.failure, kwire.KwireError), f"seed {seed}"
            failed += 1
        ended += 1
        elapsed = world.now - START_S
        assert world.requests < 10 * (elapsed + 5) + 3 * chunk_count, f"seed {seed}"
        machine.close(world.now)
    assert ended == 50
    # Some lies must be detected. Other lies have no effect on the scan.
    assert 0 < failed < 50
