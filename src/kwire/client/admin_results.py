# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Results and exceptions of the operations that manage a cluster.

The functions of this module create both from the responses of brokers.
"""

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
"""Names of the config sources in DescribeConfigs responses, indexed by their number."""

_UNAUTHORIZED = {
    codes.TOPIC_AUTHORIZATION_FAILED,
    codes.GROUP_AUTHORIZATION_FAILED,
    codes.CLUSTER_AUTHORIZATION_FAILED,
}


class ConfigEntry(NamedTuple):
    """Configuration property of a topic, a broker or another resource.

    * ``value``: the value as text. None if the property is not set, or if it is
      sensitive, because brokers do not return sensitive values.
    * ``source``: where the value is configured: "dynamic_topic", "dynamic_broker",
      "dynamic_default_broker", "static_broker", "default", "dynamic_broker_logger",
      "client_metrics" or "group". "unknown" if the broker does not report a source that
      kwire knows.
    """

    name: str
    value: str | None
    source: str
    is_read_only: bool
    is_sensitive: bool


class GroupListing(NamedTuple):
    """Summary of a group.

    * ``protocol_type``: kind of the members, such as "consumer" or "connect".
    * ``state``: state of the group, such as "Stable" or "Empty". Empty if the broker is
      older than Kafka 2.6.
    * ``group_type``: "classic", "consumer", "share" or "streams". Empty if the broker
      is older than Kafka 3.8.
    """

    group_id: str
    protocol_type: str
    state: str
    group_type: str


class GroupMember(NamedTuple):
    """Member of a group.

    * ``group_instance_id``: name of a static member, or None.
    * ``partitions``: (topic, partition) pairs that are assigned to the member. Always
      empty in classic groups whose members are not consumers, such as Kafka Connect.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    partitions: tuple[tuple[str, int], ...]


class GroupDescription(NamedTuple):
    """State of a group, and its members.

    * ``group_type``: "consumer" if the group uses the protocol of KIP-848, otherwise
      "classic".
    * ``assignor``: name of the assignor. It runs in the broker if the type is
      "consumer", and in the group leader if the type is "classic".
    """

    group_id: str
    group_type: str
    state: str
    assignor: str
    members: tuple[GroupMember, ...]


def describe_consumer_group(group: Any) -> GroupDescription:
    """Convert a group of a ConsumerGroupDescribe response."""
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
    """Convert a group of a DescribeGroups response.

    Raises ``DecodeError`` if a consumer's assignment is malformed.
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
    """Decode a member's partitions.

    ``data`` is empty if the member has joined but has no assignment yet.
    """
    if not data:
        return ()
    assignment = decode_prefixed(ConsumerProtocolAssignment, data)
    return tuple(
        (topic.topic, partition)
        for topic in assignment.assigned_partitions
        for partition in topic.partitions
    )


def name_source(source: int, is_default: bool) -> str:
    """Return the name of a config source.

    If ``source`` is -1, the broker only reports whether the value is the default.
    """
    if source < 0:
        # Version 0 of DescribeConfigs does not contain the source.
        return "default" if is_default else "unknown"
    return _CONFIG_SOURCES[source] if source < len(_CONFIG_SOURCES) else "unknown"


def raise_errors(doing: str, errors: Iterable[tuple[str, int, str | None]]) -> None:
    """Raise an exception if the results of an operation contain errors.

    * ``doing``: the operation, such as "creating topics".
    * ``errors``: name, error code and broker message of every result. The error code is
      0 if the result is not an error.

    The message of the exception lists all errors. The first error determines the class
    of the exception: ``NotAuthorized``, ``TopicNotFound`` or ``RequestRefused``.
    """
    failed = [error for error in errors if error[1]]
    if not failed:
        return
    answers = "; ".join(
        f"{name}: {faults.describe_answer(code, message)}"
        for name, code, message in failed
    )
    raise _make_exception(f"{doing}: {answers}", failed[0][1])


def _make_exception(text: str, code: int) -> ClusterError:
    if code in _UNAUTHORIZED:
        return NotAuthorized(f"{text}; grant the user of this connection access")
    if code == codes.UNKNOWN_TOPIC_OR_PARTITION:
        return TopicNotFound(text)
    return RequestRefused(text, code)
