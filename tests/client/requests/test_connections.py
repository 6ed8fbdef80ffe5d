# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Single requests over real sockets: brokers, TLS, and other servers on a port.

With any server, the client returns the response or raises a typed error that contains
the address, both before a timeout. A request never leaves a socket open.
"""

import asyncio
import ssl
import threading
import time

import pytest
from confluent_kafka import Producer

from kwire.messages import MetadataRequest, MetadataResponse
from tests.client.requests.request_calls import (
    QUICKLY,
    catch_failure,
    make_table,
    send,
    use_client,
)
from tests.client.runners import open_sockets
from tests.harness.loopback_brokers import (
    HOST,
    TIMEOUT_S,
    Broker,
    Listener,
    make_certificate,
    server_context,
)

SHORT_S = 0.3
SHORT = {"timeout_s": 2.0, "connect_timeout_s": SHORT_S, "request_timeout_s": SHORT_S}


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """Certificate for the loopback interface and its key, as paths."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def client_context(certificate):
    """Context that trusts the certificate."""
    return ssl.create_default_context(cafile=certificate[0])


@pytest.fixture
def request_(messages):
    """Request for the brokers of the cluster."""
    return messages.MetadataRequest(topics=())


@pytest.mark.parametrize("release", ["0.10.0", "2.3", "2.4", "3.9", "4.1"])
def test_versions_are_those_of_the_broker(client, runner, request_, release):
    """The versions are found with all versions of ApiVersions itself (KIP-511)."""

    def use(call):
        return call("broker_versions"), call("request", request_)

    with Broker(make_table(release), rack="r1") as broker:
        versions, answer = use_client(client, runner, broker.address, use)
    assert [*versions] == [1]
    broker_table = versions[1]
    assert (broker_table.node_id, broker_table.rack, broker_table.error) == (
        1,
        "r1",
        "",
    )
    assert (broker_table.host, broker_table.port) == (broker.host, broker.port)
    assert broker_table.address == broker.address
    assert {
        key: (versions.min, versions.max)
        for key, versions in broker_table.table.ranges().items()
    } == {
        key: (versions.min, versions.max)
        for key, versions in make_table(release).ranges().items()
    }
    assert [(node.node_id, node.port) for node in answer.brokers] == [(1, broker.port)]
    newest = make_table(release).pick(MetadataRequest)
    assert broker.requests == [("MetadataRequest", newest)] * 2


def test_the_table_of_a_broker_outlives_the_client(client, runner, messages):
    with Broker(make_table("2.0")) as broker:
        broker_table = send(client, runner, broker)[1]
    assert broker_table.table.is_alive
    assert broker_table.table.pick(messages.MetadataRequest) == 6


def test_broker_learns_the_software(client, runner):
    """The broker learns the software name from the second ApiVersions request.

    It does not support the version of the first request, so that it cannot decode the
    name in it.
    """
    with Broker(make_table()) as broker:
        send(client, runner, broker)
    assert broker.software == ["", "kwire"]


def test_versions_of_a_broker_that_is_down_are_an_error(client, runner):
    with Broker(make_table()) as broker:
        with Listener(lambda stream: None) as gone:
            gone.node_id, gone.rack = 2, None
        broker.cluster = [broker, gone]
        versions = send(client, runner, broker)
    assert versions[1].table is not None and versions[1].error == ""
    assert versions[2].table is None
    assert versions[2].error.startswith(f"{gone.address}: connection refused")


def test_versions_of_many_brokers_are_found(client, runner):
    """There are more brokers than concurrent connections."""
    with Broker(make_table()) as broker:

        class Other:
            def __init__(self, node_id):
                self.node_id, self.rack = node_id, None
                self.host, self.port = HOST, broker.port

        other_brokers = [Other(node_id) for node_id in range(2, 200)]
        broker.cluster = [broker, *other_brokers]
        versions = send(client, runner, broker)
    assert [*versions] == [*range(1, 200)]
    assert all(
        broker_versions.table is not None for broker_versions in versions.values()
    )


