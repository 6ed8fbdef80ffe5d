# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-951, draft: it fails as proposed, and works after the repair.

Kafka's own generator reports the same two errors in the proposal. Both sides decode the
other side's bytes correctly or with an error. The last tests use both sides on a
socket.
"""

import importlib
import itertools
import uuid

import pytest

from tests.drafts.loopback import ask, serving

TOPIC_ID = uuid.UUID(int=5)

PRODUCE_10 = bytes.fromhex(
    "02 0274 02 00000000 0006 ffffffffffffffff ffffffffffffffff ffffffffffffffff"
    "01 00 01 00 09 00000002 00000005 00 00 00000000 01 00 0d 02 00000002 0268"
    "00002384 00 00"
)
"""Produce 10 of Kafka, as two other codecs encode it: t-0 has leader 2 at h:9092."""


@pytest.fixture
def kip951(kwire):
    """Module of the draft on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.drafts.kip951_leader_endpoints")


@pytest.fixture
def texts(kwire):
    """Texts of the proposed schemas: {"fetch": text, "produce": text}."""
    documents = importlib.import_module(f"{kwire.__name__}.drafts.documents")
    return {
        name: documents.schema_text(f"kip951_{name}_response")
        for name in ("fetch", "produce")
    }


def fetch(cls, host="h", rack=None, port=9092, **partition):
    """Return a Fetch 15 response. Leader 2 of its only partition has epoch 5.

    ``host``, ``rack`` and ``port`` are the address of the leader.
    """
    broker = cls.BrokerInfo(leader_host=host, leader_port=port, leader_rack=rack)
    fields = {
        "partition_index": 1,
        "error_code": 6,
        "high_watermark": -1,
        "current_leader": cls.LeaderIdAndEpoch(leader_id=2, leader_epoch=5),
        "current_leader_broker": broker,
    }
    row = cls.PartitionData(**(fields | partition))
    topic = cls.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[row])
    return cls(responses=[topic])


def produce(cls, **partition):
    """Return a Produce 9 response: leader 2 of the only partition, in epoch 5."""
    broker = cls.BrokerInfo(leader_host="h", leader_port=9092, leader_rack="r")
    fields = {
        "index": 1,
        "error_code": 6,
        "base_offset": -1,
        "current_leader": cls.LeaderIdAndEpoch(leader_id=2, leader_epoch=5),
        "current_leader_broker": broker,
    }
    row = cls.PartitionProduceResponse(**(fields | partition))
    topic = cls.TopicProduceResponse(name="t", partition_responses=[row])
    return cls(responses=[topic])


def schema_error(kwire, text):
    """Load an invalid schema, and return the ``SchemaError``."""
    with pytest.raises(kwire.SchemaError) as caught:
        kwire.messages.message_class(text)
    return caught.value


def test_fetch_as_proposed_gives_one_tag_to_two_fields(kwire, texts):
    """As in Kafka, the error is reported for the second field."""
    error = schema_error(kwire, texts["fetch"])
    assert (error.rule, error.path) == (
        "tag-duplicate",
        "Responses.Partitions.SnapshotId",
    )
    assert "tag 2 already belongs to CurrentLeaderBroker" in error.reason


def test_fetch_with_its_tag_moved_has_a_rack_that_cannot_be_null(kwire, texts):
    """If only the tag is moved, loading reports the second error: the rack."""
    line = '"CurrentLeaderBroker", "type": "BrokerInfo", "versions": "15+",'
    assert line in texts["fetch"]
    head, _, tail = texts["fetch"].partition(line)
    text = head + line + tail.replace('"tag": 2', '"tag": 3', 1)
    error = schema_error(kwire, text)
    assert (error.rule, error.path) == (
        "default-not-nullable",
        "Responses.Partitions.CurrentLeaderBroker.LeaderRack",
    )


