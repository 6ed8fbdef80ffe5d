# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Scans, consumers and producers push their metrics when they close (KIP-714).

``machines/test_telemetry.py`` tests the state machine.
"""

import asyncio
import importlib
import threading
import time
from types import SimpleNamespace

import pytest

from tests.client.log_broker import LogBroker
from tests.client.machines.telemetry_answers import Receiver
from tests.client.runners import RUNNERS

LONGEST_S = 20.0
MAX_DELAY_S = 1.0
NAMES = {
    "scan": b"org.apache.kafka.consumer.fetch.manager.bytes.consumed.total",
    "consumer": b"org.apache.kafka.consumer.fetch.manager.bytes.consumed.total",
    "producer": b"org.apache.kafka.producer.record.send.total",
}


@pytest.fixture
def broker():
    """Broker that subscribes to metrics, with the first push in the distant future."""
    with LogBroker({"orders": [10]}) as broker:
        truth = broker.cluster_truth
        truth.add_group("etl", ["orders"])
        truth.coordinator(0, "etl")
        truth.world = SimpleNamespace(now=0.0)
        truth.receiver = Receiver(push_interval_ms=3_600_000)
        broker.node.become("3.9")
        broker.table = broker.node.table
        yield broker


async def use(kafka, kind, broker):
    """Send or read records until the broker has sent a metrics subscription (KIP-714).

    ``kind`` is the object to create: "producer", "consumer" or "scan". Returns the
    object, which the caller must close.
    """
    if kind == "producer":
        client_object = kafka.producer()
    elif kind == "consumer":
        client_object = kafka.consumer("orders", group_id="etl", partitions="all")
    else:
        client_object = kafka.scan("orders", follow=True)
    deadline = time.monotonic() + LONGEST_S
    while not broker.cluster_truth.receiver.subscriptions:
        assert time.monotonic() < deadline, "no broker was asked for a subscription"
        if kind == "producer":
            await call(client_object.send_many, "orders", [(b"k", b"v")])
        else:
            broker.log("orders").append(3)
            step = (
                client_object.__anext__
                if hasattr(client_object, "__anext__")
                else client_object.__next__
            )
            await call(step)
    # The broker has sent the subscription. Wait until the client has received it.
    time.sleep(0.1)
    return client_object


async def call(method, *arguments):
    """Call a blocking method, or await an asyncio method."""
    result = method(*arguments)
    return await result if hasattr(result, "__await__") else result


async def close(client_object):
    """Close an object, and return the elapsed time in seconds."""
    begun = time.monotonic()
    await call(client_object.close)
    return time.monotonic() - begun


def use_and_close(kwire, runner, broker, kind):
    """Use and close an object. Returns how long ``close`` took, in seconds."""
    client = importlib.import_module(f"{kwire.__name__}.client")

    async def run_asyncio():
        async with client.connect(broker.address) as kafka:
            return await close(await use(kafka, kind, broker))

    async def run_blocking():
        with client.connect_sync(broker.address) as kafka:
            return await close(await use(kafka, kind, broker))

    return asyncio.run(run_asyncio() if runner == "asyncio" else run_blocking())


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("runner", RUNNERS)
def test_close_pushes_the_metrics_for_the_last_time(kwire, broker, runner, kind):
    delay_s = use_and_close(kwire, runner, broker, kind)
    (push,) = broker.cluster_truth.receiver.pushes
    assert push.request.terminating
    assert NAMES[kind] in bytes(push.request.metrics)
    assert (b"group_id" in bytes(push.request.metrics)) is (kind == "consumer")
    assert delay_s < MAX_DELAY_S


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_broker_that_does_not_answer_delays_close_by_a_second(
    kwire, broker, runner, kind
):
    is_over = threading.Event()
    broker.cluster_truth.receiver.find_error = lambda *_: is_over.wait(LONGEST_S)
    try:
        delay_s = use_and_close(kwire, runner, broker, kind)
    finally:
        is_over.set()
    assert MAX_DELAY_S * 0.9 < delay_s < MAX_DELAY_S * 2
