# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Connections in rare states, and options that must have an effect.

The regular cases are in ``test_client_connection.py``, ``test_server_connection.py``
and ``test_sasl_on_connections.py``.
"""

import pytest

MIB = 1 << 20
OVER_THE_USUAL_CEILING = 101 * MIB


def table(kwire, offered):
    """Return a version table with the offered ranges."""
    return kwire.connection.negotiation.ApiVersionTable(offered)


def client_of(kwire, offered, **options):
    """Return a client whose version table has the offered ranges."""
    return kwire.connection.ClientConnection(table=table(kwire, offered), **options)


def receive(connection, data):
    """Pass bytes to a connection, and list the events."""
    return list(connection.receive_data(data))


def test_negotiated_table_keeps_the_policy(kwire):
    policy = kwire.connection.negotiation.VersionPolicy({3: "0-5"})
    client = kwire.connection.ClientConnection(policy=policy)
    answer = kwire.messages.framing.encode_response(
        kwire.messages.ApiVersionsResponse(
            api_keys=[
                kwire.messages.ApiVersionsResponse.ApiVersion(
                    api_key=3, min_version=0, max_version=8
                )
            ]
        ),
        5,
    )
    (negotiated,) = receive(client, answer)
    assert negotiated.table.pick(3) == 5


def test_raised_frame_limit_applies_to_responses(kwire):
    """The limit applies to the frame and to its decoded content."""
    limits = kwire.Limits(frame_bytes=2 * OVER_THE_USUAL_CEILING)
    client = client_of(kwire, {14: (0, 0)}, limits=limits, zero_copy=True)
    client.send(kwire.messages.SyncGroupRequest())
    many = OVER_THE_USUAL_CEILING
    head = (many + 10).to_bytes(4, "big") + bytes(6) + many.to_bytes(4, "big")
    (event,) = receive(client, head + bytes(many))
    assert len(event.response.assignment) == many


def test_raised_frame_limit_applies_to_requests(kwire):
    """The limit applies to the frame and to its decoded content."""
    limits = kwire.Limits(frame_bytes=2 * OVER_THE_USUAL_CEILING)
    server = kwire.connection.ServerConnection(
        table(kwire, {36: (0, 0)}), limits=limits, zero_copy=True
    )
    many = OVER_THE_USUAL_CEILING
    head = bytes.fromhex("0024 0000 00000000 ffff") + many.to_bytes(4, "big")
    size = (len(head) + many).to_bytes(4, "big")
    (event,) = receive(server, size + head + bytes(many))
    assert len(event.request.auth_bytes) == many


def test_server_rejects_the_node_id_of_another_broker(kwire):
    """Cluster id and node id must both match the client's (KIP-1242)."""
    server = kwire.connection.ServerConnection(
        table(kwire, {18: (0, 5)}), cluster_id="c", node_id=1
    )
    for node_id, error_code in ((1, 0), (2, 129)):
        request = kwire.messages.ApiVersionsRequest(
            client_software_name="kwire",
            client_software_version="1.0",
            cluster_id="c",
            node_id=node_id,
        )
        request_frame = kwire.messages.framing.encode_request(request, 5)
        (event,) = receive(server, request_frame)
        assert event.error_code == error_code


def test_no_request_follows_a_manual_sasl_handshake(kwire):
    """After a SaslHandshake, a request is rejected.

    This applies even if an earlier request still waits for its response.
    """
    client = client_of(kwire, {3: (0, 8), 17: (0, 1)})
    client.send(kwire.messages.MetadataRequest())
    client.send(kwire.messages.SaslHandshakeRequest(mechanism="PLAIN"))
    with pytest.raises(
        kwire.LocalProtocolError, match="the SASL handshake is not complete"
    ):
        client.send(kwire.messages.MetadataRequest())


@pytest.mark.parametrize("token", [5, [1, 2], "text"])
def test_raw_token_must_be_bytes(kwire, token):
    """If an integer were accepted, it would be converted to that many zero bytes."""
    client = client_of(kwire, {17: (0, 0)})
    client.start_sasl("PLAIN")
    receive(client, bytes.fromhex("0000000a 00000000 0000 00000000"))
    client.data_to_send()
    with pytest.raises(TypeError):
        client.send_sasl_token(token)
    assert client.data_to_send() == b""


def test_headers_of_responses_are_read_as_leniently_as_their_bodies(kwire):
    """As in Kafka, the tagged field count may be a 0 that uses more than one byte."""
    cls = kwire.messages.HeartbeatResponse
    frame = bytes.fromhex("00000007 8080808010 00000000 0000 00")
    read = kwire.messages.framing.decode_response
    assert read(cls, frame, 4, compat="java")[0] == 7
    with pytest.raises(kwire.DecodeError):
        read(cls, frame, 4)


def test_a_request_is_not_read_as_a_response(kwire):
    with pytest.raises(TypeError, match=r"required \(got HeartbeatRequest"):
        kwire.messages.framing.decode_response(
            kwire.messages.HeartbeatRequest, bytes(8), 0
        )
