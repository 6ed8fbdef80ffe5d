# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""SASL on connections: tokens in requests (KIP-152), or frames without headers.

These tests use arbitrary bytes as tokens, because only mechanisms decode them.
"""

import pytest

MODERN = {3: (0, 8), 17: (0, 1), 36: (0, 2)}
OLD = {3: (0, 8), 17: (0, 0)}


def table(kwire, offered):
    """Return a version table from the offered ranges."""
    return kwire.connection.negotiation.ApiVersionTable.from_ranges(offered)


def client_of(kwire, offered):
    """Return a client that has the table of the broker."""
    return kwire.connection.ClientConnection("kw", table=table(kwire, offered))


def both(kwire, offered):
    """Return the client and the server of a connection."""
    server = kwire.connection.ServerConnection(table(kwire, offered))
    return client_of(kwire, offered), server


def receive(connection, data):
    """Pass bytes to a connection, and list the events."""
    return list(connection.receive_data(data))


def agree(kwire, client, server):
    """Let the server accept the SaslHandshake, and return the client's event."""
    (request_event,) = receive(server, client.data_to_send())
    response = kwire.messages.SaslHandshakeResponse(mechanisms=["PLAIN"])
    server.send(request_event, response)
    (event,) = receive(client, server.data_to_send())
    return event


def test_handshake_0_has_the_bytes_of_raw_tokens(kwire):
    """SaslHandshake in version 0, followed by tokens with only their size."""
    client = client_of(kwire, OLD)
    client.start_sasl("PLAIN")
    assert client.data_to_send() == bytes.fromhex(
        "00000013 0011 0000 00000000 0002 6b77 0005 504c41494e"
    )
    agreed = bytes.fromhex("00000011 00000000 0000 00000001 0005 504c41494e")
    (event,) = receive(client, agreed)
    assert event == kwire.connection.SaslStarted("PLAIN", True)
    client.send_sasl_token(b"\0user\0pass")
    assert client.data_to_send() == bytes.fromhex("0000000a") + b"\0user\0pass"
    (event,) = receive(client, bytes.fromhex("00000000"))
    assert event == kwire.connection.SaslToken(b"", 0)
    client.finish_sasl()
    assert client.send(kwire.messages.MetadataRequest()) == 1


def test_handshake_1_has_the_bytes_of_sasl_authenticate(kwire):
    """SaslHandshake in version 1, followed by tokens in SaslAuthenticate requests."""
    client = client_of(kwire, MODERN)
    client.start_sasl("PLAIN")
    assert client.data_to_send() == bytes.fromhex(
        "00000013 0011 0001 00000000 0002 6b77 0005 504c41494e"
    )
    agreed = bytes.fromhex("00000011 00000000 0000 00000001 0005 504c41494e")
    (event,) = receive(client, agreed)
    assert event == kwire.connection.SaslStarted("PLAIN", False)
    client.send_sasl_token(b"token")
    assert (
        client.data_to_send()
        == bytes.fromhex("00000014 0024 0002 00000001 0002 6b77 00 06") + b"token\0"
    )
    answer = bytes.fromhex("00000013 00000001 00 0000 00 02 21 0000000000000e10 00")
    (event,) = receive(client, answer)
    assert event == kwire.connection.SaslToken(b"!", 3.6)


@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_raw_tokens_may_be_split_anywhere(kwire, size):
    """The bytes of the handshake response and the tokens may arrive in any pieces."""
    stream = bytes.fromhex("00000011 00000000 0000 00000001 0005 504c41494e")
    tokens = [b"", b"\0\0\0\1", b"long" * 50, b"x"]
    stream += b"".join(len(token).to_bytes(4, "big") + token for token in tokens)
    client = client_of(kwire, OLD)
    client.start_sasl("PLAIN")
    step = size or len(stream)
    events = []
    for position in range(0, len(stream), step):
        events += client.receive_data(stream[position : position + step])
    assert events[0] == kwire.connection.SaslStarted("PLAIN", True)
    assert [event.data for event in events[1:]] == tokens


