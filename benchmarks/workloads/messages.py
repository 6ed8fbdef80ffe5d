# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that all contenders build, encode and decode.

A workload is one message version as plain dicts and lists. The field names are Kafka's
names in snake case and in wire order. This module does not depend on any contender.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Values = dict[str, Any]

UNKNOWN_OPERATIONS = -(2**31)
RECORD_SIZES = (200, 1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Workload:
    """Values of a message in one version.

    ``structs`` maps the names of array fields to the names of their structs, which
    contenders with a class for each struct require.
    """

    message: str
    version: int
    values: Values
    structs: Mapping[str, str]

    def counts(self) -> dict[str, int]:
        """Return the number of structs, arrays, strings and byte strings."""
        counts = {"structs": 0, "arrays": 0, "strings": 0, "bytes": 0}
        kinds = {dict: "structs", list: "arrays", str: "strings", bytes: "bytes"}
        pending: list[Any] = [self.values]
        while pending:
            value = pending.pop()
            if kind := kinds.get(type(value)):
                counts[kind] += 1
            if isinstance(value, dict):
                pending.extend(value.values())
            elif isinstance(value, list):
                pending.extend(value)
        return counts


def neutral(value: Any, like: Any, field: Callable[[Any, str], Any] = getattr) -> Any:
    """Convert a contender's value to plain dictionaries and lists.

    ``like`` is a value of the resulting shape. ``field`` reads a field of a contender's
    object by name.
    """
    if isinstance(like, dict):
        return {name: neutral(field(value, name), like[name], field) for name in like}
    if isinstance(like, list):
        return [neutral(item, like[0], field) for item in value] if like else [*value]
    return bytes(value) if isinstance(like, bytes) else value


def _topic(number: int) -> str:
    return f"benchmark-topic-{number:02d}"


def _opaque(count: int, size: int) -> list[bytes]:
    source = random.Random(count * size)
    return [source.randbytes(size) for _ in range(count)]


def _api_versions() -> Workload:
    keys = [
        {"api_key": key, "min_version": key % 3, "max_version": 3 + key % 13}
        for key in range(60)
    ]
    values = {"error_code": 0, "api_keys": keys, "throttle_time_ms": 0}
    return Workload("ApiVersionsResponse", 3, values, {"api_keys": "ApiVersion"})


def _metadata(version: int, brokers: int, first_id: int = 1) -> Workload:
    source = random.Random(brokers)
    ids = range(first_id, first_id + brokers)

    def partition(index: int) -> Values:
        # Use three replica lists for three brokers, as in a small cluster. If there are
        # many brokers, almost all replica lists are different, so that sharing them is
        # not an advantage.
        if brokers == 3:
            replicas = [(index + step) % 3 + 1 for step in range(3)]
            in_sync = [1, 2, 3]
        else:
            replicas = source.sample(ids, 3)
            in_sync = replicas[::-1]
        fields: Values = {
            "error_code": 0,
            "partition_index": index,
            "leader_id": replicas[0],
            "leader_epoch": 7,
            "replica_nodes": replicas,
            "isr_nodes": in_sync,
            "offline_replicas": [],
        }
        if version < 7:
            del fields["leader_epoch"]
        return fields

    def topic(number: int) -> Values:
        fields: Values = {
            "error_code": 0,
            "name": _topic(number),
            "is_internal": False,
            "partitions": [partition(index) for index in range(10)],
            "topic_authorized_operations": UNKNOWN_OPERATIONS,
        }
        if version < 8:
            del fields["topic_authorized_operations"]
        return fields

    values: Values = {
        "throttle_time_ms": 0,
        "brokers": [
            {"node_id": node, "host": f"broker-{node}", "port": 9092, "rack": "east"}
            for node in ids
        ],
        "cluster_id": "benchmark-cluster",
        "controller_id": first_id,
        "topics": [topic(number) for number in range(100)],
        "cluster_authorized_operations": UNKNOWN_OPERATIONS,
    }
    if version < 8:
        del values["cluster_authorized_operations"]
    structs = {
        "brokers": "MetadataResponseBroker",
        "topics": "MetadataResponseTopic",
        "partitions": "MetadataResponsePartition",
    }
    return Workload("MetadataResponse", version, values, structs)


def _fetch(version: int, record_size: int) -> Workload:
    records = iter(_opaque(100, record_size))
    values = {
        "throttle_time_ms": 0,
        "error_code": 0,
        "session_id": 0,
        "responses": [
            {
                "topic": _topic(number),
                "partitions": [
                    {
                        "partition_index": index,
                        "error_code": 0,
                        "high_watermark": 1_000_000 + index,
                        "last_stable_offset": 1_000_000 + index,
                        "log_start_offset": 0,
                        "aborted_transactions": [],
                        "preferred_read_replica": -1,
                        "records": next(records),
                    }
                    for index in range(10)
                ],
            }
            for number in range(10)
        ],
    }
    structs = {"responses": "FetchableTopicResponse", "partitions": "PartitionData"}
    return Workload("FetchResponse", version, values, structs)


def _produce(version: int, record_size: int) -> Workload:
    records = iter(_opaque(100, record_size))
    values = {
        "transactional_id": None,
        "acks": -1,
        "timeout_ms": 30_000,
        "topic_data": [
            {
                "name": _topic(number),
                "partition_data": [
                    {"index": index, "records": next(records)} for index in range(10)
                ],
            }
            for number in range(10)
        ],
    }
    structs = {
        "topic_data": "TopicProduceData",
        "partition_data": "PartitionProduceData",
    }
    return Workload("ProduceRequest", version, values, structs)


def _offset_fetch() -> Workload:
    topics = [
        {
            "name": _topic(number),
            "partitions": [
                {
                    "partition_index": index,
                    "committed_offset": 1_000_000 + index,
                    "committed_leader_epoch": 7,
                    "metadata": "",
                    "error_code": 0,
                }
                for index in range(10)
            ],
        }
        for number in range(50)
    ]
    group = {"group_id": "benchmark-group", "topics": topics, "error_code": 0}
    structs = {
        "groups": "OffsetFetchResponseGroup",
        "topics": "OffsetFetchResponseTopics",
        "partitions": "OffsetFetchResponsePartitions",
    }
    values = {"throttle_time_ms": 0, "groups": [group]}
    return Workload("OffsetFetchResponse", 8, values, structs)


def _offset_commit(version: int) -> Workload:
    def partition(index: int) -> Values:
        fields: Values = {
            "partition_index": index,
            "committed_offset": 1_000_000 + index,
            "committed_leader_epoch": 7,
            "committed_metadata": "",
        }
        if version < 6:
            del fields["committed_leader_epoch"]
        return fields

    values: Values = {
        "group_id": "benchmark-group",
        "generation_id_or_member_epoch": 5,
        "member_id": "benchmark-member",
        "group_instance_id": None,
        "retention_time_ms": -1,
        "topics": [
            {
                "name": _topic(number),
                "partitions": [partition(index) for index in range(10)],
            }
            for number in range(50)
        ],
    }
    del values["retention_time_ms" if version >= 5 else "group_instance_id"]
    structs = {
        "topics": "OffsetCommitRequestTopic",
        "partitions": "OffsetCommitRequestPartition",
    }
    return Workload("OffsetCommitRequest", version, values, structs)


def _heartbeat(version: int) -> Workload:
    values: Values = {
        "group_id": "benchmark-group",
        "generation_id": 5,
        "member_id": "consumer-1-7b0f3a52-6f3c-4e5f-9b1d-1f2e3d4c5b6a",
        "group_instance_id": None,
    }
    if version < 3:
        del values["group_instance_id"]
    return Workload("HeartbeatRequest", version, values, {})


_MAKERS: dict[str, Callable[[], Workload]] = {
    "api_versions_v3": _api_versions,
    "metadata_v9": lambda: _metadata(9, brokers=3),
    "metadata_v9_wide": lambda: _metadata(9, brokers=100),
    "metadata_v9_ids": lambda: _metadata(9, brokers=100, first_id=1001),
    "metadata_v5": lambda: _metadata(5, brokers=3),
    "fetch_v12": lambda: _fetch(12, 200),
    "fetch_v11": lambda: _fetch(11, 200),
    "produce_v9": lambda: _produce(9, 1_024),
    "produce_v8": lambda: _produce(8, 1_024),
    "offset_fetch_v8": _offset_fetch,
    "offset_commit_v8": lambda: _offset_commit(8),
    "offset_commit_v3": lambda: _offset_commit(3),
    "heartbeat_v4": lambda: _heartbeat(4),
    "heartbeat_v1": lambda: _heartbeat(1),
    **{
        f"{message}_{size}": functools.partial(maker, version, size)
        for message, maker, version in (
            ("produce_v9", _produce, 9),
            ("fetch_v12", _fetch, 12),
        )
        for size in RECORD_SIZES
    },
}
NAMES = tuple(_MAKERS)


@functools.lru_cache(maxsize=2)
def workload(name: str) -> Workload:
    """Return a workload by name.

    Only two are cached, because some values are large.
    """
    return _MAKERS[name]()


def integers(kind: str, count: int) -> list[int]:
    """Return integers for varints. All bit lengths up to 31 are equally likely.

    ``kind`` is ``unsigned_varint`` (never negative) or ``varint`` (half are negative).
    """
    source = random.Random(count)
    values = [source.getrandbits(source.randint(1, 31)) for _ in range(count)]
    if kind == "unsigned_varint":
        return values
    return [value if source.getrandbits(1) else -value - 1 for value in values]
