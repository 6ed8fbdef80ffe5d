# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Network faults and faulty peers, over real loopback sockets.

Streams that end early or arrive slowly, responses in the wrong order or without a
request, brokers with another release after a reconnect, silent peers, peers with TLS,
and announced sizes without data. Every fault results in an event or a typed error with
its reason. No call waits forever, and memory does not depend on announced sizes.
"""

import importlib
import re
import socket
import ssl
import tracemalloc
from types import SimpleNamespace

import pytest

from tests.connection.broker import Broker, offered
from tests.connection.wire import TIMEOUT_S, Wire

RELEASE = "3.9"
FIRST = 2
"""Correlation id after negotiation, which needs two requests in this release."""
TLS_ALERT = bytes.fromhex("15030300020250")
ROW = (b"key", b"value")


def tcp_pair():
    """Return two sockets that are connected over the loopback interface."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname(), TIMEOUT_S)
        far, _ = listener.accept()
    far.settimeout(TIMEOUT_S)
    return near, far


@pytest.fixture
def peers(kwire):
    """Client at one connection end. The test controls the other end."""
    near, far = tcp_pair()
    connection = importlib.import_module(f"{kwire.__name__}.connection")
    wire = Wire(kwire, near)
    server = connection.ServerConnection(offered(kwire, RELEASE))
    yield SimpleNamespace(wire=wire, far=far, server=server, events=connection)
    near.close()
    far.close()


@pytest.fixture
def negotiated_peers(peers):
    """Client and server that have negotiated versions."""
    negotiate(peers)
    return peers


def negotiate(peers):
    """Respond to ApiVersions until the client has the version table."""
    while peers.wire.table is None:
        answer_once(peers)
        list(peers.wire.connection.receive_data(peers.wire.socket.recv(1 << 16)))


def flush(wire):
    """Send the client's pending bytes."""
    wire.socket.sendall(wire.connection.data_to_send())


def answer_once(peers):
    """Send the client's bytes, let the server process them, and send its responses.

    Return the events of the server.
    """
    flush(peers.wire)
    events = list(peers.server.receive_data(peers.far.recv(1 << 16)))
    peers.far.sendall(peers.server.data_to_send())
    return events


def metadata(kwire, *topics):
    """Return a Metadata request for topics with these names."""
    request = kwire.messages.MetadataRequest
    return request(topics=[request.MetadataRequestTopic(name=name) for name in topics])


def answer_to(kwire, correlation_id, cluster_id="kwire", version=12):
    """Encode a Metadata response."""
    response = kwire.messages.MetadataResponse(cluster_id=cluster_id)
    return kwire.messages.framing.encode_response(response, version, correlation_id)


def produce(kwire, topic, acks=-1):
    """Return a Produce request with one record.

    If ``acks`` is "magic 0", the record has the format that all releases support.
    """
    request = kwire.messages.ProduceRequest
    magic = 0 if acks == "magic 0" else 2
    part = request.PartitionProduceData(
        index=0, records=kwire.records.encode_batch([ROW], magic=magic)
    )
    return request(
        acks=-1 if magic == 0 else acks,
        timeout_ms=1000 * TIMEOUT_S,
        topic_data=[request.TopicProduceData(name=topic, partition_data=[part])],
    )


def is_dead(kwire, connection, why):
    """Check that the connection is closed, and that its calls raise ``why``."""
    assert not connection.is_open
    for use in (
        lambda: connection.send(metadata(kwire)),
        lambda: connection.receive_data(b"\0"),
    ):
        with pytest.raises(kwire.errors.LocalProtocolError, match=re.escape(why)):
            use()
    assert connection.data_to_send() == b""
    if connection.table is not None:
        with pytest.raises(kwire.errors.LocalProtocolError, match="its connection"):
            connection.table.pick(kwire.messages.MetadataRequest)


def test_bytes_that_trickle_make_the_same_events(kwire, peers):
    """If segments contain single bytes, events are neither early nor lost."""
    near, far = peers.wire.socket, peers.far
    client, server = peers.wire.connection, peers.server

    def trickle(data, out, into, receive):
        """Send the data byte by byte. Return (byte count, event) pairs.

        The byte count is the number of bytes after which the event occurred.
        """
        seen = []
        for byte_count in range(len(data)):
            out.sendall(data[byte_count : byte_count + 1])
            seen += [(byte_count + 1, event) for event in receive(into.recv(1))]
        return seen

    for peer in (near, far):
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    codes = []
    for last in (False, True):
        question = client.data_to_send()
        ((byte_count, event),) = trickle(question, near, far, server.receive_data)
        assert byte_count == len(question)
        codes.append(event.error_code)
        answer = server.data_to_send()
        seen = trickle(answer, far, near, client.receive_data)
        assert [byte_count for byte_count, _ in seen] == [len(answer)] * last
    assert codes == [kwire.error_codes.UNSUPPORTED_VERSION, kwire.error_codes.NONE]
    assert event.software_name == "kwire"
    assert seen[0][1].table == offered(kwire, RELEASE)


