# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated cluster of one seed, with the faults that all scenarios share.

A scenario adds the operations of its client, the faults of its logs, and the conditions
that must be true at its end.
"""

from __future__ import annotations

import importlib
import random as random_module

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.traffic import MAX_IN_WINDOW
from tests.client.machines.world import World


class FaultyCluster:
    """Brokers, topics and faults that are drawn from one seed."""

    LONGEST_STOP_S = 6.0
    fallback = None
    """Release that clients assume for brokers which do not support ApiVersions."""

    def __init__(self, kwire, seed):
        """Draw the brokers and the topics."""
        self.kwire = kwire
        self.seed = seed
        self.random = random = random_module.Random(seed)
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.releases = self._draw_releases()
        count = random.choice([1, 2, 3])
        self.cluster = SimulatedCluster(kwire, random, count, self.releases)
        self.world = World(self.cluster, random)
        self.names = ["a", "b"][: random.choice([1, 1, 2])]
        for name in self.names:
            topic = self.cluster.add_topic(name, random.choice([1, 2, 3]))
            for log in topic.logs:
                self._prepare_log(log)
        for broker in self.cluster.brokers.values():
            broker.learn()

    def _any_broker(self):
        return self.random.choice(list(self.cluster.brokers.values()))

    def _any_log(self):
        topic = self.random.choice(list(self.cluster.topics.values()))
        index = self.random.randrange(len(topic.logs))
        return topic, index, topic.logs[index]

    def _announce(self, leader):
        """Possibly tell the new leader and another broker about the new leader.

        All other brokers learn it later.
        """
        if self.random.random() < 0.6:
            self.cluster.brokers[leader].learn()
        if self.random.random() < 0.5:
            self._any_broker().learn()

    def _break_wire(self):
        self.world.break_wires(self._any_broker().node)

    def _stop_broker(self):
        broker = self._any_broker()
        broker.is_up = False
        self.world.break_wires(broker.node)

        def start():
            broker.is_up = True
            broker.sessions.clear()
            broker.learn()

        self.world.after(self.random.uniform(0.1, self.LONGEST_STOP_S), start)

    def _learn(self):
        self._any_broker().learn()

    def _move_in_turns(self):
        """Move leaders and coordinators on every request, for 0.5 to 6 s."""
        pause = self.random.uniform(0.5, 6)
        self.cluster.moving_until = self.world.now + pause

    def _throttle(self):
        self._any_broker().throttle_ms = self.random.choice([0, 50, 1000])

    def _upgrade(self):
        broker = self._any_broker()
        broker.become(self.random.choice(self.releases))
        broker.gives_hints = self.random.random() < 0.7
        self.world.break_wires(broker.node)

    def _check_traffic(self, clients=1):
        try:
            self.world.traffic.check(clients, MAX_IN_WINDOW)
        except AssertionError as error:
            self._expect(False, error)

    def run_seed(self):
        """Run the scenario, and return its result.

        An ``AssertionError`` from a state machine is raised again with the seed.
        """
        try:
            return self.run()
        except AssertionError as error:
            self._expect(str(error).startswith("seed "), error)
            raise

    def _expect(self, is_true, problem):
        if not is_true:
            raise AssertionError(f"seed {self.seed}: {problem}")
