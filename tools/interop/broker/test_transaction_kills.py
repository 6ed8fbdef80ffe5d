# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check transactions while leaders and coordinators are killed and restarted.

A blocking producer writes transactions continuously and aborts some transactions. An
asyncio task copies the committed records: it reads, writes and commits its offsets in
transactions, and sometimes restarts during a transaction. Every second kill hits the
coordinators.

Finally librdkafka reads the committed records. Records in committed transactions must
exist exactly once and in order, records in aborted transactions must not exist, and
every committed record must have been copied exactly once.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka import TopicPartition

from kwire import client
from kwire.client import ClusterError, TransactionFailed
from tools.interop.broker import clients, harness
from tools.interop.broker.cluster import Cluster
from tools.interop.broker.harness import SECONDS, Task, wait_for

WRITTEN, COPIED = "written", "copied"
COORDINATORS = "__transaction_state", "__consumer_offsets"
PARTITIONS = 4
GROUP = "copier"
ROWS = 50
REQUEST_TIMEOUT_S = 10.0


class Writer(Task):
    """Task that writes transactions.

    ``outcomes`` contains (outcome, values) for each transaction. The outcome is
    "committed", "aborted", "failed" or "in doubt".
    """

    def __init__(self, kafka: Cluster, seed: int) -> None:
        super().__init__("writer")
        self.outcomes: list[tuple[str, list[bytes]]] = []
        self._address = kafka.address
        self._random = random.Random(seed)
        self._number = 0

    def count(self, outcome: str) -> int:
        """Return the number of transactions with an outcome."""
        return sum(reported == outcome for reported, _ in self.outcomes)

    def work(self) -> None:
        """Write transactions until the task ends.

        A producer that has failed is replaced by a new one.
        """
        while not self.is_ending:
            with (
                contextlib.suppress(ClusterError),
                client.connect_sync(
                    self._address,
                    request_timeout_s=REQUEST_TIMEOUT_S,
                    timeout_s=SECONDS,
                ) as kafka,
                kafka.producer(transactional_id="writer") as producer,
            ):
                while not self.is_ending:
                    self._transact(producer)

    def _transact(self, producer: client.ProducerSync) -> None:
        numbers = range(self._number, self._number + self._random.randint(1, ROWS))
        self._number = numbers.stop
        rows = [(b"k%d" % (n % 7), b"k%d %d" % (n % 7, n)) for n in numbers]
        values = [value for _, value in rows]
        is_abort = self._random.random() < 0.2
        try:
            with producer.transaction():
                producer.send_many(WRITTEN, rows[: len(rows) // 2])
                for key, value in rows[len(rows) // 2 :]:
                    producer.send(WRITTEN, key=key, value=value)
                if is_abort:
                    producer.flush()
                    raise KeyError
        except KeyError:
            self.outcomes.append(("aborted", values))
        except TransactionFailed as failure:
            outcome = "in doubt" if failure.is_in_doubt else "failed"
            self.outcomes.append((outcome, values))
            print(f"  writer: {failure}", flush=True)
        except ClusterError as failure:
            self.outcomes.append(("failed", values))
            print(f"  writer: {failure}", flush=True)
            raise
        else:
            self.outcomes.append(("committed", values))
        time.sleep(0.02)


class Crash(Exception):
    """Simulated crash of a copier during a transaction."""


class Copier(Task):
    """Task that copies committed records.

    Each transaction contains copied records and the offsets of their originals.
    """

    def __init__(self, kafka: Cluster, seed: int) -> None:
        super().__init__("copier")
        self.copied = self.begun = 0
        self.position: dict[tuple[str, int], int] = {}
        self._address = kafka.address
        self._random = random.Random(seed)

    def work(self) -> None:
        """Copy records in transactions until the task ends."""
        asyncio.run(self._work())

    async def _work(self) -> None:
        while not self.is_ending:
            self.begun += 1
            try:
                async with client.connect(
                    self._address,
                    request_timeout_s=REQUEST_TIMEOUT_S,
                    timeout_s=SECONDS,
                ) as kafka:
                    producer = kafka.producer(transactional_id="copier")
                    async with producer:
                        await self._copy(kafka, producer)
            except Crash:
                pass
            except ClusterError as failure:
                print(f"  copier: {failure}", flush=True)

    async def _copy(self, kafka: client.Kafka, producer: client.Producer) -> None:
        position = await asyncio.to_thread(committed, self._address)
        start: dict[Any, Any] = dict.fromkeys(
            ((WRITTEN, partition) for partition in range(PARTITIONS)), "earliest"
        )
        scan = kafka.scan(
            WRITTEN,
            start=start | position,
            follow=True,
            isolation_level="read_committed",
        )
        async with scan:
            async for chunk in scan:
                async with producer.transaction() as transaction:
                    rows = [(row.key, row.value) for row in chunk.records()]
                    await producer.send_many(COPIED, rows)
                    topic_partition = chunk.topic, chunk.partition
                    offsets = {topic_partition: chunk.next_offset}
                    await transaction.send_offsets(GROUP, offsets)
                    if self._random.random() < 0.03 and not self.is_ending:
                        # Leave the transaction open, as a crashed process would.
                        await producer.close(flush=False)
                        raise Crash
                self.copied += len(rows)
                self.position |= offsets
                if self.is_ending:
                    return


def committed(address: str) -> dict[tuple[str, int], int]:
    """Return the committed offsets of the group by (topic, partition).

    The broker waits for transactions with pending offsets before it responds.
    """
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": address, "group.id": GROUP, "log_level": 0}
    )
    partitions = [TopicPartition(WRITTEN, number) for number in range(PARTITIONS)]
    committed_partitions = consumer.committed(partitions, timeout=SECONDS)
    consumer.close()
    offsets = {
        (entry.topic, entry.partition): entry.offset for entry in committed_partitions
    }
    return {position: offset for position, offset in offsets.items() if offset >= 0}


def read_values(kafka: Cluster, topic: str) -> dict[int, list[bytes]]:
    """Return the committed values of a topic by partition, as read by librdkafka."""
    rows = clients.read_rows(kafka, topic, committed=True)
    return {
        partition: [row.value or b"" for row in rows[partition]] for partition in rows
    }


def check(kafka: Cluster, writer: Writer) -> int:
    """Compare the committed records with the reported outcomes and with the copies.

    Returns the number of copied records.
    """
    written = read_values(kafka, WRITTEN)
    written_values = [
        value for partition_values in written.values() for value in partition_values
    ]
    left = set(written_values)
    assert len(written_values) == len(left), "a record is there twice"
    for outcome, values in writer.outcomes:
        there = left & set(values)
        left -= there
        counts = {"committed": [len(values)], "in doubt": [0, len(values)]}
        assert len(there) in counts.get(outcome, [0]), (outcome, len(values))
    assert not left, "records that were never written"
    copied = read_values(kafka, COPIED)
    copies = [
        value for partition_values in copied.values() for value in partition_values
    ]
    assert sorted(copies) == sorted(written_values)
    for partition_values in [*written.values(), *copied.values()]:
        harness.expect_ordered(partition_values)
    return len(written_values)


def is_copied(kafka: Cluster) -> bool:
    """Return whether both topics contain the same number of committed records."""
    counts = [
        sum(map(len, read_values(kafka, topic).values())) for topic in (WRITTEN, COPIED)
    ]
    return counts[0] == counts[1]


@pytest.mark.plan(3, 17)
def test_transactions_are_atomic_while_leaders_and_coordinators_are_killed(
    cluster: Cluster, plan: tuple[int, int]
) -> None:
    kills, seed = plan
    source = random.Random(seed)
    for topic in (WRITTEN, COPIED):
        cluster.create_topic(topic, PARTITIONS)
    writer, copier = Writer(cluster, seed), Copier(cluster, seed)
    tasks: list[Task] = [writer, copier]
    for task in tasks:
        task.start()
    wait_for("the first copies", lambda: copier.copied > 0, tasks)
    for number in range(1, kills + 1):
        begun = time.monotonic()
        is_coordinator = number % 2 == 0
        topic = source.choice(COORDINATORS if is_coordinator else (WRITTEN, COPIED))
        leader = harness.find_leader(cluster, topic, source)
        harness.crash(cluster, [leader], source)
        goals = writer.count("committed"), copier.copied

        def is_going_on(goals: tuple[int, int] = goals) -> bool:
            return writer.count("committed") > goals[0] and copier.copied > goals[1]

        wait_for("transactions after a kill", is_going_on, tasks)
        print(f"  kill {number}: {time.monotonic() - begun:.1f} s", flush=True)
    writer.end()
    wait_for("the last copies", lambda: is_copied(cluster), [copier])
    # The scan that follows the topic only checks for its end after a chunk. Write one
    # more record, so that it receives a chunk.
    with (
        client.connect_sync(cluster.address) as last,
        last.producer(transactional_id="last") as producer,
    ):
        with producer.transaction():
            producer.send_many(WRITTEN, [(b"end", b"end 0")])
        writer.outcomes.append(("committed", [b"end 0"]))
    copier.end()
    total = check(cluster, writer)
    outcomes = ", ".join(
        f"{writer.count(outcome)} {outcome}"
        for outcome in ("committed", "aborted", "failed", "in doubt")
    )
    print(
        f"{kills} kills of leaders and coordinators: transactions {outcomes}; {total}"
        f" records committed, each once, in order and copied once by {copier.begun}"
        " producers"
    )
