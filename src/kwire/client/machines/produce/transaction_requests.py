# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the requests of transactions, and maps error codes to reactions.

``transactions.py`` sends the requests.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from ....messages import (
    AddPartitionsToTxnRequest,
    TxnOffsetCommitRequest,
)
from ....schema import error_codes as codes
from ...errors import NotAuthorized, ProducerFenced, RequestRefused
from .. import faults
from .requests import group_by_topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...errors import ClusterError
    from ..group.options import GroupMetadata

Producer = tuple[int, int]
"""Producer id and epoch."""


class TransactionVerdict(Enum):
    """Reaction to the error code of a transaction or group coordinator."""

    RETRY = auto()
    """Send the request again after a pause."""
    FIND_COORDINATOR = auto()
    """Look up the coordinator again, and send the request to it after a pause."""
    ABORT = auto()
    """Abort the transaction. The next transaction may succeed."""
    FATAL = auto()
    """Fail the producer."""


_VERDICTS = {
    codes.NOT_COORDINATOR: TransactionVerdict.FIND_COORDINATOR,
    codes.COORDINATOR_NOT_AVAILABLE: TransactionVerdict.FIND_COORDINATOR,
    codes.REQUEST_TIMED_OUT: TransactionVerdict.FIND_COORDINATOR,
    codes.TRANSACTION_ABORTABLE: TransactionVerdict.ABORT,
    codes.TOPIC_AUTHORIZATION_FAILED: TransactionVerdict.ABORT,
    codes.GROUP_AUTHORIZATION_FAILED: TransactionVerdict.ABORT,
    codes.OPERATION_NOT_ATTEMPTED: TransactionVerdict.ABORT,
    codes.INVALID_GROUP_ID: TransactionVerdict.ABORT,
    codes.ILLEGAL_GENERATION: TransactionVerdict.ABORT,
    codes.UNKNOWN_MEMBER_ID: TransactionVerdict.ABORT,
    codes.FENCED_INSTANCE_ID: TransactionVerdict.ABORT,
    codes.FENCED_MEMBER_EPOCH: TransactionVerdict.ABORT,
    codes.STALE_MEMBER_EPOCH: TransactionVerdict.ABORT,
    codes.OFFSET_METADATA_TOO_LARGE: TransactionVerdict.ABORT,
}

_FENCED = (
    codes.INVALID_PRODUCER_EPOCH,
    codes.PRODUCER_FENCED,
    codes.TRANSACTION_COORDINATOR_FENCED,
)


def read_transaction_verdict(error_code: int) -> TransactionVerdict:
    """Return the reaction to an error code of a coordinator.

    Unlisted errors are retried if they may pass. Otherwise, they are fatal.
    """
    verdict = _VERDICTS.get(error_code)
    if verdict is None:
        may_pass = faults.may_pass(error_code)
        verdict = TransactionVerdict.RETRY if may_pass else TransactionVerdict.FATAL
    return verdict


def transaction_failure(
    doing: str, transactional_id: str, error_code: int
) -> ClusterError:
    """Build the exception for an error code of a coordinator.

    ``doing`` describes the operation that has failed.
    """
    name = codes.name(error_code)
    if error_code in _FENCED:
        return ProducerFenced(
            f"{doing}: a newer producer with the transactional id {transactional_id!r}"
            " has fenced this one, or the transaction exceeded transaction_timeout_s"
            f" (the broker answered {name}); make a new producer"
        )
    needed = {
        codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: (
            f"the operations Write and Describe on the transactional id"
            f" {transactional_id!r}"
        ),
        codes.TOPIC_AUTHORIZATION_FAILED: "the operation Write on the topic",
        codes.GROUP_AUTHORIZATION_FAILED: "the operation Read on the group",
    }.get(error_code)
    if needed is not None:
        return NotAuthorized(f"{doing}: the user is not authorized; it needs {needed}")
    hint = ""
    if error_code == codes.INVALID_TRANSACTION_TIMEOUT:
        hint = (
            "; lower transaction_timeout_s, or raise transaction.max.timeout.ms of the"
            " brokers"
        )
    elif error_code == codes.INVALID_PRODUCER_ID_MAPPING:
        hint = "; the transactional id has expired: make a new producer"
    return RequestRefused(f"{doing}: the broker answered {name}{hint}", error_code)


def add_partitions_request(
    transactional_id: str, producer: Producer, partitions: Iterable[tuple[str, int]]
) -> AddPartitionsToTxnRequest:
    """Build the AddPartitionsToTxn request in the form that clients send.

    Later versions have another form, which brokers use among themselves (KIP-890).
    """
    entry = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
    by_topic = group_by_topic((topic, number) for topic, number in partitions)
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=[
            entry(name=name, partitions=numbers) for name, numbers in by_topic.items()
        ],
    )


def offsets_request(
    transactional_id: str,
    producer: Producer,
    member: GroupMetadata,
    offsets: Mapping[tuple[str, int], int],
) -> TxnOffsetCommitRequest:
    """Build the TxnOffsetCommit request, which adds offsets to a transaction."""
    entry = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
    part = TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition
    by_topic = group_by_topic(
        (
            topic,
            part(
                partition_index=partition,
                committed_offset=offset,
                committed_metadata="",
            ),
        )
        for (topic, partition), offset in offsets.items()
    )
    return TxnOffsetCommitRequest(
        transactional_id=transactional_id,
        group_id=member.group_id,
        producer_id=producer[0],
        producer_epoch=producer[1],
        generation_id_or_member_epoch=member.member_epoch,
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        topics=[entry(name=name, partitions=p) for name, p in by_topic.items()],
    )
