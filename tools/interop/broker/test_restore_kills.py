# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check ``kwire restore`` while it and the partition leaders are killed.

The log directory contains all codecs, nulls, headers, and offset gaps as in a compacted
log. ``kwire restore`` writes it to the cluster, and is stopped at random moments with
SIGKILL or Ctrl-C. Before every third stop, a leader is killed. It is restarted while
the next run is active. Finally one run completes without interruption, and librdkafka
reads back all records: exactly once, in order and unchanged.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from kwire import records
from tools.interop.broker import clients, harness
from tools.interop.broker.cluster import Cluster

TOPIC = "restored"
PARTITIONS = 4
MIB = 8
RECORD_BYTES = 256
BROKER_KILL_EVERY = 3
SECONDS = 120
START = 1_600_000_000_000
CODECS: Any = ("none", "gzip", "snappy", "lz4", "zstd")
INTERRUPTED = -signal.SIGINT, 130
"""Exit codes after Ctrl-C. The first occurs before Python starts executing code."""

Fields = tuple[int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]
"""Timestamp, key, value and headers."""


def make_logs(folder: Path, mib: float, source: random.Random) -> list[list[Fields]]:
    """Write a log of ``mib`` MiB in total, divided equally between the partitions.

    Returns the records of each partition.
    """
    rows_by_partition: list[list[Fields]] = []
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
        rows_by_partition.append(rows)
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
    return rows_by_partition


def read_back(kafka: Cluster) -> list[list[Fields]]:
    """Read the restored topic with librdkafka. Returns the records of each partition.

    The offsets must start at 0 and have no gaps.
    """
    rows_by_partition = []
    for messages in clients.read_back(kafka, TOPIC, committed=True).values():
        rows: list[Fields] = []
        for message in messages:
            kind, stamp = message.timestamp()
            assert kind == confluent_kafka.TIMESTAMP_CREATE_TIME
            assert message.offset() == len(rows)
            headers: Any = tuple(message.headers() or ())
            rows.append((stamp, message.key(), message.value(), headers))
        rows_by_partition.append(rows)
    return rows_by_partition


class Restore:
    """Process that runs ``kwire restore``."""

    def __init__(self, kafka: Cluster, folder: Path, rate: float | None) -> None:
        options = ["--create-topics", "--replication-factor", "3"]
        options += ["--topic-config", "min.insync.replicas=2", "--timeout", "10"]
        options += [] if rate is None else ["--rate", str(rate)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kwire", "restore", kafka.address, folder, *options],
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, number: int | None) -> tuple[int, str]:
        """Send the signal ``number`` and wait for the end, or only wait if it is None.

        Returns the exit code and the standard error output.
        """
        if number is not None:
            self._process.send_signal(number)
        _, err = self._process.communicate(timeout=SECONDS)
        return self._process.returncode, err.strip()


@pytest.mark.plan(4, 62)
def test_a_restore_that_is_killed_goes_on_until_each_record_is_there_once(
    cluster: Cluster, plan: tuple[int, int], tmp_path: Path
) -> None:
    kills, seed = plan
    source = random.Random(seed)
    expected = make_logs(tmp_path, MIB, source)
    # MiB per second. At this rate, an uninterrupted run would take three seconds per
    # kill, so the restore is still incomplete at the last kill.
    rate = max(MIB / (3 * kills), 1.0)
    codes: Counter[int] = Counter()
    down = None
    for number in range(1, kills + 1):
        restore = Restore(cluster, tmp_path, rate)
        if down is not None:
            down.start()
            down = None
        time.sleep(source.uniform(0.6, 2.5))
        if number % BROKER_KILL_EVERY == 0:
            # The topic does not exist yet if all previous runs were stopped early. Kill
            # node 1 in this case.
            leaders = cluster.leaders(TOPIC)
            leader = leaders.get(source.randrange(PARTITIONS), -1)
            down = cluster.nodes[max(leader, 1)]
            down.kill()
            time.sleep(source.choice([0, 0.3]))
        chosen = source.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT])
        code, err = restore.end(chosen)
        codes[code] += 1
        assert code in (-signal.SIGKILL, *INTERRUPTED, 0), err
    if down is not None:
        down.start()
    code, err = Restore(cluster, tmp_path, None).end(None)
    assert code == 0, err
    restored = read_back(cluster)
    assert len(restored) == PARTITIONS
    for partition, rows in enumerate(expected):
        harness.expect_same(f"{TOPIC}-{partition}", restored[partition], rows)
    cluster.wait_in_sync()
    print(
        f"{sum(map(len, restored))} records, {kills} runs ended early (exit codes"
        f" {dict(codes)}) and {kills // BROKER_KILL_EVERY} kills of a leader; each"
        f" record once, in order, unchanged ({err.splitlines()[-1]})"
    )
