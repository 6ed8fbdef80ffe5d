# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks restores that are killed, to a cluster whose leaders are killed meanwhile.

    python -m tools.interop.broker.restore_kills  # 4 kills, half a minute
    python -m tools.interop.broker.restore_kills --kills 40 --mib 64

A log directory is made: all codecs, nulls, headers, offsets with gaps as in a compacted
log. ``kwire restore`` writes it to three brokers, and is ended often at random
moments, with SIGKILL or Ctrl-C. Every third time a leader is killed just before, and
started again while the next run is at work. In the end a run is left alone, and
librdkafka reads everything back: each record once, in order, as it was.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, TopicPartition

from kwire import records
from tools.interop.broker import broker as brokers
from tools.interop.broker import cluster as clusters
from tools.interop.broker.broker import BrokerError
from tools.interop.broker.cluster import Cluster

TOPIC = "restored"
PARTITIONS = 4
RECORD_BYTES = 256
BROKER_KILL_EVERY = 3
SECONDS = 120
START = 1_600_000_000_000
CODECS: Any = ("none", "gzip", "snappy", "lz4", "zstd")

Fields = tuple[int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]
"""Timestamp, key, value and headers."""


def make_logs(folder: Path, mib: float, source: random.Random) -> list[list[Fields]]:
    """Write the log of each partition; return its records."""
    wanted: list[list[Fields]] = []
    count = int(mib * (1 << 20) / RECORD_BYTES / PARTITIONS)
    for partition in range(PARTITIONS):
        rows: list[Fields] = []
        for number in range(count):
            headers = (("n", b"%d" % number), ("null", None)) if number % 3 else ()
            value = source.randbytes(source.randrange(2 * RECORD_BYTES))
            rows.append(
                (
                    START + source.randrange(1 << 30),
                    source.choice([None, b"", b"%d" % number]),
                    None if number % 17 == 0 else value,
                    headers,
                )
            )
        wanted.append(rows)
        path = folder / f"{TOPIC}-{partition}" / f"{0:020}.log"
        path.parent.mkdir()
        offset = start = 0
        with path.open("wb") as file:
            while start < count:
                part = rows[start : start + source.randrange(1, 400)]
                batch = [(key, value, time_, list(h)) for time_, key, value, h in part]
                codec = source.choice(CODECS)
                file.write(
                    records.encode_batch(batch, base_offset=offset, compression=codec)
                )
                start += len(part)
                offset += len(part) + source.randrange(3)
    return wanted


def read_back(kafka: Cluster) -> list[list[Fields]]:
    """Read the topic with librdkafka, from its start to its end."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": kafka.address,
            "group.id": "read-back",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "log_level": 0,
        }
    )
    left = set(range(PARTITIONS))
    rows: list[list[Fields]] = [[] for _ in left]
    consumer.assign([TopicPartition(TOPIC, each, OFFSET_BEGINNING) for each in left])
    deadline = time.monotonic() + SECONDS
    while left:
        if time.monotonic() > deadline:
            raise BrokerError(f"the end of the topic: not within {SECONDS} s")
        for message in consumer.consume(1000, 0.2):
            partition: Any = message.partition()
            if message.error():
                left.discard(partition)
                continue
            kind, stamp = message.timestamp()
            if kind != confluent_kafka.TIMESTAMP_CREATE_TIME:
                raise BrokerError(f"a timestamp of another kind: {kind}")
            if message.offset() != len(rows[partition]):
                raise BrokerError(f"an offset with a gap: {message.offset()}")
            headers: Any = tuple(message.headers() or ())
            rows[partition].append((stamp, message.key(), message.value(), headers))
    consumer.close()
    return rows


class Restore:
    """One run of ``kwire restore``."""

    def __init__(self, kafka: Cluster, folder: Path, rate: float | None) -> None:
        options = ["--create", "--replication-factor", "3"]
        options += ["--topic-config", "min.insync.replicas=2", "--timeout", "10"]
        options += [] if rate is None else ["--rate", str(rate)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kwire", "restore", kafka.address, folder, *options],
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, number: int | None) -> tuple[int, str]:
        """End it by a signal, or wait for its end; return code and last words."""
        if number is not None:
            self._process.send_signal(number)
        _, err = self._process.communicate(timeout=SECONDS)
        return self._process.returncode, err.strip()


def run(version: str, kills: int, mib: float, seed: int) -> None:
    """Kill restores and leaders; compare in the end."""
    source = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="kwire-restore-"))
    codes: dict[int, int] = {}
    broker_kills = 0
    try:
        wanted = make_logs(folder, mib, source)
        # So slow that the last kill still finds something to do.
        rate = max(mib / (3 * kills), 1.0)
        with clusters.running(version) as kafka:
            begun = time.monotonic()
            down = None
            for number in range(1, kills + 1):
                restore = Restore(kafka, folder, rate)
                if down is not None:
                    down.launch()
                    down.wait()
                    down = None
                time.sleep(source.uniform(0.6, 2.5))
                if number % BROKER_KILL_EVERY == 0:
                    leaders = kafka.leaders(TOPIC)
                    # There may be none, nor the topic, so soon after the last kill.
                    leader = leaders.get(source.randrange(PARTITIONS), -1)
                    down = kafka.nodes[max(leader, 1)]
                    down.kill()
                    broker_kills += 1
                    time.sleep(source.choice([0, 0.3]))
                chosen = source.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT])
                code, err = restore.end(chosen)
                codes[code] = codes.get(code, 0) + 1
                # -2 is Ctrl-C before Python has begun to run anything.
                if code not in (-signal.SIGKILL, -signal.SIGINT, 130, 0):
                    raise BrokerError(f"run {number} ended with {code}: {err}")
                print(f"  run {number}: {code}", flush=True)
            if down is not None:
                down.launch()
                down.wait()
            code, err = Restore(kafka, folder, None).end(None)
            seconds = time.monotonic() - begun
            if code:
                raise BrokerError(f"the last run ended with {code}: {err}")
            found = read_back(kafka)
            for partition, (got, rows) in enumerate(zip(found, wanted, strict=True)):
                for index, (a, b) in enumerate(zip(got, rows, strict=False)):
                    if a != b:
                        raise BrokerError(
                            f"{TOPIC}-{partition}: record {index} is {a!r:.200}, not"
                            f" {b!r:.200}"
                        )
                if len(got) != len(rows):
                    raise BrokerError(
                        f"{TOPIC}-{partition}: {len(got)} records, not {len(rows)}"
                    )
            print(
                f"Kafka {kafka.release}, 3 brokers: {sum(map(len, found))} records,"
                f" {kills} runs ended early ({codes.get(-9, 0)} by SIGKILL,"
                f" {codes.get(130, 0) + codes.get(-2, 0)} by Ctrl-C,"
                f" {codes.get(0, 0)} were done before)"
                f" and {broker_kills} x a leader, in {seconds:.0f} s; each record"
                f" once, in order, as it was ({err.splitlines()[-1]})"
            )
    finally:
        shutil.rmtree(folder)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", default="4.x", help="such as 4.x or 3.9.2")
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--mib", type=float, default=8)
    parser.add_argument("--seed", type=int, default=62)
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, brokers.interrupt)
    try:
        run(chosen.version, chosen.kills, chosen.mib, chosen.seed)
    except BrokerError as error:
        sys.exit(f"restore_kills: {error}")


if __name__ == "__main__":
    main()
