# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClientConnection`` with librdkafka's mock cluster, over real sockets.

The mock cluster is independent of kwire. In some versions, its layouts differ from
Kafka's layouts, which a client must detect as an error. All connections use the
loopback interface, and every wait has a timeout.
"""

import importlib
import socket

import pytest
from confluent_kafka import Producer

from tests.connection.wire import TIMEOUT_S, Wire

ROWS = [(b"key-%d" % n, b"value %d" % n * 9) for n in range(20)]
NEWEST_METADATA = 8
"""Newest version in which the mock cluster has the layout of Kafka."""

OWN_PRODUCE = 5
"""Produce version in which the mock cluster's layout is different."""


@pytest.fixture(scope="module")
def cluster():
    """Addresses of three brokers as {broker id: (host, port)}.

    The cluster runs as long as the handle exists.
    """
    handle = Producer(
        {"bootstrap.servers": "mock", "test.mock.num.brokers": 3, "log_level": 0}
    )
    brokers = handle.list_topics(timeout=TIMEOUT_S).brokers
    yield {broker.id: (broker.host, broker.port) for broker in brokers.values()}
    del handle


@pytest.fixture
def negotiation(kwire):
    """Negotiation module on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.connection.negotiation")


@pytest.fixture
def policy(kwire, negotiation):
    """Policy that allows only versions with Kafka's layout in the mock cluster."""
    messages = kwire.messages
    return negotiation.VersionPolicy(
        speaks={messages.MetadataRequest.api_key: (0, NEWEST_METADATA)},
        exclude={messages.ProduceRequest.api_key: [OWN_PRODUCE]},
    )


def find_leader(kwire, wire, topic):
    """Request a topic, which creates it, and return its leader's id."""
    request = kwire.messages.MetadataRequest
    topic_entry = request.MetadataRequestTopic(name=topic)
    (answer,) = wire.ask(request(topics=[topic_entry])).topics
    assert (answer.error_code, answer.name) == (0, topic)
    return next(
        partition.leader_id
        for partition in answer.partitions
        if partition.partition_index == 0
    )


@pytest.fixture
def leader(kwire, cluster, policy, request):
    """Connection to the leader of a new topic, and the name of the topic."""
    topic = f"{request.node.name.translate(str.maketrans('[]', '--'))}"
    with Wire(kwire, cluster[1], policy=policy) as wire:
        address = cluster[find_leader(kwire, wire, topic)]
    with Wire(kwire, address, policy=policy) as wire:
        find_leader(kwire, wire, topic)
        yield wire, topic


def produce_request(kwire, topic, row, acks=-1):
    """Return a Produce request that appends one batch with one record."""
    request = kwire.messages.ProduceRequest
    data = kwire.records.encode_batch([row])
    part = request.PartitionProduceData(index=0, records=data)
    return request(
        acks=acks,
        timeout_ms=1000 * TIMEOUT_S,
        topic_data=[request.TopicProduceData(name=topic, partition_data=[part])],
    )


def fetch_records(kwire, wire, topic, count, version=None, **options):
    """Fetch ``count`` records from the start."""
    request = kwire.messages.FetchRequest
    records = []
    while len(records) < count:
        part = request.FetchPartition(
            partition=0, fetch_offset=len(records), partition_max_bytes=1 << 20
        )
        topics = [request.FetchTopic(topic=topic, partitions=[part])]
        fetch_request = request(max_wait_ms=100, min_bytes=1, topics=topics)
        (answer,) = wire.ask(fetch_request, version, **options).responses
        (part,) = answer.partitions
        assert part.error_code == 0
        batches = kwire.records.decode_batches(part.records)
        records += [
            (record.key, record.value) for batch in batches for record in batch.records
        ]
    return records


def test_mock_cluster_rejects_api_versions_in_its_own_layout(kwire, cluster):
    """The cluster's response has an unknown layout, on which the next test relies."""
    messages, framing = kwire.messages, kwire.messages.framing
    with socket.create_connection(cluster[1], timeout=TIMEOUT_S) as peer:
        peer.sendall(framing.encode_request(messages.ApiVersionsRequest(), 4, 7, "k"))
        frames = []
        splitter = framing.FrameSplitter()
        while not frames:
            frames = list(splitter.feed(peer.recv(1 << 16)))
    (frame,) = frames
    code = kwire.error_codes.UNSUPPORTED_VERSION
    assert frame[:6] == (7).to_bytes(4, "big") + code.to_bytes(2, "big")
    for version in (0, 3, 4):
        with pytest.raises(kwire.errors.DecodeError):
            framing.decode_response(messages.ApiVersionsResponse, frame, version)


def test_negotiation_succeeds_after_the_rejection(kwire, cluster):
    """ApiVersions is repeated in version 0 on the same connection."""
    with Wire(kwire, cluster[1]) as wire:
        messages = kwire.messages
        assert wire.table.range_of(messages.ApiVersionsRequest).min == 0
        assert wire.table.pick(messages.ProduceRequest) >= 10
        # The mock cluster offers Heartbeat 5, which Kafka does not have.
        assert wire.table.advertised[messages.HeartbeatRequest.api_key] == (0, 5)
        assert wire.table.pick(messages.HeartbeatRequest) == 4


