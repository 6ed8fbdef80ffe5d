# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Server-side connection: order, rejected requests, close.

``negotiation/test_answers.py`` covers the responses to ApiVersions. Empty responses and
SASL have separate files.
"""

import itertools

import pytest

OFFERED = {0: (0, 8), 1: (0, 11), 3: (0, 8), 12: (0, 4), 18: (0, 4)}


def serving(kwire, offered=None, **options):
    """Return a server connection that offers ``OFFERED`` by default."""
    offered = OFFERED if offered is None else offered
    table = kwire.connection.negotiation.ApiVersionTable.from_ranges(offered)
    return kwire.connection.ServerConnection(table, **options)


def request_bytes(kwire, name, version, correlation_id, **fields):
    """Encode a request with the client id "kw"."""
    request = getattr(kwire.messages, f"{name}Request")(**fields)
    return kwire.messages.framing.encode_request(request, version, correlation_id, "kw")


def receive(connection, data):
    """Pass bytes to a connection, and list the events."""
    return list(connection.receive_data(data))


def ids_of(kwire, data):
    """Return the correlation ids of the frames in ``data``, in order."""
    frames = kwire.messages.framing.FrameSplitter().feed(data)
    return [int.from_bytes(frame[:4], "big") for frame in frames]


def test_a_request_is_an_event(kwire):
    """The event contains all fields of the header."""
    server = serving(kwire)
    (event,) = receive(server, request_bytes(kwire, "Metadata", 8, 7, topics=None))
    assert isinstance(event, kwire.connection.RequestReceived)
    assert (event.correlation_id, event.client_id, event.version) == (7, "kw", 8)
    assert event.request == kwire.messages.MetadataRequest(topics=None)
    assert event.expects_response
    assert server.data_to_send() == b""
    response = kwire.messages.MetadataResponse(cluster_id="c")
    server.send(event, response)
    assert server.data_to_send() == kwire.messages.framing.encode_response(
        response, 8, 7
    )
    assert server.data_to_send() == b""


def test_api_versions_is_answered_automatically(kwire):
    """The caller gets an event with the client software's name and version."""
    server = serving(kwire)
    names = {"client_software_name": "it", "client_software_version": "2.0"}
    (event,) = receive(server, request_bytes(kwire, "ApiVersions", 3, 7, **names))
    assert event == kwire.connection.ApiVersionsAnswered(3, 0, "kw", "it", "2.0")
    _, response = kwire.messages.framing.decode_response(
        kwire.messages.ApiVersionsResponse, server.data_to_send()[4:], 3
    )
    broker_table = kwire.connection.negotiation.ApiVersionTable.from_response(response)
    assert broker_table == server.served


def test_api_versions_in_an_unknown_version_is_answered(kwire):
    """The response is in version 0, and the connection remains usable."""
    server = serving(kwire)
    data = bytes.fromhex("0000000a 0012 0063 00000007 ffff")
    (event,) = receive(server, data)
    assert (event.version, event.error_code, event.client_id) == (99, 35, None)
    expected = "00000010 00000007 0023 00000001 0012 0000 0004"
    assert server.data_to_send() == bytes.fromhex(expected)
    assert server.is_open and not server.wants_close


def test_client_and_server_negotiate_their_table(kwire):
    """Client and server negotiate without a socket, in several rounds if necessary."""
    client, server = kwire.connection.ClientConnection("kw"), serving(kwire)
    seen = []
    while data := client.data_to_send():
        seen += receive(server, data)
        seen += receive(client, server.data_to_send())
    assert [type(event).__name__ for event in seen] == [
        "ApiVersionsAnswered",
        "ApiVersionsAnswered",
        "Negotiated",
    ]
    assert [event.error_code for event in seen[:2]] == [35, 0]
    assert client.table == server.served
    assert seen[1].software_name == "kwire"
    assert seen[1].software_version == kwire.__version__


