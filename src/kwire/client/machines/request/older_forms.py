# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes requests for older brokers, in which other fields have the same meaning.

A caller fills in the fields of the newest version. OffsetFetch before version 8 is for
one group, and DeleteTopics before version 6 has only names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....connection.negotiation.facts import first_version
from ....messages import (
    DeleteTopicsRequest,
    OffsetFetchRequest,
    OffsetFetchResponse,
)

if TYPE_CHECKING:
    from ....messages import Request

_FIRST_WITH_GROUPS = first_version("OffsetFetchRequest", "groups")
_FIRST_WITH_TOPIC_IDS = first_version("DeleteTopicsRequest", "topics")


def has_one_item(request: Request, version: int) -> bool:
    """Whether a version of a request has space for one item only."""
    return (
        isinstance(request, OffsetFetchRequest)
        and bool(request.groups)
        and version < _FIRST_WITH_GROUPS
    )


def to_older_form(request: Request, version: int) -> Request:
    """Return a request with the fields of a version, if it has others than newer ones.

    A request that the version can express is returned unchanged, and so is one that it
    cannot express: encoding it raises ``EncodeError``.
    """
    if isinstance(request, OffsetFetchRequest) and has_one_item(request, version):
        (group,) = request.groups
        topics = group.topics
        entry = OffsetFetchRequest.OffsetFetchRequestTopic
        return request.replace(
            groups=(),
            group_id=group.group_id,
            topics=None
            if topics is None
            else [
                entry(name=each.name, partition_indexes=each.partition_indexes)
                for each in topics
            ],
        )
    if isinstance(request, DeleteTopicsRequest) and version < _FIRST_WITH_TOPIC_IDS:
        names = [each.name for each in request.topics if each.name is not None]
        if names and len(names) == len(request.topics):
            return request.replace(topics=(), topic_names=names)
    return request


def to_newest_form(request: Request, response: Any) -> Any:
    """Return the response to a request that ``to_older_form`` wrote, for its caller.

    ``request`` is the caller's.
    """
    if not isinstance(request, OffsetFetchRequest) or response.groups:
        return response
    if len(request.groups) != 1:
        return response
    make = OffsetFetchResponse
    topics = [
        make.OffsetFetchResponseTopics(
            name=topic.name,
            partitions=[
                make.OffsetFetchResponsePartitions(
                    partition_index=each.partition_index,
                    committed_offset=each.committed_offset,
                    committed_leader_epoch=each.committed_leader_epoch,
                    metadata=each.metadata,
                    error_code=each.error_code,
                )
                for each in topic.partitions
            ],
        )
        for topic in response.topics
    ]
    group = make.OffsetFetchResponseGroup(
        group_id=request.groups[0].group_id,
        topics=topics,
        error_code=response.error_code,
    )
    return response.replace(topics=(), error_code=0, groups=[group])