def test_controllers_report_their_versions(client, runner):
    """Controllers have no Metadata. DescribeCluster lists the others (KIP-919)."""
    table = type(make_table()).of_release("4.1", "controller")

    with Broker(table, 1) as first, Broker(table, 2) as second:
        first.cluster = second.cluster = [first, second]
        versions = send(client, runner, first)
    assert {node: node_versions.port for node, node_versions in versions.items()} == {
        1: first.port,
        2: second.port,
    }
    assert first.requests == [("DescribeClusterRequest", 2)]


def test_ipv6_address_is_in_brackets(client, runner, request_):
    with Broker(make_table(), host="::1") as broker:
        assert broker.address == f"[::1]:{broker.port}"
        assert len(send(client, runner, broker, request_)) == 1
        assert send(client, runner, broker, request_, to=broker.address)


def test_tasks_send_requests_at_the_same_time(client, messages):
    """All tasks receive the response to their own request."""

    async def main():
        async with client.connect(broker.address) as kafka:
            names = [f"t{number}" for number in range(20)]
            entry = messages.MetadataRequest.MetadataRequestTopic
            requests = [
                messages.MetadataRequest(topics=[entry(name=name)]) for name in names
            ]
            answers = await asyncio.gather(*map(kafka.request, requests))
            assert [answer.cluster_id for answer in answers] == names

    class Echo(Broker):
        def answer(self, event):
            return MetadataResponse(cluster_id=event.request.topics[0].name)

    with Echo(make_table()) as broker:
        asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))


def test_a_request_goes_to_the_address_in_to(client, runner, request_):
    """The address in ``to`` gets the request, even if no metadata lists it."""
    with Broker(make_table(), 1) as bootstrap_broker, Broker(make_table(), 2) as other:
        (answer,) = send(client, runner, bootstrap_broker, request_, to=other.address)
        assert [node.port for node in answer.brokers] == [other.port]
        assert bootstrap_broker.connections == 0
        assert [name for name, _ in other.requests] == ["MetadataRequest"]


def test_a_request_to_an_address_that_is_down_fails_soon(client, runner, request_):
    with Broker(make_table()) as bootstrap_broker:
        with Listener(lambda stream: None) as gone:
            pass
        with pytest.raises(client.BrokersUnreachable, match="refused") as caught:
            send(client, runner, bootstrap_broker, request_, to=gone.address)
    assert str(caught.value).startswith(f"{gone.address}: ")


def test_unsupported_request_leaves_the_client_usable(client, runner, messages, kwire):
    """An unsupported request is not sent, so that the connection remains usable."""
    too_new = messages.MetadataRequest(
        topics=None, include_topic_authorized_operations=True
    )

    def use(call):
        with pytest.raises(client.FeatureUnsupported, match="ShareFetch"):
            call("request", messages.ShareFetchRequest())
        with pytest.raises(kwire.EncodeError):
            call("request", too_new)
        return call("request", messages.MetadataRequest(topics=()))

    with Broker(make_table("2.0")) as broker:
        assert use_client(client, runner, broker.address, use).brokers


@pytest.mark.parametrize("name", ["SaslHandshakeRequest", "SaslAuthenticateRequest"])
def test_requests_of_sasl_cannot_be_sent(client, runner, messages, name):
    """SASL requests change the connection state, so only ``connect`` sends them."""
    with (
        Broker(make_table("2.8")) as broker,
        pytest.raises(ValueError, match="set sasl"),
    ):
        send(client, runner, broker, getattr(messages, name)())
    assert broker.connections == 0


def test_only_requests_can_be_sent(client, runner, messages):
    for message in (messages.MetadataResponse(), "MetadataRequest"):
        with pytest.raises(TypeError, match="message must be a request"):
            use_client(
                client, runner, f"{HOST}:1", lambda call, m=message: call("request", m)
            )


def test_produce_without_a_response_cannot_be_sent(client, runner, messages):
    request = messages.ProduceRequest(acks=0)
    with pytest.raises(ValueError, match=r"acks .* must be 1 or -1 \(got 0\)"):
        use_client(client, runner, f"{HOST}:1", lambda call: call("request", request))


