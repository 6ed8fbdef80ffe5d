# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The results and errors of operations that manage a cluster, from responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..messages import ConsumerProtocolAssignment
from ..messages.framing import decode_prefixed
from ..schema import error_codes as codes
from .errors import ClusterError, NotAuthorized, RequestRefused, TopicNotFound
from .machines import faults

if TYPE_CHECKING:
    from collections.abc import Iterable

_CONFIG_SOURCES = (
    "unknown",
    "dynamic_topic",
    "dynamic_broker",
    "dynamic_default_broker",
    "static_broker",
    "default",
    "dynamic_broker_logger",
    "client_metrics",
    "group",
)
"""Names of the config sources of DescribeConfigs, by their number."""

_UNAUTHORIZED = {
    codes.TOPIC_AUTHORIZATION_FAILED,
    codes.GROUP_AUTHORIZATION_FAILED,
    codes.CLUSTER_AUTHORIZATION_FAILED,
}


class ConfigEntry(NamedTuple):
    """The value of a configuration property.

    ``value`` is None if the property is not set, or is sensitive. ``source`` is the
    scope that the value comes from: "dynamic_topic", "dynamic_broker",
    "dynamic_default_broker", "static_broker", "default", "dynamic_broker_logger",
    "client_metrics", "group", or "unknown".
    """

    name: str
    value: str | None
    source: str
    is_read_only: bool
    is_sensitive: bool


class GroupListing(NamedTuple):
    """A group of the cluster.

    ``state`` is empty on brokers before Kafka 2.6, and ``group_type`` ("classic",
    "consumer", "share", "streams") on brokers before Kafka 3.8.
    """

    group_id: str
    protocol_type: str
    state: str
    group_type: str


class GroupMember(NamedTuple):
    """A member of a group, with the (topic, partition) pairs assigned to it."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    partitions: tuple[tuple[str, int], ...]


class GroupDescription(NamedTuple):
    """A group with its members.

    ``group_type`` is "consumer" for the protocol of KIP-848 and "classic" otherwise.
    ``assignor`` is the assignor of the broker or of the group leader.
    """

    group_id: str
    group_type: str
    state: str
    assignor: str
    members: tuple[GroupMember, ...]


def describe_consumer_group(group: Any) -> GroupDescription:
    """Return the description of a group in a ConsumerGroupDescribe response."""
    return GroupDescription(
        group.group_id,
        "consumer",
        group.group_state,
        group.assignor_name,
        tuple(
            GroupMember(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                tuple(
                    (topic.topic_name, partition)
                    for topic in member.assignment.topic_partitions
                    for partition in topic.partitions
                ),
            )
            for member in group.members
        ),
    )


def describe_classic_group(group: Any) -> GroupDescription:
    """Return the description of a group in a DescribeGroups response.

    Raises ``DecodeError`` if a member of a consumer group has a malformed assignment.
    """
    is_consumer = group.protocol_type == "consumer"
    return GroupDescription(
        group.group_id,
        "classic",
        group.group_state,
        group.protocol_data,
        tuple(
            GroupMember(
                member.member_id,
                member.group_instance_id,
                member.client_id,
                member.client_host,
                _read_assignment(member.member_assignment) if is_consumer else (),
            )
            for member in group.members
        ),
    )


def _read_assignment(data: bytes) -> tuple[tuple[str, int], ...]:
    """Read the partitions of a member. A member that has just joined has no bytes."""
    if not data:
        return ()
    assignment = decode_prefixed(ConsumerProtocolAssignment, data)
    return tuple(
        (topic.topic, partition)
        for topic in assignment.assigned_partitions
        for partition in topic.partitions
    )


def name_source(source: int, is_default: bool) -> str:
    """Return the name of a config source, which old brokers do not report."""
    if source < 0:
        # Version 0 does not have the source.
        return "default" if is_default else "unknown"
    return _CONFIG_SOURCES[source] if source < len(_CONFIG_SOURCES) else "unknown"


def raise_errors(doing: str, errors: Iterable[tuple[str, int, str | None]]) -> None:
    """Raise an exception if there are errors among results.

    ``errors`` has a name, an error code and the message of the broker for each result.
    The text names every result that has an error, and the first one decides the class.
    """
    failed = [error for error in errors if error[1]]
    if not failed:
        return
    answers = "; ".join(
        f"{name}: {faults.describe_answer(code, message)}"
        for name, code, message in failed
    )
    raise _make_error(f"{doing}: {answers}", failed[0][1])


def _make_error(text: str, code: int) -> ClusterError:
    if code in _UNAUTHORIZED:
        return NotAuthorized(f"{text}; grant the user of this connection access")
    if code == codes.UNKNOWN_TOPIC_OR_PARTITION:
        return TopicNotFound(text)
    return RequestRefused(text, code)
