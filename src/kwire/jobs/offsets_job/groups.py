# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reconstructs consumer group states from the records of ``__consumer_offsets``.

The complete state of a classic group is stored in one record. The state of a consumer,
share or streams group is distributed over several records, which are merged here in the
same way as the group coordinator merges them when it loads the partition. Records are
received as decoded messages, so this module does not depend on their layouts.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import messages
from ...errors import DecodeError
from ...messages.codec import decode
from ...messages.prefixed import read_version
from .tables import RebalanceRow

if TYPE_CHECKING:
    from collections.abc import Callable

    Row = tuple[Any, ...]

DEAD, EMPTY, STABLE = "Dead", "Empty", "Stable"
ASSIGNING, RECONCILING = "Assigning", "Reconciling"

_GROUP_KINDS = {
    "ConsumerGroup": "consumer",
    "ShareGroup": "share",
    "StreamsGroup": "streams",
}
_CONSUMER_PROTOCOL = "consumer"
"""Protocol type of classic groups whose members are Kafka consumers."""

_MEMBER_RECORD_TYPES = ("MemberMetadata", "CurrentMemberAssignment")

_STABLE_MEMBER = 0
"""State of a member that has nothing to revoke or to wait for (``MemberState``)."""


def format_uuid(uuid: Any) -> str | None:
    """Format a UUID in Kafka's base64 notation. Returns None for the zero UUID."""
    if uuid is None or not uuid.int:
        return None
    return base64.urlsafe_b64encode(uuid.bytes).decode().rstrip("=")


@dataclass(slots=True)
class _Group:
    """Current state of one group.

    * ``parts``: {member id: {record type: record}}, with types such as
      "MemberMetadata".
    * ``generation``, ``members``, ``state``: values in the most recent row that was
      written to the table ``group_state``.
    * ``rebalance``: most recent row of the table ``rebalances``, or None if the group
      has begun another generation since then.
    """

    kind: str = ""
    epoch: int | None = None
    assignment_epoch: int | None = None
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    is_deleted: bool = False

    generation: int | None = None
    members: frozenset[str] = frozenset()
    state: str | None = None
    rebalance: dict[str, Any] | None = None


class _StateColumns(NamedTuple):
    """Columns of a ``group_state`` row that describe the group's state."""

    generation: int | None
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    state: str | None
    members: list[dict[str, Any]]


