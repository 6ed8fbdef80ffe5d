# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Brokers that accept connections and requests, but stop responding.

As if their process was suspended or the network dropped all packets: the client never
receives an error.
"""

import importlib
import random as random_module

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World

REQUEST_S = 5.0


class Silence:
    """Three brokers, one partition with leader 1, and its scan."""

    def __init__(self, kwire, follow):
        random = random_module.Random(11)
        module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.cluster = SimulatedCluster(kwire, random, 3, ("4.1",))
        self.world = World(self.cluster, random)
        self.topic = self.cluster.add_topic("a", 1)
        self.topic.leaders[0] = 1
        self.log = self.topic.logs[0]
        self.log.append(3)
        for broker in self.cluster.brokers.values():
            broker.learn()
        self.machine = module.ScanMachine(
            [("sim", 9000 + node) for node in self.cluster.brokers],
            module.ClusterSettings(request_timeout_s=REQUEST_S, connect_timeout_s=3.0),
            module.ScanOptions(topics=("a",), follow=follow),
            now=START_S,
            random=random,
        )

    def read(self, seconds):
        """Wait up to ``seconds`` for a chunk, and return the offset after it."""
        until = self.world.now + seconds
        assert self.world.run(self.machine, self.machine.has_result, until)
        fetched = self.machine.take()
        assert fetched is not None, self.machine.failure
        self.machine.release(fetched)
        return fetched.next_offset


def test_a_leader_that_is_silent_is_left_after_the_timeout_of_a_request(kwire):
    """The scan must not wait until metadata expires minutes later."""
    silence = Silence(kwire, follow=True)
    assert silence.read(5.0) == 3

    def fall_silent():
        silence.cluster.brokers[1].is_silent = True
        silence.topic.leaders[0] = 2
        silence.log.new_leader()
        silence.log.append(2)
        for broker in silence.cluster.brokers.values():
            broker.learn()

    # A Fetch is in flight, and no other event wakes the scan.
    silence.world.after(2.0, fall_silent)
    assert silence.read(2.0 + 3 * REQUEST_S) == 5


@pytest.mark.parametrize("silent", [1, 2, 3])
def test_a_broker_that_never_answers_does_not_hold_up_a_scan(kwire, silent):
    """The silent broker is a bootstrap broker, but not the leader.

    The scan continues with the other brokers.
    """
    silence = Silence(kwire, follow=False)
    silence.topic.leaders[0] = silent % 3 + 1
    for broker in silence.cluster.brokers.values():
        broker.learn()
    silence.cluster.brokers[silent].is_silent = True
    assert silence.read(3 * REQUEST_S) == 3
