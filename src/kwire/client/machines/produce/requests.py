# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds Produce requests, and maps the error codes of responses to reactions."""

from __future__ import annotations

from enum import Enum, auto
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeVar

from ....connection.negotiation import MAGIC_0, MAGIC_1, MAGIC_2
from ....messages import ProduceRequest
from ....schema import error_codes as codes
from ....schema.batch_layout import MAX_TIMESTAMP_AT
from ...errors import DeliveryFailed, NotAuthorized, ProducerFenced, RequestRefused
from .. import faults
from ..faults import Reaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ....connection.negotiation import ApiVersionTable
    from ...errors import ClusterError
    from ..metadata import TopicInfo
    from .pending_batch import PendingBatch

T = TypeVar("T")

_max_timestamp_at = Struct(">q").unpack_from


class Verdict(Enum):
    """Reaction to the result of a batch in a Produce response."""

    DONE = auto()
    """The log contains the batch."""
    RETRY = auto()
    """Send the batch again after a pause."""
    NEW_LEADER = auto()
    """Send the batch to the new leader, because this broker is not the leader."""
    RENUMBER = auto()
    """The broker lacks the previous batch, or the producer's state. If no earlier batch
    is waiting, continue with the next epoch and new sequence numbers.
    """
    SPLIT = auto()
    """Split the batch, because it is too large."""
    FAIL = auto()
    """Fail the batch, because the broker rejects these records."""
    FATAL = auto()
    """Fail the producer, because the broker rejects all its requests."""


_VERDICTS = {
    codes.NONE: Verdict.DONE,
    codes.DUPLICATE_SEQUENCE_NUMBER: Verdict.DONE,
    codes.OUT_OF_ORDER_SEQUENCE_NUMBER: Verdict.RENUMBER,
    codes.UNKNOWN_PRODUCER_ID: Verdict.RENUMBER,
    codes.MESSAGE_TOO_LARGE: Verdict.SPLIT,
    codes.RECORD_LIST_TOO_LARGE: Verdict.SPLIT,
    codes.INVALID_PRODUCER_EPOCH: Verdict.FATAL,
    codes.PRODUCER_FENCED: Verdict.FATAL,
    codes.CLUSTER_AUTHORIZATION_FAILED: Verdict.FATAL,
}

_NOT_WRITTEN = {
    codes.MESSAGE_TOO_LARGE,
    codes.RECORD_LIST_TOO_LARGE,
    codes.OUT_OF_ORDER_SEQUENCE_NUMBER,
    codes.UNKNOWN_PRODUCER_ID,
    codes.NOT_ENOUGH_REPLICAS,
    codes.UNKNOWN_TOPIC_ID,
    codes.CORRUPT_MESSAGE,
    codes.CONCURRENT_TRANSACTIONS,
    codes.TRANSACTION_ABORTABLE,
    codes.INVALID_TXN_STATE,
}
"""Errors that a broker returns before it appends the batch. After any other error, the
log may contain the batch: for example, a leader may lose its role after the append.
"""


def read_verdict(error_code: int) -> Verdict:
    """Return the reaction to an error code of a Produce response."""
    verdict = _VERDICTS.get(error_code)
    if verdict is None:
        reaction = faults.choose_reaction(error_code)
        if reaction in (Reaction.NEW_LEADER, Reaction.CATCH_UP):
            return Verdict.NEW_LEADER
        verdict = Verdict.RETRY if reaction is Reaction.RETRY else Verdict.FAIL
    return verdict


def may_be_written(error_code: int) -> bool:
    """Return whether the log may contain a batch that is sent again after an error.

    Returns False if the batch is not sent again after this error.
    """
    return error_code not in _NOT_WRITTEN and read_verdict(error_code) in (
        Verdict.RETRY,
        Verdict.NEW_LEADER,
    )


