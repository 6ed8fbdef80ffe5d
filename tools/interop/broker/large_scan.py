# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks one scan of a large topic: each record once, and bounded memory.

    python -m tools.interop.broker.large_scan                 # 1 GB
    python -m tools.interop.broker.large_scan --gigabytes 10  # needs as much disk

The scan runs in a process of its own; its memory may grow by the budget of the scan and
32 MiB. A part of the chunks is taken slowly, so that more could pile up.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy

from kwire import client
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, workloads
from tools.interop.broker.broker import BrokerError
from tools.interop.broker.bulk_writing import BulkRecord, write_records

PROGRAM = (sys.executable, "-m", "tools.interop.broker.large_scan")
TOPIC = "large"
PARTITIONS = 4
VALUE_BYTES = 10_000
BUDGETS = (16 << 20, 64 << 20)
SLACK = 32 << 20


def write(kafka: brokers.Broker, records: int) -> None:
    """Fill the topic; each value begins with its number."""
    workloads.create_topic(kafka, TOPIC, partitions=PARTITIONS)
    producer = clients.librdkafka_producer(
        kafka, batch_size=1 << 20, queue_buffering_max_kbytes=1 << 18
    )
    rest = random.Random(10).randbytes(VALUE_BYTES - 8)
    write_records(
        producer,
        TOPIC,
        (
            BulkRecord(number.to_bytes(8, "big") + rest, number % PARTITIONS)
            for number in range(records)
        ),
    )


def peak_bytes() -> int:
    """Return the most memory that this process has had."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise BrokerError("no peak of memory in /proc/self/status; this needs Linux")


def scan(address: str, memory_bytes: int) -> dict[str, Any]:
    """Read the topic once; check each record, and return what it took."""
    with client.connect_sync(address) as kafka:
        # What is imported and compiled once is no memory of the scan.
        next(kafka.scan(TOPIC, end=1, memory_bytes=1)).to_arrow()
        before, begun, cpu = peak_bytes(), time.monotonic(), time.process_time()
        following = dict.fromkeys(range(PARTITIONS), 0)
        for number, chunk in enumerate(kafka.scan(TOPIC, memory_bytes=memory_bytes)):
            batch = chunk.to_arrow()
            first = following[chunk.partition]
            offsets = batch.column("offset").to_numpy()
            if not numpy.array_equal(offsets, first + numpy.arange(batch.num_rows)):
                raise BrokerError(f"{chunk}: not the offsets from {first} on")
            value = batch.column("value")[-1].as_py()
            wanted = int(offsets[-1]) * PARTITIONS + chunk.partition
            if int.from_bytes(value[:8], "big") != wanted:
                raise BrokerError(f"{chunk}: the last value is not number {wanted}")
            following[chunk.partition] = first + batch.num_rows
            if number % 50 == 0:
                time.sleep(0.05)
    return {
        "records": sum(following.values()),
        "grown": peak_bytes() - before,
        "seconds": time.monotonic() - begun,
        "cpu": time.process_time() - cpu,
    }


def check(version: str, gigabytes: float) -> None:
    """Write the topic and scan it with each budget."""
    records = int(gigabytes * 1e9) // VALUE_BYTES // PARTITIONS * PARTITIONS
    with brokers.running(version) as kafka:
        begun = time.monotonic()
        write(kafka, records)
        print(f"  {records} records written in {time.monotonic() - begun:.0f} s")
        for budget in BUDGETS:
            done = subprocess.run(
                [*PROGRAM, "--scan", kafka.address, str(budget)],
                stdout=subprocess.PIPE,
                text=True,
            )
            if done.returncode:
                raise BrokerError("the scan has failed")
            found = json.loads(done.stdout)
            mib = budget >> 20
            if found["records"] != records:
                raise BrokerError(f"{found['records']} records, not {records}")
            if found["grown"] > budget + SLACK:
                raise BrokerError(f"{found['grown']} bytes, the budget is {budget}")
            print(
                f"Kafka {kafka.release}: {gigabytes:g} GB in one scan, each record"
                f" once, in {found['seconds']:.0f} s ({found['cpu']:.0f} s of CPU);"
                f" memory grew by {found['grown'] / (1 << 20):.0f} MiB, the budget"
                f" is {mib} MiB",
                flush=True,
            )


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", default="4.x", help="such as 4.x or 3.9.2")
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--scan", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, brokers.interrupt)
    try:
        if chosen.scan:
            print(json.dumps(scan(chosen.scan[0], int(chosen.scan[1]))))
        else:
            check(chosen.version, chosen.gigabytes)
    except BrokerError as error:
        sys.exit(f"large_scan: {error}")


if __name__ == "__main__":
    main()
