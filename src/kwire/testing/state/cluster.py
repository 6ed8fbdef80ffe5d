# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterState``: brokers and topics of a test cluster, and the clock.

All brokers see every change immediately. Groups and transactions have their own modules
in this package.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from uuid import UUID

from .fetch_sessions import FetchSessions
from .group import Group
from .partition_log import PartitionLog
from .timers import Clock
from .topic import NO_LEADER, Partition, Topic

DEFAULT_PARTITIONS = 1
"""Partition count of topics that are created automatically (``num.partitions``)."""

MAX_REPLICATION_FACTOR = 3


class BrokerState:
    """One broker: its address, its fetch sessions, and whether it is running."""

    def __init__(self, node_id: int, release: str, source: random.Random) -> None:
        self.node_id = node_id
        self.release = release
        self.host = "127.0.0.1"
        self.port = -1
        self.rack: str | None = None
        self.is_running = True
        self.fetch_sessions = FetchSessions(source)


class ClusterState:
    """State of a test cluster.

    * ``changes``: number of changes so far. Responses that wait for a change are
      attempted again when it has increased.
    * ``random``: source of random ids, so that a seed reproduces them.
    """

    def __init__(
        self,
        broker_count: int,
        release: str,
        *,
        magic: int = 2,
        auto_create_topics: bool = True,
        seed: int | None = None,
        epoch_ms: int = 0,
    ) -> None:
        self.release = release
        self.magic = magic
        self.auto_create_topics = auto_create_topics
        self.random = random.Random(seed)
        self.clock = Clock(epoch_ms)
        self.cluster_id = "kwire-test-cluster"
        self.brokers = {
            node_id: BrokerState(node_id, release, self.random)
            for node_id in range(1, broker_count + 1)
        }
        self.topics: dict[str, Topic] = {}
        self.topics_by_id: dict[UUID, Topic] = {}
        self.groups: dict[str, Group] = {}
        self.changes = 0
        self._next_leader = 0

    @property
    def running(self) -> list[BrokerState]:
        """Running brokers, in the order of their ids."""
        return [broker for broker in self.brokers.values() if broker.is_running]

    @property
    def controller_id(self) -> int:
        """Node id of the controller: the first running broker, or -1."""
        running = self.running
        return running[0].node_id if running else NO_LEADER

    def note_change(self) -> None:
        """Attempt the responses again that wait for a change."""
        self.changes += 1

    def create_topic(
        self,
        name: str,
        partition_count: int,
        replication_factor: int = -1,
        assignments: list[list[int]] | None = None,
        logs: Sequence[PartitionLog] = (),
    ) -> Topic:
        """Create a topic. ``assignments`` contains the replicas by partition.

        The arguments have been checked. A replication factor of -1 means one replica
        per broker, but at most three. ``logs`` replaces the empty logs.
        """
        topic = Topic(name, UUID(int=self.random.getrandbits(128), version=4))
        self.topics[name] = self.topics_by_id[topic.topic_id] = topic
        self.add_partitions(topic, partition_count, replication_factor, assignments)
        for partition, log in zip(topic, logs, strict=False):
            partition.log = log
        return topic

    def add_partitions(
        self,
        topic: Topic,
        partition_count: int,
        replication_factor: int = -1,
        assignments: list[list[int]] | None = None,
    ) -> None:
        """Increase the number of partitions of a topic to ``partition_count``."""
        first = len(topic.partitions)
        for index in range(first, partition_count):
            replicas = (
                assignments[index - first]
                if assignments
                else self._choose_replicas(replication_factor)
            )
            partition = Partition(topic, index, replicas, self.magic)
            for node_id in replicas:
                if not self.brokers[node_id].is_running:
                    partition.stop_replica(node_id)
            topic.partitions.append(partition)
        self.note_change()

    def delete_topic(self, topic: Topic) -> None:
        """Delete a topic with its records."""
        del self.topics[topic.name]
        del self.topics_by_id[topic.topic_id]
        self.note_change()

    def find_partition(self, topic_name: str, index: int) -> Partition | None:
        """Return a partition, or None if it does not exist."""
        topic = self.topics.get(topic_name)
        return topic.find_partition(index) if topic else None

    def move_leader(self, partition: Partition, node_id: int) -> None:
        """Make a running broker the leader of a partition."""
        if node_id not in partition.replicas:
            partition.replicas.append(node_id)
        if node_id not in partition.in_sync:
            partition.in_sync.append(node_id)
        partition.move_leader(node_id)
        self.note_change()

    def stop_broker(self, node_id: int) -> None:
        """Stop a broker. Other replicas become the leaders of its partitions."""
        self.brokers[node_id].is_running = False
        self.brokers[node_id].fetch_sessions.clear()
        for topic in self.topics.values():
            for partition in topic:
                partition.stop_replica(node_id)
        self.note_change()

    def start_broker(self, node_id: int) -> None:
        """Start a stopped broker, which becomes an in-sync replica again."""
        self.brokers[node_id].is_running = True
        for topic in self.topics.values():
            for partition in topic:
                partition.start_replica(node_id)
        self.note_change()

    def choose_coordinator(self, key: str) -> int:
        """Return the node id of the coordinator of a group or transactional id.

        The key determines the broker, as the partition of ``__consumer_offsets`` does.
        Returns -1 if no broker is running.
        """
        running = self.running
        if not running:
            return NO_LEADER
        return running[_hash(key) % len(running)].node_id

    def _choose_replicas(self, replication_factor: int) -> list[int]:
        nodes = list(self.brokers)
        count = replication_factor
        if count < 1:
            count = min(len(nodes), MAX_REPLICATION_FACTOR)
        first = self._next_leader
        self._next_leader += 1
        return [nodes[(first + number) % len(nodes)] for number in range(count)]


def _hash(key: str) -> int:
    """Hash a key in the same way as Java's ``String.hashCode``, without the sign."""
    value = 0
    for unit in key.encode("utf-16-be", "surrogatepass")[1::2]:
        value = (value * 31 + unit) & 0xFFFFFFFF
    return value & 0x7FFFFFFF
