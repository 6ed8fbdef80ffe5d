# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to OffsetCommit, OffsetFetch and OffsetDelete.

Source: ``KafkaApis.handleOffsetCommitRequest``, ``KafkaApis.handleOffsetFetchRequest``
and ``OffsetMetadataManager``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from ...errors import KwireError
from ...messages import (
    ConsumerProtocolSubscription,
    OffsetCommitResponse,
    OffsetDeleteResponse,
    OffsetFetchResponse,
)
from ...messages.framing import decode_prefixed
from ...schema import error_codes
from ..state.classic_group import ClassicGroup, ensure_simple_group
from ..state.consumer_group import ConsumerGroup
from ..state.group import CommittedOffset, Group
from .coordinators import check_coordinator, check_location
from .partitions import find_topic_name

if TYPE_CHECKING:
    from typing import Any

    from .context import Answer, RequestContext

_IDS_SINCE = 10
_MEMBER_EPOCHS_SINCE = 9
_GROUPS_SINCE = 8
_TOP_LEVEL_ERROR_SINCE = 2
_NO_ID = UUID(int=0)


def answer_offset_commit(context: RequestContext) -> Answer:
    """Store the offsets of a group, if its member may commit."""
    partitions = {
        (name, part.partition_index)
        for topic in context.request.topics
        if (name := _find_topic(context, topic)) is not None
        for part in topic.partitions
        if _exists(context, name, part.partition_index)
    }
    code = _check_commit(context, partitions) if partitions else 0
    topics = []
    for topic in context.request.topics:
        name = _find_topic(context, topic)
        results = [
            OffsetCommitResponse.OffsetCommitResponsePartition(
                partition_index=part.partition_index,
                error_code=_commit(context, topic, name, part, code),
            )
            for part in topic.partitions
        ]
        topics.append(
            OffsetCommitResponse.OffsetCommitResponseTopic(
                name=topic.name, topic_id=topic.topic_id, partitions=results
            )
        )
    return OffsetCommitResponse(topics=topics)


def _find_topic(context: RequestContext, topic: Any) -> str | None:
    """Return the name of a topic, or None if no topic has the id."""
    has_ids = context.version >= _IDS_SINCE
    return find_topic_name(context, topic.name, topic.topic_id if has_ids else None)


def _exists(context: RequestContext, name: str, index: int) -> bool:
    return context.state.find_partition(name, index) is not None


def _check_commit(context: RequestContext, partitions: set[tuple[str, int]]) -> int:
    """Check the coordinator and the member. Creates a group for a simple commit."""
    request = context.request
    group_id = request.group_id
    # An empty group id is allowed here, because simple consumers of old releases had
    # none.
    code = check_location(context, group_id)
    if code:
        return code
    generation = request.generation_id_or_member_epoch
    has_epochs = context.version >= _MEMBER_EPOCHS_SINCE
    group = context.state.groups.get(group_id)
    if group is None:
        if generation >= 0:
            missing = error_codes.GROUP_ID_NOT_FOUND
            return missing if has_epochs else error_codes.ILLEGAL_GENERATION
        group = ensure_simple_group(context.state, group_id)
    code = group.check_commit(
        request.member_id,
        generation,
        request.group_instance_id,
        has_epochs,
        partitions,
    )
    if not code:
        group.note_commit(request.member_id)
    return code


def _commit(
    context: RequestContext, topic: Any, name: str | None, part: Any, code: int
) -> int:
    """Store one offset; return an error code.

    * ``code``: result of the checks for the whole request.
    """
    injected = context.injected_error(name or topic.name, part.partition_index)
    if injected:
        return injected
    if name is None:
        return error_codes.UNKNOWN_TOPIC_ID
    if not _exists(context, name, part.partition_index):
        return error_codes.UNKNOWN_TOPIC_OR_PARTITION
    if code:
        return code
    metadata = part.committed_metadata or ""
    if len(metadata) > context.state.group_settings.max_metadata_bytes:
        return error_codes.OFFSET_METADATA_TOO_LARGE
    offset = CommittedOffset(
        part.committed_offset,
        part.committed_leader_epoch,
        metadata,
        context.state.clock.unix_ms,
    )
    group = context.state.groups[context.request.group_id]
    group.offsets.commit(name, part.partition_index, offset)
    return 0


def answer_offset_fetch(context: RequestContext) -> Answer:
    """Return committed offsets of a group, or of several groups since version 8."""
    request, version = context.request, context.version
    make = OffsetFetchResponse
    if version >= _GROUPS_SINCE:
        return make(groups=[_fetch_group(context, group) for group in request.groups])
    topics: list[OffsetFetchResponse.OffsetFetchResponseTopic] = []
    code = _check_fetch(context, request.group_id, None, -1)
    if code and version >= _TOP_LEVEL_ERROR_SINCE:
        return make(error_code=code)
    offsets = _Reader(context, request.group_id)
    for name, indexes in _list_requested(request, offsets.group):
        partitions = []
        for index in indexes:
            partition = offsets.read(name, index, code)
            partitions.append(
                make.OffsetFetchResponsePartition(
                    partition_index=index,
                    committed_offset=partition.offset,
                    committed_leader_epoch=partition.leader_epoch,
                    metadata=partition.metadata,
                    error_code=partition.error_code,
                )
            )
        topics.append(make.OffsetFetchResponseTopic(name=name, partitions=partitions))
    return make(topics=topics)


def _check_fetch(
    context: RequestContext, group_id: str, member_id: str | None, member_epoch: int
) -> int:
    code = context.injected_error() or check_location(context, group_id)
    group = context.state.groups.get(group_id)
    if code or group is None:
        return code
    return group.check_fetch(member_id, member_epoch)