@pytest.mark.parametrize("left", [1, 2, 4, 5, 20])
def test_end_within_a_response_reports_the_received_bytes(
    kwire, negotiated_peers, left
):
    """The event contains the received bytes and the requests without a response."""
    wire = negotiated_peers.wire
    requests = [metadata(kwire, "a"), metadata(kwire, "b")]
    ids = [wire.connection.send(request) for request in requests]
    flush(wire)
    response = answer_to(kwire, ids[0])
    negotiated_peers.far.sendall(response[:left])
    negotiated_peers.far.shutdown(socket.SHUT_WR)
    closed = wire.wait_for("ConnectionClosed")
    assert f"in the middle of a frame, after {left} bytes" in closed.reason
    assert [sent.request for sent in closed.unanswered] == requests
    assert [request.correlation_id for request in closed.unanswered] == ids
    is_dead(kwire, wire.connection, f"in the middle of a frame, after {left} bytes")


def test_end_between_frames_reports_no_incomplete_frame(kwire, negotiated_peers):
    """The reason mentions no incomplete frame.

    Only the request without a response is reported.
    """
    wire = negotiated_peers.wire
    first, second = (wire.connection.send(metadata(kwire, name)) for name in "ab")
    flush(wire)
    negotiated_peers.far.sendall(answer_to(kwire, first))
    negotiated_peers.far.shutdown(socket.SHUT_WR)
    assert wire.wait_for("ResponseReceived").correlation_id == first
    closed = wire.wait_for("ConnectionClosed")
    assert "frame" not in closed.reason
    assert [request.correlation_id for request in closed.unanswered] == [second]
    is_dead(kwire, wire.connection, "the broker closed the connection")


@pytest.mark.parametrize("left", [3, 4, 7, 11, 30])
def test_a_client_that_leaves_within_a_request_is_seen_to(
    kwire, negotiated_peers, left
):
    """The server side reports the incomplete request, which is never executed."""
    wire = negotiated_peers.wire
    wire.connection.send(produce(kwire, "t"))
    wire.socket.sendall(wire.connection.data_to_send()[:left])
    wire.socket.close()
    events = []
    while negotiated_peers.server.is_open:
        events += negotiated_peers.server.receive_data(
            negotiated_peers.far.recv(1 << 16)
        )
    (closed,) = events
    assert f"in the middle of a frame, after {left} bytes" in closed.reason
    with pytest.raises(kwire.errors.LocalProtocolError, match="the client closed"):
        negotiated_peers.server.receive_data(b"\0")


def test_a_connection_that_is_reset_ends_with_the_sockets_error(
    kwire, negotiated_peers
):
    """The socket raises an error. The caller then closes the connection."""
    wire = negotiated_peers.wire
    sent_request = wire.connection.send(metadata(kwire, "t"))
    flush(wire)
    negotiated_peers.far.recv(1 << 16)
    linger_not = (1).to_bytes(4, "little") + bytes(4)
    negotiated_peers.far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not)
    negotiated_peers.far.close()
    with pytest.raises(ConnectionResetError):
        wire.next_event()
    wire.connection.close()
    assert [request.correlation_id for request in wire.connection.in_flight] == [
        sent_request
    ]
    is_dead(kwire, wire.connection, "closed by this side")


@pytest.mark.parametrize(
    ("answers", "events", "words"),
    [
        ((3, 2), 0, "the response to request 3 arrived before that to 2"),
        ((2, 4, 3), 1, "the response to request 4 arrived before that to 3"),
        ((99,), 0, "99, which no request in flight has (expected 2)"),
        ((-1,), 0, "-1, which no request in flight has"),
        ((2, 2), 1, "2, which no request in flight has (expected 3)"),
        ((2, 3, 4, 5), 3, "5, which no request in flight has (no response"),
        ((0,), 0, "0, which no request in flight has"),
    ],
)
def test_responses_out_of_order_or_without_a_request_are_errors(
    kwire, negotiated_peers, answers, events, words
):
    """Responses before the error are returned. The rest cannot be assigned."""
    wire = negotiated_peers.wire
    for name in "abc":
        wire.connection.send(metadata(kwire, name))
    flush(wire)
    negotiated_peers.far.sendall(
        b"".join(answer_to(kwire, version) for version in answers)
    )
    for expected in answers[:events]:
        assert wire.wait_for("ResponseReceived").correlation_id == expected
    with pytest.raises(kwire.errors.RemoteProtocolError) as raised:
        wire.next_event()
    assert words in str(raised.value)
    assert wire.connection.failure is raised.value
    is_dead(kwire, wire.connection, words.split(";")[0])


