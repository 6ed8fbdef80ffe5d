# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire.client.net`` over real sockets: brokers, TLS, and other servers on a port.

Whatever a port does, the answer is there or a typed error that names the address, and
both in time.
"""

import asyncio
import socket
import ssl
import threading
import time

import pytest
from confluent_kafka import Producer

from kwire.messages import MetadataRequest, MetadataResponse
from tests.client.net.net_calls import catch_failure, make_table, run
from tests.harness.loopback_brokers import (
    HOST,
    TIMEOUT_S,
    Broker,
    Listener,
    make_certificate,
    server_context,
)

SHORT_S = 0.3


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """The files of a certificate for the loopback interface, and of its key."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def client_context(certificate):
    """What a client needs to trust the certificate."""
    return ssl.create_default_context(cafile=certificate[0])


@pytest.mark.parametrize("release", ["0.10.0", "2.3", "2.4", "3.9", "4.1"])
def test_table_is_that_of_the_broker(net, messages, release):
    """Whatever versions of ApiVersions the broker knows, and KIP-511's way back."""

    async def main():
        async with await net.connect(HOST, broker.port) as client:
            answer = await client.ask(messages.MetadataRequest(topics=()))
            return client.table.ranges(), answer

    with Broker(make_table(release), rack="r1") as broker:
        ranges, answer = asyncio.run(main())
    assert {key: (each.min, each.max) for key, each in ranges.items()} == {
        key: (each.min, each.max) for key, each in make_table(release).ranges().items()
    }
    assert [(each.node_id, each.port) for each in answer.brokers] == [(1, broker.port)]
    newest = make_table(release).pick(MetadataRequest)
    assert broker.requests == [("MetadataRequest", newest)]


def test_broker_learns_the_software(net):
    """In the version that the broker knows; it does not read the one before."""
    with Broker(make_table()) as broker:
        run(net, broker)
    assert broker.software == ["", "kwire"]


def test_ipv6_address_stands_in_brackets(net, messages):
    with Broker(make_table(), host="::1") as broker:
        assert len(run(net, broker, messages.MetadataRequest(topics=()))) == 1
        assert net.address_text("::1", broker.port) == f"[::1]:{broker.port}"


def test_tasks_share_a_connection(net, messages):
    """Questions of several tasks go one after another; each gets its own answer."""

    async def main():
        async with await net.connect(HOST, broker.port) as client:
            ask = client.ask
            return await asyncio.gather(
                *(ask(messages.MetadataRequest(topics=()), v) for v in range(4, 13))
            )

    with Broker(make_table()) as broker:
        answers = asyncio.run(main())
    assert len(answers) == 9
    assert broker.requests == [("MetadataRequest", v) for v in range(4, 13)]
    assert broker.connections == 1


def test_unsupported_request_leaves_the_connection_usable(net, messages, kwire):
    """Nothing was sent, so nothing is lost."""

    async def main():
        async with await net.connect(HOST, broker.port) as client:
            with pytest.raises(kwire.UnsupportedVersion, match="ShareFetch"):
                await client.ask(messages.ShareFetchRequest())
            with pytest.raises(kwire.EncodeError):
                await client.ask(messages.MetadataRequest(topics=None), 0)
            return await client.ask(messages.MetadataRequest(topics=()))

    with Broker(make_table("2.8")) as broker:
        assert asyncio.run(main()).brokers


def test_sasl_is_not_for_asking(net, messages, kwire):
    """It changes what follows on the connection, which ``connect`` takes care of."""

    async def main():
        async with await net.connect(HOST, broker.port) as client:
            with pytest.raises(kwire.LocalProtocolError, match=r"connect\(sasl="):
                await client.ask(messages.SaslHandshakeRequest(mechanism="PLAIN"))
            return await client.ask(messages.MetadataRequest(topics=()))

    with Broker(make_table("2.8")) as broker:
        assert asyncio.run(main()).brokers