def test_produce_as_proposed_has_a_rack_that_cannot_be_null(kwire, texts):
    """The tags are valid, but the default of the rack is null."""
    error = schema_error(kwire, texts["produce"])
    assert (error.rule, error.path) == (
        "default-not-nullable",
        "Responses.PartitionResponses.CurrentLeaderBroker.LeaderRack",
    )
    assert "set nullableVersions to 9+" in error.reason


def test_repair_changes_two_words_of_fetch_and_one_of_produce(kip951, texts):
    """All other text is unchanged, and a second repair has no effect."""
    rack = '"LeaderRack", "type": "string", "versions": "15+"'
    expected = texts["fetch"].replace(rack, f'{rack}, "nullableVersions": "15+"')
    before, name, after = expected.partition('"CurrentLeaderBroker"')
    moved = before + name + after.replace('"tag": 2', '"tag": 3', 1)
    assert kip951.repaired(texts["fetch"]) == moved
    assert kip951.repaired(moved) == moved
    before, name, after = expected.partition('"SnapshotId"')
    moved_snapshot = before + name + after.replace('"tag": 2', '"tag": 3', 1)
    assert kip951.repaired(texts["fetch"], moved="SnapshotId") == moved_snapshot
    rack = rack.replace("15", "9")
    expected = texts["produce"].replace(rack, f'{rack}, "nullableVersions": "9+"')
    assert kip951.repaired(texts["produce"]) == expected


def test_provenance_reports_that_it_was_never_released(kip951):
    """A class of the draft contains the name of its document."""
    assert str(kip951.PROVENANCE).startswith("KIP-951, ")
    assert str(kip951.PROVENANCE).endswith(", never released")


def test_registry_does_not_know_the_draft(kwire, kip951):
    """The registry returns Kafka's own classes for the API keys 0 and 1."""
    for cls in (kip951.FetchResponse, kip951.ProduceResponse):
        kafka_class = kwire.messages.by_key(cls.api_key, "response")
        assert kafka_class is not cls
        assert cls.valid_versions.max < kafka_class.valid_versions.max


@pytest.mark.parametrize("name", ["FetchResponse", "FetchResponseTag2"])
@pytest.mark.parametrize("rack", [None, "", "r1"])
def test_fetch_round_trips(kwire, kip951, name, rack):
    """The repaired schema decodes its own bytes, with the tag in its new position."""
    cls = getattr(kip951, name)
    response = fetch(cls, rack=rack)
    data = kwire.encode(response, 15)
    assert kwire.decode(cls, data, 15) == response
    content = b"\x02h" + bytes.fromhex("00002384")
    content += b"\0" if rack is None else bytes([len(rack) + 1]) + rack.encode()
    tag = 2 if name.endswith("2") else 3
    assert bytes([tag, len(content) + 1]) + content + b"\0" in data


def test_fetch_below_15_cannot_carry_a_broker(kwire, kip951):
    """A broker omits the field in version 14, because it requires version 15."""
    with pytest.raises(kwire.EncodeError, match="current_leader_broker"):
        kwire.encode(fetch(kip951.FetchResponse), 14)


def test_produce_has_the_bytes_of_its_tags(kwire, kip951):
    """Tag 0 is the leader and tag 1 is its broker, both in the partition."""
    response = produce(kip951.ProduceResponse)
    data = kwire.encode(response, 9)
    assert data == bytes.fromhex(
        "02 0274 02 00000001 0006 ffffffffffffffff ffffffffffffffff ffffffffffffffff"
        "01 00 02 00 09 00000002 00000005 00 01 09 0268 00002384 0272 00 00 00000000 00"
    )
    assert kwire.decode(kip951.ProduceResponse, data, 9) == response


def change(kip951, topic, *address):
    """Return the leader change that ``fetch`` and ``produce`` responses contain."""
    return (kip951.LeaderChange(topic, 1, 6, 2, 5, *address),)


