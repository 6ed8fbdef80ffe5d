# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to CreateTopics, DeleteTopics and CreatePartitions.

With ZooKeeper, only the controller accepts these requests. KRaft brokers forward them,
so that every broker accepts them. The two kinds of controllers check in a different
order. Source: ``ControllerApis``, ``ReplicationControlManager`` and, for ZooKeeper,
``ZkAdminManager``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from uuid import UUID

from ...messages import (
    CreatePartitionsResponse,
    CreateTopicsResponse,
    DeleteTopicsResponse,
)
from ...schema import error_codes
from ...schema.topic_names import CLUSTER_METADATA
from ..state.cluster import DEFAULT_PARTITIONS
from ..state.configs import check_topic_configs
from ..state.features import CHOOSES_TOPIC_SIZES
from ..state.rejection import Rejected
from ..state.topic import check_topic_name

if TYPE_CHECKING:
    from ...messages import CreateTopicsRequest, DeleteTopicsRequest
    from ..state.topic import Topic
    from .context import Answer, RequestContext

_DEFAULT = -1
"""Partition count or replication factor that the brokers choose."""

_MAX_NEW_PARTITIONS = 10_000
"""Number of records that a KRaft controller writes for one request."""

_TOO_LARGE = "Unable to perform excessively large batch operation."

_T = TypeVar("_T")
_NO_ID = UUID(int=0)


class _Plan(NamedTuple):
    """Size of a new topic, or the replicas of its partitions."""

    partition_count: int
    replication_factor: int
    assignments: list[list[int]] | None


def answer_create_topics(context: RequestContext) -> Answer:
    """Create topics, or check the request if ``validate_only`` is set."""
    request: CreateTopicsRequest = context.request
    topics = list(request.topics)
    repeated = _find_repeated(topic.name for topic in topics)
    is_too_large = _count_partitions(topics) > _MAX_NEW_PARTITIONS
    results = [
        _create(context, topic, is_too_large)
        for topic in topics
        if topic.name not in repeated
    ]
    message = "Duplicate topic name."
    # ZooKeeper brokers repeat the error for each entry of the request.
    names = [topic.name for topic in topics if topic.name in repeated]
    if not context.state.has_zookeeper:
        names = list(repeated)
    results += [
        _describe_error(context, name, error_codes.INVALID_REQUEST, message)
        for name in names
    ]
    return CreateTopicsResponse(topics=results)


def _create(
    context: RequestContext,
    topic: CreateTopicsRequest.CreatableTopic,
    is_too_large: bool,
) -> CreateTopicsResponse.CreatableTopicResult:
    """Check and create one topic.

    * ``is_too_large``: whether the request contains too many partitions.
    """
    state, request = context.state, context.request
    try:
        _check_request(context, topic.name)
        if not state.has_zookeeper:
            _check_timeout(context)
        if is_too_large:
            raise Rejected(error_codes.POLICY_VIOLATION, _TOO_LARGE)
        configs = {config.name: config.value for config in topic.configs}
        check = _check_by_zookeeper if state.has_zookeeper else _check_by_controller
        plan = check(context, topic, configs)
    except Rejected as error:
        return _describe_error(context, topic.name, error.code, str(error))
    values = {name: value for name, value in configs.items() if value is not None}
    topic_id = UUID(int=state.random.getrandbits(128), version=4)
    if not request.validate_only:
        created = state.create_topic(
            topic.name,
            plan.partition_count,
            plan.replication_factor,
            plan.assignments,
            configs=values,
        )
        topic_id = created.topic_id
    if request.timeout_ms <= 0 and not request.validate_only:
        # Brokers with ZooKeeper create the topic, but do not wait for it.
        message = "The request timed out."
        code = error_codes.REQUEST_TIMED_OUT
        return _describe_error(context, topic.name, code, message)
    return _describe_topic(context, topic.name, topic_id, plan, values)


def _describe_topic(
    context: RequestContext,
    name: str,
    topic_id: UUID,
    plan: _Plan,
    configs: Mapping[str, str],
) -> CreateTopicsResponse.CreatableTopicResult:
    """Return the entry of a created topic, with its configuration (KIP-525)."""
    make = CreateTopicsResponse
    if context.version < 5:
        return make.CreatableTopicResult(name=name, error_message=None)
    entries = context.state.configs.describe_topic(configs, context.broker)
    return make.CreatableTopicResult(
        name=name,
        error_message=None,
        topic_id=topic_id if context.version >= 7 else _NO_ID,
        num_partitions=plan.partition_count,
        replication_factor=plan.replication_factor,
        configs=[
            make.CreatableTopicConfigs(
                name=entry.property.name,
                value=entry.value,
                config_source=entry.source,
            )
            for entry in entries
        ],
    )


