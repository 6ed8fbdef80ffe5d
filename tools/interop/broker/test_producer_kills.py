# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check producers while partition leaders are killed and restarted.

Idempotent producers write continuously: the blocking producer sends lists of rows, and
the asyncio producer sends single records. Finally librdkafka reads back all records.
Every acknowledged record must exist exactly once, in order, at the position in its
receipt.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter

import pytest

from kwire import client
from tools.interop.broker import clients, harness
from tools.interop.broker.cluster import Cluster
from tools.interop.broker.harness import Task, wait_for

TOPIC = "produced"
PARTITIONS = 6
ROWS = 200


class Writer(Task):
    """Task that writes numbered values.

    * ``written``: values in the order of writing.
    * ``receipts``: receipts of the producer.
    """

    def __init__(self, kafka: Cluster, name: str) -> None:
        super().__init__(name)
        self.written: list[bytes] = []
        self.receipts: list[client.Receipt] = []
        self._address = kafka.address


class BlockingWriter(Writer):
    """Writer that sends lists of rows with the blocking client."""

    def work(self) -> None:
        """Write until the task ends. Every call returns receipts or raises an error."""
        with (
            client.connect_sync(self._address) as kafka,
            kafka.producer(compression="lz4", max_batch_bytes=8 << 10) as producer,
        ):
            while not self.is_ending:
                first = len(self.written)
                numbers = range(first, first + ROWS)
                rows = [(b"b%d" % (n % 7), b"b%d %d" % (n % 7, n)) for n in numbers]
                self.receipts += producer.send_many(TOPIC, rows)
                self.written += [value for _, value in rows]
                time.sleep(0.02)


class AsyncWriter(Writer):
    """Writer that sends single records with the asyncio client."""

    def work(self) -> None:
        """Write until the task ends. An unacknowledged record raises an error."""
        asyncio.run(self._write())

    async def _write(self) -> None:
        async with (
            client.connect(self._address) as kafka,
            kafka.producer(on_receipt=self.receipts.append) as producer,
        ):
            while not self.is_ending:
                number = len(self.written)
                key = b"a%d" % (number % 7)
                value = b"%s %d" % (key, number)
                await producer.send(TOPIC, key=key, value=value)
                self.written.append(value)
                if not number % 50:
                    await asyncio.sleep(0.05)


def check(kafka: Cluster, writers: list[Writer]) -> int:
    """Check that librdkafka reads each written record once, as the receipts say."""
    rows_by_partition = clients.read_rows(kafka, TOPIC)
    values = [row.value or b"" for rows in rows_by_partition.values() for row in rows]
    counts = Counter(values)
    for writer in writers:
        for value in writer.written:
            assert counts.pop(value, 0) == 1, f"{writer.name}: {value!r}"
        for receipt in writer.receipts:
            end = receipt.base_offset + receipt.record_count
            assert end <= len(rows_by_partition[receipt.partition]), (
                f"{writer.name}: {receipt}"
            )
        total = sum(written.record_count for written in writer.receipts)
        assert total == len(writer.written), writer.name
    assert not counts, "records that were never written"
    harness.expect_ordered(values)
    return len(values)


@pytest.mark.plan(3, 17)
def test_records_are_written_once_and_in_order_while_leaders_are_killed(
    cluster: Cluster, plan: tuple[int, int]
) -> None:
    kills, seed = plan
    source = random.Random(seed)
    cluster.create_topic(TOPIC, PARTITIONS)
    writers: list[Writer] = [
        BlockingWriter(cluster, "blocking producer"),
        AsyncWriter(cluster, "asyncio producer"),
    ]
    tasks: list[Task] = [*writers]
    for task in tasks:
        task.start()
    wait_for("the first records", lambda: all(w.receipts for w in writers), tasks)
    for _ in range(kills):
        leader = harness.find_leader(cluster, TOPIC, source)
        harness.crash(cluster, [leader], source)
        for task in tasks:
            task.check()
    for task in tasks:
        task.end()
    count = check(cluster, writers)
    print(f"{kills} kills of leaders: {count} records of two producers, each once")
