# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What simulated brokers answer to the requests of operators.

Each broker is as strict as Kafka with ZooKeeper was: it answers only for partitions
that it leads, groups that it coordinates, its own configuration, and as the controller.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import Counter

GROUP, SHARE = 0, 2
BROKER_TYPE, TOPIC_TYPE = 4, 2


class AdminAnswers:
    """The part of a simulated broker that creates, lists, describes and deletes."""

    loads_coordinators = 0
    """How many requests find that coordinators are still being loaded."""

    @property
    def received(self):
        """The requests of this file that came, by name."""
        return self.__dict__.setdefault("_received", Counter())

    def _CreateTopicsRequest(self, request, version):
        make = self._cluster.messages.CreateTopicsResponse
        self.received["CreateTopics"] += 1
        results = []
        for each in request.topics:
            code = self._controller_code()
            if not code and each.name in self._cluster.topics:
                code = self._cluster.codes.TOPIC_ALREADY_EXISTS
            elif not code:
                self._cluster.add_topic(each.name, max(each.num_partitions, 1))
            results.append(make.CreatableTopicResult(name=each.name, error_code=code))
        self._learn_all()
        return make(topics=results)

    def _DeleteTopicsRequest(self, request, version):
        make = self._cluster.messages.DeleteTopicsResponse
        self.received["DeleteTopics"] += 1
        results = []
        for name in request.topic_names or [each.name for each in request.topics]:
            code = self._controller_code()
            if not code and self._cluster.topics.pop(name, None) is None:
                code = self._cluster.codes.UNKNOWN_TOPIC_OR_PARTITION
            results.append(make.DeletableTopicResult(name=name, error_code=code))
        self._learn_all()
        return make(responses=results)

    def _DeleteRecordsRequest(self, request, version):
        make = self._cluster.messages.DeleteRecordsResponse
        self.received["DeleteRecords"] += 1
        self._cluster.move_one(
            self.node,
            [
                (topic.name, part.partition_index)
                for topic in request.topics
                for part in topic.partitions
            ],
        )
        topics = []
        for topic in request.topics:
            parts = []
            for part in topic.partitions:
                code, log = self._find(topic.name, None, part.partition_index, -1)
                if log is not None:
                    log.delete_before(part.offset)
                parts.append(
                    make.DeleteRecordsPartitionResult(
                        partition_index=part.partition_index,
                        low_watermark=-1 if log is None else log.start,
                        error_code=code,
                    )
                )
            topics.append(
                make.DeleteRecordsTopicResult(name=topic.name, partitions=parts)
            )
        return make(topics=topics)

    def _DescribeConfigsRequest(self, request, version):
        """Return the node that answered as the value of each property."""
        make = self._cluster.messages.DescribeConfigsResponse
        results = []
        for each in request.resources:
            is_other = each.resource_type == BROKER_TYPE and each.resource_name not in (
                "",
                str(self.node),
            )
            code = self._cluster.codes.INVALID_REQUEST if is_other else 0
            entry = make.DescribeConfigsResourceResult(name="n", value=str(self.node))
            results.append(
                make.DescribeConfigsResult(
                    error_code=code,
                    error_message=None,
                    resource_type=each.resource_type,
                    resource_name=each.resource_name,
                    configs=[] if code else [entry],
                )
            )
        return make(results=results)

    def _ListGroupsRequest(self, request, version):
        make = self._cluster.messages.ListGroupsResponse
        self.received["ListGroups"] += 1
        if self.loads_coordinators:
            self.loads_coordinators -= 1
            return make(error_code=self._cluster.codes.COORDINATOR_LOAD_IN_PROGRESS)
        return make(
            groups=[
                make.ListedGroup(group_id=name, protocol_type="consumer")
                for name in sorted(self._cluster.listed_groups)
                if self._cluster.coordinator(GROUP, name) == self.node
            ]
        )

    def _DescribeGroupsRequest(self, request, version):
        make = self._cluster.messages.DescribeGroupsResponse
        self.received["DescribeGroups"] += 1
        return make(
            groups=[
                make.DescribedGroup(
                    error_code=self._group_code(name),
                    group_id=name,
                    group_state="Empty",
                    protocol_type="consumer",
                    protocol_data="",
                    members=[],
                )
                for name in request.groups
            ]
        )

    def _DeleteGroupsRequest(self, request, version):
        make = self._cluster.messages.DeleteGroupsResponse
        self.received["DeleteGroups"] += 1
        results = []
        for name in request.groups_names:
            code = self._group_code(name)
            if not code and name not in self._cluster.listed_groups:
                code = self._cluster.codes.GROUP_ID_NOT_FOUND
            if not code:
                self._cluster.listed_groups.remove(name)
            results.append(make.DeletableGroupResult(group_id=name, error_code=code))
        return make(results=results)

    def _ReadShareGroupStateRequest(self, request, version):
        """Return the partition as its start offset."""
        make = self._cluster.messages.ReadShareGroupStateResponse
        codes = self._cluster.codes
        results = []
        for topic in request.topics:
            parts = []
            for part in topic.partitions:
                key = f"{request.group_id}:{self._topic_text(topic)}:{part.partition}"
                is_here = self.coordinates(SHARE, key)
                parts.append(
                    make.PartitionResult(
                        partition=part.partition,
                        error_code=0 if is_here else codes.NOT_COORDINATOR,
                        start_offset=part.partition,
                    )
                )
            results.append(
                make.ReadStateResult(topic_id=topic.topic_id, partitions=parts)
            )
        return make(results=results)

    def _topic_text(self, topic):
        return urlsafe_b64encode(topic.topic_id.bytes)[:22].decode()

    def _group_code(self, name):
        codes = self._cluster.codes
        if self.loads_coordinators:
            self.loads_coordinators -= 1
            return codes.COORDINATOR_LOAD_IN_PROGRESS
        return 0 if self.coordinates(GROUP, name) else codes.NOT_COORDINATOR

    def _controller_code(self):
        is_here = self._cluster.controller == self.node
        return 0 if is_here else self._cluster.codes.NOT_CONTROLLER

    def _learn_all(self):
        for broker in self._cluster.brokers.values():
            broker.learn()
