# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``connector=`` and ``address_map=`` control how brokers are reached."""

import asyncio
import importlib
import socket
import ssl
import time
import traceback

import pytest

from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS, open_sockets, read
from tests.harness.loopback_brokers import make_certificate, server_context

RECORDS = 30
ADVERTISED = ("localhost", 19092)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Certificate and key of "localhost", as paths."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(params=["plaintext", "tls"])
def broker(request, certificate):
    """Broker that listens on ``place`` and advertises an unreachable address."""
    context = server_context(*certificate) if request.param == "tls" else None
    with LogBroker({"orders": (RECORDS,)}, context=context) as running:
        running.arguments = {}
        if context is not None:
            trusted = ssl.create_default_context(cafile=certificate[0])
            running.arguments = {"ssl": trusted}
        running.place = running.host, running.port
        # Address in later metadata responses.
        running.host, running.port = ADVERTISED
        yield running


def open_socket(address):
    """Return a connector that connects to ``address``, and the list of its calls.

    A call is (host, port, timeout in seconds).
    """
    calls = []

    def connect(host, port, timeout):
        calls.append((host, port, timeout))
        return socket.create_connection(address, timeout)

    return connect, calls


def wait_for_sockets(count):
    """Wait until at most ``count`` sockets are open.

    The threads of the broker close its sockets slightly later.
    """
    deadline = time.monotonic() + 10
    while open_sockets() > count and time.monotonic() < deadline:
        time.sleep(0.01)
    assert open_sockets() <= count


def read_all(kwire, runner, broker, **connect):
    """Read the topic through the advertised address, and return the next offset."""
    arguments = {**broker.arguments, **connect}
    address = f"{ADVERTISED[0]}:{ADVERTISED[1]}"
    chunks = read(kwire, runner, address, "orders", connect=arguments)
    return chunks[-1].next_offset


@pytest.mark.parametrize("runner", RUNNERS)
def test_connector_opens_every_connection(kwire, runner, broker):
    connect, calls = open_socket(broker.place)
    before = open_sockets()
    read_offset = read_all(
        kwire, runner, broker, connector=connect, connect_timeout_s=7.0
    )
    assert read_offset == RECORDS
    assert {call[:2] for call in calls} == {ADVERTISED}
    assert {call[2] for call in calls} == {7.0}
    wait_for_sockets(before)


def test_awaited_socket_of_connector_is_used(kwire, broker):
    async def connect(host, port, timeout):
        new = socket.socket()
        new.setblocking(False)
        await asyncio.get_running_loop().sock_connect(new, broker.place)
        return new

    assert read_all(kwire, "asyncio", broker, connector=connect) == RECORDS


def test_awaited_transport_of_connector_is_used(kwire, broker):
    async def connect(host, port, timeout):
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(asyncio.Protocol, *broker.place)
        return transport

    before = open_sockets()
    assert read_all(kwire, "asyncio", broker, connector=connect) == RECORDS
    wait_for_sockets(before)


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("kind", ["mapping", "function"])
def test_address_map_leads_to_the_reachable_address(kwire, runner, broker, kind):
    address_map = {ADVERTISED: broker.place}
    if kind == "function":

        def address_map(host, port):
            return {ADVERTISED: broker.place}[host, port]

    assert read_all(kwire, runner, broker, address_map=address_map) == RECORDS


@pytest.mark.parametrize("runner", RUNNERS)
def test_connector_receives_the_mapped_address(kwire, runner, broker):
    connect, calls = open_socket(broker.place)
    read_all(
        kwire,
        runner,
        broker,
        connector=connect,
        address_map={ADVERTISED: ("inside", 5)},
    )
    assert {call[:2] for call in calls} == {("inside", 5)}


@pytest.mark.parametrize("runner", RUNNERS)
def test_tls_checks_the_advertised_name_instead_of_the_mapped_one(
    kwire, runner, certificate
):
    """The certificate is valid for "localhost", but not for the advertised name."""
    trusted = ssl.create_default_context(cafile=certificate[0])
    client = importlib.import_module(f"{kwire.__name__}.client")
    with LogBroker({"orders": (1,)}, context=server_context(*certificate)) as broker:
        connect = {
            "ssl": trusted,
            "address_map": lambda host, port: ("localhost", broker.port),
        }
        with pytest.raises(client.BrokersUnreachable, match="Hostname mismatch"):
            read(kwire, runner, "kafka.example:1", "orders", connect=connect)


class Refusing(Exception):
    """Proxy library error that contains the proxy password."""


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("argument", ["connector", "address_map"])
@pytest.mark.parametrize("error", [Refusing("wonderland"), OSError("wonderland")])
def test_error_of_a_users_function_does_not_show_its_message(
    kwire, runner, argument, error
):
    def fail(*_):
        raise error

    client = importlib.import_module(f"{kwire.__name__}.client")
    with pytest.raises(client.BrokersUnreachable) as caught:
        read(kwire, runner, "b:1", "orders", connect={argument: fail})
    text = "".join(traceback.format_exception(caught.value))
    assert f"raised {type(error).__name__}" in text
    assert "wonderland" not in text


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize(
    ("connect", "text"),
    [
        ({"connector": lambda *_: None}, r"connected socket.socket .*got NoneType"),
        ({"connector": lambda *_: "wonderland"}, r"\(got str\)"),
        ({"address_map": lambda *_: "wonderland"}, r"port number \(got str\)"),
        ({"address_map": lambda *_: ("b", 0)}, r"port number \(got tuple\)"),
    ],
)
def test_wrong_result_of_a_users_function_is_an_error(kwire, runner, connect, text):
    client = importlib.import_module(f"{kwire.__name__}.client")
    with pytest.raises(client.BrokersUnreachable, match=text) as caught:
        read(kwire, runner, "b:1", "orders", connect=connect)
    assert "wonderland" not in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"connector": "socks5://alice:wonderland@b:1"},
        {"address_map": "wonderland"},
        {"address_map": [("wonderland", 1)]},
        {"address_map": {"wonderland": ("b", 1)}},
        {"address_map": {("b", 1): "wonderland"}},
        {"address_map": {("b", 1): ("c", 70_000)}},
    ],
)
def test_wrong_argument_is_a_type_error_without_its_value(kwire, arguments):
    client = importlib.import_module(f"{kwire.__name__}.client")
    for connect in (client.connect, client.connect_sync):
        with pytest.raises(TypeError, match=r"^(connector|address_map) must") as caught:
            connect("b:1", **arguments)
        assert "wonderland" not in str(caught.value)


@pytest.mark.parametrize("runner", RUNNERS)
def test_address_that_does_not_answer_does_not_hide_the_next_one(
    kwire, runner, monkeypatch
):
    """All addresses of a host name share the connection timeout."""
    with LogBroker({"orders": (RECORDS,)}) as broker, socket.socket() as silent:
        # A listening socket that does not accept has a full queue after one connection.
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(silent.getsockname())
        real = socket.getaddrinfo

        def resolve(host, port, *args, **kwargs):
            if host != "kafka.example":
                return real(host, port, *args, **kwargs)
            kind = socket.AF_INET, socket.SOCK_STREAM, 6, ""
            socket_addresses = silent.getsockname(), (broker.host, broker.port)
            return [(*kind, socket_address) for socket_address in socket_addresses]

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        connect = {"connect_timeout_s": 1.0}
        chunks = read(kwire, runner, "kafka.example:9092", "orders", connect=connect)
        assert chunks[-1].next_offset == RECORDS
        for filler in fillers:
            filler.close()