def test_a_response_before_any_request_ends_it(kwire, negotiated_peers):
    """A response is an error if no request is in flight."""
    negotiated_peers.far.sendall(answer_to(kwire, FIRST))
    with pytest.raises(
        kwire.errors.RemoteProtocolError, match="no response is expected"
    ):
        negotiated_peers.wire.next_event()
    is_dead(kwire, negotiated_peers.wire.connection, "no response is expected")


def test_an_answer_before_the_question_has_to_fit_it(kwire, peers):
    """If a server sends first, only a valid ApiVersions response is accepted."""
    response = kwire.messages.ApiVersionsResponse()
    peers.far.sendall(kwire.messages.framing.encode_response(response, 0, 5))
    with pytest.raises(kwire.errors.RemoteProtocolError, match="got 5"):
        peers.wire.next_event()
    assert peers.wire.table is None
    is_dead(kwire, peers.wire.connection, "got 5")


@pytest.mark.parametrize("negotiated", [False, True])
def test_a_server_that_never_answers_costs_a_timeout(kwire, negotiated):
    """After the timeout of the socket, the connection still has its requests."""
    near, far = tcp_pair()
    with near, far:
        options = {"table": offered(kwire, RELEASE)} if negotiated else {}
        wire = Wire(kwire, near, timeout_s=0.05, **options)
        if negotiated:
            wire.connection.send(metadata(kwire, "t"))
        with pytest.raises(TimeoutError):
            wire.next_event()
        assert len(wire.connection.in_flight) == int(negotiated)
        assert wire.connection.is_open


def test_reconnect_negotiates_the_versions_of_the_new_release(kwire):
    """A broker is upgraded or downgraded. The new connection has its own table.

    Unanswered requests are repeated in the version of the new connection.
    """
    negotiation = importlib.import_module(f"{kwire.__name__}.connection.negotiation")
    request = kwire.messages.MetadataRequest
    together = negotiation.ClusterVersions()
    tables = []
    with Broker(kwire, "0.10.2") as broker:
        left = metadata(kwire, "t")
        for release, newest in (("0.10.2", 2), ("4.1", 13), ("2.3", 8)):
            broker.table = offered(kwire, release)
            with Wire(kwire, broker.place) as wire:
                assert wire.table == broker.table
                assert wire.table.pick(request) == newest
                together.update("the broker", wire.table)
                assert together.pick(request) == newest
                assert wire.ask(left).topics[0].name == "t"
                assert broker.asked["Metadata", newest] == 1
                tables.append(wire.table)
                broker.hang_up()
                wire.connection.send(left)
                closed = wait_for_end(kwire, wire)
            (lost,) = closed.unanswered
            assert (lost.request, lost.version) == (left, newest)
            left = lost.request
            for table in tables:
                with pytest.raises(kwire.errors.LocalProtocolError, match="next"):
                    table.pick(request)
            with pytest.raises(kwire.errors.LocalProtocolError, match="the broker"):
                together.pick(request)


def wait_for_end(kwire, wire):
    """Wait for the end of a connection that the peer closes, and return the event."""
    try:
        return wire.wait_for("ConnectionClosed")
    except ConnectionError:
        # A write after the close may fail before the remaining bytes are read.
        (closed,) = wire.connection.receive_data(b"")
        return closed


def test_version_of_the_previous_connection_closes_the_connection(kwire):
    """If a broker was downgraded, it closes the connection, as Kafka does."""
    request = metadata(kwire, "t")
    with Broker(kwire, "4.1") as broker:
        with Wire(kwire, broker.place) as wire:
            old = wire.table.pick(type(request))
            assert wire.ask(request, old).topics[0].name == "t"
        broker.table = offered(kwire, "2.3")
        with Wire(kwire, broker.place) as wire:
            wire.connection.send(request, old)
            closed = wait_for_end(kwire, wire)
        with Wire(kwire, broker.place) as wire:
            assert wire.ask(request).topics[0].name == "t"
    (refused,) = broker.events_of("UnsupportedReceived")
    assert refused == (request.api_key, old, FIRST)
    assert [request.version for request in closed.unanswered] == [old]


