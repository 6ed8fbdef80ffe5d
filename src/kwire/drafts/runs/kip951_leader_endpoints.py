# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs KIP-951, document 002: a partition that moves between two brokers.

The broker that does not lead the partition answers Fetch 15 and Produce 9 with an
error, the leader, and its endpoint. Broker 1 has no rack, broker 2 has one.
"""

from __future__ import annotations

import statistics
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ...errors import RemoteProtocolError
from ...messages import (
    FetchRequest,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    framing,
)
from ...messages import FetchResponse as KafkaFetchResponse
from ...schema.error_codes import NOT_LEADER_OR_FOLLOWER
from ..kip951_leader_endpoints import (
    FetchResponse,
    FetchResponseTag2,
    LeaderChange,
    ProduceResponse,
    leader_changes,
)
from .loopback import LoopbackBroker, LoopbackClient
from .requirement import Document, Observation, Requirement

if TYPE_CHECKING:
    from collections.abc import Iterator

_FETCH_VERSION, _PRODUCE_VERSION, _METADATA_VERSION = 15, 9, 12
_TOPIC, _TOPIC_ID = "t", UUID(int=5)
_RACKS = {1: None, 2: "r2"}
_MOVES = 5
"""Number of leader changes per client when the pauses are measured."""
_METADATA_PAUSE_S = 0.1
"""Pause in seconds before a client without endpoints requests metadata."""
_CORRELATION_ID = 8


class _Cluster:
    """Two brokers and one partition, whose leader and leader epoch can change."""

    def __init__(self, fetch_response: type[Any] = FetchResponse) -> None:
        self.leader = 1
        self.epoch = 5
        self.brokers: dict[int, LoopbackBroker] = {}
        self._fetch_response = fetch_response

    def move(self) -> None:
        """Make the other broker the leader, and increment the leader epoch."""
        self.leader = 3 - self.leader
        self.epoch += 1

    def lead_from(self, node: int) -> None:
        """Make a broker the leader, unless it already leads the partition."""
        if self.leader != node:
            self.move()

    def answer(self, node: int, frame: bytes) -> bytes:
        """Answer Fetch, Produce or Metadata requests as a broker does."""
        header, request = framing.decode_request(frame)
        if isinstance(request, FetchRequest):
            response = self._make_fetch(node)
        elif isinstance(request, ProduceRequest):
            response = self._make_produce(node)
        elif isinstance(request, MetadataRequest):
            response = self._make_metadata()
        else:
            raise RemoteProtocolError("the brokers of KIP-951 have three APIs")
        return framing.encode_response(
            response, header.request_api_version, header.correlation_id
        )

    def _make_fetch(self, node: int) -> Any:
        cls = self._fetch_response
        row = cls.PartitionData(**self._make_leader(cls, node, "high_watermark"))
        topic = cls.FetchableTopicResponse(topic_id=_TOPIC_ID, partitions=[row])
        return cls(responses=[topic])

    def _make_produce(self, node: int) -> Any:
        cls = ProduceResponse
        leader = self._make_leader(cls, node, "base_offset")
        row = cls.PartitionProduceResponse(**leader)
        topic = cls.TopicProduceResponse(name=_TOPIC, partition_responses=[row])
        return cls(responses=[topic])

    def _make_leader(self, cls: type[Any], node: int, offset: str) -> dict[str, Any]:
        """Return partition fields, with the leader if ``node`` does not lead."""
        if node == self.leader:
            return {offset: 1}
        broker = self.brokers[self.leader]
        return {
            offset: -1,
            "error_code": NOT_LEADER_OR_FOLLOWER,
            "current_leader": cls.LeaderIdAndEpoch(
                leader_id=self.leader, leader_epoch=self.epoch
            ),
            "current_leader_broker": cls.BrokerInfo(
                leader_host=broker.host,
                leader_port=broker.port,
                leader_rack=_RACKS[self.leader],
            ),
        }

    def _make_metadata(self) -> Any:
        cls = MetadataResponse
        partition = cls.MetadataResponsePartition(
            partition_index=0, leader_id=self.leader, leader_epoch=self.epoch
        )
        topic = cls.MetadataResponseTopic(
            name=_TOPIC, topic_id=_TOPIC_ID, partitions=[partition]
        )
        brokers = [
            cls.MetadataResponseBroker(node_id=node, host=broker.host, port=broker.port)
            for node, broker in self.brokers.items()
        ]
        return cls(brokers=brokers, topics=[topic])


class _Reader:
    """Fetches from the leader, and follows leader changes by endpoints or metadata."""

    def __init__(self, cluster: _Cluster, *, uses_endpoints: bool) -> None:
        self._uses_endpoints = uses_endpoints
        broker = cluster.brokers[cluster.leader]
        self._addresses: dict[tuple[str, int], LoopbackClient] = {}
        self._connection = self._connect(broker.host, broker.port)

    def fetch(self) -> tuple[LeaderChange, ...]:
        """Send a Fetch request, and return the leader changes in its response."""
        response = self._exchange(FetchRequest(), _FETCH_VERSION, FetchResponse)
        return leader_changes(response)

    def follow(self) -> None:
        """Fetch until a broker serves the partition."""
        while changes := self.fetch():
            host, port = changes[0].host, changes[0].port
            if not self._uses_endpoints:
                time.sleep(_METADATA_PAUSE_S)
                host, port = self._request_leader()
            if host is None or port is None:
                raise RemoteProtocolError("the response has no endpoint of the leader")
            self._connection = self._connect(host, port)

    def close(self) -> None:
        """Close all connections."""
        for connection in self._addresses.values():
            connection.__exit__()

    def _request_leader(self) -> tuple[str, int]:
        response = self._exchange(
            MetadataRequest(topics=None), _METADATA_VERSION, MetadataResponse
        )
        leader = response.topics[0].partitions[0].leader_id
        return next(
            (broker.host, broker.port)
            for broker in response.brokers
            if broker.node_id == leader
        )

    def _exchange(self, request: Any, version: int, response: type[Any]) -> Any:
        data = framing.encode_request(request, version, _CORRELATION_ID)
        frame = self._connection.exchange(data)
        return framing.decode_response(response, frame or b"", version)[1]

    def _connect(self, host: str, port: int) -> LoopbackClient:
        address = host, port
        if address not in self._addresses:
            self._addresses[address] = LoopbackClient(host, port)
        return self._addresses[address]


@contextmanager
def _start_brokers(fetch_response: type[Any] = FetchResponse) -> Iterator[_Cluster]:
    cluster = _Cluster(fetch_response)
    with ExitStack() as stack:
        for node in _RACKS:
            broker = LoopbackBroker(partial(cluster.answer, node))
            cluster.brokers[node] = stack.enter_context(broker)
        yield cluster


def _send(cluster: _Cluster, node: int, request: Any, version: int) -> bytes:
    with cluster.brokers[node].connect() as connection:
        data = framing.encode_request(request, version, _CORRELATION_ID)
        return connection.exchange(data) or b""


def _fetch(cluster: _Cluster, node: int) -> bytes:
    return _send(cluster, node, FetchRequest(), _FETCH_VERSION)


def _find_fetch_leader(cluster: _Cluster, node: int) -> LeaderChange:
    frame = _fetch(cluster, node)
    _, response = framing.decode_response(FetchResponse, frame, _FETCH_VERSION)
    return leader_changes(response)[0]


def _find_produce_leader(cluster: _Cluster, node: int) -> LeaderChange:
    frame = _send(cluster, node, ProduceRequest(acks=1), _PRODUCE_VERSION)
    _, response = framing.decode_response(ProduceResponse, frame, _PRODUCE_VERSION)
    return leader_changes(response)[0]


def _describe_leader(change: LeaderChange) -> str:
    return (
        f"error {change.error_code}, leader {change.leader_id},"
        f" epoch {change.leader_epoch}"
    )


def _describe_endpoint(cluster: _Cluster, change: LeaderChange) -> Observation:
    addresses = {(broker.host, broker.port): n for n, broker in cluster.brokers.items()}
    node = addresses.get((change.host or "", change.port or 0))
    rack = "null" if change.rack is None else change.rack
    value = f"the address of broker {node}, rack {rack}"
    return Observation(value, f"{change.host}:{change.port}")


def _observe_fetch_leader(cluster: _Cluster) -> str:
    cluster.leader, cluster.epoch = 2, 6
    return _describe_leader(_find_fetch_leader(cluster, 1))


def _observe_fetch_endpoint(cluster: _Cluster) -> Observation:
    cluster.lead_from(2)
    return _describe_endpoint(cluster, _find_fetch_leader(cluster, 1))


def _observe_produce_leader(cluster: _Cluster) -> str:
    cluster.leader, cluster.epoch = 2, 6
    return _describe_leader(_find_produce_leader(cluster, 1))


def _observe_produce_endpoint(cluster: _Cluster) -> Observation:
    cluster.lead_from(2)
    return _describe_endpoint(cluster, _find_produce_leader(cluster, 1))


def _observe_null_rack(cluster: _Cluster) -> Observation:
    cluster.lead_from(1)
    return _describe_endpoint(cluster, _find_fetch_leader(cluster, 2))


def _observe_versions(cluster: _Cluster) -> str:
    _find_fetch_leader(cluster, 3 - cluster.leader)
    fetch = cluster.brokers[3 - cluster.leader].connections[-1][0]
    _find_produce_leader(cluster, 3 - cluster.leader)
    produce = cluster.brokers[3 - cluster.leader].connections[-1][0]
    fetch_version, produce_version = (
        int.from_bytes(frame[2:4], "big") for frame in (fetch, produce)
    )
    return f"Fetch v{fetch_version}, Produce v{produce_version}"


def _read_as_kafka(frame: bytes) -> Any:
    """Decode a Fetch response as a client that does not implement the draft."""
    _, response = framing.decode_response(KafkaFetchResponse, frame, _FETCH_VERSION)
    return response.responses[0].partitions[0]


def _count_fields(partition: Any) -> int:
    has_leader: bool = partition.current_leader.leader_id >= 0
    return int(has_leader) + len(partition.unknown_tagged_fields)


def _observe_tagged_fields(cluster: _Cluster) -> Observation:
    served = _fetch(cluster, cluster.leader)
    rejected = _fetch(cluster, 3 - cluster.leader)
    counts = [_count_fields(_read_as_kafka(frame)) for frame in (served, rejected)]
    return Observation(
        f"{counts[0]} fields if served, {counts[1]} beside the error",
        f"{len(served)} and {len(rejected)} bytes",
    )


def _observe_old_client(cluster: _Cluster) -> str:
    cluster.lead_from(2)
    partition = _read_as_kafka(_fetch(cluster, 1))
    (tag, _), *_ = partition.unknown_tagged_fields
    leader = partition.current_leader.leader_id
    return f"error {partition.error_code}, leader {leader}, tag {tag} skipped"


def _find_tag(cluster: _Cluster) -> int:
    """Return the endpoint's tag. It is followed by size, host length and host."""
    frame = _fetch(cluster, 3 - cluster.leader)
    host = cluster.brokers[cluster.leader].host.encode()
    return frame[frame.index(host) - 3]


