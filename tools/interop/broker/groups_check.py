# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks groups of consumers on real brokers, whose members and coordinator are killed.

    python -m tools.interop.broker.groups_check                  # 4.x: 3 kills, twice
    python -m tools.interop.broker.groups_check --kills 40
    python -m tools.interop.broker.groups_check --version 3.9.2  # manual assignment

Up to five kwire members, each a process, read what librdkafka writes and commit each
chunk. Members and the group's coordinator are ended with SIGKILL, and members join. In
the end everything has to be read without a gap, nothing that was committed twice, and
``kafka-consumer-groups`` has to show no lag. Then members copy the topic in
transactions, and are killed in the midst of them: each record has to be copied once.
At last kwire members share a group with Java's console consumer, of the same protocol
and of the classic one. Brokers without the group protocol read by hand, and joining
them has to be one sentence.
"""

from __future__ import annotations

import argparse
import asyncio
import atexit
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import confluent_kafka
import confluent_kafka.admin

from kwire import client
from kwire.cluster import (
    FeatureUnsupported,
    PartitionLost,
    ProducerFenced,
    RequestRefused,
    TransactionFailed,
)
from tools.interop.broker import broker as brokers
from tools.interop.broker import cluster as clusters
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.cluster import Cluster
from tools.interop.broker.kills import PARTITIONS, SECONDS, TOPIC, Writer, read_back
from tools.interop.broker.transaction_kills import PARTITIONS as COPY_PARTITIONS
from tools.interop.broker.transaction_kills import read_committed

# Its names come from private modules, where type checkers do not look for them.
admin: Any = confluent_kafka.admin

COPIES = "copies"
MEMBERS = 5
COPIERS = 3
SETTINGS = {
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.session.timeout.ms": "3000",
    "group.consumer.min.session.timeout.ms": "3000",
}


def note(what: str, chunk: client.Chunk) -> None:
    """Print a line for the parent: when what was done with which offsets."""
    row = what, time.monotonic(), chunk.partition, chunk.start_offset, chunk.next_offset
    print(*row, flush=True)


def be_member(address: str, group: str, number: int) -> None:
    """Read and commit until the process is ended: even ones block, odd ones await."""
    if group.endswith(COPIES):
        be_copier(address, group, number)
        return
    if number % 2:
        asyncio.run(_be_member(address, group))
        return
    with client.connect_sync(address) as kafka, kafka.consumer(TOPIC, group=group) as c:
        signal.signal(signal.SIGTERM, lambda *_: c.close())
        for chunk in c:
            note("read", chunk)
            try:
                c.commit(chunk)
            except PartitionLost:
                note("lost", chunk)
            else:
                note("committed", chunk)


async def _be_member(address: str, group: str) -> None:
    async with (
        client.connect(address) as kafka,
        kafka.consumer(TOPIC, group=group) as consumer,
    ):
        loop = asyncio.get_running_loop()
        closing: list[Any] = []
        loop.add_signal_handler(
            signal.SIGTERM, lambda: closing.append(loop.create_task(consumer.close()))
        )
        async for chunk in consumer:
            note("read", chunk)
            try:
                await consumer.commit(chunk)
            except PartitionLost:
                note("lost", chunk)
            else:
                note("committed", chunk)
        await asyncio.gather(*closing)


def be_copier(address: str, group: str, number: int) -> None:
    """Copy until the process is ended; what fails is done again by a new member."""
    is_ending: list[bool] = []
    while not is_ending:
        try:
            with (
                client.connect_sync(address) as kafka,
                kafka.producer(
                    transactional_id=f"{group}-{number}", transaction_timeout_s=5
                ) as producer,
                kafka.consumer(TOPIC, group=group, memory_bytes=1 << 16) as consumer,
            ):

                def end(*_: object, consumer: client.ConsumerSync = consumer) -> None:
                    is_ending.append(True)
                    consumer.close()

                signal.signal(signal.SIGTERM, end)
                for chunk in consumer:
                    key = b"%d" % chunk.partition
                    with producer.transaction() as transaction:
                        rows = [(key, row.value) for row in chunk.rows()]
                        producer.send_many(COPIES, rows)
                        transaction.send_offsets(consumer, chunk)
                    note("copied", chunk)
        except (PartitionLost, ProducerFenced, TransactionFailed) as failure:
            print("failed", failure, flush=True)


class Members:
    """The member processes of one group, and what all of them have printed."""

    def __init__(self, kafka: Cluster, group: str, folder: Path) -> None:
        self.group = group
        self.running: list[subprocess.Popen[bytes]] = []
        self._address = kafka.address
        self._folder = folder
        self._count = 0
        # Whatever fails, no process is left.
        atexit.register(self._kill_all)

    def join(self) -> None:
        """Start another member."""
        self._count += 1
        program = [sys.executable, "-m", "tools.interop.broker.groups_check"]
        words = [*program, "--member", self._address, self.group]
        with (self._folder / f"{self.group}-{self._count}").open("wb") as out:
            self.running.append(
                subprocess.Popen([*words, str(self._count)], stdout=out)
            )

    def kill(self, member: subprocess.Popen[bytes]) -> None:
        """End a member with SIGKILL."""
        self.running.remove(member)
        member.kill()
        member.wait(SECONDS)

    def _kill_all(self) -> None:
        for each in list(self.running):
            self.kill(each)

    def end(self) -> None:
        """Have all members leave in good order."""
        for each in self.running:
            each.terminate()
        for each in self.running:
            if each.wait(SECONDS):
                raise BrokerError(f"a member of {self.group} ended with an error")
        self.running.clear()

    def check(self) -> None:
        """Fail if a member ended by itself."""
        for each in self.running:
            if each.poll() is not None:
                raise BrokerError(f"a member of {self.group} ended by itself")

    def rows(self) -> list[tuple[str, float, int, int, int]]:
        """Return all that was printed, by time; a last line may be cut."""
        rows = []
        for path in self._folder.glob(f"{self.group}-*"):
            for line in path.read_text().splitlines():
                words = line.split()
                if len(words) == 5 and line:
                    what, at, *numbers = words
                    partition, start, after = map(int, numbers)
                    rows.append((what, float(at), partition, start, after))
        return sorted(rows, key=lambda row: row[1])


def committed(kafka: Cluster | Broker, group: str) -> dict[int, int]:
    """Return the committed offset of each partition, as librdkafka reads it."""
    places = [confluent_kafka.TopicPartition(TOPIC, n) for n in range(PARTITIONS)]
    reader = confluent_kafka.Consumer(
        {"bootstrap.servers": kafka.address, "group.id": group, "log_level": 0}
    )
    try:
        found = reader.committed(places, timeout=SECONDS)
    except confluent_kafka.KafkaException:
        return {}
    finally:
        reader.close()
    return {each.partition: each.offset for each in found if each.offset >= 0}


def describe(kafka: Cluster, group: str, *options: str) -> list[list[str]]:
    """Return the rows that ``kafka-consumer-groups --describe`` prints."""
    package = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
    text = brokers.run(
        brokers.java(
            kafka.release,
            package,
            "--bootstrap-server",
            kafka.address,
            "--describe",
            "--group",
            group,
            *options,
        )
    )
    return [line.split() for line in text.splitlines() if line.startswith(group)]


def wait_for(what: str, is_so: Callable[[], bool], members: Members) -> float:
    """Wait for something; return how long that took."""
    begun = time.monotonic()
    while not is_so():
        members.check()
        if time.monotonic() > begun + SECONDS:
            raise BrokerError(f"{what}: not within {SECONDS} s")
        time.sleep(0.2)
    return time.monotonic() - begun


def check_rows(
    rows: list[tuple[str, float, int, int, int]], ends: dict[int, int]
) -> int:
    """Judge what members have read and committed; return how much was read again."""
    done = dict.fromkeys(ends, 0)
    safe = dict.fromkeys(ends, 0)
    again = 0
    for what, _, partition, start, after in rows:
        if what == "committed":
            safe[partition] = max(safe[partition], after)
        elif what == "read":
            if start > done[partition]:
                raise BrokerError(f"{TOPIC}-{partition}: a gap before {start}")
            if start < safe[partition]:
                raise BrokerError(
                    f"{TOPIC}-{partition}: {start} read again after"
                    f" {safe[partition]} was committed"
                )
            again += max(done[partition] - start, 0)
            done[partition] = max(done[partition], after)
    if done != ends:
        raise BrokerError(f"read up to {done}, not {ends}")
    return again


def find_ends(kafka: Cluster | Broker) -> dict[int, int]:
    """Return where each partition ends, once the writer has ended."""
    rows = read_back(kafka)
    return {each: len(rows[each]) for each in rows}


def kill_coordinator(kafka: Cluster, group: str) -> None:
    """End the broker that coordinates a group; start it again a little later."""
    leaders = kafka.leaders("__consumer_offsets")
    number = 0
    for letter in group.encode():
        number = (31 * number + letter) & 0x7FFFFFFF
    node = leaders[number % len(leaders)]
    kafka.nodes[max(node, 1)].kill()
    time.sleep(4)
    kafka.nodes[max(node, 1)].start()
    kafka.wait_in_sync(TOPIC)


def check_kills(kafka: Cluster, folder: Path, kills: int, seed: int) -> None:
    """Kill members and coordinators; everything is read, and nothing for nothing."""
    chance = random.Random(seed)
    members = Members(kafka, "kwire-kills", folder)
    writer = Writer(kafka)
    writer.start()
    for _ in range(3):
        members.join()
    wait_for("the first commits", lambda: len(members.rows()) > 20, members)
    coordinators = 0
    for number in range(1, kills + 1):
        while len(members.running) < MEMBERS:
            members.join()
        time.sleep(chance.uniform(0.5, 3))
        if number % 3:
            members.kill(chance.choice(members.running))
        else:
            kill_coordinator(kafka, members.group)
            coordinators += 1
        members.check()
        writer.check()
    writer.end()
    ends = find_ends(kafka)
    took = wait_for("the end", lambda: committed(kafka, members.group) == ends, members)
    members.end()
    again = check_rows(members.rows(), ends)
    lag = {int(row[2]): row[5] for row in describe(kafka, members.group)}
    if lag != dict.fromkeys(ends, "0"):
        raise BrokerError(f"kafka-consumer-groups shows a lag: {lag}")
    lost = sum(row[0] == "lost" for row in members.rows())
    print(
        f"Kafka {kafka.release}, 3 brokers: {sum(ends.values())} records, {kills} kills"
        f" ({coordinators} of the coordinator), {members._count} members; all read"
        f" without a gap, {again} read again, none that were committed; {lost} commits"
        f" refused for lost partitions; at the end after {took:.1f} s, no lag",
        flush=True,
    )


def has_open(kafka: Cluster, topic: str) -> bool:
    """Whether readers of committed records wait for transactions of a topic."""
    wanted = {
        confluent_kafka.TopicPartition(topic, n): clusters.admin.OffsetSpec.latest()
        for n in range(COPY_PARTITIONS)
    }
    levels = confluent_kafka.IsolationLevel
    asked = kafka.client()
    committed_ends, ends = (
        [each.result(SECONDS).offset for each in found.values()]
        for found in (
            asked.list_offsets(wanted, isolation_level=level)
            for level in (levels.READ_COMMITTED, levels.READ_UNCOMMITTED)
        )
    )
    return bool(committed_ends != ends)


def check_copies(kafka: Cluster, folder: Path, kills: int, seed: int) -> None:
    """Kill members that copy in transactions; each record is copied once, in order."""
    chance = random.Random(seed)
    kafka.create_topic(COPIES, COPY_PARTITIONS)
    members = Members(kafka, f"kwire-{COPIES}", folder)
    writer = Writer(kafka)
    writer.start()
    for number in range(kills + 1):
        while len(members.running) < COPIERS:
            members.join()
        goal = len(members.rows()) + 20
        wait_for("copies", lambda goal=goal: len(members.rows()) > goal, members)  # type: ignore[misc]
        if number < kills:
            members.kill(chance.choice(members.running))
    writer.end()
    ends = find_ends(kafka)
    took = wait_for("the end", lambda: committed(kafka, members.group) == ends, members)
    # Members that were killed may have left transactions open.
    wait_for("the end of transactions", lambda: not has_open(kafka, COPIES), members)
    members.end()
    values = read_committed(kafka, COPIES).values()
    copies = [value for each in values for value in each]
    written = [value for _, _, value in writer.acknowledged]
    if sorted(copies) != sorted(written):
        missing = len(set(written) - set(copies))
        raise BrokerError(
            f"{len(written)} records, {len(copies)} copies, {missing} are missing"
        )
    for each in values:
        numbers: dict[int, list[int]] = {}
        for value in each:
            number = int(value.rstrip(b"."))
            numbers.setdefault(number % PARTITIONS, []).append(number)
        if any(found != sorted(found) for found in numbers.values()):
            raise BrokerError("copies of a partition are out of order")
    print(
        f"Kafka {kafka.release}: {len(written)} records copied in transactions by"
        f" {COPIERS} members, of which {kills} were killed: each once and in order; at"
        f" the end after {took:.1f} s",
        flush=True,
    )


def check_with_java(kafka: Cluster, folder: Path) -> None:
    """Two kwire members and two of Java's console consumers share the partitions.

    One of these is a classic consumer, which the broker lets join too.
    """
    members = Members(kafka, "kwire-and-java", folder)
    members.join()
    members.join()
    running: list[subprocess.Popen[bytes]] = []
    printed = folder / "java-consumer", folder / "java-classic"
    try:
        for path in printed:
            with path.open("wb") as out:
                running.append(start_java(kafka, members.group, path.name[5:], out))
        counts: list[str] = []

        def is_shared() -> bool:
            rows = describe(kafka, members.group, "--members")
            counts[:] = sorted(row[4] for row in rows)
            return counts == ["1", "1", "2", "2"]

        took = wait_for("four members with all partitions", is_shared, members)
        writer = Writer(kafka)
        writer.start()
        time.sleep(3)
        writer.end()
        for each in running:
            each.terminate()
        for each in running:
            each.wait(SECONDS)
    finally:
        for each in running:
            each.kill()
    ends = find_ends(kafka)
    wait_for("the end", lambda: committed(kafka, members.group) == ends, members)
    members.end()
    by_kwire = sum(
        after - start for what, _, _, start, after in members.rows() if what == "read"
    )
    by_java = [len(set(path.read_bytes().splitlines())) for path in printed]
    total = sum(ends.values())
    if not all(by_java) or by_kwire + sum(by_java) < total:
        raise BrokerError(f"{by_kwire} by kwire, {by_java} by Java, of {total}")
    print(
        f"Kafka {kafka.release}: a group of two kwire members and Java's console"
        f" consumer twice, of the same and of the classic protocol; all have partitions"
        f" after {took:.1f} s; {total} records, of which kwire read {by_kwire} and Java"
        f" {by_java[0]} and {by_java[1]}; no lag",
        flush=True,
    )


def start_java(
    kafka: Cluster, group: str, protocol: str, out: Any
) -> subprocess.Popen[bytes]:
    """Start Java's console consumer in a group."""
    package = "org.apache.kafka.tools.consumer.ConsoleConsumer"
    return subprocess.Popen(
        brokers.java(
            kafka.release,
            package,
            "--bootstrap-server",
            kafka.address,
            "--topic",
            TOPIC,
            "--group",
            group,
            "--consumer-property",
            f"group.protocol={protocol}",
            "--consumer-property",
            "auto.offset.reset=earliest",
        ),
        stdout=out,
    )


