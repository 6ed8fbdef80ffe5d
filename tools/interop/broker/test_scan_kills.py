# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check scans while brokers are killed and restarted.

A librdkafka producer writes continuously (idempotent, acks=all). Two scans follow the
topic (blocking and asyncio), and bounded scans are started repeatedly. Leaders are
killed with SIGKILL, and every tenth time all brokers are killed simultaneously. In a
rolling restart, every broker is shut down cleanly and restarted.

Every scan must return the records that librdkafka finally reads back: exactly once, in
partition order, and including all acknowledged records.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kwire import client
from kwire.client import BrokersUnreachable
from tools.interop.broker import clients, harness
from tools.interop.broker.broker import BrokerError
from tools.interop.broker.cluster import Cluster
from tools.interop.broker.harness import Task, Writer, expect_same, wait_for

TOPIC = "kills"
PARTITIONS = 6
KILLS_PER_RESTART = 5
"""Number of kills between two rolling restarts."""
ALL_AT_ONCE = 10
"""If a kill's number is divisible by this, all brokers are killed instead of one."""

Place = tuple[str, int]
Fields = tuple[int, int, bytes | None, bytes | None]
"""Offset, timestamp, key and value."""


class Reader(Task):
    """Task that follows the topic.

    * ``seen``: received records by partition.
    * ``position``: position of the scan after the last chunk.
    * ``longest_silence``: maximum time between two chunks in seconds.
    """

    def __init__(self, kafka: Cluster, name: str) -> None:
        super().__init__(name)
        self.seen: dict[int, list[Fields]] = {
            partition: [] for partition in range(PARTITIONS)
        }
        self.position: dict[Place, int] = {}
        self.longest_silence = 0.0
        self._address = kafka.address
        self._heard_at = time.monotonic()

    def take(self, chunk: client.Chunk, position: dict[Place, int]) -> None:
        """Store the records of a chunk, and the scan's position after the chunk."""
        now = time.monotonic()
        self.longest_silence = max(self.longest_silence, now - self._heard_at)
        self._heard_at = now
        self.seen[chunk.partition] += map(fields_of, chunk.records())
        self.position = position

    def stop_reading(self) -> None:
        """Close the scan from another thread while it is waiting for records."""
        raise NotImplementedError


class BlockingReader(Reader):
    """Reader that uses the blocking client."""

    def work(self) -> None:
        """Store the records of all chunks until the scan is closed."""
        with client.connect_sync(self._address) as kafka:
            self._scan = kafka.scan(TOPIC, follow=True)
            for chunk in self._scan:
                self.take(chunk, self._scan.position())

    def stop_reading(self) -> None:
        """Close the scan from another thread while it is waiting for records."""
        self._scan.close()


