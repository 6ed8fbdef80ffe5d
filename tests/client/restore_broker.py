# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RestoreBroker``: a broker that takes records, late, twice or never.

It keeps batches as they came, with the numbers of their producers, and judges these as
Kafka does (``produce_answers.py``). A request may reach it long after the client that
sent it has been killed.
"""

import threading

import kwire
from kwire.connection.negotiation import ApiVersionTable
from kwire.messages import CreateTopicsRequest, CreateTopicsResponse
from kwire.schema.error_codes import TOPIC_ALREADY_EXISTS
from tests.client.log_broker import LogBroker
from tests.client.machines.partition_log import PartitionLog, Produced, StoredBatch


class KeptLog(PartitionLog):
    """A log that has batches as producers sent them."""

    def take(self, batch):
        """Write a batch; return the offset of its first record."""
        base, count = self.end, len(batch.records)
        data = kwire.records.encode_batch(
            [(r.key, r.value, r.timestamp, r.headers) for r in batch.records],
            base_offset=base,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            partition_leader_epoch=self.epoch,
        )
        last = base + count - 1
        values = {base + n: row.value for n, row in enumerate(batch.records)}
        self.batches.append(StoredBatch(base, last, self.epoch, data, values))
        self.end = last + 1
        if batch.producer_id >= 0:
            first = batch.base_sequence
            sequences = first, (first + count - 1) & 0x7FFFFFFF
            epoch = batch.producer_epoch
            self.produced.append(Produced(batch.producer_id, epoch, *sequences, base))
        return base

    def rows(self):
        """Return what a reader gets: offset, timestamp, key, value, headers."""
        data = b"".join(each.data for each in self.batches)
        return [
            (each.offset, each.timestamp, each.key, each.value, tuple(each.headers))
            for batch in kwire.records.decode_batches(data)
            for each in batch.records
        ]


class RestoreBroker(LogBroker):
    """A broker whose topics are empty at first, and which creates others."""

    def __init__(self, topics=(), *, random=None):
        """Listen; ``topics`` is {name: partitions}. ``random`` decides on faults."""
        super().__init__({})
        ranges = {**dict(self.table.ranges()), CreateTopicsRequest.api_key: (2, 5)}
        self.table = ApiVersionTable.from_ranges(ranges)
        self.random = random
        self.late = []
        """Requests that were sent and have not arrived."""
        self.is_killing = False
        """Whether the client is to be killed, as it waits for an answer."""
        self.append_time = -1
        """With which time (ms) records are stamped, if they are."""
        self.created = []
        self.refusals = []
        self.words = "in its own words"
        """Error codes for the next topics that are to be created."""
        self._lock = threading.Lock()
        for name, partitions in dict(topics).items():
            self.add_topic(name, partitions)

    def add_topic(self, name, partitions):
        """Create a topic."""
        topic = self.cluster_truth.add_topic(name, partitions)
        topic.logs = [
            KeptLog(kwire, each.name, self.cluster_truth.random) for each in topic.logs
        ]
        self.node.learn()

    def put(self, topic, partition, rows, **options):
        """Write records as another producer would."""
        log = self.log(topic, partition)
        (batch,) = kwire.records.decode_batches(
            kwire.records.encode_batch(rows, **options)
        )
        log.take(batch)

    def deliver(self, count):
        """Let requests that are late arrive, in any order."""
        for _ in range(min(count, len(self.late))):
            event = self.late.pop(self.random.randrange(len(self.late)))
            self.node.begin_produce(event.request, event.version)

    def answer(self, event):
        """Answer, or close the connection instead."""
        with self._lock:
            name = type(event.request).__name__
            if self.random is not None:
                self._disturb()
            if name == "CreateTopicsRequest":
                return self._create(event.request)
            if name != "ProduceRequest":
                return super().answer(event)
            if self.random is not None and self.random.random() < 0.3:
                self._lose(event)
            done = self.node.begin_produce(event.request, event.version)
            return self._stamp(self.node.finish_produce(done, event.version))

    def _stamp(self, response):
        if self.append_time == -1:
            return response

        def stamp(part):
            return part.replace(log_append_time_ms=self.append_time)

        return response.replace(
            responses=[
                topic.replace(
                    partition_responses=list(map(stamp, topic.partition_responses))
                )
                for topic in response.responses
            ]
        )

    def _disturb(self):
        random = self.random
        if self.late and random.random() < 0.3:
            self.deliver(random.randrange(1, 3))
        for topic in self.cluster_truth.topics.values():
            for log in topic.logs:
                if random.random() < 0.1:
                    # Replicas lag: consumers see less than the leader has.
                    log.unseen = random.choice([0, 0, 0, log.end // 3])
                # One that loses all that it knows of a producer takes any number.
                if len(log.produced) > 3 and random.random() < 0.02:
                    log.new_leader(cut=random.randrange(3))
        self.node.learn()

    def _lose(self, event):
        """Have records arrive now or later or never, and answer nothing."""
        fate = self.random.choice(["now", "late", "late", "never"])
        if fate == "now":
            self.node.begin_produce(event.request, event.version)
        elif fate == "late":
            self.late.append(event)
        self.is_killing = self.random.random() < 0.7
        raise ConnectionError("as if the client or the connection had died")

    def _create(self, request):
        made = []
        for topic in request.topics:
            self.created.append(topic)
            code = (
                TOPIC_ALREADY_EXISTS if topic.name in self.cluster_truth.topics else 0
            )
            if self.refusals:
                code = self.refusals.pop(0)
            if code is None:
                raise ConnectionError("as if the broker had died")
            if not code:
                self.add_topic(topic.name, topic.num_partitions)
            made.append(
                CreateTopicsResponse.CreatableTopicResult(
                    name=topic.name,
                    error_code=code,
                    error_message=self.words if code else None,
                )
            )
        return CreateTopicsResponse(topics=made)
