# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Random requests of one transactional producer.

See ``differential.py`` for what a script is. Some requests have a wrong producer epoch,
a wrong sequence number, or a partition that was not added.
"""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

from kwire import messages, records
from tools.interop.cluster.differential import Call, Script
from tools.interop.cluster.topic_script import TopicScript

STEPS = 50
_NO_ID = UUID(int=0)
_LAST_CLIENT_VERSION = 3
"""Newest version of AddPartitionsToTxn for clients. Later versions are for brokers."""


class TransactionScript(TopicScript):
    """Requests of a producer, its transactions, and a reader of committed records."""

    def __init__(self, source: random.Random, table: Any, name: str) -> None:
        super().__init__(source, table, name)
        self.producer_id = -1
        self.epoch = -1
        self.sequences: dict[str, int] = {}

    def run(self) -> Script:
        """Send requests of random kinds."""
        yield from self.prepare()
        for key_type, key in ((1, self.name), (0, f"{self.name}-group")):
            yield from self._find_coordinator(key_type, key)
        yield from self._init()
        kinds = [
            self._init,
            self._add_partitions,
            self._add_partitions,
            self._produce,
            self._produce,
            self._add_offsets,
            self._commit_offsets,
            self._end,
            self._end,
            self._fetch,
            self._describe,
            self._describe_producers,
        ]
        for _ in range(STEPS):
            yield from self.source.choice(kinds)()

    def _find_coordinator(self, key_type: int, key: str) -> Script:
        make = messages.FindCoordinatorRequest
        version = max(self.table.usable(make))
        keys = {"key": key} if version < 4 else {"coordinator_keys": [key]}
        yield Call(make(key_type=key_type, **keys), version, is_repeated=True)

    def _producer(self) -> dict[str, Any]:
        """Return the producer id and epoch of a request, rarely a wrong epoch."""
        shift = self.source.choice((0,) * 12 + (-1, 1))
        return {
            "producer_id": self.producer_id,
            "producer_epoch": max(self.epoch + shift, 0),
        }

    def _init(self) -> Script:
        make = messages.InitProducerIdRequest
        version = self._version(make)
        is_bump = version >= 3 and self.epoch >= 0 and self.source.random() < 0.5
        response = yield Call(
            make(
                transactional_id=self.name,
                transaction_timeout_ms=self.source.choice((60_000, 60_000, 0)),
                producer_id=self.producer_id if is_bump else -1,
                producer_epoch=self.epoch if is_bump else -1,
            ),
            version,
        )
        if response.error_code == 0:
            self._start_epoch(response.producer_id, response.producer_epoch)

    def _start_epoch(self, producer_id: int, epoch: int) -> None:
        if (producer_id, epoch) != (self.producer_id, self.epoch):
            self.sequences.clear()
        self.producer_id, self.epoch = producer_id, epoch

    def _add_partitions(self) -> Script:
        make = messages.AddPartitionsToTxnRequest
        usable = self.table.usable(make)
        version = self.source.choice(
            [number for number in usable if number <= _LAST_CLIENT_VERSION]
        )
        producer = self._producer()
        yield Call(
            make(
                v3_and_below_transactional_id=self.name,
                v3_and_below_producer_id=producer["producer_id"],
                v3_and_below_producer_epoch=producer["producer_epoch"],
                v3_and_below_topics=[
                    make.AddPartitionsToTxnTopic(
                        name=self._topic(), partitions=[self._partition()]
                    )
                ],
            ),
            version,
        )

    def _produce(self) -> Script:
        make = messages.ProduceRequest
        if self.producer_id < 0:
            return
        version = self.source.choice(
            [number for number in self.table.usable(make) if number >= 3]
        )
        name = self.source.choice(self.names)
        sequence = self.sequences.get(name, 0)
        producer = self._producer()
        rows = [(b"key", b"%d" % number, 1_700_000_000_000) for number in range(2)]
        data = records.encode_batch(
            rows,
            producer_id=producer["producer_id"],
            producer_epoch=producer["producer_epoch"],
            base_sequence=sequence,
            is_transactional=True,
        )
        response = yield Call(
            make(
                transactional_id=self.name,
                acks=-1,
                timeout_ms=10_000,
                topic_data=[
                    make.TopicProduceData(
                        name=name if version < 13 else "",
                        topic_id=_NO_ID if version < 13 else self._topic_id(name),
                        partition_data=[
                            make.PartitionProduceData(index=0, records=data)
                        ],
                    )
                ],
            ),
            version,
        )
        (topic,) = response.responses
        (part,) = topic.partition_responses
        if part.error_code == 0:
            self.sequences[name] = sequence + len(rows)

    def _add_offsets(self) -> Script:
        make = messages.AddOffsetsToTxnRequest
        yield Call(
            make(
                transactional_id=self.name,
                group_id=f"{self.name}-group",
                **self._producer(),
            ),
            self._version(make),
        )

    def _commit_offsets(self) -> Script:
        make = messages.TxnOffsetCommitRequest
        yield Call(
            make(
                transactional_id=self.name,
                group_id=f"{self.name}-group",
                topics=[
                    make.TxnOffsetCommitRequestTopic(
                        name=self._topic(),
                        partitions=[
                            make.TxnOffsetCommitRequestPartition(
                                partition_index=self._partition(),
                                committed_offset=self.source.randrange(100),
                                committed_metadata="",
                            )
                        ],
                    )
                ],
                **self._producer(),
            ),
            self._version(make),
        )

    def _end(self) -> Script:
        make = messages.EndTxnRequest
        version = self._version(make)
        response = yield Call(
            make(
                transactional_id=self.name,
                committed=self.source.random() < 0.5,
                **self._producer(),
            ),
            version,
        )
        if response.error_code == 0 and version >= 5:
            self._start_epoch(response.producer_id, response.producer_epoch)
        # Wait until the markers are written, so that both logs are equal.
        yield from self._describe()

    def _fetch(self) -> Script:
        """Read committed records, so that aborted transactions are compared."""
        make = messages.FetchRequest
        version = self.source.choice(
            [number for number in self.table.usable(make) if number >= 4]
        )
        name = self.source.choice(self.names)
        yield Call(
            make(
                max_wait_ms=50,
                min_bytes=0,
                max_bytes=1 << 20,
                isolation_level=1,
                session_epoch=-1,
                topics=[
                    make.FetchTopic(
                        topic=name if version < 13 else "",
                        topic_id=_NO_ID if version < 13 else self._topic_id(name),
                        partitions=[make.FetchPartition(partition_max_bytes=1 << 20)],
                    )
                ],
            ),
            version,
            is_compared=False,
        )

    def _describe(self) -> Script:
        make = messages.DescribeTransactionsRequest
        if self.table.usable(make):
            yield Call(make(transactional_ids=[self.name]), self._version(make))

    def _describe_producers(self) -> Script:
        make = messages.DescribeProducersRequest
        if self.table.usable(make):
            topics = [make.TopicRequest(name=self._topic(), partition_indexes=[0])]
            yield Call(make(topics=topics), self._version(make))


def make_transaction_script(source: random.Random, table: Any, name: str) -> Script:
    """Return a script for transactions."""
    return TransactionScript(source, table, name).run()
