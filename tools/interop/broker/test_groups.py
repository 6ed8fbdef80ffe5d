# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check consumer groups while members and the group coordinator are killed.

Up to five kwire members run as separate processes. They read records written by
librdkafka and commit every chunk. Members and the group coordinator are killed with
SIGKILL, and new members join. Finally, all records must have been read without gaps, no
committed record may have been read again, and ``kafka-consumer-groups`` must report no
lag.

Then members copy a topic with transactions and are killed during transactions. Every
record must be copied exactly once. kwire members also share a group with Java's console
consumer, using the consumer protocol and the classic protocol. With brokers that do not
support the group protocol, partitions are assigned manually, and joining must be
rejected with a single sentence.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from kwire import client
from kwire.client import FeatureUnsupported, RequestRefused
from kwire.testing.state.cluster import hash_key
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, harness, workloads
from tools.interop.broker import cluster as clusters
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.clients import HasAddress
from tools.interop.broker.cluster import Cluster
from tools.interop.broker.harness import SECONDS, Writer, wait_for

PARTITIONS = 6
COPY_PARTITIONS = 4
MEMBERS = 5
COPIERS = 3


class Members:
    """Processes that are members of one group.

    Each of them writes its output to a file.
    """

    def __init__(
        self, kafka: Cluster, topic: str, group: str, folder: Path, copies: str = ""
    ) -> None:
        self.group = group
        self.running: list[subprocess.Popen[bytes]] = []
        self._arguments = kafka.address, topic, group
        self._copies = copies
        self._folder = folder
        self._count = 0

    def join(self) -> None:
        """Start a further process, which joins the group."""
        self._count += 1
        program = [sys.executable, "-m", "tools.interop.broker.group_members"]
        command = [*program, *self._arguments, str(self._count), self._copies]
        with (self._folder / f"{self.group}-{self._count}").open("wb") as out:
            # A child process inherits the blocked signals. SIGTERM is therefore
            # delivered only after the member has installed its handler.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            try:
                self.running.append(subprocess.Popen(command, stdout=out))
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def kill(self, member: subprocess.Popen[bytes]) -> None:
        """Kill a member with SIGKILL."""
        self.running.remove(member)
        member.kill()
        member.wait(SECONDS)

    def __enter__(self) -> Members:
        return self

    def __exit__(self, *_: object) -> None:
        # End all processes even if the check has failed.
        for member in list(self.running):
            self.kill(member)

    def end(self) -> None:
        """Stop all members with SIGTERM, which makes them leave the group.

        Raises ``BrokerError`` if a member ends with an error.
        """
        for member in self.running:
            member.terminate()
        for member in self.running:
            if member.wait(SECONDS):
                raise BrokerError(f"a member of {self.group} ended with an error")
        self.running.clear()

    def check(self) -> None:
        """Raise ``BrokerError`` if a member has ended unexpectedly."""
        for member in self.running:
            if member.poll() is not None:
                raise BrokerError(f"a member of {self.group} ended by itself")

    def rows(self) -> list[tuple[str, float, int, int, int]]:
        """Return the lines that the members have printed.

        A line is the tuple (action, time, partition, start offset, next offset). The
        lines of all members are sorted by time. A truncated last line is ignored.
        """
        rows = []
        for path in self._folder.glob(f"{self.group}-*"):
            for line in path.read_text().splitlines():
                words = line.split()
                if len(words) == 5 and line:
                    event, moment, *numbers = words
                    partition, start, after = map(int, numbers)
                    rows.append((event, float(moment), partition, start, after))
        return sorted(rows, key=lambda row: row[1])


def committed(kafka: HasAddress, topic: str, group: str) -> dict[int, int]:
    """Return the committed offsets of a group by partition, as read by librdkafka.

    Returns an empty dictionary if librdkafka raises an error, for example because the
    coordinator is not available.
    """
    partitions = [confluent_kafka.TopicPartition(topic, n) for n in range(PARTITIONS)]
    reader = confluent_kafka.Consumer(
        {"bootstrap.servers": kafka.address, "group.id": group, "log_level": 0}
    )
    try:
        offsets = reader.committed(partitions, timeout=SECONDS)
    except confluent_kafka.KafkaException:
        return {}
    finally:
        reader.close()
    return {entry.partition: entry.offset for entry in offsets if entry.offset >= 0}


def describe(kafka: Cluster, group: str, *options: str) -> list[list[str]]:
    """Return the rows that ``kafka-consumer-groups --describe`` prints for a group.

    Each row is a list of words.
    """
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


