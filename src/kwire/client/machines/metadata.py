# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Metadata``: the brokers, topics and partition leaders of a cluster.

A client learns the leader of a partition from Metadata, or from a leader hint in an
error response (KIP-951). A leader is ignored if its leader epoch is older than the
epoch of the known leader. Brokers before Kafka 2.1 return no leader epochs, so their
latest response is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from ..._text import quote_text
from ...connection.negotiation.facts import first_nullable_version, first_version
from ...errors import RemoteProtocolError
from ...messages import MetadataRequest, MetadataResponse
from ...messages.internal_topics import TOPICS as INTERNAL_TOPICS
from ...schema import error_codes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_FIRST_WITHOUT_CREATION = first_version("MetadataRequest", "allow_auto_topic_creation")
_FIRST_WITH_NULL = first_nullable_version("MetadataRequest", "topics")
_FIRST_WITH_INTERNAL = first_version("MetadataResponse", "topics.is_internal")

NO_ID = UUID(int=0)
"""Topic id if brokers do not support topic ids (before Metadata version 10)."""


class Broker(NamedTuple):
    """Broker of the cluster.

    * ``host``, ``port``: address that the broker advertises.
    * ``rack``: rack of the broker, or None if it has none.
    """

    node_id: int
    host: str
    port: int
    rack: str | None = None


class PartitionInfo(NamedTuple):
    """Leader and replicas of a partition, as node ids.

    * ``leader``: node id of the leader, or -1 if there is no leader.
    * ``leader_epoch``: leader epoch, or -1 if it is unknown.
    * ``replicas``: all replicas, including the leader.
    * ``in_sync``: replicas that have all committed records.
    * ``offline``: replicas whose broker or disk is not available.
    """

    leader: int
    leader_epoch: int
    replicas: tuple[int, ...] = ()
    in_sync: tuple[int, ...] = ()
    offline: tuple[int, ...] = ()


class LeaderChange(NamedTuple):
    """Change of a partition leader.

    * ``old``: node id of the previous leader, or -1 if there was no leader.
    * ``new``: node id of the new leader, or -1 if there is no leader.
    """

    topic: str
    partition: int
    old: int
    new: int


class TopicInfo(NamedTuple):
    """Metadata of a topic.

    If ``error_code`` is not 0, the other fields may be empty or outdated.
    """

    name: str
    topic_id: UUID
    error_code: int
    is_internal: bool
    partitions: dict[int, PartitionInfo]


class Metadata:
    """Metadata that a cluster's brokers have returned so far."""

    def __init__(self) -> None:
        self.brokers: dict[int, Broker] = {}
        self.topics: dict[str, TopicInfo] = {}
        self.cluster_id: str | None = None
        self.controller = -1
        # Leader changes that ``take_leader_changes`` has not returned yet.
        self.leader_changes: list[LeaderChange] = []

    def update(self, response: Any, requested: Collection[str] | None) -> None:
        """Replace the metadata with a response.

        ``requested`` contains the names of the requested topics, or is None if all
        topics were requested. In the latter case, topics that the response omits do not
        exist. Otherwise, the metadata of a topic that the response omits is kept.

        Topics that were not requested are removed, so that the memory depends only on
        the last response, and not on all earlier ones.
        """
        self.brokers = {
            broker.node_id: Broker(
                broker.node_id, broker.host, broker.port, broker.rack
            )
            for broker in response.brokers
        }
        self.cluster_id = response.cluster_id
        self.controller = response.controller_id
        topics: dict[str, TopicInfo] = {}
        for name in () if requested is None else requested:
            old_topic = self.topics.get(name)
            if old_topic is not None:
                topics[name] = old_topic
        for topic in response.topics:
            if topic.name is not None and (
                requested is None or topic.name in requested
            ):
                old_topic = self.topics.get(topic.name)
                topics[topic.name] = _merge(old_topic, topic, self.leader_changes)
        self.topics = topics

    def take_leader_changes(self) -> list[LeaderChange]:
        """Return the partitions whose leader has changed since the last call."""
        changes, self.leader_changes = self.leader_changes, []
        return changes

    def partition(self, topic: str, partition: int) -> PartitionInfo | None:
        """Return a partition's metadata, or None if it is unknown."""
        info = self.topics.get(topic)
        return None if info is None else info.partitions.get(partition)

    def forget_leader(self, topic: str, partition: int) -> None:
        """Forget a partition's leader epoch, so that any next leader is accepted.

        If a topic is deleted and created again, its leader epochs start again, and look
        outdated. This matters only if brokers do not support topic ids. Otherwise, the
        new topic has another id, and this method does nothing.
        """
        info = self.partition(topic, partition)
        if info is not None and self.topics[topic].topic_id == NO_ID:
            partitions = self.topics[topic].partitions
            partitions[partition] = info._replace(leader=-1, leader_epoch=-1)

    def take_hint(
        self,
        topic: str,
        partition: int,
        leader: int,
        leader_epoch: int,
        brokers: Mapping[int, Broker],
    ) -> bool:
        """Use the leader hint of an error response; return whether it changed anything.

        The hint is ignored if its leader epoch is not newer than the known one, or if
        the broker's address is unknown. Source: KIP-951.
        """
        info = self.partition(topic, partition)
        if info is None or leader < 0 or leader_epoch <= info.leader_epoch:
            return False
        if leader not in brokers and leader not in self.brokers:
            return False
        if leader in brokers:
            self.brokers[leader] = brokers[leader]
        self.topics[topic].partitions[partition] = info._replace(
            leader=leader, leader_epoch=leader_epoch
        )
        if leader != info.leader:
            change = LeaderChange(topic, partition, info.leader, leader)
            self.leader_changes.append(change)
        return True