@pytest.mark.parametrize("order", [*itertools.permutations(range(4))])
def test_responses_go_out_in_the_order_of_requests(kwire, order):
    """The caller may create the responses in any order."""
    server = serving(kwire)
    data = b"".join(request_bytes(kwire, "Metadata", 8, 10 + n) for n in range(4))
    requests = receive(server, data)
    sent = []
    for count, index in enumerate(order):
        server.send(requests[index], kwire.messages.MetadataResponse())
        sent += ids_of(kwire, server.data_to_send())
        answered = set(order[: count + 1])
        ready = next(n for n in range(5) if n not in answered)
        assert sent == [10 + n for n in range(ready)]


def test_api_versions_response_keeps_the_request_order(kwire):
    """If a client repeats ApiVersions, its response is in the order of requests."""
    server = serving(kwire)
    data = (
        request_bytes(kwire, "Metadata", 8, 1)
        + request_bytes(kwire, "ApiVersions", 0, 2)
        + request_bytes(kwire, "Heartbeat", 4, 3)
    )
    first, _, last = receive(server, data)
    assert server.data_to_send() == b""
    server.send(last, kwire.messages.HeartbeatResponse())
    assert server.data_to_send() == b""
    server.send(first, kwire.messages.MetadataResponse())
    assert ids_of(kwire, server.data_to_send()) == [1, 2, 3]


def test_produce_without_acks_awaits_nothing(kwire):
    """With acks=0, the client would decode a response as that of its next request."""
    server = serving(kwire)
    fields = {"timeout_ms": 1, "topic_data": []}
    silent, loud = receive(
        server,
        request_bytes(kwire, "Produce", 8, 1, acks=0, **fields)
        + request_bytes(kwire, "Produce", 8, 2, acks=1, **fields),
    )
    assert (silent.expects_response, loud.expects_response) == (False, True)
    with pytest.raises(
        kwire.LocalProtocolError, match="request 1 has its response already"
    ):
        server.send(silent, kwire.messages.ProduceResponse())
    server.send(loud, kwire.messages.ProduceResponse())
    assert ids_of(kwire, server.data_to_send()) == [2]


def test_two_requests_of_one_correlation_id_get_each_its_own_response(kwire):
    """Responses are assigned by request object, because ids may be repeated."""
    server = serving(kwire)
    data = request_bytes(kwire, "Heartbeat", 4, 7) + request_bytes(
        kwire, "Metadata", 8, 7
    )
    heartbeat, metadata = receive(server, data)
    server.send(metadata, kwire.messages.MetadataResponse())
    assert server.data_to_send() == b""
    server.send(heartbeat, kwire.messages.HeartbeatResponse())
    encode = kwire.messages.framing.encode_response
    assert server.data_to_send() == encode(
        kwire.messages.HeartbeatResponse(), 4, 7
    ) + encode(kwire.messages.MetadataResponse(), 8, 7)


def test_equal_requests_are_distinguished(kwire):
    """Requests with equal bytes are different requests, in any response order."""
    server = serving(kwire)
    first, second = receive(server, request_bytes(kwire, "Metadata", 8, 7) * 2)
    server.send(second, kwire.messages.MetadataResponse(cluster_id="second"))
    server.send(first, kwire.messages.MetadataResponse(cluster_id="first"))
    data = server.data_to_send()
    assert data.index(b"first") < data.index(b"second")


def test_invalid_responses_are_rejected_by_the_server(kwire):
    """Rejects another API's response, a second response, and additional ones."""
    server = serving(kwire)
    (event,) = receive(server, request_bytes(kwire, "Metadata", 4, 7))
    messages = kwire.messages
    for invalid_response in (messages.HeartbeatResponse(), messages.MetadataRequest()):
        with pytest.raises(TypeError, match="response to MetadataRequest cannot be"):
            server.send(event, invalid_response)
    with pytest.raises(kwire.EncodeError):
        server.send(event, messages.MetadataResponse(cluster_id=7))
    # If version 4 does not contain a field, the field must have its default.
    assert server.data_to_send() == b"" and server.is_open
    server.send(event, messages.MetadataResponse())
    with pytest.raises(
        kwire.LocalProtocolError, match="request 7 has its response already"
    ):
        server.send(event, messages.MetadataResponse())
    assert ids_of(kwire, server.data_to_send()) == [7]


