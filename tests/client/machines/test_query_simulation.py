# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Topic and offset queries in a simulated cluster with faults."""

import importlib
import random

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.partition_log import ABORT
from tests.client.machines.world import START_S, World

TIMEOUT_S = 30.0
SEEDS = 40


class Simulation:
    """Cluster with three brokers and two topics, and its query operations."""

    def __init__(self, kwire, seed):
        """Write the logs. Consecutive timestamps differ by 1 ms."""
        self.random = random.Random(seed)
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        releases = ("2.8", "3.6", "3.9", "4.1")
        self.cluster = SimulatedCluster(kwire, self.random, 3, releases)
        self.world = World(self.cluster, self.random)
        for name in ("a", "b"):
            for log in self.cluster.add_topic(name, 3).logs:
                for _ in range(self.random.randrange(1, 20)):
                    log.append(self.random.randint(1, 4))
                log.delete_before(self.random.randrange(3))
        for broker in self.cluster.brokers.values():
            broker.learn()
        settings = {"request_timeout_s": 5.0, "timeout_s": TIMEOUT_S}
        self.settings = self.module.ClusterSettings(**settings)
        self.bootstrap = [("sim", 9000 + node) for node in self.cluster.brokers]

    def run(self, machine):
        """Run a machine to its end. Return its result, or raise its failure."""
        until = START_S + 3 * TIMEOUT_S
        assert self.world.run(machine, machine.has_result, until), "no end"
        machine.close(self.world.now)
        if machine.failure is not None:
            raise machine.failure
        return machine.result()

    def topics(self):
        """Return the result of a request for all topics."""
        machine = self.module.TopicsMachine
        return self.run(
            machine(self.bootstrap, self.settings, now=START_S, random=self.random)
        )

    def offsets(self, lookup, *topics, **options):
        """Look up an offset for all partitions, and return the result."""
        return self.run(
            self.module.OffsetsMachine(
                self.bootstrap,
                self.settings,
                self.module.ScanOptions(topics=topics, **options),
                lookup,
                now=START_S,
                random=self.random,
            )
        )

    def sizes(self, topics=None):
        """Return {(topic, partition): bytes}, for all topics by default."""
        machine = self.module.SizesMachine
        return self.run(
            machine(
                self.bootstrap,
                self.settings,
                topics,
                now=START_S,
                random=self.random,
            )
        )

    def logs(self):
        """Return {(topic, partition): log} for all partitions."""
        return {
            (name, index): log
            for name, topic in self.cluster.topics.items()
            for index, log in enumerate(topic.logs)
        }

    def disturb(self):
        """Move leaders without updating all brokers, and stop a broker for a while."""
        for topic in self.cluster.topics.values():
            for index, log in enumerate(topic.logs):
                topic.leaders[index] = self.random.choice([1, 2, 3])
                log.new_leader()
                self.cluster.brokers[topic.leaders[index]].learn()
        broker = self.random.choice(list(self.cluster.brokers.values()))
        broker.is_up = False
        self.world.break_wires(broker.node)

        def heal():
            broker.is_up = True
            for running_broker in self.cluster.brokers.values():
                running_broker.learn()

        self.world.after(3.0, heal)


@pytest.mark.parametrize("seed", range(3))
def test_topics_have_their_partitions_and_leaders(kwire, seed):
    """The result contains the actual topics, sorted by name."""
    simulation = Simulation(kwire, seed)
    topics = simulation.topics()
    assert list(topics) == ["a", "b"]
    for name, topic in topics.items():
        truth = simulation.cluster.topics[name]
        leaders = {n: partition.leader for n, partition in topic.partitions.items()}
        assert leaders == dict(enumerate(truth.leaders))


def test_offsets_are_found_while_leaders_move(kwire):
    """Looks up the start, the end, and the first record at a time."""
    for seed in range(SEEDS):
        simulation = Simulation(kwire, seed)
        logs = simulation.logs()
        module = simulation.module
        if seed % 2:
            simulation.world.at(START_S + seed / 400, simulation.disturb)
        kind = seed % 4
        if kind == 0:
            expected, lookup = (
                {partition: log.start for partition, log in logs.items()},
                module.EARLIEST,
            )
        elif kind == 1:
            expected, lookup = (
                {partition: log.end for partition, log in logs.items()},
                module.LATEST,
            )
        else:
            # The record at offset n has the timestamp 1001 + n. No later record exists.
            expected = {
                partition: min(max(9, log.start), log.end)
                for partition, log in logs.items()
            }
            lookup = module.Lookup(1010)
        assert simulation.offsets(lookup, "a", "b") == expected, seed