def test_versions_are_negotiated_again_for_each_connection(client, runner, request_):
    """If a broker was upgraded, it reports newer versions."""

    def use(call):
        call("request", request_)
        broker.table = make_table("4.1")
        call("request", request_)

    with Broker(make_table("2.0")) as broker:
        use_client(client, runner, broker.address, use)
    assert broker.requests == [("MetadataRequest", 6), ("MetadataRequest", 13)]


def test_broker_before_api_versions_is_assumed(client, runner, request_):
    """The broker closes the first connection because of ApiVersions.

    On the next connection, the client assumes the versions of ``fallback``.
    """
    answered = Broker(make_table("0.10.0"))

    def old_broker(stream):
        # Read the first request's key, as a 0.9 broker does.
        head = stream.recv(6, 2)
        if head[4:6] == b"\0\x12":
            return
        answered._converse(stream)

    with Listener(old_broker) as listener:
        answered.cluster = [listener]
        listener.node_id, listener.rack = 5, None
        (answer,) = send(client, runner, listener, request_, fallback="0.9.0")
        assert listener.connections == 2
        assert answer.brokers[0].node_id == 5
        assert answered.requests == [("MetadataRequest", 0)]
        versions = send(client, runner, listener, fallback="0.9.0")
        assert versions[5].table.pick(MetadataRequest) == 0
        error = catch_failure(client, runner, listener, request_)
        assert "set fallback to its release" in str(error)
    answered._server.close()


def test_mock_cluster_of_librdkafka_reports_ports_and_versions(
    client, runner, request_
):
    """The mock cluster sends an unusual response to newer ApiVersions versions."""
    mock = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "unused"})
    brokers = mock.list_topics(timeout=TIMEOUT_S).brokers
    assert len(brokers) == 3
    address = f"{brokers[1].host}:{brokers[1].port}"

    def use(call):
        answer = call("request", request_, to=2)
        versions = call("broker_versions")
        return {node.node_id: node.port for node in answer.brokers}, versions

    ports, versions = use_client(client, runner, address, use)
    assert ports == {broker.id: broker.port for broker in brokers.values()}
    assert [
        broker_versions.table.advertised[18] for broker_versions in versions.values()
    ] == [(0, 2)] * 3


# Faults


def test_closed_port_is_an_error(client, runner, request_):
    with Listener(lambda stream: None) as listener:
        pass
    error = catch_failure(client, runner, listener, request_)
    assert "connection refused" in str(error)


def test_unknown_host_name_is_an_error(client, runner, request_):
    with pytest.raises(
        client.BrokersUnreachable, match=r"^no\.such\.invalid:9092: .*name"
    ):
        use_client(
            client,
            runner,
            "no.such.invalid:9092",
            lambda call: call("request", request_),
        )


def test_silent_server_is_an_error_after_a_timeout(client, runner, request_):
    """The server accepts the connection but never sends a byte."""
    begun = time.monotonic()
    with Listener(lambda stream: stream.recv(1 << 16) and stream.recv(1)) as listener:
        error = catch_failure(client, runner, listener, request_, **SHORT)
    assert isinstance(error, client.BrokersUnreachable)
    assert "within 0.3 s" in str(error)
    assert time.monotonic() - begun < 5


def silence(stream):
    """Send nothing. When the client disconnects, end the script with an error."""
    stream.recv(1)
    raise OSError("it is closed")


def answering(then):
    """Return a script that behaves as a broker up to the first Metadata request.

    ``then(stream)`` is called for this request.
    """
    broker = Broker(make_table("2.8"))
    broker._server.close()

    def script(stream):
        broker._MetadataRequest = lambda: then(stream)
        broker._converse(stream)

    return script


def test_broker_that_stops_responding_is_an_error(client, runner, request_):
    begun = time.monotonic()
    with Listener(answering(silence)) as listener:
        error = catch_failure(client, runner, listener, request_, **SHORT)
    assert "there was no response within 0.3 s" in str(error)
    assert time.monotonic() - begun < TIMEOUT_S / 2