def test_raw_tokens_are_exchanged_before_requests(kwire):
    """When all tokens are sent, requests and responses continue in both directions."""
    client, server = both(kwire, OLD)
    client.start_sasl("GSSAPI")
    assert agree(kwire, client, server).raw
    for challenge, reply in ((b"one", b"two"), (b"", b""), (bytes(300), b"\xff")):
        client.send_sasl_token(challenge)
        (event,) = receive(server, client.data_to_send())
        assert event == kwire.connection.SaslToken(challenge)
        server.send_sasl_token(reply)
        (event,) = receive(client, server.data_to_send())
        assert event == kwire.connection.SaslToken(reply)
    client.finish_sasl()
    server.finish_sasl()
    client.send(kwire.messages.MetadataRequest())
    (event,) = receive(server, client.data_to_send())
    assert isinstance(event.request, kwire.messages.MetadataRequest)


def test_sasl_authenticate_tokens_are_exchanged_as_requests(kwire):
    """The server treats tokens as requests, and responds as to all others."""
    client, server = both(kwire, MODERN)
    client.start_sasl("SCRAM-SHA-256")
    assert not agree(kwire, client, server).raw
    for challenge, reply, lifetime in ((b"one", b"two", 0), (b"", b"", 60_000)):
        client.send_sasl_token(challenge)
        (request_event,) = receive(server, client.data_to_send())
        assert request_event.request.auth_bytes == challenge
        response = kwire.messages.SaslAuthenticateResponse(
            auth_bytes=reply, session_lifetime_ms=lifetime
        )
        server.send(request_event, response)
        (event,) = receive(client, server.data_to_send())
        assert event == kwire.connection.SaslToken(reply, lifetime / 1000)
    client.finish_sasl()
    client.send(kwire.messages.MetadataRequest())
    assert len(receive(server, client.data_to_send())) == 1


@pytest.mark.parametrize(
    ("offered", "version", "raw"),
    [
        ({17: (0, 1), 36: (0, 2)}, 1, False),
        ({17: (0, 1), 36: (0, 0)}, 1, False),
        ({17: (0, 1)}, 0, True),
        ({17: (0, 0)}, 0, True),
    ],
)
def test_the_handshake_is_chosen_by_what_the_broker_has(kwire, offered, version, raw):
    """Version 1 requires SaslAuthenticate, which 0.11 and older do not support."""
    client, server = both(kwire, offered)
    client.start_sasl("PLAIN")
    assert client.in_flight[0].version == version
    assert agree(kwire, client, server).raw is raw


@pytest.mark.parametrize("offered", [{3: (0, 8)}, {17: (1, 1)}, {36: (0, 2)}])
def test_a_broker_without_a_handshake_has_no_sasl(kwire, offered):
    """The client must not send an API unless the broker offers it."""
    client = client_of(kwire, offered)
    with pytest.raises(kwire.UnsupportedVersion, match="SaslHandshake"):
        client.start_sasl("PLAIN")
    assert client.data_to_send() == b"" and client.in_flight == ()
    assert client.is_open


def test_broker_without_api_versions_has_no_sasl(kwire):
    """Kafka 0.9 supports GSSAPI without a handshake, which kwire does not support."""
    fallback = kwire.connection.negotiation.fallback_table("0.9.0")
    client = kwire.connection.ClientConnection(table=fallback)
    with pytest.raises(kwire.UnsupportedVersion):
        client.start_sasl("PLAIN")


@pytest.mark.parametrize("offered", [OLD, MODERN])
def test_a_refused_mechanism_names_the_others(kwire, offered):
    """If a mechanism is rejected, neither side expects raw tokens.

    The error lists the mechanisms of the broker.
    """
    client, server = both(kwire, offered)
    client.start_sasl("PLAIN")
    (request_event,) = receive(server, client.data_to_send())
    mechanisms = ["SCRAM-SHA-256", "GSSAPI"]
    response = kwire.messages.SaslHandshakeResponse(
        error_code=33, mechanisms=mechanisms
    )
    server.send(request_event, response)
    (event,) = receive(client, server.data_to_send())
    assert event == kwire.connection.SaslFailed(33, "", tuple(mechanisms))
    client.start_sasl("GSSAPI")
    assert isinstance(
        receive(server, client.data_to_send())[0], kwire.connection.RequestReceived
    )


