# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks transactions while leaders and coordinators are killed and restarted.

    python -m tools.interop.broker.transaction_kills  # 4.x, 3 kills
    python -m tools.interop.broker.transaction_kills --version 3.9.2 --kills 20

Three brokers, or one of a release before 3.9. A blocking producer writes transactions
all the time, and aborts some. An asyncio task copies what it commits: it reads, writes
and commits its offsets in transactions, and begins again now and then in the middle of
one. Every other kill is of the coordinators. In the end librdkafka reads what is
committed: each record of a committed transaction once and in order, none of an aborted
one, and each record was copied once.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, TopicPartition

from kwire import client
from kwire.cluster import ClusterError, TransactionFailed
from tools.interop.broker import broker as brokers
from tools.interop.broker import cluster as clusters
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.cluster import Cluster, admin
from tools.interop.broker.kills import Task, wait_for

WRITTEN, COPIED = "written", "copied"
PARTITIONS = 4
GROUP = "copier"
ROWS = 50
SECONDS = 120
FIRST_OF_CLUSTERS = 3, 9
"""Of older releases, one broker is run."""

REQUEST_TIMEOUT_S = 10.0
SESSION_S = 12.0
"""After this, ZooKeeper has forgotten a broker that was killed."""


class OneBroker(Cluster):
    """One broker of a release that has no clusters here; its data outlives kills."""

    def __init__(self, release: str, folder: Path) -> None:
        self.release = release
        settings = {"zookeeper.session.timeout.ms": "2000"}
        self.nodes = {1: Broker(release, folder, settings)}
        self.address = self.nodes[1].address

    def start(self) -> None:
        """Start it, with what it needs."""
        self.nodes[1].start()

    def create_topic(self, topic: str, partitions: int, **settings: str) -> None:
        """Create a topic without replicas."""
        named = {name.replace("_", "."): value for name, value in settings.items()}
        wanted = admin.NewTopic(topic, partitions, 1, config=named)
        admin_client = self.client()
        for each in admin_client.create_topics([wanted]).values():
            each.result(SECONDS)
        self.wait_in_sync(topic)

    def restart(self) -> None:
        """End it as a crash does; start it when its session is over."""
        node = self.nodes[1]
        if not node.has_zookeeper:
            node.kill()
        else:
            _, server = node._processes.pop()
            server.kill()
            server.wait()
            time.sleep(SESSION_S)
        node.launch()
        node.wait()


@contextlib.contextmanager
def running(version: str) -> Iterator[Cluster]:
    """Run three brokers, or one."""
    release = brokers.find_release(version)
    major, minor = map(int, release.split(".")[:2])
    if (major, minor) >= FIRST_OF_CLUSTERS:
        settings = {"transaction.state.log.num.partitions": "3"}
        with clusters.running(version, settings=settings) as kafka:
            yield kafka
        return
    with tempfile.TemporaryDirectory(prefix="kwire-broker-") as name:
        one = OneBroker(release, Path(name))
        try:
            one.start()
            yield one
        finally:
            one.nodes[1].stop()


class Writer(Task):
    """Writes transactions; ``outcomes`` are what each was reported to be."""

    def __init__(self, kafka: Cluster, seed: int) -> None:
        super().__init__("writer")
        self.outcomes: list[tuple[str, list[bytes]]] = []
        self._address = kafka.address
        self._random = random.Random(seed)
        self._number = 0

    def count(self, outcome: str) -> int:
        """Count the transactions of an outcome."""
        return sum(each == outcome for each, _ in self.outcomes)

    def work(self) -> None:
        """Write until the end; a producer that has failed is replaced."""
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
                    producer.append(WRITTEN, key=key, value=value)
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
    """Ends a copier in the middle of a transaction."""


class Copier(Task):
    """Copies what is committed, with its offsets in the same transactions."""

    def __init__(self, kafka: Cluster, seed: int) -> None:
        super().__init__("copier")
        self.copied = self.begun = 0
        self.position: dict[tuple[str, int], int] = {}
        self._address = kafka.address
        self._random = random.Random(seed)

    def work(self) -> None:
        """Copy until the end."""
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
            ((WRITTEN, each) for each in range(PARTITIONS)), "earliest"
        )
        scan = kafka.scan(
            WRITTEN, start=start | position, follow=True, isolation="read_committed"
        )
        async with scan:
            async for chunk in scan:
                async with producer.transaction() as transaction:
                    rows = [(row.key, row.value) for row in chunk.rows()]
                    await producer.send_many(COPIED, rows)
                    place = chunk.topic, chunk.partition
                    offsets = {place: chunk.next_offset}
                    await transaction.send_offsets(GROUP, offsets)
                    if self._random.random() < 0.03 and not self.is_ending:
                        # It is neither committed nor aborted.
                        await producer.abort()
                        raise Crash
                self.copied += len(rows)
                self.position |= offsets
                if self.is_ending:
                    return


def committed(address: str) -> dict[tuple[str, int], int]:
    """Return the offsets of the group, once no transaction is left that has others."""
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": address, "group.id": GROUP, "log_level": 0}
    )
    wanted = [TopicPartition(WRITTEN, each) for each in range(PARTITIONS)]
    found = consumer.committed(wanted, timeout=SECONDS)
    consumer.close()
    places = {(each.topic, each.partition): each.offset for each in found}
    return {place: offset for place, offset in places.items() if offset >= 0}


