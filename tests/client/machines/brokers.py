# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated cluster and brokers with the behavior of Kafka.

``SimulatedCluster`` contains the actual state. Each broker has its own view of the
leaders, which lags, so that clients receive stale metadata and stale leader hints.
``ServerConnection`` implements versions, headers and the order of responses.

This module responds to Metadata, ListOffsets, Fetch, OffsetForLeaderEpoch and
DescribeLogDirs. FindCoordinator is in ``coordinator_answers.py``, and the other
requests are in ``produce_answers.py``, ``transaction_answers.py``,
``group_answers.py``, ``admin_answers.py`` and ``telemetry_answers.py``.
"""

from __future__ import annotations

import importlib
from uuid import UUID

from tests.client.machines.admin_answers import AdminAnswers
from tests.client.machines.coordinator_answers import CoordinatorAnswers
from tests.client.machines.fetch_sessions import FetchSessions
from tests.client.machines.group_answers import GroupAnswers
from tests.client.machines.group_coordinator import SimulatedGroup
from tests.client.machines.partition_log import PartitionLog
from tests.client.machines.produce_answers import ProduceAnswers
from tests.client.machines.telemetry_answers import TelemetryAnswers
from tests.client.machines.transaction_answers import (
    SimulatedTransaction,
    TransactionAnswers,
)

SERVED = ("ApiVersions", "Metadata", "ListOffsets", "Fetch", "OffsetForLeaderEpoch")
SERVED += ("DescribeLogDirs", "Produce", "InitProducerId", "FindCoordinator")
SERVED += ("ConsumerGroupHeartbeat", "OffsetCommit", "OffsetFetch")
SERVED += ("CreateTopics", "DeleteTopics", "DeleteRecords", "DescribeConfigs")
SERVED += ("DescribeGroups", "DeleteGroups", "ListGroups", "ReadShareGroupState")
SERVED += ("CreatePartitions", "IncrementalAlterConfigs", "ConsumerGroupDescribe")
SERVED += ("AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn")
TELEMETRY = ("GetTelemetrySubscriptions", "PushTelemetry")
"""Requests that brokers support only if the cluster receives client metrics."""
FINALIZING = ("3.9", "4.0", "4.1")
"""Releases that support the feature transaction.version."""

EARLIEST, LATEST = -2, -1


class SimulatedTopic:
    """Topic with its id, and the log and the leader of each partition."""

    def __init__(self, name, topic_id, logs, leaders):
        """Store ``logs`` and ``leaders``, whose indexes are the partition numbers."""
        self.name = name
        self.topic_id = topic_id
        self.logs: list[PartitionLog] = logs
        self.leaders: list[int] = leaders


class SimulatedCluster:
    """Actual state of the cluster: brokers, topics and leaders."""

    def __init__(self, kwire, random, count, releases):
        """Start ``count`` brokers with random releases from ``releases``."""
        self.kwire = kwire
        self.random = random
        self.messages = kwire.messages
        self.codes = kwire.error_codes
        self.topics: dict[str, SimulatedTopic] = {}
        self.world = None
        self.receiver = None
        """Plugin that receives client metrics, or None."""
        self.transaction_version = 0
        """Level of the feature transaction.version.

        Level 2 is the second protocol (KIP-890).
        """
        self.last_epoch = 32766
        """Last epoch of a transactional producer before it gets a new producer id."""
        self.transactions: dict[str, SimulatedTransaction] = {}
        self.pending_offsets: dict[tuple[str, int], dict] = {}
        self.group_epochs: dict[tuple[str, int], int] = {}
        self.created: set[str] = set()
        """Topics that real brokers would have created, because a request names them."""
        self.offsets: dict[str, dict] = {}
        """Committed offsets by group."""
        self.controller = 1
        self.brokers = {
            node: SimulatedBroker(self, node, random.choice(releases))
            for node in range(1, count + 1)
        }
        self.moving_until = 0.0
        """Time until which every request moves its leader or coordinator."""
        self.producer_ids = 0
        self.coordinators: dict[tuple[int, str], int] = {}
        self.groups: dict[str, SimulatedGroup] = {}
        self.configs: dict[tuple[int, str], dict[str, str]] = {}
        """Configuration of resources by type and name."""
        self.listed_groups: set[str] = set()
        """Groups of ``AdminAnswers``."""
        self._ids = 0

    def add_topic(self, name, partitions):
        """Create a topic with a new id, and return it."""
        self._ids += 1
        leaders = [self.random.choice(list(self.brokers)) for _ in range(partitions)]
        logs = [
            PartitionLog(self.kwire, f"{name}.{self._ids}-{index}", self.random)
            for index in range(partitions)
        ]
        topic = SimulatedTopic(name, UUID(int=self._ids), logs, leaders)
        self.topics[name] = topic
        return topic

    def add_partitions(self, name, count):
        """Increase the number of partitions of a topic to ``count``."""
        topic = self.topics[name]
        for index in range(len(topic.logs), count):
            log = PartitionLog(self.kwire, f"{name}.{self._ids}-{index}", self.random)
            topic.logs.append(log)
            topic.leaders.append(self.random.choice(list(self.brokers)))

    def transaction(self, key):
        """Return the state of a transactional id. Create the state if necessary."""
        if key not in self.transactions:
            self.producer_ids += 1
            self.transactions[key] = SimulatedTransaction(self.producer_ids)
        return self.transactions[key]

    def is_moving(self):
        """Return whether requests currently move their leader or coordinator."""
        return self.world is not None and self.world.now < self.moving_until

    def move_one(self, node, places):
        """Move the leader of one of ``places``, if this broker leads any of them.

        Chooses the partition with the lowest leader epoch, so that all of them move in
        turn.
        """
        if not self.is_moving():
            return
        led = [
            (topic.logs[index].epoch, name, index)
            for name, index in places
            if (topic := self.topics.get(name)) and index < len(topic.logs)
            if topic.leaders[index] == node
        ]
        if led and len(self.brokers) > 1:
            _, name, index = min(led)
            topic = self.topics[name]
            topic.leaders[index] = self._next_node(node)
            topic.logs[index].new_leader()
            for broker in self.brokers.values():
                broker.learn()

    def move_coordinator(self, node, kind, key):
        """Move a coordinator away from the broker that received a request."""
        if self.is_moving() and self.coordinators.get((kind, key)) == node:
            self.coordinators[kind, key] = self._next_node(node)
            for broker in self.brokers.values():
                broker.learn()

    def _next_node(self, node):
        return node % len(self.brokers) + 1

    def add_group(self, name, topics):
        """Create a group that reads topics, and return it."""
        self.groups[name] = group = SimulatedGroup(self, topics)
        return group

    def coordinator(self, kind, key):
        """Return the broker id of the coordinator of a group or a transactional id."""
        nodes = list(self.brokers)
        return self.coordinators.setdefault((kind, key), self.random.choice(nodes))

    def at(self, host, port):
        """Return the broker whose port is 9000 plus its id. ``host`` is ignored."""
        return self.brokers[port - 9000]


class SimulatedBroker(
    ProduceAnswers,
    CoordinatorAnswers,
    TransactionAnswers,
    GroupAnswers,
    AdminAnswers,
    TelemetryAnswers,
):
    """One broker: supported versions, availability, and its view of the cluster.

    A silent broker accepts connections and bytes, but does not process them.
    """

    def __init__(self, cluster, node, release):
        """Start a broker with the versions of ``release``."""
        self.node = node
        self.is_up = True
        self.is_silent = False
        self.gives_hints = True
        self.is_describable = True
        self.throttle_ms = 0
        self.fetches = 0
        self._cluster = cluster
        self.sessions = FetchSessions(cluster.kwire, cluster.random)
        self.become(release)
        # View of this broker: (topic id, leader, leader epoch) by (topic, partition).
        self.view: dict[tuple[str, int], tuple[UUID, int, int]] = {}
        # Running brokers at the last update of the view, including this broker.
        self.alive = {node}
        # View of the coordinators by (type, key).
        self.coordinators: dict[tuple[int, str], int] = {}
        self.controller = cluster.controller

    def become(self, release):
        """Upgrade or downgrade the broker to a release. Its fetch sessions are lost."""
        self.release = release
        self.sessions.clear()
        kwire = self._cluster.kwire
        negotiation = importlib.import_module(
            f"{kwire.__name__}.connection.negotiation"
        )
        table = negotiation.ApiVersionTable
        offered = dict(table.of_release(release).ranges())
        served = SERVED + (TELEMETRY if self._cluster.receiver else ())
        keys = {getattr(kwire.messages, f"{name}Request").api_key for name in served}
        level = self._cluster.transaction_version
        self.table = table.from_ranges(
            {key: offered[key] for key in keys if key in offered},
            finalized_features={"transaction.version": (level, level)},
            finalized_features_epoch=level if release in FINALIZING else -1,
        )

    def connection(self):
        """Return the server's side of a new connection."""
        module = importlib.import_module(f"{self._cluster.kwire.__name__}.connection")
        return module.ServerConnection(self.table)

    def learn(self):
        """Copy the actual state of the cluster into the view of this broker."""
        brokers = self._cluster.brokers
        self.alive = {node for node, broker in brokers.items() if broker.is_up}
        self.alive.add(self.node)
        self.controller = self._cluster.controller
        self.coordinators = dict(self._cluster.coordinators)
        self.view = {
            (topic.name, index): (topic.topic_id, leader, topic.logs[index].epoch)
            for topic in self._cluster.topics.values()
            for index, leader in enumerate(topic.leaders)
        }

    def answer(self, request, version):
        """Return the response to a request other than Fetch and Produce."""
        name = type(request).__name__
        return getattr(self, f"_{name}")(request, version)

    def _MetadataRequest(self, request, version):
        make = self._cluster.messages.MetadataResponse
        topics: dict[str, list] = {}
        ids = {}
        for (name, index), (topic_id, leader, epoch) in sorted(self.view.items()):
            ids[name] = topic_id
            entry = make.MetadataResponsePartition(
                partition_index=index,
                leader_id=leader,
                leader_epoch=epoch if version >= 7 else -1,
                replica_nodes=[leader],
                isr_nodes=[leader],
            )
            topics.setdefault(name, []).append(entry)
        requested = request.topics
        # In Metadata version 0, an empty topic list requests all topics.
        is_all = requested is None or (version == 0 and not requested)
        names = list(topics) if is_all else [topic.name for topic in requested]
        if version < 4 or request.allow_auto_topic_creation:
            self._cluster.created |= set(names) - topics.keys()
        # Brokers before 0.9 return no brokers if there are no topics.
        is_hidden = version == 0 and not topics and self.release.startswith("0.8.")
        return make(
            brokers=[
                make.MetadataResponseBroker(node_id=node, host="sim", port=9000 + node)
                for node in (() if is_hidden else sorted(self.alive))
            ],
            controller_id=self.controller,
            topics=[
                make.MetadataResponseTopic(
                    name=name,
                    topic_id=ids[name] if version >= 10 else UUID(int=0),
                    partitions=topics[name],
                )
                if name in topics
                else make.MetadataResponseTopic(
                    name=name,
                    error_code=self._cluster.codes.UNKNOWN_TOPIC_OR_PARTITION,
                )
                for name in names
            ],
        )

    def _ListOffsetsRequest(self, request, version):
        make = self._cluster.messages.ListOffsetsResponse
        topics = []
        for topic in request.topics:
            parts = []
            for part in topic.partitions:
                code, log = self._find(
                    topic.name, None, part.partition_index, part.current_leader_epoch
                )
                offset = -1
                if log is not None and log.unseen and part.timestamp == LATEST:
                    code = self._cluster.codes.OFFSET_NOT_AVAILABLE
                elif log is not None:
                    # Consumers have replica id -1. All other ids belong to followers,
                    # which are allowed to see the log end offset.
                    committed = request.isolation_level and request.replica_id == -1
                    offset = self._offset(log, part.timestamp, committed)
                offset_fields = {"offset": offset}
                if version == 0:
                    offset_fields = {
                        "old_style_offsets": [offset] if offset >= 0 else []
                    }
                parts.append(
                    make.ListOffsetsPartitionResponse(
                        partition_index=part.partition_index,
                        error_code=code,
                        **offset_fields,
                    )
                )
            topics.append(
                make.ListOffsetsTopicResponse(name=topic.name, partitions=parts)
            )
        return make(topics=topics)

    def _OffsetForLeaderEpochRequest(self, request, version):
        make = self._cluster.messages.OffsetForLeaderEpochResponse
        topics = []
        for topic in request.topics:
            parts = []
            for part in topic.partitions:
                code, log = self._find(
                    topic.topic, None, part.partition, part.current_leader_epoch
                )
                epoch, end = (
                    (-1, -1) if log is None else log.end_of_epoch(part.leader_epoch)
                )
                parts.append(
                    make.EpochEndOffset(
                        error_code=code,
                        partition=part.partition,
                        leader_epoch=epoch,
                        end_offset=end,
                    )
                )
            topics.append(
                make.OffsetForLeaderTopicResult(topic=topic.topic, partitions=parts)
            )
        return make(topics=topics)

    def _DescribeLogDirsRequest(self, request, version):
        """Describe the requested logs in two log directories.

        The second contains future logs.
        """
        make = self._cluster.messages.DescribeLogDirsResponse
        codes = self._cluster.codes
        if not self.is_describable:
            code = codes.CLUSTER_AUTHORIZATION_FAILED if version >= 3 else 0
            return make(error_code=code)
        requested = {
            name: [*range(len(topic.logs))]
            for name, topic in self._cluster.topics.items()
        }
        if request.topics is not None:
            requested = {
                topic_entry.topic: topic_entry.partitions
                for topic_entry in request.topics
            }
        topics = [
            make.DescribeLogDirsTopic(
                name=name,
                partitions=[
                    make.DescribeLogDirsPartition(
                        partition_index=partition, partition_size=log.size
                    )
                    for partition in partitions
                    if (log := self._find(name, None, partition, -1)[1])
                ],
            )
            for name, partitions in requested.items()
        ]
        future = [
            topic.replace(
                partitions=[
                    part.replace(partition_size=1, is_future_key=True)
                    for part in topic.partitions
                ]
            )
            for topic in topics
        ]
        return make(
            results=[
                make.DescribeLogDirsResult(log_dir="/a", topics=topics),
                make.DescribeLogDirsResult(log_dir="/b", topics=future),
            ]
        )

    def begin_fetch(self, request, version):
        """Return a ``Fetch`` with the partitions of the request and of its session."""
        return self.sessions.resolve(request, version)

    def answer_fetch(self, fetch, version, is_late):
        """Respond to a Fetch. Returns None if it has to wait for data."""
        self.fetches += 1
        self._cluster.move_one(
            self.node,
            [
                (topic.topic or self._name(topic.topic_id), part.partition)
                for topic in fetch.topics
                for part in topic.partitions
            ],
        )
        make = self._cluster.messages.FetchResponse
        if fetch.error_code:
            return make(error_code=fetch.error_code)
        responses, endpoints = [], {}
        remaining_bytes, has_news = fetch.max_bytes, is_late
        for topic in fetch.topics:
            for part in topic.partitions:
                answer, hint = self._fetch(fetch, topic, part, version, remaining_bytes)
                if answer.error_code or answer.diverging_epoch.end_offset >= 0:
                    has_news = True
                if answer.records:
                    has_news = True
                    remaining_bytes = max(remaining_bytes - len(answer.records), 0)
                if hint is not None:
                    endpoints[hint.node_id] = hint
                responses.append((topic, answer))
        if not has_news:
            return None
        return make(
            throttle_time_ms=self.throttle_ms,
            session_id=fetch.session_id,
            responses=[
                make.FetchableTopicResponse(
                    topic=topic.topic if version < 13 else "",
                    topic_id=topic.topic_id,
                    partitions=[answer],
                )
                for topic, answer in responses
                if fetch.note_answer(topic, answer)
            ],
            node_endpoints=list(endpoints.values()) if version >= 16 else (),
        )

    def _fetch(self, request, topic, part, version, remaining_bytes):
        make = self._cluster.messages.FetchResponse
        codes = self._cluster.codes
        topic_id = topic.topic_id if version >= 13 else None
        code, log = self._find(
            topic.topic, topic_id, part.partition, part.current_leader_epoch
        )
        fields, hint = {"partition_index": part.partition}, None
        if log is None:
            if code == codes.NOT_LEADER_OR_FOLLOWER and self.gives_hints:
                fields, hint = self._hinted(topic, part, version, fields)
            return make.PartitionData(
                error_code=code, high_watermark=-1, **fields
            ), hint
        offset = part.fetch_offset
        if version >= 12 and part.last_fetched_epoch >= 0:
            epoch, end = log.end_of_epoch(part.last_fetched_epoch)
            if epoch < part.last_fetched_epoch or end < offset:
                fields["diverging_epoch"] = make.EpochEndOffset(
                    epoch=epoch, end_offset=end
                )
                high_watermark = log.high_watermark
                return make.PartitionData(high_watermark=high_watermark, **fields), None
        if not log.start <= offset <= log.end:
            code = codes.OFFSET_OUT_OF_RANGE
            return make.PartitionData(
                error_code=code, high_watermark=-1, **fields
            ), None
        committed = request.isolation_level == 1
        size = min(part.partition_max_bytes, remaining_bytes)
        # From version 3 on, the response contains at least one complete batch (KIP-74).
        is_first = version >= 3 and remaining_bytes == request.max_bytes
        data = log.read(offset, size, committed, is_first)
        if committed:
            entry = make.AbortedTransaction
            fields["aborted_transactions"] = [
                entry(
                    producer_id=transaction.producer_id,
                    first_offset=transaction.first_offset,
                )
                for transaction in log.aborted_in(offset)
            ]
        return (
            make.PartitionData(
                high_watermark=log.high_watermark,
                last_stable_offset=min(log.last_stable, log.high_watermark),
                log_start_offset=log.start,
                records=data,
                **fields,
            ),
            None,
        )

    def _hinted(self, topic, part, version, fields):
        """Add the leader from the broker's own metadata, which may be stale (KIP-951).

        Return the fields, and the leader's endpoint or None. Before Fetch version 12,
        the response contains no leader, and before version 16 no endpoint.
        """
        make = self._cluster.messages.FetchResponse
        name = topic.topic or self._name(topic.topic_id)
        believed = self.view.get((name, part.partition))
        if version < 12 or believed is None or believed[1] == self.node:
            return fields, None
        _, leader, epoch = believed
        fields["current_leader"] = make.LeaderIdAndEpoch(
            leader_id=leader, leader_epoch=epoch
        )
        if version < 16:
            return fields, None
        return fields, make.NodeEndpoint(node_id=leader, host="sim", port=9000 + leader)

    def _name(self, topic_id):
        for topic in self._cluster.topics.values():
            if topic.topic_id == topic_id:
                return topic.name
        return ""

    def _find(self, name, topic_id, partition, epoch):
        """Return (0, log) if this broker is the leader, else (error code, None)."""
        codes = self._cluster.codes
        if topic_id is not None:
            name = self._name(topic_id)
            if not name:
                return codes.UNKNOWN_TOPIC_ID, None
        topic = self._cluster.topics.get(name)
        if topic is None or not 0 <= partition < len(topic.logs):
            return codes.UNKNOWN_TOPIC_OR_PARTITION, None
        log = topic.logs[partition]
        if topic.leaders[partition] != self.node:
            return codes.NOT_LEADER_OR_FOLLOWER, None
        if 0 <= epoch < log.epoch:
            return codes.FENCED_LEADER_EPOCH, None
        # A leader with stale metadata does not know its own leader epoch yet.
        believed = self.view.get((name, partition))
        if epoch > (log.epoch if believed is None else believed[2]):
            return codes.UNKNOWN_LEADER_EPOCH, None
        return 0, log

    def _offset(self, log, timestamp, committed):
        if timestamp == LATEST:
            return log.last_stable if committed else log.end
        if timestamp == EARLIEST:
            return log.start
        for batch in log.batches:
            for record in next(
                iter(self._cluster.kwire.records.decode_batches(batch.data))
            ).records:
                if record.timestamp >= timestamp and not batch.is_control:
                    return record.offset
        return -1