def check_by_hand(kafka: Cluster | Broker) -> None:
    """Read with committed offsets and without joining, as all brokers can."""
    writer = Writer(kafka)
    writer.start()
    time.sleep(2)
    writer.end()
    ends = find_ends(kafka)
    seen: dict[int, int] = dict.fromkeys(ends, 0)
    with client.connect_sync(kafka.address) as opened:
        for _ in range(2):
            # The second one goes on in the middle of what the first one left.
            with opened.consumer(TOPIC, group="by-hand", partitions="all") as consumer:
                for _ in range(3):
                    chunk = consumer.poll(10)
                    if chunk is None:
                        break
                    if chunk.start_offset != seen[chunk.partition]:
                        raise BrokerError(f"{chunk} does not go on where it should")
                    seen[chunk.partition] = chunk.next_offset
                    consumer.commit(chunk)
        with opened.consumer(TOPIC, group="by-hand", partitions="all") as consumer:
            while seen != ends:
                chunk = consumer.poll(10)
                if chunk is None:
                    raise BrokerError(f"read up to {seen}, not {ends}")
                seen[chunk.partition] = chunk.next_offset
            consumer.commit()
        found = committed(kafka, "by-hand")
        if found != ends:
            raise BrokerError(f"committed {found}, not {ends}")
        try:
            with opened.consumer(TOPIC, group="joined") as consumer:
                consumer.poll(10)
            raise BrokerError("joining was not refused")
        except (FeatureUnsupported, RequestRefused) as refusal:
            # From 3.7 to 3.9 the request exists, but the protocol is not enabled.
            sentence = str(refusal)
    print(f"Kafka {kafka.release}: {sum(ends.values())} records by hand, committed")
    print(f"  {sentence}")


