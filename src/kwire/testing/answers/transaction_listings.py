# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers that describe producers and transactions to administrators (KIP-664).

Source: ``KafkaApis.handleDescribeProducersRequest`` and
``TransactionStateManager.listTransactionStates``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages import (
    DescribeProducersResponse,
    DescribeTransactionsResponse,
    ListTransactionsResponse,
)
from ...schema import error_codes
from ..state.cluster import hash_key
from ..state.topic import is_valid_topic_name
from ..state.topic_pattern import TopicPattern
from ..state.transactions import STATES
from .coordinators import check_location
from .partitions import find_led_partition

if TYPE_CHECKING:
    from ...messages import (
        DescribeProducersRequest,
        DescribeTransactionsRequest,
        ListTransactionsRequest,
    )
    from ..state.transactions import Transaction
    from .context import Answer, RequestContext

OFFSETS_TOPIC = "__consumer_offsets"
OFFSETS_PARTITIONS = 50
"""Default of the broker property ``offsets.topic.num.partitions``."""


def answer_describe_producers(context: RequestContext) -> Answer:
    """Describe the active producers of partitions."""
    request: DescribeProducersRequest = context.request
    return DescribeProducersResponse(
        topics=[
            DescribeProducersResponse.TopicResponse(
                name=topic.name,
                partitions=[
                    _describe_producers(context, topic.name, index)
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )


def answer_describe_transactions(context: RequestContext) -> Answer:
    """Describe transactional ids of which this broker is the coordinator."""
    request: DescribeTransactionsRequest = context.request
    return DescribeTransactionsResponse(
        transaction_states=[
            _describe_transaction(context, transactional_id)
            for transactional_id in request.transactional_ids
        ]
    )


def answer_list_transactions(context: RequestContext) -> Answer:
    """List transactional ids of which this broker is the coordinator."""
    request: ListTransactionsRequest = context.request
    code = context.injected_error()
    if code:
        return ListTransactionsResponse(error_code=code)
    pattern = None
    if request.transactional_id_pattern:
        pattern = TopicPattern.parse(request.transactional_id_pattern)
        if pattern is None:
            return ListTransactionsResponse(
                error_code=error_codes.INVALID_REGULAR_EXPRESSION
            )
    duration_ms = request.duration_filter
    now_ms = context.state.clock.unix_ms
    producer_ids = set(request.producer_id_filters)
    states = set(request.state_filters)
    transactions = [
        transaction
        for transaction in context.state.transactions.list_transactions()
        if not check_location(context, transaction.transactional_id)
        and (not producer_ids or transaction.producer_id in producer_ids)
        and (not states or transaction.state in states)
        and (duration_ms < 0 or now_ms - transaction.start_ms > duration_ms)
        and (pattern is None or pattern.filter([transaction.transactional_id]))
    ]
    return ListTransactionsResponse(
        unknown_state_filters=[
            state
            for state in dict.fromkeys(request.state_filters)
            if state not in STATES
        ],
        transaction_states=[
            ListTransactionsResponse.TransactionState(
                transactional_id=transaction.transactional_id,
                producer_id=transaction.producer_id,
                transaction_state=transaction.state,
            )
            for transaction in transactions
        ],
    )


def _describe_producers(
    context: RequestContext, name: str, index: int
) -> DescribeProducersResponse.PartitionResponse:
    make = DescribeProducersResponse.PartitionResponse
    if not is_valid_topic_name(name):
        return make(
            partition_index=index, error_code=error_codes.INVALID_TOPIC_EXCEPTION
        )
    code, partition = find_led_partition(context, name, index)
    if partition is None:
        return make(partition_index=index, error_code=code)
    return make(
        partition_index=index,
        active_producers=[
            DescribeProducersResponse.ProducerState(
                producer_id=entry.producer_id,
                producer_epoch=entry.epoch,
                last_sequence=entry.last_sequence,
                last_timestamp=entry.last_timestamp_ms,
                coordinator_epoch=entry.coordinator_epoch,
                current_txn_start_offset=(
                    -1 if entry.open_since is None else entry.open_since
                ),
            )
            for entry in partition.log.producers.values()
        ],
    )


def _describe_transaction(
    context: RequestContext, transactional_id: str
) -> DescribeTransactionsResponse.TransactionState:
    make = DescribeTransactionsResponse.TransactionState
    code = context.injected_error()
    if not code and not transactional_id:
        code = error_codes.INVALID_REQUEST
    code = code or check_location(context, transactional_id)
    transaction = context.state.transactions.find(transactional_id)
    if not code and transaction is None:
        code = error_codes.TRANSACTIONAL_ID_NOT_FOUND
    if code or transaction is None:
        return make(error_code=code, transactional_id=transactional_id)
    return make(
        transactional_id=transactional_id,
        transaction_state=transaction.state,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.start_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        topics=[
            DescribeTransactionsResponse.TopicData(topic=name, partitions=indexes)
            for name, indexes in _list_topics(transaction).items()
        ],
    )


def _list_topics(transaction: Transaction) -> dict[str, list[int]]:
    """Return the partitions of a transaction by topic, with those of its offsets."""
    topics: dict[str, list[int]] = {}
    for name, index in transaction.partitions:
        topics.setdefault(name, []).append(index)
    indexes = dict.fromkeys(
        hash_key(group_id) % OFFSETS_PARTITIONS for group_id in transaction.groups
    )
    if indexes:
        topics.setdefault(OFFSETS_TOPIC, []).extend(indexes)
    return topics
