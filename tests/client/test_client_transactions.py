# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Transactions over both runners, with librdkafka's mock cluster.

The mock cluster writes no transaction markers, so that ``tests/client/machines``
simulates what readers see. These tests cover the blocks and rejected calls.
"""

import asyncio
import importlib
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from confluent_kafka import Producer

TIMEOUT_S = 30
COPIED = "copied"
"""Topic whose records are read in a group."""


@pytest.fixture(scope="module")
def address():
    """Addresses in librdkafka's mock cluster with three brokers."""
    handle = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 3})
    brokers = handle.list_topics(timeout=TIMEOUT_S).brokers.values()
    for name in ("orders", COPIED):
        handle.list_topics(name, timeout=TIMEOUT_S)
    yield ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    del handle


class Awaitable:
    """Blocking producer or its transaction, with methods that can be awaited."""

    def __init__(self, wrapped):
        """Wrap a producer or a transaction."""
        self.wrapped = wrapped

    def __getattr__(self, name):
        """Return a coroutine function for a method."""

        async def call(*arguments, **options):
            return getattr(self.wrapped, name)(*arguments, **options)

        return call

    @asynccontextmanager
    async def transaction(self):
        """Asynchronous context manager for a transaction of the blocking producer."""
        with self.wrapped.transaction() as transaction:
            yield Awaitable(transaction)


@pytest.fixture(params=["blocking", "asyncio"])
def produce(request, kwire, address):
    """Function that passes a transactional producer to a coroutine function.

    It returns the result of the coroutine function.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")

    @asynccontextmanager
    async def open_producer(options):
        if request.param == "blocking":
            with (
                client.connect_sync(address) as kafka,
                kafka.producer(**options) as producer,
            ):
                yield Awaitable(producer)
        else:
            async with (
                client.connect(address) as kafka,
                kafka.producer(**options) as producer,
            ):
                yield producer

    def run(function, **options):
        async def main():
            named = {"delivery_timeout_s": TIMEOUT_S, **options}
            named["transactional_id"] = f"id-{uuid4().hex[:8]}"
            async with open_producer(named) as producer:
                return await function(producer)

        return asyncio.run(main(), debug=True)

    return run


def test_a_transaction_is_committed_at_the_end_of_its_block(produce):
    """Contains rows, single records and offsets. Another transaction follows."""

    async def write(producer):
        for number in range(3):
            async with producer.transaction() as transaction:
                receipts = await producer.send_many("orders", [(b"k", b"v")])
                await producer.send("orders", key=b"k", value=b"v")
                await transaction.send_offsets("readers", {("orders", 0): number})
            assert len(receipts) == 1
        async with producer.transaction():
            pass

    produce(write)


def test_an_exception_aborts_a_transaction(produce):
    """The block raises the exception unchanged, and the producer remains usable."""

    async def write(producer):
        with pytest.raises(KeyError):
            async with producer.transaction():
                await producer.send("orders", key=b"k", value=b"v")
                raise KeyError
        async with producer.transaction():
            await producer.send_many("orders", [(b"k", b"v")])

    produce(write)


def test_records_outside_of_a_transaction_are_refused(produce):
    """Records are rejected before the first transaction and between transactions."""

    async def write(producer):
        for _ in range(2):
            with pytest.raises(ValueError, match="belong to transactions"):
                await producer.send_many("orders", [(b"k", b"v")])
            with pytest.raises(ValueError, match="belong to transactions"):
                await producer.send("orders", value=b"v")
            async with producer.transaction():
                await producer.send("orders", value=b"v")

    produce(write)


def test_a_transaction_within_another_is_refused(produce):
    """The outer transaction can still be committed."""

    async def write(producer):
        async with producer.transaction():
            await producer.send_many("orders", [(b"k", b"v")])
            with pytest.raises(ValueError, match="has an open transaction"):
                async with producer.transaction():
                    pass

    produce(write)


def test_a_transaction_is_entered_once(produce):
    """After the end of the block, the transaction does not accept offsets."""

    async def write(producer):
        manager = producer.transaction()
        async with manager as transaction:
            pass
        with pytest.raises(ValueError, match="within the block"):
            await transaction.send_offsets("readers", {("in", 0): 1})

    produce(write)


@pytest.mark.parametrize(
    ("group", "offsets", "text"),
    [
        ("", {("in", 0): 1}, "group must be a name, a consumer, or the"),
        ("g", {"in": 1}, r"offsets must be \{\(topic, partition\): offset\}"),
        ("g", {("in", 0): -1}, "offsets must be"),
        ("g", [("in", 0)], "chunks require the consumer"),
        ("g", {("in", "0"): 1}, "offsets must be"),
    ],
)
def test_invalid_offsets_are_rejected_by_send_offsets(produce, group, offsets, text):
    """Nothing is sent, and the transaction can be committed."""

    async def write(producer):
        async with producer.transaction() as transaction:
            with pytest.raises(ValueError, match=text):
                await transaction.send_offsets(group, offsets)
            await transaction.send_offsets("readers", {})

    produce(write)


def test_chunks_of_a_consumer_are_committed_in_a_transaction(kwire, address):
    """Lost chunks, chunks from a scan, and other objects are rejected."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    lost = importlib.import_module(f"{kwire.__name__}.client.machines").PartitionLost
    name = f"copier-{uuid4().hex[:8]}"
    with client.connect_sync(address) as kafka:
        with kafka.producer() as plain:
            plain.send_many(COPIED, [(b"k", b"v")] * 10)
        with (
            kafka.producer(transactional_id=name) as producer,
            kafka.consumer(COPIED, group_id=name) as consumer,
        ):
            chunk = consumer.poll(TIMEOUT_S)
            with producer.transaction() as transaction:
                transaction.send_offsets(consumer, chunk)
                transaction.send_offsets(consumer, [chunk, chunk])
                with pytest.raises(ValueError, match="offsets must be chunks"):
                    transaction.send_offsets(consumer, {("in", 0): 1})
                scan = kafka.scan(COPIED)
                scanned = next(scan)
                with pytest.raises(ValueError, match="chunk must be one of this"):
                    transaction.send_offsets(consumer, scanned)
            consumer._machine._lose_all()
            with pytest.raises(lost), producer.transaction() as transaction:
                transaction.send_offsets(consumer, chunk)
        with (
            kafka.producer(transactional_id=name) as producer,
            pytest.raises(ValueError, match="the consumer is closed"),
            producer.transaction() as transaction,
        ):
            transaction.send_offsets(consumer, chunk)


