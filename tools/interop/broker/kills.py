# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks scans of a cluster whose brokers are killed and restarted meanwhile.

    python -m tools.interop.broker.kills  # 5 kills, 1 rolling restart
    python -m tools.interop.broker.kills --kills 50 --rolling 5

Three brokers. A producer of librdkafka writes all the time (idempotent, acks=all), two
scans follow (blocking and asyncio), and scans with an end begin again and again.
Leaders are ended with SIGKILL, every tenth time all brokers at once; in a rolling
restart each broker stops in good order and comes back. Each scan has to return what
librdkafka reads back in the end: each record once, in the order of its partition, and
among them each one that the cluster acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, TopicPartition

from kwire import client
from kwire.cluster import BrokersUnreachable
from tools.interop.broker import broker as brokers
from tools.interop.broker import cluster as clusters
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.cluster import Cluster

TOPIC = "kills"
PARTITIONS = 6
SECONDS = 120
ROWS_PER_SECOND = 500
ALL_AT_ONCE = 10
"""Each kill whose number this divides ends all brokers, not one."""

Place = tuple[str, int]
Fields = tuple[int, int, bytes | None, bytes | None]
"""Offset, timestamp, key and value."""


class Task(threading.Thread):
    """A thread whose failure is noticed: ``check`` raises it."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.is_ending = False
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Do the work; keep what it raises."""
        try:
            self.work()
        except BaseException as failure:
            self._failure = failure

    def work(self) -> None:
        """Do what the thread is for."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise what ended the thread too early."""
        if self._failure is not None:
            raise BrokerError(f"{self.name}: {self._failure!r}") from self._failure
        if not self.is_alive() and not self.is_ending:
            raise BrokerError(f"{self.name}: ended by itself")

    def end(self) -> None:
        """Have the thread end; wait for it."""
        self.is_ending = True
        self.join(SECONDS)
        if self.is_alive():
            raise BrokerError(f"{self.name}: did not end")
        self.check()


class Writer(Task):
    """Writes numbered values; ``acknowledged`` are those of which that is known."""

    def __init__(self, kafka: Cluster | brokers.Broker) -> None:
        super().__init__("writer")
        # The offset is None for a batch that a leader had already when it came again.
        self.acknowledged: list[tuple[int, int | None, bytes]] = []
        self._errors: list[Any] = []
        self._producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": kafka.address,
                "enable.idempotence": True,
                "linger.ms": 5,
                "message.timeout.ms": 2 * SECONDS * 1000,
                "log_level": 0,
            }
        )

    def work(self) -> None:
        """Write at an even rate; what is not acknowledged at the end is a failure."""
        number, begun = 0, time.monotonic()
        while not self.is_ending:
            while number < (time.monotonic() - begun) * ROWS_PER_SECOND:
                partition = number % PARTITIONS
                value = b"%d" % number + b"." * (number % 200)
                self._producer.produce(
                    TOPIC,
                    value,
                    b"%d" % partition,
                    partition=partition,
                    on_delivery=self._note,
                )
                number += 1
            self._producer.poll(0.005)
        left = self._producer.flush(SECONDS)
        if left or self._errors:
            raise BrokerError(f"{left} not acknowledged, {self._errors[:1]}")

    def _note(self, error: Any, message: Any) -> None:
        if error is not None:
            self._errors.append(error)
            return
        row = message.partition(), message.offset(), message.value()
        self.acknowledged.append(row)


class Reader(Task):
    """Follows the topic; ``seen`` is what it was given, by partition."""

    def __init__(self, kafka: Cluster, name: str) -> None:
        super().__init__(name)
        self.seen: dict[int, list[Fields]] = {each: [] for each in range(PARTITIONS)}
        self.position: dict[Place, int] = {}
        self.longest_silence = 0.0
        self._address = kafka.address
        self._heard_at = time.monotonic()

    def take(self, chunk: client.Chunk, position: dict[Place, int]) -> None:
        """Take note of a chunk."""
        now = time.monotonic()
        self.longest_silence = max(self.longest_silence, now - self._heard_at)
        self._heard_at = now
        self.seen[chunk.partition] += map(fields_of, chunk.rows())
        self.position = position

    def stop_reading(self) -> None:
        """Close the scan while it waits."""
        raise NotImplementedError


