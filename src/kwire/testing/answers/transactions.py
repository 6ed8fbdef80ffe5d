# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to the requests of idempotent and transactional producers.

Source: ``KafkaApis``, ``AddPartitionsToTxnManager`` and ``OffsetMetadataManager``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...messages import (
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnResponse,
    EndTxnResponse,
    InitProducerIdResponse,
)
from ...schema import error_codes
from ..state.features import BUMPS_EPOCHS, VERIFIES_BATCHES, is_since
from ..state.transactions import (
    MAX_TIMEOUT_MS,
    NO_PRODUCER,
    ProducerIdentity,
    ProducerResult,
)
from .coordinators import check_location

if TYPE_CHECKING:
    from ...messages import (
        AddOffsetsToTxnRequest,
        AddPartitionsToTxnRequest,
        EndTxnRequest,
        InitProducerIdRequest,
        ProduceRequest,
    )
    from ...records import Batch
    from ..state.topic import Partition
    from .context import Answer, RequestContext

_BATCHED_SINCE = 4
"""First version of AddPartitionsToTxn with several transactions, for brokers."""
_INIT_WITH_FENCED = 4
_OTHERS_WITH_FENCED = 2
"""First versions in which PRODUCER_FENCED replaces INVALID_PRODUCER_EPOCH."""
_END_WITH_BUMP = 5
_PRODUCE_WITH_ADDITION = 12
_PRODUCE_WITH_ABORTABLE = 11


def answer_init_producer_id(context: RequestContext) -> Answer:
    """Return a producer id and an epoch."""
    request: InitProducerIdRequest = context.request
    code = context.injected_error()
    result = ProducerResult(code) if code else _init_producer(context, request)
    return InitProducerIdResponse(
        error_code=_translate_fenced(
            result.error_code, context.version, _INIT_WITH_FENCED
        ),
        producer_id=result.producer.producer_id,
        producer_epoch=result.producer.epoch,
    )


def answer_add_partitions_to_txn(context: RequestContext) -> Answer:
    """Add partitions to a transaction, or verify that it contains them."""
    request: AddPartitionsToTxnRequest = context.request
    if context.version < _BATCHED_SINCE:
        producer = ProducerIdentity(
            request.v3_and_below_producer_id, request.v3_and_below_producer_epoch
        )
        return AddPartitionsToTxnResponse(
            results_by_topic_v3_and_below=_add_partitions(
                context,
                request.v3_and_below_transactional_id,
                producer,
                request.v3_and_below_topics,
            )
        )
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResponse.AddPartitionsToTxnResult(
                transactional_id=transaction.transactional_id,
                topic_results=_add_partitions(
                    context,
                    transaction.transactional_id,
                    ProducerIdentity(
                        transaction.producer_id, transaction.producer_epoch
                    ),
                    transaction.topics,
                    is_verification=transaction.verify_only,
                ),
            )
            for transaction in request.transactions
        ]
    )


def answer_add_offsets_to_txn(context: RequestContext) -> Answer:
    """Add the offsets of a group to a transaction."""
    request: AddOffsetsToTxnRequest = context.request
    code = context.injected_error() or _check_location(
        context, request.transactional_id
    )
    if not code:
        code = context.state.transactions.add_group(
            request.transactional_id,
            ProducerIdentity(request.producer_id, request.producer_epoch),
            request.group_id,
        )
    return AddOffsetsToTxnResponse(
        error_code=_translate_fenced(code, context.version, _OTHERS_WITH_FENCED)
    )


def answer_end_txn(context: RequestContext) -> Answer:
    """Commit or abort a transaction."""
    request: EndTxnRequest = context.request
    code = context.injected_error() or _check_location(
        context, request.transactional_id
    )
    if code:
        result = ProducerResult(code)
    else:
        result = context.state.transactions.end(
            request.transactional_id,
            ProducerIdentity(request.producer_id, request.producer_epoch),
            request.committed,
            context.version >= _END_WITH_BUMP,
        )
    return EndTxnResponse(
        error_code=_translate_fenced(
            result.error_code, context.version, _OTHERS_WITH_FENCED
        ),
        producer_id=result.producer.producer_id,
        producer_epoch=result.producer.epoch,
    )


def admit_batch(context: RequestContext, partition: Partition, batch: Batch) -> int:
    """Check a transactional batch before it is appended; return an error code.

    Leaders verify the first batch of a transaction with its coordinator. Since version
    12 of Produce, they add the partition to the transaction instead (KIP-890).
    """
    request: ProduceRequest = context.request
    if request.transactional_id is None:
        return error_codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    release = context.state.release
    if batch.producer_id < 0 or not is_since(release, VERIFIES_BATCHES):
        return error_codes.NONE
    entry = partition.log.producers.get(batch.producer_id)
    if entry is not None and entry.open_since is not None:
        is_same_epoch = entry.epoch == batch.producer_epoch
        if is_same_epoch or not is_since(release, BUMPS_EPOCHS):
            return error_codes.NONE
    producer = ProducerIdentity(batch.producer_id, batch.producer_epoch)
    key = (partition.topic.name, partition.index)
    transactions = context.state.transactions
    if context.version >= _PRODUCE_WITH_ADDITION:
        code = transactions.add_partitions(request.transactional_id, producer, [key])
    else:
        code = transactions.verify_partition(request.transactional_id, producer, key)
        if code == error_codes.CONCURRENT_TRANSACTIONS:
            # Clients of these versions retry only a few error codes.
            return error_codes.NOT_ENOUGH_REPLICAS
    return translate_verification(code, context.version >= _PRODUCE_WITH_ABORTABLE)


