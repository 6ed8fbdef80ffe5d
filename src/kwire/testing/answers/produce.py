# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to Produce: checks of batches, sequence numbers and transactions.

Source: ``ProduceRequest.validateRecords``, ``ReplicaManager.appendRecords``,
``UnifiedLog.append`` and ``LogValidator``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...errors import CorruptBatch, DecodeError
from ...messages import ProduceResponse
from ...records import Batch, convert_batches, decode_batches
from ...schema import error_codes
from ..state.partition_log import split_batches
from ..state.producer_state import ProducerEntry, check_sequence, last_sequence
from ..state.topic import NO_LEADER
from .partitions import find_led_partition, find_topic_name
from .transactions import admit_batch

if TYPE_CHECKING:
    from ...messages import ProduceRequest
    from ..state.topic import Partition
    from .context import Answer, RequestContext

DEFAULT_MAX_MESSAGE_BYTES = 1_048_588
"""Default of the topic property ``max.message.bytes``."""

_WITH_IDS = 13
"""First version in which topics have ids instead of names."""
_WITH_ZSTD = 7
_WITH_HINTS = 10
_WITH_ADDITION = 12
"""First version that adds partitions to the transaction (KIP-890)."""

_MESSAGES = {
    error_codes.INVALID_TXN_STATE: "Partition was not added to the transaction",
    error_codes.NOT_ENOUGH_REPLICAS: (
        "Unable to verify the partition has been added to the transaction."
        " Underlying error: CONCURRENT_TRANSACTIONS"
    ),
}
"""Messages of failed verifications. Other failures have none."""


class _Result(NamedTuple):
    """Result for one partition.

    * ``message``: explanation of an error.
    * ``log_start_offset``: -1 if the error occurred before the log was read.
    """

    error_code: int = 0
    base_offset: int = -1
    append_time_ms: int = -1
    message: str | None = None
    log_start_offset: int = -1


def answer_produce(context: RequestContext) -> Answer:
    """Append the batches of each partition. Returns None if ``acks`` is 0."""
    request: ProduceRequest = context.request
    is_valid_acks = request.acks in (-1, 0, 1)
    topics = []
    endpoints: dict[int, ProduceResponse.NodeEndpoint] = {}
    for topic in request.topic_data:
        topic_id = topic.topic_id if context.version >= _WITH_IDS else None
        name = find_topic_name(context, topic.name, topic_id)
        parts = []
        for part in topic.partition_data:
            if is_valid_acks:
                data = bytes(part.records or b"")
                result = _append(context, name, part.index, data)
            else:
                result = _Result(error_codes.INVALID_REQUIRED_ACKS)
            partition = context.state.find_partition(name, part.index) if name else None
            parts.append(_describe(context, part.index, result, partition, endpoints))
        topics.append(
            ProduceResponse.TopicProduceResponse(
                name=topic.name, topic_id=topic.topic_id, partition_responses=parts
            )
        )
    context.state.note_change()
    if request.acks == 0:
        return None
    return ProduceResponse(responses=topics, node_endpoints=list(endpoints.values()))


def _describe(
    context: RequestContext,
    index: int,
    result: _Result,
    partition: Partition | None,
    endpoints: dict[int, ProduceResponse.NodeEndpoint],
) -> ProduceResponse.PartitionProduceResponse:
    """Return the entry of a partition, with the new leader after a move (KIP-951)."""
    leader = ProduceResponse.LeaderIdAndEpoch()
    is_moved = result.error_code == error_codes.NOT_LEADER_OR_FOLLOWER
    if is_moved and partition and context.version >= _WITH_HINTS:
        leader = ProduceResponse.LeaderIdAndEpoch(
            leader_id=partition.leader, leader_epoch=partition.leader_epoch
        )
        if partition.leader != NO_LEADER:
            broker = context.state.brokers[partition.leader]
            endpoints[broker.node_id] = ProduceResponse.NodeEndpoint(
                node_id=broker.node_id,
                host=broker.host,
                port=broker.port,
                rack=broker.rack,
            )
    return ProduceResponse.PartitionProduceResponse(
        index=index,
        error_code=result.error_code,
        base_offset=result.base_offset,
        log_append_time_ms=result.append_time_ms if context.version >= 2 else -1,
        log_start_offset=result.log_start_offset if context.version >= 5 else -1,
        error_message=result.message if context.version >= 8 else None,
        current_leader=leader,
    )