def _list_requested(request: Any, group: Group | None) -> list[tuple[str, list[int]]]:
    """List the topics and partitions of a request. None requests all of them."""
    if request.topics is not None:
        return [(topic.name, list(topic.partition_indexes)) for topic in request.topics]
    indexes: dict[str, list[int]] = {}
    for name, index in sorted(group.offsets.committed) if group else ():
        indexes.setdefault(name, []).append(index)
    return list(indexes.items())


class _FetchedOffset(NamedTuple):
    """Committed offset of a partition. Without a commit, the numbers are -1."""

    error_code: int = 0
    offset: int = -1
    leader_epoch: int = -1
    metadata: str = ""


class _Reader:
    """Reads the committed offsets of one group for a request."""

    def __init__(self, context: RequestContext, group_id: str) -> None:
        self.group = context.state.groups.get(group_id)
        self._context = context
        self._must_be_stable = context.request.require_stable

    def read(self, name: str, index: int, code: int = 0) -> _FetchedOffset:
        """Return the offset of a partition, or its error code."""
        code = self._context.injected_error(name, index) or code
        if code:
            return _FetchedOffset(code)
        offsets = self.group.offsets if self.group else None
        if self._must_be_stable and offsets and offsets.is_unstable(name, index):
            return _FetchedOffset(error_codes.UNSTABLE_OFFSET_COMMIT)
        committed = offsets.committed.get((name, index)) if offsets else None
        if committed is not None:
            return _FetchedOffset(
                0, committed.offset, committed.leader_epoch, committed.metadata
            )
        # Version 0 reads from ZooKeeper, where a missing node is an error.
        is_error = self._context.version == 0
        return _FetchedOffset(error_codes.UNKNOWN_TOPIC_OR_PARTITION if is_error else 0)


def _fetch_group(
    context: RequestContext, entry: Any
) -> OffsetFetchResponse.OffsetFetchResponseGroup:
    make = OffsetFetchResponse.OffsetFetchResponseGroup
    code = _check_fetch(context, entry.group_id, entry.member_id, entry.member_epoch)
    if code:
        return make(group_id=entry.group_id, error_code=code)
    offsets = _Reader(context, entry.group_id)
    topics = []
    for name, topic_id, indexes in _list_group_topics(context, entry, offsets.group):
        code = error_codes.UNKNOWN_TOPIC_ID if name is None else 0
        partitions = []
        for index in indexes:
            partition = offsets.read(name or "", index, code)
            partitions.append(
                OffsetFetchResponse.OffsetFetchResponsePartitions(
                    partition_index=index,
                    committed_offset=partition.offset,
                    committed_leader_epoch=partition.leader_epoch,
                    metadata=partition.metadata,
                    error_code=partition.error_code,
                )
            )
        topics.append(
            OffsetFetchResponse.OffsetFetchResponseTopics(
                name=name or "", topic_id=topic_id, partitions=partitions
            )
        )
    return make(group_id=entry.group_id, topics=topics)


def _list_group_topics(
    context: RequestContext, entry: Any, group: Group | None
) -> list[tuple[str | None, UUID, list[int]]]:
    """List names, ids and partitions. The name is None if the id is unknown."""
    if context.version >= _IDS_SINCE and entry.topics is not None:
        return [
            (
                find_topic_name(context, "", topic.topic_id),
                topic.topic_id,
                list(topic.partition_indexes),
            )
            for topic in entry.topics
        ]
    requested = _list_requested(entry, group)
    ids = {name: topic.topic_id for name, topic in context.state.topics.items()}
    return [
        (name, ids.get(name, _NO_ID), indexes)
        for name, indexes in requested
        if name in ids or context.version < _IDS_SINCE
    ]


def answer_offset_delete(context: RequestContext) -> Answer:
    """Delete committed offsets of topics to which the group is not subscribed."""
    request, make = context.request, OffsetDeleteResponse
    code = check_coordinator(context, request.group_id)
    group = context.state.groups.get(request.group_id)
    if not code and group is None:
        code = error_codes.GROUP_ID_NOT_FOUND
    if not code and group is not None:
        code = group.check_offset_deletion()
    if code or group is None:
        return make(error_code=code)
    subscribed = _list_subscribed(group)
    topics = {}
    for topic in request.topics:
        partitions = {}
        for part in topic.partitions:
            index = part.partition_index
            code = context.injected_error(topic.name, index)
            if not code and not _exists(context, topic.name, index):
                code = error_codes.UNKNOWN_TOPIC_OR_PARTITION
            if not code and topic.name in subscribed:
                code = error_codes.GROUP_SUBSCRIBED_TO_TOPIC
            if not code:
                group.offsets.forget(topic.name, index)
            partitions[index] = make.OffsetDeleteResponsePartition(
                partition_index=index, error_code=code
            )
        topics[topic.name] = make.OffsetDeleteResponseTopic(
            name=topic.name, partitions=list(partitions.values())
        )
    return make(topics=list(topics.values()))


def _list_subscribed(group: Group) -> set[str]:
    """Return the topics to which the members of a group are subscribed.

    A classic member sends its topics in the metadata of its protocol. Metadata that
    cannot be decoded is ignored. Source: ``ClassicGroup.computeSubscribedTopics``.
    """
    if isinstance(group, ConsumerGroup):
        return group.subscribed_topics
    names: set[str] = set()
    if isinstance(group, ClassicGroup) and group.type == "consumer":
        for member in group.members.values():
            data = member.metadata_of(group.protocol_name)
            try:
                subscription = decode_prefixed(ConsumerProtocolSubscription, data)
            except KwireError:
                continue
            names.update(subscription.topics)
    return names
