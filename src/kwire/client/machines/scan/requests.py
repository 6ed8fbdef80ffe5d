# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds a scan's requests. Every request contains partitions of one broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....connection.negotiation.facts import first_version
from ....messages import FetchRequest, ListOffsetsRequest, OffsetForLeaderEpochRequest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .fetch_session import FetchSession, Position
    from .options import ScanOptions
    from .partition_reader import PartitionReader

_FIRST_WITH_ISOLATION = first_version("ListOffsetsRequest", "isolation_level")

_CONSUMER = -1
"""Replica id in the requests of a consumer. Followers send their node id instead, and
can also read records above the high watermark.
"""

_NO_SESSION = 0, -1
"""Session id and session epoch of a request without a session."""


def lookups_request(
    epochs: Mapping[PartitionReader, int],
    kind: str,
    options: ScanOptions,
    version: int,
) -> ListOffsetsRequest:
    """Build the ListOffsets request for one kind of lookup in some partitions.

    ``epochs`` contains the partitions with their current leader epochs.
    """
    # Brokers that do not support isolation levels do not support transactions either.
    committed = options.read_committed and version >= _FIRST_WITH_ISOLATION
    return ListOffsetsRequest(
        replica_id=_CONSUMER,
        isolation_level=int(committed),
        topics=[
            ListOffsetsRequest.ListOffsetsTopic(
                name=topic,
                partitions=[
                    ListOffsetsRequest.ListOffsetsPartition(
                        partition_index=reader.partition,
                        current_leader_epoch=epochs[reader],
                        timestamp=reader.lookups[kind].timestamp,
                    )
                    for reader in readers
                ],
            )
            for topic, readers in _group_by_topic(epochs)
        ],
    )


def epoch_ends_request(
    epochs: Mapping[PartitionReader, int],
) -> OffsetForLeaderEpochRequest:
    """Build the OffsetForLeaderEpoch request for the last epoch that each reader read.

    ``epochs`` contains the partitions with their current leader epochs.
    """
    return OffsetForLeaderEpochRequest(
        replica_id=_CONSUMER,
        topics=[
            OffsetForLeaderEpochRequest.OffsetForLeaderTopic(
                topic=topic,
                partitions=[
                    OffsetForLeaderEpochRequest.OffsetForLeaderPartition(
                        partition=reader.partition,
                        current_leader_epoch=epochs[reader],
                        leader_epoch=reader.epoch,
                    )
                    for reader in readers
                ],
            )
            for topic, readers in _group_by_topic(epochs)
        ],
    )


def fetch_request(
    epochs: Mapping[PartitionReader, int],
    max_bytes: int,
    options: ScanOptions,
    session: FetchSession,
) -> FetchRequest:
    """Build the Fetch request for the positions of some partitions.

    * ``epochs``: the partitions with their current leader epochs.
    * ``max_bytes``: maximum size of the response. In versions without this limit, each
      partition gets an equal share. With sessions, a partition's limit is always
      ``fetch_bytes``, so that it does not change with the number of partitions.
    * ``session``: an incremental request contains only partitions that have changed.
    """
    share = options.fetch_bytes if session.has_sessions else max_bytes
    if not session.has_max_bytes:
        share = max(max_bytes // len(epochs), 1)
    make_position = session.make_position
    included: Mapping[PartitionReader, Position] = {
        reader: make_position(reader, epoch, max(share, reader.fetch_bytes))
        for reader, epoch in epochs.items()
    }
    forgotten: Mapping[PartitionReader, Position] = {}
    session_id, session_epoch = _NO_SESSION
    if session.has_sessions:
        included, forgotten = session.begin_request(included)
        session_id, session_epoch = session.id, session.epoch
    return FetchRequest(
        max_wait_ms=options.max_wait_ms,
        min_bytes=1,
        max_bytes=max(max_bytes, *[reader.fetch_bytes for reader in epochs]),
        isolation_level=int(options.read_committed),
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[
            FetchRequest.FetchTopic(
                topic=readers[0].topic,
                topic_id=included[readers[0]].topic_id,
                partitions=[
                    _fetch_partition(reader, included[reader]) for reader in readers
                ],
            )
            for readers in _group_by_topic_id(included)
        ],
        forgotten_topics_data=[
            FetchRequest.ForgottenTopic(
                topic=readers[0].topic,
                topic_id=forgotten[readers[0]].topic_id,
                partitions=[reader.partition for reader in readers],
            )
            for readers in _group_by_topic_id(forgotten)
        ],
        rack_id=options.rack,
    )


def _fetch_partition(reader: PartitionReader, position: Position) -> Any:
    return FetchRequest.FetchPartition(
        partition=reader.partition,
        current_leader_epoch=position.leader_epoch,
        fetch_offset=position.offset,
        last_fetched_epoch=position.fetched_epoch,
        partition_max_bytes=position.max_bytes,
    )


def _group_by_topic(
    readers: Iterable[PartitionReader],
) -> Iterable[tuple[str, list[PartitionReader]]]:
    """Group readers by topic name."""
    topics: dict[str, list[PartitionReader]] = {}
    for reader in readers:
        topics.setdefault(reader.topic, []).append(reader)
    return topics.items()


def _group_by_topic_id(
    positions: Mapping[PartitionReader, Position],
) -> Iterable[list[PartitionReader]]:
    """Group readers by topic name and id. A recreated topic has another id."""
    # Hash the id as an integer, because hashing a UUID would take most of the time.
    topics: dict[tuple[str, int], list[PartitionReader]] = {}
    for reader, position in positions.items():
        key = reader.topic, position.topic_id.int
        topics.setdefault(key, []).append(reader)
    return topics.values()
