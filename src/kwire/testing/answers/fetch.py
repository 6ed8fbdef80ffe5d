# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to Fetch: long polls, size limits, isolation levels and diverging epochs.

Source: ``KafkaApis.handleFetchRequest``, ``ReplicaManager.fetchMessages`` and
``DelayedFetch``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...errors import EncodeError, KwireError
from ...messages import FetchResponse
from ...records import convert_batches, read_batch_header
from ...schema import error_codes
from ..state.features import LIMITS_FETCH_BYTES
from ..state.topic import NO_LEADER
from .context import Waiting
from .partitions import find_led_partition, find_topic_name

if TYPE_CHECKING:
    from ...messages import FetchRequest
    from ..state.fetch_sessions import PartitionKey, SessionContext
    from ..state.topic import Partition
    from .context import Answer, RequestContext

_MAX_BYTES = 57_671_680
"""Default of the broker property ``fetch.max.bytes``."""

_WITH_ZSTD = 10
_MINIMUM_ONE_SINCE = 3
"""First version whose response contains at least one complete batch (KIP-74)."""
_WITH_IDS, _WITH_ENDPOINTS = 13, 16
_READ_COMMITTED = 1
_UNKNOWN = (error_codes.UNKNOWN_TOPIC_OR_PARTITION, error_codes.UNKNOWN_TOPIC_ID)


class _Limits(NamedTuple):
    """Remaining size of a response."""

    max_bytes: int
    is_first: bool


def answer_fetch(context: RequestContext) -> Answer:
    """Return records, or wait until there are ``min_bytes`` of them."""
    request: FetchRequest = context.request
    code = context.injected_error()
    if code and context.version >= 7:
        return FetchResponse(error_code=code)
    session = context.broker.fetch_sessions.resolve(request, context.version)
    if session.error_code:
        return FetchResponse(error_code=session.error_code)

    def attempt() -> FetchResponse | None:
        return _read(context, session, is_late=False)

    response = attempt()
    if response is not None:
        return response
    deadline_s = context.state.clock.now_s + max(request.max_wait_ms, 0) / 1000
    return Waiting(attempt, deadline_s, lambda: _read_late(context, session))


def _read_late(context: RequestContext, session: SessionContext) -> FetchResponse:
    response = _read(context, session, is_late=True)
    assert response is not None
    return response


def _read(
    context: RequestContext, session: SessionContext, is_late: bool
) -> FetchResponse | None:
    """Read all partitions. Returns None if there are too few bytes yet.

    * ``is_late``: whether the maximum waiting time has passed.
    """
    request: FetchRequest = context.request
    must_answer = is_late or request.max_wait_ms <= 0 or not session.partitions
    remaining_bytes = request.max_bytes if context.version >= 3 else 1 << 31
    if context.state.is_since(LIMITS_FETCH_BYTES):
        remaining_bytes = min(remaining_bytes, _MAX_BYTES)
    is_first = context.version >= _MINIMUM_ONE_SINCE
    size = 0
    entries: list[tuple[PartitionKey, FetchResponse.PartitionData]] = []
    for key, part in session.partitions.items():
        limits = _Limits(remaining_bytes, is_first)
        data = _read_partition(context, key, part, limits)
        if data.error_code or data.diverging_epoch.end_offset >= 0:
            must_answer = True
        data_bytes = len(data.records or b"")
        if data_bytes:
            is_first = False
            remaining_bytes = max(remaining_bytes - data_bytes, 0)
            size += data_bytes
        entries.append((key, data))
    if size < request.min_bytes and not must_answer:
        return None
    return FetchResponse(
        session_id=session.session_id,
        responses=_group_by_topic(
            [(key, data) for key, data in entries if session.note_sent(key, data)]
        ),
        node_endpoints=_list_endpoints(context, entries),
    )


def _group_by_topic(
    entries: list[tuple[PartitionKey, FetchResponse.PartitionData]],
) -> list[FetchResponse.FetchableTopicResponse]:
    """Group consecutive partitions of a topic, as brokers do."""
    groups: list[tuple[PartitionKey, list[FetchResponse.PartitionData]]] = []
    for key, data in entries:
        last = groups[-1][0] if groups else None
        if last is None or (last.topic, last.topic_id) != (key.topic, key.topic_id):
            groups.append((key, []))
        groups[-1][1].append(data)
    return [
        FetchResponse.FetchableTopicResponse(
            topic=key.topic, topic_id=key.topic_id, partitions=partitions
        )
        for key, partitions in groups
    ]


