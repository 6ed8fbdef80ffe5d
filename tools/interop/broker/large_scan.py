# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Scan a large topic once and print time and memory as JSON.

Some chunks are consumed slowly, so that data would accumulate if the scan did not limit
its memory.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy

from kwire import client
from tools.interop.broker.broker import BrokerError


def peak_bytes() -> int:
    """Return the peak memory of this process in bytes.

    Raises ``BrokerError`` on other systems than Linux.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise BrokerError("no peak of memory in /proc/self/status; this needs Linux")


def scan(
    address: str, topic: str, partitions: int, memory_bytes: int
) -> dict[str, Any]:
    """Read the topic once, and verify the offsets and values of all records.

    Returns the elapsed time, the processor time and the memory growth.
    """
    with client.connect_sync(address) as kafka:
        # Complete imports and other one-time initialization before measuring memory.
        next(kafka.scan(topic, end=1, memory_bytes=1)).to_arrow()
        before, begun, cpu = peak_bytes(), time.monotonic(), time.process_time()
        following = dict.fromkeys(range(partitions), 0)
        for number, chunk in enumerate(kafka.scan(topic, memory_bytes=memory_bytes)):
            batch = chunk.to_arrow()
            first = following[chunk.partition]
            offsets = batch.column("offset").to_numpy()
            if not numpy.array_equal(offsets, first + numpy.arange(batch.num_rows)):
                raise BrokerError(f"{chunk}: not the offsets from {first} on")
            value = batch.column("value")[-1].as_py()
            wanted = int(offsets[-1]) * partitions + chunk.partition
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


if __name__ == "__main__":
    _, address_, topic_, partitions_, budget_ = sys.argv
    print(json.dumps(scan(address_, topic_, int(partitions_), int(budget_))))
