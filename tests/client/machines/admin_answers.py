# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Responses of simulated brokers to administrative requests.

Each broker is as strict as Kafka with ZooKeeper was. It only responds for partitions
that it leads, for groups that it coordinates, for its own configuration, and as the
controller.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import Counter
from typing import ClassVar
from uuid import UUID

GROUP, SHARE = 0, 2
BROKER_TYPE, TOPIC_TYPE = 4, 2


class AdminAnswers:
    """Mixin of a simulated broker: requests about topics, configurations and groups."""

    loads_coordinators = 0
    """Number of requests that fail because coordinators are still loading."""

    assignments: ClassVar[dict[str, bytes]] = {}
    """Encoded assignment of the only member of each group, by group id."""

    @property
    def received(self):
        """Number of received administrative requests, by name without "Request"."""
        return self.__dict__.setdefault("_received", Counter())

    def _CreateTopicsRequest(self, request, version):
        make = self._cluster.messages.CreateTopicsResponse
        self.received["CreateTopics"] += 1
        results = []
        for topic in request.topics:
            code = self._controller_code()
            if not code and topic.name in self._cluster.topics:
                code = self._cluster.codes.TOPIC_ALREADY_EXISTS
            elif not code:
                self._cluster.add_topic(topic.name, max(topic.num_partitions, 1))
            results.append(make.CreatableTopicResult(name=topic.name, error_code=code))
        self._learn_all()
        return make(topics=results)

    def _DeleteTopicsRequest(self, request, version):
        make = self._cluster.messages.DeleteTopicsResponse
        self.received["DeleteTopics"] += 1
        results = []
        for name in request.topic_names or [topic.name for topic in request.topics]:
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

    def _CreatePartitionsRequest(self, request, version):
        make = self._cluster.messages.CreatePartitionsResponse
        codes = self._cluster.codes
        results = []
        for change in request.topics:
            topic = self._cluster.topics.get(change.name)
            code = self._controller_code()
            if not code and topic is None:
                code = codes.UNKNOWN_TOPIC_OR_PARTITION
            elif not code and change.count <= len(topic.logs):
                code = codes.INVALID_PARTITIONS
            elif not code:
                self._cluster.add_partitions(change.name, change.count)
            results.append(
                make.CreatePartitionsTopicResult(name=change.name, error_code=code)
            )
        self._learn_all()
        return make(results=results)

    def _DescribeConfigsRequest(self, request, version):
        """Return the configured properties.

        The additional property "node" is the id of this broker.
        """
        make = self._cluster.messages.DescribeConfigsResponse
        results = []
        for resource in request.resources:
            key = resource.resource_type, resource.resource_name
            values = {"node": str(self.node)} | self._cluster.configs.get(key, {})
            code = self._resource_code(*key)
            results.append(
                make.DescribeConfigsResult(
                    error_code=code,
                    error_message="another broker" if code else None,
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                    configs=[
                        make.DescribeConfigsResourceResult(
                            name=name, value=value, config_source=5
                        )
                        for name, value in values.items()
                    ]
                    if not code
                    else [],
                )
            )
        return make(results=results)

    def _IncrementalAlterConfigsRequest(self, request, version):
        make = self._cluster.messages.IncrementalAlterConfigsResponse
        responses = []
        for resource in request.resources:
            key = resource.resource_type, resource.resource_name
            code = self._resource_code(*key)
            values = dict(self._cluster.configs.get(key, {}))
            for change in resource.configs:
                values[change.name] = change.value
            if not (code or request.validate_only):
                remaining = {name: v for name, v in values.items() if v is not None}
                self._cluster.configs[key] = remaining
            responses.append(
                make.AlterConfigsResourceResponse(
                    error_code=code,
                    error_message="another broker" if code else None,
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                )
            )
        return make(responses=responses)

    def _resource_code(self, kind, name):
        codes = self._cluster.codes
        if kind == BROKER_TYPE and name not in ("", str(self.node)):
            return codes.INVALID_REQUEST
        if kind == TOPIC_TYPE and name not in self._cluster.topics:
            return codes.UNKNOWN_TOPIC_OR_PARTITION
        return 0

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
        groups = []
        for name in request.groups:
            is_known = name in self._cluster.listed_groups
            member = make.DescribedGroupMember(
                member_id="m",
                client_id="c",
                client_host="/127.0.0.1",
                member_metadata=b"",
                member_assignment=self.assignments.get(name, b""),
            )
            groups.append(
                make.DescribedGroup(
                    error_code=self._group_code(name),
                    group_id=name,
                    group_state="Stable" if is_known else "Dead",
                    protocol_type="consumer" if is_known else "",
                    protocol_data="range" if is_known else "",
                    members=[member] if is_known else [],
                )
            )
        return make(groups=groups)

    def _ConsumerGroupDescribeRequest(self, request, version):
        """Describe groups of the KIP-848 protocol, which have one member."""
        make = self._cluster.messages.ConsumerGroupDescribeResponse
        groups = []
        for name in request.group_ids:
            code = self._group_code(name)
            if not code and name not in self._cluster.groups:
                code = self._cluster.codes.GROUP_ID_NOT_FOUND
            assignment = make.Assignment(
                topic_partitions=[
                    make.TopicPartitions(
                        topic_name=topic, topic_id=UUID(int=1), partitions=[0, 2]
                    )
                    for topic in self._cluster.topics
                ]
            )
            member = make.Member(
                member_id="m",
                client_id="c",
                client_host="/127.0.0.1",
                subscribed_topic_names=[],
                assignment=assignment,
                target_assignment=assignment,
            )
            groups.append(
                make.DescribedGroup(
                    error_code=code,
                    group_id=name,
                    group_state="Stable",
                    assignor_name="uniform",
                    members=[] if code else [member],
                )
            )
        return make(groups=groups)

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
        """Return each partition's number as its start offset."""
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
