# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Random requests for groups: offsets, one classic member, one KIP-848 member.

See ``differential.py`` for what a script is.
"""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

from kwire import error_codes, messages
from tools.interop.cluster.differential import Call, Script
from tools.interop.cluster.topic_script import TopicScript

STEPS = 60
_NO_ID = UUID(int=0)


class GroupScript(TopicScript):
    """Requests for two groups. The member of a group joins and leaves repeatedly."""

    def __init__(self, source: random.Random, table: Any, name: str) -> None:
        super().__init__(source, table, name)
        self.groups = [f"{name}-classic", f"{name}-simple", f"{name}-consumer"]
        self.member_id = ""
        self.generation = -1
        self.consumer_epoch = 0

    def run(self) -> Script:
        """Send requests of random kinds."""
        yield from self.prepare()
        for group in self.groups:
            yield from self._find_coordinator(group)
        kinds = [
            self._commit,
            self._commit,
            self._fetch_offsets,
            self._fetch_offsets,
            self._delete_offsets,
            self._join,
            self._join,
            self._sync,
            self._heartbeat,
            self._leave,
            self._describe,
            self._delete_group,
        ]
        if self.table.usable(messages.ConsumerGroupHeartbeatRequest):
            kinds += [self._consumer_heartbeat] * 3 + [self._describe_consumers]
        for _ in range(STEPS):
            yield from self.source.choice(kinds)()

    def _find_coordinator(self, group: str) -> Script:
        make = messages.FindCoordinatorRequest
        version = self._version(make)
        keys = {"key": group} if version < 4 else {"coordinator_keys": [group]}
        yield Call(make(key_type=0, **keys), version, is_repeated=True)

    def _group(self) -> str:
        return self.source.choice(self.groups)

    def _member(self, group: str) -> tuple[str, int]:
        """Return member id and generation of a request, which can be wrong."""
        if self.source.random() < 0.1:
            return self.source.choice((("", -1), ("stranger", 3)))
        if group == self.groups[0]:
            shift = self.source.choice((0, 0, 0, 0, 1))
            return self.member_id, self.generation + shift
        if group == self.groups[2] and self.consumer_epoch > 0:
            return f"{self.name}-member", self.consumer_epoch
        return "", -1

    def _commit(self) -> Script:
        make = messages.OffsetCommitRequest
        version = self._version(make)
        group, name = self._group(), self._topic()
        member_id, generation = self._member(group) if version >= 1 else ("", -1)
        yield Call(
            make(
                group_id=group,
                member_id=member_id,
                generation_id_or_member_epoch=generation,
                topics=[
                    make.OffsetCommitRequestTopic(
                        name=name if version < 10 else "",
                        topic_id=_NO_ID if version < 10 else self._topic_id(name),
                        partitions=[
                            make.OffsetCommitRequestPartition(
                                partition_index=self._partition(),
                                committed_offset=self.source.randrange(100),
                                committed_metadata=self.source.choice(("", "text")),
                            )
                        ],
                    )
                ],
            ),
            version,
        )

    def _fetch_offsets(self) -> Script:
        make = messages.OffsetFetchRequest
        version = self._version(make)
        group = self._group()
        is_all = version >= 2 and self.source.random() < 0.3
        name, index = self._topic(), self._partition()
        if version < 8:
            topics = [
                make.OffsetFetchRequestTopic(name=name, partition_indexes=[index])
            ]
            yield Call(make(group_id=group, topics=None if is_all else topics), version)
            return
        entries = [
            make.OffsetFetchRequestTopics(
                name=name if version < 10 else "",
                topic_id=_NO_ID if version < 10 else self._topic_id(name),
                partition_indexes=[index],
            )
        ]
        yield Call(
            make(
                groups=[
                    make.OffsetFetchRequestGroup(
                        group_id=group, topics=None if is_all else entries
                    )
                ],
                require_stable=self.source.random() < 0.5,
            ),
            version,
        )

    def _delete_offsets(self) -> Script:
        make = messages.OffsetDeleteRequest
        if not self.table.usable(make):
            return
        yield Call(
            make(
                group_id=self._group(),
                topics=[
                    make.OffsetDeleteRequestTopic(
                        name=self._topic(),
                        partitions=[
                            make.OffsetDeleteRequestPartition(
                                partition_index=self._partition()
                            )
                        ],
                    )
                ],
            ),
            self._version(make),
        )

    def _join(self) -> Script:
        """Join the classic group with the only member."""
        make = messages.JoinGroupRequest
        version = self._version(make)
        protocols = ("range", "roundrobin")
        response = yield Call(
            make(
                group_id=self.groups[0],
                session_timeout_ms=self.source.choice((30_000, 30_000, 1)),
                rebalance_timeout_ms=30_000,
                member_id=self.member_id,
                protocol_type=self.source.choice(("consumer", "consumer", "connect")),
                protocols=[
                    make.JoinGroupRequestProtocol(name=name, metadata=b"subscription")
                    for name in protocols[: self.source.randint(1, 2)]
                ],
            ),
            version,
        )
        if response.error_code in (0, error_codes.MEMBER_ID_REQUIRED):
            self.member_id = response.member_id
        if response.error_code == 0:
            self.generation = response.generation_id
        if response.error_code == error_codes.UNKNOWN_MEMBER_ID:
            self.member_id = ""

    def _sync(self) -> Script:
        make = messages.SyncGroupRequest
        version = self._version(make)
        member_id, generation = self._member(self.groups[0])
        is_named = version >= 5
        yield Call(
            make(
                group_id=self.groups[0],
                member_id=member_id,
                generation_id=generation,
                protocol_type="consumer" if is_named else None,
                protocol_name="range" if is_named else None,
                assignments=[
                    make.SyncGroupRequestAssignment(
                        member_id=member_id, assignment=b"assignment"
                    )
                ],
            ),
            version,
        )

    def _heartbeat(self) -> Script:
        make = messages.HeartbeatRequest
        member_id, generation = self._member(self.groups[0])
        yield Call(
            make(group_id=self._group(), member_id=member_id, generation_id=generation),
            self._version(make),
        )

    def _leave(self) -> Script:
        make = messages.LeaveGroupRequest
        version = self._version(make)
        member_id, _ = self._member(self.groups[0])
        fields: dict[str, Any] = {"member_id": member_id}
        if version >= 3:
            fields = {"members": [make.MemberIdentity(member_id=member_id)]}
        yield Call(make(group_id=self.groups[0], **fields), version)

    def _describe(self) -> Script:
        make = messages.DescribeGroupsRequest
        yield Call(make(groups=[self._group()]), self._version(make))

    def _delete_group(self) -> Script:
        make = messages.DeleteGroupsRequest
        yield Call(make(groups_names=[self._group()]), self._version(make))

    def _consumer_heartbeat(self) -> Script:
        """Send the next heartbeat of the KIP-848 member."""
        make = messages.ConsumerGroupHeartbeatRequest
        version = self._version(make)
        epoch = self.source.choice(
            (self.consumer_epoch, self.consumer_epoch, self.consumer_epoch, 0, 9, -1)
        )
        is_join = epoch == 0
        response = yield Call(
            make(
                group_id=self.groups[2],
                member_id=f"{self.name}-member",
                member_epoch=epoch,
                rebalance_timeout_ms=30_000 if is_join else -1,
                subscribed_topic_names=self.names[:2] if is_join else None,
                server_assignor=self.source.choice((None, "range", "missing"))
                if is_join
                else None,
                topic_partitions=[] if is_join else None,
            ),
            version,
        )
        if response.error_code == 0:
            self.consumer_epoch = max(response.member_epoch, 0)

    def _describe_consumers(self) -> Script:
        make = messages.ConsumerGroupDescribeRequest
        yield Call(make(group_ids=[self._group()]), self._version(make))


def make_group_script(source: random.Random, table: Any, name: str) -> Script:
    """Return a script for groups."""
    return GroupScript(source, table, name).run()
