# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of producers and transactions by test clusters."""

from __future__ import annotations

import pytest

from kwire.messages import (
    DescribeProducersRequest,
    DescribeTransactionsRequest,
    ListTransactionsRequest,
)
from kwire.schema import error_codes, releases
from kwire.testing.rules import Rule
from tests.testing.machine_client import MachineClient, make_machine
from tests.testing.transaction_session import COMMIT, TransactionSession, make_session

APIS = {
    DescribeProducersRequest: DescribeProducersRequest(
        topics=[
            DescribeProducersRequest.TopicRequest(name="t", partition_indexes=[0, 0, 7])
        ]
    ),
    DescribeTransactionsRequest: DescribeTransactionsRequest(
        transactional_ids=["transactional-id", "transactional-id", ""]
    ),
    ListTransactionsRequest: ListTransactionsRequest(state_filters=["Ongoing"]),
}


def list_ids(client, **filters):
    """Return the transactional ids that match filters."""
    response = client.request(ListTransactionsRequest(**filters))
    assert response.error_code == 0
    return [entry.transactional_id for entry in response.transaction_states]


def describe_producers(session, topic, partition):
    """Return the response for one partition."""
    request = DescribeProducersRequest(
        topics=[
            DescribeProducersRequest.TopicRequest(
                name=topic, partition_indexes=[partition]
            )
        ]
    )
    ((part,),) = [topic.partitions for topic in session.request(request).topics]
    return part


def describe(session, transactional_id):
    """Return the description of a transactional id."""
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    (description,) = session.request(request).transaction_states
    return description


@pytest.fixture
def clients():
    """Return a client, and sessions of the states Empty, Ongoing, CompleteCommit."""
    machine = make_machine(topics={"t": 2}, release="4.4")
    sessions = [TransactionSession(machine, name) for name in ("id-a", "id-b", "id-c")]
    for session in sessions:
        session.init()
    for session in sessions[1:]:
        session.produce("t", 0)
    sessions[2].end(COMMIT)
    return MachineClient(machine), sessions


@pytest.mark.parametrize("release", releases.NAMES[releases.NAMES.index("2.8") :])
@pytest.mark.parametrize("cls", APIS)
def test_every_version_of_a_release_is_answered(release, cls):
    session = make_session(release)
    session.init()
    session.add("t", 0)
    session.produce("t", 0)
    for version in session.machine.table.usable(cls):
        assert session.request(APIS[cls], version)


def test_filters_of_transactions_are_combined(clients):
    client, sessions = clients
    assert list_ids(client) == ["id-a", "id-b", "id-c"]
    assert list_ids(client, state_filters=["Ongoing"]) == ["id-b"]
    assert list_ids(client, state_filters=["Empty", "Ongoing"]) == ["id-a", "id-b"]
    producer_id = sessions[2].producer.producer_id
    assert list_ids(client, producer_id_filters=[producer_id]) == ["id-c"]
    filters = {"producer_id_filters": [producer_id], "state_filters": ["Empty"]}
    assert list_ids(client, **filters) == []


def test_unknown_states_are_reported(clients):
    client, _ = clients
    request = ListTransactionsRequest(state_filters=["Lost", "Dead", "Lost"])
    response = client.request(request)
    assert list(response.unknown_state_filters) == ["Lost"]
    assert not response.transaction_states


def test_duration_filter_selects_old_transactions(clients):
    client, _ = clients
    client.advance(5)
    filters = {"state_filters": ["Ongoing"]}
    assert list_ids(client, duration_filter=4999, **filters) == ["id-b"]
    assert list_ids(client, duration_filter=5000, **filters) == []
    assert list_ids(client, duration_filter=-1, **filters) == ["id-b"]


def test_pattern_matches_the_whole_transactional_id(clients):
    client, _ = clients
    assert list_ids(client, transactional_id_pattern="id-[ab]") == ["id-a", "id-b"]
    assert list_ids(client, transactional_id_pattern="id") == []
    assert list_ids(client, transactional_id_pattern="") == ["id-a", "id-b", "id-c"]