class GroupRecords:
    """Applies the records of one ``__consumer_offsets`` partition to its groups.

    * ``log_partition``: partition number within ``__consumer_offsets``.
    * ``topics``: known topic names by topic id.
    * ``write``: callback for ``group_state`` rows.

    ``rebalances`` returns the ``rebalances`` rows.
    """

    def __init__(
        self,
        log_partition: int,
        topics: dict[str, str],
        write: Callable[[Row], object],
    ) -> None:
        self._log_partition = log_partition
        self._topics = dict(topics)
        self._write = write
        self._groups: dict[str, _Group] = {}
        self._changed_groups: dict[str, tuple[int, int]] = {}
        self._rebalances: list[dict[str, Any]] = []

    @property
    def rebalances(self) -> list[Row]:
        """Rows of the table ``rebalances``, in log order."""
        return [RebalanceRow(**row) for row in self._rebalances]

    def learn_topic(self, topic_id: str | None, name: str) -> None:
        """Store a topic's name by its id. The id None is ignored."""
        if topic_id is not None:
            self._topics[topic_id] = name

    def apply(self, key: Any, value: Any, timestamp: int, log_offset: int) -> list[str]:
        """Apply a record other than an offset commit.

        * ``key``, ``value``: decoded messages. A value of None is a tombstone.
        * ``timestamp``: milliseconds.
        * ``log_offset``: offset of the record in ``__consumer_offsets``.

        A classic group record is written as a state immediately. For other group types,
        all records of a batch result in a single state, which ``end_batch`` writes.
        Returns descriptions of problems in the record.
        """
        message_name = type(key).__name__.removesuffix("Key")
        if message_name == "GroupMetadata":
            return self._apply_classic(key.group, value, timestamp, log_offset)
        self._learn_topics(value)
        prefix = next(
            (
                candidate
                for candidate in _GROUP_KINDS
                if message_name.startswith(candidate)
            ),
            None,
        )
        if prefix is None:
            return []
        group = self._groups.setdefault(key.group_id, _Group())
        if group.kind != _GROUP_KINDS[prefix]:
            group.kind = _GROUP_KINDS[prefix]
            group.parts.clear()
        record_type = message_name.removeprefix(prefix)
        if record_type == "Metadata":
            group.epoch = None if value is None else value.epoch
            group.is_deleted = value is None
        elif record_type == "TargetAssignmentMetadata":
            group.assignment_epoch = None if value is None else value.assignment_epoch
        elif record_type in _MEMBER_RECORD_TYPES:
            member_records = group.parts.setdefault(key.member_id, {})
            member_records[record_type] = value
            if value is None:
                del member_records[record_type]
            if not member_records:
                del group.parts[key.member_id]
        else:
            return []
        self._changed_groups[key.group_id] = timestamp, log_offset
        return []

    def end_batch(self) -> None:
        """Write the new state of every group that the current batch has changed."""
        for name, (timestamp, log_offset) in self._changed_groups.items():
            group = self._groups[name]
            state_name = DEAD if group.is_deleted else _find_state(group)
            members = [
                self._make_member(group, member_id, group.parts[member_id])
                for member_id in sorted(group.parts)
            ]
            new_state = _StateColumns(
                group.epoch, None, None, None, state_name, members
            )
            self._write_state(name, group, timestamp, log_offset, new_state)
        self._changed_groups.clear()

    def _learn_topics(self, value: Any) -> None:
        """Store the topic names in records that contain topic ids and topic names."""
        for attribute in ("topics", "initializing_topics", "initialized_topics"):
            for topic in getattr(value, attribute, ()):
                if hasattr(topic, "topic_id"):
                    self.learn_topic(format_uuid(topic.topic_id), topic.topic_name)

    def _apply_classic(
        self, name: str, value: Any, timestamp: int, log_offset: int
    ) -> list[str]:
        problems: list[str] = []
        group = self._groups.setdefault(name, _Group())
        group.kind = "classic"
        group.parts.clear()
        group.epoch = group.assignment_epoch = None
        if value is None:
            state = _StateColumns(None, None, None, None, DEAD, [])
        else:
            members = [
                _make_classic_member(member, value.protocol_type, problems)
                for member in sorted(value.members, key=lambda member: member.member_id)
            ]
            state = _StateColumns(
                value.generation,
                value.protocol_type or None,
                value.protocol,
                value.leader,
                # When a coordinator loads a group with members, it assumes the state
                # Stable, because the record does not contain the state.
                STABLE if value.members else EMPTY,
                members,
            )
        self._write_state(name, group, timestamp, log_offset, state)
        return problems

    def _write_state(
        self,
        name: str,
        group: _Group,
        timestamp: int,
        log_offset: int,
        new_state: _StateColumns,
    ) -> None:
        """Write a state row, and start or complete the rebalance that led to it."""
        self._write(
            (timestamp, name, group.kind, *new_state, log_offset, self._log_partition)
        )
        generation = new_state.generation
        members = frozenset(member["member_id"] for member in new_state.members)
        rebalance = group.rebalance
        if rebalance is not None and generation != rebalance["to_generation"]:
            rebalance["duration_ms"] = timestamp - rebalance["timestamp"]
            group.rebalance = rebalance = None
        # The first state in the log is not a rebalance, because the previous state is
        # unknown. A deleted group is known to have no members.
        is_previous_known = group.generation is not None or group.state == DEAD
        if (
            is_previous_known
            and generation is not None
            and generation != group.generation
        ):
            group.rebalance = rebalance = {
                "timestamp": timestamp,
                "group": name,
                "from_generation": group.generation,
                "to_generation": generation,
                "members_joined": sorted(members - group.members),
                "members_left": sorted(group.members - members),
                "duration_ms": None,
                "settled_ms": None,
            }
            self._rebalances.append(rebalance)
        is_settled = new_state.state == STABLE and group.kind in ("consumer", "streams")
        if rebalance is not None and rebalance["settled_ms"] is None and is_settled:
            rebalance["settled_ms"] = timestamp - rebalance["timestamp"]
        group.generation, group.members, group.state = (
            generation,
            members,
            new_state.state,
        )

    def _make_member(
        self, group: _Group, member_id: str, member_records: dict[str, Any]
    ) -> dict[str, Any]:
        metadata = member_records.get("MemberMetadata")
        current = member_records.get("CurrentMemberAssignment")
        row: dict[str, Any] = {"member_id": member_id}
        if metadata is not None:
            row |= {
                "instance_id": getattr(metadata, "instance_id", None),
                "client_id": metadata.client_id,
                "host": metadata.client_host,
                "subscriptions": getattr(metadata, "subscribed_topic_names", None),
                "subscribed_regex": getattr(metadata, "subscribed_topic_regex", None)
                or None,
            }
        if current is not None:
            row["epoch"] = current.member_epoch
            if group.kind == "streams":
                row["assignment"] = [
                    {"subtopology": task.subtopology_id, "partitions": task.partitions}
                    for task in current.active_tasks
                ]
            else:
                row["assignment"] = list(
                    map(self._make_assignment, current.assigned_partitions)
                )
        return row

    def _make_assignment(self, assigned: Any) -> dict[str, Any]:
        topic_id = format_uuid(assigned.topic_id)
        topic = self._topics.get(topic_id or "")
        return {"topic": topic, "topic_id": topic_id, "partitions": assigned.partitions}


