# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Response frames use at most ``memory_bytes`` plus one frame.

The brokers send 1 MiB frames although the scan requested a few KB: with padding, with a
single large batch, or without the last bytes. ``Memory`` measures the reachable frames
instead of trusting the scan's counter.
"""

import importlib
import itertools
import random

import pytest

from tests.client.machines.attack import Attack, each_partition
from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World

LARGE = 1 << 20
BUDGET = 200_000
FLOOR = 2 << 16
"""Additional bytes per connection: a small frame, and its copy during growth."""


class Memory:
    """Measures how many frame bytes a scan refers to."""

    def __init__(self, machine):
        """Measure before and after each ``advance`` of the machine."""
        self.machine = machine
        self.most = 0
        self.taken = []
        advance = machine.advance

        def measured(now):
            self.look()
            advance(now)
            self.look()

        machine.advance = measured

    def look(self):
        """Add up the frame bytes that the scan refers to, and update the maximum."""
        frames = {}
        for fetched in [*self.machine.fetcher._fetched, *self.taken]:
            data = fetched.data
            memory = data.obj if isinstance(data, memoryview) else data
            frames[id(memory)] = memoryview(memory).nbytes
        size = sum(frames.values())
        for link in self.machine.cluster.links():
            view = link._connection._splitter._view
            size += 0 if view is None else len(view)
        self.most = max(self.most, size)


class Brokers:
    """Cluster in which each broker leads one partition of the topic."""

    def __init__(self, kwire, count):
        self.kwire = kwire
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.cluster = SimulatedCluster(kwire, random.Random(1), count, ["4.1"])
        self.world = World(self.cluster, random.Random(2))
        self.world.delay = lambda: 0.001
        self.topic = self.cluster.add_topic("a", count)
        self.topic.leaders[:] = range(1, count + 1)
        for broker in self.cluster.brokers.values():
            broker.learn()

    def fill(self, partition, size, count=1):
        """Append ``count`` batches, each with one record of ``size`` bytes."""
        log = self.topic.logs[partition]
        for _ in range(count):
            rows = [(None, bytes(size))]
            encode = self.kwire.records.encode_batch
            log.append_bytes(encode(rows, base_offset=log.end), 1)

    def scan(self, **options):
        """Return a machine that reads the topic, and its ``Memory``."""
        machine = self.module.ScanMachine(
            [("sim", 9000 + node) for node in self.cluster.brokers],
            self.module.ClusterSettings(timeout_s=60.0, request_timeout_s=5.0),
            self.module.ScanOptions(topics=("a",), **options),
            now=START_S,
            random=random.Random(3),
        )
        return machine, Memory(machine)

    def hold_back(self, *nodes):
        """Withhold the last byte when some brokers send large responses."""
        accept = self.cluster.at

        def at(host, port):
            broker = accept(host, port)
            if broker.node in nodes:
                connect = type(broker).connection

                def connection():
                    server = connect(broker)
                    take = server.data_to_send
                    return Stingy(server, take)

                broker.connection = connection
            return broker

        self.cluster.at = at


class Stingy:
    """Broker connection that withholds the last bytes if a response is large."""

    def __init__(self, server, take):
        self._server = server
        self._take = take
        self._is_over = False

    def __getattr__(self, name):
        return getattr(self._server, name)

    def data_to_send(self):
        """Return a large response without its last byte. Later calls return nothing."""
        data = b"" if self._is_over else self._take()
        self._is_over = self._is_over or len(data) > LARGE // 2
        return data[:-1] if self._is_over else data


def read(brokers, machine, memory, pause_s=0.0, until_s=300.0):
    """Read until the scan ends, and return the partition of every chunk.

    The caller keeps each chunk for ``pause_s`` simulated seconds.
    """
    partitions = []
    world = brokers.world
    while world.run(machine, machine.has_result, START_S + until_s):
        fetched = machine.take()
        if fetched is None:
            break
        memory.taken = [fetched]
        memory.look()
        world.run(machine, lambda: False, world.now + pause_s)
        memory.taken = []
        partitions.append(fetched.partition)
        machine.release(fetched)
    return partitions


@pytest.mark.parametrize("where", ["tag", "partition"])
def test_padding_of_responses_is_not_held(kwire, where):
    """The padding is a 1 MiB tagged field, or a partition that was not requested."""
    attack = Attack(kwire)
    for log in attack.topic.logs:
        for _ in range(20):
            log.append(5)

    def pad(node, response):
        if where == "tag":
            return response.replace(unknown_tagged_fields=((99, bytes(LARGE)),))

        def add(topic):
            (first, *_) = topic.partitions
            more = first.replace(partition_index=77, records=bytes(LARGE))
            return topic.replace(partitions=[*topic.partitions, more])

        return response.replace(responses=[add(topic) for topic in response.responses])

    attack.answer("Fetch", pad)
    brokers = Brokers(kwire, 1)
    brokers.world, brokers.cluster, brokers.topic = (
        attack.world,
        attack.cluster,
        attack.topic,
    )
    attack.world.cluster = attack.cluster
    machine, memory = brokers.scan(memory_bytes=BUDGET, fetch_bytes=200)
    chunks = read(brokers, machine, memory, pause_s=0.3)
    assert machine.failure is None
    assert len(chunks) > 10
    links = len(attack.cluster.brokers)
    assert memory.most < BUDGET + LARGE + 4096 + FLOOR * links


def test_a_hundred_small_chunks_of_padded_frames_hold_little(kwire):
    """Queued chunks are copied, so that they do not hold their padded frames."""
    attack = Attack(kwire, partitions=1)
    for _ in range(200):
        attack.topic.logs[0].append(1)
    attack.answer(
        "Fetch",
        lambda node, response: response.replace(
            unknown_tagged_fields=((99, bytes(LARGE)),)
        ),
    )
    brokers = Brokers(kwire, 1)
    brokers.world, brokers.cluster = attack.world, attack.cluster
    machine, memory = brokers.scan(memory_bytes=3 * LARGE, fetch_bytes=100)
    brokers.world.run(machine, lambda: False, START_S + 5)
    assert len(machine.fetcher._fetched) > 100
    assert memory.most < 100_000 + LARGE + FLOOR * 3
    assert machine.cluster.frame_budget.held < 100_000


def test_incomplete_frames_of_twelve_brokers_share_the_budget(kwire):
    """Only one large frame is received at a time.

    The frames of the other brokers remain in the sockets.
    """
    brokers = Brokers(kwire, 12)
    for partition in range(12):
        brokers.fill(partition, LARGE)
    brokers.hold_back(*range(1, 13))
    machine, memory = brokers.scan(memory_bytes=BUDGET, follow=True)
    brokers.world.run(machine, machine.has_result, START_S + 60)
    assert machine.failure is None
    assert LARGE < memory.most < BUDGET + LARGE + 4096 + FLOOR * 12


def test_an_honest_broker_is_read_beside_eleven_that_hold_back_frames(kwire):
    """Withheld frames time out, so that the remaining broker can send its frame."""
    brokers = Brokers(kwire, 12)
    for partition in range(12):
        brokers.fill(partition, LARGE)
    brokers.hold_back(*range(1, 12))
    machine, memory = brokers.scan(memory_bytes=BUDGET, follow=True)
    world = brokers.world
    assert world.run(machine, machine.has_result, START_S + 300)
    assert machine.take().partition == 11
    assert memory.most < BUDGET + LARGE + 4096 + FLOOR * 12


@pytest.mark.parametrize("memory_bytes", [1, 5000, BUDGET])
def test_batches_that_are_larger_than_the_budget_are_read(kwire, memory_bytes):
    """Large batches are received one after another, even if the budget is one byte."""
    brokers = Brokers(kwire, 5)
    for partition in range(5):
        brokers.fill(partition, 100, 3)
        brokers.fill(partition, LARGE // 2, 2)
    machine, memory = brokers.scan(memory_bytes=memory_bytes)
    partitions = read(brokers, machine, memory)
    assert machine.failure is None
    assert machine.is_done
    assert {*partitions} == {*range(5)}
    offsets = {reader.position for reader in machine.fetcher.readers.values()}
    assert offsets == {5}
    assert memory.most < memory_bytes + LARGE // 2 + 4096 + FLOOR * 5


def test_a_caller_that_takes_its_time_ends_no_connection(kwire):
    """A response in the socket that waits for memory does not count as late."""
    brokers = Brokers(kwire, 2)
    for partition in range(2):
        brokers.fill(partition, LARGE // 2, 3)
    machine, memory = brokers.scan(memory_bytes=BUDGET)
    partitions = read(brokers, machine, memory, pause_s=100.0, until_s=2000.0)
    assert machine.failure is None
    assert sorted(partitions) == [0] * 3 + [1] * 3
    connections = [
        len(times)
        for (kind, _), times in brokers.world.traffic.times.items()
        if kind == "connection"
    ]
    assert connections == [1, 1]


def test_a_scan_with_an_end_times_out_while_a_frame_never_arrives(kwire):
    """The scan times out, because waiting for memory does not count as progress."""
    brokers = Brokers(kwire, 3)
    for partition in range(3):
        brokers.fill(partition, LARGE)
    brokers.hold_back(1, 2, 3)
    machine, memory = brokers.scan(memory_bytes=BUDGET)
    read(brokers, machine, memory)
    assert isinstance(machine.failure, brokers.module.BrokersUnreachable)


def test_aborted_transactions_count_for_the_budget(kwire):
    """A response may contain 100,000 aborted transactions and only one record."""
    attack = Attack(kwire, partitions=1)
    make = attack.make.FetchResponse
    log = attack.topic.logs[0]
    for _ in range(50):
        log.append(1)
    entries = [
        make.AbortedTransaction(producer_id=n, first_offset=n) for n in range(5000)
    ]
    attack.answer(
        "Fetch",
        lambda node, response: each_partition(
            response,
            lambda part: part.replace(
                aborted_transactions=entries if part.records else ()
            ),
        ),
    )
    brokers = Brokers(kwire, 1)
    brokers.world, brokers.cluster = attack.world, attack.cluster
    machine, _ = brokers.scan(
        memory_bytes=5 << 20, fetch_bytes=100, read_committed=True
    )
    brokers.world.run(machine, lambda: False, START_S + 20)
    assert 1 < len(machine.fetcher._fetched) < 10
    chunks = list(itertools.islice(iter(machine.take, None), 20))
    for fetched in chunks:
        machine.release(fetched)
    assert machine.cluster.frame_budget.held == 0