def test_equal_brokers_share_their_table(kwire, cluster, negotiation):
    """The three tables are equal, and their intersection is the same table."""
    wires = {str(node): Wire(kwire, address) for node, address in cluster.items()}
    try:
        for wire in wires.values():
            wire.wait_for("Negotiated")
        tables = {name: wire.table for name, wire in wires.items()}
        together = negotiation.ClusterVersions(tables)
        assert len(tables) == 3
        for table in tables.values():
            assert together.ranges() == table.ranges()
            assert together.features() == table.features()
    finally:
        for wire in wires.values():
            wire.__exit__(None, None, None)


@pytest.mark.parametrize("version", range(NEWEST_METADATA + 1))
def test_metadata_of_all_compatible_versions_is_equal(kwire, cluster, version):
    """All nine Metadata versions describe the same cluster.

    If a version lacks a field, the field has its default.
    """
    request = kwire.messages.MetadataRequest
    with Wire(kwire, cluster[1]) as wire:
        topics = [request.MetadataRequestTopic(name="described")]
        answer = wire.ask(request(topics=topics), version)
    addresses = {
        broker.node_id: (broker.host, broker.port) for broker in answer.brokers
    }
    assert addresses == cluster
    assert [topic.name for topic in answer.topics] == ["described"]
    assert {part.leader_id for part in answer.topics[0].partitions} <= set(cluster)


def test_additional_bytes_end_the_connection(kwire, cluster):
    """Additional bytes in the newest Metadata are an error.

    The next connection works.
    """
    request = kwire.messages.MetadataRequest
    metadata_request = request(topics=[request.MetadataRequestTopic(name="spare")])
    errors = kwire.errors
    with Wire(kwire, cluster[1]) as wire:
        connection = wire.connection
        with pytest.raises(errors.DecodeError) as raised:
            wire.ask(metadata_request)
        assert connection.failure is raised.value
        assert not connection.is_open
        assert not connection.table.is_alive
        with pytest.raises(errors.LocalProtocolError, match="MetadataResponse v"):
            connection.send(metadata_request)
    with Wire(kwire, cluster[1]) as wire:
        assert wire.ask(metadata_request, NEWEST_METADATA).topics[0].name == "spare"


def test_records_of_every_produce_version_are_read_by_every_fetch_version(
    kwire, leader, negotiation
):
    """All Produce versions with magic 2 send a record. All Fetch versions read it."""
    wire, topic = leader
    messages, table = kwire.messages, wire.table
    produces = table.usable(
        messages.ProduceRequest, negotiation.MAGIC_2, negotiation.NO_TOPIC_IDS
    )
    fetches = table.usable(
        messages.FetchRequest, negotiation.MAGIC_2, negotiation.NO_TOPIC_IDS
    )
    assert produces == (3, 4, 6, 7, 8, 9, 10)
    assert fetches == tuple(range(4, 13))
    sent = list(zip(produces, ROWS, strict=False))
    for offset, (version, row) in enumerate(sent):
        answer = wire.ask(produce_request(kwire, topic, row), version)
        (part,) = answer.responses[0].partition_responses
        assert (part.error_code, part.base_offset) == (0, offset)
    rows = [row for _, row in sent]
    for version in fetches:
        assert fetch_records(kwire, wire, topic, len(rows), version) == rows


def test_many_requests_at_once_are_answered_in_order(kwire, leader):
    """The requests are sent before a response is read."""
    wire, topic = leader
    sent_requests = {
        wire.connection.send(produce_request(kwire, topic, row)): row for row in ROWS
    }
    assert [request.correlation_id for request in wire.connection.in_flight] == list(
        sent_requests
    )
    events = [wire.wait_for("ResponseReceived") for _ in ROWS]
    assert [event.correlation_id for event in events] == list(sent_requests)
    offsets = [
        event.response.responses[0].partition_responses[0].base_offset
        for event in events
    ]
    assert offsets == list(range(len(ROWS)))
    assert wire.connection.in_flight == ()


def test_fetch_without_topic_ids_is_a_version_that_has_names(
    kwire, leader, negotiation
):
    """A constraint lowers the version of its message, not of the connection."""
    wire, topic = leader
    for row in ROWS:
        wire.ask(produce_request(kwire, topic, row))
    constraints = (negotiation.NO_TOPIC_IDS,)
    assert wire.table.pick(kwire.messages.FetchRequest) > 12
    records = fetch_records(kwire, wire, topic, len(ROWS), constraints=constraints)
    assert records == ROWS


def test_response_to_acks_0_is_rejected(kwire, leader):
    """The mock cluster responds to acks=0, which would break the order of responses."""
    wire, topic = leader
    silent = wire.connection.send(produce_request(kwire, topic, ROWS[0], acks=0))
    assert wire.connection.in_flight == ()
    awaited = wire.connection.send(produce_request(kwire, topic, ROWS[1]))
    with pytest.raises(kwire.errors.RemoteProtocolError) as raised:
        wire.next_event()
    assert f"correlation id {silent}" in str(raised.value)
    assert f"expected {awaited}" in str(raised.value)


@pytest.mark.parametrize("version", range(NEWEST_METADATA + 1, 14))
def test_additional_bytes_of_the_mock_cluster_are_ignored_with_compat(
    kwire, cluster, version
):
    """Kafka's client ignores additional bytes. Kwire only does so with ``compat``."""
    request = kwire.messages.MetadataRequest(topics=None)
    with Wire(kwire, cluster[1], compat="java") as wire:
        assert len(wire.ask(request, version).brokers) == 3
    with Wire(kwire, cluster[1]) as wire, pytest.raises(kwire.TrailingBytes):
        wire.ask(request, version)