@pytest.mark.parametrize("pattern", ["(", "(?=a)", r"(a)\1", "a++", "[", "(" * 5000])
def test_invalid_pattern_is_reported(clients, pattern):
    client, _ = clients
    response = client.request(ListTransactionsRequest(transactional_id_pattern=pattern))
    assert response.error_code == error_codes.INVALID_REGULAR_EXPRESSION


def test_pattern_with_nested_repetitions_is_matched_in_linear_time():
    machine = make_machine(topics={"t": 2}, release="4.4")
    name = "a" * 5000 + "!"
    TransactionSession(machine, name).init()
    client = MachineClient(machine)
    assert list_ids(client, transactional_id_pattern="(a*)*b") == []
    assert list_ids(client, transactional_id_pattern="(a*)*!") == [name]


def test_description_contains_partitions_and_offsets():
    session = make_session("4.4")
    session.init(timeout_ms=5000)
    session.client.advance(2)
    start_ms = session.state.clock.unix_ms
    session.produce("t", 1)
    session.commit_offset("t", 0, 5)
    description = describe(session, session.transactional_id)
    assert description.error_code == 0
    assert description.transaction_state == "Ongoing"
    assert description.transaction_timeout_ms == 5000
    assert description.transaction_start_time_ms == start_ms
    assert (description.producer_id, description.producer_epoch) == (0, 0)
    topics = {entry.topic: list(entry.partitions) for entry in description.topics}
    # The hash of "g" is 103, and the topic of offsets has 50 partitions.
    assert topics == {"t": [1], "__consumer_offsets": [3]}
    session.end(COMMIT)
    assert not describe(session, session.transactional_id).topics


def test_unknown_transactional_id_is_not_found():
    session = make_session("4.4", brokers=2)
    name = session.find_name(session.node_id, "unknown")
    not_found = error_codes.TRANSACTIONAL_ID_NOT_FOUND
    assert describe(session, name).error_code == not_found
    assert describe(session, "").error_code == error_codes.INVALID_REQUEST
    name = session.find_name(3 - session.node_id, "other")
    assert describe(session, name).error_code == error_codes.NOT_COORDINATOR


def test_other_brokers_list_no_transactions_of_this_coordinator():
    session = make_session("4.4", brokers=2)
    session.init()
    assert list_ids(session.client) == [session.transactional_id]
    assert list_ids(MachineClient(session.machine, 3 - session.node_id)) == []


def test_active_producers_of_a_partition():
    session = make_session("4.4")
    session.init()
    session.produce("t", 0)
    session.produce("t", 0)
    (producer,) = describe_producers(session, "t", 0).active_producers
    assert (producer.producer_id, producer.producer_epoch) == (0, 0)
    assert (producer.last_sequence, producer.current_txn_start_offset) == (1, 0)
    assert producer.coordinator_epoch == -1
    session.end(COMMIT)
    (producer,) = describe_producers(session, "t", 0).active_producers
    assert (producer.producer_epoch, producer.last_sequence) == (1, -1)
    assert (producer.coordinator_epoch, producer.current_txn_start_offset) == (0, -1)


@pytest.mark.parametrize(
    ("topic", "partition", "name"),
    [
        ("t", 2, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("t", -1, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("unknown", 0, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("a b", 0, "INVALID_TOPIC_EXCEPTION"),
    ],
)
def test_producers_of_unknown_partitions(topic, partition, name):
    session = make_session("4.4")
    part = describe_producers(session, topic, partition)
    assert part.error_code == getattr(error_codes, name)


def test_producers_are_described_by_the_leader():
    session = make_session("4.4", brokers=2)
    codes = [describe_producers(session, "t", index).error_code for index in (0, 1)]
    assert sorted(codes) == [0, error_codes.NOT_LEADER_OR_FOLLOWER]


def test_rules_fail_descriptions():
    session = make_session("4.4")
    session.init()
    code = error_codes.COORDINATOR_LOAD_IN_PROGRESS
    rules = session.machine.rules
    for api in ("DescribeProducers", "DescribeTransactions", "ListTransactions"):
        rules.add(Rule(rules, api, times=1, error_code=code))
    assert describe(session, session.transactional_id).error_code == code
    assert describe_producers(session, "t", 0).error_code == code
    response = session.request(ListTransactionsRequest())
    assert response.error_code == code