MAGIC_CONSTRAINTS = {2: MAGIC_2, 1: MAGIC_1, 0: MAGIC_0}
"""Version constraints of Produce by the magic of its record format, newest first."""


def choose_magic(table: ApiVersionTable) -> int:
    """Choose the newest record format that a broker accepts from producers."""
    for magic, constraint in MAGIC_CONSTRAINTS.items():
        if table.usable(ProduceRequest, constraint):
            return magic
    # If no format fits, the error names the newest one.
    return next(iter(MAGIC_CONSTRAINTS))


def read_append_time(part: Any, batch: PendingBatch) -> int:
    """Return the log append time of a batch (ms), or -1 if the topic keeps timestamps.

    If the batch is a duplicate, the broker returns its max timestamp as the log append
    time, even if the topic keeps the timestamps of the records. A log append time that
    is equal to the max timestamp is therefore ignored.
    Source: ``UnifiedLog.append``.
    """
    append_time: int = part.log_append_time_ms
    if append_time == -1 or batch.magic < 2 or batch.data is None:
        # The batch is not a duplicate, because brokers detect only duplicates of record
        # batches.
        return append_time
    (max_timestamp,) = _max_timestamp_at(batch.data, MAX_TIMESTAMP_AT)
    return -1 if max_timestamp == append_time else append_time


def delivery_failure(
    batch: PendingBatch, reason: str, error_code: int = codes.NONE
) -> DeliveryFailed:
    """Build the exception for a batch that will not be sent again."""
    return DeliveryFailed(
        batch.topic,
        batch.partition,
        batch.count,
        reason,
        batch.is_in_doubt,
        error_code,
    )


def rejection_failure(
    batch: PendingBatch, error_code: int, message: str | None
) -> ClusterError:
    """Build the exception for a batch that the broker has rejected."""
    if error_code == codes.TOPIC_AUTHORIZATION_FAILED:
        return NotAuthorized(
            f"writing {batch.topic}-{batch.partition}: the user is not authorized; it"
            " needs the operations Write and Describe"
        )
    reason = faults.describe_answer(error_code, message)
    if read_verdict(error_code) is Verdict.SPLIT:
        reason += "; raise the topic's max.message.bytes, or write smaller records"
    return delivery_failure(batch, reason, error_code)


def fatal_failure(name: str, error_code: int) -> ClusterError:
    """Build the exception for an error that ends the producer.

    ``name`` is the partition that was written, for example "orders-3".
    """
    if error_code in (codes.INVALID_PRODUCER_EPOCH, codes.PRODUCER_FENCED):
        return ProducerFenced(
            f"writing {name}: a newer producer has fenced this one (the broker answered"
            f" {codes.name(error_code)}); make a new producer"
        )
    if error_code == codes.CLUSTER_AUTHORIZATION_FAILED:
        return NotAuthorized(
            f"writing {name}: the user is not authorized; it needs the operation"
            " IdempotentWrite on the cluster, or set idempotent to False"
        )
    return RequestRefused(
        f"writing {name}: the broker answered {codes.name(error_code)}", error_code
    )


def produce_request(
    batches: Sequence[PendingBatch],
    acks: int,
    timeout_ms: int,
    topics: Mapping[str, TopicInfo],
    transactional_id: str | None,
) -> ProduceRequest:
    """Build a Produce request, which contains at most one batch per partition."""
    entry, part = ProduceRequest.TopicProduceData, ProduceRequest.PartitionProduceData
    by_topic = group_by_topic(
        (batch.topic, part(index=batch.partition, records=batch.data))
        for batch in batches
    )
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            entry(name=name, topic_id=topics[name].topic_id, partition_data=parts)
            for name, parts in by_topic.items()
        ],
    )


def group_by_topic(entries: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """Group (topic, value) pairs by topic, and return {topic: values}."""
    groups: dict[str, list[T]] = {}
    for topic, value in entries:
        groups.setdefault(topic, []).append(value)
    return groups