class BlockingReader(Reader):
    """Reads with blocking calls."""

    def work(self) -> None:
        """Read until the scan is closed."""
        with client.connect_sync(self._address) as kafka:
            self._scan = kafka.scan(TOPIC, follow=True)
            for chunk in self._scan:
                self.take(chunk, self._scan.position())

    def stop_reading(self) -> None:
        """Close the scan while it waits."""
        self._scan.close()


class AsyncReader(Reader):
    """Reads over asyncio."""

    def work(self) -> None:
        """Read until the scan is closed."""
        asyncio.run(self._read())

    def stop_reading(self) -> None:
        """Close the scan while it waits."""
        asyncio.run_coroutine_threadsafe(self._scan.close(), self._loop)

    async def _read(self) -> None:
        self._loop = asyncio.get_running_loop()
        async with client.connect(self._address) as kafka:
            self._scan = kafka.scan(TOPIC, follow=True)
            async for chunk in self._scan:
                self.take(chunk, self._scan.position())


class BoundedReader(Task):
    """Reads the newest part of the topic to its end, again and again.

    ``scans`` has for each one the first offsets and what it was given; ``refused`` is
    how many began while no broker ran, until ``down_until``, which is an error.
    """

    def __init__(self, kafka: Cluster) -> None:
        super().__init__("scans with an end")
        self.scans: list[tuple[dict[int, int], dict[int, list[Fields]]]] = []
        self.refused = 0
        self.down_until = 0.0
        self._address = kafka.address

    def work(self) -> None:
        """Read until the thread is to end."""
        with client.connect_sync(self._address) as kafka:
            while not self.is_ending:
                begun = time.monotonic()
                start: dict[int, int] = {}
                seen: dict[int, list[Fields]] = {}
                try:
                    ends = kafka.offsets(TOPIC)
                    start |= {each: max(end - 1000, 0) for each, end in ends.items()}
                    seen |= {each: [] for each in start}
                    for chunk in kafka.scan(TOPIC, start=start, memory_bytes=1 << 15):
                        seen[chunk.partition] += map(fields_of, chunk.rows())
                except BrokersUnreachable:
                    if any(seen.values()) or begun > self.down_until:
                        raise
                    self.refused += 1
                    time.sleep(0.2)
                    continue
                for partition, end in ends.items():
                    got = seen[partition]
                    if end and (not got or got[-1][0] < end - 1):
                        raise BrokerError(f"{TOPIC}-{partition} has ended before {end}")
                self.scans.append((start, seen))
                time.sleep(0.2)


def fields_of(record: Any) -> Fields:
    """Return what is compared of a record."""
    return record.offset, record.timestamp, record.key, record.value


