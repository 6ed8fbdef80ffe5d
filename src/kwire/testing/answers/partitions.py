# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Look up of the partition that a request names, with the broker's checks.

Source: ``ReplicaManager.getPartitionOrException`` and
``Partition.checkCurrentLeaderEpoch``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from ...schema import error_codes

if TYPE_CHECKING:
    from ..state.topic import Partition
    from .context import RequestContext


def find_topic_name(
    context: RequestContext, name: str, topic_id: UUID | None
) -> str | None:
    """Return the name of a topic, or None if no topic has the id.

    * ``topic_id``: None if requests of this version contain names.
    """
    if topic_id is None:
        return name
    topic = context.state.topics_by_id.get(topic_id)
    return topic.name if topic else None


def find_led_partition(
    context: RequestContext, name: str | None, index: int, leader_epoch: int = -1
) -> tuple[int, Partition | None]:
    """Return error code 0 and the partition, or an error code and None.

    * ``name``: topic name, or None if the topic id of the request is unknown.
    * ``leader_epoch``: epoch that the client knows, or -1 to skip this check.
    """
    if name is None:
        return error_codes.UNKNOWN_TOPIC_ID, None
    code = context.injected_error(name, index)
    if code:
        return code, None
    partition = context.state.find_partition(name, index)
    if partition is None:
        return error_codes.UNKNOWN_TOPIC_OR_PARTITION, None
    if 0 <= leader_epoch < partition.leader_epoch:
        return error_codes.FENCED_LEADER_EPOCH, None
    if leader_epoch > partition.leader_epoch:
        return error_codes.UNKNOWN_LEADER_EPOCH, None
    if partition.leader != context.broker.node_id:
        return error_codes.NOT_LEADER_OR_FOLLOWER, None
    return 0, partition
