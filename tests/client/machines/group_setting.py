# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Simulate one broker with one topic, and a group consumer."""

import importlib
import random

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.group_answers import GROUP
from tests.client.machines.group_coordinator import GroupError
from tests.client.machines.world import World

RECORDS = 12


class Setting:
    """One broker, one topic, and one consumer."""

    def __init__(self, kwire, release="4.1", pattern=None, partitions=1, **group):
        """Create the consumer. The partitions contain ``RECORDS`` records."""
        self.kwire = kwire
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.cluster = SimulatedCluster(kwire, random.Random(1), 1, [release])
        self.world = World(self.cluster, random.Random(2))
        for log in self.cluster.add_topic("a", partitions).logs:
            log.append(RECORDS)
        self.group = self.cluster.add_group("etl", ["a"])
        self.cluster.coordinator(GROUP, "etl")
        self.broker = self.cluster.brokers[1]
        self.broker.clock = lambda: self.world.now
        self.broker.learn()
        self.machine = self.consumer(pattern, **group)

    def consumer(self, pattern=None, **group):
        """Return a new consumer of the group."""
        options = self.module.ScanOptions(
            topics=() if pattern else ("a",), pattern=pattern, follow=True
        )
        return self.module.ConsumerMachine(
            [("sim", 9001)],
            self.module.ClusterSettings(timeout_s=20.0, request_timeout_s=3.0),
            options,
            self.module.GroupOptions(
                "etl", pattern=pattern and pattern.pattern, **group
            ),
            now=self.world.now,
            random=self.world.random,
        )

    def poll(self, machine=None, within_s=60.0):
        """Wait for a chunk, and return it.

        Return None if the wait times out or the consumer has failed.
        """
        machine, world = machine or self.machine, self.world
        machine.begin_wait(world.now)
        world.run(machine, machine.has_result, world.now + within_s)
        machine.end_wait(world.now)
        return machine.take()

    def refuse(self, code):
        """Make the coordinator respond to all heartbeats with an error."""

        def heartbeat(request, now):
            raise GroupError(code)

        self.group.heartbeat = heartbeat


def fence(setting):
    """Remove the member from the coordinator, and wait until it has rejoined."""
    world, machine = setting.world, setting.machine
    (member,) = setting.group.members.values()
    setting.group.remove(member)
    is_back = lambda: bool(setting.group.members)  # noqa: E731
    assert world.run(machine, is_back, world.now + 10)
    assert world.run(machine, lambda: machine._offsets.identity.member_epoch > 0, 1e6)
