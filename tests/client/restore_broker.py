# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RestoreBroker``: a broker that appends records with delays, twice or never.

It stores batches with their producers' sequence numbers, and checks these numbers in
the same way as Kafka (``produce_answers.py``). A request may arrive long after its
client was killed.
"""

import threading

import kwire
from kwire.connection.negotiation import ApiVersionTable
from kwire.messages import CreateTopicsRequest, CreateTopicsResponse
from kwire.schema.error_codes import TOPIC_ALREADY_EXISTS
from tests.client.log_broker import LogBroker
from tests.client.machines.partition_log import PartitionLog, Produced, StoredBatch


class KeptLog(PartitionLog):
    """Log that stores batches unchanged."""

    def take(self, batch):
        """Append a batch, and return its first record's offset."""
        base, count = self.end, len(batch.records)
        data = kwire.records.encode_batch(
            [
                (record.key, record.value, record.timestamp, record.headers)
                for record in batch.records
            ],
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
        """Return the rows that a reader gets.

        A row is (offset, timestamp, key, value, headers).
        """
        data = b"".join(entry.data for entry in self.batches)
        return [
            (
                entry.offset,
                entry.timestamp,
                entry.key,
                entry.value,
                tuple(entry.headers),
            )
            for batch in kwire.records.decode_batches(data)
            for entry in batch.records
        ]


class RestoreBroker(LogBroker):
    """Broker with empty topics. Clients can create more topics."""

    def __init__(self, topics=(), *, random=None):
        """Start listening.

        * ``topics``: {topic name: partition count}.
        * ``random``: source of faults, or None for a broker without faults.
        """
        super().__init__({})
        ranges = {**dict(self.table.ranges()), CreateTopicsRequest.api_key: (2, 5)}
        self.table = ApiVersionTable.from_ranges(ranges)
        self.random = random
        self.late = []
        """Produce requests in flight."""
        self.is_killing = False
        """Whether the test should kill the client while it waits for a response."""
        self.append_time = -1
        """Timestamp (ms) if records have LogAppendTime. -1 means CreateTime."""
        self.created = []
        self.refusals = []
        """Error codes for the next CreateTopics requests.

        None closes the connection.
        """
        self.words = "in its own words"
        """Error message of a rejected topic."""
        self._lock = threading.Lock()
        for name, partitions in dict(topics).items():
            self.add_topic(name, partitions)

    def add_topic(self, name, partitions):
        """Create an empty topic."""
        topic = self.cluster_truth.add_topic(name, partitions)
        topic.logs = [
            KeptLog(kwire, log.name, self.cluster_truth.random) for log in topic.logs
        ]
        self.node.learn()

    def put(self, topic, partition, rows, **options):
        """Append rows in one batch, as another producer would."""
        log = self.log(topic, partition)
        (batch,) = kwire.records.decode_batches(
            kwire.records.encode_batch(rows, **options)
        )
        log.take(batch)

    def deliver(self, count):
        """Append the records of up to ``count`` late requests, in random order."""
        for _ in range(min(count, len(self.late))):
            event = self.late.pop(self.random.randrange(len(self.late)))
            self.node.begin_produce(event.request, event.version)

    def answer(self, event):
        """Return a response, or raise an error to close the connection."""
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
                    # Replicas lag: consumers see fewer records than the leader has.
                    log.unseen = random.choice([0, 0, 0, log.end // 3])
                # A leader without producer state accepts any sequence number.
                if len(log.produced) > 3 and random.random() < 0.02:
                    log.new_leader(cut=random.randrange(3))
        self.node.learn()

    def _lose(self, event):
        """Append the records of a Produce request now, later or never.

        Raises ConnectionError, which closes the connection without a response.
        """
        fate = self.random.choice(["now", "late", "late", "never"])
        if fate == "now":
            self.node.begin_produce(event.request, event.version)
        elif fate == "late":
            self.late.append(event)
        self.is_killing = self.random.random() < 0.7
        raise ConnectionError("as if the client or the connection had died")

    def _create(self, request):
        results = []
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
            results.append(
                CreateTopicsResponse.CreatableTopicResult(
                    name=topic.name,
                    error_code=code,
                    error_message=self.words if code else None,
                )
            )
        return CreateTopicsResponse(topics=results)