def _find_state(group: _Group) -> str | None:
    """Find the state that a coordinator would compute after loading the group.

    Returns None if required records are missing in the log.
    """
    if not group.parts:
        return EMPTY
    if group.kind == "share":
        return STABLE
    if group.epoch is None or group.assignment_epoch is None:
        return None
    if group.epoch > group.assignment_epoch:
        # A streams group can alternatively be waiting for its internal topics, so its
        # state is ambiguous.
        return ASSIGNING if group.kind == "consumer" else None
    assignments = [
        member_records.get("CurrentMemberAssignment")
        for member_records in group.parts.values()
    ]
    is_settled = all(
        assignment is not None
        and assignment.state == _STABLE_MEMBER
        and assignment.member_epoch == group.assignment_epoch
        for assignment in assignments
    )
    return STABLE if is_settled else RECONCILING


def _make_classic_member(
    member: Any, protocol_type: str, problems: list[str]
) -> dict[str, Any]:
    row = {
        "member_id": member.member_id,
        "instance_id": member.group_instance_id,
        "client_id": member.client_id,
        "host": member.client_host,
    }
    if protocol_type != _CONSUMER_PROTOCOL:
        return row

    def read(cls: Any, name: str) -> Any:
        description = f"the {name} of {member.member_id}"
        return _read_embedded(cls, getattr(member, name), description, problems)

    subscription = read(messages.ConsumerProtocolSubscription, "subscription")
    assignment = read(messages.ConsumerProtocolAssignment, "assignment")
    if subscription is not None:
        row["subscriptions"] = subscription.topics
    if assignment is not None:
        row["assignment"] = [
            {"topic": assigned.topic, "partitions": assigned.partitions}
            for assigned in assignment.assigned_partitions
        ]
    return row


def _read_embedded(cls: Any, data: bytes, description: str, problems: list[str]) -> Any:
    """Decode data that group members exchange through the classic group protocol.

    Format: an INT16 version, then the message. The version can be higher than the
    versions that kwire supports. Newer versions only append fields, so the highest
    supported version is used. Returns None if the data is empty or damaged. In the
    second case a description is appended to ``problems``.
    Source: ``ConsumerProtocol``.
    """
    if not data:
        return None
    try:
        _, version = read_version(data, "value")
        supported_version = min(version, cls.valid_versions.max)
        return decode(cls, bytes(data)[2:], supported_version, compat="java")
    except DecodeError as error:
        problems.append(f"{description}: {error}")
        return None
