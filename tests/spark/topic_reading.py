# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""librdkafka mock cluster for tests of sinks, and a consumer that reads its topics."""

import time
from contextlib import contextmanager
from uuid import uuid4

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Producer,
    TopicPartition,
)

TIMEOUT_S = 60
PARTITIONS = 4


class MockCluster:
    """Cluster of three librdkafka brokers in this process.

    ``address`` is its bootstrap address.
    """

    def __init__(self):
        """Start the brokers. They run as long as this object exists."""
        quiet = {"log_level": 0}
        self._handle = Producer(
            {"bootstrap.servers": "mock", "test.mock.num.brokers": 3, **quiet}
        )
        brokers = self._handle.list_topics(timeout=TIMEOUT_S).brokers.values()
        self.address = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)

    def make_topic(self):
        """Create a topic with ``PARTITIONS`` partitions. Return its name."""
        name = f"topic-{uuid4().hex[:8]}"
        topic = self._handle.list_topics(name, timeout=TIMEOUT_S).topics[name]
        assert len(topic.partitions) == PARTITIONS
        return name

    def read(self, topic, count):
        """Read ``count`` records of a topic. Return lists of messages by partition."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": "tests",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 10,
                "fetch.message.max.bytes": 8 << 20,
            }
        )
        # Without metadata, the consumer waits 0.5 s before it looks up the leaders.
        consumer.list_topics(topic, timeout=TIMEOUT_S)
        consumer.assign(
            [TopicPartition(topic, n, OFFSET_BEGINNING) for n in range(PARTITIONS)]
        )
        messages: dict[int, list] = {n: [] for n in range(PARTITIONS)}
        ended, until = set(), time.monotonic() + TIMEOUT_S
        while len(ended) < PARTITIONS and time.monotonic() < until:
            message = consumer.poll(0.2)
            if message is None:
                continue
            if message.error() is None:
                messages[message.partition()].append(message)
            else:
                assert message.error().code() == KafkaError._PARTITION_EOF
                ended.add(message.partition())
        consumer.close()
        assert len(ended) == PARTITIONS
        assert sum(map(len, messages.values())) == count
        return messages


@contextmanager
def mock_cluster():
    """Yield a mock cluster, and stop it at the end."""
    cluster = MockCluster()
    yield cluster
    del cluster


def flatten(messages_by_partition):
    """Return (partition, key, value, headers) of all messages, in order."""
    return [
        (partition, message.key(), message.value(), message.headers())
        for partition, messages in sorted(messages_by_partition.items())
        for message in messages
    ]
