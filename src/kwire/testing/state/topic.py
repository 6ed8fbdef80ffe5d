# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Topics and partitions of a test cluster: ids, leaders, replicas, configuration."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from ...schema.topic_names import COORDINATOR_TOPICS
from .partition_log import PartitionLog

NO_LEADER = -1

_MAX_NAME_LENGTH = 249
_NAME_CHARACTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
)


class Partition:
    """Partition with its log. The leader is a node id, or ``NO_LEADER``."""

    def __init__(
        self, topic: Topic, index: int, replicas: list[int], magic: int
    ) -> None:
        self.topic = topic
        self.index = index
        self.replicas = replicas
        self.in_sync = list(replicas)
        self.leader = replicas[0]
        self.log = PartitionLog(magic)

    @property
    def leader_epoch(self) -> int:
        """Current leader epoch, which increases with each new leader."""
        return self.log.leader_epoch

    def move_leader(self, node: int) -> None:
        """Make a broker the leader, in a new leader epoch."""
        self.leader = node
        self.log.start_leader_epoch(self.leader_epoch + 1)

    def stop_replica(self, node: int) -> None:
        """Remove a stopped broker. The first in-sync replica becomes the leader.

        The last in-sync replica remains in the list, because only this replica may
        become the leader again.
        """
        if node in self.in_sync and len(self.in_sync) > 1:
            self.in_sync.remove(node)
        if self.leader == node:
            others = [replica for replica in self.in_sync if replica != node]
            self.move_leader(others[0] if others else NO_LEADER)

    def start_replica(self, node: int) -> None:
        """Add a started broker. It becomes the leader if there is none."""
        if node not in self.replicas:
            return
        if node not in self.in_sync and self.leader != NO_LEADER:
            self.in_sync.append(node)
        if self.leader == NO_LEADER and node in self.in_sync:
            self.move_leader(node)


class Topic:
    """Topic with its partitions and its configuration.

    ``configs`` contains the properties that differ from the default values.
    """

    def __init__(self, name: str, topic_id: UUID) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[Partition] = []
        self.configs: dict[str, str] = {}

    @property
    def is_internal(self) -> bool:
        """Whether brokers use the topic for offsets, transactions or share groups."""
        return self.name in COORDINATOR_TOPICS

    def find_partition(self, index: int) -> Partition | None:
        """Return a partition, or None if there is no partition with this index."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None

    def __iter__(self) -> Iterator[Partition]:
        return iter(self.partitions)


def check_topic_name(name: str) -> str:
    """Return the problem with a topic name, or "". Source: ``Topic.validate``."""
    if not name:
        return "Topic name is illegal, it can't be empty"
    if name in (".", ".."):
        return 'Topic name cannot be "." or ".."'
    if len(name) > _MAX_NAME_LENGTH:
        return f"Topic name is longer than the maximum length {_MAX_NAME_LENGTH}"
    if not set(name) <= _NAME_CHARACTERS:
        return (
            f"Topic name '{name}' is illegal, it contains a character other than ASCII"
            " alphanumerics, '.', '_' and '-'"
        )
    return ""


def is_valid_topic_name(name: str) -> bool:
    """Whether Kafka accepts a topic name."""
    return not check_topic_name(name)


def unify_name(name: str) -> str:
    """Return the form of a topic name in metrics, in which dots are underscores.

    Two topics with the same form cannot exist together. Source: ``Topic.hasCollision``.
    """
    return name.replace(".", "_")
