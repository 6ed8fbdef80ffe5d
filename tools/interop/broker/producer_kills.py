# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks producers of a cluster whose leaders are killed and restarted meanwhile.

    python -m tools.interop.broker.producer_kills  # 3 kills
    python -m tools.interop.broker.producer_kills --kills 50

Three brokers. Idempotent producers write all the time: a blocking one rows, an asyncio
one single records. In the end librdkafka reads everything back: each record that was
acknowledged is there once, in order, where its receipt says.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import time

from kwire import client
from tools.interop.broker import broker as brokers
from tools.interop.broker import cluster as clusters
from tools.interop.broker.broker import BrokerError
from tools.interop.broker.cluster import Cluster
from tools.interop.broker.kills import PARTITIONS, TOPIC, Task, read_back, wait_for

ROWS = 200


class Writer(Task):
    """Writes numbered values; ``receipts`` are what it got for them."""

    def __init__(self, kafka: Cluster, name: str) -> None:
        super().__init__(name)
        self.written: list[bytes] = []
        self.receipts: list[client.Receipt] = []
        self._address = kafka.address


class BlockingWriter(Writer):
    """Writes numbered rows with blocking calls."""

    def work(self) -> None:
        """Write until the end; each call has to be acknowledged."""
        with (
            client.connect_sync(self._address) as kafka,
            kafka.producer(compression="lz4", batch_bytes=8 << 10) as producer,
        ):
            while not self.is_ending:
                first = len(self.written)
                numbers = range(first, first + ROWS)
                rows = [(b"b%d" % (n % 7), b"b%d %d" % (n % 7, n)) for n in numbers]
                self.receipts += producer.send_many(TOPIC, rows)
                self.written += [value for _, value in rows]
                time.sleep(0.02)


class AsyncWriter(Writer):
    """Writes numbered records over asyncio, one by one."""

    def work(self) -> None:
        """Write until the end; a record that is not acknowledged is a failure."""
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
                await producer.append(TOPIC, key=key, value=value)
                self.written.append(value)
                if not number % 50:
                    await asyncio.sleep(0.05)


def check(kafka: Cluster, writers: list[Writer]) -> int:
    """Compare what was written with what librdkafka reads back."""
    found = read_back(kafka)
    counts: dict[bytes, int] = {}
    numbers: dict[bytes, list[int]] = {}
    for rows in found.values():
        for _, _, _, value in rows:
            if value is None:
                raise BrokerError("a record without a value was never written")
            counts[value] = counts.get(value, 0) + 1
            key, _, number = value.partition(b" ")
            numbers.setdefault(key, []).append(int(number))
    for writer in writers:
        for value in writer.written:
            if counts.pop(value, 0) != 1:
                raise BrokerError(f"{writer.name}: {value!r} is not there once")
        ends = {partition: len(rows) for partition, rows in found.items()}
        for receipt in writer.receipts:
            end = receipt.base_offset + receipt.record_count
            if end > ends[receipt.partition]:
                raise BrokerError(f"{writer.name}: {receipt} is after the end")
        total = sum(each.record_count for each in writer.receipts)
        if total != len(writer.written):
            raise BrokerError(f"{writer.name}: receipts for {total} records")
    if counts:
        raise BrokerError(f"{len(counts)} records were never written")
    for key, each in numbers.items():
        if each != sorted(each):
            raise BrokerError(f"records of the key {key!r} are out of order")
    return sum(map(len, found.values()))


def run(version: str, kills: int, seed: int) -> None:
    """Kill leaders of a cluster that is written to; compare in the end."""
    source = random.Random(seed)
    with clusters.running(version) as kafka:
        kafka.create_topic(TOPIC, PARTITIONS)
        writers: list[Writer] = [
            BlockingWriter(kafka, "blocking producer"),
            AsyncWriter(kafka, "asyncio producer"),
        ]
        tasks: list[Task] = [*writers]
        for each in tasks:
            each.start()
        has_begun = lambda: all(each.receipts for each in writers)  # noqa: E731
        wait_for("the first records", has_begun, tasks)
        for number in range(1, kills + 1):
            begun = time.monotonic()
            leader = kafka.leaders(TOPIC)[source.randrange(PARTITIONS)]
            node = kafka.nodes[max(leader, 1)]
            node.kill()
            time.sleep(source.choice([0, 0.5, 4]))
            node.launch()
            node.wait()
            kafka.wait_in_sync(TOPIC)
            for each in tasks:
                each.check()
            print(f"  kill {number}: {time.monotonic() - begun:.1f} s", flush=True)
        for each in tasks:
            each.end()
        count = check(kafka, writers)
        print(
            f"Kafka {kafka.release}, 3 brokers, {kills} kills of leaders: {count}"
            " records of two producers, each once and in the order of its key"
        )


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
        sys.exit(f"producer_kills: {error}")


if __name__ == "__main__":
    main()
