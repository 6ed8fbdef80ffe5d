# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Random requests for topics and logs: Metadata, Produce, Fetch, offsets.

See ``differential.py`` for what a script is.
"""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

from kwire import messages, records
from tools.interop.cluster.differential import Call, Script
from tools.interop.cluster.topic_script import TopicScript

STEPS = 60
_NO_ID = UUID(int=0)
_COMPRESSIONS = ("none", "gzip", "snappy", "lz4")
_NEWEST_MAGIC = {0: 0, 1: 0, 2: 1}
"""Record format of the first Produce versions. Later versions use magic 2."""


class LogScript(TopicScript):
    """Random requests for three topics."""

    def __init__(self, source: random.Random, table: Any, name: str) -> None:
        super().__init__(source, table, name)
        self.sequences: dict[tuple[int, str, int], int] = {}
        self.producer_id = -1

    def run(self) -> Script:
        """Send requests of random kinds."""
        yield from self.prepare()
        yield from self._start_producer()
        kinds = [
            self._produce,
            self._produce,
            self._produce_idempotent,
            self._fetch,
            self._fetch,
            self._list_offsets,
            self._epoch_end,
            self._metadata,
            self._delete_records,
        ]
        for _ in range(STEPS):
            yield from self.source.choice(kinds)()

    def _start_producer(self) -> Script:
        make = messages.InitProducerIdRequest
        response = yield Call(make(transactional_id=None), self._version(make))
        self.producer_id = response.producer_id

    def _records(self) -> list[tuple[bytes | None, bytes | None, int]]:
        source = self.source
        return [
            (
                source.choice((None, b"key-%d" % number)),
                source.choice((None, source.randbytes(source.choice((0, 5, 200))))),
                1_700_000_000_000 + source.randrange(10_000),
            )
            for number in range(source.randint(1, 5))
        ]

    def _produce(self) -> Script:
        make = messages.ProduceRequest
        version = self._version(make)
        magic = _NEWEST_MAGIC.get(version, 2)
        data = bytearray(
            records.encode_batch(
                self._records(),
                magic=magic,
                compression=self.source.choice(_COMPRESSIONS),
            )
        )
        if self.source.random() < 0.05:
            data[-1] ^= 0x55
        yield Call(self._produce_request(version, bytes(data)), version)

    def _produce_idempotent(self) -> Script:
        """Send the next batch of a producer, or repeat or skip sequence numbers."""
        make = messages.ProduceRequest
        version = self._version(make)
        if version < 3:
            return
        topic = self.source.choice(self.names)
        rows = self._records()
        key = self.producer_id, topic, 0
        sequence = self.sequences.get(key, 0)
        shift = self.source.choice((0, 0, 0, 0, -len(rows), 3))
        data = records.encode_batch(
            rows,
            producer_id=self.producer_id,
            producer_epoch=0,
            base_sequence=max(sequence + shift, 0),
        )
        response = yield Call(
            self._produce_request(version, data, topic=topic, partition=0),
            version,
        )
        (answer,) = response.responses
        (part,) = answer.partition_responses
        if not part.error_code and sequence + shift >= sequence:
            self.sequences[key] = sequence + shift + len(rows)

    def _produce_request(
        self,
        version: int,
        data: bytes,
        topic: str | None = None,
        partition: int | None = None,
    ) -> messages.ProduceRequest:
        make = messages.ProduceRequest
        name = self._topic() if topic is None else topic
        index = self._partition() if partition is None else partition
        return make(
            acks=self.source.choice((-1, 1)),
            timeout_ms=10_000,
            topic_data=[
                make.TopicProduceData(
                    name=name if version < 13 else "",
                    topic_id=_NO_ID if version < 13 else self._topic_id(name),
                    partition_data=[
                        make.PartitionProduceData(index=index, records=data)
                    ],
                )
            ],
        )

    def _fetch(self) -> Script:
        """Fetch without a session, with small and large limits."""
        make = messages.FetchRequest
        version = self._version(make)
        source = self.source
        name = self._topic()
        epoch = source.choice((-1, -1, 0, 1)) if version >= 9 else -1
        yield Call(
            make(
                max_wait_ms=50,
                min_bytes=source.choice((0, 1)),
                max_bytes=source.choice((1, 300, 1 << 20)) if version >= 3 else 1 << 20,
                isolation_level=source.choice((0, 1)) if version >= 4 else 0,
                session_epoch=-1,
                topics=[
                    make.FetchTopic(
                        topic=name if version < 13 else "",
                        topic_id=_NO_ID if version < 13 else self._topic_id(name),
                        partitions=[
                            make.FetchPartition(
                                partition=self._partition(),
                                current_leader_epoch=epoch,
                                fetch_offset=source.choice((0, 0, 1, 3, 10, 1000)),
                                partition_max_bytes=source.choice((1, 300, 1 << 20)),
                            )
                        ],
                    )
                ],
            ),
            version,
        )

    def _list_offsets(self) -> Script:
        make = messages.ListOffsetsRequest
        version = self._version(make)
        source = self.source
        timestamps = (-1, -2, -3, -4, 1_700_000_000_000 + source.randrange(12_000))
        yield Call(
            make(
                replica_id=-1,
                isolation_level=source.choice((0, 1)) if version >= 2 else 0,
                topics=[
                    make.ListOffsetsTopic(
                        name=self._topic(),
                        partitions=[
                            make.ListOffsetsPartition(
                                partition_index=self._partition(),
                                timestamp=source.choice(timestamps),
                                max_num_offsets=1,
                            )
                        ],
                    )
                ],
            ),
            version,
        )

    def _epoch_end(self) -> Script:
        make = messages.OffsetForLeaderEpochRequest
        version = self._version(make)
        yield Call(
            make(
                replica_id=-1,
                topics=[
                    make.OffsetForLeaderTopic(
                        topic=self._topic(),
                        partitions=[
                            make.OffsetForLeaderPartition(
                                partition=self._partition(),
                                leader_epoch=self.source.choice((-1, 0, 1, 5)),
                            )
                        ],
                    )
                ],
            ),
            version,
        )

    def _metadata(self) -> Script:
        make = messages.MetadataRequest
        version = self._version(make)
        names = [self._topic(), self.source.choice(("in valid", self.names[0]))]
        yield Call(
            make(
                topics=[make.MetadataRequestTopic(name=name) for name in set(names)],
                allow_auto_topic_creation=version < 4,
                include_topic_authorized_operations=version >= 8,
            ),
            version,
        )

    def _delete_records(self) -> Script:
        make = messages.DeleteRecordsRequest
        version = self._version(make)
        yield Call(
            make(
                topics=[
                    make.DeleteRecordsTopic(
                        name=self._topic(),
                        partitions=[
                            make.DeleteRecordsPartition(
                                partition_index=self._partition(),
                                offset=self.source.choice((-1, 0, 1, 2, 500)),
                            )
                        ],
                    )
                ],
                timeout_ms=10_000,
            ),
            version,
        )


def make_log_script(source: random.Random, table: Any, name: str) -> Script:
    """Return a script for topics and logs."""
    return LogScript(source, table, name).run()
