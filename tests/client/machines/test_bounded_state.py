# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Limit a state machine's memory if responses contain new names for a long time.

The names are topics, partitions, brokers, coordinators and leaders. A machine's state
may depend on the names that exist at one time, but not on all names so far. All
reachable objects are counted, so that no dictionary is overlooked.
"""

import gc
import importlib
import itertools
import random
import re
import types

import pytest

from tests.client.machines.attack import each_partition
from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.test_producer_errors import Setting as ProducerSetting
from tests.client.machines.test_transaction_errors import Setting as TransactionSetting
from tests.client.machines.world import START_S, World

MANY = 20
"""Number of new names in each response."""

FIRST_S, LAST_S = 12.0, 40.0
MAX_GROWTH = 1.3
SHARED = types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType


def count_objects(root):
    """Count all objects that an object refers to, except code and modules."""
    seen, waiting = {id(root)}, [root]
    while waiting:
        for referent in gc.get_referents(waiting.pop()):
            if id(referent) not in seen and not isinstance(referent, SHARED):
                seen.add(id(referent))
                waiting.append(referent)
    return len(seen)


class Naming:
    """Cluster with three brokers and one topic, and functions that add new names."""

    def __init__(self, kwire, release="4.1"):
        self.kwire = kwire
        self.make = kwire.messages
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.cluster = SimulatedCluster(kwire, random.Random(1), 3, [release])
        self.world = World(self.cluster, random.Random(2))
        self.world.delay = lambda: 0.001
        self.topic = self.cluster.add_topic("a", 1)
        for broker in self.cluster.brokers.values():
            broker.learn()
        self.numbers = itertools.count(10)
        original_at = self.cluster.at
        # All addresses with a new name lead to one of the three brokers.
        self.cluster.at = lambda host, port: original_at(
            host, port if port < 9010 else 9001 + port % 3
        )

    def settings(self):
        """Return settings with frequent metadata requests."""
        return self.module.ClusterSettings(metadata_max_age_s=1.0, timeout_s=3.0)

    def change_metadata(self, change):
        """Pass Metadata responses through ``change``."""
        for broker in self.cluster.brokers.values():
            answer = broker._MetadataRequest

            def changed(request, version, answer=answer):
                return change(answer(request, version), next(self.numbers) * MANY)

            broker._MetadataRequest = changed

    def add_topics(self, response, first):
        """Add topics that no other response contains."""
        (topic, *_) = response.topics
        named = [topic.replace(name=f"t{first + n}") for n in range(MANY)]
        return response.replace(topics=[*response.topics, *named])

    def add_partitions(self, response, first):
        """Add partitions that no other response contains."""

        def add(topic):
            (part, *_) = topic.partitions
            more = [part.replace(partition_index=first + n) for n in range(MANY)]
            return topic.replace(partitions=[*topic.partitions, *more])

        return response.replace(topics=[add(topic) for topic in response.topics])

    def move_brokers(self, response, first):
        """Change the ids and addresses of the brokers."""
        brokers = [
            broker.replace(node_id=broker.node_id + first, port=10_000 + first + n)
            for n, broker in enumerate(response.brokers)
        ]

        def lead(topic):
            parts = [
                part.replace(leader_id=brokers[0].node_id, leader_epoch=first)
                for part in topic.partitions
            ]
            return topic.replace(partitions=parts)

        topics = [lead(topic) for topic in response.topics]
        return response.replace(brokers=brokers, topics=topics)

    def measure(self, machine, is_over=lambda: False):
        """Run a machine until ``FIRST_S``, and then until ``LAST_S``.

        Return the number of objects that it refers to at both times.
        """
        sizes = []
        for until in (FIRST_S, LAST_S):
            max_objects = 0
            for step in range(2):
                self.world.run(machine, is_over, START_S + until + step)
                take = getattr(machine, "take", lambda: None)
                while fetched := take():
                    machine.release(fetched)
                max_objects = max(max_objects, count_objects(machine))
            sizes.append(max_objects)
        return sizes

    def bootstrap(self):
        """Return the addresses of the brokers as (host, port) pairs."""
        return [("sim", 9000 + node) for node in self.cluster.brokers]

    def scan(self, **options):
        """Return a scan with ``follow``."""
        return self.module.ScanMachine(
            self.bootstrap(),
            self.settings(),
            self.module.ScanOptions(**{"follow": True, **options}),
            now=START_S,
            random=random.Random(3),
        )


@pytest.fixture
def naming(kwire):
    """``Naming`` on the tested engine."""
    return Naming(kwire)


CHANGES = pytest.mark.parametrize(
    "change", ["add_topics", "add_partitions", "move_brokers"]
)


@CHANGES
@pytest.mark.parametrize("by", ["name", "pattern"])
def test_a_scan_that_follows_keeps_its_size(naming, change, by):
    """Check that a scan deletes topics, partitions, brokers and fetch sessions."""
    naming.change_metadata(getattr(naming, change))
    chosen = {"topics": ("a",)} if by == "name" else {"pattern": re.compile(".*")}
    machine = naming.scan(**chosen)
    first, last = naming.measure(machine)
    assert machine.failure is None
    assert last < MAX_GROWTH * first


@CHANGES
def test_a_consumer_of_chosen_partitions_keeps_its_size(naming, change):
    """Check that a consumer deletes owned partitions together with their readers."""
    naming.cluster.add_group("etl", ["a"])
    naming.cluster.coordinator(0, "etl")
    for broker in naming.cluster.brokers.values():
        broker.clock = lambda: naming.world.now
        broker.learn()
    naming.change_metadata(getattr(naming, change))
    machine = naming.module.ConsumerMachine(
        naming.bootstrap(),
        naming.settings(),
        naming.module.ScanOptions(topics=("a",), follow=True),
        naming.module.GroupOptions("etl", joins=False),
        now=START_S,
        random=random.Random(3),
    )
    machine.begin_wait(START_S)
    first, last = naming.measure(machine)
    assert last < MAX_GROWTH * first


@CHANGES
def test_a_lookup_of_offsets_ends(naming, change):
    """Check that a lookup only returns the partitions in the first metadata.

    Otherwise it would never end, because all responses contain more partitions.
    """
    naming.change_metadata(getattr(naming, change))
    machine = naming.module.OffsetsMachine(
        naming.bootstrap(),
        naming.settings(),
        naming.module.ScanOptions(topics=("a",)),
        naming.module.LATEST,
        now=START_S,
        random=random.Random(3),
    )
    assert naming.world.run(machine, machine.has_result, START_S + FIRST_S)
    assert len(machine.result()) <= 1 + MANY


@pytest.mark.parametrize("change", ["add_partitions", "move_brokers"])
def test_a_producer_keeps_its_size(naming, change):
    """Check that a producer deletes the writers of deleted partitions."""
    naming.change_metadata(getattr(naming, change))
    machine = naming.module.ProducerMachine(
        naming.bootstrap(),
        naming.settings(),
        naming.module.ProducerOptions(),
        now=START_S,
        random=random.Random(3),
    )
    machine.want_topic("a", START_S)

    def choose():
        if machine.is_settled("a"):
            machine.choose_partition(machine.topic("a"))
        return False

    first, last = naming.measure(machine, choose)
    assert machine.failure is None
    assert last < MAX_GROWTH * first


def test_leader_hints_to_new_brokers_keep_the_size(naming):
    """Check that brokers which only occur in leader hints are deleted."""
    make = naming.make.FetchResponse
    code = naming.kwire.error_codes.NOT_LEADER_OR_FOLLOWER

    def redirect(response):
        number = next(naming.numbers)
        leader = make.LeaderIdAndEpoch(leader_id=number, leader_epoch=number)
        end = make.NodeEndpoint(node_id=number, host="sim", port=10_000 + number)
        return each_partition(
            response,
            lambda part: part.replace(
                error_code=code, records=b"", high_watermark=-1, current_leader=leader
            ),
        ).replace(node_endpoints=[end])

    for broker in naming.cluster.brokers.values():
        answer = broker.answer_fetch
        broker.answer_fetch = lambda *arguments, answer=answer: redirect(
            answer(*arguments[:2], True)
        )
    machine = naming.scan(topics=("a",))
    first, last = naming.measure(machine)
    assert last < MAX_GROWTH * first


def test_coordinators_at_new_addresses_keep_the_size(kwire):
    """Check FindCoordinator responses that always contain a new address.

    Every broker responds that it is not the coordinator.
    """
    setting = TransactionSetting(kwire)
    original_at = setting.cluster.at
    setting.cluster.at = lambda host, port: original_at(host, 9001)
    numbers = itertools.count(10)
    make = kwire.messages.FindCoordinatorResponse
    rejection = kwire.messages.InitProducerIdResponse(
        error_code=setting.codes.NOT_COORDINATOR
    )

    def find(request, version):
        number = next(numbers)
        fields = {"node_id": number, "host": "sim", "port": 10_000 + number}
        if version < 4:
            return make(**fields)
        keys = request.coordinator_keys
        return make(coordinators=[make.Coordinator(key=key, **fields) for key in keys])

    setting.broker._FindCoordinatorRequest = find
    setting.broker._InitProducerIdRequest = lambda request, version: rejection
    machine = setting.module.ProducerMachine(
        [("sim", 9001)],
        setting.module.ClusterSettings(metadata_max_age_s=1.0, timeout_s=1000.0),
        setting.module.ProducerOptions(transactional_id="etl"),
        now=setting.world.now,
        random=random.Random(3),
    )
    machine.want_topic("orders", setting.world.now)
    setting.world.run(machine, lambda: False, START_S + FIRST_S)
    first = count_objects(machine)
    setting.world.run(machine, lambda: False, START_S + LAST_S)
    assert next(numbers) > 20
    assert count_objects(machine) < MAX_GROWTH * first


def test_losses_that_never_end_are_counted_up_to_a_limit(naming):
    """Check that a scan keeps at most 10,000 data losses: the newest ones."""
    machine = naming.scan(topics=("a",), on_data_loss="earliest")
    naming.world.run(machine, lambda: False, START_S + 1)
    (reader,) = machine.fetcher.readers.values()
    for number in range(10_010):
        machine.fetcher.partitions.lose(reader, f"reason {number}")
    assert len(machine.losses) == 10_000
    assert "reason 10009" in str(machine.losses[-1])


def test_a_topic_that_metadata_omits_for_a_while_is_not_read_again(naming):
    """Check that a scan keeps its position while metadata omits the topic.

    A broker that has just started may return no topics.
    """
    log = naming.topic.logs[0]
    log.append(3)
    machine, world = naming.scan(pattern=re.compile("a")), naming.world
    offsets = []

    def read(seconds):
        until = world.now + seconds
        while world.run(machine, machine.has_result, until):
            fetched = machine.take()
            offsets.append(fetched.start_offset)
            machine.release(fetched)

    read(5)
    views = {node: broker.view for node, broker in naming.cluster.brokers.items()}
    for broker in naming.cluster.brokers.values():
        broker.view = {}
    read(2)
    for node, broker in naming.cluster.brokers.items():
        broker.view = views[node]
    log.append(3)
    read(5)
    assert offsets == [0, 3]


def test_a_deleted_topic_is_forgotten_and_a_new_one_of_the_name_is_read(naming):
    """Check that a topic with the same name is another topic after ``timeout_s``."""
    naming.topic.logs[0].append(3)
    machine, world = naming.scan(pattern=re.compile("a")), naming.world
    world.run(machine, machine.has_result, world.now + 5)
    machine.release(machine.take())
    del naming.cluster.topics["a"]
    for broker in naming.cluster.brokers.values():
        broker.learn()
    world.run(machine, lambda: False, world.now + 20)
    assert machine.failure is None
    assert not machine.fetcher.readers
    assert not machine.cluster.metadata.topics
    naming.cluster.add_topic("a", 1).logs[0].append(2)
    for broker in naming.cluster.brokers.values():
        broker.learn()
    assert world.run(machine, machine.has_result, world.now + 10)
    assert machine.take().next_offset == 2


def test_a_writer_of_a_known_partition_keeps_its_sequence_numbers(kwire):
    """Check that sequence numbers do not restart after unchanged or failed metadata."""
    setting = ProducerSetting(kwire)
    setting.send(b"one")
    (writer,) = setting.machine.deliveries.writers.values()
    setting.machine.cluster.want_metadata()
    setting.world.run(setting.machine, lambda: False, setting.world.now + 2)
    assert [*setting.machine.deliveries.writers.values()] == [writer]
