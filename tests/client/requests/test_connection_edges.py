# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Single requests in rare states: options have an effect, and losses a reason."""

import asyncio
import importlib
import ssl

import pytest

from kwire.connection import RequestReceived, ServerConnection
from kwire.messages import MetadataResponse
from tests.client.requests.request_calls import (
    QUICKLY,
    catch_failure,
    make_table,
    send,
    use_client,
)
from tests.harness.loopback_brokers import HOST, TIMEOUT_S, Broker, Listener


@pytest.fixture
def request_(messages):
    """Request for the brokers of the cluster."""
    return messages.MetadataRequest(topics=())


def test_options_of_the_connection_arrive(client, runner, kwire, request_):
    """The frame limit, the version policy and the client id have an effect."""
    seen = []

    def script(stream):
        seen.append(stream.recv(1 << 16))

    policy = kwire.connection.negotiation.VersionPolicy({3: "0-5"})
    with Broker(make_table("2.8")) as broker, Listener(script) as listener:
        send(client, runner, broker, request_, policy=policy)
        limits = kwire.Limits(frame_bytes=20)
        error = catch_failure(client, runner, broker, request_, limits=limits)
        assert "over the limit of 20" in str(error)
        catch_failure(client, runner, listener, request_, client_id="me")
    assert broker.requests == [("MetadataRequest", 5)]
    assert seen[0][12:16] == b"\0\2me"


@pytest.mark.parametrize("name", ["policy", "registry"])
def test_options_of_another_type_are_rejected(client, runner, name):
    make = client.connect_sync if runner == "blocking" else client.connect
    with pytest.raises(TypeError, match=rf"{name} must be an? \w+ \(got dict\)"):
        make(f"{HOST}:1", **{name: {3: "0-5"}})


def test_a_broker_that_answered_once_does_not_require_sasl(
    client, runner, messages, request_
):
    """A broker that has responded and closes the connection later does not need SASL.

    The error must not suggest it.
    """

    class Closing(Broker):
        def _ListGroupsRequest(self):
            raise OSError("it closes the connection")

    with Closing(make_table()) as broker:
        request = messages.ListGroupsRequest()
        error = catch_failure(client, runner, broker, request, timeout_s=1.0)
    assert "closed the connection" in str(error)
    assert "SASL" not in str(error)


class BrokenTransport(asyncio.Transport):
    """Transport that loses the connection when the broker should respond.

    * ``response``: bytes that the broker sends before, or None.
    * ``error``: exception that the transport reports.
    """

    def __init__(self, response, error):
        super().__init__()
        self.response, self.error = response, error
        self.server = ServerConnection(make_table("2.8"))
        self.protocol = None
        self.is_lost = False

    def set_protocol(self, protocol):
        self.protocol = protocol

    def write(self, data):
        asyncio.get_running_loop().call_soon(self.answer, data)

    def answer(self, data):
        has_request = False
        for event in self.server.receive_data(data):
            if isinstance(event, RequestReceived):
                has_request = True
                if self.response is not None:
                    self.server.send(event, self.response)
        if sent := self.server.data_to_send():
            self.protocol.get_buffer(-1)[: len(sent)] = sent
            self.protocol.buffer_updated(len(sent))
        if has_request:
            self.lose(self.error)

    def lose(self, error):
        if not self.is_lost:
            self.is_lost = True
            self.protocol.connection_lost(error)

    def abort(self):
        self.lose(None)

    close = abort

    def is_closing(self):
        return self.is_lost

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


def ask_broken(client, request, response, error):
    """Send a request over a ``BrokenTransport`` with these arguments."""

    async def main():
        async with client.connect(
            "b:1",
            connector=lambda *address: BrokenTransport(response, error),
            timeout_s=0.5,
        ) as kafka:
            return await kafka.request(request)

    return asyncio.run(asyncio.wait_for(main(), TIMEOUT_S))


def test_a_response_before_a_loss_is_returned(client, request_):
    response = MetadataResponse(cluster_id="c")
    answer = ask_broken(client, request_, response, ConnectionResetError())
    assert answer.cluster_id == "c"


def test_losses_name_the_address_and_the_reason(client, request_):
    """After the address, the error describes the TLS or network problem in words."""
    refused = ssl.SSLError(1, "long story")
    refused.reason = "CERTIFICATE_REQUIRED"
    for error, words in (
        (refused, "b:1: the TLS handshake failed: certificate required"),
        (OSError(113, "no route"), "b:1: no route to host"),
        # The operating system's timeout has expired, not the client's.
        (TimeoutError(110, "timed out"), "b:1: connection timed out"),
    ):
        with pytest.raises(client.BrokersUnreachable) as caught:
            ask_broken(client, request_, None, error)
        assert str(caught.value).startswith(words)


