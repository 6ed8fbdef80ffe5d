# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to DescribeGroups, ListGroups and DeleteGroups.

Source: ``GroupMetadataManager.describeGroups``, ``GroupMetadataManager.listGroups`` and
``GroupCoordinatorShard.deleteGroups``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages import (
    DeleteGroupsResponse,
    DescribeGroupsResponse,
    ListGroupsResponse,
)
from ...schema import error_codes
from ..state.classic_group import DEAD, STABLE, ClassicGroup
from ..state.features import ALLOWS_GROUP_CONFIGS
from .coordinators import check_location

if TYPE_CHECKING:
    from ..state.classic_member import ClassicMember
    from .context import Answer, RequestContext

_OPERATIONS, _OPERATIONS_WITH_CONFIGS = 0b1100_1000, 0b1100_1100_1000
"""Bits of all operations on a group, without and with its configuration."""

NOT_REQUESTED = -(1 << 31)
_MESSAGE_SINCE = 6


def answer_describe_groups(context: RequestContext) -> Answer:
    """Describe classic groups. A missing group has the state "Dead"."""
    return DescribeGroupsResponse(
        groups=[_describe(context, group_id) for group_id in context.request.groups]
    )


def _describe(
    context: RequestContext, group_id: str
) -> DescribeGroupsResponse.DescribedGroup:
    make = DescribeGroupsResponse.DescribedGroup
    code = context.injected_error() or check_location(context, group_id)
    if code:
        return make(group_id=group_id, error_code=code)
    operations = list_operations(context)
    group = context.state.groups.get(group_id)
    if not isinstance(group, ClassicGroup):
        has_error = context.version >= _MESSAGE_SINCE
        return make(
            group_id=group_id,
            error_code=error_codes.GROUP_ID_NOT_FOUND if has_error else 0,
            error_message=explain_missing(group_id, group is not None, "classic")
            if has_error
            else None,
            group_state=DEAD,
            authorized_operations=operations,
        )
    is_stable = group.state == STABLE
    return make(
        group_id=group_id,
        group_state=group.state,
        protocol_type=group.protocol_type,
        protocol_data=group.protocol_name or "" if is_stable else "",
        members=[
            _describe_member(member, group.protocol_name if is_stable else None)
            for member in group.members.values()
        ],
        authorized_operations=operations,
    )


def list_operations(context: RequestContext) -> int:
    """Return the operations on a group as bits, if the request includes them.

    A cluster without ACLs allows all operations.
    """
    if not context.request.include_authorized_operations:
        return NOT_REQUESTED
    has_configs = context.state.is_since(ALLOWS_GROUP_CONFIGS)
    return _OPERATIONS_WITH_CONFIGS if has_configs else _OPERATIONS


def _describe_member(
    member: ClassicMember, protocol_name: str | None
) -> DescribeGroupsResponse.DescribedGroupMember:
    """Describe a member. Only a stable group returns metadata and assignments."""
    return DescribeGroupsResponse.DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=member.metadata_of(protocol_name),
        member_assignment=member.assignment if protocol_name is not None else b"",
    )


def explain_missing(group_id: str, exists: bool, kind: str) -> str:
    """Return the error message for a group that is missing or of another kind."""
    if exists:
        return f"Group {group_id} is not a {kind} group."
    return f"Group {group_id} not found."


def answer_list_groups(context: RequestContext) -> Answer:
    """List the groups whose coordinator is this broker, filtered by state and type."""
    request, state = context.request, context.state
    code = context.injected_error()
    if code:
        return ListGroupsResponse(error_code=code)
    states = {name.strip().lower() for name in request.states_filter}
    types = {name.strip().lower() for name in request.types_filter}
    return ListGroupsResponse(
        groups=[
            ListGroupsResponse.ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state_name,
                group_type=group.kind,
            )
            for group in state.groups.values()
            if check_location(context, group.group_id) == 0
            and (not states or group.state_name.lower() in states)
            and (not types or group.kind in types)
        ]
    )


def answer_delete_groups(context: RequestContext) -> Answer:
    """Delete groups without members, together with their committed offsets."""
    make = DeleteGroupsResponse
    codes = {
        group_id: _delete(context, group_id)
        for group_id in dict.fromkeys(context.request.groups_names)
    }
    return make(
        results=[
            make.DeletableGroupResult(
                group_id=group_id, error_code=code, error_message=None
            )
            for group_id, code in codes.items()
        ]
    )


def _delete(context: RequestContext, group_id: str) -> int:
    code = context.injected_error() or check_location(context, group_id)
    if code:
        return code
    group = context.state.groups.get(group_id)
    if group is None:
        return error_codes.GROUP_ID_NOT_FOUND
    code = group.check_deletion()
    if not code:
        del context.state.groups[group_id]
    return code