def _observe_tag(cluster: _Cluster) -> str:
    with _start_brokers(FetchResponseTag2) as literal:
        return f"tag {_find_tag(literal)} as written, {_find_tag(cluster)} repaired"


def _count_metadata(cluster: _Cluster) -> int:
    return sum(
        broker.count(MetadataRequest.api_key) for broker in cluster.brokers.values()
    )


def _measure(cluster: _Cluster, *, uses_endpoints: bool) -> tuple[float, int]:
    """Move the leader ``_MOVES`` times.

    Returns the median pause in milliseconds, and the number of Metadata requests.
    """
    before = _count_metadata(cluster)
    pauses_ms = []
    reader = _Reader(cluster, uses_endpoints=uses_endpoints)
    try:
        reader.follow()
        for _ in range(_MOVES):
            reader.fetch()
            start = time.perf_counter()
            cluster.move()
            reader.follow()
            pauses_ms.append((time.perf_counter() - start) * 1000)
    finally:
        reader.close()
    return statistics.median(pauses_ms), _count_metadata(cluster) - before


def _observe_metadata(cluster: _Cluster) -> Observation:
    _, with_endpoints = _measure(cluster, uses_endpoints=True)
    return Observation(f"{with_endpoints} Metadata requests in {_MOVES} moves")


