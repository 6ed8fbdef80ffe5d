# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Brokers that redirect a client in turns, so that every redirect looks like the first.

A backoff that counts consecutive failures never starts, because while one partition is
redirected, the other partition succeeds. Requests must have pauses nevertheless, and a
bounded operation must raise its timeout error. ``World.traffic`` contains the maximum
request count per type.
"""

import importlib
import itertools
import random

import pytest

from tests.client.machines.attack import Attack, each_partition
from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.test_group_errors import Setting as GroupSetting
from tests.client.machines.test_producer_errors import Setting as ProducerSetting
from tests.client.machines.test_transaction_errors import Setting as TransactionSetting
from tests.client.machines.world import START_S, World

FOLLOW = pytest.mark.parametrize("follow", [False, True])


@pytest.fixture
def attack(kwire):
    """Cluster with responses that the test changes."""
    return Attack(kwire)


def only(response, chosen, change):
    """Return a Fetch response in which ``change`` redirects one partition.

    The other partition has no records.
    """

    def answer(part):
        quiet = part.replace(records=b"", error_code=0, high_watermark=2)
        return change(quiet) if part.partition_index == chosen else quiet

    return each_partition(response, answer)


@FOLLOW
def test_two_partitions_redirected_in_turns_by_leader_hints_are_paused(attack, follow):
    """Each hint names the same broker as the leader, in a newer epoch (KIP-951)."""
    make, turns = attack.make.FetchResponse, itertools.count(10)
    attack.lead(1)

    def redirect(node, response):
        turn = next(turns)
        leader = make.LeaderIdAndEpoch(leader_id=node, leader_epoch=turn)
        code = attack.codes.NOT_LEADER_OR_FOLLOWER
        return only(
            response,
            turn % 2,
            lambda part: part.replace(
                error_code=code, high_watermark=-1, current_leader=leader
            ),
        )

    attack.answer("Fetch", redirect)
    failure = attack.scan(follow=follow)
    if not follow:
        assert isinstance(failure, attack.module.BrokersUnreachable)


@FOLLOW
def test_two_partitions_redirected_in_turns_by_replicas_are_paused(attack, follow):
    """The leader names itself as the preferred read replica (KIP-392)."""
    turns = itertools.count()
    attack.lead(1)

    def redirect(node, response):
        return only(
            response,
            next(turns) % 2,
            lambda part: part.replace(preferred_read_replica=node),
        )

    attack.answer("Fetch", redirect)
    failure = attack.scan(follow=follow, rack="x")
    if not follow:
        assert isinstance(failure, attack.module.BrokersUnreachable)


@FOLLOW
def test_many_partitions_redirected_in_turns_are_paused(kwire, follow):
    """The maximum request count does not depend on the partition count."""
    attack = Attack(kwire, partitions=60)
    attack.lead(1)
    make, turns = attack.make.FetchResponse, itertools.count(10)

    def redirect(node, response):
        turn = next(turns)
        leader = make.LeaderIdAndEpoch(leader_id=node, leader_epoch=turn)
        code = attack.codes.NOT_LEADER_OR_FOLLOWER
        return only(
            response,
            turn % 60,
            lambda part: part.replace(
                error_code=code, high_watermark=-1, current_leader=leader
            ),
        )

    attack.answer("Fetch", redirect)
    attack.scan(follow=follow)


def test_errors_whose_pauses_end_at_different_times_are_paused(kwire):
    """Each of 200 partitions has its own backoff.

    A Fetch may be sent whenever one of the backoffs has expired.
    """
    attack = Attack(kwire, partitions=200)
    code = attack.codes.NOT_LEADER_OR_FOLLOWER
    attack.answer(
        "Fetch",
        lambda node, response: each_partition(
            response,
            lambda part: part.replace(error_code=code, records=b"", high_watermark=-1),
        ),
    )
    attack.scan(follow=True)
    assert attack.world.traffic.maxima()["FetchRequest"] > 10


def test_produce_hints_in_a_circle_are_paused(kwire):
    """Each retry follows a pause, and the batch fails after its delivery timeout."""
    setting = ProducerSetting(
        kwire, release="4.1", brokers=3, delivery_timeout_s=20.0, is_idempotent=False
    )
    make, epochs = kwire.messages.ProduceResponse, itertools.count(10)
    code = setting.codes.NOT_LEADER_OR_FOLLOWER
    for broker in setting.cluster.brokers.values():
        finish = broker.finish_produce

        def redirect(done, version, broker=broker, finish=finish):
            leader = make.LeaderIdAndEpoch(
                leader_id=broker.node % 3 + 1, leader_epoch=next(epochs)
            )
            response = finish(done, version)
            return response.replace(
                responses=[
                    topic.replace(
                        partition_responses=[
                            part.replace(error_code=code, current_leader=leader)
                            for part in topic.partition_responses
                        ]
                    )
                    for topic in response.responses
                ]
            )

        broker.finish_produce = redirect
    (batch,) = setting.send(b"value")
    assert isinstance(batch.failure, setting.module.DeliveryFailed)
    setting.world.traffic.check()
    # After the first redirects, the client follows one per second for 20 s.
    assert batch.attempts < 30


def test_an_honest_redirect_of_a_produce_needs_no_pause(kwire):
    """The client follows the first hints immediately (KIP-951)."""
    setting = ProducerSetting(kwire, release="4.1", brokers=3)
    setting.find()
    setting.send(b"first")
    for leader in (2, 3, 1):
        setting.topic.leaders[0] = leader
        setting.log.new_leader()
        for broker in setting.cluster.brokers.values():
            broker.learn()
        setting.world.delay = lambda: 0.001
        began_at = setting.world.now
        (batch,) = setting.send(b"next")
        assert batch.receipt is not None
        assert setting.world.now - began_at < 0.08


def test_coordinators_that_name_each_other_are_asked_with_pauses(kwire):
    """FindCoordinator returns a broker that responds with NOT_COORDINATOR."""
    setting = TransactionSetting(kwire)
    code = setting.codes.NOT_COORDINATOR
    make = kwire.messages.InitProducerIdResponse
    setting.broker._InitProducerIdRequest = lambda request, version: make(
        error_code=code
    )
    machine = setting.machine
    setting.run(lambda: machine.transactions.is_settled)
    assert isinstance(machine.failure, setting.module.BrokersUnreachable)
    setting.world.traffic.check()


@pytest.mark.parametrize("kind", ["omitted", "not attempted", "concurrent"])
def test_partitions_that_are_never_added_to_a_transaction_are_paused(kwire, kind):
    """The request is repeated with pauses until its response adds the partition."""
    setting = TransactionSetting(kwire)
    make, codes = kwire.messages.AddPartitionsToTxnResponse, setting.codes

    def answer(request, version):
        code = {
            "not attempted": codes.OPERATION_NOT_ATTEMPTED,
            "concurrent": codes.CONCURRENT_TRANSACTIONS,
        }.get(kind, 0)
        return make(
            results_by_topic_v3_and_below=[
                make.AddPartitionsToTxnTopicResult(
                    name=topic.name,
                    results_by_partition=[
                        make.AddPartitionsToTxnPartitionResult(
                            partition_index=partition, partition_error_code=code
                        )
                        for partition in topic.partitions
                    ],
                )
                for topic in request.v3_and_below_topics
            ]
            if kind != "omitted"
            else []
        )

    setting.broker._AddPartitionsToTxnRequest = answer
    setting.begin()
    machine, world = setting.machine, setting.world
    sender = setting.module.RecordBatcher(machine, machine.topic("orders"), 0)
    sender.add([(None, b"value")], 5, world.now)
    sender.finish(world.now)
    world.run(machine, lambda: machine.failure is not None, world.now + 30)
    world.traffic.check()
    # The pauses increase, although no response has a top-level error.
    assert len(world.traffic.times["AddPartitionsToTxnRequest", 1]) < 60


@pytest.mark.parametrize("kind", ["assignment", "fenced"])
def test_heartbeats_that_are_never_settled_are_paused(kwire, kind):
    """Each heartbeat returns a new assignment, or fences the member after its join.

    The heartbeats must have pauses nevertheless.
    """
    setting = GroupSetting(kwire)
    setting.cluster.add_topic("a", 8)
    setting.broker.learn()
    heartbeat, turns = setting.broker._ConsumerGroupHeartbeatRequest, itertools.count()
    make = kwire.messages.ConsumerGroupHeartbeatResponse
    topic_id = setting.cluster.topics["a"].topic_id

    def answer(request, version):
        turn = next(turns)
        response = heartbeat(request, version)
        if kind == "fenced" and turn % 2:
            code = kwire.error_codes.FENCED_MEMBER_EPOCH
            return make(error_code=code)
        entry = make.TopicPartitions(topic_id=topic_id, partitions=[turn % 8])
        return response.replace(
            error_code=0,
            member_epoch=turn + 1,
            assignment=make.Assignment(topic_partitions=[entry]),
        )

    setting.broker._ConsumerGroupHeartbeatRequest = answer
    machine, world = setting.machine, setting.world
    machine.begin_wait(world.now)
    until = world.now + 30
    while world.run(machine, machine.has_result, until):
        fetched = machine.take()
        if fetched is None:
            break
        machine.release(fetched)
    world.traffic.check()


def test_metadata_of_brokers_that_refuse_connections_is_not_tried_all_at_once(kwire):
    """Metadata contains 3,000 brokers. All but one refuse connections."""
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    cluster = SimulatedCluster(kwire, random.Random(1), 1, ["4.1"])
    world = World(cluster, random.Random(2))
    world.delay = lambda: 0.001
    cluster.add_topic("a", 1)
    broker = cluster.brokers[1]
    broker.learn()
    make, metadata = kwire.messages.MetadataResponse, broker._MetadataRequest
    broker._MetadataRequest = lambda request, version: metadata(
        request, version
    ).replace(
        brokers=[
            make.MetadataResponseBroker(node_id=node, host="sim", port=9000 + node)
            for node in range(2, 3000)
        ]
    )
    original_at, tried_ports = cluster.at, []

    def at(host, port):
        tried_ports.append(port)
        return original_at(host, 9001) if port == 9001 else refusing

    refusing = type(broker)(cluster, 2, "4.1")
    refusing.is_up = False
    cluster.at = at
    machine = module.ScanMachine(
        [("sim", 9001)],
        module.ClusterSettings(),
        module.ScanOptions(topics=("a",), follow=True),
        now=START_S,
        random=random.Random(3),
    )
    world.at(START_S + 1, lambda: setattr(broker, "is_up", False))
    world.at(START_S + 1, lambda: world.break_wires(1))
    world.run(machine, lambda: False, START_S + 11)
    assert 20 < len(tried_ports) < 200
