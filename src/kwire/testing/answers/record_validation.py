# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of produced batches against the properties of their topic.

Source: ``Partition.appendRecordsToLeader``, ``UnifiedLog.analyzeAndValidateRecords``
and ``LogValidator``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...schema import error_codes
from ..state.configs import split_list
from ..state.features import LIMITS_REQUIRED_REPLICAS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...records import Batch
    from ..state.topic import Partition
    from .context import RequestContext

_LOG_APPEND_TIME = "LogAppendTime"
_NO_TIMESTAMP = -1
_ALL_REPLICAS = -1
_MAX_REPORTED = 100
"""Number of invalid records in a response. Brokers report all of them."""


class AppendResult(NamedTuple):
    """Result for one partition.

    * ``message``: explains an error.
    * ``invalid_records``: positions and problems of rejected records (KIP-467).
    * ``log_start_offset``: -1 if the error occurred before the log was read.
    """

    error_code: int = 0
    base_offset: int = -1
    append_time_ms: int = -1
    message: str | None = None
    invalid_records: tuple[tuple[int, str], ...] = ()
    log_start_offset: int = -1


class _Limits(NamedTuple):
    """Properties of a topic that its records must satisfy.

    * ``before_ms``, ``after_ms``: maximum distance of timestamps from the current time.
    """

    is_compacted: bool
    has_append_time: bool
    before_ms: int
    after_ms: int
    now_ms: int


def uses_append_time(context: RequestContext, partition: Partition) -> bool:
    """Whether the records of a topic get the time of the broker."""
    return _read(context, partition)("message.timestamp.type") == _LOG_APPEND_TIME


def check_replicas(context: RequestContext, partition: Partition) -> int:
    """Return an error code if too few replicas are in sync for ``acks`` -1, or 0."""
    if context.request.acks != _ALL_REPLICAS:
        return 0
    minimum = int(_read(context, partition)("min.insync.replicas"))
    if context.state.is_since(LIMITS_REQUIRED_REPLICAS):
        minimum = min(minimum, len(partition.replicas))
    is_enough = len(partition.in_sync) >= minimum
    return 0 if is_enough else error_codes.NOT_ENOUGH_REPLICAS


def check_batches(
    context: RequestContext, partition: Partition, batches: list[Batch]
) -> AppendResult | None:
    """Return the error of the first batch that the broker rejects, or None."""
    read = _read(context, partition)
    max_bytes = int(read("max.message.bytes"))
    for batch in batches:
        if batch.magic == 2 and batch.base_offset:
            return _invalid(f"the base offset must be 0 (got {batch.base_offset})")
        if batch.header.size > max_bytes:
            text = f"the batch exceeds max.message.bytes ({max_bytes})"
            return AppendResult(error_codes.MESSAGE_TOO_LARGE, message=text)
    size = sum(batch.header.size for batch in batches)
    if size > int(read("segment.bytes")):
        text = "the record set exceeds segment.bytes"
        return AppendResult(error_codes.RECORD_LIST_TOO_LARGE, message=text)
    limits = _Limits(
        "compact" in split_list(read("cleanup.policy")),
        read("message.timestamp.type") == _LOG_APPEND_TIME,
        _find_distance(read, "message.timestamp.before.max.ms"),
        _find_distance(read, "message.timestamp.after.max.ms"),
        context.state.clock.unix_ms,
    )
    for batch in batches:
        result = _check_batch(batch) or _check_records(batch, limits)
        if result is not None:
            return result
    return None


def _read(context: RequestContext, partition: Partition) -> Callable[[str], str]:
    """Return a function that returns the value of a topic property."""
    state, broker = context.state, context.broker
    return lambda name: state.configs.topic_value(partition.topic, name, broker)


def _find_distance(read: Callable[[str], str], name: str) -> int:
    """Return a maximum distance. The older property still applies until 3.9."""
    unlimited = (1 << 63) - 1
    values = [read(name), read("message.timestamp.difference.max.ms")]
    return min((int(value) for value in values if value), default=unlimited)


def _invalid(message: str) -> AppendResult:
    return AppendResult(error_codes.INVALID_RECORD, message=message)


def _check_batch(batch: Batch) -> AppendResult | None:
    if batch.magic == 2:
        count = batch.last_offset - batch.base_offset + 1
        if count != len(batch.records):
            return _invalid(f"the batch has {len(batch.records)} records")
        if not batch.records:
            return _invalid("the batch has no records")
    if batch.is_control:
        return _invalid("Clients are not allowed to write control records")
    return None


def _check_records(batch: Batch, limits: _Limits) -> AppendResult | None:
    has_timestamps = not limits.has_append_time and batch.magic > 0
    is_stamped = batch.magic > 0 and batch.timestamp_type == 1
    problems: list[tuple[int, str]] = []
    code = error_codes.INVALID_RECORD
    for index, record in enumerate(batch.records):
        if limits.is_compacted and record.key is None:
            text = "Compacted topic cannot accept message without key"
            problems.append((index, text))
            continue
        distance_ms = limits.now_ms - record.timestamp
        if has_timestamps and record.timestamp != _NO_TIMESTAMP and not is_stamped:
            if not -limits.after_ms <= distance_ms <= limits.before_ms:
                text = f"Timestamp {record.timestamp} is out of range."
                problems.append((index, text))
                code = error_codes.INVALID_TIMESTAMP
        elif is_stamped:
            text = "Producer should not set timestamp type to LogAppendTime."
            problems.append((index, text))
            code = error_codes.INVALID_TIMESTAMP
    if not problems:
        return None
    if code == error_codes.INVALID_TIMESTAMP:
        text = "One or more records have been rejected due to invalid timestamp"
    else:
        text = (
            f"One or more records have been rejected due to {len(problems)} record"
            " errors in total"
        )
    invalid_records = tuple(problems[:_MAX_REPORTED])
    return AppendResult(code, message=text, invalid_records=invalid_records)
