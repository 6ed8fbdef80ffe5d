# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Brokers that repeat one malicious response forever to block a client.

A bounded scan must end with its records or a typed error before its timeout. A scan
with ``follow`` may wait, but must not send requests without pauses. Random lies are in
``test_lying_brokers.py``, and silent brokers in ``test_silent_brokers.py``.
"""

import importlib
import itertools
import re
from uuid import UUID

import pytest

from tests.client.machines.attack import Attack, each_partition, refuse_all
from tests.client.machines.partition_log import StoredBatch


@pytest.fixture
def attack(kwire):
    """Cluster with responses that the test changes."""
    return Attack(kwire)


FOLLOW = pytest.mark.parametrize("follow", [False, True])


@FOLLOW
def test_leaders_that_point_in_circles_are_followed_with_pauses(attack, follow):
    """Brokers name each other as the leader, in ever newer epochs (KIP-951)."""
    make, epochs = attack.make.FetchResponse, itertools.count(10)

    def point(node, response):
        leader = make.LeaderIdAndEpoch(
            leader_id=node % 3 + 1, leader_epoch=next(epochs)
        )
        code = attack.codes.NOT_LEADER_OR_FOLLOWER
        return refuse_all(response, code, current_leader=leader)

    attack.answer("Fetch", point)
    failure = attack.scan(follow=follow)
    if not follow:
        assert isinstance(failure, attack.module.BrokersUnreachable)


@FOLLOW
def test_replicas_that_point_in_circles_are_followed_with_pauses(attack, follow):
    """Brokers name each other as the preferred read replica (KIP-392)."""

    def point(node, response):
        return each_partition(
            response,
            lambda part: part.replace(
                records=b"", error_code=0, preferred_read_replica=node % 3 + 1
            ),
        )

    attack.answer("Fetch", point)
    failure = attack.scan(follow=follow, rack="x")
    if not follow:
        assert isinstance(failure, attack.module.BrokersUnreachable)


@FOLLOW
@pytest.mark.parametrize("policy", ["raise", "earliest", "latest"])
def test_an_offset_that_is_never_in_range_ends_a_scan(attack, follow, policy):
    """The scan ends if ListOffsets returns a start offset that Fetch always rejects."""
    attack.answer(
        "Fetch",
        lambda node, response: refuse_all(response, attack.codes.OFFSET_OUT_OF_RANGE),
    )
    failure = attack.scan(follow=follow, on_data_loss=policy)
    if not follow:
        assert isinstance(failure, attack.module.BrokersUnreachable)


@FOLLOW
def test_a_log_that_never_reaches_its_end_ends_a_scan(attack, follow):
    """ListOffsets returns an end offset that the high watermark never reaches."""

    def hold_back(node, response):
        return each_partition(
            response, lambda part: part.replace(records=b"", high_watermark=2)
        )

    attack.answer("Fetch", hold_back)
    failure = attack.scan(follow=follow)
    if not follow:
        assert isinstance(failure, attack.module.BrokersUnreachable)
        assert "a-0" in str(failure)


@FOLLOW
@pytest.mark.parametrize("policy", ["raise", "earliest", "latest"])
def test_repeated_log_truncation_causes_few_losses(attack, follow, policy):
    """All Fetch responses report a truncation to offset 0 (KIP-320)."""
    make = attack.make.FetchResponse

    def cut(node, response):
        end = make.EpochEndOffset(epoch=0, end_offset=0)
        return each_partition(
            response,
            lambda part: (
                part.replace(records=b"", diverging_epoch=end)
                if not part.records
                else part
            ),
        )

    attack.answer("Fetch", cut)
    attack.scan(follow=follow, on_data_loss=policy)
    assert len(attack.machine.losses) < 200


def test_batches_without_records_are_given_one_by_one(attack):
    """The caller receives all empty batches. The scan ends at the log end offset."""
    log, other = attack.topic.logs
    other.delete_before(other.end)
    log.end = 300
    log.batches = [
        StoredBatch(
            offset,
            offset,
            0,
            attack.kwire.records.encode_batch(
                [], base_offset=offset, last_offset=offset, max_timestamp=0
            ),
            {},
        )
        for offset in range(log.end)
    ]
    assert attack.scan(fetch_bytes=70) is None
    assert [fetched.next_offset for fetched in attack.taken] == [*range(1, 301)]


def test_records_of_offsets_before_are_refused(attack):
    """The scan rejects records before its position.

    Otherwise, it would read the same offsets again forever.
    """
    data = attack.kwire.records.encode_batch([(b"k", b"v")])

    def go_back(node, response):
        return each_partition(response, lambda part: part.replace(records=data))

    attack.answer("Fetch", go_back)
    failure = attack.scan()
    assert isinstance(failure, attack.module.ClusterError)
    assert "only records before offset 1" in str(failure)


def test_offsets_that_no_log_has_end_in_a_typed_error(attack):
    """The offset after the batch exceeds 64 bits."""
    last = (1 << 63) - 1
    data = attack.kwire.records.encode_batch(
        [], base_offset=last, last_offset=last, max_timestamp=0
    )

    def leap(node, response):
        return each_partition(response, lambda part: part.replace(records=data))

    attack.answer("Fetch", leap)
    assert isinstance(attack.scan(follow=True), attack.kwire.KwireError)


@FOLLOW
def test_fetch_session_may_change_its_id_in_each_response(attack, follow):
    """The scan accepts a new session id in each response."""
    numbers = itertools.count(1)
    attack.answer(
        "Fetch", lambda node, response: response.replace(session_id=next(numbers))
    )
    assert attack.scan(follow=follow) is None or not follow


@FOLLOW
@pytest.mark.parametrize("is_first", [False, True])
def test_fetch_session_that_is_always_forgotten_ends_a_scan(attack, follow, is_first):
    """The broker forgets the session immediately, or after its first request."""
    code = attack.codes.FETCH_SESSION_ID_NOT_FOUND

    def forget(node, response):
        response = refuse_all(response, 0)
        if is_first or response.session_id == node:
            return response.replace(error_code=code, responses=[], session_id=0)
        return response.replace(session_id=node)

    attack.answer("Fetch", forget)
    failure = attack.scan(follow=follow)
    if not follow:
        assert isinstance(failure, attack.module.BrokersUnreachable)


@FOLLOW
@pytest.mark.parametrize("name", ["Metadata", "ListOffsets", "Fetch"])
def test_throttle_of_weeks_stops_requests_and_ends_a_bounded_scan(attack, follow, name):
    """The throttle time is 2^31 - 1 ms, which is more than three weeks.

    The broker gets no requests during this time, and a bounded scan fails.
    """
    attack.answer(
        name,
        lambda node, response: (
            refuse_all(response, 0) if name == "Fetch" else response
        ).replace(throttle_time_ms=(1 << 31) - 1),
    )
    failure = attack.scan(follow=follow)
    if name != "Metadata":
        # Do not limit the requests if Metadata is throttled, because the other brokers
        # can still respond to it.
        assert attack.world.requests < 20
    if not follow and name != "Metadata":
        assert isinstance(failure, attack.module.BrokersUnreachable)


def test_a_partition_that_a_response_has_twice_counts_once(attack):
    """The first entry loses the position, so the second entry's records are dropped."""

    def double(node, response):
        code = attack.codes.OFFSET_OUT_OF_RANGE
        return response.replace(
            responses=[
                *refuse_all(response, code).responses,
                *response.responses,
            ]
        )

    attack.answer("Fetch", double)
    failure = attack.scan(on_data_loss="earliest")
    assert isinstance(failure, attack.module.BrokersUnreachable)