def test_the_last_offset_under_read_committed_is_before_open_transactions(kwire):
    """``LATEST`` is the last stable offset, where a read_committed scan ends."""
    simulation = Simulation(kwire, 0)
    log = simulation.cluster.topics["a"].logs[0]
    stable = log.end
    log.append(3, producer_id=7)
    offsets = simulation.offsets(simulation.module.LATEST, "a", read_committed=True)
    assert offsets["a", 0] == stable
    assert simulation.offsets(simulation.module.LATEST, "a")["a", 0] == stable + 3
    log.end_transaction(7, ABORT)
    offsets = simulation.offsets(simulation.module.LATEST, "a", read_committed=True)
    assert offsets["a", 0] == log.end


def test_missing_topic_and_partition_are_named_in_the_error(kwire):
    """The error names the topic. If the topic exists, it names the partition."""
    simulation = Simulation(kwire, 0)
    latest = simulation.module.LATEST
    with pytest.raises(simulation.module.TopicNotFound, match="topic 'c'"):
        simulation.offsets(latest, "c")
    with pytest.raises(simulation.module.TopicNotFound, match="no partition 9"):
        simulation.offsets(latest, "a", partitions={"a": frozenset([9])})


@pytest.mark.parametrize("lookup", ["EARLIEST", "LATEST"])
def test_lookup_of_a_log_without_start_or_end_times_out(kwire, monkeypatch, lookup):
    """If a leader never returns an offset, pauses limit the requests.

    Treating its offset -1 as "no such record" would read from the end instead.
    """
    simulation = Simulation(kwire, 0)
    monkeypatch.setattr(
        "tests.client.machines.brokers.SimulatedBroker._offset", lambda *_: -1
    )
    with pytest.raises(simulation.module.BrokersUnreachable, match="reading a-0"):
        simulation.offsets(getattr(simulation.module, lookup), "a")
    assert simulation.world.now < START_S + TIMEOUT_S + 10
    assert simulation.world.requests < 3 * 3 * TIMEOUT_S


def test_topic_list_times_out_if_brokers_stop_responding(kwire, monkeypatch):
    """The brokers negotiate versions, but do not respond to Metadata.

    They receive only a few requests until the timeout.
    """
    simulation = Simulation(kwire, 0)
    monkeypatch.setattr("tests.client.machines.world.Wire._answer", lambda *_: None)
    with pytest.raises(simulation.module.BrokersUnreachable):
        simulation.topics()
    assert simulation.world.now < START_S + TIMEOUT_S + 10
    assert 2 < simulation.world.requests < 30


def test_sizes_are_those_of_leaders(kwire):
    """Each broker gets one request. Without topics, no request is sent."""
    simulation = Simulation(kwire, 1)
    sizes = {partition: log.size for partition, log in simulation.logs().items()}
    assert simulation.sizes() == sizes
    of_a = {partition: size for partition, size in sizes.items() if partition[0] == "a"}
    assert Simulation(kwire, 1).sizes({"a"}) == of_a
    simulation_without_topics = Simulation(kwire, 1)
    assert simulation_without_topics.sizes(set()) == {}
    assert simulation_without_topics.world.requests == 0


def test_brokers_without_sizes_are_skipped(kwire):
    """One broker rejects the request, and a second broker is stopped.

    The result contains the sizes from the third broker.
    """
    simulation = Simulation(kwire, 2)
    simulation.cluster.brokers[1].is_describable = False
    simulation.cluster.brokers[2].is_up = False
    leaders = {
        (name, index): leader
        for name, topic in simulation.cluster.topics.items()
        for index, leader in enumerate(topic.leaders)
    }
    sizes = simulation.sizes()
    assert sizes.keys() == {
        partition for partition, node in leaders.items() if node == 3
    }
    assert simulation.world.now < START_S + 5