def read_back(kafka: Cluster | Broker) -> dict[int, list[Fields]]:
    """Read the topic with librdkafka, from its start to its end."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": kafka.address,
            "group.id": "read-back",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    left = set(range(PARTITIONS))
    rows: dict[int, list[Fields]] = {each: [] for each in left}
    consumer.assign([TopicPartition(TOPIC, each, OFFSET_BEGINNING) for each in left])
    deadline = time.monotonic() + SECONDS
    while left:
        if time.monotonic() > deadline:
            raise BrokerError("librdkafka did not come to the end of the topic")
        for message in consumer.consume(1000, 0.2):
            if message.error():
                left.discard(message.partition())
                continue
            stamp = message.timestamp()[1]
            fields: Any = message.offset(), stamp, message.key(), message.value()
            partition: Any = message.partition()
            rows[partition].append(fields)
    consumer.close()
    return rows


def wait_for(what: str, is_so: Callable[[], bool], tasks: list[Task]) -> None:
    """Wait until something is so, as long as every task runs."""
    deadline = time.monotonic() + SECONDS
    while not is_so():
        for task in tasks:
            task.check()
        if time.monotonic() > deadline:
            raise BrokerError(f"{what}: not within {SECONDS} s")
        time.sleep(0.05)


def disturb(
    kafka: Cluster, bounded: BoundedReader, kills: int, rolling: int, seed: int
) -> Iterator[tuple[str, float]]:
    """Kill and restart brokers; yields what was done, and how long it took."""
    source = random.Random(seed)
    restarts = {round(kills * (each + 1) / rolling) for each in range(rolling)}
    for number in range(1, kills + 1):
        begun = time.monotonic()
        if number % ALL_AT_ONCE:
            node = kafka.leaders(TOPIC)[source.randrange(PARTITIONS)]
            chosen = [kafka.nodes[max(node, 1)]]
        else:
            chosen = list(kafka.nodes.values())
            bounded.down_until = math.inf
        for each in chosen:
            each.kill()
        # Back at once, or after the others have noticed.
        time.sleep(source.choice([0, 0.5, 4]))
        for each in chosen:
            each.launch()
        for each in chosen:
            each.wait()
        kafka.wait_in_sync(TOPIC)
        bounded.down_until = min(bounded.down_until, time.monotonic())
        yield f"kill {number}, of {len(chosen)}", time.monotonic() - begun
        if number in restarts:
            begun = time.monotonic()
            for each in kafka.nodes.values():
                each.stop()
                each.start()
                kafka.wait_in_sync(TOPIC)
            yield "rolling restart", time.monotonic() - begun


def expect_same(name: str, got: list[Fields], wanted: list[Fields]) -> None:
    """Fail at the first difference."""
    for index, (a, b) in enumerate(zip(got, wanted, strict=False)):
        if a != b:
            raise BrokerError(f"{name}: record {index} is {a!r:.200}, not {b!r:.200}")
    if len(got) != len(wanted):
        raise BrokerError(f"{name}: {len(got)} records, not {len(wanted)}")


def check(
    wanted: dict[int, list[Fields]],
    writer: Writer,
    readers: list[Reader],
    bounded: BoundedReader,
) -> None:
    """Compare what each scan returned with what librdkafka reads back."""
    by_value = {
        (partition, row[3]): row[0] for partition in wanted for row in wanted[partition]
    }
    for partition, offset, value in writer.acknowledged:
        found = by_value.get((partition, value))
        if found is None or offset not in (found, None):
            raise BrokerError(f"the cluster has lost {TOPIC}-{partition} at {offset}")
    for reader in readers:
        for partition, rows in wanted.items():
            name = f"{reader.name}, {TOPIC}-{partition}"
            expect_same(name, reader.seen[partition], rows)
            position = reader.position.get((TOPIC, partition))
            if position != len(rows):
                raise BrokerError(f"{name}: position {position}, not {len(rows)}")
    for start, seen in bounded.scans:
        for partition, got in seen.items():
            first = start[partition]
            part = wanted[partition][first : first + len(got)]
            expect_same(f"{bounded.name}, {TOPIC}-{partition}", got, part)


def run(version: str, kills: int, rolling: int, seed: int) -> None:
    """Disturb a cluster that is written to and read; compare in the end."""
    with clusters.running(version) as kafka:
        kafka.create_topic(TOPIC, PARTITIONS)
        writer = Writer(kafka)
        readers: list[Reader] = [
            BlockingReader(kafka, "blocking scan"),
            AsyncReader(kafka, "asyncio scan"),
        ]
        bounded = BoundedReader(kafka)
        tasks: list[Task] = [writer, *readers, bounded]
        for each in tasks:
            each.start()
        wait_for(
            "the first records",
            lambda: bool(bounded.scans) and all(each.position for each in readers),
            tasks,
        )
        for what, seconds in disturb(kafka, bounded, kills, rolling, seed):
            for each in tasks:
                each.check()
            print(f"  {what}: {seconds:.1f} s", flush=True)
        writer.end()
        wanted = read_back(kafka)
        for reader in readers:
            wait_for(
                f"{reader.name} at the end",
                lambda reader=reader: all(  # type: ignore[misc]
                    reader.position.get((TOPIC, partition), 0) >= len(rows)
                    for partition, rows in wanted.items()
                ),
                [reader],
            )
            reader.is_ending = True
            reader.stop_reading()
            reader.end()
        bounded.end()
        check(wanted, writer, readers, bounded)
        silences = ", ".join(f"{each.longest_silence:.1f} s" for each in readers)
        print(
            f"Kafka {kafka.release}, 3 brokers, {kills} kills and {rolling} rolling"
            f" restarts: {len(writer.acknowledged)} records, each once and in order in"
            f" both scans that follow (longest silence {silences}) and in"
            f" {len(bounded.scans)} scans with an end ({bounded.refused} more began"
            " while no broker ran, and said so)"
        )


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", default="4.x", help="such as 4.x or 3.9.2")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--rolling", type=int, default=1)
    parser.add_argument("--seed", type=int, default=951)
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, brokers.interrupt)
    begun = time.monotonic()
    try:
        run(chosen.version, chosen.kills, chosen.rolling, chosen.seed)
    except BrokerError as error:
        sys.exit(f"kills: {error}")
    print(f"  {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