def test_chunks_are_committed_in_a_transaction_over_asyncio(kwire, address):
    """Chunks are committed in a transaction of the asyncio producer.

    Without chunks, there are no offsets. The blocking producer behaves equally.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")
    name = f"copier-{uuid4().hex[:8]}"

    async def copy():
        async with (
            client.connect(address) as kafka,
            kafka.producer(transactional_id=name) as producer,
            kafka.consumer(COPIED, group_id=name) as consumer,
        ):
            async with producer.transaction() as transaction:
                await producer.send_many(COPIED, [(b"k", b"v")] * 10)
                await transaction.send_offsets(consumer, [])
            chunk = await consumer.poll(TIMEOUT_S)
            async with producer.transaction() as transaction:
                await transaction.send_offsets(consumer, chunk)

    asyncio.run(copy(), debug=True)


def test_a_producer_without_an_id_has_no_transactions(kwire):
    """The error contains the required option."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    kafka = client.connect_sync("127.0.0.1:1")
    with pytest.raises(ValueError, match="requires a transactional_id"):
        kafka.producer().transaction()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"transactional_id": ""}, "transactional_id must be a name"),
        ({"transactional_id": 7}, "transactional_id must be a name"),
        ({"transactional_id": "a", "acks": 1}, 'transactional_id requires acks="all"'),
        ({"transactional_id": "a", "idempotent": False}, "and idempotent=True"),
        ({"transaction_timeout_s": 0}, "transaction_timeout_s must be more than 0"),
    ],
)
def test_invalid_transaction_options_are_rejected(kwire, options, text):
    """The error is raised before a request is sent."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with pytest.raises(ValueError, match=text):
        client.connect_sync("127.0.0.1:1").producer(**options)
