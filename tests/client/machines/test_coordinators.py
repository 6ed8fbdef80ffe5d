# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Coordinator lookups in a simulated cluster, also after a coordinator has moved."""

import importlib
import random

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.coordinator_answers import GROUP, TRANSACTION
from tests.client.machines.world import START_S, World


class Finder:
    """Machine that only looks up the coordinators of some keys and connects to them."""

    def __init__(self, module, cluster, places):
        """Look up the coordinators through simulated brokers."""
        self.cluster = module.ClusterMachine(
            [("sim", 9000 + node) for node in cluster.brokers],
            module.ClusterSettings(request_timeout_s=3.0, connect_timeout_s=2.0),
            now=START_S,
            random=random.Random(7),
        )
        self.coordinators = module.Coordinators(self.cluster)
        self.places = places
        self.links = {}

    @property
    def wake_at(self):
        """Time at which ``advance`` must be called next."""
        return self.cluster.wake_at

    def advance(self, now):
        """Look up the coordinators, and store a link to each of them."""
        self.cluster.advance(now)
        self.links = {
            coordinator: self.coordinators.link_to(*coordinator, now)
            for coordinator in self.places
        }


class Setting:
    """Three brokers and a ``Finder``."""

    def __init__(self, kwire, seed, *keys, release="3.9"):
        """Look up the coordinators for transactional ids."""
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.cluster = SimulatedCluster(kwire, random.Random(seed), 3, [release])
        self.world = World(self.cluster, random.Random(seed))
        for broker in self.cluster.brokers.values():
            broker.learn()
        kind = self.module.CoordinatorType.TRANSACTION
        self.places = [(kind, key) for key in keys]
        self.finder = Finder(self.module, self.cluster, self.places)

    def is_found(self):
        """Return whether all links lead to the actual coordinators."""
        return all(
            link is not None
            and link.port - 9000 == self.cluster.coordinator(*coordinator)
            for coordinator, link in self.finder.links.items()
        )

    def find(self):
        """Run for up to 60 s until all links are found. Return whether they are."""
        until = self.world.now + 60
        return self.world.run(self.finder, lambda: self.is_found(), until)


@pytest.mark.parametrize("release", ["2.3", "3.9"])
def test_coordinators_are_found(kwire, release):
    """A lookup needs one request per key before FindCoordinator version 4.

    From version 4 on, one request is enough for all keys.
    """
    setting = Setting(kwire, 1, "a", "b", release=release)
    counts = []
    for broker in setting.cluster.brokers.values():
        answer = broker._FindCoordinatorRequest

        def count(request, version, answer=answer):
            counts.append(len(request.coordinator_keys) or 1)
            return answer(request, version)

        broker._FindCoordinatorRequest = count
    setting.finder.coordinators.want(setting.places[0][0], ["a", "b"])
    assert setting.find()
    assert max(counts) == (1 if release == "2.3" else 2)


def test_a_coordinator_that_is_down_is_looked_for_again(kwire):
    """The lookup is repeated until the key has a coordinator that responds.

    Covers a coordinator that moves to another broker, and a broker that restarts.
    """
    for seed in range(20):
        setting = Setting(kwire, seed, "a")
        cluster, world = setting.cluster, setting.world
        assert setting.find()
        broker = cluster.brokers[cluster.coordinator(TRANSACTION, "a")]
        broker.is_up = False
        world.break_wires(broker.node)
        world.run(setting.finder, lambda: False, world.now + 5)
        if seed % 2:
            cluster.coordinators[TRANSACTION, "a"] = broker.node % 3 + 1
        else:
            broker.is_up = True
        for simulated_broker in cluster.brokers.values():
            simulated_broker.learn()
        begun = world.requests
        assert setting.find()
        assert world.requests - begun < 100


def test_a_coordinator_that_has_moved_is_forgotten(kwire):
    """After ``forget``, the next lookup returns the new coordinator."""
    setting = Setting(kwire, 3, "a")
    assert setting.find()
    node = setting.cluster.coordinator(TRANSACTION, "a") % 3 + 1
    setting.cluster.coordinators[TRANSACTION, "a"] = node
    for broker in setting.cluster.brokers.values():
        broker.learn()
    setting.finder.coordinators.forget(*setting.places[0])
    setting.finder.cluster.wake(setting.world.now)
    assert setting.finder.coordinators.node_id(*setting.places[0]) is None
    assert setting.find()
    assert setting.finder.coordinators.node_id(*setting.places[0]) == node


@pytest.mark.parametrize("kind", [GROUP, TRANSACTION])
def test_unauthorized_coordinator_key_is_an_error(kwire, kind):
    """The failure contains the key and the required operation.

    Other keys still work.
    """
    setting = Setting(kwire, 4, "mine", "secret")
    kind = setting.module.CoordinatorType(kind)
    setting.finder.places = [(kind, "mine"), (kind, "secret")]
    for broker in setting.cluster.brokers.values():
        broker.refused_keys = {"secret"}
    coordinators = setting.finder.coordinators
    is_settled = lambda: coordinators.failure(kind, "secret")  # noqa: E731
    assert setting.world.run(setting.finder, is_settled, START_S + 30)
    failure = coordinators.failure(kind, "secret")
    assert isinstance(failure, setting.module.NotAuthorized)
    key_name = "transactional id" if kind == TRANSACTION else "group"
    assert f"the {key_name} 'secret'" in str(failure)
    assert "Describe" in str(failure)
    setting.finder.places = [(kind, "mine")]
    assert setting.find()