def check_rows(
    rows: list[tuple[str, float, int, int, int]], ends: dict[int, int]
) -> int:
    """Check that members have read each partition up to its end without gaps.

    Records before a committed offset must not be read again. Raises ``BrokerError``
    otherwise. Returns the number of records that were read more than once, which is
    only permitted for uncommitted records.
    """
    done = dict.fromkeys(ends, 0)
    safe = dict.fromkeys(ends, 0)
    again = 0
    for event, _, partition, start, after in rows:
        if event == "committed":
            safe[partition] = max(safe[partition], after)
        elif event == "read":
            if start > done[partition]:
                raise BrokerError(f"partition {partition}: a gap before {start}")
            if start < safe[partition]:
                raise BrokerError(
                    f"partition {partition}: {start} read again after"
                    f" {safe[partition]} was committed"
                )
            again += max(done[partition] - start, 0)
            done[partition] = max(done[partition], after)
    if done != ends:
        raise BrokerError(f"read up to {done}, not {ends}")
    return again


def find_ends(kafka: HasAddress, topic: str) -> dict[int, int]:
    """Return the number of records, which is the end offset, by partition.

    The writer must have ended.
    """
    rows = clients.read_back(kafka, topic)
    return {partition: len(rows[partition]) for partition in rows}


def kill_coordinator(kafka: Cluster, group: str) -> None:
    """Kill the broker that coordinates a group, and restart it after 4 seconds.

    In this time, the cluster detects the crash and elects a new coordinator.
    """
    leaders = kafka.leaders("__consumer_offsets")
    node = leaders[hash_key(group) % len(leaders)]
    kafka.nodes[max(node, 1)].kill()
    time.sleep(4)
    kafka.nodes[max(node, 1)].start()
    kafka.wait_in_sync()


@pytest.mark.plan(3, 848)
def test_members_read_without_gaps_while_members_and_coordinator_are_killed(
    cluster: Cluster, plan: tuple[int, int], tmp_path: Path
) -> None:
    kills, seed = plan
    chance = random.Random(seed)
    topic, group = "read-by-group", "kwire-kills"
    cluster.create_topic(topic, PARTITIONS)
    writer = Writer(cluster, topic, PARTITIONS)
    writer.start()
    with Members(cluster, topic, group, tmp_path) as members:
        for _ in range(3):
            members.join()
        wait_for("the first commits", lambda: len(members.rows()) > 20, [members])
        for number in range(1, kills + 1):
            while len(members.running) < MEMBERS:
                members.join()
            time.sleep(chance.uniform(0.5, 3))
            if number % 3:
                members.kill(chance.choice(members.running))
            else:
                kill_coordinator(cluster, group)
            members.check()
            writer.check()
        writer.end()
        ends = find_ends(cluster, topic)
        is_at_end = lambda: committed(cluster, topic, group) == ends  # noqa: E731
        took = wait_for("the end", is_at_end, [members])
        members.end()
    again = check_rows(members.rows(), ends)
    lag = {int(row[2]): row[5] for row in describe(cluster, group)}
    assert lag == dict.fromkeys(ends, "0"), "kafka-consumer-groups shows a lag"
    lost = sum(row[0] == "lost" for row in members.rows())
    print(
        f"{sum(ends.values())} records, {kills} kills ({kills // 3} of the"
        f" coordinator): all read without a gap, {again} read again, none that were"
        f" committed; {lost} commits refused for lost partitions; at the end after"
        f" {took:.1f} s, no lag"
    )


def has_open(kafka: Cluster, topic: str) -> bool:
    """Return whether a topic has open transactions.

    If so, the last stable offset of a partition is less than its end offset.
    """
    latest = clusters.admin.OffsetSpec.latest()
    partitions = {
        confluent_kafka.TopicPartition(topic, n): latest for n in range(COPY_PARTITIONS)
    }
    levels = confluent_kafka.IsolationLevel
    admin_client = kafka.client()
    committed_ends, ends = (
        [future.result(SECONDS).offset for future in offsets.values()]
        for offsets in (
            admin_client.list_offsets(partitions, isolation_level=level)
            for level in (levels.READ_COMMITTED, levels.READ_UNCOMMITTED)
        )
    )
    return bool(committed_ends != ends)


@pytest.mark.plan(3, 848)
def test_members_copy_each_record_once_while_members_are_killed(
    cluster: Cluster, plan: tuple[int, int], tmp_path: Path
) -> None:
    kills, seed = plan
    chance = random.Random(seed)
    topic, copies, group = "copied-by-group", "copies", "kwire-copies"
    cluster.create_topic(topic, PARTITIONS)
    cluster.create_topic(copies, COPY_PARTITIONS)
    writer = Writer(cluster, topic, PARTITIONS)
    writer.start()
    with Members(cluster, topic, group, tmp_path, copies) as members:
        for number in range(kills + 1):
            while len(members.running) < COPIERS:
                members.join()
            goal = len(members.rows()) + 20
            wait_for("copies", lambda goal=goal: len(members.rows()) > goal, [members])  # type: ignore[misc]
            if number < kills:
                members.kill(chance.choice(members.running))
        writer.end()
        ends = find_ends(cluster, topic)
        is_at_end = lambda: committed(cluster, topic, group) == ends  # noqa: E731
        took = wait_for("the end", is_at_end, [members])
        # Members that were killed may have left open transactions, which end by
        # timeout.
        is_closed = lambda: not has_open(cluster, copies)  # noqa: E731
        wait_for("the end of transactions", is_closed, [members])
        members.end()
    rows = clients.read_rows(cluster, copies, committed=True)
    values = [
        [row.value or b"" for row in partition_values]
        for partition_values in rows.values()
    ]
    written = sorted(value for _, _, value in writer.acknowledged)
    assert (
        sorted(value for partition_values in values for value in partition_values)
        == written
    )
    for partition_values in values:
        numbers = [int(value.rstrip(b".")) for value in partition_values]
        harness.expect_ordered(b"%d %d" % (n % PARTITIONS, n) for n in numbers)
    print(
        f"{len(written)} records copied in transactions by {COPIERS} members, of which"
        f" {kills} were killed: each once and in order; at the end after {took:.1f} s"
    )


