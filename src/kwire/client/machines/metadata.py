# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Metadata``: the brokers and topics of a cluster, and the partitions' leaders.

There are two sources for the leader of a partition: a Metadata response, and the hint
that a broker gives with an error (KIP-951). Both count only if their leader epoch is
not older than what is known; brokers before Kafka 2.1 give no epochs, and the newest
response counts.
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
"""The topic id of brokers that have none (before Metadata version 10)."""


class Broker(NamedTuple):
    """A broker of the cluster, and where it listens."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


class PartitionInfo(NamedTuple):
    """A partition: ``leader`` is -1 while there is none, the epoch if not known."""

    leader: int
    leader_epoch: int
    replicas: tuple[int, ...] = ()
    in_sync: tuple[int, ...] = ()
    offline: tuple[int, ...] = ()


class LeaderChange(NamedTuple):
    """A partition whose leader is another broker than before; -1 is none."""

    topic: str
    partition: int
    old: int
    new: int


class TopicInfo(NamedTuple):
    """A topic; if ``error_code`` is not 0, nothing else of it is known."""

    name: str
    topic_id: UUID
    error_code: int
    is_internal: bool
    partitions: dict[int, PartitionInfo]


class Metadata:
    """The metadata that a cluster has returned so far."""

    def __init__(self) -> None:
        self.brokers: dict[int, Broker] = {}
        self.topics: dict[str, TopicInfo] = {}
        self.cluster_id: str | None = None
        self.controller = -1
        # What ``take_leader_changes`` has not returned yet.
        self.leader_changes: list[LeaderChange] = []

    def update(self, response: Any, requested: Collection[str] | None) -> None:
        """Replace the metadata by that of a response.

        ``requested`` are the topics of interest, or None for all. A response for all
        topics is complete: other topics do not exist. A response for some topics may
        omit one of them, which is not changed. Topics that were not requested are
        dropped, so that the size depends on the last response and not on all of them.
        """
        self.brokers = {
            each.node_id: Broker(each.node_id, each.host, each.port, each.rack)
            for each in response.brokers
        }
        self.cluster_id = response.cluster_id
        self.controller = response.controller_id
        topics: dict[str, TopicInfo] = {}
        for name in () if requested is None else requested:
            known = self.topics.get(name)
            if known is not None:
                topics[name] = known
        for each in response.topics:
            if each.name is not None and (requested is None or each.name in requested):
                known = self.topics.get(each.name)
                topics[each.name] = _merge(known, each, self.leader_changes)
        self.topics = topics

    def take_leader_changes(self) -> list[LeaderChange]:
        """Return the partitions whose leader has changed since the last call."""
        changes, self.leader_changes = self.leader_changes, []
        return changes

    def partition(self, topic: str, partition: int) -> PartitionInfo | None:
        """Return what is known of a partition, if anything is."""
        known = self.topics.get(topic)
        return None if known is None else known.partitions.get(partition)

    def forget_leader(self, topic: str, partition: int) -> None:
        """Accept the next leader, whatever its epoch.

        Where topics have no ids, one that was created again begins with an epoch that
        looks old. Nothing is forgotten of a topic with an id.
        """
        known = self.partition(topic, partition)
        if known is not None and self.topics[topic].topic_id == NO_ID:
            partitions = self.topics[topic].partitions
            partitions[partition] = known._replace(leader=-1, leader_epoch=-1)

    def take_hint(
        self,
        topic: str,
        partition: int,
        leader: int,
        leader_epoch: int,
        brokers: Mapping[int, Broker],
    ) -> bool:
        """Take the leader that an error response names; return whether it is new.

        A hint that is older than what is known, or names a broker without an address,
        is left alone. Source: KIP-951.
        """
        known = self.partition(topic, partition)
        if known is None or leader < 0 or leader_epoch <= known.leader_epoch:
            return False
        if leader not in brokers and leader not in self.brokers:
            return False
        if leader in brokers:
            self.brokers[leader] = brokers[leader]
        self.topics[topic].partitions[partition] = known._replace(
            leader=leader, leader_epoch=leader_epoch
        )
        if leader != known.leader:
            change = LeaderChange(topic, partition, known.leader, leader)
            self.leader_changes.append(change)
        return True


def metadata_request(topics: Iterable[str] | None, version: int) -> MetadataRequest:
    """Write the request for some topics, or for all topics. It creates no topic.

    A broker creates a topic that an old version of the request names, if it is
    configured to. So these versions request all topics: ``complete_response`` selects
    the requested ones from the response.
    """
    if version < _FIRST_WITHOUT_CREATION:
        # The first version cannot say "all topics" by null, but by an empty list.
        return MetadataRequest(topics=() if version < _FIRST_WITH_NULL else None)
    entry = MetadataRequest.MetadataRequestTopic
    entries = None if topics is None else [entry(name=name) for name in topics]
    return MetadataRequest(topics=entries, allow_auto_topic_creation=False)


def is_known_cluster(response: Any, version: int) -> bool:
    """Return whether a broker that sent a Metadata response knows its cluster.

    A broker that is starting names no brokers. Brokers before Kafka 0.9 name no brokers
    either while there are no topics, so this counts as known in the first version.
    """
    if response.error_code:
        return False
    is_empty = version < _FIRST_WITH_NULL and not response.topics
    return bool(response.brokers) or is_empty


def check_response(response: Any) -> None:
    """Raise ``RemoteProtocolError`` if a Metadata response has an impossible number.

    A client that believes it asks brokers for partitions that cannot exist.
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
        known = [each for each in response.topics if each.name in topics]
        absent = sorted(topics - {each.name for each in known})
        entry = MetadataResponse.MetadataResponseTopic
        code = error_codes.UNKNOWN_TOPIC_OR_PARTITION
        known += [entry(name=name, error_code=code) for name in absent]
        response = response.replace(topics=known)
    if version < _FIRST_WITH_INTERNAL:
        response = response.replace(
            topics=[
                each.replace(is_internal=each.name in INTERNAL_TOPICS)
                for each in response.topics
            ]
        )
    return response


def _merge(
    known: TopicInfo | None, response: Any, changes: list[LeaderChange]
) -> TopicInfo:
    """Merge a response into what is known of a topic; leader epochs never go back.

    Adds the partitions whose leader has changed to ``changes``.
    """
    partitions: dict[int, PartitionInfo] = {}
    same = known is not None and known.topic_id == response.topic_id
    if response.error_code and known is not None and not response.partitions:
        # What led there still does, until the cluster names another.
        partitions = known.partitions
        if response.topic_id == NO_ID:
            return known._replace(error_code=response.error_code)
    for each in response.partitions:
        new = PartitionInfo(
            each.leader_id
            if each.error_code != error_codes.LEADER_NOT_AVAILABLE
            else -1,
            each.leader_epoch,
            each.replica_nodes,
            each.isr_nodes,
            each.offline_replicas,
        )
        old = known.partitions.get(each.partition_index) if known and same else None
        if old is not None and 0 <= new.leader_epoch < old.leader_epoch:
            new = old
        if old is not None and old.leader != new.leader:
            index = each.partition_index
            change = LeaderChange(response.name, index, old.leader, new.leader)
            changes.append(change)
        partitions[each.partition_index] = new
    return TopicInfo(
        response.name,
        response.topic_id,
        response.error_code,
        response.is_internal,
        partitions,
    )
