# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Members of groups on a machine, which tests drive request by request."""

from __future__ import annotations

from kwire.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerProtocolSubscription,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from kwire.messages.framing import encode_prefixed
from kwire.schema import error_codes
from tests.testing.machine_client import MachineClient

GROUP = "readers"


def subscribe(*topics):
    """Return the metadata of a classic member that subscribes to topics."""
    return encode_prefixed(ConsumerProtocolSubscription(topics=list(topics)), 1)


def commit_request(topic_entry, *, member_id="", generation=-1, group_id=GROUP, **rest):
    """Return an OffsetCommit request for one topic entry."""
    return OffsetCommitRequest(
        group_id=group_id,
        member_id=member_id,
        generation_id_or_member_epoch=generation,
        topics=[topic_entry],
        **rest,
    )


def offset_of(name, partition, offset, *, topic_id=None, metadata=""):
    """Return a topic entry of OffsetCommit with one partition."""
    identity = {"name": name} if topic_id is None else {"topic_id": topic_id}
    return OffsetCommitRequest.OffsetCommitRequestTopic(
        **identity,
        partitions=[
            OffsetCommitRequest.OffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=offset,
                committed_metadata=metadata,
            )
        ],
    )


class ClassicMember:
    """Member of a classic group with a connection of its own."""

    def __init__(
        self, machine, *, instance_id=None, protocols=None, version=9, node_id=1
    ):
        """Connect without joining."""
        self.machine = machine
        self.connect(node_id)
        self.instance_id = instance_id
        self.protocols = protocols or {"range": subscribe("orders")}
        self.version = version
        self.member_id = ""
        self.generation = -1
        self.rebalance_timeout_ms = 60_000

    def connect(self, node_id):
        """Use a new connection to a broker."""
        self.client = MachineClient(self.machine, node_id)

    def send_join(self):
        """Send JoinGroup; return the response, or None if the coordinator waits."""
        response = self.client.request(
            JoinGroupRequest(
                group_id=GROUP,
                session_timeout_ms=10_000,
                rebalance_timeout_ms=self.rebalance_timeout_ms,
                member_id=self.member_id,
                group_instance_id=self.instance_id,
                protocol_type="consumer",
                protocols=[
                    JoinGroupRequest.JoinGroupRequestProtocol(name=name, metadata=data)
                    for name, data in self.protocols.items()
                ],
            ),
            self.version,
        )
        return self._note(response)

    def join(self):
        """Join as a client does: request a member id first if it is required."""
        response = self.send_join()
        if response is not None and response.error_code == (
            error_codes.MEMBER_ID_REQUIRED
        ):
            response = self.send_join()
        return response

    def take_join(self):
        """Return the response to an earlier JoinGroup, or None."""
        return self._note(self.client.take_response())

    def sync(self, assignments=None):
        """Send SyncGroup; return the response, or None if the coordinator waits."""
        return self.client.request(
            SyncGroupRequest(
                group_id=GROUP,
                generation_id=self.generation,
                member_id=self.member_id,
                group_instance_id=self.instance_id,
                protocol_type="consumer",
                protocol_name=self.protocol_name,
                assignments=[
                    SyncGroupRequest.SyncGroupRequestAssignment(
                        member_id=member_id, assignment=data
                    )
                    for member_id, data in (assignments or {}).items()
                ],
            )
        )

    def heartbeat(self):
        """Send Heartbeat; return its error code."""
        return self.client.request(
            HeartbeatRequest(
                group_id=GROUP,
                generation_id=self.generation,
                member_id=self.member_id,
                group_instance_id=self.instance_id,
            )
        ).error_code

    def leave(self):
        """Send LeaveGroup; return the error code of the member."""
        identity = LeaveGroupRequest.MemberIdentity(
            member_id=self.member_id, group_instance_id=self.instance_id
        )
        response = self.client.request(
            LeaveGroupRequest(group_id=GROUP, members=[identity])
        )
        return response.members[0].error_code

    def commit(self, topic, partition, offset):
        """Commit an offset; return its error code."""
        request = commit_request(
            offset_of(topic, partition, offset),
            member_id=self.member_id,
            generation=self.generation,
            group_instance_id=self.instance_id,
        )
        response = self.client.request(request, 9)
        return response.topics[0].partitions[0].error_code

    def _note(self, response):
        if response is not None:
            self.member_id = response.member_id or self.member_id
            if response.error_code == 0:
                self.generation = response.generation_id
                self.protocol_name = response.protocol_name
        return response


def form_stable_group(machine, count=2, **options):
    """Return members of a stable group. The first is the leader."""
    members = []
    for _ in range(count):
        member = ClassicMember(machine, **options)
        response = member.join()
        for other in members:
            assert other.heartbeat() == error_codes.REBALANCE_IN_PROGRESS
            other.send_join()
            other.take_join()
        if response is None:
            member.take_join()
        members.append(member)
        complete_sync(members)
    return members


def complete_sync(members):
    """Sync all members. The leader assigns each member its own number."""
    assignments = {
        member.member_id: str(number).encode() for number, member in enumerate(members)
    }
    leader, *others = members
    for member in others:
        assert member.sync() is None
    response = leader.sync(assignments)
    assert response.error_code == 0
    assert [m.client.take_response().assignment for m in others] == [
        str(number).encode() for number in range(1, len(members))
    ]


class ConsumerMember:
    """Member of a KIP-848 group. It acknowledges its assignment when it is told to."""

    def __init__(self, machine, member_id, *, instance_id=None, version=1):
        """Connect without joining."""
        self.client = MachineClient(machine)
        self.topics = machine.state.topics
        self.member_id = member_id
        self.instance_id = instance_id
        self.version = version
        self.epoch = 0
        self.assigned = set()

    def join(self, *names, pattern=None, assignor=None, rebalance_timeout_ms=60_000):
        """Send the first heartbeat; return its response."""
        self.epoch, self.assigned = 0, set()
        return self.send(
            rebalance_timeout_ms=rebalance_timeout_ms,
            subscribed_topic_names=list(names) if names else None,
            subscribed_topic_regex=pattern,
            server_assignor=assignor,
            topic_partitions=[],
        )

    def heartbeat(self, owned=None):
        """Send a heartbeat; return its response.

        * ``owned``: partitions to report. None reports the assignment.
        """
        owned = self.assigned if owned is None else owned
        return self.send(topic_partitions=self._list_partitions(owned))

    def beat(self):
        """Send a heartbeat without any values."""
        return self.send()

    def leave(self, epoch=-1):
        """Leave the group; return the response."""
        self.epoch = epoch
        return self.send()

    def send(self, **values):
        """Send a heartbeat with values, and note the assignment of its response."""
        response = self.client.request(
            ConsumerGroupHeartbeatRequest(
                group_id=GROUP,
                member_id=self.member_id,
                member_epoch=self.epoch,
                instance_id=self.instance_id,
                **values,
            ),
            self.version,
        )
        if response.error_code == 0:
            self.epoch = response.member_epoch
            self.member_id = response.member_id
            if response.assignment is not None:
                names = {topic.topic_id: name for name, topic in self.topics.items()}
                self.assigned = {
                    (names.get(entry.topic_id), index)
                    for entry in response.assignment.topic_partitions
                    for index in entry.partitions
                }
        return response

    def _list_partitions(self, owned):
        make = ConsumerGroupHeartbeatRequest.TopicPartitions
        return [
            make(
                topic_id=self.topics[name].topic_id,
                partitions=sorted(index for other, index in owned if other == name),
            )
            for name in sorted({name for name, _ in owned})
        ]