def start_java(
    kafka: Cluster, topic: str, group: str, protocol: str, out: Any
) -> subprocess.Popen[bytes]:
    """Start Java's console consumer as a member of the group. Returns its process.

    ``protocol`` is the group protocol: "consumer" or "classic".
    """
    package = "org.apache.kafka.tools.consumer.ConsoleConsumer"
    return subprocess.Popen(
        brokers.java(
            kafka.release,
            package,
            "--bootstrap-server",
            kafka.address,
            "--topic",
            topic,
            "--group",
            group,
            "--consumer-property",
            f"group.protocol={protocol}",
            "--consumer-property",
            "auto.offset.reset=earliest",
        ),
        stdout=out,
    )


def test_kwire_and_java_members_share_a_group(cluster: Cluster, tmp_path: Path) -> None:
    """Use two kwire members and two Java members, one of them with classic protocol."""
    topic, group = "shared-with-java", "kwire-and-java"
    cluster.create_topic(topic, PARTITIONS)
    printed = tmp_path / "java-consumer", tmp_path / "java-classic"
    with Members(cluster, topic, group, tmp_path) as members:
        members.join()
        members.join()
        running: list[subprocess.Popen[bytes]] = []
        try:
            for path in printed:
                with path.open("wb") as out:
                    running.append(
                        start_java(cluster, topic, group, path.name[5:], out)
                    )

            def is_shared() -> bool:
                rows = describe(cluster, group, "--members")
                return sorted(row[4] for row in rows) == ["1", "1", "2", "2"]

            took = wait_for("four members with all partitions", is_shared, [members])
            writer = Writer(cluster, topic, PARTITIONS)
            writer.start()
            time.sleep(3)
            writer.end()
            for member in running:
                member.terminate()
            for member in running:
                member.wait(SECONDS)
        finally:
            for member in running:
                member.kill()
        ends = find_ends(cluster, topic)
        is_at_end = lambda: committed(cluster, topic, group) == ends  # noqa: E731
        wait_for("the end", is_at_end, [members])
        members.end()
    by_kwire = sum(
        after - start for event, _, _, start, after in members.rows() if event == "read"
    )
    by_java = [len(set(path.read_bytes().splitlines())) for path in printed]
    total = sum(ends.values())
    assert all(by_java)
    assert by_kwire + sum(by_java) >= total
    print(
        f"all members have partitions after {took:.1f} s; {total} records, of which"
        f" kwire read {by_kwire} and Java {by_java}; no lag"
    )


@pytest.mark.releases("3.9", "2.8")
def test_offsets_of_partitions_that_are_assigned_manually(kafka: Broker) -> None:
    """Assigned partitions do not require a group protocol. All brokers support them."""
    topic = "by-hand"
    workloads.create_topic(kafka, topic, partitions=PARTITIONS)
    writer = Writer(kafka, topic, PARTITIONS)
    writer.start()
    time.sleep(2)
    writer.end()
    ends = find_ends(kafka, topic)
    next_offsets: dict[int, int] = dict.fromkeys(ends, 0)
    with client.connect_sync(kafka.address) as opened:
        for _ in range(2):
            # The second consumer continues at the offsets that the first consumer has
            # committed.
            with opened.consumer(
                topic, group_id="by-hand", partitions="all"
            ) as consumer:
                for _ in range(3):
                    chunk = consumer.poll(10)
                    if chunk is None:
                        break
                    assert chunk.start_offset == next_offsets[chunk.partition]
                    next_offsets[chunk.partition] = chunk.next_offset
                    consumer.commit(chunk)
        with opened.consumer(topic, group_id="by-hand", partitions="all") as consumer:
            while next_offsets != ends:
                chunk = consumer.poll(10)
                assert chunk is not None, f"read up to {next_offsets}, not {ends}"
                next_offsets[chunk.partition] = chunk.next_offset
            consumer.commit()
        assert committed(kafka, topic, "by-hand") == ends
        # Kafka 3.7 to 3.9 know the heartbeat request but disable its protocol by
        # default.
        with (
            pytest.raises((FeatureUnsupported, RequestRefused)) as refusal,
            opened.consumer(topic, group_id="joined") as consumer,
        ):
            consumer.poll(10)
    print(f"{sum(ends.values())} records by hand, committed\n  {refusal.value}")