@pytest.mark.parametrize(
    ("api_key", "version"),
    [(3, 9), (3, -1), (3, 32767), (2, 0), (200, 0), (-1, 0), (32767, 32767)],
)
def test_unsupported_request_closes_the_connection(kwire, api_key, version):
    """As in Kafka, the body is not decoded. The caller gets the API key and version."""
    server = serving(kwire)
    start = b"".join(n.to_bytes(2, "big", signed=True) for n in (api_key, version))
    data = b"\0\0\0\x0b" + start + b"\0\0\0\x07" + b"???"
    (event,) = receive(server, data)
    assert event == kwire.connection.UnsupportedReceived(api_key, version, 7)
    assert server.wants_close and server.data_to_send() == b""


def test_versions_that_kwire_does_not_know_are_not_served(kwire):
    """Kwire has no request class for such a version, even if the table contains it."""
    newest = kwire.messages.MetadataRequest.valid_versions.max
    server = serving(kwire, {3: (0, 99), 300: (0, 1)})
    for key, version in ((3, newest + 1), (300, 0)):
        server = serving(kwire, {3: (0, 99), 300: (0, 1)})
        data = f"0000000a {key:04x} {version:04x} 00000007 ffff"
        (event,) = receive(server, bytes.fromhex(data))
        assert event == kwire.connection.UnsupportedReceived(key, version, 7)
        assert server.wants_close


def test_server_without_api_versions_closes_the_connection_on_it(kwire):
    """A server without ApiVersions closes the connection, as brokers before 0.10 do.

    The client then uses its fallback.
    """
    server = serving(kwire, {3: (0, 0)})
    client = kwire.connection.ClientConnection(fallback="0.8.0")
    (event,) = receive(server, client.data_to_send())
    assert event == kwire.connection.UnsupportedReceived(18, 5, 0)
    assert server.wants_close
    (closed,) = receive(client, b"")
    assert closed.fallback.advertised[3] == (0, 0)


def test_older_requests_are_answered_before_the_close(kwire):
    """The unsupported request closes the connection after the earlier responses.

    Requests after it are not read.
    """
    server = serving(kwire)
    data = (
        request_bytes(kwire, "Metadata", 8, 1)
        + request_bytes(kwire, "Fetch", 12, 2)
        + request_bytes(kwire, "Metadata", 8, 3)
    )
    events = receive(server, data)
    assert [type(event).__name__ for event in events] == [
        "RequestReceived",
        "UnsupportedReceived",
    ]
    assert not server.wants_close and server.is_open
    assert receive(server, request_bytes(kwire, "Metadata", 8, 4)) == []
    server.send(events[0], kwire.messages.MetadataResponse())
    assert server.wants_close
    assert ids_of(kwire, server.data_to_send()) == [1]


def test_invalid_on_unsupported_value_is_rejected(kwire):
    """Any value except "close" and "empty" raises ValueError."""
    with pytest.raises(ValueError, match='"close" or "empty"'):
        serving(kwire, on_unsupported="ignore")


def test_additional_bytes_after_a_request_are_ignored(kwire):
    """When librdkafka requests all topics, it sends additional bytes.

    The next request is received correctly.
    """
    server = serving(kwire)
    sloppy = bytes.fromhex("00000012 0003 0008 00000007 ffff 00000000 00 00 00 00")
    events = receive(server, sloppy + request_bytes(kwire, "Metadata", 8, 8))
    assert [event.correlation_id for event in events] == [7, 8]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ("ffffffff", "InvalidLength"),
        ("7fffffff", "LimitExceeded"),
        ("16030100", "LimitExceeded"),
        ("00000000", "RemoteProtocolError"),
        ("00000007 0003 0008 000000", "RemoteProtocolError"),
        ("00000008 0003 0008 00000007", "Truncated"),
        ("0000000e 0003 0008 00000007 ffff 7fffffff", "InvalidLength"),
        ("00000012 0003 0008 00000007 ffff 00000000 00 00 00 00", "TrailingBytes"),
        ("0000000b 0012 0003 00000007 ffff 00", "Truncated"),
    ],
)
def test_after_an_error_every_call_says_why(kwire, data, error):
    """After an error, calls raise it. Earlier responses can still be sent."""
    server = serving(kwire, compat=None)
    (older,) = receive(server, request_bytes(kwire, "Metadata", 8, 1))
    server.send(older, kwire.messages.MetadataResponse())
    with pytest.raises(kwire.KwireError) as first:
        receive(server, bytes.fromhex(data))
    assert type(first.value).__name__ == error
    assert server.failure is first.value
    assert server.wants_close and not server.is_open
    for _ in range(2):
        for call in (
            lambda: server.receive_data(b"\0"),
            lambda: server.receive_data(b""),
            lambda: server.send(older, kwire.messages.MetadataResponse()),
            lambda: server.send_sasl_token(b""),
            server.finish_sasl,
        ):
            with pytest.raises(kwire.LocalProtocolError) as caught:
                call()
            assert str(first.value) in str(caught.value)
            assert caught.value.__cause__ is first.value
        server.close()
    assert ids_of(kwire, server.data_to_send()) == [1]


