# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read one topic once in a separate process and print the figures as JSON.

Usage: ``python -m benchmarks.adapters.contender ADAPTED READER ADDRESS TOPIC PARTITIONS
RECORDS``. ADAPTED is 0 or 1. The CPU time covers the whole process, from before the
connection is opened until after the last record. Imports are not included.
"""

from __future__ import annotations

import json
import sys

from benchmarks.live import contender as live
from kwire.client import adapters

READERS = {
    "aiokafka getmany": ("aiokafka", live.aiokafka_rows, live.touch_rows),
    "aiokafka async for": ("aiokafka", live.aiokafka_each, None),
    "kafka-python poll": ("kafka", live.kafka_python_rows, live.touch_rows),
    "kafka-python for": ("kafka", live.kafka_python_each, None),
    "kafka-python poll, no crc32c": ("kafka", live.kafka_python_rows, live.touch_rows),
    "kafka-python for, no crc32c": ("kafka", live.kafka_python_each, None),
}


def main() -> None:
    """Run the reader that the command line names, and print its figures as JSON."""
    adapted, name, *arguments = sys.argv[1:]
    if name.endswith("no crc32c"):
        sys.modules["crc32c"] = None  # type: ignore[assignment]
    job = live.Job(arguments)
    package, read, touch = READERS[name]
    __import__(package)
    if int(adapted):
        adapter = adapters.aiokafka if package == "aiokafka" else adapters.kafka_python
        if not adapter.install():
            raise SystemExit(f"there is no adapter for this version of {package}")
    print(json.dumps(live.measure(read, touch, job)))


if __name__ == "__main__":
    main()
