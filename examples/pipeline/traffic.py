# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Mock cluster and real clients that communicate with it through ``kwire record``.

The mock cluster is part of librdkafka (three brokers on the loopback interface). The
clients are producers of librdkafka (one for each codec and one with transactions), and
a consumer group. This module does not use kwire.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

TOPIC = "orders"
GROUP = "billing"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
NO_SUCH_PARTITION = 99
DEADLINE_S = 40
QUIET = {"log_level": 2}


class Traffic(NamedTuple):
    """Traffic that the clients have counted.

    * ``delivered``, ``received``: numbers of messages.
    * ``seen_brokers``: addresses of the brokers.
    * ``client_ids``: client ids that the clients have used.
    """

    delivered: int
    received: int
    seen_brokers: frozenset[str]
    client_ids: frozenset[str]


@contextmanager
def mock_cluster(brokers: int = 3) -> Iterator[str]:
    """Run librdkafka's mock cluster. Yield the address of one of its brokers."""
    handle = Producer(
        {"bootstrap.servers": "mock", "test.mock.num.brokers": brokers, **QUIET}
    )
    metadata = handle.list_topics(timeout=DEADLINE_S)
    first = next(iter(metadata.brokers.values()))
    yield f"{first.host}:{first.port}"


def run_clients(bootstrap_servers: str, messages: int) -> Traffic:
    """Produce and consume ``messages`` messages, commit, and leave the group."""
    clients = {"bootstrap.servers": bootstrap_servers, **QUIET}
    payloads = random.Random(18)
    share = messages // (len(CODECS) + 1)
    delivered = 0
    names = {"billing-1", "invoices"}
    seen_brokers: set[str] = set()
    consumer = group_member(clients)
    try:
        for codec in CODECS:
            name = f"shop-{codec}"
            producer = Producer(
                {
                    **clients,
                    "client.id": name,
                    "compression.type": codec,
                    "enable.idempotence": codec == "zstd",
                    "linger.ms": 5,
                }
            )
            names.add(name)
            delivered += produce(producer, share, payloads)
            nodes = producer.list_topics(timeout=DEADLINE_S).brokers.values()
            seen_brokers.update(f"{node.host}:{node.port}" for node in nodes)
        received = consume(consumer, delivered)
        producer = Producer(
            {
                **clients,
                "client.id": "invoices",
                "transactional.id": "invoices-1",
                "linger.ms": 5,
            }
        )
        rest = messages - delivered
        delivered += produce_in_transaction(producer, consumer, rest, payloads)
        received += consume(consumer, delivered - received)
        consumer.commit(asynchronous=False)
        consumer.committed(consumer.assignment(), timeout=DEADLINE_S)
        # Send two requests to which the cluster responds with an error.
        consumer.committed([TopicPartition(TOPIC, NO_SUCH_PARTITION)], DEADLINE_S)
        consumer.list_topics("no-such-topic", DEADLINE_S)
    finally:
        consumer.close()
    return Traffic(delivered, received, frozenset(seen_brokers), frozenset(names))


def group_member(clients: dict) -> Consumer:
    """Return a subscribed consumer, the only member of its group.

    In a group with two members, the mock cluster may return a null in a SyncGroup
    response, which the protocol does not allow.
    """
    member = Consumer(
        {
            **clients,
            "client.id": "billing-1",
            "group.id": GROUP,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "allow.auto.create.topics": False,
            "heartbeat.interval.ms": 500,
            "fetch.wait.max.ms": 100,
        }
    )
    member.subscribe([TOPIC])
    return member


def produce(producer: Producer, count: int, payloads: random.Random) -> int:
    """Send ``count`` messages. Return how many of them the cluster confirmed."""
    confirmed = 0

    def on_delivery(error, message):
        nonlocal confirmed
        if error:
            raise KafkaException(error)
        confirmed += 1

    for number in range(count):
        producer.produce(
            TOPIC,
            key=f"customer-{payloads.randrange(500)}",
            value=f'{{"order": {number}, "items": "{"i" * payloads.randrange(200)}"}}',
            headers={"trace": payloads.randbytes(8)},
            on_delivery=on_delivery,
        )
        # Pause after every 50 messages, so that the producer sends many small requests.
        if number % 50 == 49:
            producer.poll(0.01)
    producer.flush(DEADLINE_S)
    return confirmed


def produce_in_transaction(
    producer: Producer, consumer: Consumer, count: int, payloads: random.Random
) -> int:
    """Send ``count`` messages and the consumer's offsets in one transaction."""
    producer.init_transactions(DEADLINE_S)
    producer.begin_transaction()
    confirmed = produce(producer, count, payloads)
    positions = [p for p in consumer.position(consumer.assignment()) if p.offset >= 0]
    producer.send_offsets_to_transaction(
        positions, consumer.consumer_group_metadata(), DEADLINE_S
    )
    producer.commit_transaction(DEADLINE_S)
    return confirmed


def consume(consumer: Consumer, count: int) -> int:
    """Receive ``count`` messages. Returns how many messages were received.

    The function waits another 0.5 s for unexpected messages.
    """
    received = 0
    deadline = time.monotonic() + DEADLINE_S
    while received < count and time.monotonic() < deadline:
        received += len(messages(consumer, timeout=0.5))
    return received + len(messages(consumer, timeout=0.5))


def messages(consumer: Consumer, timeout: float) -> list:
    """Return the messages that arrive within ``timeout`` seconds.

    Raises ``KafkaException`` for an error, except if the topic is unknown: the group
    subscribes before the first message creates the topic, and librdkafka reports this
    error until it refreshes the metadata.
    """
    arrived = []
    for message in consumer.consume(1000, timeout):
        error = message.error()
        if error is None:
            arrived.append(message)
        elif error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise KafkaException(error)
    return arrived