def _read_partition(
    context: RequestContext,
    key: PartitionKey,
    part: FetchRequest.FetchPartition,
    limits: _Limits,
) -> FetchResponse.PartitionData:
    make = FetchResponse.PartitionData
    version = context.version
    topic_id = key.topic_id if version >= _WITH_IDS else None
    name = find_topic_name(context, key.topic, topic_id)
    code, partition = find_led_partition(
        context, name, key.partition, part.current_leader_epoch
    )
    if partition is None:
        return make(
            partition_index=key.partition,
            error_code=code,
            high_watermark=-1,
            # Brokers check whether a partition exists before they read the log.
            aborted_transactions=() if code in _UNKNOWN else None,
            records=b"",
            current_leader=_find_leader(context, name, key.partition, code),
        )
    log = partition.log
    out_of_range = error_codes.OFFSET_OUT_OF_RANGE
    if part.last_fetched_epoch >= 0:
        epoch, end_offset = log.find_epoch_end(part.last_fetched_epoch)
        if end_offset < 0:
            return _describe_error(key.partition, out_of_range)
        if epoch < part.last_fetched_epoch or end_offset < part.fetch_offset:
            return make(
                partition_index=key.partition,
                high_watermark=log.high_watermark,
                last_stable_offset=log.last_stable_offset,
                log_start_offset=log.start_offset,
                records=b"",
                diverging_epoch=FetchResponse.EpochEndOffset(
                    epoch=epoch, end_offset=end_offset
                ),
                aborted_transactions=None,
            )
    if not log.has_offset(part.fetch_offset):
        return _describe_error(key.partition, out_of_range)
    return _read_log(context, partition, part, limits)


def _describe_error(index: int, code: int) -> FetchResponse.PartitionData:
    return FetchResponse.PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=-1,
        aborted_transactions=None,
        records=b"",
    )


def _read_log(
    context: RequestContext,
    partition: Partition,
    part: FetchRequest.FetchPartition,
    limits: _Limits,
) -> FetchResponse.PartitionData:
    log, version = partition.log, context.version
    is_committed = context.request.isolation_level == _READ_COMMITTED
    limit = log.last_stable_offset if is_committed else log.high_watermark
    max_bytes = min(part.partition_max_bytes, limits.max_bytes)
    data = log.read(part.fetch_offset, max_bytes, limit, limits.is_first)
    if version >= _MINIMUM_ONE_SINCE and not _has_complete_batch(data):
        # Clients do not need an incomplete batch, because they get one complete batch.
        data = b""
    newest_magic = 0 if version < 2 else 1 if version < 4 else 2
    try:
        if version < _WITH_ZSTD and _contains_zstd(data):
            raise EncodeError("zstd requires a newer version of Fetch")
        if data and log.magic > newest_magic:
            data = bytes(convert_batches(data, newest_magic)[0])
    except (KwireError, ImportError):
        code = error_codes.UNSUPPORTED_COMPRESSION_TYPE
        return _describe_error(part.partition, code)
    aborted = None
    if is_committed:
        aborted = [
            FetchResponse.AbortedTransaction(
                producer_id=transaction.producer_id,
                first_offset=transaction.first_offset,
            )
            for transaction in log.find_aborted(part.fetch_offset, limit)
        ]
    return FetchResponse.PartitionData(
        partition_index=part.partition,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        log_start_offset=log.start_offset,
        aborted_transactions=aborted,
        records=data,
    )


def _has_complete_batch(data: bytes) -> bool:
    return read_batch_header(data, check_crc=False) is not None


def _contains_zstd(data: bytes) -> bool:
    position = 0
    while header := read_batch_header(data, position, check_crc=False):
        if header.compression == "zstd":
            return True
        position += header.size
    return False


def _find_leader(
    context: RequestContext, name: str | None, index: int, code: int
) -> FetchResponse.LeaderIdAndEpoch:
    """Return the new leader if the client has asked an old one (KIP-951)."""
    moved = (error_codes.NOT_LEADER_OR_FOLLOWER, error_codes.FENCED_LEADER_EPOCH)
    partition = context.state.find_partition(name, index) if name else None
    if context.version < _WITH_ENDPOINTS or code not in moved or partition is None:
        return FetchResponse.LeaderIdAndEpoch()
    return FetchResponse.LeaderIdAndEpoch(
        leader_id=partition.leader, leader_epoch=partition.leader_epoch
    )


def _list_endpoints(
    context: RequestContext,
    entries: list[tuple[PartitionKey, FetchResponse.PartitionData]],
) -> list[FetchResponse.NodeEndpoint]:
    """List the addresses of the new leaders in a response."""
    if context.version < _WITH_ENDPOINTS:
        return []
    nodes = {data.current_leader.leader_id for _, data in entries} - {NO_LEADER}
    brokers = [context.state.brokers[node] for node in sorted(nodes)]
    return [
        FetchResponse.NodeEndpoint(
            node_id=broker.node_id,
            host=broker.host,
            port=broker.port,
            rack=broker.rack,
        )
        for broker in brokers
    ]
