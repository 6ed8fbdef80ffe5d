# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Topics of a script: created and ready before the first compared request."""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

from kwire import messages
from tools.interop.cluster.differential import Call, Script, choose_version

UNKNOWN_ID = UUID(int=5)
"""Topic id that no topic has."""


class TopicScript:
    """Base class of scripts with three topics of one, two and three partitions.

    Topic names contain the name of the script.
    """

    def __init__(self, source: random.Random, table: Any, name: str) -> None:
        self.source = source
        self.table = table
        self.name = name
        self.names = [f"{name}-{number}" for number in range(3)]
        self.topic_ids: dict[str, UUID] = {}

    def prepare(self) -> Script:
        """Create the topics, and wait for their leaders."""
        yield from self._create_topics()
        yield from self._learn_ids()
        yield from self._await_leaders()
        yield from self._use_first_producer_id()

    def _version(self, request: type) -> int:
        return choose_version(self.source, self.table, request)

    def _create_topics(self) -> Script:
        make = messages.CreateTopicsRequest
        version = self._version(make)
        yield Call(
            make(
                topics=[
                    make.CreatableTopic(
                        name=name, num_partitions=number + 1, replication_factor=1
                    )
                    for number, name in enumerate(self.names)
                ],
                timeout_ms=10_000,
            ),
            version,
            is_compared=False,
        )

    def _learn_ids(self) -> Script:
        make = messages.MetadataRequest
        versions = self.table.usable(make)
        version = max(versions)
        response = yield Call(
            make(
                topics=[make.MetadataRequestTopic(name=name) for name in self.names],
                allow_auto_topic_creation=False,
            ),
            version,
            is_repeated=True,
        )
        for topic in response.topics:
            self.topic_ids[topic.name] = topic.topic_id

    def _await_leaders(self) -> Script:
        """Wait until the broker has become the leader of all partitions."""
        make = messages.ListOffsetsRequest
        yield Call(
            make(
                replica_id=-1,
                topics=[
                    make.ListOffsetsTopic(
                        name=name,
                        partitions=[
                            make.ListOffsetsPartition(
                                partition_index=index, timestamp=-1
                            )
                            for index in range(number + 1)
                        ],
                    )
                    for number, name in enumerate(self.names)
                ],
            ),
            max(self.table.usable(make)),
            is_compared=False,
            is_repeated=True,
        )

    def _use_first_producer_id(self) -> Script:
        """Use producer id 0, which is also the default value in responses."""
        make = messages.InitProducerIdRequest
        if self.table.usable(make):
            yield Call(make(transactional_id=None), 0, is_compared=False)

    def _topic(self) -> str:
        """Choose a topic, which rarely does not exist."""
        if self.source.random() < 0.05:
            return "missing-" + self.names[0]
        return self.source.choice(self.names)

    def _partition(self) -> int:
        return self.source.choice((0, 0, 0, 1, 1, 2, 7, -1))

    def _topic_id(self, name: str) -> UUID:
        return self.topic_ids.get(name, UNKNOWN_ID)