@pytest.mark.parametrize("message", ["wrong password", None])
def test_rejected_token_is_reported_with_its_reason(kwire, message):
    """The error contains the broker's message if there is one."""
    client, server = both(kwire, MODERN)
    client.start_sasl("PLAIN")
    agree(kwire, client, server)
    client.send_sasl_token(b"\0u\0p")
    (request_event,) = receive(server, client.data_to_send())
    response = kwire.messages.SaslAuthenticateResponse(
        error_code=58, error_message=message
    )
    server.send(request_event, response)
    (event,) = receive(client, server.data_to_send())
    assert event == kwire.connection.SaslFailed(58, message or "")


def test_requests_during_raw_tokens_are_rejected(kwire):
    """Requests between raw tokens are rejected.

    The server would decode their bytes as a token.
    """
    client, server = both(kwire, OLD)
    client.start_sasl("PLAIN")
    agree(kwire, client, server)
    for call in (
        lambda: client.send(kwire.messages.MetadataRequest()),
        lambda: client.start_sasl("PLAIN"),
    ):
        with pytest.raises(kwire.LocalProtocolError, match=r"finish_sasl\(\)"):
            call()
    assert client.is_open and client.data_to_send() == b""


def test_sasl_start_with_pending_requests_is_rejected(kwire):
    """SASL cannot start while a response is pending.

    The client would decode the response as a token.
    """
    client = client_of(kwire, OLD)
    client.send(kwire.messages.MetadataRequest())
    with pytest.raises(
        kwire.LocalProtocolError, match="while requests have no response"
    ):
        client.start_sasl("PLAIN")
    answer = kwire.messages.framing.encode_response(
        kwire.messages.MetadataResponse(), 8, 0
    )
    receive(client, answer)
    client.start_sasl("PLAIN")


def test_server_sends_raw_tokens_only_after_handshake_0(kwire):
    """In other states, the token would be a frame without a correlation id."""
    _, server = both(kwire, MODERN)
    with pytest.raises(kwire.LocalProtocolError, match="SaslHandshake v0"):
        server.send_sasl_token(b"token")
    client, server = both(kwire, MODERN)
    client.start_sasl("PLAIN")
    agree(kwire, client, server)
    with pytest.raises(kwire.LocalProtocolError, match="SaslHandshake v0"):
        server.send_sasl_token(b"token")
    client, server = both(kwire, OLD)
    client.start_sasl("PLAIN")
    agree(kwire, client, server)
    server.finish_sasl()
    with pytest.raises(kwire.LocalProtocolError, match="SaslHandshake v0"):
        server.send_sasl_token(b"token")


def test_raw_tokens_respect_the_frame_limit(kwire):
    """A token is rejected when its size arrives, as a frame is."""
    offered = table(kwire, OLD)
    limits = kwire.Limits(frame_bytes=100)
    client = kwire.connection.ClientConnection("kw", table=offered, limits=limits)
    server = kwire.connection.ServerConnection(offered, limits=limits)
    client.start_sasl("PLAIN")
    agree(kwire, client, server)
    for connection in (client, server):
        assert receive(connection, b"\0\0\0\x64" + bytes(100))[0].data == bytes(100)
        with pytest.raises(kwire.LimitExceeded):
            receive(connection, b"\0\0\0\x65")


def test_sasl_comes_before_or_after_the_question_for_versions(kwire):
    """ApiVersions requires no authentication, so SASL may come before or after it."""
    offered = MODERN | {18: (0, 4)}
    server = kwire.connection.ServerConnection(table(kwire, offered))
    client = kwire.connection.ClientConnection("kw")
    while data := client.data_to_send():
        receive(server, data)
        receive(client, server.data_to_send())
    client.start_sasl("PLAIN")
    assert agree(kwire, client, server) == kwire.connection.SaslStarted("PLAIN", False)
    assert client.in_flight == ()