def test_produce_without_acks_has_no_answer(net, messages):
    async def main():
        async with await net.connect(HOST, broker.port) as client:
            nothing = await client.ask(messages.ProduceRequest(acks=0))
            return nothing, await client.ask(messages.MetadataRequest(topics=()))

    with Broker(make_table("2.8")) as broker:
        nothing, answer = asyncio.run(main())
    assert nothing is None
    assert answer.brokers
    assert [name for name, _ in broker.requests] == [
        "ProduceRequest",
        "MetadataRequest",
    ]


def test_versions_change_between_connections(net, messages):
    """A broker that was upgraded is asked anew; what the old connection said ends."""

    async def main():
        first = await net.connect(HOST, broker.port)
        old = first.table
        before = old.pick(messages.MetadataRequest)
        await first.close()
        broker.table = make_table("4.1")
        async with await net.connect(HOST, broker.port) as second:
            after = second.table.pick(messages.MetadataRequest)
            await second.ask(messages.MetadataRequest(topics=()))
        return old, before, after

    with Broker(make_table("2.0")) as broker:
        old, before, after = asyncio.run(main())
    assert (before, after) == (6, 13)
    assert broker.requests == [("MetadataRequest", 13)]
    assert not old.is_alive
    with pytest.raises(Exception, match="ended with its connection"):
        old.pick(messages.MetadataRequest)


def test_broker_before_api_versions_is_assumed(net, messages):
    """It hangs up on the question; the next connection does not ask (KIP-35)."""
    answered = Broker(make_table("0.10.0"))

    def old_broker(stream):
        # It reads the key of the first request, as a broker of 0.9 would.
        head = stream.recv(6, 2)
        if head[4:6] == b"\0\x12":
            return
        answered._converse(stream)

    with Listener(old_broker) as listener:
        answered.cluster = [listener]
        listener.node_id, listener.rack = 5, None
        (answer,) = run(
            net, listener, messages.MetadataRequest(topics=()), fallback="0.9.0"
        )
        assert listener.connections == 2
        assert "set fallback to its release" in str(catch_failure(net, listener))
    assert answer.brokers[0].node_id == 5
    assert answered.requests == [("MetadataRequest", 0)]
    answered._server.close()


def test_mock_cluster_of_librdkafka(net, messages):
    """A broker that others wrote, with an odd answer to newer ApiVersions."""
    mock = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "unused"})
    brokers = mock.list_topics(timeout=TIMEOUT_S).brokers
    assert len(brokers) == 3

    async def main():
        node = brokers[1]
        async with await net.connect(node.host, node.port) as client:
            answer = await client.ask(messages.MetadataRequest(topics=()), 8)
            return {each.node_id: each.port for each in answer.brokers}

    assert asyncio.run(main()) == {each.id: each.port for each in brokers.values()}


# Faults


def test_nobody_listens(net):
    with Listener(lambda stream: None) as listener:
        pass
    assert "connection refused" in str(catch_failure(net, listener))


def test_unknown_name(net):
    with pytest.raises(net.NetworkError, match=r"^no\.such\.invalid:9092: .*name"):
        asyncio.run(net.connect("no.such.invalid", 9092))


def test_silent_server_is_given_up(net):
    """It takes the connection and never says a word."""
    done = time.monotonic()
    with Listener(lambda stream: stream.recv(1 << 16) and stream.recv(1)) as listener:
        error = catch_failure(net, listener, timeout_s=SHORT_S)
    assert isinstance(error, net.NetworkTimeout)
    assert "0.3 s" in str(error)
    assert time.monotonic() - done < 5


def silence(stream):
    """Wait for the client to go."""
    stream.recv(1)
    raise OSError("it is gone")


def answering(then):
    """Make a script that negotiates as a broker does and then does something else."""
    broker = Broker(make_table("2.8"))
    broker._server.close()

    def script(stream):
        broker._MetadataRequest = lambda: then(stream)
        broker._converse(stream)

    return script


