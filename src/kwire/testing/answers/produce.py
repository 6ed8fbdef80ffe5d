# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to Produce: checks of batches, sequence numbers and transactions.

Source: ``ProduceRequest.validateRecords``, ``ReplicaManager.appendRecords``,
``UnifiedLog.append`` and ``LogValidator``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import CorruptBatch, DecodeError, KwireError
from ...messages import ProduceResponse
from ...records import Batch, convert_batches, decode_batches
from ...schema import error_codes
from ..state.append_time import set_append_time
from ..state.features import REPORTS_INVALID_RECORDS
from ..state.partition_log import split_batches
from ..state.producer_state import ProducerEntry, check_sequence, last_sequence
from ..state.topic import NO_LEADER
from .context import Close
from .partitions import find_led_partition, find_topic_name
from .record_validation import (
    AppendResult,
    check_batches,
    check_replicas,
    uses_append_time,
)
from .transactions import admit_batch

if TYPE_CHECKING:
    from ...messages import ProduceRequest
    from ..state.topic import Partition
    from .context import Answer, RequestContext

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


def answer_produce(context: RequestContext) -> Answer:
    """Append the batches of each partition.

    If ``acks`` is 0, there is no response. Brokers then close the connection to report
    an error.
    """
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
                result = AppendResult(error_codes.INVALID_REQUIRED_ACKS)
            partition = context.state.find_partition(name, part.index) if name else None
            parts.append(_describe(context, part.index, result, partition, endpoints))
        topics.append(
            ProduceResponse.TopicProduceResponse(
                name=topic.name, topic_id=topic.topic_id, partition_responses=parts
            )
        )
    context.state.note_change()
    if request.acks == 0:
        has_error = any(
            part.error_code for topic in topics for part in topic.partition_responses
        )
        return Close() if has_error else None
    return ProduceResponse(responses=topics, node_endpoints=list(endpoints.values()))


def _describe(
    context: RequestContext,
    index: int,
    result: AppendResult,
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
        error_code=_adapt_code(context, result.error_code),
        base_offset=result.base_offset,
        log_append_time_ms=result.append_time_ms,
        log_start_offset=result.log_start_offset,
        record_errors=[
            ProduceResponse.BatchIndexAndErrorMessage(
                batch_index=position, batch_index_error_message=problem
            )
            for position, problem in result.invalid_records
        ],
        error_message=result.message,
        current_leader=leader,
    )


def _append(
    context: RequestContext, name: str | None, index: int, data: bytes
) -> AppendResult:
    """Check and append the record set of one partition."""
    code, partition = find_led_partition(context, name, index)
    if partition is None:
        return AppendResult(code)
    if partition.log.is_read_only:
        return AppendResult(
            error_codes.TOPIC_AUTHORIZATION_FAILED, message="the topic is read-only"
        )
    code = check_replicas(context, partition)
    if code:
        return AppendResult(code)
    try:
        batches = list(decode_batches(data))
    except CorruptBatch as error:
        return AppendResult(error_codes.CORRUPT_MESSAGE, message=str(error))
    except ImportError as error:
        # This Python installation has no library for the codec.
        code = error_codes.UNSUPPORTED_COMPRESSION_TYPE
        return AppendResult(code, message=str(error))
    except DecodeError as error:
        return AppendResult(error_codes.INVALID_RECORD, message=str(error))
    result = (
        _check_format(context, batches)
        or _check_transaction(context, partition, batches)
        or check_batches(context, partition, batches)
    )
    if result is not None and result.error_code != error_codes.INVALID_RECORD:
        return result
    log_start_offset = partition.log.start_offset
    for batch in batches:
        result = result or _check_producer(context, partition, batch)
    if result is not None:
        return result._replace(log_start_offset=log_start_offset)
    try:
        stored = _convert(partition, data, batches)
    except KwireError as error:
        return AppendResult(error_codes.INVALID_RECORD, message=str(error))
    base_offset = -1
    append_time_ms = -1
    if uses_append_time(context, partition):
        append_time_ms = context.state.clock.unix_ms
        stored = b"".join(
            set_append_time(header.magic, entry, append_time_ms)
            for header, entry in split_batches(stored)
        )
    for header, entry in split_batches(stored):
        offset = partition.log.append(header, entry)
        base_offset = offset if base_offset < 0 else base_offset
    return AppendResult(
        base_offset=base_offset,
        append_time_ms=append_time_ms,
        log_start_offset=log_start_offset,
    )


def _adapt_code(context: RequestContext, code: int) -> int:
    """Return the error code of the release. INVALID_RECORD is newer than Produce."""
    is_invalid = code == error_codes.INVALID_RECORD
    if is_invalid and not context.state.is_since(REPORTS_INVALID_RECORDS):
        return error_codes.CORRUPT_MESSAGE
    return code


def _convert(partition: Partition, data: bytes, batches: list[Batch]) -> bytes:
    """Convert a record set to the format of the log."""
    if all(batch.magic == partition.log.magic for batch in batches):
        return data
    converted, _ = convert_batches(data, partition.log.magic)
    return bytes(converted)


def _check_format(context: RequestContext, batches: list[Batch]) -> AppendResult | None:
    """Check what the request version allows."""
    version = context.version
    if version < 3:
        is_old = all(batch.magic < 2 for batch in batches)
        invalid = error_codes.CORRUPT_MESSAGE
        return None if is_old else AppendResult(invalid)
    if len(batches) != 1:
        text = f"Produce requests must contain one batch per partition ({len(batches)})"
        return AppendResult(error_codes.INVALID_RECORD, message=text)
    (batch,) = batches
    if batch.magic != 2:
        text = f"Produce requests must contain batches of magic 2 ({batch.magic})"
        return AppendResult(error_codes.INVALID_RECORD, message=text)
    if batch.compression == "zstd" and version < _WITH_ZSTD:
        return AppendResult(error_codes.UNSUPPORTED_COMPRESSION_TYPE)
    return None


def _check_transaction(
    context: RequestContext, partition: Partition, batches: list[Batch]
) -> AppendResult | None:
    """Check that transactional batches belong to an open transaction."""
    for batch in batches:
        code = admit_batch(context, partition, batch) if batch.is_transactional else 0
        if code:
            return AppendResult(code, message=_MESSAGES.get(code))
    return None


def _check_producer(
    context: RequestContext, partition: Partition, batch: Batch
) -> AppendResult | None:
    """Check the sequence numbers of a batch.

    Returns the result of the first append if the batch is a duplicate.
    """
    if batch.producer_id < 0:
        return None
    if batch.base_sequence < 0:
        text = f"invalid sequence number {batch.base_sequence} of an idempotent batch"
        return AppendResult(error_codes.INVALID_RECORD, message=text)
    release = context.state.release
    entry: ProducerEntry | None = partition.log.producers.get(batch.producer_id)
    first = batch.base_sequence
    if entry is not None:
        last = last_sequence(first, len(batch.records))
        duplicate = entry.find_duplicate(batch.producer_epoch, first, last, release)
        if duplicate is not None:
            # Brokers return the largest timestamp of the batch here.
            return AppendResult(
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
    return AppendResult(code) if code else None