def _append(
    context: RequestContext, name: str | None, index: int, data: bytes
) -> _Result:
    """Check and append the record set of one partition."""
    code, partition = find_led_partition(context, name, index)
    if partition is None:
        return _Result(code)
    if partition.log.is_read_only:
        return _Result(
            error_codes.TOPIC_AUTHORIZATION_FAILED, message="the topic is read-only"
        )
    try:
        batches = _decode(data)
    except CorruptBatch as error:
        return _Result(error_codes.CORRUPT_MESSAGE, message=str(error))
    except DecodeError as error:
        return _Result(error_codes.INVALID_RECORD, message=str(error))
    result = (
        _check_format(context, batches)
        or _check_transaction(context, partition, batches)
        or _check_topic(partition, batches)
    )
    if result is not None and result.error_code != error_codes.INVALID_RECORD:
        return result
    log_start_offset = partition.log.start_offset
    for batch in batches:
        result = result or _check_producer(context, partition, batch)
    if result is not None:
        return result._replace(log_start_offset=log_start_offset)
    base_offset = -1
    for header, entry in split_batches(_convert(partition, data, batches)):
        offset = partition.log.append(header, entry)
        base_offset = offset if base_offset < 0 else base_offset
    return _Result(base_offset=base_offset, log_start_offset=log_start_offset)


def _decode(data: bytes) -> list[Batch]:
    return list(decode_batches(data))


def _convert(partition: Partition, data: bytes, batches: list[Batch]) -> bytes:
    """Convert a record set to the format of the log."""
    if all(batch.magic == partition.log.magic for batch in batches):
        return data
    converted, _ = convert_batches(data, partition.log.magic)
    return bytes(converted)


def _check_format(context: RequestContext, batches: list[Batch]) -> _Result | None:
    """Check what the request version allows."""
    version = context.version
    if version < 3:
        is_old = all(batch.magic < 2 for batch in batches)
        invalid = error_codes.CORRUPT_MESSAGE
        return None if is_old else _Result(invalid)
    if len(batches) != 1:
        text = f"Produce requests must contain one batch per partition ({len(batches)})"
        return _Result(error_codes.INVALID_RECORD, message=text)
    (batch,) = batches
    if batch.magic != 2:
        text = f"Produce requests must contain batches of magic 2 ({batch.magic})"
        return _Result(error_codes.INVALID_RECORD, message=text)
    if batch.compression == "zstd" and version < _WITH_ZSTD:
        return _Result(error_codes.UNSUPPORTED_COMPRESSION_TYPE)
    return None


def _check_topic(partition: Partition, batches: list[Batch]) -> _Result | None:
    """Check the batches against the configuration of the topic."""
    configs = partition.topic.configs
    max_bytes = int(configs.get("max.message.bytes", DEFAULT_MAX_MESSAGE_BYTES))
    is_compacted = "compact" in configs.get("cleanup.policy", "")
    for batch in batches:
        if batch.header.size > max_bytes:
            return _Result(error_codes.MESSAGE_TOO_LARGE)
        if batch.is_control:
            return _Result(error_codes.INVALID_RECORD, message="control batch")
        count = batch.header.last_offset - batch.header.base_offset + 1
        if batch.magic == 2 and count != len(batch.records):
            text = f"{len(batch.records)} records for {count} offsets"
            return _Result(error_codes.INVALID_RECORD, message=text)
        if batch.magic == 2 and not batch.records:
            return _Result(error_codes.INVALID_RECORD, message="empty batch")
        if is_compacted and any(record.key is None for record in batch.records):
            text = "records of a compacted topic must have keys"
            return _Result(error_codes.INVALID_RECORD, message=text)
    return None


def _check_transaction(
    context: RequestContext, partition: Partition, batches: list[Batch]
) -> _Result | None:
    """Check that transactional batches belong to an open transaction."""
    for batch in batches:
        code = admit_batch(context, partition, batch) if batch.is_transactional else 0
        if code:
            return _Result(code, message=_MESSAGES.get(code))
    return None


def _check_producer(
    context: RequestContext, partition: Partition, batch: Batch
) -> _Result | None:
    """Check the sequence numbers of a batch.

    Returns the result of the first append if the batch is a duplicate.
    """
    if batch.producer_id < 0:
        return None
    if batch.base_sequence < 0:
        text = f"invalid sequence number {batch.base_sequence} of an idempotent batch"
        return _Result(error_codes.INVALID_RECORD, message=text)
    release = context.state.release
    entry: ProducerEntry | None = partition.log.producers.get(batch.producer_id)
    first = batch.base_sequence
    if entry is not None:
        last = last_sequence(first, len(batch.records))
        duplicate = entry.find_duplicate(batch.producer_epoch, first, last, release)
        if duplicate is not None:
            # Brokers return the largest timestamp of the batch here.
            return _Result(
                base_offset=duplicate.base_offset,
                append_time_ms=duplicate.timestamp_ms,
            )
    code = check_sequence(entry, batch.producer_epoch, first, release)
    is_open = entry is not None and entry.open_since is not None
    is_first = batch.is_transactional and not is_open
    has_batches = entry is not None and bool(entry.batches)
    if is_first and first and not has_batches and context.version >= _WITH_ADDITION:
        # Each transaction starts with sequence number 0, because it has its own epoch.
        code = code or error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    if is_open and not batch.is_transactional:
        code = code or error_codes.INVALID_TXN_STATE
    return _Result(code) if code else None