def test_draft_leaders_have_an_address_per_partition(kip951):
    """Every partition has its own address."""
    response = fetch(kip951.FetchResponse, rack="r")
    assert kip951.leader_changes(response) == change(kip951, TOPIC_ID, "h", 9092, "r")
    response = produce(kip951.ProduceResponse)
    assert kip951.leader_changes(response) == change(kip951, "t", "h", 9092, "r")


def test_kafka_produce_leaders_have_addresses_of_the_endpoint_list(kwire, kip951):
    """The address of the leader is in the list of endpoints.

    Two other codecs encode the same body.
    """
    response = kwire.decode(kwire.messages.ProduceResponse, PRODUCE_10, 10)
    assert kwire.encode(response, 10) == PRODUCE_10
    assert kip951.leader_changes(response) == (
        kip951.LeaderChange("t", 0, 6, 2, 5, "h", 9092, None),
    )


@pytest.mark.parametrize("version", [16, 17, 18])
def test_kafka_fetch_leaders_share_addresses(kwire, kip951, version):
    """Two partitions share an address. A leader may have no address."""
    cls = kwire.messages.FetchResponse

    def partition(index, leader_id, error_code=74):
        leader = cls.LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=7)
        return cls.PartitionData(
            partition_index=index, error_code=error_code, current_leader=leader
        )

    rows = [partition(0, 3), partition(1, 3), partition(2, 4), partition(3, 3, 0)]
    response = cls(
        responses=[cls.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=rows)],
        node_endpoints=[cls.NodeEndpoint(node_id=3, host="b3", port=9093, rack="r")],
    )
    response = kwire.decode(cls, kwire.encode(response, version), version)
    assert kip951.leader_changes(response) == tuple(
        kip951.LeaderChange(TOPIC_ID, *rest)
        for rest in (
            (0, 74, 3, 7, "b3", 9093, "r"),
            (1, 74, 3, 7, "b3", 9093, "r"),
            (2, 74, 4, 7, None, None, None),
        )
    )


def test_leader_without_a_broker_has_no_address(kip951):
    """The broker with the address is an optional tagged field in the draft."""
    cls = kip951.FetchResponse
    response = fetch(cls, current_leader_broker=cls.BrokerInfo())
    assert kip951.leader_changes(response) == change(kip951, TOPIC_ID)


@pytest.mark.parametrize("error_code", [0, 1, 3, 5, 75])
def test_leader_without_a_leader_error_is_no_change(kip951, error_code):
    """Only errors about the leader make a leader a change.

    Quorums always send the leader.
    """
    response = fetch(kip951.FetchResponse, error_code=error_code)
    assert kip951.leader_changes(response) == ()


@pytest.mark.parametrize("unknown", [{"leader_id": -1}, {"leader_epoch": -1}])
def test_unknown_leader_is_no_change(kip951, unknown):
    """A leader needs both an id and an epoch."""
    cls = kip951.ProduceResponse
    leader = cls.LeaderIdAndEpoch(**({"leader_id": 2, "leader_epoch": 5} | unknown))
    assert kip951.leader_changes(produce(cls, current_leader=leader)) == ()


def test_other_messages_have_no_leaders(kwire, kip951):
    """Any message except a Fetch or Produce response raises TypeError."""
    for name in ("ProduceRequest", "MetadataResponse"):
        message = getattr(kwire.messages, name)()
        with pytest.raises(
            TypeError, match="must be a FetchResponse or ProduceResponse"
        ):
            kip951.leader_changes(message)


def read_as_kafka(kwire, kip951, data):
    """Decode bytes as Kafka's Fetch 15, and return its leader changes."""
    response = kwire.decode(kwire.messages.FetchResponse, data, 15)
    return kip951.leader_changes(response)