def _describe_error(
    context: RequestContext, name: str, code: int, message: str
) -> CreateTopicsResponse.CreatableTopicResult:
    return CreateTopicsResponse.CreatableTopicResult(
        name=name,
        error_code=code,
        error_message=message if context.version >= 1 else None,
    )


def _check_by_controller(
    context: RequestContext,
    topic: CreateTopicsRequest.CreatableTopic,
    configs: Mapping[str, str | None],
) -> _Plan:
    """Check a topic in the order of a KRaft controller."""
    if topic.name == CLUSTER_METADATA:
        text = f"Creation of internal topic {topic.name} is prohibited."
        raise Rejected(error_codes.INVALID_REQUEST, text)
    _check_not_existing(context, topic.name)
    _check_name(context, topic.name)
    _check_configs(context, configs, error_codes.INVALID_CONFIG)
    if topic.assignments:
        for name in ("replication_factor", "num_partitions"):
            if getattr(topic, name) != _DEFAULT:
                text = f"A manual assignment was specified, but {name} is not -1."
                raise Rejected(error_codes.INVALID_REQUEST, text)
        return _plan_assignments(context, topic)
    return _plan_size(context, topic, list(context.state.brokers))


def _check_by_zookeeper(
    context: RequestContext,
    topic: CreateTopicsRequest.CreatableTopic,
    configs: Mapping[str, str | None],
) -> _Plan:
    """Check a topic in the order of a controller with ZooKeeper."""
    _check_not_existing(context, topic.name)
    _check_null_configs(configs, error_codes.INVALID_REQUEST)
    if topic.assignments:
        if (topic.num_partitions, topic.replication_factor) != (_DEFAULT, _DEFAULT):
            text = (
                "Both numPartitions or replicationFactor and replicasAssignments were"
                " set. Both cannot be used at the same time."
            )
            raise Rejected(error_codes.INVALID_REQUEST, text)
        _check_name(context, topic.name)
        plan = _plan_assignments(context, topic)
    else:
        running = [broker.node_id for broker in context.state.running]
        plan = _plan_size(context, topic, running)
    _check_name(context, topic.name)
    _check_configs(context, configs, error_codes.INVALID_CONFIG)
    return plan


def _check_request(context: RequestContext, topic_name: str) -> None:
    """Check what concerns the broker that received the request."""
    code = context.injected_error(topic_name)
    if code:
        raise Rejected(code, "Error of a rule of the test cluster.")
    state = context.state
    if state.has_zookeeper and context.broker.node_id != state.controller_id:
        text = "This is not the correct controller for this cluster."
        raise Rejected(error_codes.NOT_CONTROLLER, text)


def _check_timeout(context: RequestContext) -> None:
    """Reject requests that a KRaft controller regards as expired."""
    if context.request.timeout_ms <= 0:
        raise Rejected(error_codes.REQUEST_TIMED_OUT, "The request timed out.")


def _count_partitions(topics: Iterable[CreateTopicsRequest.CreatableTopic]) -> int:
    """Return the number of partitions in a request."""
    return sum(
        len(topic.assignments) or max(topic.num_partitions, 1) for topic in topics
    )


def _check_not_existing(context: RequestContext, name: str) -> None:
    if name in context.state.topics:
        text = f"Topic '{name}' already exists."
        raise Rejected(error_codes.TOPIC_ALREADY_EXISTS, text)


def _check_name(context: RequestContext, name: str) -> None:
    invalid = error_codes.INVALID_TOPIC_EXCEPTION
    problem = check_topic_name(name)
    if problem:
        raise Rejected(invalid, problem)
    other = context.state.find_collision(name)
    if other is not None:
        raise Rejected(invalid, f"Topic '{name}' collides with existing topic: {other}")


def _check_null_configs(configs: Mapping[str, str | None], code: int) -> None:
    names = [name for name, value in configs.items() if value is None]
    if names:
        text = f"Null value not supported for topic configs: {','.join(names)}"
        raise Rejected(code, text)


