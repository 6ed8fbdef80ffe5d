# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire.client.net`` in rare states: every option has its effect.

The usual ways and the faults are ``test_net.py`` and ``test_net_sasl.py``; the
exchanges of SCRAM are ``test_sasl.py``.
"""

import asyncio
import ssl

import pytest

from kwire.connection.negotiation import ApiVersionTable
from tests.harness.loopback_brokers import (
    HOST,
    TIMEOUT_S,
    Broker,
    Listener,
    make_certificate,
    server_context,
)


@pytest.fixture
def exchange(sasl, monkeypatch):
    """An exchange whose nonce is known; the client has spoken."""
    monkeypatch.setattr(sasl, "_new_nonce", lambda: "abc")
    exchange = sasl.Scram("user", "pencil", max_iterations=5000)
    exchange.first()
    return exchange


def table(release="2.8"):
    return ApiVersionTable.of_release(release)


def run(main):
    """Run to the end, which comes in time."""
    return asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))


def test_options_of_the_connection_arrive(net, kwire):
    """The limit, the policy and the client's name."""
    seen = []

    def script(stream):
        seen.append(stream.recv(1 << 16))

    async def main():
        policy = kwire.connection.negotiation.VersionPolicy({3: "0-5"})
        async with await net.connect(HOST, broker.port, policy=policy) as client:
            assert client.table.pick(3) == 5
        limits = kwire.Limits(frame_bytes=20)
        with pytest.raises(net.NetworkError, match="over the limit of 20"):
            await net.connect(HOST, broker.port, limits=limits)
        with pytest.raises(net.NetworkError):
            await net.connect(HOST, listener.port, client_id="me")

    with Broker(table()) as broker, Listener(script) as listener:
        run(main)
    assert seen[0][12:16] == b"\0\2me"


def test_constraints_reach_the_choice(net, kwire):
    async def main():
        only_old = kwire.connection.negotiation.Constraint("only old", {3: "0-4"})
        async with await net.connect(HOST, broker.port) as client:
            request = kwire.messages.MetadataRequest(topics=())
            await client.ask(request, constraints=(only_old,))

    with Broker(table()) as broker:
        run(main)
    assert broker.requests == [("MetadataRequest", 4)]


def test_tokens_of_sasl_are_not_for_asking(net, kwire):
    """As the handshake is not."""

    async def main():
        async with await net.connect(HOST, broker.port) as client:
            with pytest.raises(kwire.LocalProtocolError, match=r"connect\(sasl="):
                await client.ask(kwire.messages.SaslAuthenticateRequest())

    with Broker(table()) as broker:
        run(main)


def test_produce_without_acks_is_on_its_way_at_once(net, kwire):
    """And not with the next question, which may never come."""

    async def main():
        async with await net.connect(HOST, broker.port) as client:
            await client.ask(kwire.messages.ProduceRequest(acks=0))
            while not broker.requests:
                await asyncio.sleep(0.01)

    with Broker(table()) as broker:
        run(main)
    assert [name for name, _ in broker.requests] == ["ProduceRequest"]


def test_a_broker_that_answered_once_is_not_said_to_want_sasl(net, kwire):
    """Whatever makes it hang up later, it is not that."""
    answered = Broker(table())
    answered._server.close()

    def script(stream):
        first = answered._MetadataRequest

        def only_once():
            answered._MetadataRequest = gone
            return first()

        def gone():
            raise OSError("it hangs up")

        answered._MetadataRequest = only_once
        answered._converse(stream)

    async def main():
        async with await net.connect(HOST, listener.port) as client:
            request = kwire.messages.MetadataRequest(topics=())
            await client.ask(request)
            with pytest.raises(net.NetworkError, match="closed the conn") as caught:
                await client.ask(request)
            assert "SASL" not in str(caught.value)

    with Listener(script) as listener:
        answered.cluster = []
        run(main)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        # The client's nonce comes after the server's.
        ("r=xyzabc1,s=c2FsdA==,i=4096", "does not continue the client's"),
        # Digits, and 4096 in Arabic, but not those of RFC 5802.
        ("r=abcxyz,s=c2FsdA==,i=٤٠٩٦", "from 4096 to 5000"),
        ("r=abcxyz,s=c2FsdA==,i=5001", "from 4096 to 5000"),
        ("rr=1,r=abcxyz,s=c2FsdA==,i=4096", "a name twice"),
    ],
)
def test_what_almost_looks_like_scram_is_refused(sasl, exchange, said, words):
    with pytest.raises(sasl.SaslError, match=words):
        exchange.challenge(said.encode())


def test_the_ceiling_of_iterations_is_allowed_itself(exchange):
    said = b"r=abcxyz,s=c2FsdA==,i=5000"
    assert exchange.challenge(said).startswith(b"c=biws,r=abcxyz,p=")


class BrokenTransport:
    """A transport whose peer hangs up when it is written to."""

    def __init__(self, link, sent, error):
        self.link, self.sent, self.error = link, sent, error

    def abort(self):
        pass

    def get_extra_info(self, name):
        return None

    def write(self, data):
        if self.sent:
            self.link.get_buffer(-1)[: len(self.sent)] = self.sent
            self.link.buffer_updated(len(self.sent))
        self.link.connection_lost(self.error)


