# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Operations are implemented once, and can be awaited or called blocking."""

import asyncio
import importlib
import inspect

import pytest

from tests.client.log_broker import LogBroker
from tests.client.runners import open_sockets
from tests.harness.loopback_brokers import Listener

CLASSES = ("Kafka", "Scan", "Producer", "Consumer", "Transaction")


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.fixture
def operations(kwire):
    """Module that implements each operation for both clients."""
    return importlib.import_module(f"{kwire.__name__}.client.runners.operations")


def be_silent(stream):
    """Accept requests without sending a response."""
    while stream.recv(1 << 16):
        pass


@pytest.mark.parametrize("name", CLASSES)
def test_both_forms_have_one_signature_and_docstring(client, name):
    awaited_class, blocking_class = (
        getattr(client, name),
        getattr(client, f"{name}Sync"),
    )
    methods = [
        method
        for method, body in inspect.getmembers(awaited_class)
        if inspect.iscoroutinefunction(body) and not method.startswith("_")
    ]
    assert methods
    for method in methods:
        awaited, blocking = (
            getattr(awaited_class, method),
            getattr(blocking_class, method),
        )
        assert inspect.signature(awaited) == inspect.signature(blocking)
        assert awaited.__doc__ and awaited.__doc__ == blocking.__doc__
        assert awaited.__name__ == blocking.__name__ == method
        assert not inspect.iscoroutinefunction(blocking)


def test_both_forms_return_the_same_result(client):
    with LogBroker({"orders": (5, 7)}) as broker:

        async def read():
            async with client.connect(broker.address) as kafka:
                return await kafka.topics(), await kafka.offsets("orders")

        with client.connect_sync(broker.address) as kafka:
            blocking = kafka.topics(), kafka.offsets("orders")
        assert blocking == asyncio.run(read(), debug=True)
    assert blocking[1] == {0: 5, 1: 7}


def test_both_forms_raise_an_error_of_the_wait_and_close_their_sockets(client):
    before = open_sockets()
    times = {"timeout_s": 5.0, "connect_timeout_s": 2.0}
    # Port without a listening process.
    address = "127.0.0.1:1"

    async def read():
        async with client.connect(address, **times) as kafka:
            await kafka.topics()

    with (
        client.connect_sync(address, **times) as kafka,
        pytest.raises(client.BrokersUnreachable) as blocking,
    ):
        kafka.topics()
    with pytest.raises(client.BrokersUnreachable) as awaited:
        asyncio.run(read(), debug=True)
    assert str(blocking.value) == str(awaited.value)
    assert open_sockets() == before


def test_a_cancelled_wait_closes_its_sockets(client):
    before = open_sockets()

    async def read(address):
        async with client.connect(address) as kafka:
            waiting = asyncio.create_task(kafka.topics())
            await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert asyncio.all_tasks() == {asyncio.current_task()}

    with Listener(be_silent) as listener:
        asyncio.run(read(listener.address), debug=True)
    assert open_sockets() == before


def test_an_interrupted_wait_closes_its_sockets(client, kwire, monkeypatch):
    blocking = importlib.import_module(f"{kwire.__name__}.client.runners.blocking")
    before = open_sockets()

    def interrupt(runner, pause_s):
        raise KeyboardInterrupt

    monkeypatch.setattr(blocking.BlockingRunner, "_take_ready", interrupt)
    with (
        client.connect_sync("127.0.0.1:1") as kafka,
        pytest.raises(KeyboardInterrupt),
    ):
        kafka.topics()
    assert open_sockets() == before


def test_a_blocking_call_of_a_body_that_suspends_raises(operations):
    with pytest.raises(RuntimeError, match="waits for an event loop"):
        operations.run_blocking(asyncio.sleep(0))