def translate_verification(code: int, has_abortable: bool) -> int:
    """Return the error code of a producer for the result of a verification.

    * ``has_abortable``: whether the client knows TRANSACTION_ABORTABLE.
    """
    if code == error_codes.PRODUCER_FENCED:
        return error_codes.INVALID_PRODUCER_EPOCH
    if code == error_codes.TRANSACTION_ABORTABLE and not has_abortable:
        return error_codes.INVALID_TXN_STATE
    return code


def _check_location(context: RequestContext, transactional_id: str) -> int:
    """Return NOT_COORDINATOR if another broker coordinates a transactional id.

    Empty ids are rejected later, with another error code.
    """
    return check_location(context, transactional_id) if transactional_id else 0


def _init_producer(
    context: RequestContext, request: InitProducerIdRequest
) -> ProducerResult:
    transactions = context.state.transactions
    expected = ProducerIdentity(request.producer_id, request.producer_epoch)
    if (expected.producer_id == -1) != (expected.epoch == -1):
        return ProducerResult(error_codes.INVALID_REQUEST)
    transactional_id = request.transactional_id
    if transactional_id is None:
        producer_id = transactions.allocate_producer_id()
        return ProducerResult(error_codes.NONE, ProducerIdentity(producer_id, 0))
    if not transactional_id:
        return ProducerResult(error_codes.INVALID_REQUEST)
    timeout_ms = request.transaction_timeout_ms
    if not 0 < timeout_ms <= MAX_TIMEOUT_MS:
        return ProducerResult(error_codes.INVALID_TRANSACTION_TIMEOUT)
    code = check_location(context, transactional_id)
    if code:
        return ProducerResult(code)
    return transactions.init_producer(
        transactional_id, timeout_ms, None if expected == NO_PRODUCER else expected
    )


def _add_partitions(
    context: RequestContext,
    transactional_id: str,
    producer: ProducerIdentity,
    topics: Sequence[AddPartitionsToTxnRequest.AddPartitionsToTxnTopic],
    is_verification: bool = False,
) -> list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult]:
    """Add or verify the partitions of one transaction.

    One unknown partition prevents the whole operation.
    """
    codes = {}
    for topic in topics:
        for index in topic.partitions:
            code = context.injected_error(topic.name, index)
            if not code and context.state.find_partition(topic.name, index) is None:
                code = error_codes.UNKNOWN_TOPIC_OR_PARTITION
            codes[topic.name, index] = code
    transactions = context.state.transactions
    if any(codes.values()):
        codes = {
            key: code or error_codes.OPERATION_NOT_ATTEMPTED
            for key, code in codes.items()
        }
        return _make_results(_group_by_topic(codes), codes)
    code = _check_location(context, transactional_id)
    if is_verification and not code:
        codes = {
            key: transactions.verify_partition(transactional_id, producer, key)
            for key in codes
        }
        return _make_results(_group_by_topic(codes), codes)
    code = code or transactions.add_partitions(transactional_id, producer, codes)
    code = _translate_fenced(code, context.version, _OTHERS_WITH_FENCED)
    # A common error code is returned for each partition of the request, so that
    # duplicates remain.
    return _make_results(
        [(topic.name, list(topic.partitions)) for topic in topics],
        dict.fromkeys(codes, code),
    )


def _group_by_topic(
    partitions: Iterable[tuple[str, int]],
) -> list[tuple[str, list[int]]]:
    topics: dict[str, list[int]] = {}
    for name, index in partitions:
        topics.setdefault(name, []).append(index)
    return list(topics.items())


def _make_results(
    topics: list[tuple[str, list[int]]], codes: dict[tuple[str, int], int]
) -> list[AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult]:
    """Return the error codes of partitions in the order of ``topics``."""
    return [
        AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult(
            name=name,
            results_by_partition=[
                AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult(
                    partition_index=index, partition_error_code=codes[name, index]
                )
                for index in indexes
            ],
        )
        for name, indexes in topics
    ]


def _translate_fenced(code: int, version: int, first_version: int) -> int:
    """Replace PRODUCER_FENCED for clients that do not know this error code."""
    if code == error_codes.PRODUCER_FENCED and version < first_version:
        return error_codes.INVALID_PRODUCER_EPOCH
    return code
