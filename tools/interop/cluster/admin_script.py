# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Random requests that administer topics and configurations.

See ``differential.py`` for what a script is.
"""

from __future__ import annotations

import random
import time
from typing import Any
from uuid import UUID

from kwire import messages
from tools.interop.cluster.differential import Call, Script
from tools.interop.cluster.topic_script import UNKNOWN_ID, TopicScript

STEPS = 40
_NO_ID = UUID(int=0)
_TOPIC, _BROKER = 2, 4
_PROPAGATION_S = 0.1
"""Time until a broker has received a change from the controller."""

_PROPERTIES = {
    "retention.ms": ("5000", "-1", "-2", " 7 ", "x", "", "9223372036854775808"),
    "cleanup.policy": ("compact", "delete", "compact,delete", "never", " compact "),
    "max.message.bytes": ("100", "0", "-1", "2147483648"),
    "min.cleanable.dirty.ratio": ("0.25", "1", "1.5", "x"),
    "preallocate": ("true", "TRUE", "yes"),
    "compression.type": ("gzip", "zstd", "none"),
    "segment.ms": ("1000", "0"),
    "min.insync.replicas": ("2", "0"),
    "message.timestamp.type": ("LogAppendTime", "logappendtime"),
    "min.compaction.lag.ms": ("5",),
    "max.compaction.lag.ms": ("3", "10", "0"),
    "unknown.property": ("1",),
}
"""Valid and invalid values of topic properties."""

_BROKER_KEYS = [
    "auto.create.topics.enable",
    "log.retention.hours",
    "log.retention.ms",
    "log.segment.bytes",
    "message.max.bytes",
    "min.insync.replicas",
    "num.io.threads",
    "ssl.key.password",
    "unclean.leader.election.enable",
]


class AdminScript(TopicScript):
    """Random requests. Deleted topics are not described again."""

    def __init__(self, source: random.Random, table: Any, name: str) -> None:
        super().__init__(source, table, name)
        self.created = 0
        self.is_kraft = bool(table.usable(messages.UnregisterBrokerRequest))

    def run(self) -> Script:
        """Send requests of random kinds."""
        yield from self.prepare()
        kinds = [
            self._create,
            self._create,
            self._delete,
            self._add_partitions,
            self._alter,
            self._alter_incrementally,
            self._alter_incrementally,
            self._describe,
            self._describe,
            self._describe_log_dirs,
            self._describe_acls,
        ]
        for _ in range(STEPS):
            yield from self.source.choice(kinds)()

    def _configs(self) -> list[tuple[str, str]]:
        count = self.source.choice((0, 1, 1, 2))
        names = self.source.sample(sorted(_PROPERTIES), count)
        return [(name, self.source.choice(_PROPERTIES[name])) for name in names]

    def _create(self) -> Script:
        make = messages.CreateTopicsRequest
        version = self._version(make)
        source = self.source
        self.created += 1
        name = source.choice(
            (f"{self.name}.new-{self.created}", self.names[0], "a b", ".", "x" * 250)
        )
        unusual: list[list[tuple[int, list[int]]]] = [
            [(0, [1])],
            [(1, [1])],
            [(0, [])],
            [(0, [9])],
            [(0, [1, 1])],
        ]
        assignments = source.choice([[]] * 6 + unusual)
        if not self.is_kraft:
            # With ZooKeeper, assignments to unknown brokers are valid, but time out.
            assignments = [entry for entry in assignments if 9 not in entry[1]]
        counts = (1, 2, 2, 0, -1, -2) if version >= 4 else (1, 2, 0)
        topic = make.CreatableTopic(
            name=name,
            num_partitions=-1 if assignments else source.choice(counts),
            replication_factor=-1 if assignments else source.choice((1, 1, 1, 0, 2)),
            assignments=[
                make.CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
                for index, ids in assignments
            ],
            configs=[
                make.CreatableTopicConfig(name=key, value=value)
                for key, value in self._configs()
            ],
        )
        is_dry_run = version >= 1 and source.random() < 0.2
        topics = [topic] * source.choice((1, 1, 1, 2))
        request = make(topics=topics, timeout_ms=10_000, validate_only=is_dry_run)
        response = yield Call(request, version)
        if not is_dry_run and not response.topics[0].error_code:
            self.names.append(name)
            yield from self._learn_ids()

    def _delete(self) -> Script:
        make = messages.DeleteTopicsRequest
        version = self._version(make)
        name = f"missing-{self.name}"
        if len(self.names) > 3 and self.source.random() < 0.7:
            name = self.names.pop()
        topic_id = self.topic_ids.get(name, UNKNOWN_ID)
        if version < 6:
            request = make(topic_names=[name], timeout_ms=10_000)
        else:
            choices = [(name, _NO_ID), (None, topic_id), (None, _NO_ID)]
            entry = self.source.choice(choices)
            topic = make.DeleteTopicState(name=entry[0], topic_id=entry[1])
            request = make(topics=[topic], timeout_ms=10_000)
        yield Call(request, version)
        time.sleep(_PROPAGATION_S)

    def _add_partitions(self) -> Script:
        make = messages.CreatePartitionsRequest
        source = self.source
        ids = source.choice((None, None, [[1]], [[9]], [[1], [1]], []))
        topic = make.CreatePartitionsTopic(
            name=source.choice((*self.names, "missing")),
            count=source.choice((1, 2, 3, 4, 0, -1)),
            assignments=None
            if ids is None
            else [make.CreatePartitionsAssignment(broker_ids=nodes) for nodes in ids],
        )
        request = make(
            topics=[topic], timeout_ms=10_000, validate_only=source.random() < 0.3
        )
        yield Call(request, self._version(make))
        time.sleep(_PROPAGATION_S)

    def _alter(self) -> Script:
        make = messages.AlterConfigsRequest
        resource = make.AlterConfigsResource(
            resource_type=_TOPIC,
            resource_name=self._topic(),
            configs=[
                make.AlterableConfig(name=key, value=value)
                for key, value in self._configs()
            ],
        )
        yield Call(make(resources=[resource]), self._version(make))
        time.sleep(_PROPAGATION_S)

    def _alter_incrementally(self) -> Script:
        make = messages.IncrementalAlterConfigsRequest
        if not self.table.usable(make):
            return
        source = self.source
        configs = []
        for key, value in self._configs():
            operation = source.choice((0, 0, 0, 1, 2, 3))
            configs.append(
                make.AlterableConfig(
                    name=key,
                    config_operation=operation,
                    value=None if operation == 1 or source.random() < 0.05 else value,
                )
            )
        configs *= source.choice((1, 1, 1, 1, 2))
        resource = make.AlterConfigsResource(
            resource_type=_TOPIC, resource_name=self._topic(), configs=configs
        )
        request = make(resources=[resource], validate_only=source.random() < 0.2)
        yield Call(request, self._version(make))
        time.sleep(_PROPAGATION_S)

    def _describe(self) -> Script:
        make = messages.DescribeConfigsRequest
        version = self._version(make)
        kind, name, keys = self.source.choice(
            (
                (_TOPIC, self._topic(), None),
                (_TOPIC, self._topic(), ["retention.ms", "segment.bytes", "nope"]),
                (_TOPIC, "a b", None),
                (_BROKER, "1", _BROKER_KEYS),
                (_BROKER, "", None),
                (_BROKER, "77", None),
                (_BROKER, "x", None),
            )
        )
        resource = make.DescribeConfigsResource(
            resource_type=kind, resource_name=name, configuration_keys=keys
        )
        has_synonyms = version >= 1 and self.source.random() < 0.5
        yield Call(make(resources=[resource], include_synonyms=has_synonyms), version)

    def _describe_log_dirs(self) -> Script:
        make = messages.DescribeLogDirsRequest
        if not self.is_kraft:
            # ZooKeeper brokers list the topics of other scripts, too.
            return
        topic = make.DescribableLogDirTopic(topic=self.names[0], partitions=[0, 9])
        topics = self.source.choice(([topic], []))
        yield Call(make(topics=topics), self._version(make))

    def _describe_acls(self) -> Script:
        make = messages.DescribeAclsRequest
        version = self._version(make)
        options: dict[str, Any] = {"pattern_type_filter": 1} if version else {}
        request = make(
            resource_type_filter=1, operation=1, permission_type=1, **options
        )
        yield Call(request, version)


def make_admin_script(source: random.Random, table: Any, name: str) -> Script:
    """Return a script of random requests for topics and configurations."""
    return AdminScript(source, table, name).run()
