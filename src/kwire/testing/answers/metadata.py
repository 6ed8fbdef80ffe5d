# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to Metadata, DescribeTopicPartitions and DescribeCluster.

Source: ``KafkaApis.handleTopicMetadataRequest``,
``DescribeTopicPartitionsRequestHandler`` and ``KafkaApis.handleDescribeCluster``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from ...messages import (
    DescribeClusterResponse,
    DescribeTopicPartitionsResponse,
    MetadataResponse,
)
from ...schema import error_codes
from ..state.cluster import DEFAULT_PARTITIONS
from ..state.topic import NO_LEADER, Partition, Topic, is_valid_topic_name

if TYPE_CHECKING:
    from .context import Answer, RequestContext

_NO_ID = UUID(int=0)
_WITH_IDS = 12
"""First version in which requests can contain topic ids."""

_ALL_TOPIC_OPERATIONS = 0b1101_1111_1000
"""Bits of all operations on a topic: the answer of a cluster without ACLs."""
_ALL_CLUSTER_OPERATIONS = 0b1_1111_1010_0000
_NOT_REQUESTED = -(1 << 31)


def answer_metadata(context: RequestContext) -> Answer:
    """Describe brokers and topics. Creates missing topics if the client allows it."""
    request, version = context.request, context.version
    state = context.state
    topics = _find_requested(context)
    return MetadataResponse(
        brokers=[
            MetadataResponse.MetadataResponseBroker(
                node_id=broker.node_id,
                host=broker.host,
                port=broker.port,
                rack=broker.rack,
            )
            for broker in state.running
        ],
        cluster_id=state.cluster_id,
        controller_id=state.controller_id,
        topics=topics,
        cluster_authorized_operations=_ALL_CLUSTER_OPERATIONS
        if 8 <= version <= 10 and request.include_cluster_authorized_operations
        else _NOT_REQUESTED,
    )


def _find_requested(
    context: RequestContext,
) -> list[MetadataResponse.MetadataResponseTopic]:
    """Return the entries of the requested topics in the order of a broker.

    Unknown ids are first, and names of missing topics are last.
    """
    state, request, version = context.state, context.request, context.version
    requested = request.topics
    # In version 0, an empty list requests all topics.
    if requested is None or (version == 0 and not requested):
        return [_describe(context, topic) for topic in list(state.topics.values())]
    unknown_ids, existing, missing = [], [], []
    may_create = version < 4 or request.allow_auto_topic_creation
    # Requests can name a topic repeatedly. Brokers describe it once.
    entries = dict.fromkeys((entry.name, entry.topic_id) for entry in requested)
    if version < _WITH_IDS and any(
        name is None or topic_id != _NO_ID for name, topic_id in entries
    ):
        code = error_codes.INVALID_REQUEST
        return [
            MetadataResponse.MetadataResponseTopic(name=name or "", error_code=code)
            for name, _ in entries
        ]
    for name, topic_id in entries:
        topic = (
            state.topics_by_id.get(topic_id) if name is None else state.topics.get(name)
        )
        if topic is not None:
            existing.append(_describe(context, topic))
        elif name is None:
            unknown_ids.append(
                MetadataResponse.MetadataResponseTopic(
                    name=None,
                    topic_id=topic_id,
                    error_code=error_codes.UNKNOWN_TOPIC_ID,
                )
            )
        else:
            missing.append(_answer_missing(context, name, may_create))
    return unknown_ids + existing + missing


def _answer_missing(
    context: RequestContext, name: str, may_create: bool
) -> MetadataResponse.MetadataResponseTopic:
    """Return the error for a topic that does not exist, and create it if allowed.

    Even a created topic is reported as missing, because brokers create it after the
    response. Clients then request the metadata again.
    Source: ``AutoTopicCreationManager``.
    """
    state = context.state
    code = context.injected_error(name)
    if code:
        pass
    elif not is_valid_topic_name(name) or (may_create and state.find_collision(name)):
        code = error_codes.INVALID_TOPIC_EXCEPTION
    else:
        code = error_codes.UNKNOWN_TOPIC_OR_PARTITION
        if may_create and state.auto_create_topics:
            state.create_topic(name, DEFAULT_PARTITIONS)
            if state.has_zookeeper:
                code = error_codes.LEADER_NOT_AVAILABLE
    return MetadataResponse.MetadataResponseTopic(
        name=name,
        topic_id=_NO_ID,
        error_code=code,
        topic_authorized_operations=_list_topic_operations(context),
    )