def test_broker_that_falls_silent_is_given_up(net, messages, kwire):
    """The answer could come any time later, so the connection ends with the wait."""

    async def main():
        client = await net.connect(HOST, listener.port, timeout_s=SHORT_S)
        with pytest.raises(net.NetworkTimeout, match=r"MetadataRequest .* 0\.3 s"):
            await client.ask(messages.MetadataRequest(topics=()))
        assert not client.is_open
        with pytest.raises(kwire.LocalProtocolError, match="has ended"):
            await client.ask(messages.MetadataRequest(topics=()))
        await client.close()

    with Listener(answering(silence)) as listener:
        asyncio.run(main())


def test_cancelled_question_ends_the_connection(net, messages, kwire):
    """Else the next question would get its answer."""

    async def main():
        async with await net.connect(HOST, listener.port) as client:
            asking = asyncio.create_task(client.ask(messages.MetadataRequest()))
            await asyncio.sleep(0.1)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            with pytest.raises(kwire.LocalProtocolError):
                await client.ask(messages.MetadataRequest())

    with Listener(answering(silence)) as listener:
        asyncio.run(main())


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
def test_broken_answer_is_a_typed_error(net, messages, sent, words):
    def then(stream):
        stream.sendall(sent)
        raise OSError("done")

    with Listener(answering(then)) as listener:
        error = catch_failure(net, listener, messages.MetadataRequest(topics=()))
    assert words in str(error)


def test_answer_may_come_byte_by_byte(net, messages):
    """Half frames are no fault, as long as the rest comes."""

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
        (answer,) = run(net, listener, messages.MetadataRequest(topics=()))
    assert answer.brokers[0].port == listener.port


@pytest.mark.parametrize("sent", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0" * 40])
def test_other_protocol_is_a_typed_error(net, sent):
    with Listener(lambda stream: stream.sendall(sent)) as listener:
        catch_failure(net, listener)


# TLS


def test_tls(net, messages, certificate, client_context):
    with Broker(make_table(), context=server_context(*certificate)) as broker:
        (answer,) = run(
            net, broker, messages.MetadataRequest(topics=()), ssl=client_context
        )
    assert answer.brokers


def test_certificate_that_nobody_signed_is_refused(net, certificate):
    """``True`` trusts what the system trusts, which this one is not."""
    with Broker(make_table(), context=server_context(*certificate)) as broker:
        error = catch_failure(net, broker, ssl=True)
    assert "certificate is not trusted: self-signed" in str(error)
    assert broker.software == []


def test_certificate_of_another_host_is_refused(net, certificate, client_context):
    with Broker(
        make_table(), context=server_context(*certificate), host="::1"
    ) as broker:
        error = catch_failure(net, broker, ssl=client_context)
    assert "IP address mismatch" in str(error)


def test_broker_wants_a_certificate(net, messages, certificate, client_context):
    context = server_context(*certificate, client_ca=certificate[0])
    with Broker(make_table(), context=context) as broker:
        error = catch_failure(net, broker, ssl=client_context)
        # Its alert may be lost, for it hangs up on what it was sent with it.
        assert "certificate" in str(error)
        client_context.load_cert_chain(*certificate)
        assert run(net, broker, messages.MetadataRequest(topics=()), ssl=client_context)


def test_tls_where_plaintext_is_expected(net, certificate):
    with Broker(make_table(), context=server_context(*certificate)) as broker:
        error = catch_failure(net, broker)
    assert "TLS" in str(error)


def test_plaintext_where_tls_is_expected(net, client_context):
    """A broker takes the beginning of TLS for a size that is too large."""
    with Broker(make_table()) as broker:
        error = catch_failure(net, broker, ssl=client_context)
    assert "TLS" in str(error)


def test_silence_where_tls_is_expected(net, client_context):
    with Listener(lambda stream: stream.recv(1 << 16) and stream.recv(1)) as listener:
        error = catch_failure(net, listener, ssl=client_context, timeout_s=SHORT_S)
    assert isinstance(error, net.NetworkTimeout)


def test_peer_that_does_not_end_tls_is_not_waited_for(net, certificate, client_context):
    """It reads nothing more, and TLS itself would wait for 30 seconds."""
    over = threading.Event()
    broker = Broker(make_table())
    broker._server.close()

    class Deaf:
        def __init__(self, stream):
            self.sendall = stream.sendall
            self.stream = stream

        def recv(self, size):
            if broker.software[-1:] == ["kwire"]:
                over.wait(TIMEOUT_S)
                return b""
            return self.stream.recv(size)

    began = time.monotonic()
    with Listener(
        lambda stream: broker._converse(Deaf(stream)), server_context(*certificate)
    ) as listener:
        run(net, listener, ssl=client_context)
        took = time.monotonic() - began
        over.set()
    assert took < 5


# Addresses


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("kafka:9092", "kafka", 9092),
        ("127.0.0.1:1", "127.0.0.1", 1),
        ("[::1]:9092", "::1", 9092),
        ("[fe80::1%eth0]:65535", "fe80::1%eth0", 65535),
    ],
)
def test_addresses(net, text, host, port):
    assert net.split_address(text) == (host, port)
    assert net.address_text(host, port) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kafka",
        ":9092",
        "kafka:",
        "kafka:0",
        "kafka:65536",
        "kafka:x",
        "::1:9092",
        "[]:9092",
        "[::1]",
        "[kafka]:9092",
        "kafka:-1",
        "kafka:٣",
    ],
)
def test_what_is_no_address(net, text):
    with pytest.raises(ValueError, match="an address must be") as caught:
        net.split_address(text)
    assert not text or text == ":9092" or text not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "alice:wonderland@kafka:9092",
        "wonderland@kafka:9092",
        "alice:wonderland",
        "SASL_SSL://wonderland:9092",
        "wonderland land:9092",
        "wonderland\0:9092",
    ],
)
def test_an_address_with_a_password_is_rejected_without_it(net, text):
    """Such an address would be shown in every error about the connection."""
    with pytest.raises(ValueError, match="an address") as caught:
        net.split_address(text)
    assert "land" not in str(caught.value)


