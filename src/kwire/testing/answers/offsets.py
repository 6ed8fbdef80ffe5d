# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to ListOffsets and OffsetForLeaderEpoch.

Source: ``KafkaApis.handleListOffsetRequest``, ``UnifiedLog.fetchOffsetByTimestamp`` and
``ReplicaManager.lastOffsetForLeaderEpoch``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages import ListOffsetsResponse, OffsetForLeaderEpochResponse
from ...schema import error_codes
from ..state.features import KNOWS_MORE_TIMESTAMPS
from .partitions import find_led_partition

if TYPE_CHECKING:
    from ..state.topic import Partition
    from .context import Answer, RequestContext

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -4, -5, -6
_SINCE = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9}
_SINCE[EARLIEST_PENDING_UPLOAD] = 11
"""First request version in which a special timestamp is allowed."""

_NEVER = 1 << 15


def answer_list_offsets(context: RequestContext) -> Answer:
    """Return the offsets for timestamps, or the ends of partitions."""
    request = context.request
    counts: dict[tuple[str, int], int] = {}
    for topic in request.topics:
        for part in topic.partitions:
            key = topic.name, part.partition_index
            counts[key] = counts.get(key, 0) + 1
    return ListOffsetsResponse(
        topics=[
            ListOffsetsResponse.ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    _answer_partition(
                        context,
                        topic.name,
                        part,
                        counts[topic.name, part.partition_index] > 1,
                    )
                    for part in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _answer_partition(
    context: RequestContext, name: str, part: object, is_repeated: bool
) -> ListOffsetsResponse.ListOffsetsPartitionResponse:
    index: int = part.partition_index  # type: ignore[attr-defined]
    timestamp: int = part.timestamp  # type: ignore[attr-defined]
    epoch: int = part.current_leader_epoch  # type: ignore[attr-defined]
    make = ListOffsetsResponse.ListOffsetsPartitionResponse
    if is_repeated and context.version >= 1:
        return make(partition_index=index, error_code=error_codes.INVALID_REQUEST)
    if timestamp < EARLIEST:
        if not context.state.is_since(KNOWS_MORE_TIMESTAMPS):
            # Earlier brokers look for the first record that is not older.
            timestamp = 0
        elif context.version < _SINCE.get(timestamp, _NEVER):
            code = error_codes.UNSUPPORTED_VERSION
            return make(partition_index=index, error_code=code)
    code, partition = find_led_partition(context, name, index, epoch)
    if partition is None:
        return make(partition_index=index, error_code=code)
    if context.version == 0:
        limit: int = part.max_num_offsets  # type: ignore[attr-defined]
        offsets = _list_old_style(context, partition, timestamp)[: max(limit, 0)]
        return make(partition_index=index, old_style_offsets=offsets)
    is_committed = context.request.isolation_level == 1
    offset, found_timestamp, found_epoch = _find(partition, timestamp, is_committed)
    return make(
        partition_index=index,
        offset=offset,
        timestamp=found_timestamp,
        leader_epoch=found_epoch if context.version >= 4 else -1,
    )


def _find(
    partition: Partition, timestamp: int, is_committed: bool
) -> tuple[int, int, int]:
    """Return offset, timestamp and leader epoch, or three times -1 without a record."""
    log = partition.log
    end = log.last_stable_offset if is_committed else log.high_watermark
    if timestamp == LATEST:
        return end, -1, partition.leader_epoch
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        return log.start_offset, -1, log.find_leader_epoch(log.start_offset)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return -1, -1, -1
    result = (
        log.find_max_timestamp()
        if timestamp == MAX_TIMESTAMP
        else log.find_timestamp(timestamp)
    )
    # Records after the last stable offset are not visible yet.
    if result is None or result[0] >= end:
        return -1, -1, -1
    return result


def _list_old_style(
    context: RequestContext, partition: Partition, timestamp: int
) -> list[int]:
    """List the offsets of version 0, newest first.

    Brokers list the log end offset, and the first offset of each segment that was last
    modified before the timestamp. Here, a log has one segment, which counts as modified
    at the current time.
    """
    log = partition.log
    if timestamp == EARLIEST:
        return [log.start_offset]
    if timestamp != LATEST and timestamp < context.state.clock.unix_ms:
        return []
    return list(dict.fromkeys((log.high_watermark, log.start_offset)))


def answer_offset_for_leader_epoch(context: RequestContext) -> Answer:
    """Return the end offset of leader epochs, so that clients detect truncation."""
    make = OffsetForLeaderEpochResponse
    topics = []
    for topic in context.request.topics:
        partitions = []
        for part in topic.partitions:
            code, partition = find_led_partition(
                context, topic.topic, part.partition, part.current_leader_epoch
            )
            epoch, end_offset = (
                partition.log.find_epoch_end(part.leader_epoch)
                if partition
                else (-1, -1)
            )
            partitions.append(
                make.EpochEndOffset(
                    error_code=code,
                    partition=part.partition,
                    leader_epoch=epoch,
                    end_offset=end_offset,
                )
            )
        topics.append(
            make.OffsetForLeaderTopicResult(topic=topic.topic, partitions=partitions)
        )
    return make(topics=topics)
