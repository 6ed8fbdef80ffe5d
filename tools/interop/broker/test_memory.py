# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Scan a topic with 1 GB: all records exactly once, with limited memory.

The scan runs in a separate process. Its memory may grow by the memory limit of the scan
plus 32 MiB.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable

import pytest

from tools.interop.broker import clients, workloads
from tools.interop.broker.broker import Broker
from tools.interop.broker.bulk_writing import BulkRecord, write_records

TOPIC = "large"
PARTITIONS = 4
VALUE_BYTES = 10_000
RECORDS = 100_000
SLACK = 32 << 20


@pytest.fixture(scope="module")
def large(start_broker: Callable[..., Broker], version: str) -> str:
    """Address of a broker that contains the topic.

    Each value starts with the number of its record, so that the scan can be verified.
    """
    kafka = start_broker(version)
    workloads.create_topic(kafka, TOPIC, partitions=PARTITIONS)
    producer = clients.librdkafka_producer(
        kafka, batch_size=1 << 20, queue_buffering_max_kbytes=1 << 18
    )
    padding = random.Random(10).randbytes(VALUE_BYTES - 8)
    records = (
        BulkRecord(number.to_bytes(8, "big") + padding, number % PARTITIONS)
        for number in range(RECORDS)
    )
    write_records(producer, TOPIC, records)
    return kafka.address


@pytest.mark.releases("4.x")
@pytest.mark.parametrize("budget", [16 << 20, 64 << 20])
def test_the_memory_of_a_scan_stays_within_its_budget(large: str, budget: int) -> None:
    program = [sys.executable, "-m", "tools.interop.broker.large_scan"]
    done = subprocess.run(
        [*program, large, TOPIC, str(PARTITIONS), str(budget)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout)
    assert result["records"] == RECORDS
    assert result["grown"] <= budget + SLACK
    print(
        f"1 GB in one scan, each record once, in {result['seconds']:.0f} s"
        f" ({result['cpu']:.0f} s of CPU); memory grew by"
        f" {result['grown'] / (1 << 20):.0f} MiB, the budget is {budget >> 20} MiB"
    )
