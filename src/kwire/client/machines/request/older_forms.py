# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Converts requests whose older versions have different fields for the same meaning.

Callers specify the fields of the newest version. OffsetFetch before version 8 supports
only one group, and DeleteTopics before version 6 supports only topic names.
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
    """Return whether a request must be split, because the version allows one item."""
    return (
        isinstance(request, OffsetFetchRequest)
        and bool(request.groups)
        and version < _FIRST_WITH_GROUPS
    )


def to_older_form(request: Request, version: int) -> Request:
    """Return a request with the fields of an older version.

    The request is returned unchanged if the version has the same fields, and also if it
    cannot represent the request. In the latter case, encoding raises ``EncodeError``.
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
                entry(name=topic.name, partition_indexes=topic.partition_indexes)
                for topic in topics
            ],
        )
    if isinstance(request, DeleteTopicsRequest) and version < _FIRST_WITH_TOPIC_IDS:
        names = [topic.name for topic in request.topics if topic.name is not None]
        if names and len(names) == len(request.topics):
            return request.replace(topics=(), topic_names=names)
    return request


def to_newest_form(request: Request, response: Any) -> Any:
    """Convert the response to a converted request to the fields of the newest version.

    ``request`` is the request before ``to_older_form``.
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
                    partition_index=part.partition_index,
                    committed_offset=part.committed_offset,
                    committed_leader_epoch=part.committed_leader_epoch,
                    metadata=part.metadata,
                    error_code=part.error_code,
                )
                for part in topic.partitions
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
