# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Server assignors of KIP-848 groups: uniform and range.

The uniform assignor keeps partitions at their current members if possible. The range
assignor ignores the current members. Source: ``UniformAssignor`` and ``RangeAssignor``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias
from uuid import UUID

TopicPartition: TypeAlias = tuple[UUID, int]
Assignment: TypeAlias = frozenset[TopicPartition]
Assignor: TypeAlias = Callable[
    [Mapping[str, frozenset[UUID]], Mapping[UUID, int], Mapping[str, Assignment]],
    dict[str, Assignment],
]
"""Function with three arguments that returns the new assignments by member id.

* ``subscriptions``: ids of the existing topics to which each member is subscribed.
* ``partition_counts``: partition counts by topic id.
* ``current``: previous assignments by member id.
"""


def assign_uniformly(
    subscriptions: Mapping[str, frozenset[UUID]],
    partition_counts: Mapping[UUID, int],
    current: Mapping[str, Assignment],
) -> dict[str, Assignment]:
    """Give each member the same number of partitions, or one more."""
    partitions = _list_partitions(subscriptions, partition_counts)
    owners: dict[TopicPartition, str] = {}
    assigned: dict[str, set[TopicPartition]] = {
        member: set() for member in subscriptions
    }
    for member, partitions_of_member in assigned.items():
        for partition in sorted(current.get(member, ())):
            is_available = partition in partitions and partition not in owners
            if is_available and partition[0] in subscriptions[member]:
                owners[partition] = member
                partitions_of_member.add(partition)
    # Partitions without an owner come first, so that as few as possible are moved.
    for partition in sorted(partitions, key=lambda entry: (entry in owners, entry)):
        candidates = [m for m in assigned if partition[0] in subscriptions[m]]
        smallest = min(candidates, key=lambda member: len(assigned[member]))
        owner = owners.get(partition)
        if owner is None or len(assigned[owner]) > len(assigned[smallest]) + 1:
            if owner is not None:
                assigned[owner].remove(partition)
            assigned[smallest].add(partition)
            owners[partition] = smallest
    return {member: frozenset(partitions) for member, partitions in assigned.items()}


def assign_ranges(
    subscriptions: Mapping[str, frozenset[UUID]],
    partition_counts: Mapping[UUID, int],
    current: Mapping[str, Assignment],
) -> dict[str, Assignment]:
    """Give each member consecutive partitions of each topic.

    Members are sorted, so that they have the same partitions of all topics with the
    same number of partitions.
    """
    assigned: dict[str, set[TopicPartition]] = {
        member: set() for member in subscriptions
    }
    for topic_id, count in partition_counts.items():
        members = sorted(m for m in subscriptions if topic_id in subscriptions[m])
        if not members:
            continue
        size, remainder = divmod(count, len(members))
        first = 0
        for number, member in enumerate(members):
            last = first + size + (number < remainder)
            assigned[member].update((topic_id, index) for index in range(first, last))
            first = last
    return {member: frozenset(partitions) for member, partitions in assigned.items()}


def _list_partitions(
    subscriptions: Mapping[str, frozenset[UUID]], partition_counts: Mapping[UUID, int]
) -> set[TopicPartition]:
    """Return the partitions of all topics with subscribed members."""
    topic_ids = frozenset().union(*subscriptions.values())
    return {
        (topic_id, index)
        for topic_id, count in partition_counts.items()
        if topic_id in topic_ids
        for index in range(count)
    }


ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniformly, "range": assign_ranges}
"""Assignors by name. The first is the default (``group.consumer.assignors``)."""
