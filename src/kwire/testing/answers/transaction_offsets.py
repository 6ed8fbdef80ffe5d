# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to TxnOffsetCommit: offsets that are committed with a transaction.

Source: ``KafkaApis.handleTxnOffsetCommitRequest`` and
``OffsetMetadataManager.validateTransactionalOffsetCommit``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages import TxnOffsetCommitResponse
from ...schema import error_codes
from ..state.classic_group import ensure_simple_group
from ..state.features import BUMPS_EPOCHS, VERIFIES_OFFSETS, is_since
from ..state.group import CommittedOffset
from ..state.transactions import ProducerIdentity
from .coordinators import check_location
from .partitions import find_topic_name
from .transactions import translate_verification

if TYPE_CHECKING:
    from ...messages import TxnOffsetCommitRequest
    from ..state.group import GroupOffsets
    from .context import Answer, RequestContext

_WITH_ABORTABLE = 4
_WITH_ADDITION = 5
_WITH_IDS = 6


def answer_txn_offset_commit(context: RequestContext) -> Answer:
    """Store offsets, which become valid when their transaction commits."""
    request: TxnOffsetCommitRequest = context.request
    names = [
        find_topic_name(
            context,
            topic.name,
            topic.topic_id if context.version >= _WITH_IDS else None,
        )
        for topic in request.topics
    ]
    codes = [
        [_check_partition(context, name, part.partition_index) for part in parts]
        for name, parts in zip(
            names, (topic.partitions for topic in request.topics), strict=True
        )
    ]
    partitions = {
        (name, part.partition_index)
        for topic, name, part_codes in zip(request.topics, names, codes, strict=True)
        for part, code in zip(topic.partitions, part_codes, strict=True)
        if name is not None and not code
    }
    if partitions:
        code = _check_commit(context, partitions)
        if code:
            codes = [[old or code for old in part_codes] for part_codes in codes]
        else:
            codes = _commit(context, names, codes)
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition(
                        partition_index=part.partition_index, error_code=code
                    )
                    for part, code in zip(topic.partitions, part_codes, strict=True)
                ],
            )
            for topic, part_codes in zip(request.topics, codes, strict=True)
        ]
    )


def _check_partition(context: RequestContext, name: str | None, index: int) -> int:
    if name is None:
        return error_codes.UNKNOWN_TOPIC_ID
    code = context.injected_error(name, index)
    if code:
        return code
    if context.state.find_partition(name, index) is None:
        return error_codes.UNKNOWN_TOPIC_OR_PARTITION
    return error_codes.NONE


def _check_commit(context: RequestContext, partitions: set[tuple[str, int]]) -> int:
    """Check the group, the transaction and the member; return an error code.

    Creates the group if it does not exist and the client is not a member.
    """
    request: TxnOffsetCommitRequest = context.request
    if not request.group_id:
        return error_codes.INVALID_GROUP_ID
    code = check_location(context, request.group_id)
    if code:
        return code
    group = context.state.groups.get(request.group_id)
    code = _check_transaction(context, request, group.offsets if group else None)
    if code:
        return code
    generation = request.generation_id_or_member_epoch
    if group is None:
        if generation >= 0:
            return error_codes.ILLEGAL_GENERATION
        group = ensure_simple_group(context.state, request.group_id)
    return group.check_transactional_member(
        request.member_id, generation, request.group_instance_id, partitions
    )


def _check_transaction(
    context: RequestContext,
    request: TxnOffsetCommitRequest,
    offsets: GroupOffsets | None,
) -> int:
    """Verify that the transaction of a producer contains the group, or add the group.

    Only the first offsets of a transaction are verified, as with batches.
    """
    release = context.state.release
    producer = ProducerIdentity(request.producer_id, request.producer_epoch)
    if offsets is not None and offsets.is_fenced(*producer):
        return error_codes.INVALID_PRODUCER_EPOCH
    if not is_since(release, VERIFIES_OFFSETS):
        return error_codes.NONE
    if offsets is not None and producer.producer_id in offsets.pending:
        last_epoch = offsets.producer_epochs.get(producer.producer_id, -1)
        if last_epoch == producer.epoch or not is_since(release, BUMPS_EPOCHS):
            return error_codes.NONE
    transactions = context.state.transactions
    if context.version >= _WITH_ADDITION:
        code = transactions.add_group(
            request.transactional_id, producer, request.group_id
        )
    else:
        code = transactions.verify_group(
            request.transactional_id, producer, request.group_id
        )
    return translate_verification(code, context.version >= _WITH_ABORTABLE)


def _commit(
    context: RequestContext, names: list[str | None], codes: list[list[int]]
) -> list[list[int]]:
    """Store the offsets of partitions without an error; return all error codes."""
    request: TxnOffsetCommitRequest = context.request
    offsets = context.state.groups[request.group_id].offsets
    max_bytes = context.state.group_settings.max_metadata_bytes
    offsets.note_epoch(request.producer_id, request.producer_epoch)
    results = []
    for topic, name, part_codes in zip(request.topics, names, codes, strict=True):
        new_codes = []
        for part, old_code in zip(topic.partitions, part_codes, strict=True):
            code = old_code
            metadata = part.committed_metadata or ""
            if not code and len(metadata) > max_bytes:
                code = error_codes.OFFSET_METADATA_TOO_LARGE
            if not code and name is not None:
                offsets.commit_pending(
                    request.producer_id,
                    name,
                    part.partition_index,
                    CommittedOffset(
                        part.committed_offset,
                        part.committed_leader_epoch,
                        metadata,
                        context.state.clock.unix_ms,
                    ),
                )
            new_codes.append(code)
        results.append(new_codes)
    return results