def ask_broken(net, kwire, sent, error):
    """Ask over a transport that breaks, after the peer has sent something."""

    async def main():
        offered = kwire.connection.negotiation.ApiVersionTable.from_ranges({3: "8"})
        connection = kwire.connection.ClientConnection(table=offered)
        link = net._Link(connection)
        link.connection_made(BrokenTransport(link, sent, error))
        broker = net.Broker("b:1", connection, link, TIMEOUT_S)
        return await broker.ask(kwire.messages.MetadataRequest(topics=()))

    return run(main)


def test_what_was_said_before_hanging_up_is_read(net, kwire):
    response = kwire.messages.MetadataResponse(cluster_id="c")
    sent = kwire.messages.framing.encode_response(response, 8, 0)
    assert ask_broken(net, kwire, sent, ConnectionResetError()) == response


def test_losses_name_the_address_and_the_reason(net, kwire):
    """Of TLS in plain words, of the network in the system's."""
    refused = ssl.SSLError(1, "long story")
    refused.reason = "CERTIFICATE_REQUIRED"
    for error, words in (
        (refused, "b:1: the TLS handshake failed: certificate required"),
        (OSError(113, "no route"), "b:1: [Errno 113] no route"),
        # The system's own patience has ended, not that of this client.
        (TimeoutError(110, "timed out"), "b:1: [Errno 110] timed out"),
    ):
        with pytest.raises(net.NetworkError) as caught:
            ask_broken(net, kwire, b"", error)
        assert str(caught.value) == words


def test_hanging_up_once_tls_has_begun_is_told_as_that(net, tmp_path):
    files = make_certificate(tmp_path)

    async def main():
        context = ssl.create_default_context(cafile=files[0])
        with pytest.raises(net.NetworkError, match="after the TLS handshake"):
            await net.connect(HOST, listener.port, ssl=context)

    with Listener(lambda stream: stream.recv(1), server_context(*files)) as listener:
        run(main)


def test_a_refused_mechanism_is_not_asked_for_its_first_bytes(net):
    """They may hold the password."""

    class Unasked:
        mechanism = "OTHER"

        def first(self):
            raise AssertionError("asked all the same")

    async def main():
        with pytest.raises(net.AuthenticationFailed, match="offers PLAIN"):
            await net.connect(HOST, broker.port, sasl=Unasked())

    with Broker(table(), users={"ann": "x"}) as broker:
        run(main)


def test_a_password_that_was_taken_is_not_blamed_later(net, sasl, kwire):
    """When the broker hangs up on the first question after SASL."""

    async def main():
        plain = sasl.Plain("ann", "x")
        async with await net.connect(HOST, broker.port, sasl=plain) as client:
            with pytest.raises(net.NetworkError, match="closed the conn") as caught:
                await client.ask(kwire.messages.MetadataRequest(topics=()))
            assert "password" not in str(caught.value)

    def gone():
        raise OSError("it hangs up")

    with Broker(table(), users={"ann": "x"}) as broker:
        broker._MetadataRequest = gone
        run(main)


def test_a_broken_frame_within_sasl_is_no_matter_of_the_password(net, sasl):
    """The user would look for the wrong mistake."""

    async def main():
        plain = sasl.Plain("ann", "x")
        with pytest.raises(net.NetworkError, match="correlation id 99") as caught:
            await net.connect(HOST, listener.port, sasl=plain)
        assert not isinstance(caught.value, net.AuthenticationFailed)

    def script(stream):
        broker = Broker(table(), users={"ann": "x"})
        broker._server.close()

        class Foreign:
            def answer(self, token):
                stream.sendall(bytes.fromhex("00000008 00000063 00000000"))
                raise OSError("it hangs up")

        agree = broker._handshake
        broker._handshake = lambda *told: agree(*told) and Foreign()
        broker._converse(stream)

    with Listener(script) as listener:
        run(main)


@pytest.mark.parametrize("port", [-5, 1 << 16, 1 << 40])
def test_a_port_that_none_can_have_is_no_address(net, port):
    """Brokers may tell of such ports."""
    with pytest.raises(net.NetworkError, match="not an address"):
        asyncio.run(net.connect(HOST, port))


def no_tls():
    """Make the error of TLS over bytes that are none."""
    error = ssl.SSLError(1, "long story")
    error.reason = "WRONG_VERSION_NUMBER"
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionResetError(104, ""), "connection reset by peer"),
        (OSError("Multiple exceptions: ..."), "no address of the host accepts a"),
        (no_tls(), "it does not speak TLS on this port"),
    ],
)
def test_why_there_is_no_connection(net, monkeypatch, error, words):
    """Without TLS nothing is said of it; a name of several addresses has no errno."""

    async def refuse(*address, **options):
        raise error

    loop = net.asyncio.base_events.BaseEventLoop
    monkeypatch.setattr(loop, "create_connection", refuse)
    with pytest.raises(net.NetworkError) as caught:
        asyncio.run(net.connect(HOST, 9092))
    assert str(caught.value).startswith(f"{HOST}:9092: {words}")


def test_a_refusal_without_words_is_named_by_its_error(net, sasl):
    async def main():
        plain = sasl.Plain("ann", "x")
        words = "rejects PLAIN: UNSUPPORTED_SASL_MECHANISM"
        with pytest.raises(net.AuthenticationFailed, match=words):
            await net.connect(HOST, broker.port, sasl=plain)

    with Broker(table(), users={"ann": "x"}, mechanisms=()) as broker:
        run(main)
