# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Attacks that follow the protocol rules: floods, delays, endless streams.

Every test is a way to make one side hang, work forever, grow without a limit, or fail
with an error that does not belong to kwire.
"""

import asyncio
import importlib

import pytest


def module(kwire, name):
    """Import a module of the package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.{name}")


def table(kwire, ranges):
    """Return a version table from (minimum, maximum) pairs by API key."""
    return kwire.connection.negotiation.ApiVersionTable.from_ranges(ranges)


def signing_in(kwire, **options):
    """Return a client whose broker has accepted SASL with raw tokens."""
    client = kwire.connection.ClientConnection(
        "kw", table=table(kwire, {3: (0, 8), 17: (0, 0)}), **options
    )
    client.start_sasl("PLAIN")
    client.data_to_send()
    agreed = bytes.fromhex("00000011 00000000 0000 00000001 0005 504c41494e")
    assert list(client.receive_data(agreed)) == [
        kwire.connection.SaslStarted("PLAIN", True)
    ]
    return client


def test_requests_before_the_handshake_response_are_rejected(kwire):
    """A response after the handshake response would be used as a token."""
    client = kwire.connection.ClientConnection(
        "kw", table=table(kwire, {3: (0, 8), 17: (0, 0)})
    )
    client.start_sasl("PLAIN")
    with pytest.raises(kwire.LocalProtocolError):
        client.send(kwire.messages.MetadataRequest())
    assert len(client.in_flight) == 1


def test_a_token_overtakes_no_response(kwire):
    """A server rejects a raw token while it owes earlier responses.

    The client expects these responses first, and would decode the token as one.
    """
    server = kwire.connection.ServerConnection(table(kwire, {3: (0, 8), 17: (0, 0)}))
    requests = [
        (kwire.messages.MetadataRequest(), 8),
        (kwire.messages.SaslHandshakeRequest(mechanism="PLAIN"), 0),
    ]
    frames = [
        kwire.messages.framing.encode_request(request, version, number, "kw")
        for number, (request, version) in enumerate(requests)
    ]
    request_event, handshake = server.receive_data(b"".join(frames))
    agreed = kwire.messages.SaslHandshakeResponse(mechanisms=["PLAIN"])
    server.send(handshake, agreed)
    with pytest.raises(kwire.LocalProtocolError):
        server.send_sasl_token(b"token")
    server.send(request_event, kwire.messages.MetadataResponse())
    server.data_to_send()
    server.send_sasl_token(b"token")
    assert server.data_to_send() == b"\0\0\0\x05token"


def test_the_size_of_a_raw_token_counts_bytes(kwire):
    """A memoryview with larger items has fewer items than bytes."""
    client = signing_in(kwire)
    client.data_to_send()
    client.send_sasl_token(memoryview(b"\0ab\0").cast("i"))
    assert client.data_to_send() == bytes.fromhex("00000004 00616200")


def test_a_table_that_ended_begins_no_connection(kwire):
    """The error is raised when the connection is created, not on its first request."""
    assumed = kwire.connection.negotiation.fallback_table("0.9.0")
    first = kwire.connection.ClientConnection(table=assumed)
    first.close()
    with pytest.raises(kwire.LocalProtocolError, match="ended with its connection"):
        kwire.connection.ClientConnection(table=first.table)


def test_a_table_that_is_assumed_serves_many_connections(kwire):
    """If a connection is closed, the other connections' tables remain usable."""
    assumed = kwire.connection.negotiation.fallback_table("0.9.0")
    first, second = (kwire.connection.ClientConnection(table=assumed) for _ in range(2))
    first.close()
    second.send(kwire.messages.FetchRequest())
    assert assumed.is_alive and second.table == assumed


def test_answers_in_any_order_cost_the_same(kwire):
    """Sending a response does not search the pending requests."""
    connection = kwire.connection.ServerConnection(table(kwire, {12: (0, 4)}))
    request = kwire.messages.HeartbeatRequest()
    frames = [
        kwire.messages.framing.encode_request(request, 0, number, "kw")
        for number in range(4000)
    ]
    received = list(connection.receive_data(b"".join(frames)))
    looked_at = 0

    class Watched(type(connection._turns)):
        """Pending requests that count the iterations over them."""

        def __iter__(self):
            nonlocal looked_at
            for pending_request in super().__iter__():
                looked_at += 1
                yield pending_request

    connection._turns = Watched(connection._turns)
    looked_at = 0
    for event in reversed(received):
        connection.send(event, kwire.messages.HeartbeatResponse())
    assert len(connection.data_to_send()) == 4000 * 10
    assert looked_at <= 4000


