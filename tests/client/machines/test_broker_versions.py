# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test ``BrokerVersionsMachine`` with brokers that may not respond."""

import importlib
import random

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World

RELEASES = ("2.8", "3.9", "4.1")


class Setting:
    """Three brokers, and the machine that requests their versions."""

    def __init__(self, kwire, seed=1):
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        source = random.Random(seed)
        self.cluster = SimulatedCluster(kwire, source, 3, RELEASES)
        self.world = World(self.cluster, source)
        for broker in self.cluster.brokers.values():
            broker.learn()
        self.machine = self.module.BrokerVersionsMachine(
            [("sim", 9001)],
            self.module.ClusterSettings(
                timeout_s=10.0, connect_timeout_s=2.0, request_timeout_s=2.0
            ),
            now=START_S,
            random=source,
        )

    def run(self):
        """Run the machine, and return its result or raise its failure."""
        is_over = self.machine.has_result
        assert self.world.run(self.machine, is_over, START_S + 40), "no end"
        self.machine.close(self.world.now)
        self.world.traffic.check()
        if self.machine.failure is not None:
            raise self.machine.failure
        return self.machine.result()


def test_each_broker_has_the_versions_of_its_release(kwire):
    setting = Setting(kwire)
    tables = setting.run()
    assert [*tables] == [1, 2, 3]
    for node, versions in tables.items():
        broker = setting.cluster.brokers[node]
        assert versions.table.ranges() == broker.table.ranges()
        assert versions.table.is_alive
        assert versions.error == ""


def test_brokers_that_are_down_have_an_error_and_the_others_versions(kwire):
    for node in (2, 3):
        setting = Setting(kwire)
        setting.cluster.brokers[node].is_up = False
        results = setting.run()
        assert results[node].table is None
        assert results[node].error.startswith(f"{results[node].address}: ")
        assert all(results[other].table for other in {1, 2, 3} - {node})


def test_silent_brokers_are_a_failure(kwire, monkeypatch):
    setting = Setting(kwire)
    monkeypatch.setattr("tests.client.machines.world.Wire._answer", lambda *_: None)
    with pytest.raises(setting.module.BrokersUnreachable):
        setting.run()
    assert setting.world.now <= START_S + 12
