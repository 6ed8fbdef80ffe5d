# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Operations are written once and called in two ways: awaited, or blocking."""

import asyncio
import importlib
import inspect

import pytest

from tests.client.log_broker import LogBroker
from tests.client.runners import open_sockets

OPERATIONS = ("topics", "sizes", "offsets", "request", "create_topics", "delete_topics")
OPERATIONS += ("add_partitions", "delete_records", "configs", "set_configs", "groups")
OPERATIONS += ("describe_group", "delete_groups", "group_offsets", "set_group_offsets")


@pytest.fixture
def client(kwire):
    """The module, on the engine of the test."""
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.fixture
def operations(kwire):
    """The module of the mechanism."""
    return importlib.import_module(f"{kwire.__name__}.client.runners.operations")


@pytest.mark.parametrize("name", OPERATIONS)
def test_both_forms_have_one_signature_and_docstring(client, name):
    awaited, blocking = getattr(client.Kafka, name), getattr(client.KafkaSync, name)
    assert inspect.signature(awaited) == inspect.signature(blocking)
    assert awaited.__doc__ and awaited.__doc__ == blocking.__doc__
    assert awaited.__name__ == blocking.__name__ == name
    assert inspect.iscoroutinefunction(awaited)
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
    times = {"timeout_s": 0.05, "connect_timeout_s": 0.02}
    # A port that no process listens on.
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

    async def read():
        async with client.connect("127.0.0.1:1") as kafka:
            waiting = asyncio.create_task(kafka.topics())
            await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(read(), debug=True)
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