def read_committed(kafka: Cluster, topic: str) -> dict[int, list[bytes]]:
    """Read the values of a topic as librdkafka sees them, by partition."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": kafka.address,
            "group.id": "read-back",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )
    left = set(range(PARTITIONS))
    values: dict[int, list[bytes]] = {each: [] for each in left}
    consumer.assign([TopicPartition(topic, each, OFFSET_BEGINNING) for each in left])
    deadline = time.monotonic() + SECONDS
    while left:
        if time.monotonic() > deadline:
            raise BrokerError(f"librdkafka did not come to the end of {topic}")
        for message in consumer.consume(1000, 0.2):
            partition: Any = message.partition()
            if message.error():
                left.discard(partition)
                continue
            value: Any = message.value()
            values[partition].append(value)
    consumer.close()
    return values


def check(kafka: Cluster, writer: Writer) -> int:
    """Compare what is committed with what was reported."""
    written = read_committed(kafka, WRITTEN)
    seen = [value for each in written.values() for value in each]
    if len(seen) != len(set(seen)):
        raise BrokerError("a record is there twice")
    left = set(seen)
    for outcome, values in writer.outcomes:
        there = left & set(values)
        left -= there
        wanted = {"committed": [len(values)], "in doubt": [0, len(values)]}
        if len(there) not in wanted.get(outcome, [0]):
            raise BrokerError(
                f"of a transaction that is {outcome}, {len(there)} of {len(values)}"
                " records are there"
            )
    if left:
        raise BrokerError(f"{len(left)} records were never written")
    copied = read_committed(kafka, COPIED)
    if sorted(value for each in copied.values() for value in each) != sorted(seen):
        raise BrokerError("the copy is another")
    for values in [*written.values(), *copied.values()]:
        numbers: dict[bytes, list[int]] = {}
        for value in values:
            key, _, number = value.partition(b" ")
            numbers.setdefault(key, []).append(int(number))
        for key, each in numbers.items():
            if each != sorted(each):
                raise BrokerError(f"records of the key {key!r} are out of order")
    return len(seen)


def kill(kafka: Cluster, is_coordinator: bool, source: random.Random) -> None:
    """End a leader of the topics, or of the coordinators' logs, and start it again."""
    if isinstance(kafka, OneBroker):
        kafka.restart()
        return
    names = ["__transaction_state", "__consumer_offsets"]
    topic = source.choice(names if is_coordinator else [WRITTEN, COPIED])
    leader = source.choice(list(kafka.leaders(topic).values()))
    node = kafka.nodes[max(leader, 1)]
    node.kill()
    time.sleep(source.choice([0, 0.5, 4]))
    node.launch()
    node.wait()
    for each in (WRITTEN, COPIED, *names):
        kafka.wait_in_sync(each)


def run(version: str, kills: int, seed: int) -> None:
    """Kill brokers while transactions are written; compare in the end."""
    source = random.Random(seed)
    with running(version) as kafka:
        for topic in (WRITTEN, COPIED):
            kafka.create_topic(topic, PARTITIONS)
        writer, copier = Writer(kafka, seed), Copier(kafka, seed)
        tasks: list[Task] = [writer, copier]
        for each in tasks:
            each.start()
        wait_for("the first copies", lambda: copier.copied > 0, tasks)
        for number in range(1, kills + 1):
            begun = time.monotonic()
            kill(kafka, number % 2 == 0, source)
            goals = writer.count("committed"), copier.copied

            def goes_on(goals: tuple[int, int] = goals) -> bool:
                counts = writer.count("committed"), copier.copied
                return counts[0] > goals[0] and counts[1] > goals[1]

            wait_for("transactions after a kill", goes_on, tasks)
            print(f"  kill {number}: {time.monotonic() - begun:.1f} s", flush=True)
        writer.end()
        wait_for("the last copies", lambda: copied_all(kafka), [copier])
        # A follower of a topic ends at the next chunk.
        with (
            client.connect_sync(kafka.address) as last,
            last.producer(transactional_id="last") as producer,
        ):
            with producer.transaction():
                producer.send_many(WRITTEN, [(b"end", b"end 0")])
            writer.outcomes.append(("committed", [b"end 0"]))
        copier.end()
        total = check(kafka, writer)
        outcomes = ", ".join(
            f"{writer.count(each)} {each}"
            for each in ("committed", "aborted", "failed", "in doubt")
        )
        count_of = "3 brokers" if len(kafka.nodes) > 1 else "1 broker"
        print(
            f"Kafka {kafka.release}, {count_of}, {kills} kills of leaders and"
            f" coordinators: transactions {outcomes}; {total} records committed, each"
            f" once, in order and copied once by {copier.begun} producers"
        )


def copied_all(kafka: Cluster) -> bool:
    """Whether the copy has as many records as what was written."""
    counts = [
        sum(map(len, read_committed(kafka, topic).values()))
        for topic in (WRITTEN, COPIED)
    ]
    return counts[0] == counts[1]


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", default="4.x", help="such as 4.x or 3.9.2")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=17)
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, brokers.interrupt)
    try:
        run(chosen.version, chosen.kills, chosen.seed)
    except BrokerError as error:
        sys.exit(f"transaction_kills: {error}")


if __name__ == "__main__":
    main()