def test_records_after_the_end_come_once(attack):
    """The scan drops the second batch, which starts at the scan's end offset."""
    encode = attack.kwire.records.encode_batch

    def more(node, response):
        data = [encode([(b"k", b"v")] * 5, base_offset=base) for base in (0, 5)]
        return response.replace(
            responses=[
                topic.replace(
                    partitions=[
                        part.replace(records=batch)
                        for part in topic.partitions
                        for batch in data
                    ]
                )
                for topic in response.responses
            ]
        )

    attack.answer("Fetch", more)
    assert attack.scan() is None
    assert [fetched.next_offset for fetched in attack.taken] == [5, 5]


def test_endpoints_are_read_once_for_a_response(attack, monkeypatch):
    """The endpoints in a response are read once.

    Reading them for each partition would take quadratic time.
    """
    machine = importlib.import_module(
        f"{attack.kwire.__name__}.client.machines.cluster"
    )
    make, broker_fields = attack.make.FetchResponse, []
    broker = machine.Broker

    def count(*fields):
        broker_fields.append(fields)
        return broker(*fields)

    monkeypatch.setattr(machine, "Broker", count)
    attack.topic.leaders[:] = [1, 1]
    for simulated_broker in attack.cluster.brokers.values():
        simulated_broker.learn()
    endpoints = [
        make.NodeEndpoint(node_id=node, host="sim", port=9001) for node in range(500)
    ]

    def hint(node, response):
        leader = make.LeaderIdAndEpoch(leader_id=499, leader_epoch=7)
        code = attack.codes.NOT_LEADER_OR_FOLLOWER
        return refuse_all(response, code, current_leader=leader).replace(
            node_endpoints=endpoints
        )

    attack.answer("Fetch", hint)
    attack.scan()
    assert len(broker_fields) <= 500 * attack.world.requests