def _list_topic_operations(context: RequestContext) -> int:
    is_requested = (
        context.version >= 8 and context.request.include_topic_authorized_operations
    )
    return _ALL_TOPIC_OPERATIONS if is_requested else _NOT_REQUESTED


def _describe(
    context: RequestContext, topic: Topic
) -> MetadataResponse.MetadataResponseTopic:
    code = context.injected_error(topic.name)
    if code:
        return MetadataResponse.MetadataResponseTopic(name=topic.name, error_code=code)
    return MetadataResponse.MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[
            MetadataResponse.MetadataResponsePartition(
                error_code=_partition_error(partition),
                partition_index=partition.index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=list(partition.replicas),
                isr_nodes=list(partition.in_sync),
                offline_replicas=_find_offline(context, partition),
            )
            for partition in topic
        ],
        topic_authorized_operations=_list_topic_operations(context),
    )


def _partition_error(partition: Partition) -> int:
    if partition.leader == NO_LEADER:
        return error_codes.LEADER_NOT_AVAILABLE
    return error_codes.NONE


def _find_offline(context: RequestContext, partition: Partition) -> list[int]:
    brokers = context.state.brokers
    return [node for node in partition.replicas if not brokers[node].is_running]


def answer_describe_topic_partitions(context: RequestContext) -> Answer:
    """Describe topics page by page (KIP-966). Topics are sorted by name."""
    request, state = context.request, context.state
    names = sorted(
        {topic.name for topic in request.topics} if request.topics else state.topics
    )
    first_index = 0
    make = DescribeTopicPartitionsResponse
    cursor = request.cursor
    if cursor is not None:
        is_listed = not request.topics or cursor.topic_name in names
        if not is_listed or cursor.partition_index < 0:
            code = error_codes.INVALID_REQUEST
            return make(
                topics=[
                    make.DescribeTopicPartitionsResponseTopic(
                        error_code=code, name=name
                    )
                    for name in names
                ]
            )
        names = [name for name in names if name >= cursor.topic_name]
        first_index = cursor.partition_index
    remaining = min(max(request.response_partition_limit, 1), 2000)
    topics, next_cursor = [], None
    for name in names:
        if remaining == 0:
            next_cursor = make.Cursor(topic_name=name, partition_index=0)
            break
        topic = state.topics.get(name)
        code = context.injected_error(name)
        if topic is None and not code:
            code = (
                error_codes.UNKNOWN_TOPIC_OR_PARTITION
                if is_valid_topic_name(name)
                else error_codes.INVALID_TOPIC_EXCEPTION
            )
        if topic is None or code:
            topics.append(
                make.DescribeTopicPartitionsResponseTopic(error_code=code, name=name)
            )
            continue
        is_first = cursor is not None and name == cursor.topic_name
        start = first_index if is_first else 0
        page = topic.partitions[start : start + remaining]
        remaining -= len(page)
        topics.append(
            make.DescribeTopicPartitionsResponseTopic(
                name=name,
                topic_id=topic.topic_id,
                is_internal=topic.is_internal,
                partitions=[_describe_page(context, partition) for partition in page],
                topic_authorized_operations=_ALL_TOPIC_OPERATIONS,
            )
        )
        if start + len(page) < len(topic.partitions):
            next_cursor = make.Cursor(
                topic_name=name, partition_index=start + len(page)
            )
            break
    return make(topics=topics, next_cursor=next_cursor)


def _describe_page(
    context: RequestContext, partition: Partition
) -> DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition:
    make = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition
    return make(
        error_code=_partition_error(partition),
        partition_index=partition.index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.in_sync),
        eligible_leader_replicas=[],
        last_known_elr=[],
        offline_replicas=_find_offline(context, partition),
    )


def answer_describe_cluster(context: RequestContext) -> Answer:
    """Describe the brokers of the cluster (KIP-700)."""
    state, request = context.state, context.request
    make = DescribeClusterResponse
    code = context.injected_error()
    if code:
        return make(error_code=code)
    if context.version >= 1 and request.endpoint_type != 1:
        return make(
            error_code=error_codes.MISMATCHED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of the wrong type.",
        )
    return make(
        cluster_id=state.cluster_id,
        controller_id=state.controller_id,
        brokers=[
            make.DescribeClusterBroker(
                broker_id=broker.node_id,
                host=broker.host,
                port=broker.port,
                rack=broker.rack,
            )
            for broker in state.running
        ],
        cluster_authorized_operations=_ALL_CLUSTER_OPERATIONS
        if request.include_cluster_authorized_operations
        else _NOT_REQUESTED,
    )