@pytest.mark.parametrize("version", [0, 3, 9])
def test_only_questions_for_versions_are_answered_as_such(kwire, version):
    """A frame of another API raises an error instead of getting a response."""
    frame = kwire.messages.framing.encode_request(
        kwire.messages.MetadataRequest(topics=()), version, 1, "kw"
    )[4:]
    served = table(kwire, {3: (0, 9), 18: (0, 4)})
    with pytest.raises(kwire.ProtocolError):
        kwire.connection.negotiation.answer_api_versions(frame, served)


def test_topic_requested_twice_is_returned_once(kwire):
    """A topic that is requested twice is returned once.

    Otherwise, a small request would result in an unlimited response.
    """
    draft = module(kwire, "drafts.kip35_api_version")
    codec = module(kwire, "messages.codec")
    metadata = draft.MetadataResponse
    partitions = [metadata.PartitionMetadata() for _ in range(100)]
    topic = metadata.TopicMetadata(name="t", partitions=partitions)
    server = draft.Server("0.10.0-IV0", topics=[topic])
    header = bytes.fromhex("0003 0001 00000007 0002 6b77")
    body = codec.encode(draft.MetadataRequest(topics=["t", "u"] * 500), 1)
    answer = server.answer(header + body)
    topics = draft.decode(answer, 8).topics
    assert [topic.name for topic in topics] == ["t", "u"]


class Keys(tuple):
    """Requested keys that fail if the server searches them for each offered key."""

    def __contains__(self, key):
        """Raise an error, because the search would take quadratic time."""
        raise AssertionError("searched for each key that is served")


def test_requested_keys_are_not_searched_sequentially(kwire, monkeypatch):
    """A request may contain as many keys as fit into a frame."""
    draft = module(kwire, "drafts.kip35_api_versions_query")
    exchange = module(kwire, "drafts.exchange")
    read = exchange.read_body

    def read_watched(*arguments):
        request = read(*arguments)
        return type(request)(api_keys=Keys(request.api_keys))

    server = draft.Server(1000, table(kwire, {1: (0, 5), 3: (0, 9)}))
    question = draft.ClientStrategy(1000, [3, 7, 3]).data_to_send()[4:]
    monkeypatch.setattr(exchange, "read_body", read_watched)
    answer = server.answer(question)
    monkeypatch.undo()
    assert [row.api_key for row in draft.decode(answer, 8).api_versions] == [3]


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("a" * 300, 9092),
        ("a..b", 9092),
        ("\0", 9092),
        ("é\udcff", 9092),
        ("127.0.0.1", -5),
        ("127.0.0.1", 99999),
    ],
)
def test_an_impossible_address_is_a_typed_error(kwire, host, port):
    """Brokers advertise other brokers' addresses, which may be invalid."""
    client = module(kwire, "client")
    settings = module(kwire, "client.machines").ClusterSettings(timeout_s=5)
    network = module(kwire, "client.runners.network").Network()
    address = module(kwire, "_text").format_address(host, port)

    async def request():
        async with client.Kafka([(host, port)], settings, network) as kafka:
            await kafka.request(kwire.messages.MetadataRequest(topics=()))

    with pytest.raises(client.BrokersUnreachable) as caught:
        asyncio.run(request())
    assert str(caught.value).startswith(f"{address}: ")
    with (
        client.KafkaSync([(host, port)], settings, network) as kafka,
        pytest.raises(client.BrokersUnreachable) as caught,
    ):
        kafka.request(kwire.messages.MetadataRequest(topics=()))
    assert str(caught.value).startswith(f"{address}: ")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
@pytest.mark.parametrize("names", [("\udcff", "x"), ("x", "\udcff")])
def test_credentials_that_utf_8_cannot_encode_are_rejected_immediately(
    kwire, mechanism, names
):
    """The error is raised before a connection is opened."""
    sasl = module(kwire, "connection.sasl")
    with pytest.raises(ValueError, match="UTF-8"):
        if mechanism == "PLAIN":
            sasl.Plain(*names)
        else:
            sasl.Scram(*names, mechanism)


@pytest.mark.parametrize("release", ["", "nonsense", "0.9", "0.8", "-1", "0.9.x"])
def test_fallback_that_is_not_a_release_is_an_error(kwire, release):
    """An unknown word must not be treated as a release that supports ApiVersions."""
    with pytest.raises(ValueError, match="release"):
        kwire.connection.negotiation.fallback_table(release)
    with pytest.raises(ValueError, match="release"):
        kwire.connection.negotiation.ApiVersionsHandshake(fallback=release)


def test_a_number_of_many_digits_is_a_value_error_in_kwires_words(kwire):
    """Python's own digit limit raises an error that names no field."""
    versions = module(kwire, "schema.versions")
    with pytest.raises(ValueError, match="version"):
        versions.VersionRange.from_text("9" * 5000)
    apis = module(kwire, "explain.apis")
    with pytest.raises(KeyError, match="unknown API key"):
        apis.find_messages("9" * 5000)
