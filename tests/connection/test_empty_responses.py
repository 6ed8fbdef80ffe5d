# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Empty responses, which a KIP-35 server sends for an unsupported request.

For correlation id 7, the bytes are ``00000004 00000007``. A 0 size, with or without the
id after it, is an error here. ``kwire.drafts.empty_responses`` converts it.
"""

import pytest

A = bytes.fromhex("00000004 00000007")
B = bytes.fromhex("00000000 00000007")
C = bytes.fromhex("00000000")

OFFERED = {0: (0, 8), 1: (0, 11), 3: (0, 8)}


def client_with_7_in_flight(kwire, followed_by=0, **options):
    """Return a client whose oldest request in flight has the correlation id 7.

    ``followed_by`` is the number of Fetch requests in flight after it.
    """
    table = kwire.connection.negotiation.ApiVersionTable.from_ranges(OFFERED)
    client = kwire.connection.ClientConnection("kw", table=table, **options)
    for _ in range(7):
        client.send(kwire.messages.ProduceRequest(acks=0, timeout_ms=1, topic_data=[]))
    for _ in range(1 + followed_by):
        client.send(kwire.messages.FetchRequest())
    client.data_to_send()
    assert client.in_flight[0].correlation_id == 7
    return client


def answer_to(kwire, correlation_id):
    """Encode a Fetch response in version 11, which is not empty."""
    response = kwire.messages.FetchResponse()
    return kwire.messages.framing.encode_response(response, 11, correlation_id)


def receive(connection, data, size=0):
    """Pass bytes to a connection, and return the events.

    If ``size`` is not 0, the bytes are passed in pieces of this size.
    """
    step = size or len(data) or 1
    events = []
    for position in range(0, max(len(data), 1), step):
        events += connection.receive_data(data[position : position + step])
    return events


def check_unsupported(kwire, event):
    """Check that an event reports that the server does not support Fetch 11."""
    assert isinstance(event, kwire.connection.RequestUnsupported)
    assert (event.correlation_id, event.version) == (7, 11)
    assert event.request == kwire.messages.FetchRequest()
    assert isinstance(event.error, kwire.UnsupportedVersion)
    assert str(event.error) == "Fetch version 11: request not supported by server"
    assert event.error.api_key == 1 and str(event.error.ours) == "0-18"


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5])
def test_an_empty_response_is_an_event(kwire, size):
    """The frame only contains an id. The connection remains usable."""
    client = client_with_7_in_flight(kwire, 1)
    unsupported, response = receive(client, A + answer_to(kwire, 8), size)
    check_unsupported(kwire, unsupported)
    assert response.correlation_id == 8
    assert client.is_open and client.table.is_alive and client.in_flight == ()


@pytest.mark.parametrize("size", [0, 1, 4])
def test_a_size_of_0_breaks_the_rules(kwire, size):
    """If the size is 0, the frame is empty, and the id after it belongs to no frame."""
    client = client_with_7_in_flight(kwire)
    with pytest.raises(kwire.RemoteProtocolError, match="an empty frame") as caught:
        receive(client, B, size)
    assert "empty frame" in str(caught.value)
    assert not client.is_open
    assert [request.correlation_id for request in client.in_flight] == [7]


@pytest.mark.parametrize("size", [0, 1])
def test_an_empty_frame_breaks_the_rules(kwire, size):
    """The frame cannot be assigned to a request, because it contains no id."""
    client = client_with_7_in_flight(kwire)
    with pytest.raises(kwire.RemoteProtocolError, match="an empty frame"):
        receive(client, C, size)
    assert not client.is_open


def test_an_empty_response_to_another_request_breaks_the_rules(kwire):
    """Empty responses must be in the order of their requests, like all others."""
    for data in ("00000004 00000008", "00000004 ffffffff"):
        client = client_with_7_in_flight(kwire, 1)
        with pytest.raises(kwire.RemoteProtocolError):
            receive(client, bytes.fromhex(data))


UNKNOWN_TO_SERVER = bytes.fromhex("0000000e 0001 000b 00000007 0002 6b77 0000")


def serving(kwire, mode, offered=None):
    """Return a server that does not support Fetch.

    ``mode`` is "close" or "empty", and determines how it reacts to a Fetch.
    """
    offered = {3: (0, 8)} if offered is None else offered
    table = kwire.connection.negotiation.ApiVersionTable.from_ranges(offered)
    return kwire.connection.ServerConnection(table, on_unsupported=mode)


@pytest.mark.parametrize(("mode", "expected"), [("close", b""), ("empty", A)])
def test_server_sends_an_empty_response_or_closes(kwire, mode, expected):
    """The server sends an empty response and continues, or closes the connection."""
    server = serving(kwire, mode)
    (event,) = receive(server, UNKNOWN_TO_SERVER)
    assert event == kwire.connection.UnsupportedReceived(1, 11, 7)
    assert server.data_to_send() == expected
    assert server.wants_close is (mode == "close")
    if mode == "close":
        return
    data = kwire.messages.framing.encode_request(
        kwire.messages.MetadataRequest(), 8, 9, "kw"
    )
    (event,) = receive(server, data)
    response = kwire.messages.MetadataResponse()
    server.send(event, response)
    assert server.data_to_send() == kwire.messages.framing.encode_response(
        response, 8, 9
    )


def test_an_empty_response_waits_for_its_turn(kwire):
    """The empty response is sent after the responses to earlier requests."""
    server = serving(kwire, "empty")
    older = kwire.messages.framing.encode_request(
        kwire.messages.MetadataRequest(), 8, 6, "kw"
    )
    first, _ = receive(server, older + UNKNOWN_TO_SERVER)
    assert server.data_to_send() == b""
    response = kwire.messages.MetadataResponse()
    server.send(first, response)
    encoded = kwire.messages.framing.encode_response(response, 8, 6)
    assert server.data_to_send() == encoded + A


def test_a_client_understands_a_server(kwire):
    """A client decodes the empty response that a server has encoded."""
    server = serving(kwire, "empty")
    client = client_with_7_in_flight(kwire)
    receive(server, UNKNOWN_TO_SERVER)
    (event,) = receive(client, server.data_to_send())
    check_unsupported(kwire, event)


def test_empty_response_to_api_versions_is_retried_in_version_0(kwire):
    """The client repeats ApiVersions in version 0, which is successful."""
    server = serving(kwire, "empty")
    client = kwire.connection.ClientConnection()
    receive(server, client.data_to_send())
    assert receive(client, server.data_to_send()) == []
    (request_event,) = receive(server, client.data_to_send())
    assert (request_event.api_key, request_event.version) == (18, 0)
    with pytest.raises(
        kwire.UnsupportedVersion, match="request not supported by server"
    ):
        receive(client, server.data_to_send())
    assert not client.is_open


@pytest.mark.parametrize("correlation_id", [0, 1, 2**31 - 1, -1, -(2**31)])
def test_a_server_gives_back_any_id(kwire, correlation_id):
    """Any correlation id is returned, even if Kafka's clients do not use it."""
    number = correlation_id.to_bytes(4, "big", signed=True)
    server = serving(kwire, "empty")
    receive(server, b"\0\0\0\x0a\0\1\0\x0b" + number + b"\xff\xff")
    assert server.data_to_send() == A[:4] + number


def test_no_real_response_is_empty(kwire):
    """No response is empty, so that an empty response is unambiguous.

    Covers all APIs and versions.
    """
    for key in kwire.schema.registry.keys("response"):
        cls = kwire.messages.by_key(key, "response")
        for version in cls.valid_versions:
            assert len(kwire.messages.framing.encode_response(cls(), version)) > len(A)
