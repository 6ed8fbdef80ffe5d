# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the requests of a group consumer, and reads offsets from the responses.

From version 10 on, OffsetCommit and OffsetFetch name topics by id; OffsetFetch asks for
several groups at once from version 8 on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....connection.negotiation import NO_TOPIC_IDS
from ....connection.negotiation.facts import first_version
from ....messages import (
    ConsumerGroupHeartbeatRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from ..link import Link
    from .options import Committed, GroupMetadata, GroupReader

_FIRST_WITH_GROUPS = first_version("OffsetFetchRequest", "groups")
_LAST_WITH_NAMES = NO_TOPIC_IDS.ranges[OffsetFetchRequest.api_key].max
_FIRST_WITH_STABLE = first_version("OffsetFetchRequest", "require_stable")


def pick_version(link: Link, api: type[Any], readers: Iterable[GroupReader]) -> int:
    """Choose the version: topics are named by ids if all of them have one."""
    has_ids = all(each.topic_id.int for each in readers)
    return link.pick(api, *(() if has_ids else (NO_TOPIC_IDS,)))


def commit_request(
    who: GroupMetadata, offsets: Mapping[GroupReader, Committed], version: int
) -> OffsetCommitRequest:
    """Write the OffsetCommit request for some partitions."""
    topics: dict[str, list[Any]] = {}
    ids: dict[str, UUID] = {}
    for reader, at in offsets.items():
        entry = OffsetCommitRequest.OffsetCommitRequestPartition(
            partition_index=reader.partition,
            committed_offset=at.offset,
            committed_leader_epoch=at.leader_epoch,
            committed_metadata="",
        )
        topics.setdefault(reader.topic, []).append(entry)
        ids[reader.topic] = reader.topic_id
    fields: dict[str, Any] = {}
    if who.instance_id is not None:
        fields["group_instance_id"] = who.instance_id
    return OffsetCommitRequest(
        group_id=who.group,
        generation_id_or_member_epoch=who.member_epoch,
        member_id=who.member_id,
        topics=[
            OffsetCommitRequest.OffsetCommitRequestTopic(
                name="" if version > _LAST_WITH_NAMES else name,
                topic_id=ids[name],
                partitions=partitions,
            )
            for name, partitions in topics.items()
        ],
        **fields,
    )


def fetch_request(
    who: GroupMetadata, readers: Iterable[GroupReader], version: int
) -> OffsetFetchRequest:
    """Write the OffsetFetch request for the committed offsets of some partitions.

    Offsets of transactions that are not over yet are waited for (KIP-447).
    """
    topics: dict[str, list[int]] = {}
    ids: dict[str, UUID] = {}
    for reader in readers:
        topics.setdefault(reader.topic, []).append(reader.partition)
        ids[reader.topic] = reader.topic_id
    is_stable = version >= _FIRST_WITH_STABLE
    if version < _FIRST_WITH_GROUPS:
        entry = OffsetFetchRequest.OffsetFetchRequestTopic
        return OffsetFetchRequest(
            group_id=who.group,
            topics=[
                entry(name=name, partition_indexes=partitions)
                for name, partitions in topics.items()
            ],
            require_stable=is_stable,
        )
    named = OffsetFetchRequest.OffsetFetchRequestTopics
    group = OffsetFetchRequest.OffsetFetchRequestGroup(
        group_id=who.group,
        member_id=who.member_id or None,
        member_epoch=who.member_epoch,
        topics=[
            named(
                name="" if version > _LAST_WITH_NAMES else name,
                topic_id=ids[name],
                partition_indexes=partitions,
            )
            for name, partitions in topics.items()
        ],
    )
    return OffsetFetchRequest(groups=[group], require_stable=is_stable)


def read_offsets(
    response: Any, readers: Iterable[GroupReader]
) -> tuple[int, dict[GroupReader, Any]]:
    """Return the group's error code, and the response's entry for each partition."""
    found = response.groups[0] if response.groups else response
    return found.error_code, read_entries(found.topics, readers)


def read_entries(topics: Any, readers: Iterable[GroupReader]) -> dict[GroupReader, Any]:
    """Return the entry for each partition that a response names, by name or id."""
    by_place: dict[Any, GroupReader] = {}
    for reader in readers:
        by_place[reader.place] = by_place[reader.id_and_partition] = reader
    entries: dict[GroupReader, Any] = {}
    for topic in topics:
        name = topic.name or topic.topic_id
        for part in topic.partitions:
            found = by_place.get((name, part.partition_index))
            if found is not None:
                entries[found] = part
    return entries


def assignment_entries(owned: Iterable[tuple[UUID, int]]) -> list[Any]:
    """Write partitions as a heartbeat has them, by topic id."""
    topics: dict[UUID, list[int]] = {}
    for topic_id, partition in sorted(owned):
        topics.setdefault(topic_id, []).append(partition)
    entry = ConsumerGroupHeartbeatRequest.TopicPartitions
    return [entry(topic_id=each, partitions=parts) for each, parts in topics.items()]


def read_assignment(assignment: Any) -> frozenset[tuple[UUID, int]]:
    """Read the partitions of a heartbeat's response."""
    return frozenset(
        (topic.topic_id, partition)
        for topic in assignment.topic_partitions
        for partition in topic.partitions
    )
