# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to FindCoordinator, and the check that a broker is the coordinator.

Source: ``KafkaApis.handleFindCoordinatorRequest`` and ``GroupCoordinatorService``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from ...messages import FindCoordinatorResponse
from ...schema import error_codes
from ..state.topic import NO_LEADER

if TYPE_CHECKING:
    from .context import Answer, RequestContext

GROUP, TRANSACTION, SHARE = 0, 1, 2
"""Key types of FindCoordinator."""

_BATCHED_SINCE, _SHARE_SINCE = 4, 6
_MESSAGES = {
    error_codes.NONE: "NONE",
    error_codes.COORDINATOR_NOT_AVAILABLE: "The coordinator is not available.",
    error_codes.INVALID_REQUEST: "The key type or the key is invalid.",
}
"""Error messages of versions 1 to 3, which also name the absence of an error."""


class _Location(NamedTuple):
    """Coordinator of a key, or an error code."""

    error_code: int
    node_id: int = -1
    host: str = ""
    port: int = -1


def answer_find_coordinator(context: RequestContext) -> Answer:
    """Return the coordinators of groups, transactional ids or share partitions."""
    request, make = context.request, FindCoordinatorResponse
    if context.version < _BATCHED_SINCE:
        location = _find(context, request.key)
        text = _MESSAGES.get(location.error_code, "The request failed.")
        return make(
            error_code=location.error_code,
            error_message=text,
            node_id=location.node_id,
            host=location.host,
            port=location.port,
        )
    locations = [(key, _find(context, key)) for key in request.coordinator_keys]
    return make(
        coordinators=[
            make.Coordinator(
                key=key,
                node_id=location.node_id,
                host=location.host,
                port=location.port,
                error_code=location.error_code,
                error_message="",
            )
            for key, location in locations
        ]
    )


def _find(context: RequestContext, key: str) -> _Location:
    code = context.injected_error()
    if code:
        return _Location(code)
    key_type = context.request.key_type
    is_valid = key_type in (GROUP, TRANSACTION) or (
        key_type == SHARE and context.version >= _SHARE_SINCE and _is_share_key(key)
    )
    if not is_valid:
        return _Location(error_codes.INVALID_REQUEST)
    node_id = context.state.choose_coordinator(key)
    if node_id == NO_LEADER:
        return _Location(error_codes.COORDINATOR_NOT_AVAILABLE)
    broker = context.state.brokers[node_id]
    return _Location(0, node_id, broker.host, broker.port)


def _is_share_key(key: str) -> bool:
    """Whether a key consists of a group id, a topic id and a partition.

    Kafka writes topic ids in Base64. Source: ``SharePartitionKey.validate``.
    """
    parts = key.rsplit(":", 2)
    if len(parts) != 3 or not parts[0]:
        return False
    _, topic_id, index = parts
    return _is_topic_id(topic_id) and index.isascii() and index.isdigit()


def _is_topic_id(text: str) -> bool:
    from base64 import urlsafe_b64decode

    try:
        UUID(bytes=urlsafe_b64decode(text + "=="))
    except ValueError:
        return False
    return True


def check_coordinator(context: RequestContext, group_id: str) -> int:
    """Return an error code unless this broker coordinates the group.

    The group id must not be empty. Errors of rules come first.
    """
    code = context.injected_error()
    if code:
        return code
    if not group_id:
        return error_codes.INVALID_GROUP_ID
    return check_location(context, group_id)


def check_location(context: RequestContext, key: str) -> int:
    """Return NOT_COORDINATOR if another broker is the coordinator of a key."""
    is_here = context.state.choose_coordinator(key) == context.broker.node_id
    return 0 if is_here else error_codes.NOT_COORDINATOR
