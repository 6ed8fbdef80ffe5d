# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the requests of a scan for some partitions of one broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..messages import FetchRequest, ListOffsetsRequest, OffsetForLeaderEpochRequest
from ..negotiation import FETCH_SESSION, FETCHED_EPOCH
from .fetch_session import Position

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .fetch_session import FetchSession, PartitionKey
    from .metadata import Metadata
    from .partition_reader import PartitionReader
    from .scan_options import ScanOptions

_CONSUMER = -1
"""What a consumer has for a replica id; brokers show followers more of the log."""


def lookups_request(
    readers: Iterable[PartitionReader],
    kind: str,
    metadata: Metadata,
    options: ScanOptions,
) -> ListOffsetsRequest:
    """Write the ListOffsets request for one kind of lookup of each partition."""
    topics: dict[str, list[Any]] = {}
    for reader in readers:
        entry = ListOffsetsRequest.ListOffsetsPartition(
            partition_index=reader.partition,
            current_leader_epoch=leader_epoch(reader, metadata),
            timestamp=reader.lookups[kind].timestamp,
        )
        topics.setdefault(reader.topic, []).append(entry)
    return ListOffsetsRequest(
        replica_id=_CONSUMER,
        isolation_level=int(options.read_committed),
        topics=[
            ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )


def epoch_ends_request(
    readers: Iterable[PartitionReader], metadata: Metadata
) -> OffsetForLeaderEpochRequest:
    """Write the request for where the epoch that each partition read last ends."""
    topics: dict[str, list[Any]] = {}
    for reader in readers:
        entry = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(
            partition=reader.partition,
            current_leader_epoch=leader_epoch(reader, metadata),
            leader_epoch=reader.epoch,
        )
        topics.setdefault(reader.topic, []).append(entry)
    return OffsetForLeaderEpochRequest(
        replica_id=_CONSUMER,
        topics=[
            OffsetForLeaderEpochRequest.OffsetForLeaderTopic(
                topic=name, partitions=partitions
            )
            for name, partitions in topics.items()
        ],
    )


def fetch_request(
    readers: list[PartitionReader],
    max_bytes: int,
    version: int,
    metadata: Metadata,
    options: ScanOptions,
    session: FetchSession,
) -> FetchRequest:
    """Write the Fetch request for the positions of the partitions.

    With a session, only those are in it that the broker does not know yet. What a
    partition may send stays the same then: ``max_bytes`` bounds all of them.
    """
    has_epochs = version in FETCHED_EPOCH.ranges[FetchRequest.api_key]
    has_sessions = version in FETCH_SESSION.ranges[FetchRequest.api_key]
    share = options.fetch_bytes if has_sessions else max_bytes
    wanted: dict[PartitionReader, Position] = {}
    for reader in readers:
        assert reader.position is not None, "a partition is fetched from a position"
        wanted[reader] = Position(
            reader.position,
            leader_epoch(reader, metadata),
            reader.epoch if has_epochs else -1,
            max(share, reader.fetch_bytes),
        )
    request = FetchRequest(
        max_wait_ms=options.max_wait_ms,
        min_bytes=1,
        max_bytes=max(max_bytes, *(each.fetch_bytes for each in readers)),
        isolation_level=int(options.read_committed),
        rack_id=options.rack,
    )
    if not has_sessions:
        named = {
            (reader.topic, reader.topic_id, reader.partition): position
            for reader, position in wanted.items()
        }
        return request.replace(topics=_fetch_topics(named))
    named, forgotten = session.begin_request(wanted, version)
    return request.replace(
        session_id=session.id,
        session_epoch=session.epoch,
        topics=_fetch_topics(named),
        forgotten_topics_data=[
            FetchRequest.ForgottenTopic(
                topic=topic, topic_id=topic_id, partitions=partitions
            )
            for (topic, topic_id), partitions in _by_topic(forgotten).items()
        ],
    )


def _fetch_topics(named: Mapping[PartitionKey, Position]) -> list[Any]:
    return [
        FetchRequest.FetchTopic(
            topic=topic,
            topic_id=topic_id,
            partitions=[
                _fetch_partition(partition, named[topic, topic_id, partition])
                for partition in partitions
            ],
        )
        for (topic, topic_id), partitions in _by_topic(named).items()
    ]


def _fetch_partition(partition: int, position: Position) -> Any:
    return FetchRequest.FetchPartition(
        partition=partition,
        current_leader_epoch=position.leader_epoch,
        fetch_offset=position.offset,
        last_fetched_epoch=position.fetched_epoch,
        partition_max_bytes=position.max_bytes,
    )


def _by_topic(keys: Iterable[PartitionKey]) -> dict[tuple[str, Any], list[int]]:
    topics: dict[tuple[str, Any], list[int]] = {}
    for topic, topic_id, partition in keys:
        topics.setdefault((topic, topic_id), []).append(partition)
    return topics


def leader_epoch(reader: PartitionReader, metadata: Metadata) -> int:
    """Return the epoch of the leader as far as it is known; -1 if it is not."""
    known = metadata.partition(reader.topic, reader.partition)
    return -1 if known is None else known.leader_epoch