def create_again(kafka: Cluster) -> None:
    """Have an empty topic."""
    asked = kafka.client()
    asked.delete_topics([TOPIC])[TOPIC].result(SECONDS)
    while TOPIC in asked.list_topics(timeout=SECONDS).topics:
        time.sleep(0.2)
    kafka.create_topic(TOPIC, PARTITIONS)


def run(version: str, kills: int, seed: int) -> None:
    """Do the checks that fit a release."""
    if brokers.find_release(version) < "4":
        with brokers.running(version) as one:
            asked = admin.AdminClient({"bootstrap.servers": one.address})
            topic = admin.NewTopic(TOPIC, PARTITIONS, 1)
            asked.create_topics([topic])[TOPIC].result(SECONDS)
            check_by_hand(one)
        return
    with (
        clusters.running(version, settings=SETTINGS) as kafka,
        tempfile.TemporaryDirectory() as folder,
    ):
        kafka.create_topic(TOPIC, PARTITIONS)
        check_kills(kafka, Path(folder), kills, seed)
        create_again(kafka)
        check_copies(kafka, Path(folder), kills, seed)
        create_again(kafka)
        check_with_java(kafka, Path(folder))


def main() -> None:
    """Do what the command line says."""
    if sys.argv[1:2] == ["--member"]:
        be_member(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", default="4.x", help="such as 4.x or 3.9.2")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=848)
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, brokers.interrupt)
    begun = time.monotonic()
    try:
        run(chosen.version, chosen.kills, chosen.seed)
    except BrokerError as error:
        sys.exit(f"groups_check: {error}")
    print(f"  {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
