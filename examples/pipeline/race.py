# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the same ``kafka-log`` job with the compiled engine and with the Python engine.

The log is generated with a suitable size. The engine creates all columns of all rows,
and Spark discards them. All workers of a Spark session use the same engine, so every
engine has a separate session in a separate process, which runs this module as its main
program. In each round the engine also decodes the log without Spark, on one core. The
engines take turns, and the first round is a warm-up.
"""

import json
import os
import random
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

import kwire
from kwire import records
from kwire.jobs.running import open_session
from kwire.records import arrow
from kwire.spark import KafkaLogSource

ENGINES = ("fast", "pure")
CORES = 2
PARTITIONS = 4
BATCHES = 400
BATCH_RECORDS = 500
BATCHES_AT_ONCE = 20
VALUE_BYTES = 200
ROUNDS = 3
KINDS = ("in Spark", "alone")
SECONDS_TO_END = 60
BASE_TIME = 1_700_000_000_000
BASE_OFFSET = struct.Struct(">q")


class Log(NamedTuple):
    """Generated log, with its number of records and its size in bytes."""

    folder: Path
    records: int
    size: int


def write_log(folder: Path) -> Log:
    """Write a log with one segment for each partition."""
    values = random.Random(7)
    rows = [
        (
            b"customer-%d" % values.randrange(10_000),
            values.randbytes(VALUE_BYTES),
            BASE_TIME + number,
        )
        for number in range(BATCH_RECORDS)
    ]
    batch = bytearray(records.encode_batch(rows))
    for partition in range(PARTITIONS):
        path = folder / f"orders-{partition}"
        path.mkdir(parents=True)
        with open(path / f"{0:020}.log", "wb") as file:
            for number in range(BATCHES):
                BASE_OFFSET.pack_into(batch, 0, number * BATCH_RECORDS)
                file.write(batch)
    count = PARTITIONS * BATCHES
    return Log(folder, count * BATCH_RECORDS, count * len(batch))


class Runner:
    """Process with a Spark session for one engine. ``with`` terminates the process.

    ``engines`` lists the engines that its workers use, and ``records`` is the number of
    records that they read.
    """

    def __init__(self, engine: str, log: Log) -> None:
        """Start the process, which starts Spark while other runners do the same."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, str(log.folder)],
            env={**os.environ, "KWIRE_BACKEND": engine},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Runner":
        """Return the runner, whose process may not be ready yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process by closing its stdin."""
        self._process.communicate(timeout=SECONDS_TO_END)

    def wait(self) -> None:
        """Wait until Spark has started. Sets ``engines`` and ``records``."""
        self.engines, self.records = self._read()

    def lap(self, kind: str) -> float:
        """Run one job of the specified kind, and return its duration in seconds."""
        self._process.stdin.write(f"{kind}\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            raise OSError("a Spark of the race has ended")
        return json.loads(line)


def run(log: Log) -> Iterator[dict]:
    """Yield the engines and record counts of all runners, then the rounds.

    A round is a dict with the duration in seconds by (kind, engine).
    """
    with ExitStack() as stack:
        runners = {
            engine: stack.enter_context(Runner(engine, log)) for engine in ENGINES
        }
        for runner in runners.values():
            runner.wait()
        yield {
            engine: (runner.engines, runner.records)
            for engine, runner in runners.items()
        }
        for _ in range(1 + ROUNDS):
            yield {
                (kind, engine): runner.lap(kind)
                for kind in KINDS
                for engine, runner in runners.items()
            }


def medians(rounds: list[dict]) -> dict:
    """Return the median seconds by (kind, engine), without the warm-up."""
    return {
        each: statistics.median(seconds[each] for seconds in rounds[1:])
        for each in rounds[0]
    }


def gains(seconds: dict) -> list[float]:
    """Return the speed ratio of the compiled engine to the Python engine, by kind."""
    return [seconds[kind, "pure"] / seconds[kind, "fast"] for kind in KINDS]


def main() -> None:
    """Run a job for each line of the standard input, and print its seconds."""
    folder = Path(sys.argv[1])
    with open_session(f"local[{CORES}]") as spark:
        spark.dataSource.register(KafkaLogSource)
        reader = spark.read.format("kafka-log").option("minPartitions", PARTITIONS)
        table = reader.load(str(folder))
        told = spark.range(PARTITIONS).mapInArrow(backends, "backend string")
        engines = sorted({backend for (backend,) in told.collect()})
        print(json.dumps((engines, table.count())), flush=True)
        for line in sys.stdin:
            start = time.perf_counter()
            if line.strip() == KINDS[0]:
                table.write.format("noop").mode("overwrite").save()
            else:
                decode(folder)
            print(json.dumps(time.perf_counter() - start), flush=True)


def decode(folder: Path) -> None:
    """Convert the complete log to Arrow arrays, a few batches at a time."""
    for path in sorted(folder.glob("*/*.log")):
        data = memoryview(path.read_bytes())
        size = len(data) // BATCHES * BATCHES_AT_ONCE
        for start in range(0, len(data), size):
            arrow.records_to_arrow(data[start : start + size])


def backends(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the name of the engine that kwire uses in this worker."""
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"backend": [kwire.backend]})


if __name__ == "__main__":
    main()