def _observe_pause(cluster: _Cluster) -> Observation:
    with_ms, _ = _measure(cluster, uses_endpoints=True)
    without_ms, requests = _measure(cluster, uses_endpoints=False)
    is_shorter = with_ms < without_ms
    return Observation(
        "shorter" if is_shorter else "not shorter",
        f"{with_ms:.1f} ms; with {requests} Metadata requests {without_ms:.1f} ms",
    )


DOCUMENT = Document(
    "002",
    "kip951_leader_endpoints",
    "002-kip-951-leader-endpoints",
    "KIP-951: leader endpoints in Fetch and Produce responses",
    "an error names the new leader and its address",
    _start_brokers,
    (
        Requirement(
            "A Fetch that finds no leader learns its id and epoch (CurrentLeader)",
            "error 6, leader 2, epoch 6",
            "kip951_leader_endpoints.leader_changes",
            "test_kip951_leader_endpoints.py"
            "::test_client_learns_the_leaders_over_a_socket",
            _observe_fetch_leader,
        ),
        Requirement(
            "It learns host, port and rack as well (CurrentLeaderBroker)",
            "the address of broker 2, rack r2",
            "kip951_leader_endpoints.FetchResponse",
            "test_kip951_leader_endpoints.py"
            "::test_client_learns_the_leaders_over_a_socket",
            _observe_fetch_endpoint,
        ),
        Requirement(
            "A Produce learns the id and the epoch of the leader",
            "error 6, leader 2, epoch 6",
            "kip951_leader_endpoints.leader_changes",
            "test_kip951_leader_endpoints.py"
            "::test_client_learns_the_leaders_over_a_socket",
            _observe_produce_leader,
        ),
        Requirement(
            "It learns host, port and rack as well",
            "the address of broker 2, rack r2",
            "kip951_leader_endpoints.ProduceResponse",
            "test_kip951_leader_endpoints.py::test_produce_has_the_bytes_of_its_tags",
            _observe_produce_endpoint,
        ),
        Requirement(
            "The rack is null if the leader has none",
            "the address of broker 1, rack null",
            "kip951_leader_endpoints.repaired",
            "test_kip951_leader_endpoints.py::test_fetch_round_trips",
            _observe_null_rack,
        ),
        Requirement(
            "The fields are tagged, so they take no bytes if there is nothing to say",
            "0 fields if served, 2 beside the error",
            "kip951_leader_endpoints.FetchResponse",
            "test_kip951_leader_endpoints.py"
            "::test_leader_without_a_broker_has_no_address",
            _observe_tagged_fields,
        ),
        Requirement(
            "The versions stay the same: Fetch up to 15, Produce up to 9",
            "Fetch v15, Produce v9",
            "kip951_leader_endpoints.FetchResponse",
            "test_kip951_leader_endpoints.py"
            "::test_newer_fetch_and_produce_versions_are_not_the_draft",
            _observe_versions,
        ),
        Requirement(
            "A client of Fetch 15 without the draft skips the new field",
            "error 6, leader 2, tag 3 skipped",
            "kip951_leader_endpoints.FetchResponse",
            "test_kip951_leader_endpoints.py::test_tag_3_is_an_unknown_tag_to_kafka",
            _observe_old_client,
        ),
        Requirement(
            "The tag of the field is 2, which SnapshotId has too; kwire repairs it",
            "tag 2 as written, 3 repaired",
            "kip951_leader_endpoints.repaired",
            "test_kip951_leader_endpoints.py"
            "::test_repair_changes_two_words_of_fetch_and_one_of_produce",
            _observe_tag,
        ),
        Requirement(
            "A client continues at the new leader without requesting metadata",
            f"0 Metadata requests in {_MOVES} moves",
            "kip951_leader_endpoints.leader_changes",
            "test_runs.py::test_each_requirement_is_met",
            _observe_metadata,
        ),
        Requirement(
            "The time without service is shorter than with metadata (here: median of"
            f" {_MOVES} moves on loopback, metadata after {_METADATA_PAUSE_S} s)",
            "shorter",
            "kip951_leader_endpoints.leader_changes",
            "test_runs.py::test_each_requirement_is_met",
            _observe_pause,
        ),
    ),
    "Three brokers of Kafka 4.3.1, measured: docs/drafts/002-kip-951-measured.md",
)
