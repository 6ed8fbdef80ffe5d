# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure one run: memory first, then all cases in turn for several rounds.

The order is shuffled before every round, but cases that are compared run consecutively.
The first rounds are not counted, because the JVM is still compiling.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT
from benchmarks.harness.broker_runs import write_run
from benchmarks.spark import cases as work
from benchmarks.spark.inputs import LogInput, write_log
from benchmarks.spark.memory import peak_memory
from benchmarks.spark.reading import core_seconds
from benchmarks.spark.session import open_session

WARM_ROUNDS = 4
ROUNDS = 7
PURE_BYTES = 8 << 20

_PACKAGES = ("pyspark", "pyarrow", "pandas", "aiokafka", "kafka-python")


def _seconds(case: work.Case) -> float:
    durations = []
    for _ in range(case.times):
        begun = time.perf_counter()
        work.run(case)
        durations.append(time.perf_counter() - begun)
    return statistics.median(durations)


def _measure(cases: Sequence[work.Case]) -> dict[str, list[float]]:
    seconds_by_case: dict[str, list[float]] = {case.name: [] for case in cases}
    groups: dict[str, list[work.Case]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    turns = list(groups.values())
    order = random.Random("spark")
    for number in range(WARM_ROUNDS + ROUNDS):
        begun = time.perf_counter()
        order.shuffle(turns)
        for group in turns:
            order.shuffle(group)
            for case in group:
                seconds = _seconds(case)
                if number >= WARM_ROUNDS:
                    seconds_by_case[case.name].append(seconds)
        kind = "warm-up" if number < WARM_ROUNDS else "measured"
        taken = time.perf_counter() - begun
        print(
            f"  round {number + 1} of {WARM_ROUNDS + ROUNDS}, {kind}: {taken:.1f} s",
            flush=True,
        )
    return seconds_by_case


def _memory(session: Any, log: LogInput) -> dict[str, dict[str, int]]:
    """Return the memory of a worker for 1 GiB, with several splits and with one."""

    def job(**options: str) -> None:
        table = work.kafka_log(session, log, **options)
        table.write.format("noop").mode("overwrite").save()

    return {
        "splits": peak_memory(session, job),
        "whole": peak_memory(
            session, lambda: job(maxPartitionBytes="2g", minPartitions="1")
        ),
    }


def _pure(folder: Path) -> dict[str, float]:
    """Measure the Python engine in a separate Spark session.

    Returns the number of rows and the seconds.
    """
    log = write_log(folder / "pure", PURE_BYTES)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.spark.pure_engine", log.path],
        cwd=ROOT,
        env={**os.environ, "KWIRE_BACKEND": "pure"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return {"rows": log.rows, "seconds": float(done.stdout)}


def measure(json_path: Path) -> None:
    """Write the inputs, measure all cases, and save the figures as JSON."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="spark-") as name:
        folder = Path(name)
        print("writing logs of 1.3 GiB and frames", flush=True)
        logs = work.write_logs(folder)
        with open_session(folder) as session:
            cases = work.make_cases(session, folder, logs)
            print("memory of a worker", flush=True)
            memory = _memory(session, logs["1 GiB"])
            print("the same values and rows from every case", flush=True)
            work.check(cases, logs["small"])
            seconds = _measure(cases)
            print("the tasks without Spark", flush=True)
            reading = core_seconds(logs["256 MiB"])
        print("the engine in plain Python", flush=True)
        pure = _pure(folder)
    java = subprocess.run(["java", "-version"], capture_output=True, text=True)
    write_run(
        json_path,
        _PACKAGES,
        java=java.stderr.partition("\n")[0],
        rounds={"warm": WARM_ROUNDS, "measured": ROUNDS},
        cases={
            case.name: {
                "rows": case.rows,
                "bytes": case.size,
                "seconds": seconds[case.name],
            }
            for case in cases
        },
        memory=memory,
        reading=reading,
        pure=pure,
    )
