# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Clients that are used in a child process after ``os.fork``."""

import asyncio
import gc
import importlib
import multiprocessing
import os
import ssl
import traceback
import warnings
from uuid import uuid4

import pytest
from confluent_kafka import Producer

from tests.client.log_broker import LogBroker
from tests.harness.loopback_brokers import make_certificate, server_context

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="requires fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]

TIMEOUT_S = 30
RECORDS = 200
KINDS = ("client", "scan", "producer", "transaction", "consumer")
ADVICE = r"call client\.connect or client\.connect_sync in the child process"


@pytest.fixture(scope="module")
def cluster():
    """Address for librdkafka's mock cluster, and a topic with records."""
    handle = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
    name = f"topic-{uuid4().hex[:8]}"
    (broker,) = handle.list_topics(name, timeout=TIMEOUT_S).brokers.values()
    for number in range(RECORDS):
        handle.produce(name, b"%d" % number, partition=0)
    assert not handle.flush(TIMEOUT_S)
    yield f"{broker.host}:{broker.port}", name
    del handle


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


def run_child(work):
    """Run a function in a forked process. Fail with its traceback if it raises."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                work()
                gc.collect()
            os.write(writing, b"ok")
        except BaseException:
            os.write(writing, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(child, 0)
    assert text == "ok", text


class Blocking:
    """Connected object that is used before the fork and in the child."""

    def __init__(self, client, kind, address, topic):
        """Connect a client, and create the object that ``kind`` names."""
        self.kafka = client.connect_sync(address, timeout_s=TIMEOUT_S)
        self.kind, self.topic = kind, topic
        if kind == "scan":
            self.used = self.kafka.scan(topic, follow=True)
        elif kind == "producer":
            self.used = self.kafka.producer()
        elif kind == "transaction":
            self.used = self.kafka.producer(transactional_id=uuid4().hex)
            self.used.__enter__()
            self.transaction = self.used.transaction()
            self.transaction.__enter__()
        elif kind == "consumer":
            self.used = self.kafka.consumer(topic, group_id=uuid4().hex)
        else:
            self.used = self.kafka

    def calls(self):
        """Return functions for all operations. A child must reject each of them."""
        kafka, used, topic = self.kafka, self.used, self.topic
        shared = [
            kafka.topics,
            lambda: kafka.offsets(topic),
            lambda: list(kafka.scan(topic)),
            lambda: kafka.producer().send(topic, value=b"v"),
            lambda: kafka.consumer(topic, group_id="g").poll(),
        ]
        writing = [
            lambda: used.send(topic, value=b"v"),
            lambda: used.send_many(topic, [(None, b"v")]),
            lambda: used.flush(),
        ]
        return (
            shared
            + {
                "client": [],
                "scan": [lambda: next(used), lambda: list(used)],
                "producer": writing,
                "transaction": [
                    *writing,
                    lambda: self.transaction.send_offsets("g", {(topic, 0): 1}),
                    lambda: self.transaction.__exit__(None, None, None),
                ],
                "consumer": [
                    lambda: used.poll(0.1),
                    lambda: used.commit(),
                    lambda: used.seek("earliest"),
                    lambda: used.pause(),
                    lambda: used.resume(),
                    lambda: list(used),
                ],
            }[self.kind]
        )

    def use(self):
        """Use the object in the parent process, so that it has connections."""
        if self.kind == "client":
            assert self.topic in self.kafka.topics()
        elif self.kind in ("scan", "consumer"):
            assert next(self.used)
        else:
            self.used.send_many(self.topic, [(None, b"v")])

    def close(self):
        """Close the object and the client."""
        if self.kind == "transaction":
            self.transaction.__exit__(None, None, None)
        self.kafka.close()


@pytest.mark.parametrize("kind", KINDS)
def test_each_operation_of_a_connected_client_is_rejected_in_a_child(
    client, cluster, kind
):
    """All operations raise the same error. The parent continues, even after a close."""
    connected = Blocking(client, kind, *cluster)
    connected.use()

    def use_child():
        for call in connected.calls():
            with pytest.raises(client.UsedAfterFork, match=ADVICE):
                call()
        if kind == "transaction":
            # The exception of the block must not be replaced.
            connected.transaction.__exit__(SystemExit, None, None)
        if connected.used is not connected.kafka:
            connected.used.close()
        connected.kafka.close()

    run_child(use_child)
    if connected.kind not in ("scan", "consumer"):
        connected.use()
    connected.close()


@pytest.mark.parametrize("kind", KINDS)
def test_each_operation_of_an_asyncio_client_is_rejected_in_a_child(
    client, cluster, kind
):
    """The child calls the operations in its own event loop.

    The parent's event loop cannot be shared.
    """
    address, topic = cluster

    async def run():
        kafka = client.connect(address, timeout_s=TIMEOUT_S)
        used, group_id = kafka, uuid4().hex
        if kind == "client":
            await kafka.topics()
            calls = [lambda: kafka.topics(), lambda: kafka.offsets(topic)]
        elif kind == "scan":
            used = kafka.scan(topic, follow=True)
            await anext(used)
            calls = [lambda: anext(used)]
        elif kind == "consumer":
            used = kafka.consumer(topic, group_id=group_id)
            await used.poll()
            calls = [lambda: used.poll(), lambda: used.commit()]
        else:
            id = uuid4().hex if kind == "transaction" else None
            used = kafka.producer(transactional_id=id)
            await used.__aenter__()
            if kind == "transaction":
                transaction = used.transaction()
                await transaction.__aenter__()
            await used.send(topic, value=b"v")
            calls = [
                lambda: used.send(topic, value=b"v"),
                lambda: used.send_many(topic, [(None, b"v")]),
                lambda: used.flush(),
            ]

        async def use_child():
            for call in calls:
                with pytest.raises(client.UsedAfterFork, match=ADVICE):
                    await call()
            if kind == "consumer":
                with pytest.raises(client.UsedAfterFork, match=ADVICE):
                    used.seek("earliest")
            if used is not kafka:
                await used.close()
            await kafka.close()

        run_child(lambda: asyncio.run(use_child()))
        if kind == "client":
            assert topic in await kafka.topics()
        elif kind in ("producer", "transaction"):
            await used.send_many(topic, [(None, b"v")])
        if kind == "transaction":
            await transaction.__aexit__(None, None, None)
        await kafka.close()

    asyncio.run(run())


@pytest.mark.parametrize("has_tls", [False, True])
def test_a_collected_client_of_a_child_leaves_the_parent_connected(
    client, has_tls, tmp_path
):
    """The child sends no TLS close, emits no warning, and does not change epoll."""
    server = trust = None
    if has_tls:
        certificate, key = make_certificate(tmp_path)
        server = server_context(certificate, key)
        trust = ssl.create_default_context(cafile=certificate)
    with LogBroker({"a": [RECORDS]}, context=server) as broker:
        kafka = client.connect_sync(broker.address, ssl=trust, timeout_s=TIMEOUT_S)
        scan, objects = kafka.scan("a", follow=True), {}
        objects.update(kafka=kafka, scan=scan)
        read_count = len(next(scan).records())
        connections = broker.connections
        del kafka, scan

        def collect():
            objects.clear()
            gc.collect()

        run_child(collect)
        broker.log("a").append(10)
        while read_count < RECORDS + 10:
            read_count += len(next(objects["scan"]).records())
        assert broker.connections == connections
        objects["kafka"].close()


def test_a_client_without_connections_works_in_a_child(client):
    """A client without open connections can be used in a child.

    It may be unused, or closed in the parent.
    """
    with LogBroker({"a": [RECORDS]}) as broker:
        unused = client.connect_sync(broker.address, timeout_s=TIMEOUT_S)
        with client.connect_sync(broker.address, timeout_s=TIMEOUT_S) as closed:
            assert "a" in closed.topics()

        def use_child():
            for kafka in (unused, closed):
                assert "a" in kafka.topics()
                with kafka:
                    count = sum(len(chunk.records()) for chunk in kafka.scan("a"))
                assert count == RECORDS

        run_child(use_child)
        run_child(use_child)


def test_child_of_a_child_is_rejected(client, cluster):
    """A client that a child has created is rejected by a child of this child."""
    address, topic = cluster

    def use_child():
        with client.connect_sync(address, timeout_s=TIMEOUT_S) as kafka:
            kafka.topics()

            def use_grandchild():
                with pytest.raises(client.UsedAfterFork, match=ADVICE):
                    kafka.topics()

            run_child(use_grandchild)
            assert topic in kafka.topics()

    run_child(use_child)


def send_from_pool(arguments):
    """Send a record with the parent's producer.

    Return the class name of the error, or "sent".
    """
    producer, topic = _shared[arguments]
    try:
        producer.send(topic, value=b"v")
    except ValueError as error:
        return type(error).__name__
    return "sent"


_shared = {}


def test_processes_of_multiprocessing_are_rejected(client, cluster):
    """With the start method "fork", processes inherit global objects.

    Using such a producer raises an error.
    """
    address, topic = cluster
    with (
        client.connect_sync(address, timeout_s=TIMEOUT_S) as kafka,
        kafka.producer(linger_s=100) as producer,
    ):
        producer.send(topic, value=b"v")
        _shared[topic] = producer, topic
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert set(pool.map(send_from_pool, [topic] * 4)) == {"UsedAfterFork"}
        del _shared[topic]
        producer.flush()


def test_fork_within_a_callback_is_rejected(client, cluster):
    """The callback forks, so that the child returns from it into ``send`` or ``flush``.

    This call must fail in the child.
    """
    address, topic = cluster
    statuses = []

    def fork(receipt):
        child = os.fork()
        if child:
            statuses.append(os.waitpid(child, 0)[1])

    parent = os.getpid()
    with client.connect_sync(address, timeout_s=TIMEOUT_S) as kafka:
        producer = kafka.producer(on_receipt=fork)
        try:
            producer.send(topic, value=b"v")
            producer.flush()
            if os.getpid() != parent:
                os._exit(1)
        except BaseException as error:
            if os.getpid() == parent:
                raise
            os._exit(0 if isinstance(error, client.UsedAfterFork) else 2)
        producer.close()
    assert statuses == [0]
