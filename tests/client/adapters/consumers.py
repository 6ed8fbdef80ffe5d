# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Consumers with a common interface for both clients, and a broker for one topic.

All methods block. The aiokafka consumer runs its own event loop, because it is
asynchronous. All connections use the loopback interface, and every wait has a timeout.
"""

import asyncio
import warnings

import aiokafka

from tests.harness import one_broker

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    # Importing kafka-python uses a deprecated API to read package resources.
    import kafka

from kwire.records import read_batch_header

TOPIC = "values"
TIMEOUT_MS = 10_000


class Broker(one_broker.Broker):
    """Broker that returns batches, starting at the requested offset's batch."""

    def __init__(self, data=b"", aborted=(), magic=2, most_bytes=1 << 20):
        """Serve ``data`` as the only partition in ``TOPIC``.

        ``aborted`` lists the aborted transactions as (producer id, first offset, last
        offset).
        """
        super().__init__(magic)
        self._most_bytes = most_bytes
        self._aborted = aborted
        end, self._ends = 0, []
        while header := read_batch_header(data, end, check_crc=False):
            end += header.size
            self._ends.append((header.last_offset, header.position, end))
        self.stored[TOPIC] = data, self._ends[-1][0] + 1 if self._ends else 0, ()

    def _fetched(self, name, partition):
        self.stored[name] = (
            *self.stored[name][:2],
            [
                transaction[:2]
                for transaction in self._aborted
                if transaction[2] >= partition.fetch_offset
            ],
        )
        answer = super()._fetched(name, partition)
        start = end = None
        for last, position, after in self._ends:
            if last < partition.fetch_offset:
                continue
            if start is None:
                start = position
            elif after - start > self._most_bytes:
                break
            end = after
        data = b"" if start is None else self.stored[name][0][start:end]
        return answer.replace(records=data)


class KafkaPython:
    """Consumer of kafka-python for the partition in ``TOPIC``."""

    def __init__(self, broker, **options):
        """Read the topic from offset 0."""
        self._consumer = kafka.KafkaConsumer(
            bootstrap_servers=broker.address,
            fetch_max_wait_ms=50,
            enable_auto_commit=False,
            consumer_timeout_ms=TIMEOUT_MS,
            **options,
        )
        self._tp = kafka.TopicPartition(TOPIC, 0)
        self._consumer.assign([self._tp])
        self.seek(0)

    def poll(self, most=None, timeout_ms=TIMEOUT_MS):
        """Poll once, and return the records of the partition."""
        return self._consumer.poll(timeout_ms, most).get(self._tp, [])

    def take(self):
        """Return the next record of the consumer's iterator."""
        return next(self._consumer)

    def seek(self, offset):
        """Set the position of the partition to an offset."""
        self._consumer.seek(self._tp, offset)

    def position(self):
        """Return the offset of the next record."""
        return self._consumer.position(self._tp)

    def pause(self):
        """Pause the partition, so that ``poll`` returns no records of it."""
        self._consumer.pause(self._tp)

    def resume(self):
        """Resume the partition after ``pause``."""
        self._consumer.resume(self._tp)

    def close(self):
        """Close the consumer."""
        self._consumer.close()


class Aiokafka:
    """Consumer of aiokafka for the partition in ``TOPIC``."""

    def __init__(self, broker, **options):
        """Read the topic from offset 0."""
        self._runner = asyncio.Runner()
        self._tp = aiokafka.TopicPartition(TOPIC, 0)
        self._run(self._start(broker, options))

    def _run(self, work):
        return self._runner.run(asyncio.wait_for(work, 2 * TIMEOUT_MS / 1000))

    async def _start(self, broker, options):
        self._consumer = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=broker.address,
            fetch_max_wait_ms=50,
            enable_auto_commit=False,
            **options,
        )
        await self._consumer.start()
        self._consumer.assign([self._tp])
        self._consumer.seek(self._tp, 0)

    def poll(self, most=None, timeout_ms=TIMEOUT_MS):
        """Poll once, and return the records of the partition."""
        work = self._consumer.getmany(timeout_ms=timeout_ms, max_records=most)
        return self._run(work).get(self._tp, [])

    def take(self):
        """Return the next record of the consumer's iterator."""
        return self._run(anext(self._consumer))

    def seek(self, offset):
        """Set the position of the partition to an offset."""
        self._call(self._consumer.seek, self._tp, offset)

    def position(self):
        """Return the offset of the next record."""
        return self._run(self._consumer.position(self._tp))

    def pause(self):
        """Pause the partition, so that ``poll`` returns no records of it."""
        self._call(self._consumer.pause, self._tp)

    def resume(self):
        """Resume the partition after ``pause``."""
        self._call(self._consumer.resume, self._tp)

    def _call(self, method, *arguments):
        async def call():
            method(*arguments)

        self._run(call())

    def close(self):
        """Close the consumer and its event loop."""
        self._run(self._consumer.stop())
        self._runner.close()


CONSUMERS = {"kafka-python": KafkaPython, "aiokafka": Aiokafka}
"""Consumer classes by client."""
