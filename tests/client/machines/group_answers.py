# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Responses of simulated brokers to the requests of group members.

``group_coordinator.py`` contains the state of a group. This module decodes the requests
and encodes the responses. The broker that receives a request may not be the coordinator
of the group, or may not have loaded the group yet.
"""

from __future__ import annotations

from tests.client.machines.group_coordinator import GroupError

GROUP = 0


class GroupAnswers:
    """Mixin of a simulated broker: group coordinator."""

    loads_until = 0.0
    """Time until which the broker is still loading its groups."""
    clock = staticmethod(lambda: 0.0)
    heartbeats = 0
    unstable = 0
    """Number of requested offsets to report as unstable, as in an open transaction."""

    def _ConsumerGroupHeartbeatRequest(self, request, version):
        self.heartbeats += 1
        make = self._cluster.messages.ConsumerGroupHeartbeatResponse
        try:
            group = self._group(request.group_id)
            member, has_assignment = group.heartbeat(request, self.clock())
        except GroupError as error:
            return make(error_code=error.code)
        topics: dict = {}
        for topic_id, partition in sorted(member.assigned):
            topics.setdefault(topic_id, []).append(partition)
        entries = [
            make.TopicPartitions(topic_id=topic_id, partitions=partitions)
            for topic_id, partitions in topics.items()
        ]
        is_leaving = request.member_epoch < 0
        return make(
            member_id=member.id,
            member_epoch=request.member_epoch if is_leaving else member.epoch,
            heartbeat_interval_ms=1000,
            assignment=make.Assignment(topic_partitions=entries)
            if has_assignment
            else None,
        )

    def _OffsetCommitRequest(self, request, version):
        make = self._cluster.messages.OffsetCommitResponse
        code = 0
        try:
            group = self._group(request.group_id)
            epoch = request.generation_id_or_member_epoch
            group.check_member(request.member_id, epoch, self.clock())
        except GroupError as error:
            code = error.code
        topics = []
        for topic in request.topics:
            topic_id = self._topic_id(topic)
            parts = []
            unknown = self._cluster.codes.UNKNOWN_TOPIC_ID
            topic_code = code or (0 if self._is_there(topic_id) else unknown)
            for part in topic.partitions:
                id_and_partition = (topic_id, part.partition_index)
                if not topic_code:
                    group.commit(
                        id_and_partition,
                        part.committed_offset,
                        part.committed_leader_epoch,
                    )
                parts.append(
                    make.OffsetCommitResponsePartition(
                        partition_index=part.partition_index, error_code=topic_code
                    )
                )
            topics.append(
                make.OffsetCommitResponseTopic(
                    name=topic.name, topic_id=topic.topic_id, partitions=parts
                )
            )
        return make(topics=topics)

    def _committed(self, group):
        """Return the partitions with a committed offset, by topic.

        The format is that of the topics in an OffsetFetch request.
        """
        make = self._cluster.messages.OffsetFetchRequest.OffsetFetchRequestTopics
        return [
            make(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_indexes=[
                    index for id_, index in group.offsets if id_ == topic.topic_id
                ],
            )
            for topic in self._cluster.topics.values()
        ]

    def _OffsetFetchRequest(self, request, version):
        make = self._cluster.messages.OffsetFetchResponse
        is_old = version < 8
        group_request = request if is_old else request.groups[0]
        member_id = "" if version < 9 else group_request.member_id or ""
        epoch = -1 if version < 9 else group_request.member_epoch
        try:
            group = self._group(group_request.group_id)
            if member_id:
                group.check_member(member_id, epoch, self.clock())
        except GroupError as error:
            if version < 2:
                return make(topics=self._failed_topics(request, error.code))
            if is_old:
                return make(error_code=error.code)
            failed = make.OffsetFetchResponseGroup(
                group_id=group_request.group_id, error_code=error.code
            )
            return make(groups=[failed])
        make_topic = make.OffsetFetchResponseTopics
        make_part = make.OffsetFetchResponsePartitions
        if is_old:
            make_topic = make.OffsetFetchResponseTopic
            make_part = make.OffsetFetchResponsePartition
        topics = []
        requested = (
            self._committed(group)
            if group_request.topics is None
            else group_request.topics
        )
        for topic in requested:
            topic_id = self._topic_id(topic)
            parts = []
            for index in topic.partition_indexes:
                offset, epoch = group.offsets.get((topic_id, index), (-1, -1))
                code = 0
                if not self._is_there(topic_id):
                    code = self._cluster.codes.UNKNOWN_TOPIC_ID
                elif self.unstable:
                    self.unstable -= 1
                    code = self._cluster.codes.UNSTABLE_OFFSET_COMMIT
                parts.append(
                    make_part(
                        partition_index=index,
                        committed_offset=-1 if code else offset,
                        committed_leader_epoch=epoch,
                        metadata="",
                        error_code=code,
                    )
                )
            fields = {} if version < 10 else {"topic_id": topic.topic_id}
            topics.append(make_topic(name=topic.name, partitions=parts, **fields))
        if is_old:
            return make(topics=topics)
        group_entry = make.OffsetFetchResponseGroup(
            group_id=group_request.group_id, topics=topics
        )
        return make(groups=[group_entry])

    def _failed_topics(self, request, code):
        """Return the error code for each requested partition.

        Versions 0 and 1 have no error field for the whole response.
        """
        messages = self._cluster.messages.OffsetFetchResponse
        return [
            messages.OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    messages.OffsetFetchResponsePartition(
                        partition_index=index,
                        committed_offset=-1,
                        metadata="",
                        error_code=code,
                    )
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]

    def _group(self, group_id):
        codes = self._cluster.codes
        if not self.coordinates(GROUP, group_id):
            raise GroupError(codes.NOT_COORDINATOR)
        if self.clock() < self.loads_until:
            raise GroupError(codes.COORDINATOR_LOAD_IN_PROGRESS)
        return self._cluster.groups[group_id]

    def _is_there(self, topic_id):
        """Return whether a topic with this id exists."""
        return any(
            topic.topic_id == topic_id for topic in self._cluster.topics.values()
        )

    def _topic_id(self, topic):
        if topic.name:
            return self._cluster.topics[topic.name].topic_id
        return topic.topic_id