def test_cancelled_request_closes_its_connection(client, request_):
    async def main():
        async with client.connect(listener.address) as kafka:
            before = open_sockets()
            asking = asyncio.create_task(kafka.request(request_))
            while not listener.connections:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            while open_sockets() > before:
                await asyncio.sleep(0.01)

    with Listener(answering(silence)) as listener:
        asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"", "closed the connection; requests without a response: 1"),
        (b"\0\0", "in the middle of a frame, after 2 bytes"),
        (b"\0\0\0\x20\0\0\0\1abc", "in the middle of a frame, after 11 bytes"),
        (b"\0\0\0\0", "empty frame"),
        (b"\0\0\0\x08\0\0\0\x63\0\0\0\0", "correlation id 99"),
        (b"\xff\xff\xff\xff", "a frame cannot have -1 bytes"),
        (b"\x7f\xff\xff\xff", "over the limit"),
        (b"\0\0\0\x05\0\0\0\2\0", "MetadataResponse v11"),
    ],
)
def test_broken_answer_is_a_typed_error(client, runner, request_, sent, words):
    def then(stream):
        stream.sendall(sent)
        raise OSError("done")

    with Listener(answering(then)) as listener:
        error = catch_failure(client, runner, listener, request_, timeout_s=1.0)
    assert words in str(error)


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_request_that_changes_something_is_not_sent_twice(
    client, runner, messages, is_answered
):
    """If the connection is lost, the broker may already have executed the request."""

    class Closing(Broker):
        def answer(self, event):
            if type(event.request) is messages.CreateTopicsRequest or is_answered:
                return super().answer(event)
            raise OSError("it closes the connection")

        def _CreateTopicsRequest(self):
            raise OSError("it closes the connection")

    request = messages.CreateTopicsRequest()
    with Closing(make_table()) as broker:
        with pytest.raises(
            client.OutcomeUnknown if is_answered else client.ClusterError
        ):
            send(client, runner, broker, request, timeout_s=1.0)
        names = [name for name, _ in broker.requests]
    assert names.count("CreateTopicsRequest") == int(is_answered)


def test_answer_may_come_byte_by_byte(client, runner, request_):
    """An incomplete frame is not an error if the rest arrives later."""

    class Dripping:
        def __init__(self, stream):
            self.recv = stream.recv
            self.stream = stream

        def sendall(self, data):
            for byte in data:
                self.stream.sendall(bytes([byte]))

    broker = Broker(make_table("2.8"))
    broker._server.close()
    with Listener(lambda stream: broker._converse(Dripping(stream))) as listener:
        listener.node_id, listener.rack = 1, None
        broker.cluster = [listener]
        (answer,) = send(client, runner, listener, request_)
    assert answer.brokers[0].port == listener.port


