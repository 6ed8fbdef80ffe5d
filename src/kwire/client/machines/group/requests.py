# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the requests of a group consumer, and reads their responses.

The OffsetCommit and OffsetFetch objects contain both the name and the id of every
topic. The codec encodes the name before version 10, and the id since version 10.
OffsetFetch supports several groups since version 8.
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

    from ..link import Link
    from .group_reader import Committed, GroupReader
    from .membership import Assignment
    from .options import GroupMetadata

_FIRST_WITH_GROUPS = first_version("OffsetFetchRequest", "groups")
_FIRST_WITH_STABLE = first_version("OffsetFetchRequest", "require_stable")


def pick_version(link: Link, api: type[Any], readers: Iterable[GroupReader]) -> int:
    """Choose the version of an offset request for some partitions.

    Versions with topic ids are excluded unless the ids of all topics are known.
    """
    has_ids = all(reader.topic_id.int for reader in readers)
    return link.pick(api, *(() if has_ids else (NO_TOPIC_IDS,)))


def commit_request(
    identity: GroupMetadata, offsets: Mapping[GroupReader, Committed]
) -> OffsetCommitRequest:
    """Build the OffsetCommit request for the offsets of some partitions."""
    return OffsetCommitRequest(
        group_id=identity.group_id,
        generation_id_or_member_epoch=identity.member_epoch,
        member_id=identity.member_id,
        group_instance_id=identity.group_instance_id,
        topics=[
            OffsetCommitRequest.OffsetCommitRequestTopic(
                name=readers[0].topic,
                topic_id=readers[0].topic_id,
                partitions=[
                    OffsetCommitRequest.OffsetCommitRequestPartition(
                        partition_index=reader.partition,
                        committed_offset=offsets[reader].offset,
                        committed_leader_epoch=offsets[reader].leader_epoch,
                        committed_metadata="",
                    )
                    for reader in readers
                ],
            )
            for readers in _group_by_topic(offsets)
        ],
    )


def fetch_request(
    identity: GroupMetadata, readers: Iterable[GroupReader], version: int
) -> OffsetFetchRequest:
    """Build the OffsetFetch request for the committed offsets of some partitions.

    The request requires stable offsets if its version supports that: brokers then wait
    for the offsets of open transactions (KIP-447).
    """
    has_groups = version >= _FIRST_WITH_GROUPS
    entry: Any = OffsetFetchRequest.OffsetFetchRequestTopic
    if has_groups:
        entry = OffsetFetchRequest.OffsetFetchRequestTopics
    topics: list[Any] = []
    for topic_readers in _group_by_topic(readers):
        ids = {"topic_id": topic_readers[0].topic_id} if has_groups else {}
        partitions = [reader.partition for reader in topic_readers]
        topics.append(
            entry(name=topic_readers[0].topic, partition_indexes=partitions, **ids)
        )
    if not has_groups:
        is_stable = version >= _FIRST_WITH_STABLE
        return OffsetFetchRequest(
            group_id=identity.group_id, topics=topics, require_stable=is_stable
        )
    group = OffsetFetchRequest.OffsetFetchRequestGroup(
        group_id=identity.group_id,
        member_id=identity.member_id or None,
        member_epoch=identity.member_epoch,
        topics=topics,
    )
    return OffsetFetchRequest(groups=[group], require_stable=True)


def read_offsets(
    response: Any, readers: Iterable[GroupReader]
) -> tuple[int, dict[GroupReader, Any]]:
    """Return the group's error code, and the response entries by reader.

    ``read_entries`` describes which partitions have an entry.
    """
    group = response.groups[0] if response.groups else response
    return group.error_code, read_entries(group.topics, readers)


def read_entries(topics: Any, readers: Iterable[GroupReader]) -> dict[GroupReader, Any]:
    """Return the response entries of the requested partitions.

    Entries contain the topic name or the topic id, depending on the version. Other
    partitions are ignored, and partitions without an entry are omitted.
    """
    readers_by_key: dict[Any, GroupReader] = {}
    for reader in readers:
        readers_by_key[reader.place] = readers_by_key[reader.id_and_partition] = reader
    entries: dict[GroupReader, Any] = {}
    for topic in topics:
        for part in topic.partitions:
            key = (topic.name or topic.topic_id, part.partition_index)
            if key in readers_by_key:
                entries[readers_by_key[key]] = part
    return entries


def assignment_entries(owned: Assignment) -> list[Any]:
    """Build the list of owned partitions in a heartbeat."""
    topics: dict[Any, list[int]] = {}
    for topic_id, partition in sorted(owned):
        topics.setdefault(topic_id, []).append(partition)
    entry = ConsumerGroupHeartbeatRequest.TopicPartitions
    return [
        entry(topic_id=topic_id, partitions=parts) for topic_id, parts in topics.items()
    ]


def read_assignment(assignment: Any) -> Assignment:
    """Return the partitions that the response to a heartbeat assigns."""
    return frozenset(
        (topic.topic_id, partition)
        for topic in assignment.topic_partitions
        for partition in topic.partitions
    )


def _group_by_topic(readers: Iterable[GroupReader]) -> Iterable[list[GroupReader]]:
    topics: dict[str, list[GroupReader]] = {}
    for reader in readers:
        topics.setdefault(reader.topic, []).append(reader)
    return topics.values()