@pytest.mark.parametrize("port", [1, 256, 9092, 65535])
def test_tag_2_never_passes_for_a_snapshot(kwire, kip951, port):
    """Kafka's Fetch 15 decodes tag 2 as a snapshot id, which must be an error.

    For nearly all addresses, the decoder reports unused bytes. If host and rack have
    six bytes together, the host is decoded as an offset. Then ``leader_changes``
    reports that a snapshot id does not occur together with this error.
    """
    passed = set()
    for size, rack in itertools.product(range(1, 40), (None, *range(20))):
        name = None if rack is None else "r" * rack
        response = fetch(kip951.FetchResponseTag2, "h" * size, name, port)
        data = kwire.encode(response, 15)
        assert kwire.decode(kip951.FetchResponseTag2, data, 15) == response
        try:
            kwire.decode(kwire.messages.FetchResponse, data, 15)
        except kwire.DecodeError as error:
            assert "snapshot_id" in error.path
            continue
        passed.add((size, rack))
        with pytest.raises(kwire.RemoteProtocolError, match="FetchResponseTag2"):
            read_as_kafka(kwire, kip951, data)
    if port == 9092:
        assert passed == {(size, 6 - size) for size in range(1, 7)} | {(6, None)}


def test_snapshot_never_passes_for_tag_2(kwire, kip951):
    """Decoding a snapshot id as the draft's tag 2 is an error.

    The first byte of its offset is the length of the host, which must not be null.
    """
    cls = kwire.messages.FetchResponse
    for offset, epoch in ((0, 0), (1, 5), (2**32, 2**31 - 1), (2**56 - 1, 3)):
        snapshot = cls.SnapshotId(end_offset=offset, epoch=epoch)
        row = cls.PartitionData(snapshot_id=snapshot)
        topic = cls.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[row])
        data = kwire.encode(cls(responses=[topic]), 15)
        with pytest.raises(kwire.InvalidValue) as caught:
            kwire.decode(kip951.FetchResponseTag2, data, 15)
        assert caught.value.path.endswith("current_leader_broker.leader_host")


def test_tag_3_is_an_unknown_tag_to_kafka(kwire, kip951):
    """If a tag is unused, the field is skipped and kept without an error."""
    response = fetch(kip951.FetchResponse)
    data = kwire.encode(response, 15)
    decoded = kwire.decode(kwire.messages.FetchResponse, data, 15)
    (partition,) = decoded.responses[0].partitions
    assert partition.unknown_tagged_fields == ((3, b"\x02h\0\0\x23\x84\0\0"),)
    assert kip951.leader_changes(decoded) == change(kip951, TOPIC_ID)
    assert kwire.encode(decoded, 15) == data


def test_produce_9_of_the_draft_is_an_error_to_kafka(kwire, kip951):
    """Version 9 is an error, because Kafka's Produce has no leader below version 10."""
    data = kwire.encode(produce(kip951.ProduceResponse), 9)
    with pytest.raises(kwire.InvalidValue, match="tag 0 is not valid in this version"):
        kwire.decode(kwire.messages.ProduceResponse, data, 9)


def test_newer_fetch_and_produce_versions_are_not_the_draft(kwire, kip951):
    """The draft ends before Fetch 16 and Produce 10, which have the released form."""
    with pytest.raises(kwire.UnsupportedVersion):
        kwire.decode(kip951.ProduceResponse, PRODUCE_10, 10)
    with pytest.raises(kwire.UnsupportedVersion):
        kwire.decode(kip951.FetchResponse, b"", 16)


def test_released_bytes_as_the_draft_give_the_leader_without_an_address(kwire, kip951):
    """Decoding Produce 10 as version 9 keeps the endpoints as unknown bytes."""
    response = kwire.decode(kip951.ProduceResponse, PRODUCE_10, 9)
    assert response.unknown_tagged_fields[0][0] == 0
    assert kip951.leader_changes(response) == (kip951.LeaderChange("t", 0, 6, 2, 5),)


@pytest.mark.parametrize("name", ["FetchResponse", "FetchResponseTag2"])
def test_every_prefix_of_the_draft_is_refused(kwire, kip951, name):
    """If a response is truncated at any length, kwire raises an error."""
    cls = getattr(kip951, name)
    data = kwire.encode(fetch(cls, rack="r"), 15)
    for end in range(len(data)):
        with pytest.raises(kwire.DecodeError):
            kwire.decode(cls, data[:end], 15)


