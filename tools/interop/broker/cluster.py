# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run a Kafka cluster on the loopback interface, with nodes that can be killed.

Every node is a broker and a controller. This module configures the cluster, starts and
stops it, and reports its leaders. ``broker.py`` runs a single broker.

    with cluster.running("4.x") as kafka:
        kafka.nodes[1].kill()
"""

from __future__ import annotations

import base64
import contextlib
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import confluent_kafka.admin

from tools.interop.broker import broker as brokers
from tools.interop.broker.broker import LOOPBACK, Broker, BrokerError

# Type checkers cannot resolve the names of this module, because they are defined in
# private modules.
admin: Any = confluent_kafka.admin

SECONDS = 120
"""Timeout for cluster operations in seconds."""

# The cluster detects a crash after 2 s instead of 9 s, so that tests are short. Each
# topic has three replicas and remains available if one broker fails.
SETTINGS = {
    "auto.leader.rebalance.enable": "false",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "2000",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "replica.lag.time.max.ms": "5000",
    "share.coordinator.state.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
}


class Cluster:
    """Cluster of brokers of one release.

    ``nodes`` maps each node id, from 1, to its broker.
    """

    def __init__(
        self,
        release: str,
        folder: Path,
        count: int = 3,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.release = release
        ports = brokers.free_ports(2 * count)
        pairs = {node: ports[2 * node - 2 : 2 * node] for node in range(1, count + 1)}
        controllers = [f"{LOOPBACK}:{port}" for _, port in pairs.values()]
        quorum = ",".join(
            f"{node}@{address}:{_directory_id()}"
            for node, address in enumerate(controllers, 1)
        )
        self.nodes: dict[int, Broker] = {}
        for node, pair in pairs.items():
            own = {
                **SETTINGS,
                "node.id": str(node),
                "controller.quorum.bootstrap.servers": ",".join(controllers),
                **(settings or {}),
            }
            place = folder / str(node)
            place.mkdir()
            self.nodes[node] = Broker(
                release, place, own, ports=pair, controllers=quorum
            )
        self.address = ",".join(each.address for each in self.nodes.values())

    def start(self) -> None:
        """Start all nodes and wait until each of them belongs to the cluster.

        Raises ``BrokerError`` if that takes more than ``SECONDS``.
        """
        for node in self.nodes.values():
            node.launch()
        for node in self.nodes.values():
            node.wait()
        client = self.client()
        deadline = time.monotonic() + SECONDS
        while len(client.list_topics(timeout=SECONDS).brokers) < len(self.nodes):
            if time.monotonic() > deadline:
                raise BrokerError("the nodes did not become one cluster")
            time.sleep(0.1)

    def stop(self) -> None:
        """Kill all nodes.

        A clean shutdown is not necessary, because the data is not used later.
        """
        for node in self.nodes.values():
            node.kill()

    def client(self) -> Any:
        """Create an admin client of librdkafka that is connected to the cluster."""
        return admin.AdminClient({"bootstrap.servers": self.address, "log_level": 0})

    def create_topic(self, topic: str, partitions: int, **settings: str) -> None:
        """Create a topic with three replicas, and wait until all replicas are in sync.

        Underscores in the names of topic ``settings`` become dots. Raises
        ``BrokerError`` if that takes more than ``SECONDS``.
        """
        named = {name.replace("_", "."): value for name, value in settings.items()}
        asked = admin.NewTopic(topic, partitions, 3, config=named)
        client = self.client()
        for future in client.create_topics([asked]).values():
            future.result(SECONDS)
        deadline = time.monotonic() + SECONDS
        while len(self.leaders(topic)) < partitions:
            if time.monotonic() > deadline:
                raise BrokerError(f"the new topic {topic} has no partitions")
            time.sleep(0.1)
        self.wait_in_sync()

    def leaders(self, topic: str) -> dict[int, int]:
        """Return the leader's node id for each partition of a topic."""
        metadata = self.client().list_topics(topic, timeout=SECONDS).topics[topic]
        return {
            partition.id: partition.leader for partition in metadata.partitions.values()
        }

    def wait_in_sync(self) -> None:
        """Wait until every partition has a leader and all of its replicas are in sync.

        Raises ``BrokerError`` if that takes more than ``SECONDS``.
        """
        client = self.client()
        deadline = time.monotonic() + SECONDS
        while True:
            with contextlib.suppress(confluent_kafka.KafkaException):
                topics = client.list_topics(timeout=5).topics.values()
                if all(
                    partition.leader > 0
                    and len(partition.isrs) == len(partition.replicas)
                    for topic in topics
                    for partition in topic.partitions.values()
                ):
                    return
            if time.monotonic() > deadline:
                raise BrokerError("the replicas did not come in sync")
            time.sleep(0.2)


def _directory_id() -> str:
    """Generate the id of a storage directory: 16 random bytes in URL-safe base64.

    The storage tool would parse a leading dash as an option, so dashes are replaced.
    """
    return (
        base64.urlsafe_b64encode(uuid.uuid4().bytes)
        .decode()
        .rstrip("=")
        .replace("-", "A")
    )


@contextlib.contextmanager
def running(
    version: str = "4.x", count: int = 3, settings: Mapping[str, str] | None = None
) -> Iterator[Cluster]:
    """Run a cluster of ``count`` brokers during a ``with`` block.

    The data of the cluster is deleted at the end.
    """
    release = brokers.find_release(version)
    with tempfile.TemporaryDirectory(prefix="kwire-cluster-") as name:
        cluster = Cluster(release, Path(name), count, settings)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