def test_rejected_mechanism_does_not_create_its_first_token(client, runner):
    """The first token may contain the password, so that it must not be created."""

    class Unasked:
        mechanism = "OTHER"

        def first(self):
            raise AssertionError("it was asked")

        def challenge(self, data):
            raise AssertionError("it was asked")

    with (
        Broker(make_table("2.8"), users={"ann": "x"}) as broker,
        pytest.raises(client.AuthenticationFailed, match="offers PLAIN"),
    ):
        send(client, runner, broker, sasl=Unasked())


def test_an_accepted_password_is_not_blamed_later(client, runner, sasl, request_):
    """The broker closes the connection after it has accepted the password.

    The error must therefore not suggest that the password is wrong.
    """

    def gone():
        raise OSError("it closes the connection")

    with Broker(make_table("2.8"), users={"ann": "x"}) as broker:
        broker._MetadataRequest = gone
        plain = sasl.Plain("ann", "x")
        error = catch_failure(client, runner, broker, request_, sasl=plain, **QUICKLY)
    assert "closed the connection" in str(error)
    assert "password" not in str(error)


def test_invalid_frame_during_sasl_is_not_reported_as_a_wrong_password(
    client, runner, sasl
):
    """The error is about the frame. A wrong password would be a misleading reason."""

    def script(stream):
        broker = Broker(make_table("2.8"), users={"ann": "x"})
        broker._server.close()

        class Foreign:
            def answer(self, token):
                stream.sendall(bytes.fromhex("00000008 00000063 00000000"))
                raise OSError("it closes the connection")

        agree = broker._handshake
        broker._handshake = lambda *arguments: agree(*arguments) and Foreign()
        broker._converse(stream)

    with Listener(script) as listener:
        error = catch_failure(client, runner, listener, sasl=sasl.Plain("ann", "x"))
    assert "correlation id 99" in str(error)
    assert not isinstance(error, client.AuthenticationFailed)


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("a" * 300, 9092),
        ("a..b", 9092),
        ("\0", 9092),
        (HOST, -5),
        (HOST, 1 << 16),
        (HOST, 99999),
    ],
)
def test_an_impossible_address_of_a_broker_is_its_error(client, runner, host, port):
    """The error belongs to this broker, because Metadata may contain any address."""

    class Impossible:
        node_id, rack = 2, None

    Impossible.host, Impossible.port = host, port
    with Broker(make_table()) as broker:
        broker.cluster = [broker, Impossible]
        versions = send(client, runner, broker, **QUICKLY)
    assert versions[1].table is not None
    assert versions[2].table is None
    assert versions[2].error.isprintable()
    assert versions[2].error.startswith(f"{versions[2].address}: ")


def make_other_protocol_error():
    """Return the error that TLS raises if the bytes are not TLS."""
    error = ssl.SSLError(1, "long story")
    error.reason = "WRONG_VERSION_NUMBER"
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionResetError(104, ""), "connection reset by peer"),
        (OSError("Multiple exceptions: ..."), "no address of the host accepts a"),
        (make_other_protocol_error(), "it does not speak TLS on this port"),
    ],
)
def test_failed_connection_attempts_have_a_reason(
    kwire, client, runner, monkeypatch, error, words
):
    """The error has a reason even if the exception has no errno.

    asyncio raises such an exception if a host name has several addresses.
    """
    network = importlib.import_module(f"{kwire.__name__}.client.runners.network")

    async def refuse_later(*arguments):
        raise error

    def refuse(*arguments):
        raise error

    monkeypatch.setattr(network.Network, "open_transport", refuse_later)
    monkeypatch.setattr(network.Network, "find_addresses", refuse)
    with pytest.raises(client.BrokersUnreachable) as caught:
        use_client(client, runner, f"{HOST}:9092", lambda call: call("broker_versions"))
    assert str(caught.value).startswith(f"{HOST}:9092: {words}")


def test_a_refusal_without_words_is_named_by_its_error(client, runner, sasl):
    with Broker(make_table("2.8"), users={"ann": "x"}, mechanisms=()) as broker:
        error = catch_failure(client, runner, broker, sasl=sasl.Plain("ann", "x"))
    assert isinstance(error, client.AuthenticationFailed)
    assert "rejects PLAIN: UNSUPPORTED_SASL_MECHANISM" in str(error)