def test_a_loss_between_requests_is_a_network_error_of_the_next(kwire, net, messages):
    """Not a hang, and not an error of the caller; after it the connection has ended."""
    streams = []
    request = messages.MetadataRequest(topics=())

    class Closing(Broker):
        def _converse(self, stream):
            streams.append(stream)
            super()._converse(stream)

    async def main():
        async with await net.connect(HOST, broker.port) as client:
            await client.ask(request)
            streams[0].shutdown(socket.SHUT_RDWR)
            while client.is_open:
                await asyncio.sleep(0.01)
            with pytest.raises(net.NetworkError, match="closed the connection"):
                await client.ask(request)
            with pytest.raises(kwire.LocalProtocolError, match="has ended"):
                await client.ask(request)

    with Closing(make_table()) as broker:
        asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))


@pytest.mark.parametrize("has_tls", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_large_messages_pass_both_ways_on_both_loops(
    net, messages, certificate, client_context, kind, has_tls
):
    """The request waits for a broker that reads slowly; the response is one frame."""
    make_loop = asyncio.new_event_loop
    if kind == "uvloop":
        make_loop = pytest.importorskip("uvloop").new_event_loop
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
        context = client_context if has_tls else None
        async with await net.connect(HOST, broker.port, ssl=context) as client:
            return [await client.ask(sent, 12) for _ in range(2)]

    context = server_context(*certificate) if has_tls else None
    with (
        Slow(make_table(), context=context) as broker,
        asyncio.Runner(loop_factory=make_loop) as runner,
    ):
        answers = runner.run(asyncio.wait_for(main(), TIMEOUT_S))
    assert [len(answer.brokers) for answer in answers] == [len(nodes)] * 2
    assert answers[1].brokers[-1].host == nodes[-1].host