class AsyncReader(Reader):
    """Reader that uses the asyncio client in an event loop of its own."""

    def work(self) -> None:
        """Store the records of all chunks until the scan is closed."""
        asyncio.run(self._read())

    def stop_reading(self) -> None:
        """Close the scan in the event loop while it is waiting for records."""
        asyncio.run_coroutine_threadsafe(self._scan.close(), self._loop)

    async def _read(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with client.connect(self._address) as kafka:
            self._scan = kafka.scan(TOPIC, follow=True)
            async for chunk in self._scan:
                self.take(chunk, self._scan.position())


class BoundedReader(Task):
    """Task that reads the newest records of the topic repeatedly with bounded scans.

    * ``scans``: start offsets and received records of every successful scan.
    * ``refused``: number of scans that failed because they were started before
      ``down_until``, while no broker was running.
    """

    def __init__(self, kafka: Cluster) -> None:
        super().__init__("scans with an end")
        self.scans: list[tuple[dict[int, int], dict[int, list[Fields]]]] = []
        self.refused = 0
        self.down_until = 0.0
        self._address = kafka.address

    def work(self) -> None:
        """Read the last 1,000 records of each partition again and again."""
        with client.connect_sync(self._address) as kafka:
            while not self.is_ending:
                begun = time.monotonic()
                start: dict[int, int] = {}
                rows: dict[int, list[Fields]] = {}
                try:
                    ends = kafka.offsets(TOPIC)
                    start |= {
                        number: max(end - 1000, 0) for number, end in ends.items()
                    }
                    rows |= {number: [] for number in start}
                    for chunk in kafka.scan(TOPIC, start=start, memory_bytes=1 << 15):
                        rows[chunk.partition] += map(fields_of, chunk.records())
                except BrokersUnreachable:
                    if any(rows.values()) or begun > self.down_until:
                        raise
                    self.refused += 1
                    time.sleep(0.2)
                    continue
                for partition, end in ends.items():
                    rows_read = rows[partition]
                    if end and (not rows_read or rows_read[-1][0] < end - 1):
                        raise BrokerError(f"{TOPIC}-{partition} has ended before {end}")
                self.scans.append((start, rows))
                time.sleep(0.2)


def fields_of(record: Any) -> Fields:
    """Return offset, timestamp, key and value of a record, which are compared."""
    return record.offset, record.timestamp, record.key, record.value


def disturb(
    kafka: Cluster, bounded: BoundedReader, kills: int, seed: int
) -> Iterator[tuple[str, float]]:
    """Kill and restart brokers ``kills`` times, with regular rolling restarts.

    Yields the description of each event and its duration in seconds.
    """
    source = random.Random(seed)
    for number in range(1, kills + 1):
        begun = time.monotonic()
        chosen = [harness.find_leader(kafka, TOPIC, source)]
        if number % ALL_AT_ONCE == 0:
            chosen = list(kafka.nodes.values())
            bounded.down_until = math.inf
        harness.crash(kafka, chosen, source)
        bounded.down_until = min(bounded.down_until, time.monotonic())
        yield f"kill {number}, of {len(chosen)}", time.monotonic() - begun
        if number % KILLS_PER_RESTART == 0:
            begun = time.monotonic()
            for node in kafka.nodes.values():
                node.stop()
                node.start()
                kafka.wait_in_sync()
            yield "rolling restart", time.monotonic() - begun


def check(
    expected: dict[int, list[Fields]],
    writer: Writer,
    readers: list[Reader],
    bounded: BoundedReader,
) -> None:
    """Compare the records of every scan with the records of librdkafka.

    ``expected`` contains the records that librdkafka has read back. Raises
    ``BrokerError`` if an acknowledged record is missing or a scan differs.
    """
    by_value = {
        (partition, row[3]): row[0]
        for partition in expected
        for row in expected[partition]
    }
    for partition, offset, value in writer.acknowledged:
        stored_offset = by_value.get((partition, value))
        if stored_offset is None or offset not in (stored_offset, None):
            raise BrokerError(f"the cluster has lost {TOPIC}-{partition} at {offset}")
    for reader in readers:
        for partition, rows in expected.items():
            name = f"{reader.name}, {TOPIC}-{partition}"
            expect_same(name, reader.seen[partition], rows)
            position = reader.position.get((TOPIC, partition))
            if position != len(rows):
                raise BrokerError(f"{name}: position {position}, not {len(rows)}")
    for start, scanned in bounded.scans:
        for partition, rows_read in scanned.items():
            first = start[partition]
            part = expected[partition][first : first + len(rows_read)]
            expect_same(f"{bounded.name}, {TOPIC}-{partition}", rows_read, part)


@pytest.mark.plan(5, 951)
def test_scans_return_each_record_once_while_brokers_are_killed(
    cluster: Cluster, plan: tuple[int, int]
) -> None:
    kills, seed = plan
    cluster.create_topic(TOPIC, PARTITIONS)
    writer = Writer(cluster, TOPIC, PARTITIONS)
    readers: list[Reader] = [
        BlockingReader(cluster, "blocking scan"),
        AsyncReader(cluster, "asyncio scan"),
    ]
    bounded = BoundedReader(cluster)
    tasks: list[Task] = [writer, *readers, bounded]
    for task in tasks:
        task.start()
    wait_for(
        "the first records",
        lambda: bool(bounded.scans) and all(reader.position for reader in readers),
        tasks,
    )
    for disturbance, seconds in disturb(cluster, bounded, kills, seed):
        for task in tasks:
            task.check()
        print(f"  {disturbance}: {seconds:.1f} s", flush=True)
    writer.end()
    expected = {
        partition: [fields_of(row) for row in rows]
        for partition, rows in clients.read_rows(cluster, TOPIC).items()
    }
    for reader in readers:
        wait_for(
            f"{reader.name} at the end",
            lambda reader=reader: all(  # type: ignore[misc]
                reader.position.get((TOPIC, partition), 0) >= len(rows)
                for partition, rows in expected.items()
            ),
            [reader],
        )
        reader.is_ending = True
        reader.stop_reading()
        reader.end()
    bounded.end()
    check(expected, writer, readers, bounded)
    silences = ", ".join(f"{reader.longest_silence:.1f} s" for reader in readers)
    print(
        f"{kills} kills: {len(writer.acknowledged)} records, each once and in order in"
        f" both scans that follow (longest silence {silences}) and in"
        f" {len(bounded.scans)} scans with an end ({bounded.refused} more began"
        " while no broker ran, and said so)"
    )