def follower(kwire, responses):
    """Return a function that responds to Fetch 15 and Produce 9.

    ``responses`` contains the response for each API key.
    """

    def answer(frame):
        header, request = kwire.messages.framing.decode_request(frame)
        assert header.request_api_version == {0: 9, 1: 15}[request.api_key]
        return kwire.messages.framing.encode_response(
            responses[request.api_key],
            header.request_api_version,
            header.correlation_id,
        )

    return answer


def leaders_from(kwire, kip951, address, cls):
    """Send a request, and decode its response as ``cls``. Return the leader changes."""
    version, name = {0: (9, "ProduceRequest"), 1: (15, "FetchRequest")}[cls.api_key]
    request = getattr(kwire.messages, name)()
    frame = ask(
        kwire, address, kwire.messages.framing.encode_request(request, version, 8)
    )
    correlation_id, response = kwire.messages.framing.decode_response(
        cls, frame, version
    )
    assert correlation_id == 8
    return kip951.leader_changes(response)


def test_client_learns_the_leaders_over_a_socket(kwire, kip951):
    """The broker supports the draft, and the client needs no other request."""
    responses = {
        0: produce(kip951.ProduceResponse),
        1: fetch(kip951.FetchResponse),
    }
    with serving(kwire, follower(kwire, responses)) as address:
        changes = leaders_from(kwire, kip951, address, kip951.ProduceResponse)
        assert changes == change(kip951, "t", "h", 9092, "r")
        changes = leaders_from(kwire, kip951, address, kip951.FetchResponse)
        assert changes == change(kip951, TOPIC_ID, "h", 9092, None)


def test_client_learns_nothing_from_a_broker_of_today(kwire, kip951):
    """The broker omits the unknown fields, so there are no leaders and no error."""
    produce_class = kwire.messages.ProduceResponse
    row = produce_class.PartitionProduceResponse(index=1, error_code=6, base_offset=-1)
    topic = produce_class.TopicProduceResponse(name="t", partition_responses=[row])
    responses = {0: produce_class(responses=[topic])}
    fetch_class = kwire.messages.FetchResponse
    row = fetch_class.PartitionData(partition_index=1, error_code=6)
    topic = fetch_class.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[row])
    responses[1] = fetch_class(responses=[topic])
    with serving(kwire, follower(kwire, responses)) as address:
        for cls in (
            kip951.ProduceResponse,
            kip951.FetchResponse,
            kip951.FetchResponseTag2,
        ):
            assert leaders_from(kwire, kip951, address, cls) == ()


def test_client_of_tag_2_refuses_a_snapshot_over_a_socket(kwire, kip951):
    """A broker without the draft sends its snapshot id in tag 2.

    The client must not use it as an address.
    """
    kafka_class = kwire.messages.FetchResponse
    row = kafka_class.PartitionData(
        snapshot_id=kafka_class.SnapshotId(end_offset=900, epoch=4)
    )
    topic = kafka_class.FetchableTopicResponse(topic_id=TOPIC_ID, partitions=[row])
    responses = {1: kafka_class(responses=[topic])}
    with (
        serving(kwire, follower(kwire, responses)) as address,
        pytest.raises(kwire.InvalidValue),
    ):
        leaders_from(kwire, kip951, address, kip951.FetchResponseTag2)


@pytest.mark.parametrize("host", ["broker-1.example", "broker"])
def test_client_of_today_refuses_tag_2_over_a_socket(kwire, kip951, host):
    """The size or the content of the draft's bytes is an error for the client."""
    responses = {1: fetch(kip951.FetchResponseTag2, host)}
    with (
        serving(kwire, follower(kwire, responses)) as address,
        pytest.raises((kwire.DecodeError, kwire.RemoteProtocolError)),
    ):
        leaders_from(kwire, kip951, address, kwire.messages.FetchResponse)