def metadata_request(topics: Iterable[str] | None, version: int) -> MetadataRequest:
    """Build the Metadata request for some topics, or for all topics (None).

    The request never creates a topic. In old versions, a broker may be configured to
    create each requested topic that does not exist. Therefore, these versions request
    all topics, and ``complete_response`` selects the relevant ones from the response.
    """
    if version < _FIRST_WITHOUT_CREATION:
        # In the first version, an empty list means all topics. Later, null does.
        return MetadataRequest(topics=() if version < _FIRST_WITH_NULL else None)
    entry = MetadataRequest.MetadataRequestTopic
    entries = None if topics is None else [entry(name=name) for name in topics]
    return MetadataRequest(topics=entries, allow_auto_topic_creation=False)


def is_known_cluster(response: Any, version: int) -> bool:
    """Return whether a broker that sent a Metadata response knows its cluster.

    A broker that is starting returns no brokers. Brokers before Kafka 0.9 also return
    no brokers as long as there are no topics. Therefore, the first version permits
    a response without brokers and topics.
    """
    if response.error_code:
        return False
    is_empty = version < _FIRST_WITH_NULL and not response.topics
    return bool(response.brokers) or is_empty


def check_response(response: Any) -> None:
    """Raise ``RemoteProtocolError`` if a Metadata response has an impossible number.

    Otherwise, the client would send requests for partitions that cannot exist.
    """
    for broker in response.brokers:
        if broker.node_id < 0:
            raise RemoteProtocolError(
                "the Metadata response has a broker whose node id is"
                f" {broker.node_id}; node ids are 0 or greater"
            )
    for topic in response.topics:
        for part in topic.partitions:
            if part.partition_index < 0:
                name = topic.topic_id if topic.name is None else quote_text(topic.name)
                raise RemoteProtocolError(
                    f"the Metadata response has the partition {part.partition_index}"
                    f" of the topic {name}; partitions are numbered from 0"
                )


def complete_response(
    response: Any, topics: frozenset[str] | None, version: int
) -> Any:
    """Return a Metadata response as if the newest version had been requested.

    ``topics`` are the requested names, or None for all topics. Topics that an old
    version returned without being requested are removed, and requested topics that it
    did not return get the error that newer brokers report.
    """
    if version < _FIRST_WITHOUT_CREATION and topics is not None:
        present = [topic for topic in response.topics if topic.name in topics]
        absent = sorted(topics - {topic.name for topic in present})
        entry = MetadataResponse.MetadataResponseTopic
        code = error_codes.UNKNOWN_TOPIC_OR_PARTITION
        present += [entry(name=name, error_code=code) for name in absent]
        response = response.replace(topics=present)
    if version < _FIRST_WITH_INTERNAL:
        response = response.replace(
            topics=[
                topic.replace(is_internal=topic.name in INTERNAL_TOPICS)
                for topic in response.topics
            ]
        )
    return response


def _merge(
    old_topic: TopicInfo | None, response: Any, changes: list[LeaderChange]
) -> TopicInfo:
    """Merge the metadata of a topic with a response, and return the result.

    A partition keeps its leader if the leader epoch in the response is lower. If the
    response has an error and no partitions, the previous partitions are kept. Leader
    changes are appended to ``changes``.
    """
    partitions: dict[int, PartitionInfo] = {}
    is_same_topic = old_topic is not None and old_topic.topic_id == response.topic_id
    if response.error_code and old_topic is not None and not response.partitions:
        # Keep the known partitions and leaders until a response contains partitions.
        partitions = old_topic.partitions
        if response.topic_id == NO_ID:
            return old_topic._replace(error_code=response.error_code)
    for part in response.partitions:
        new = PartitionInfo(
            part.leader_id
            if part.error_code != error_codes.LEADER_NOT_AVAILABLE
            else -1,
            part.leader_epoch,
            part.replica_nodes,
            part.isr_nodes,
            part.offline_replicas,
        )
        old = (
            old_topic.partitions.get(part.partition_index)
            if old_topic and is_same_topic
            else None
        )
        if old is not None and 0 <= new.leader_epoch < old.leader_epoch:
            new = old
        if old is not None and old.leader != new.leader:
            index = part.partition_index
            change = LeaderChange(response.name, index, old.leader, new.leader)
            changes.append(change)
        partitions[part.partition_index] = new
    return TopicInfo(
        response.name,
        response.topic_id,
        response.error_code,
        response.is_internal,
        partitions,
    )
