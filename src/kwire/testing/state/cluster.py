# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterState``: brokers and topics of a test cluster, and the clock.

All brokers see every change immediately. Groups and transactions have their own modules
in this package.
"""

from __future__ import annotations

import random
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from uuid import UUID

from ...schema import releases
from .configs import Configs
from .features import RETAINS_PRODUCERS, is_since
from .fetch_sessions import FetchSessions
from .group import Group, GroupSettings
from .partition_log import PartitionLog
from .telemetry import MAX_PUSHES, ClientTelemetry, ReceivedMetrics
from .timers import Clock
from .topic import NO_LEADER, Partition, Topic, unify_name
from .transactions import TransactionCoordinator

DEFAULT_PARTITIONS = 1
"""Partition count of topics that are created automatically (``num.partitions``)."""

MAX_REPLICATION_FACTOR = 3

LOG_DIRECTORY = "/tmp/kafka-logs"
"""Log directory that brokers report. Nothing is stored there."""


class BrokerState:
    """One broker: its address, its fetch sessions, and whether it is running.

    * ``common_configs``: static properties that all brokers of the cluster have.
    """

    def __init__(
        self,
        node_id: int,
        release: str,
        source: random.Random,
        common_configs: Mapping[str, str],
        telemetry: ClientTelemetry,
    ) -> None:
        self.node_id = node_id
        self.release = release
        self.host = "127.0.0.1"
        self.port = -1
        self.rack: str | None = None
        self.is_running = True
        self.fetch_sessions = FetchSessions(source)
        self.telemetry = telemetry
        self._common_configs = common_configs

    @property
    def static_configs(self) -> dict[str, str]:
        """Properties of the broker's property file."""
        listener = f"PLAINTEXT://{self.host}:{self.port}"
        configs = {
            **self._common_configs,
            "advertised.listeners": listener,
            "broker.id": str(self.node_id),
            "listeners": listener,
            "log.dirs": LOG_DIRECTORY,
            "node.id": str(self.node_id),
        }
        if self.rack is not None:
            configs["broker.rack"] = self.rack
        return configs


class ClusterState:
    """State of a test cluster.

    * ``changes``: number of changes so far. Responses that wait for a change are
      attempted again when it has increased.
    * ``random``: source of random ids, so that a seed reproduces them.
    * ``configs``: dynamic configuration of brokers, groups and client metrics.
    * ``common_configs``: static properties that all brokers have.
    * ``has_metrics_receiver``: whether brokers offer the APIs of client metrics.
    * ``has_zookeeper``: whether clients of the release connect to ZooKeeper brokers.
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
        self.default_replication_factor = min(broker_count, MAX_REPLICATION_FACTOR)
        self.has_zookeeper = releases.usual_listener(release) == "zkBroker"
        self.configs = Configs(release)
        self.has_metrics_receiver = False
        self.received_metrics: deque[ReceivedMetrics] = deque(maxlen=MAX_PUSHES)
        self.common_configs = {
            "auto.create.topics.enable": str(auto_create_topics).lower(),
            "default.replication.factor": str(self.default_replication_factor),
        }
        if self.has_zookeeper:
            self.common_configs["zookeeper.connect"] = "127.0.0.1:2181"
        else:
            self.common_configs["process.roles"] = "broker"
        self.brokers = {
            node_id: BrokerState(
                node_id,
                release,
                self.random,
                self.common_configs,
                ClientTelemetry(self.clock, self.configs),
            )
            for node_id in range(1, broker_count + 1)
        }
        self.topics: dict[str, Topic] = {}
        self.topics_by_id: dict[UUID, Topic] = {}
        self.groups: dict[str, Group] = {}
        self._unified_names: dict[str, str] = {}
        self.transactions = TransactionCoordinator(self)
        self.group_settings = GroupSettings()
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

    def is_since(self, release: str) -> bool:
        """Whether the cluster has a release line, or a newer one."""
        return is_since(self.release, release)

    def note_change(self) -> None:
        """Attempt the waiting responses again: Fetch, JoinGroup and SyncGroup."""
        self.changes += 1

    def create_topic(
        self,
        name: str,
        partition_count: int,
        replication_factor: int = -1,
        assignments: list[list[int]] | None = None,
        logs: Sequence[PartitionLog] = (),
        configs: Mapping[str, str] | None = None,
    ) -> Topic:
        """Create a topic. ``assignments`` contains the replicas by partition.

        The arguments have been checked. A replication factor of -1 means one replica
        per broker, but at most three. ``logs`` replaces the empty logs.
        """
        topic = Topic(name, UUID(int=self.random.getrandbits(128), version=4))
        topic.configs.update(configs or {})
        self.topics[name] = self.topics_by_id[topic.topic_id] = topic
        self._unified_names[unify_name(name)] = name
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
            partition.log.retains_producers = is_since(self.release, RETAINS_PRODUCERS)
            for node_id in replicas:
                if not self.brokers[node_id].is_running:
                    partition.stop_replica(node_id)
            topic.partitions.append(partition)
        self.note_change()

    def delete_topic(self, topic: Topic) -> None:
        """Delete a topic with its records, and the offsets that groups committed."""
        del self.topics[topic.name]
        del self.topics_by_id[topic.topic_id]
        self._unified_names.pop(unify_name(topic.name), None)
        for group in self.groups.values():
            group.offsets.forget_topic(topic.name)
        self.note_change()

    def find_collision(self, name: str) -> str | None:
        """Return a topic whose name differs only in dots and underscores, or None."""
        other = self._unified_names.get(unify_name(name))
        return None if other == name else other

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
        self.brokers[node_id].telemetry.clear()
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
        return running[hash_key(key) % len(running)].node_id

    def _choose_replicas(self, replication_factor: int) -> list[int]:
        """Distribute leaders over the running brokers. Stopped brokers come last."""
        count = replication_factor
        if count < 1:
            count = self.default_replication_factor
        running = [broker.node_id for broker in self.running]
        stopped = [node for node in self.brokers if node not in running]
        if running:
            first = self._next_leader % len(running)
            running = running[first:] + running[:first]
        self._next_leader += 1
        return (running + stopped)[:count]


def hash_key(key: str) -> int:
    """Return the absolute value of Java's ``String.hashCode`` (0 for the minimum).

    Source: ``Utils.abs``, which coordinators use to choose the partition of a key.
    """
    data = key.encode("utf-16-be", "surrogatepass")
    value = 0
    for (unit,) in struct.iter_unpack(">H", data):
        value = (value * 31 + unit) & 0xFFFFFFFF
    return min(value, -value & 0xFFFFFFFF) & 0x7FFFFFFF
