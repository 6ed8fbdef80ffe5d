# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to ConsumerGroupHeartbeat and ConsumerGroupDescribe (KIP-848).

Source: ``GroupMetadataManager.consumerGroupHeartbeat`` and
``GroupMetadataManager.consumerGroupDescribe``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from ...messages import ConsumerGroupDescribeResponse, ConsumerGroupHeartbeatResponse
from ...schema import error_codes
from ..state.assignors import ASSIGNORS, Assignment
from ..state.consumer_group import (
    JOINING,
    LEAVING,
    STATIC_LEAVING,
    ConsumerGroup,
    ConsumerMember,
    Heartbeat,
)
from ..state.group import CLASSIC
from .coordinators import check_location
from .group_listings import explain_missing, list_operations

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .context import Answer, RequestContext

_CLIENT_IDS_SINCE = 1
"""First version in which the client chooses the member id (KIP-1082)."""

_CONSUMER_MEMBER = 1
"""Member type in ConsumerGroupDescribe. Classic members have the type 0."""

_ABANDONING_ERRORS = (error_codes.UNKNOWN_MEMBER_ID, error_codes.FENCED_MEMBER_EPOCH)
"""Errors after which a client abandons its partitions and joins again."""


def answer_consumer_group_heartbeat(context: RequestContext) -> Answer:
    """Add, update or remove a member, and return its assignment if it has changed."""
    request, state = context.request, context.state
    make = ConsumerGroupHeartbeatResponse
    code = context.injected_error()
    if code:
        group = state.groups.get(request.group_id)
        if code in _ABANDONING_ERRORS and isinstance(group, ConsumerGroup):
            group.remove_member(request.member_id)
        return make(error_code=code)
    text = _find_invalid(context)
    if text is not None:
        return make(error_code=error_codes.INVALID_REQUEST, error_message=text)
    assignor = request.server_assignor
    if assignor is not None and assignor not in ASSIGNORS:
        return make(
            error_code=error_codes.UNSUPPORTED_ASSIGNOR,
            error_message=f"ServerAssignor {assignor:.200} is not supported. Supported"
            f" assignors: {', '.join(ASSIGNORS)}.",
        )
    code = check_location(context, request.group_id)
    if code:
        return make(error_code=code)
    group = _find_group(context)
    if group is None:
        exists = request.group_id in state.groups
        return make(
            error_code=error_codes.GROUP_ID_NOT_FOUND,
            error_message=explain_missing(request.group_id, exists, "consumer"),
        )
    result = group.heartbeat(_make_heartbeat(context))
    if result.error_code:
        return make(error_code=result.error_code, error_message=result.error_message)
    state.groups[request.group_id] = group
    is_leaving = request.member_epoch in (LEAVING, STATIC_LEAVING)
    assignment = None
    if result.assignment is not None:
        assignment = make.Assignment(
            topic_partitions=[
                make.TopicPartitions(topic_id=topic_id, partitions=indexes)
                for topic_id, indexes in _group_by_topic(result.assignment)
            ]
        )
    interval_ms = state.configs.group_number(
        request.group_id,
        "consumer.heartbeat.interval.ms",
        state.group_settings.heartbeat_interval_ms,
    )
    return make(
        member_id=result.member_id,
        member_epoch=result.member_epoch,
        heartbeat_interval_ms=0 if is_leaving else interval_ms,
        assignment=assignment,
    )


def _find_invalid(context: RequestContext) -> str | None:
    """Return the reason why a request is invalid, or None."""
    request = context.request
    epoch = request.member_epoch
    if not request.group_id.strip():
        return "GroupId can't be empty."
    if request.instance_id is not None and not request.instance_id.strip():
        return "InstanceId can't be empty."
    if request.rack_id is not None and not request.rack_id.strip():
        return "RackId can't be empty."
    must_have_id = epoch != JOINING or context.version >= _CLIENT_IDS_SINCE
    if epoch < STATIC_LEAVING:
        return "MemberEpoch is invalid."
    if must_have_id and not request.member_id.strip():
        return "MemberId can't be empty."
    if epoch == STATIC_LEAVING and request.instance_id is None:
        return "InstanceId can't be null."
    if epoch != JOINING:
        return None
    if request.rebalance_timeout_ms == -1:
        return "RebalanceTimeoutMs must be provided in first request."
    if request.topic_partitions is None or request.topic_partitions:
        return "TopicPartitions must be empty when (re-)joining."
    if request.subscribed_topic_names is None and (
        request.subscribed_topic_regex is None
    ):
        return (
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when"
            " (re-)joining."
        )
    return None


