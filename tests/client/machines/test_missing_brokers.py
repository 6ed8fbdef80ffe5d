# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Leader without an address: metadata is requested again, with pauses.

For some time, metadata may name a leader that is down and therefore has no address.
"""

import importlib
import random as random_module

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World


def test_a_leader_without_an_address_is_looked_for_again(kwire):
    """The fourth Metadata response is the first that contains the leader's address.

    No other event wakes the machine, so that only its pauses repeat the request.
    """
    random = random_module.Random(5)
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    cluster = SimulatedCluster(kwire, random, 2, ("4.1",))
    world, topic = World(cluster, random), cluster.add_topic("a", 1)
    topic.leaders[0] = 2
    topic.logs[0].append(3)
    for broker in cluster.brokers.values():
        broker.learn()
    first = cluster.brokers[1]
    first.alive, answer, requests = {1}, first.answer, []

    def answer_better(request, version):
        requests.append(type(request).__name__)
        if requests.count("MetadataRequest") == 4:
            first.learn()
        return answer(request, version)

    # Do not use a simulated event, because it would wake the machine.
    first.answer = answer_better
    machine = module.ScanMachine(
        [("sim", 9001)],
        module.ClusterSettings(),
        module.ScanOptions(topics=("a",)),
        now=START_S,
        random=random,
    )
    assert world.run(machine, machine.has_result, START_S + 6)
    assert machine.take().next_offset == 3
    assert world.requests < 25