def _check_configs(
    context: RequestContext, configs: Mapping[str, str | None], null_code: int
) -> None:
    _check_null_configs(configs, null_code)
    values = {name: value for name, value in configs.items() if value is not None}
    check_topic_configs(context.state.configs, values)


def _plan_size(
    context: RequestContext,
    topic: CreateTopicsRequest.CreatableTopic,
    nodes: Sequence[int],
) -> _Plan:
    """Check the partition count and the replication factor of a new topic."""
    state = context.state
    count, factor = topic.num_partitions, topic.replication_factor
    if state.is_since(CHOOSES_TOPIC_SIZES):
        count = DEFAULT_PARTITIONS if count == _DEFAULT else count
        factor = state.default_replication_factor if factor == _DEFAULT else factor
    invalid_count = Rejected(
        error_codes.INVALID_PARTITIONS,
        "Number of partitions was set to an invalid non-positive value.",
    )
    if count <= 0 and state.has_zookeeper:
        raise invalid_count
    if factor <= 0:
        text = "Replication factor must be larger than 0, or -1 to use the default."
        raise Rejected(error_codes.INVALID_REPLICATION_FACTOR, text)
    if count <= 0:
        raise invalid_count
    _check_replication_factor(factor, nodes)
    return _Plan(count, factor, None)


def _check_replication_factor(factor: int, nodes: Sequence[int]) -> None:
    if factor > len(nodes):
        text = (
            f"Unable to replicate the partition {factor} time(s): The target"
            f" replication factor of {factor} cannot be reached because only"
            f" {len(nodes)} broker(s) are registered."
        )
        raise Rejected(error_codes.INVALID_REPLICATION_FACTOR, text)


