# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure ``kafka-log`` tasks without Spark, and a lower bound for them.

All tasks in a case are read in this process, and their batches are discarded. The lower
bound is the work that no reader can avoid: computing one CRC over the file's bytes, and
copying them once.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable

from crc32c import crc32c

from benchmarks.spark.cases import LOG, LOG_VALUE, ONE_COLUMN, make_reader
from benchmarks.spark.inputs import LogInput
from benchmarks.spark.sources import SPARK_SCHEMA

LEAST = "a CRC and a copy of the file"
_TIMES = 7
_CHUNK = 3 << 20


def core_seconds(log: LogInput) -> dict[str, float]:
    """Return the minimum CPU seconds per row of several runs, by name of the work."""

    def read(schema: str) -> None:
        reader = make_reader(log, schema)
        for part in reader.partitions():
            for _ in reader.read(part):
                pass

    def touch() -> None:
        with (
            open(log.segment, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages,
            memoryview(pages) as view,
        ):
            for start in range(0, len(view), _CHUNK):
                with view[start : start + _CHUNK] as chunk:
                    crc32c(chunk)
                    bytes(chunk)

    works: dict[str, Callable[[], None]] = {
        LOG: lambda: read(SPARK_SCHEMA),
        LOG_VALUE: lambda: read(ONE_COLUMN),
        LEAST: touch,
    }
    best = dict.fromkeys(works, float("inf"))
    for _ in range(_TIMES):
        for name, work in works.items():
            begun = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - begun)
    return {name: seconds / log.rows for name, seconds in best.items()}
