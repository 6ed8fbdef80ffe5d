# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Topics that are deleted and created again while a response is in flight.

2.8 brokers send topic ids in Metadata, but Fetch and ListOffsets only contain topic
names. A response about the old topic therefore looks like a response about the new
topic.
"""

import importlib
import random as random_module

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World

QUICK_S, SLOW_S = 0.01, 2.0


def test_records_of_the_old_topic_do_not_count_for_the_new_one(kwire):
    """Records of the old topic may arrive after the metadata of the new topic.

    They must be dropped, and the new topic must be read from its start.
    """
    random = random_module.Random(3)
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    cluster = SimulatedCluster(kwire, random, 2, ("2.8",))
    world, old = World(cluster, random), cluster.add_topic("a", 1)
    old.leaders[0] = 1
    old.logs[0].append(3)
    for broker in cluster.brokers.values():
        broker.learn()
    world.delay = lambda: QUICK_S
    machine = module.ScanMachine(
        # Request metadata from the broker that is not the leader, over a separate link.
        [("sim", 9002)],
        module.ClusterSettings(metadata_max_age_s=0.5),
        module.ScanOptions(topics=("a",), follow=True, on_data_loss="earliest"),
        now=START_S,
        random=random,
    )
    assert world.run(machine, machine.has_result, START_S + 3)
    machine.release(machine.take())

    def create_again():
        # Send the response to the pending Fetch now, but deliver it late.
        world.delay = lambda: SLOW_S
        old.logs[0].append(2)

    def name_it():
        world.delay = lambda: QUICK_S
        new = cluster.add_topic("a", 1)
        new.leaders[0] = 1
        new.logs[0].append(1)
        for broker in cluster.brokers.values():
            broker.learn()

    world.after(1.0, create_again)
    world.after(1.1, name_it)
    assert world.run(machine, machine.has_result, world.now + 3 * SLOW_S)
    fetched = machine.take()
    assert fetched is not None, machine.failure
    rows, _ = kwire.records.decode_records(fetched.data)
    assert [(row.offset, row.value) for row in rows] == [(0, b"a.2-0#1")]
    assert [loss.reason for loss in machine.losses] == [
        "the topic was deleted and created again"
    ]