def test_topic_id_that_always_changes_ends_a_scan(attack):
    """A new topic id is a data loss, and metadata is requested with pauses."""
    numbers = itertools.count(100)

    def rename(node, response):
        return response.replace(
            topics=[
                topic.replace(topic_id=UUID(int=next(numbers)))
                for topic in response.topics
            ]
        )

    attack.answer("Metadata", rename)
    failure = attack.scan(on_data_loss="earliest")
    assert isinstance(failure, attack.module.ClusterError)
    assert len(attack.machine.losses) < 1000


def test_metadata_without_brokers_ends_a_scan(attack):
    """The bootstrap addresses are used again if metadata contains no brokers."""
    attack.answer("Metadata", lambda node, response: response.replace(brokers=[]))
    failure = attack.scan()
    assert isinstance(failure, attack.module.BrokersUnreachable)


def test_metadata_with_a_negative_partition_ends_the_connection(attack):
    """No request contains the partition, and metadata is requested with pauses."""
    requests = []

    def renumber(node, response):
        return response.replace(
            topics=[
                topic.replace(
                    partitions=[
                        part.replace(partition_index=-5) for part in topic.partitions
                    ]
                )
                for topic in response.topics
            ]
        )

    attack.answer("Metadata", renumber)
    attack.answer("ListOffsets", lambda node, response: requests.append(response))
    failure = attack.scan()
    assert isinstance(failure, attack.module.BrokersUnreachable)
    assert "the partition -5 of the topic a; partitions are numbered" in str(failure)
    assert not requests


def test_metadata_with_a_negative_node_id_ends_the_connection(attack):
    """Node id -1 means that a partition has no leader, so no broker can have it."""

    def renumber(node, response):
        return response.replace(
            brokers=[
                broker.replace(node_id=-broker.node_id) for broker in response.brokers
            ]
        )

    attack.answer("Metadata", renumber)
    failure = attack.scan()
    assert isinstance(failure, attack.module.BrokersUnreachable)
    assert "node ids are 0 or greater" in str(failure)


@pytest.mark.parametrize("name", ["x" * 30_000, "\n\x1b[2J" * 50])
def test_invalid_topic_names_match_no_pattern(attack, name):
    """A pattern ignores invalid topic names.

    The names occur neither in errors nor in requests.
    """

    def rename(node, response):
        return response.replace(
            topics=[topic.replace(name=name) for topic in response.topics]
        )

    attack.answer("Metadata", rename)
    failure = attack.scan(pattern=re.compile(r".*", re.DOTALL))
    assert isinstance(failure, attack.module.TopicNotFound)
    assert "no topic matches the pattern '.*'" in str(failure)


def test_a_topic_of_many_partitions_takes_few_requests(kwire):
    """A request covers all partitions on a broker, because there may be millions."""
    attack = Attack(kwire)
    attack.cluster.add_topic("a", 3000)
    for broker in attack.cluster.brokers.values():
        broker.learn()
    assert attack.scan() is None
    # One Metadata request, and two offset lookups per broker.
    assert attack.world.requests <= 1 + 2 * 3