def _plan_assignments(
    context: RequestContext, topic: CreateTopicsRequest.CreatableTopic
) -> _Plan:
    """Check the replicas that the client has chosen for a new topic."""
    replicas_by_index: dict[int, list[int]] = {}
    factor: int | None = None
    for assignment in topic.assignments:
        index, replicas = assignment.partition_index, list(assignment.broker_ids)
        if index in replicas_by_index:
            raise Rejected(
                error_codes.INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {index}",
            )
        _check_replicas(context, index, replicas, factor)
        factor = len(replicas)
        replicas_by_index[index] = replicas
    indexes = range(len(replicas_by_index))
    if set(replicas_by_index) != set(indexes):
        raise Rejected(
            error_codes.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    assignments = [replicas_by_index[index] for index in indexes]
    return _Plan(len(assignments), len(assignments[0]), assignments)


def _check_replicas(
    context: RequestContext, index: int, replicas: list[int], factor: int | None
) -> None:
    """Check the replicas of one partition.

    * ``factor``: number of replicas of the other partitions, or None.
    """
    brokers = context.state.brokers
    prefix = "The manual partition assignment includes"
    text = ""
    unknown = [node for node in replicas if node not in brokers]
    if not replicas:
        text = f"{prefix} an empty replica list."
    elif unknown:
        text = f"{prefix} broker {unknown[0]}, but no such broker is registered."
    elif len(set(replicas)) < len(replicas):
        text = f"{prefix} the broker {replicas[0]} more than once."
    elif factor is not None and factor != len(replicas):
        text = (
            f"{prefix} a partition with {len(replicas)} replica(s), but this is not"
            f" consistent with previous partitions, which have {factor} replica(s)."
        )
    elif not any(brokers[node].is_running for node in replicas):
        text = f"All brokers specified for partition {index} are fenced."
    if text:
        raise Rejected(error_codes.INVALID_REPLICA_ASSIGNMENT, text)


def answer_delete_topics(context: RequestContext) -> Answer:
    """Delete topics by name, or by id since version 6."""
    request: DeleteTopicsRequest = context.request
    if context.version < 6:
        entries: list[tuple[str | None, UUID]] = [
            (name, _NO_ID) for name in request.topic_names
        ]
    else:
        entries = [(topic.name, topic.topic_id) for topic in request.topics]
    repeated = _find_repeated(entries)
    topics = [_resolve(context, *entry) for entry in entries]
    counts = Counter(topic.name for topic in topics if topic)
    results = []
    for name, topic_id in dict.fromkeys(entries):
        topic = _resolve(context, name, topic_id)
        code, message = 0, None
        try:
            if (name, topic_id) in repeated:
                text = f"Duplicate topic {'id' if name is None else 'name'}."
                raise Rejected(error_codes.INVALID_REQUEST, text)
            _check_deletion(context, name, topic_id, topic)
            if topic is not None and counts[topic.name] > 1:
                text = "The topic name maps to an id that was already supplied."
                raise Rejected(error_codes.INVALID_REQUEST, text)
        except Rejected as error:
            code, message = error.code, str(error)
        else:
            assert topic is not None
            context.state.delete_topic(topic)
            name, topic_id = topic.name, topic.topic_id
        results.append(
            DeleteTopicsResponse.DeletableTopicResult(
                name=name,
                topic_id=topic_id if context.version >= 6 else _NO_ID,
                error_code=code,
                error_message=message if context.version >= 5 else None,
            )
        )
    return DeleteTopicsResponse(responses=results)


def _resolve(context: RequestContext, name: str | None, topic_id: UUID) -> Topic | None:
    if name is not None:
        return context.state.topics.get(name)
    return context.state.topics_by_id.get(topic_id)


def _check_deletion(
    context: RequestContext, name: str | None, topic_id: UUID, topic: Topic | None
) -> None:
    _check_request(context, topic.name if topic else name or "")
    invalid = error_codes.INVALID_REQUEST
    if name is None and topic_id == _NO_ID:
        raise Rejected(invalid, "Neither topic name nor id were specified.")
    if name is not None and topic_id != _NO_ID:
        raise Rejected(invalid, "You may not specify both topic name and topic id.")
    if not context.state.has_zookeeper:
        _check_timeout(context)
    if topic is None and name is None:
        text = "This server does not host this topic ID."
        raise Rejected(error_codes.UNKNOWN_TOPIC_ID, text)
    if topic is None:
        text = "This server does not host this topic-partition."
        raise Rejected(error_codes.UNKNOWN_TOPIC_OR_PARTITION, text)


def answer_create_partitions(context: RequestContext) -> Answer:
    """Increase the partition counts of topics, unless ``validate_only`` is set."""
    request = context.request
    make = CreatePartitionsResponse.CreatePartitionsTopicResult
    repeated = _find_repeated(topic.name for topic in request.topics)
    results = [
        make(
            name=name,
            error_code=error_codes.INVALID_REQUEST,
            error_message="Duplicate topic name.",
        )
        for name in repeated
    ]
    for entry in request.topics:
        if entry.name in repeated:
            continue
        try:
            _add_partitions(context, entry.name, entry.count, entry.assignments)
            results.append(make(name=entry.name))
        except Rejected as error:
            results.append(
                make(name=entry.name, error_code=error.code, error_message=str(error))
            )
    return CreatePartitionsResponse(results=results)


def _add_partitions(
    context: RequestContext, name: str, count: int, entries: Iterable[object] | None
) -> None:
    """Check and add the partitions of one topic."""
    state = context.state
    _check_request(context, name)
    if not state.has_zookeeper:
        _check_timeout(context)
    topic = state.topics.get(name)
    if topic is None:
        text = f"The topic '{name}' does not exist."
        raise Rejected(error_codes.UNKNOWN_TOPIC_OR_PARTITION, text)
    current = len(topic.partitions)
    if count == current:
        text = f"Topic already has {current} partition(s)."
        raise Rejected(error_codes.INVALID_PARTITIONS, text)
    if count < current:
        text = (
            f"The topic {name} currently has {current} partition(s); {count} would not"
            " be an increase."
        )
        raise Rejected(error_codes.INVALID_PARTITIONS, text)
    if count - current > _MAX_NEW_PARTITIONS:
        raise Rejected(error_codes.POLICY_VIOLATION, _TOO_LARGE)
    factor = len(topic.partitions[0].replicas)
    assignments = None
    if entries is not None:
        assignments = [list(entry.broker_ids) for entry in entries]  # type: ignore[attr-defined]
        if len(assignments) != count - current:
            text = (
                f"Attempted to add {count - current} additional partition(s), but only"
                f" {len(assignments)} assignment(s) were specified."
            )
            raise Rejected(error_codes.INVALID_REPLICA_ASSIGNMENT, text)
        for number, replicas in enumerate(assignments):
            _check_replicas(context, current + number, replicas, factor)
    if not context.request.validate_only:
        state.add_partitions(topic, count, factor, assignments)


def _find_repeated(values: Iterable[_T]) -> dict[_T, int]:
    """Return the values that occur more than once, with their counts."""
    return {value: count for value, count in Counter(values).items() if count > 1}
