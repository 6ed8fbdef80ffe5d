# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The two requests of a scan, written for some partitions of one leader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..messages import FetchRequest, ListOffsetsRequest
from ..negotiation import FETCHED_EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterable

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
            current_leader_epoch=_epoch(reader, metadata),
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


def fetch_request(
    readers: list[PartitionReader],
    max_bytes: int,
    version: int,
    metadata: Metadata,
    options: ScanOptions,
) -> FetchRequest:
    """Write the Fetch request for the positions of the partitions."""
    topics: dict[tuple[str, Any], list[Any]] = {}
    for reader in readers:
        assert reader.position is not None, "a partition is fetched from a position"
        entry = FetchRequest.FetchPartition(
            partition=reader.partition,
            current_leader_epoch=_epoch(reader, metadata),
            fetch_offset=reader.position,
            last_fetched_epoch=(
                reader.epoch
                if version in FETCHED_EPOCH.ranges[FetchRequest.api_key]
                else -1
            ),
            partition_max_bytes=max(max_bytes, reader.fetch_bytes),
        )
        topics.setdefault((reader.topic, reader.topic_id), []).append(entry)
    return FetchRequest(
        max_wait_ms=options.max_wait_ms,
        min_bytes=1,
        max_bytes=max(max_bytes, *(each.fetch_bytes for each in readers)),
        isolation_level=int(options.read_committed),
        topics=[
            FetchRequest.FetchTopic(topic=name, topic_id=topic_id, partitions=parts)
            for (name, topic_id), parts in topics.items()
        ],
        rack_id=options.rack,
    )


def _epoch(reader: PartitionReader, metadata: Metadata) -> int:
    known = metadata.partition(reader.topic, reader.partition)
    return -1 if known is None else known.leader_epoch
