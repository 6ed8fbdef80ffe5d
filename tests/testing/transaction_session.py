# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Requests of one transactional producer to a test cluster without sockets."""

from __future__ import annotations

from kwire.messages import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    InitProducerIdRequest,
    ProduceRequest,
    TxnOffsetCommitRequest,
)
from kwire.records import encode_batch
from kwire.testing.state.transactions import ProducerIdentity
from tests.testing.machine_client import MachineClient, make_machine

ABORT, COMMIT = False, True


def make_session(release, brokers=1):
    """Return a session in a new cluster, which has the topic "t"."""
    machine = make_machine(brokers=brokers, topics={"t": 2}, release=release)
    return TransactionSession(machine, "transactional-id")


class TransactionSession:
    """Producer that sends each request itself.

    * ``versions``: versions of requests by request class. The default is the highest
      version of a client.
    * ``producer``: producer id and epoch of the last successful response.
    """

    def __init__(self, machine, transactional_id):
        """Connect to the coordinator."""
        self.machine = machine
        self.state = machine.state
        self.node_id = machine.state.choose_coordinator(transactional_id)
        self.client = MachineClient(machine, self.node_id)
        self.transactional_id = transactional_id
        self.versions = {}
        self.producer = ProducerIdentity(-1, -1)
        self.sequences = {}

    @property
    def transaction(self):
        """State of the transactional id in the coordinator."""
        return self.state.transactions.find(self.transactional_id)

    def find_name(self, node_id, prefix):
        """Return a key of which a broker is the coordinator."""
        names = (f"{prefix}{number}" for number in range(1000))
        return next(n for n in names if self.state.choose_coordinator(n) == node_id)

    def log(self, topic, partition):
        """Return the log of a partition."""
        return self.state.topics[topic].partitions[partition].log

    def request(self, message, version=None):
        """Send a request to the coordinator; return its response."""
        version = self.versions.get(type(message), version)
        response = self.client.request(message, version)
        assert response is not None
        return response

    def init(self, producer=None, timeout_ms=60_000):
        """Send InitProducerId, as a new producer or as one that continues."""
        fields = {}
        if producer is not None:
            fields = {
                "producer_id": producer.producer_id,
                "producer_epoch": producer.epoch,
            }
        response = self.request(
            InitProducerIdRequest(
                transactional_id=self.transactional_id,
                transaction_timeout_ms=timeout_ms,
                **fields,
            )
        )
        self._note_producer(response)
        return response

    def add(self, topic, partition, producer=None):
        """Add a partition to the transaction; return the error code."""
        producer_id, epoch = producer or self.producer
        topics = [
            AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
                name=topic, partitions=[partition]
            )
        ]
        version = self.versions.get(
            AddPartitionsToTxnRequest,
            min(3, max(self.machine.table.usable(AddPartitionsToTxnRequest))),
        )
        if version < 4:
            message = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.transactional_id,
                v3_and_below_producer_id=producer_id,
                v3_and_below_producer_epoch=epoch,
                v3_and_below_topics=topics,
            )
            response = self.request(message, version)
            (result,) = response.results_by_topic_v3_and_below
        else:
            transaction = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction(
                transactional_id=self.transactional_id,
                producer_id=producer_id,
                producer_epoch=epoch,
                topics=topics,
            )
            message = AddPartitionsToTxnRequest(transactions=[transaction])
            response = self.request(message, version)
            ((result,),) = [r.topic_results for r in response.results_by_transaction]
        assert result.name == topic
        (part,) = result.results_by_partition
        assert part.partition_index == partition
        return part.partition_error_code

    def add_offsets(self, group="g"):
        """Add the offsets of a group to the transaction; return the error code."""
        return self.request(
            AddOffsetsToTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=self.producer.producer_id,
                producer_epoch=self.producer.epoch,
                group_id=group,
            )
        ).error_code

    def commit_offset(self, topic, partition, offset, *, producer=None, **fields):
        """Commit an offset with the transaction; return the error code.

        ``fields`` are fields of the request, or "metadata" of the partition.
        """
        producer_id, epoch = producer or self.producer
        make = TxnOffsetCommitRequest
        part = make.TxnOffsetCommitRequestPartition(
            partition_index=partition,
            committed_offset=offset,
            committed_metadata=fields.pop("metadata", ""),
        )
        known_topic = self.state.topics.get(topic)
        entry = make.TxnOffsetCommitRequestTopic(
            name=topic,
            partitions=[part],
            **({"topic_id": known_topic.topic_id} if known_topic else {}),
        )
        fields.setdefault("group_id", "g")
        response = self.request(
            make(
                transactional_id=self.transactional_id,
                producer_id=producer_id,
                producer_epoch=epoch,
                topics=[entry],
                **fields,
            )
        )
        ((result,),) = [topic.partitions for topic in response.topics]
        assert result.partition_index == partition
        return result.error_code

    def produce(self, topic, partition, *, sequence=None, version=None, **options):
        """Append a record in the transaction; return the error code.

        ``options`` are arguments of ``encode_batch``. "transactional_id" and "producer"
        replace those of the session.
        """
        producer_id, epoch = options.pop("producer", self.producer)
        name = options.pop("transactional_id", self.transactional_id)
        key = (topic, partition, producer_id, epoch)
        first = self.sequences.get(key, 0) if sequence is None else sequence
        batch = encode_batch(
            [(None, b"value", 0)],
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=first,
            is_transactional=options.pop("is_transactional", True),
            **options,
        )
        make = ProduceRequest
        response = self.request(
            make(
                transactional_id=name,
                acks=-1,
                timeout_ms=1000,
                topic_data=[
                    make.TopicProduceData(
                        name=topic,
                        topic_id=self.state.topics[topic].topic_id,
                        partition_data=[
                            make.PartitionProduceData(index=partition, records=batch)
                        ],
                    )
                ],
            ),
            version,
        )
        ((result,),) = [topic.partition_responses for topic in response.responses]
        if not result.error_code:
            self.sequences[key] = first + 1
        return result.error_code

    def end(self, is_commit, producer=None):
        """Send EndTxn; return the response."""
        producer_id, epoch = producer or self.producer
        response = self.request(
            EndTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=producer_id,
                producer_epoch=epoch,
                committed=is_commit,
            )
        )
        if producer is None and response.producer_id >= 0:
            self._note_producer(response)
        return response

    def _note_producer(self, response):
        if not response.error_code:
            self.producer = ProducerIdentity(
                response.producer_id, response.producer_epoch
            )
