# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Rebootstrap: required by brokers, or triggered by missing metadata.

Sources: KIP-899, KIP-1102.
"""

import importlib
import logging
import random as random_module

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World

TRIGGER_S = 20.0


class Recovery:
    """Three brokers and a scan with ``follow``. One broker is the bootstrap broker."""

    def __init__(self, kwire, strategy="rebootstrap", trigger_s=TRIGGER_S):
        random = random_module.Random(7)
        self.codes = kwire.error_codes
        module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.sim = SimulatedCluster(kwire, random, 3, ("4.4",))
        self.world = World(self.sim, random)
        self.topic = self.sim.add_topic("a", 1)
        self.topic.leaders[0] = 1
        self.log = self.topic.logs[0]
        self.log.append(3)
        for broker in self.sim.brokers.values():
            broker.learn()
        settings = module.ClusterSettings(
            request_timeout_s=3.0,
            connect_timeout_s=3.0,
            metadata_max_age_s=5.0,
            metadata_recovery_strategy=strategy,
            rebootstrap_trigger_s=trigger_s,
        )
        self.machine = module.ScanMachine(
            [("sim", 9001)],
            settings,
            module.ScanOptions(topics=("a",), follow=True),
            now=START_S,
            random=random,
        )
        self.requests = []
        for broker in self.sim.brokers.values():
            self._record(broker)

    def _record(self, broker):
        """Add (broker id, request name) to ``requests`` for every request."""
        answer = broker.answer

        def answer_and_record(request, version):
            self.requests.append((broker.node, type(request).__name__))
            return answer(request, version)

        broker.answer = answer_and_record

    def require_rebootstrap(self, nodes):
        """Let some brokers respond with REBOOTSTRAP_REQUIRED (KIP-1102)."""
        for node in nodes:
            broker = self.sim.brokers[node]
            make = self.sim.messages.MetadataResponse
            error = self.codes.REBOOTSTRAP_REQUIRED

            def answer(request, version, make=make, error=error):
                return make(error_code=error)

            broker._MetadataRequest = answer

    def read(self, offset, seconds=60.0):
        """Read up to an offset, and return the elapsed time in simulated seconds.

        Fail if the offset is not reached within ``seconds``.
        """
        begin = self.world.now
        is_read = [False]

        def is_over():
            while (fetched := self.machine.take()) is not None:
                is_read[0] |= fetched.next_offset >= offset
                self.machine.release(fetched)
            return is_read[0] or self.machine.failure is not None

        self.world.run(self.machine, is_over, begin + seconds)
        assert is_read[0], self.machine.failure
        return self.world.now - begin


@pytest.fixture
def log(caplog):
    """Return a function that lists the log records about rebootstraps."""
    caplog.set_level(logging.INFO, "kwire.client.metadata")
    return lambda: [
        record for record in caplog.records if "bootstrap" in record.getMessage()
    ]


def test_required_rebootstrap_forgets_the_brokers(kwire, log):
    recovery = Recovery(kwire)
    recovery.read(3)
    assert len(recovery.machine.cluster.metadata.brokers) == 3
    recovery.require_rebootstrap([2, 3])
    cluster = recovery.machine.cluster

    def is_required():
        return bool(log())

    # Only a broker that returns the error requires a rebootstrap.
    recovery.sim.brokers[1]._MetadataRequest = recovery.sim.brokers[2]._MetadataRequest
    assert recovery.world.run(recovery.machine, is_required, START_S + 30)
    assert cluster.metadata.brokers == {}
    del recovery.sim.brokers[1]._MetadataRequest
    recovery.log.append(2)
    recovery.read(5)
    assert "a broker requires it" in log()[0].getMessage()
    assert log()[0].args["broker_count"] == 3


def test_metadata_after_a_rebootstrap_is_requested_from_bootstrap_addresses(kwire):
    recovery = Recovery(kwire)
    recovery.read(3)
    recovery.require_rebootstrap([2, 3])
    cluster = recovery.machine.cluster
    cluster._is_rebootstrap_required = True
    recovery.requests.clear()

    def is_known():
        return bool(recovery.requests) and len(cluster.metadata.brokers) == 3

    recovery.machine.advance(recovery.world.now)
    assert cluster.metadata.brokers == {}
    assert recovery.world.run(recovery.machine, is_known, recovery.world.now + 30)
    recovery.log.append(2)
    recovery.read(5)
    nodes = [node for node, name in recovery.requests if name == "MetadataRequest"]
    assert nodes[0] == 1


def test_broker_that_always_requires_a_rebootstrap_causes_no_storm(kwire, log):
    recovery = Recovery(kwire)
    recovery.read(3)
    recovery.require_rebootstrap([1, 2, 3])
    recovery.requests.clear()
    recovery.world.run(recovery.machine, lambda: False, recovery.world.now + 30)
    assert 5 < len(log()) < 60
    assert len(recovery.requests) < 200


def test_required_rebootstrap_is_ignored_with_strategy_none(kwire, log):
    recovery = Recovery(kwire, strategy="none")
    recovery.read(3)
    recovery.require_rebootstrap([1, 2, 3])
    recovery.world.run(recovery.machine, lambda: False, recovery.world.now + 30)
    assert not log()
    assert len(recovery.machine.cluster.metadata.brokers) == 3


@pytest.mark.parametrize("trigger_s", [10.0, 20.0])
def test_brokers_without_metadata_are_forgotten_after_the_trigger(
    kwire, log, trigger_s
):
    """The brokers accept connections and requests, but do not respond."""
    recovery = Recovery(kwire, trigger_s=trigger_s)
    recovery.read(3)
    for broker in recovery.sim.brokers.values():
        broker.is_silent = True
    begin = recovery.world.now

    def is_forgotten():
        return bool(log())

    assert recovery.world.run(recovery.machine, is_forgotten, begin + 60)
    # Metadata expires after 5 s, and the trigger time starts with the first attempt.
    assert trigger_s <= recovery.world.now - begin <= trigger_s + 12
    assert f"no broker returned metadata for {trigger_s:g} s" in log()[0].getMessage()
    for node in recovery.sim.brokers:
        recovery.world.wake_broker(node)
    recovery.log.append(2)
    recovery.read(5)


def test_metadata_in_time_prevents_a_rebootstrap(kwire, log):
    recovery = Recovery(kwire, trigger_s=6.0)
    recovery.read(3)
    recovery.world.run(recovery.machine, lambda: False, recovery.world.now + 60)
    assert not log()


def test_bootstrap_address_is_not_used_with_strategy_none(kwire):
    """The scan only uses advertised brokers.

    One broker has moved to another address.
    """
    for strategy, is_used in (("none", False), ("rebootstrap", True)):
        recovery = Recovery(kwire, strategy=strategy)
        recovery.machine.cluster._bootstrap = [("sim", 9001), ("other", 9002)]
        recovery.read(3)
        cluster = recovery.machine.cluster
        for link in cluster.links():
            link.close(recovery.world.now)
        cluster._links.clear()
        hosts = set()
        for _ in range(50):
            cluster.any_link(recovery.world.now)
            for link in cluster.take_new_links():
                hosts.add(link.host)
                link.close(recovery.world.now)
            cluster._links.clear()
            recovery.world.now += 1
        assert ("other" in hosts) is is_used
