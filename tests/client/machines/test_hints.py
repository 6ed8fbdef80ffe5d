# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Leader hints (KIP-951): newer leaders are used immediately, older ones never.

The cluster has three 4.1 brokers and one partition. The tests set every broker's view.
"""

import importlib
import random as random_module

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World

DELAY_S = 0.01


class Hints:
    """Scan that has read all records of a partition and waits for more."""

    def __init__(self, kwire):
        random = random_module.Random(7)
        module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.cluster = SimulatedCluster(kwire, random, 3, ("4.1",))
        self.world = World(self.cluster, random)
        self.world.delay = lambda: DELAY_S
        self.topic = self.cluster.add_topic("a", 1)
        self.log = self.topic.logs[0]
        self.topic.leaders[0] = 1
        self.log.append(3)
        self.learn(1, 2, 3)
        bootstrap = [("sim", 9000 + node) for node in self.cluster.brokers]
        self.machine = module.ScanMachine(
            bootstrap,
            module.ClusterSettings(),
            module.ScanOptions(topics=("a",), follow=True),
            now=START_S,
            random=random,
        )
        self.offsets = []
        self.run(2.0)
        assert self.offsets == [3]

    def learn(self, *nodes):
        """Update the view that some brokers have."""
        for node in nodes:
            self.cluster.brokers[node].learn()

    def run(self, seconds):
        """Read for some seconds of simulated time.

        Return the arrival time of the last chunk, or None without a chunk.
        """
        until, came_at = self.world.now + seconds, None
        while self.world.run(self.machine, self.machine.has_result, until):
            fetched = self.machine.take()
            assert fetched is not None, self.machine.failure
            self.offsets.append(fetched.next_offset)
            self.machine.release(fetched)
            came_at = self.world.now
        return came_at

    def lead(self, node):
        """Make another broker the leader in the next epoch."""
        self.topic.leaders[0] = node
        self.log.new_leader()


@pytest.fixture
def hints(kwire):
    """Scan in a cluster whose brokers agree on leader 1."""
    return Hints(kwire)


def test_newer_leader_is_fetched_from_immediately(hints):
    """The Fetch needs neither the stale metadata nor a backoff."""
    hints.lead(2)
    hints.learn(1, 2)
    hints.log.append(2)
    # A metadata refresh would return broker 1 again.
    hints.machine.cluster._refresh_at = hints.world.now + 1000
    began_at = hints.world.now
    came_at = hints.run(3.0)
    assert hints.offsets == [3, 5]
    # The Fetch in flight returns first. Then a Fetch is sent to the new leader.
    assert came_at - began_at < 0.5 + 10 * DELAY_S


def test_a_new_leader_that_does_not_know_it_yet_is_fetched_from_soon(hints):
    """The first backoff is short, because a leader learns its epoch in milliseconds."""
    hints.lead(2)
    hints.learn(1)
    hints.log.append(2)
    # The pending Fetch at broker 1 returns slightly before this time.
    learned_at = hints.world.now + 0.4
    hints.world.at(learned_at, lambda: hints.learn(2))
    came_at = hints.run(3.0)
    assert hints.offsets == [3, 5]
    assert came_at - learned_at < 0.15


def test_a_leader_that_never_learns_of_its_epoch_gets_few_requests(hints):
    """The pauses increase, as for any other error."""
    hints.lead(2)
    hints.learn(1)
    hints.log.append(2)
    requests = hints.world.requests
    hints.run(5.0)
    assert hints.offsets == [3]
    assert hints.world.requests - requests < 40


def test_an_older_leader_is_not_gone_back_to(hints):
    """The scan sends few requests, and no further Fetch to the oldest leader."""
    hints.lead(2)
    hints.learn(1)
    hints.lead(3)
    hints.log.append(2)
    requests = hints.world.requests
    hints.run(1.0)
    left = hints.cluster.brokers[1]
    fetches = left.fetches
    hints.run(4.0)
    assert hints.offsets == [3]
    assert hints.world.requests - requests < 40
    assert left.fetches == fetches
    hints.learn(1, 2, 3)
    hints.run(5.0)
    assert hints.offsets == [3, 5]