def test_broker_without_api_versions_is_reconnected_with_the_fallback(kwire):
    """When the connection is closed, the next connection uses the 0.9 versions."""
    messages = kwire.messages
    with Broker(kwire, "0.9.0") as broker:
        wire = Wire(kwire, broker.place, fallback="0.9.0.1")
        closed = wire.wait_for("ConnectionClosed")
        wire.socket.close()
        assert closed.unanswered == ()
        with Wire(kwire, broker.place, table=closed.fallback) as wire:
            assert wire.ask(metadata(kwire, "t")).topics[0].name == "t"
            request = produce(kwire, "t", "magic 0")
            (answer,) = wire.ask(request).responses
            assert answer.partition_responses[0].base_offset == 0
            part = messages.FetchRequest.FetchPartition(
                partition=0, partition_max_bytes=1 << 20
            )
            topics = [messages.FetchRequest.FetchTopic(topic="t", partitions=[part])]
            (answer,) = wire.ask(messages.FetchRequest(topics=topics)).responses
            (batch,) = kwire.records.decode_batches(answer.partitions[0].records)
    assert [(record.key, record.value) for record in batch.records] == [ROW]
    assert set(broker.asked) == {("Metadata", 0), ("Produce", 1), ("Fetch", 1)}


def test_close_before_negotiation_without_a_fallback_is_reported(kwire):
    """The reason contains possible causes and solutions."""
    with Broker(kwire, "0.9.0") as broker:
        wire = Wire(kwire, broker.place)
        closed = wire.wait_for("ConnectionClosed")
        wire.socket.close()
    assert closed.fallback is None
    assert "older than 0.10.0" in closed.reason
    assert "expects TLS" in closed.reason
    is_dead(kwire, wire.connection, "older than 0.10.0")


@pytest.mark.parametrize("negotiated", [False, True])
def test_client_reports_a_tls_port(kwire, peers, negotiated):
    """If a TLS port receives plaintext, it responds with an alert."""
    if negotiated:
        negotiate(peers)
    peers.far.sendall(TLS_ALERT)
    with pytest.raises(kwire.errors.LimitExceeded, match="TLS alert"):
        peers.wire.next_event()
    is_dead(kwire, peers.wire.connection, "the peer uses TLS")


def test_server_reports_a_tls_client(kwire):
    """When a real client has sent TLS, the next client is served normally."""
    context = ssl.create_default_context()
    with Broker(kwire, RELEASE) as broker:
        with (
            socket.create_connection(broker.place, TIMEOUT_S) as client,
            pytest.raises((ssl.SSLError, ConnectionError)),
        ):
            context.wrap_socket(client, server_hostname="localhost").close()
        with Wire(kwire, broker.place) as wire:
            assert wire.ask(metadata(kwire, "t")).topics[0].name == "t"
        (failure,) = broker.failures
        broker.failures.clear()
    assert isinstance(failure, kwire.errors.LimitExceeded)
    assert "TLS handshake" in str(failure)


@pytest.mark.parametrize("size", [100 << 20, (100 << 20) + 1, 0x7FFFFFFF])
@pytest.mark.parametrize("side", ["client", "server"])
def test_an_announced_size_takes_no_memory(kwire, peers, side, size):
    """The size is rejected if it exceeds the limit, otherwise the frame is pending."""
    sending, taking, connection = {
        "client": (peers.far, peers.wire.socket, peers.wire.connection),
        "server": (peers.wire.socket, peers.far, peers.server),
    }[side]
    sending.sendall(size.to_bytes(4, "big") + bytes(2000))
    chunk = b""
    while len(chunk) < 2004:
        chunk += taking.recv(1 << 16)
    tracemalloc.start()
    try:
        if size > 100 << 20:
            with pytest.raises(kwire.errors.LimitExceeded, match=f"{size} bytes"):
                list(connection.receive_data(chunk))
        else:
            assert list(connection.receive_data(chunk)) == []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 17
    assert connection.is_open == (size <= 100 << 20)


