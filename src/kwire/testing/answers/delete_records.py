# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to DeleteRecords. Source: ``ReplicaManager.deleteRecords``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages import DeleteRecordsResponse
from ...schema import error_codes
from ...schema.topic_names import COORDINATOR_TOPICS
from ..state.configs import split_list
from .partitions import find_led_partition

if TYPE_CHECKING:
    from .context import Answer, RequestContext

_HIGH_WATERMARK = -1
_NO_OFFSET = -1


def answer_delete_records(context: RequestContext) -> Answer:
    """Delete the records before an offset, or before the high watermark."""
    offsets: dict[str, dict[int, int]] = {}
    for topic in context.request.topics:
        partitions = offsets.setdefault(topic.name, {})
        for part in topic.partitions:
            partitions[part.partition_index] = part.offset
    make = DeleteRecordsResponse
    topics = []
    for name, partitions in offsets.items():
        results = []
        for index, offset in partitions.items():
            code, low_watermark = _delete(context, name, index, offset)
            results.append(
                make.DeleteRecordsPartitionResult(
                    partition_index=index,
                    low_watermark=low_watermark,
                    error_code=code,
                )
            )
        topics.append(make.DeleteRecordsTopicResult(name=name, partitions=results))
    context.state.note_change()
    return make(topics=topics)


def _delete(
    context: RequestContext, name: str, index: int, offset: int
) -> tuple[int, int]:
    """Return the error code and the new log start offset of a partition."""
    code, partition = find_led_partition(context, name, index)
    if code != error_codes.UNKNOWN_TOPIC_OR_PARTITION and name in COORDINATOR_TOPICS:
        return error_codes.INVALID_TOPIC_EXCEPTION, _NO_OFFSET
    if partition is None:
        return code, _NO_OFFSET
    if partition.log.is_read_only:
        return error_codes.TOPIC_AUTHORIZATION_FAILED, _NO_OFFSET
    configs = context.state.configs
    policy = configs.topic_value(partition.topic, "cleanup.policy", context.broker)
    if "delete" not in split_list(policy):
        return error_codes.POLICY_VIOLATION, _NO_OFFSET
    log = partition.log
    if offset == _HIGH_WATERMARK:
        offset = log.high_watermark
    if not 0 <= offset <= log.high_watermark:
        return error_codes.OFFSET_OUT_OF_RANGE, _NO_OFFSET
    log.delete_records_before(offset)
    return 0, log.start_offset