def test_events_before_an_error_are_returned(kwire):
    """The events have the same order as the bytes."""
    server = serving(kwire)
    data = request_bytes(kwire, "Metadata", 8, 1) * 2 + b"\xff" * 4
    events = server.receive_data(data)
    assert [next(events).correlation_id for _ in range(2)] == [1, 1]
    with pytest.raises(kwire.InvalidLength):
        next(events)


@pytest.mark.parametrize("cut", [0, 3, 4, 9])
def test_client_that_disconnects_is_an_event(kwire, cut):
    """The client disconnects between frames or within a frame."""
    server = serving(kwire)
    if cut:
        receive(server, request_bytes(kwire, "Metadata", 8, 1)[:cut])
    (event,) = receive(server, b"")
    assert isinstance(event, kwire.connection.ConnectionClosed)
    within = f"in the middle of a frame, after {cut} bytes"
    assert (within in event.reason) is bool(cut)
    assert server.wants_close and server.failure is None
    with pytest.raises(kwire.LocalProtocolError, match="the client closed"):
        server.receive_data(b"\0")


def test_closed_server_connection_sends_nothing(kwire):
    """A server may close a connection at any time."""
    server = serving(kwire)
    (event,) = receive(server, request_bytes(kwire, "Metadata", 8, 1))
    server.close()
    assert server.wants_close and not server.is_open
    with pytest.raises(kwire.LocalProtocolError, match="closed by this side"):
        server.send(event, kwire.messages.MetadataResponse())


def test_zero_copy_gives_views_of_the_frame(kwire):
    """The records of a Produce request are views of its frame."""
    request = kwire.messages.ProduceRequest
    topic = request.TopicProduceData(
        name="t",
        partition_data=[request.PartitionProduceData(index=0, records=b"records")],
    )
    data = request_bytes(
        kwire, "Produce", 8, 1, acks=1, timeout_ms=1, topic_data=[topic]
    )
    for zero_copy, kind in ((False, bytes), (True, memoryview)):
        (event,) = receive(serving(kwire, zero_copy=zero_copy), data)
        records = event.request.topic_data[0].partition_data[0].records
        assert type(records) is kind and bytes(records) == b"records"


def test_every_request_and_response_version_round_trips(kwire):
    """One side decodes what the other side sends, in both directions."""
    # The connection handles these APIs itself: SASL and ApiVersions.
    connection_keys = {17, 18, 36}
    keys = [
        key
        for key in kwire.schema.registry.keys("request")
        if key not in connection_keys
    ]
    classes = [kwire.messages.by_key(key, "request") for key in keys]
    offered = {
        cls.api_key: (cls.valid_versions.min, cls.valid_versions.max)
        for cls in classes
        if cls.valid_versions
    }
    server = serving(kwire, offered)
    client = kwire.connection.ClientConnection("kw", table=server.served)
    exchanged = 0
    for cls in classes:
        for version in cls.valid_versions:
            # A Produce request with acks=0 would have no response.
            message = cls(acks=1) if cls.api_key == 0 else cls()
            sent = client.send(message, version)
            (received,) = receive(server, client.data_to_send())
            assert received.request == message
            assert (received.correlation_id, received.version) == (sent, version)
            response = kwire.messages.by_key(cls.api_key, "response")()
            server.send(received, response)
            (event,) = receive(client, server.data_to_send())
            assert event[:3] == (sent, message, version)
            exchanged += 1
    assert exchanged > 300