@pytest.mark.parametrize("side", ["client", "server"])
def test_frame_limit_is_an_argument_of_both_sides(kwire, side):
    """A frame is accepted if its size is exactly the limit, but not one byte more."""
    module = importlib.import_module(f"{kwire.__name__}.connection")
    limits = kwire._limits.Limits(frame_bytes=1000)

    def connection():
        if side == "client":
            return module.ClientConnection(limits=limits)
        return module.ServerConnection(offered(kwire, RELEASE), limits=limits)

    assert list(connection().receive_data((1000).to_bytes(4, "big"))) == []
    with pytest.raises(kwire.errors.LimitExceeded, match="the limit of 1000"):
        list(connection().receive_data((1001).to_bytes(4, "big")))


@pytest.mark.parametrize("negotiated", [False, True])
def test_an_empty_frame_ends_the_clients_side(kwire, peers, negotiated):
    """The frame cannot be assigned to a request, because it contains no id."""
    if negotiated:
        negotiate(peers)
        peers.wire.connection.send(metadata(kwire, "t"))
    peers.far.sendall(bytes(4))
    with pytest.raises(kwire.errors.RemoteProtocolError, match="an empty frame"):
        peers.wire.next_event()
    is_dead(kwire, peers.wire.connection, "an empty frame")


def test_an_empty_frame_ends_the_servers_side(kwire, peers):
    """The frame contains no request to respond to."""
    with pytest.raises(kwire.errors.RemoteProtocolError, match="at least 8 bytes"):
        list(peers.server.receive_data(bytes(4)))
    assert peers.server.wants_close
    with pytest.raises(kwire.errors.LocalProtocolError, match="at least 8 bytes"):
        peers.server.receive_data(bytes(4))


def test_answers_that_a_server_has_out_of_order_go_out_in_order(kwire):
    """Two clients have several requests in flight. Responses are created in reverse."""
    module = importlib.import_module(f"{kwire.__name__}.connection")
    pairs = [tcp_pair() for _ in range(2)]
    wires = [
        Wire(kwire, near, table=offered(kwire, RELEASE), client_id=f"client-{n}")
        for n, (near, _) in enumerate(pairs)
    ]
    servers = [module.ServerConnection(offered(kwire, RELEASE)) for _ in pairs]
    names = [f"topic-{n}" for n in range(30)]
    held = []
    for wire, server, (_, far) in zip(wires, servers, pairs, strict=True):
        for name in names:
            wire.connection.send(metadata(kwire, name))
        flush(wire)
        received = []
        while len(received) < len(names):
            received += server.receive_data(far.recv(1 << 16))
        held.append(received)
    answer = kwire.messages.MetadataResponse
    for turn in reversed(range(len(names))):
        for server, received in zip(servers, held, strict=True):
            assert server.data_to_send() == b""
            event = received[turn]
            name = event.request.topics[0].name
            server.send(event, answer(cluster_id=f"{event.client_id} {name}"))
    for n, (wire, server, (near, far)) in enumerate(
        zip(wires, servers, pairs, strict=True)
    ):
        far.sendall(server.data_to_send())
        events = [wire.wait_for("ResponseReceived") for _ in names]
        cluster_ids = [event.response.cluster_id for event in events]
        assert cluster_ids == [f"client-{n} {name}" for name in names]
        near.close()
        far.close()


def test_records_without_acks_have_no_response(kwire):
    """The records are appended, and all other requests get their own responses."""
    with Broker(kwire, RELEASE) as broker, Wire(kwire, broker.place) as wire:
        sent = [
            (acks, wire.connection.send(produce(kwire, "t", acks)))
            for acks in (0, -1, 0, 0, 1, 0, -1)
        ]
        awaited = [request_id for acks, request_id in sent if acks]
        in_flight = [request.correlation_id for request in wire.connection.in_flight]
        assert in_flight == awaited
        events = [wire.wait_for("ResponseReceived") for _ in awaited]
        answers = [event.response.responses[0] for event in events]
        assert [event.correlation_id for event in events] == awaited
        offsets = [answer.partition_responses[0].base_offset for answer in answers]
        assert offsets == [1, 4, 6]


def test_server_cannot_respond_to_acks_0(kwire, negotiated_peers):
    """The client would use such a response for its next request."""
    negotiated_peers.wire.connection.send(produce(kwire, "t", 0))
    (event,) = answer_once(negotiated_peers)
    assert not event.expects_response
    with pytest.raises(
        kwire.errors.LocalProtocolError, match="has its response already"
    ):
        negotiated_peers.server.send(event, kwire.messages.ProduceResponse())
    assert negotiated_peers.server.is_open
    assert negotiated_peers.server.data_to_send() == b""
