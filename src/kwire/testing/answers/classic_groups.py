# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

Source: ``GroupCoordinatorService`` and ``GroupMetadataManager``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages import (
    HeartbeatResponse,
    JoinGroupResponse,
    LeaveGroupResponse,
    SyncGroupResponse,
)
from ...schema import error_codes
from ..state.classic_group import ClassicGroup
from ..state.classic_member import Joining, JoinResult, SyncResult
from ..state.group import CONSUMER
from .context import Waiting
from .coordinators import check_coordinator, check_location

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from ...messages import Response
    from ..state.classic_member import Deferred
    from .context import Answer, RequestContext

    T = TypeVar("T")

_MEMBER_ID_REQUIRED_SINCE, _SKIP_ASSIGNMENT_SINCE = 4, 9
_NULLABLE_PROTOCOL_SINCE = 7
_SYNC_PROTOCOL_SINCE = 5
_BATCHED_LEAVE_SINCE = 3

_EVICTING_ERRORS = (error_codes.UNKNOWN_MEMBER_ID, error_codes.FENCED_INSTANCE_ID)
"""Errors after which a client abandons its member id."""


def answer_join_group(context: RequestContext) -> Answer:
    """Add a member to a group, and wait until the rebalance is complete."""
    request, state = context.request, context.state
    settings = state.group_settings
    code = context.injected_error()
    if not code and not request.group_id:
        code = error_codes.INVALID_GROUP_ID
    lowest, highest = settings.min_session_timeout_ms, settings.max_session_timeout_ms
    if not code and not lowest <= request.session_timeout_ms <= highest:
        code = error_codes.INVALID_SESSION_TIMEOUT
    code = code or check_location(context, request.group_id)
    if code:
        return _make_joined(context, JoinResult(code, member_id=request.member_id))
    group = _find_joinable(context)
    if isinstance(group, int):
        member_id = "" if group == _INCONSISTENT else request.member_id
        return _make_joined(context, JoinResult(group, member_id=member_id))
    deferred = group.join(
        _make_joining(context),
        context.version >= _MEMBER_ID_REQUIRED_SINCE,
        context.version >= _SKIP_ASSIGNMENT_SINCE,
    )
    moved = JoinResult(error_codes.NOT_COORDINATOR, member_id=request.member_id)
    return _wait_for(
        context, deferred, lambda result: _make_joined(context, result), moved
    )


_INCONSISTENT = error_codes.INCONSISTENT_GROUP_PROTOCOL


def _find_joinable(context: RequestContext) -> ClassicGroup | int:
    """Return the group of a JoinGroup request, or an error code.

    An empty group of KIP-848 is replaced, and keeps its committed offsets.
    """
    request, groups = context.request, context.state.groups
    group = groups.get(request.group_id)
    if isinstance(group, ClassicGroup):
        return group
    if group is not None and not (group.kind == CONSUMER and group.is_empty):
        return _INCONSISTENT
    if request.member_id:
        return error_codes.UNKNOWN_MEMBER_ID
    replacement = ClassicGroup(request.group_id, context.state)
    if group is not None:
        replacement.offsets = group.offsets
    groups[request.group_id] = replacement
    return replacement


def _make_joining(context: RequestContext) -> Joining:
    request = context.request
    rebalance_timeout_ms = request.rebalance_timeout_ms
    if rebalance_timeout_ms < 0:
        rebalance_timeout_ms = request.session_timeout_ms
    return Joining(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        client_id=context.client_id,
        client_host=f"/{context.client_host}",
        session_timeout_s=request.session_timeout_ms / 1000,
        rebalance_timeout_s=rebalance_timeout_ms / 1000,
        protocol_type=request.protocol_type,
        protocols=tuple(
            (protocol.name, bytes(protocol.metadata)) for protocol in request.protocols
        ),
    )


def _make_joined(context: RequestContext, result: JoinResult) -> JoinGroupResponse:
    version = context.version
    name = result.protocol_name
    return JoinGroupResponse(
        error_code=result.error_code,
        generation_id=result.generation,
        protocol_type=result.protocol_type,
        protocol_name=name if version >= _NULLABLE_PROTOCOL_SINCE else name or "",
        leader=result.leader,
        skip_assignment=result.skip_assignment,
        member_id=result.member_id,
        members=[
            JoinGroupResponse.JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                metadata=member.metadata,
            )
            for member in result.members
        ],
    )


def answer_sync_group(context: RequestContext) -> Answer:
    """Store the assignments of the leader, and return the assignment of the member."""
    request, version = context.request, context.version
    code = context.injected_error()
    protocol = (None, None)
    if version >= _SYNC_PROTOCOL_SINCE:
        protocol = request.protocol_type, request.protocol_name
        if None in protocol:
            code = code or error_codes.INCONSISTENT_GROUP_PROTOCOL
    code = code or check_coordinator(context, request.group_id)
    group = context.state.groups.get(request.group_id)
    if not code and not isinstance(group, ClassicGroup):
        code = error_codes.UNKNOWN_MEMBER_ID
    if code or not isinstance(group, ClassicGroup):
        return _make_synced(SyncResult(code))
    deferred = group.sync(
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        protocol,
        {
            assignment.member_id: bytes(assignment.assignment)
            for assignment in request.assignments
        },
    )
    moved = SyncResult(error_codes.NOT_COORDINATOR)
    return _wait_for(context, deferred, _make_synced, moved)


def _make_synced(result: SyncResult) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=result.error_code,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name,
        assignment=result.assignment,
    )


def answer_heartbeat(context: RequestContext) -> Answer:
    """Extend the session of a member, and report a rebalance."""
    request = context.request
    group = context.state.groups.get(request.group_id)
    code = check_coordinator(context, request.group_id)
    if code in _EVICTING_ERRORS and isinstance(group, ClassicGroup):
        # A rule injected the error. The client will join as a new member.
        group.remove_member(request.member_id)
    if not code:
        code = error_codes.UNKNOWN_MEMBER_ID
        if isinstance(group, ClassicGroup):
            code = group.heartbeat(
                request.member_id, request.group_instance_id, request.generation_id
            )
    return HeartbeatResponse(error_code=code)


def answer_leave_group(context: RequestContext) -> Answer:
    """Remove members. Requests before version 3 contain a single member."""
    request, version = context.request, context.version
    make = LeaveGroupResponse
    is_batched = version >= _BATCHED_LEAVE_SINCE
    identities = (
        [(member.member_id, member.group_instance_id) for member in request.members]
        if is_batched
        else [(request.member_id, None)]
    )
    code = check_coordinator(context, request.group_id)
    if code:
        return make(error_code=code)
    group = context.state.groups.get(request.group_id)
    if isinstance(group, ClassicGroup):
        codes = group.leave(identities)
    else:
        codes = [error_codes.UNKNOWN_MEMBER_ID] * len(identities)
    if not is_batched:
        return make(error_code=codes[0])
    return make(
        members=[
            make.MemberResponse(
                member_id=member_id, group_instance_id=instance_id, error_code=code
            )
            for (member_id, instance_id), code in zip(identities, codes, strict=True)
        ]
    )


def _wait_for(
    context: RequestContext,
    deferred: Deferred[T],
    make: Callable[[T], Response],
    moved: T,
) -> Answer:
    """Return the response for a result, now or when it is available.

    * ``moved``: result if another broker becomes the coordinator in the meantime.
    """

    def attempt() -> Response | None:
        result = deferred.result
        if result is None and check_location(context, context.request.group_id):
            result = moved
        return None if result is None else make(result)

    return attempt() or Waiting(attempt)