@pytest.mark.parametrize("sent", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0" * 40])
def test_other_protocol_is_a_typed_error(client, runner, request_, sent):
    with Listener(lambda stream: stream.sendall(sent)) as listener:
        catch_failure(client, runner, listener, request_, **QUICKLY)


# TLS


def test_request_is_answered_over_tls(
    client, runner, request_, certificate, client_context
):
    with Broker(make_table(), context=server_context(*certificate)) as broker:
        (answer,) = send(client, runner, broker, request_, ssl=client_context)
    assert answer.brokers


def test_certificate_of_an_unknown_authority_is_rejected_by_default(
    client, runner, request_, certificate
):
    """``True`` trusts the system's authorities, which did not sign the certificate."""
    with Broker(make_table(), context=server_context(*certificate)) as broker:
        error = catch_failure(client, runner, broker, request_, ssl=True)
    assert "certificate is not trusted: self-signed" in str(error)
    assert broker.software == []


def test_certificate_of_another_host_is_refused(
    client, runner, request_, certificate, client_context
):
    with Broker(
        make_table(), context=server_context(*certificate), host="::1"
    ) as broker:
        error = catch_failure(client, runner, broker, request_, ssl=client_context)
    assert "IP address mismatch" in str(error)


def test_broker_that_requires_a_client_certificate_accepts_it(
    client, runner, request_, certificate, client_context
):
    context = server_context(*certificate, client_ca=certificate[0])
    with Broker(make_table(), context=context) as broker:
        error = catch_failure(client, runner, broker, request_, ssl=client_context)
        # The alert may be lost, because the server closes the connection with unread
        # bytes.
        assert "certificate" in str(error)
        client_context.load_cert_chain(*certificate)
        assert send(client, runner, broker, request_, ssl=client_context)


def test_connection_that_closes_after_the_tls_handshake_has_a_hint(
    client, runner, request_, certificate, client_context
):
    context = server_context(*certificate)
    with Listener(lambda stream: stream.recv(1), context) as listener:
        error = catch_failure(client, runner, listener, request_, ssl=client_context)
    assert "after the TLS handshake, this means that it requires a client" in str(error)


def test_plaintext_client_reports_a_tls_port(client, runner, request_, certificate):
    with Broker(make_table(), context=server_context(*certificate)) as broker:
        error = catch_failure(client, runner, broker, request_, **QUICKLY)
    assert "TLS" in str(error)


def test_tls_client_reports_a_plaintext_port(client, runner, request_, client_context):
    """The broker decodes the first bytes of TLS as the size of a frame.

    The size exceeds its limit, so that it closes the connection.
    """
    with Broker(make_table()) as broker:
        error = catch_failure(
            client, runner, broker, request_, ssl=client_context, **QUICKLY
        )
    assert "TLS" in str(error)


def test_silent_server_ends_the_tls_handshake_after_the_timeout(
    client, runner, request_, client_context
):
    begun = time.monotonic()
    with Listener(lambda stream: stream.recv(1 << 16) and stream.recv(1)) as listener:
        error = catch_failure(
            client, runner, listener, request_, ssl=client_context, **SHORT
        )
    assert "within 0.3 s" in str(error)
    assert time.monotonic() - begun < 5


def test_peer_that_does_not_end_tls_is_not_waited_for(
    client, runner, request_, certificate, client_context
):
    """The client does not wait for the peer, which has stopped reading.

    TLS itself would wait for 30 s.
    """
    is_request_finished = threading.Event()
    broker = Broker(make_table())
    broker._server.close()

    class Deaf:
        def __init__(self, stream):
            self.sendall = stream.sendall
            self.stream = stream

        def recv(self, size):
            if broker.requests:
                is_request_finished.wait(TIMEOUT_S)
                return b""
            return self.stream.recv(size)

    began = time.monotonic()
    with Listener(
        lambda stream: broker._converse(Deaf(stream)), server_context(*certificate)
    ) as listener:
        listener.node_id, listener.rack = 1, None
        broker.cluster = [listener]
        send(client, runner, listener, request_, ssl=client_context)
        took = time.monotonic() - began
        is_request_finished.set()
    assert took < 5


@pytest.mark.parametrize("has_tls", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("kind", ["blocking", "asyncio", "uvloop"])
def test_large_messages_pass_both_ways(
    client, messages, certificate, client_context, kind, has_tls
):
    """The request waits for a slow broker, and the response is a single frame."""
    topics = [{"name": f"{number:0200}"} for number in range(40_000)]
    sent = messages.MetadataRequest(
        topics=[messages.MetadataRequest.MetadataRequestTopic(**t) for t in topics]
    )
    node = MetadataResponse.MetadataResponseBroker
    nodes = [node(node_id=n, host=f"{n:0200}", port=1) for n in range(20_000)]

    class Slow(Broker):
        def _MetadataRequest(self):
            return MetadataResponse(brokers=nodes)

        def _converse(self, stream):
            time.sleep(SHORT_S)
            super()._converse(stream)

    async def main():
        async with client.connect(broker.address, ssl=tls) as kafka:
            return [await kafka.request(sent) for _ in range(2)]

    def run():
        if kind == "blocking":
            return send(client, kind, broker, sent, sent, ssl=tls)
        make_loop = asyncio.new_event_loop
        if kind == "uvloop":
            make_loop = pytest.importorskip("uvloop").new_event_loop
        with asyncio.Runner(loop_factory=make_loop) as runner:
            return runner.run(asyncio.wait_for(main(), TIMEOUT_S))

    tls = client_context if has_tls else None
    context = server_context(*certificate) if has_tls else None
    with Slow(make_table(), context=context) as broker:
        answers = run()
    assert [len(answer.brokers) for answer in answers] == [len(nodes)] * 2
    assert answers[1].brokers[-1].host == nodes[-1].host
