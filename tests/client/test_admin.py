# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Administrative operations with both clients, over sockets."""

import asyncio
import importlib

import pytest

from tests.client.log_broker import LogBroker


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.fixture(params=["awaited", "blocking"])
def call(request, client):
    """Function that calls an operation with a new client: blocking or awaited."""

    def call_blocking(broker, name, *args, **kwargs):
        with client.connect_sync(broker.address, timeout_s=5.0) as kafka:
            return getattr(kafka, name)(*args, **kwargs)

    def call_awaited(broker, name, *args, **kwargs):
        async def run():
            async with client.connect(broker.address, timeout_s=5.0) as kafka:
                return await getattr(kafka, name)(*args, **kwargs)

        return asyncio.run(run(), debug=True)

    return call_awaited if request.param == "awaited" else call_blocking


def test_request_returns_the_response_of_the_broker(kwire, call):
    messages = kwire.messages
    with LogBroker({"orders": (5, 7)}) as broker:
        broker.cluster_truth.listed_groups |= {"etl"}
        response = call(broker, "request", messages.ListGroupsRequest())
        assert type(response) is messages.ListGroupsResponse
        assert [group.group_id for group in response.groups] == ["etl"]
        described = call(
            broker, "request", messages.DescribeGroupsRequest(groups=["etl"]), to=1
        )
        assert described.groups[0].group_state == "Stable"


def test_request_that_no_broker_can_have_is_rejected_before_it_connects(kwire, call):
    request = kwire.messages.SaslHandshakeRequest(mechanism="PLAIN")
    with LogBroker({}) as broker:
        with pytest.raises(ValueError, match="authentication"):
            call(broker, "request", request)
        assert not broker.connections


def test_topics_are_created_extended_and_deleted(client, call):
    with LogBroker({}) as broker:
        topics = broker.cluster_truth.topics
        call(broker, "create_topics", {"a": 3, "b": 1}, replication_factor=1)
        assert {name: len(topic_log.logs) for name, topic_log in topics.items()} == {
            "a": 3,
            "b": 1,
        }
        call(broker, "add_partitions", {"b": 4})
        assert len(topics["b"].logs) == 4
        call(broker, "delete_topics", "a")
        assert list(topics) == ["b"]
        with pytest.raises(client.TopicNotFound, match=r"'a': .*UNKNOWN_TOPIC"):
            call(broker, "delete_topics", ["a"])
        with pytest.raises(client.RequestRefused, match="INVALID_PARTITIONS"):
            call(broker, "add_partitions", {"b": 2})


def test_topic_that_exists_is_an_error_and_the_others_are_created(kwire, client, call):
    with LogBroker({"a": (1,)}) as broker:
        with pytest.raises(client.RequestRefused, match="'a'") as caught:
            call(broker, "create_topics", ["a", "b"])
        assert caught.value.error_code == kwire.error_codes.TOPIC_ALREADY_EXISTS
        assert "'b'" not in str(caught.value)
        assert list(broker.cluster_truth.topics) == ["a", "b"]


def test_records_before_an_offset_are_deleted(client, call):
    with LogBroker({"a": (5, 7)}) as broker:
        low_watermarks = call(broker, "delete_records", {("a", 0): 2, ("a", 1): 7})
        assert low_watermarks == {("a", 0): 2, ("a", 1): 7}
        assert [broker.log("a", n).start for n in (0, 1)] == [2, 7]
        with pytest.raises(client.TopicNotFound, match="a-9"):
            call(broker, "delete_records", {("a", 9): 1})


def test_configuration_is_set_read_and_reset(client, call):
    with LogBroker({"a": (1,)}) as broker:
        values = {"retention.ms": "1000", "cleanup.policy": "compact"}
        call(broker, "set_configs", "topic", "a", values)
        call(broker, "set_configs", "topic", "a", {"x": "1"}, validate_only=True)
        call(broker, "set_configs", "topic", "a", {"cleanup.policy": None})
        properties = call(broker, "configs", "topic", "a")
        assert set(properties) == {"node", "retention.ms"}
        entry = properties["retention.ms"]
        assert (entry.name, entry.value) == ("retention.ms", "1000")
        assert (entry.source, entry.is_sensitive) == ("default", False)
        assert call(broker, "configs", "broker", 1)["node"].value == "1"
        with pytest.raises(client.TopicNotFound, match="'none'"):
            call(broker, "set_configs", "topic", "none", values)
        with pytest.raises(ValueError, match="resource_type must be"):
            call(broker, "configs", "user", "a")


def test_groups_are_listed_described_and_deleted(kwire, client, call, monkeypatch):
    assignment = kwire.messages.ConsumerProtocolAssignment
    partitions = assignment.TopicPartition(topic="a", partitions=[1, 2])
    data = kwire.messages.framing.encode_prefixed(
        assignment(assigned_partitions=[partitions]), 0
    )
    with LogBroker({"a": (1, 1, 1)}) as broker:
        truth = broker.cluster_truth
        truth.listed_groups |= {"old", "gone"}
        truth.add_group("new", ["a"])
        broker.node.assignments = {"old": data}
        assert list(call(broker, "groups")) == ["gone", "old"]
        assert call(broker, "groups")["old"].protocol_type == "consumer"
        classic = call(broker, "describe_group", "old")
        assert (classic.group_type, classic.state) == ("classic", "Stable")
        assert classic.assignor == "range"
        assert classic.members[0].partitions == (("a", 1), ("a", 2))
        assert call(broker, "describe_group", "gone").members[0].partitions == ()
        newer = call(broker, "describe_group", "new")
        assert (newer.group_type, newer.assignor) == ("consumer", "uniform")
        assert newer.members[0].partitions == (("a", 0), ("a", 2))
        call(broker, "delete_groups", "gone")
        assert truth.listed_groups == {"old"}
        for name in ("describe_group", "delete_groups"):
            with pytest.raises(client.RequestRefused, match="'none'") as caught:
                call(broker, name, "none")
            assert caught.value.error_code == kwire.error_codes.GROUP_ID_NOT_FOUND


def test_group_is_described_by_a_broker_without_the_newer_protocol(kwire, call):
    with LogBroker({}) as broker:
        broker.node.become("2.3")
        broker.table = broker.node.table
        broker.cluster_truth.listed_groups |= {"old"}
        assert call(broker, "describe_group", "old").group_type == "classic"


def test_offsets_of_a_group_are_set_and_read(client, call):
    with LogBroker({"a": (5, 7)}) as broker:
        broker.cluster_truth.add_group("etl", ["a"])
        offsets = {("a", 0): 3, ("a", 1): 7}
        call(broker, "set_group_offsets", "etl", offsets)
        assert call(broker, "group_offsets", "etl") == offsets
