# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the requests of a scan for some partitions of one broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....connection.negotiation.facts import first_version
from ....messages import FetchRequest, ListOffsetsRequest, OffsetForLeaderEpochRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..metadata import Metadata
    from .fetch_session import FetchSession, Position
    from .options import ScanOptions
    from .partition_reader import PartitionReader

_FIRST_WITH_ISOLATION = first_version("ListOffsetsRequest", "isolation_level")

_CONSUMER = -1
"""What a consumer has for a replica id; brokers show followers more of the log."""

_NO_SESSION = 0, -1
"""Id and epoch of a request outside of all sessions."""


def lookups_request(
    readers: Iterable[PartitionReader],
    kind: str,
    metadata: Metadata,
    options: ScanOptions,
    version: int,
) -> ListOffsetsRequest:
    """Write the ListOffsets request for one kind of lookup of each partition."""
    # Brokers whose requests have no isolation level have no transactions either.
    committed = options.read_committed and version >= _FIRST_WITH_ISOLATION
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
        isolation_level=int(committed),
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
    options: ScanOptions,
    session: FetchSession,
) -> FetchRequest:
    """Write the Fetch request for the positions of the partitions.

    With a session, only those are in it that the broker does not know yet. What a
    partition may send stays the same then: ``max_bytes`` bounds all of them. Old
    versions have no such bound, so each partition gets its share of ``max_bytes``.
    ``sent_epoch`` of each reader is the epoch of the leader that the request is for.
    """
    share = options.fetch_bytes if session.has_sessions else max_bytes
    if not session.has_max_bytes:
        share = max(max_bytes // len(readers), 1)
    make = session.make_position
    named: Mapping[PartitionReader, Position] = {
        each: make(each, max(share, each.fetch_bytes)) for each in readers
    }
    forgotten: Mapping[PartitionReader, Position] = {}
    session_id, session_epoch = _NO_SESSION
    if session.has_sessions:
        named, forgotten = session.begin_request(named)
        session_id, session_epoch = session.id, session.epoch
    return FetchRequest(
        max_wait_ms=options.max_wait_ms,
        min_bytes=1,
        max_bytes=max(max_bytes, *[each.fetch_bytes for each in readers]),
        isolation_level=int(options.read_committed),
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[
            FetchRequest.FetchTopic(
                topic=topic,
                topic_id=places[0][1].topic_id,
                partitions=[_fetch_partition(*place) for place in places],
            )
            for topic, places in _by_topic(named)
        ],
        forgotten_topics_data=_forgotten_topics(forgotten) if forgotten else (),
        rack_id=options.rack,
    )


def _forgotten_topics(forgotten: Mapping[PartitionReader, Position]) -> list[Any]:
    return [
        FetchRequest.ForgottenTopic(
            topic=topic,
            topic_id=places[0][1].topic_id,
            partitions=[reader.partition for reader, _ in places],
        )
        for topic, places in _by_topic(forgotten)
    ]


def _fetch_partition(reader: PartitionReader, position: Position) -> Any:
    return FetchRequest.FetchPartition(
        partition=reader.partition,
        current_leader_epoch=position.leader_epoch,
        fetch_offset=position.offset,
        last_fetched_epoch=position.fetched_epoch,
        partition_max_bytes=position.max_bytes,
    )


def _by_topic(
    positions: Mapping[PartitionReader, Position],
) -> Iterable[tuple[str, list[tuple[PartitionReader, Position]]]]:
    """Group partitions by topic; one that was created again is another topic."""
    # A UUID takes longer to hash than all the rest here.
    topics: dict[tuple[str, int], list[tuple[PartitionReader, Position]]] = {}
    for place in positions.items():
        reader, position = place
        key = reader.topic, position.topic_id.int
        topics.setdefault(key, []).append(place)
    return [(topic, places) for (topic, _), places in topics.items()]


def leader_epoch(reader: PartitionReader, metadata: Metadata) -> int:
    """Return the epoch of the leader as far as it is known; -1 if it is not."""
    known = metadata.partition(reader.topic, reader.partition)
    return -1 if known is None else known.leader_epoch