def _find_group(context: RequestContext) -> ConsumerGroup | None:
    """Return the group of a heartbeat, or None if it is missing or of another kind.

    A first heartbeat creates the group. It also replaces an empty classic group, and
    keeps its committed offsets. The caller stores the group if the heartbeat succeeds.
    """
    request = context.request
    group = context.state.groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        return group
    if request.member_epoch != JOINING:
        return None
    replacement = ConsumerGroup(request.group_id, context.state)
    if group is not None:
        if group.kind != CLASSIC or not group.is_empty:
            return None
        replacement.offsets = group.offsets
    return replacement


def _make_heartbeat(context: RequestContext) -> Heartbeat:
    request = context.request
    names, owned = request.subscribed_topic_names, request.topic_partitions
    member_id = request.member_id
    if not member_id:
        number = context.state.random.getrandbits(128)
        member_id = str(UUID(int=number, version=4))
    return Heartbeat(
        member_id=member_id,
        member_epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topic_names=None if names is None else frozenset(names),
        topic_pattern=request.subscribed_topic_regex,
        assignor=request.server_assignor,
        owned=None if owned is None else _read_partitions(owned),
        client_id=context.client_id,
        client_host=f"/{context.client_host}",
    )


def _read_partitions(topics: Iterable[Any]) -> Assignment:
    return frozenset(
        (topic.topic_id, index) for topic in topics for index in topic.partitions
    )


def _group_by_topic(assignment: Assignment) -> list[tuple[UUID, list[int]]]:
    """Return topic ids with their partitions, both in ascending order."""
    indexes: dict[UUID, list[int]] = {}
    for topic_id, index in sorted(assignment):
        indexes.setdefault(topic_id, []).append(index)
    return list(indexes.items())


def answer_consumer_group_describe(context: RequestContext) -> Answer:
    """Describe the members of KIP-848 groups, with current and target assignments."""
    return ConsumerGroupDescribeResponse(
        groups=[_describe(context, group_id) for group_id in context.request.group_ids]
    )


def _describe(
    context: RequestContext, group_id: str
) -> ConsumerGroupDescribeResponse.DescribedGroup:
    make = ConsumerGroupDescribeResponse.DescribedGroup
    code = context.injected_error()
    if not code and not group_id:
        code = error_codes.INVALID_GROUP_ID
    code = code or check_location(context, group_id)
    if code:
        return make(group_id=group_id, error_code=code)
    group = context.state.groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        return make(
            group_id=group_id,
            error_code=error_codes.GROUP_ID_NOT_FOUND,
            error_message=explain_missing(group_id, group is not None, "consumer"),
        )
    return make(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor_name,
        members=[
            _describe_member(context, group, member)
            for member in group.members.values()
        ],
        authorized_operations=list_operations(context),
    )


def _describe_member(
    context: RequestContext, group: ConsumerGroup, member: ConsumerMember
) -> ConsumerGroupDescribeResponse.Member:
    target = group.target.get(member.member_id, frozenset())
    return ConsumerGroupDescribeResponse.Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topic_names),
        subscribed_topic_regex=member.topic_pattern or None,
        assignment=_describe_assignment(context, member.assigned),
        target_assignment=_describe_assignment(context, target),
        member_type=_CONSUMER_MEMBER,
    )


def _describe_assignment(
    context: RequestContext, assignment: Assignment
) -> ConsumerGroupDescribeResponse.Assignment:
    """Describe an assignment. Partitions of deleted topics are omitted."""
    topics = context.state.topics_by_id
    return ConsumerGroupDescribeResponse.Assignment(
        topic_partitions=[
            ConsumerGroupDescribeResponse.TopicPartitions(
                topic_id=topic_id, topic_name=topics[topic_id].name, partitions=indexes
            )
            for topic_id, indexes in _group_by_topic(assignment)
            if topic_id in topics
        ]
    )
