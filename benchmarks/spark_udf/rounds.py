# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One run: all cases in turn, round after round, written as JSON.

The order is shuffled before every round. The first rounds are not counted, because Java
is still compiling.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT
from benchmarks.harness.broker_runs import write_run
from benchmarks.spark.session import open_session
from benchmarks.spark_udf import cases as work
from benchmarks.spark_udf import inputs

WARM_ROUNDS = 2
ROUNDS = 5
READING = "reading"
PURE_ROWS = 2_000

_PACKAGES = ("pyspark", "pyarrow", "aiokafka", "kafka-python", "kio")


def measure_cases(
    cases: list[work.Case], rows_by_column: dict[str, Any], rounds: int, warm: int
) -> dict[str, dict[str, list[float]]]:
    """Run all cases in each round, and return the seconds of the counted rounds.

    ``warm`` is the number of rounds that are not counted. The keys of the result are
    the column and the name of the case.
    """
    turns: list[tuple[str, str, Any]] = [
        (column, READING, work.run_reading) for column in rows_by_column
    ]
    turns += [
        (case.column, case.name, lambda rows, case=case: work.run(case, rows))
        for case in cases
    ]
    seconds: dict[str, dict[str, list[float]]] = {name: {} for name in rows_by_column}
    order = random.Random("spark-udf")
    for number in range(warm + rounds):
        order.shuffle(turns)
        for column, name, job in turns:
            start = time.perf_counter()
            job(rows_by_column[column])
            if number >= warm:
                taken = time.perf_counter() - start
                seconds[column].setdefault(name, []).append(taken)
        print(f"  round {number + 1} of {warm + rounds}", flush=True)
    return seconds


def measure(json_path: Path) -> None:
    """Write the inputs, measure all cases, and write the figures as JSON."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="spark-udf-") as name:
        folder = Path(name)
        columns = {
            work.RECORD_SETS: inputs.write_record_sets(folder / "sets.parquet"),
            work.METADATA: inputs.write_responses(folder / "responses.parquet"),
        }
        with open_session(folder) as session:
            cases = work.make_cases()
            rows_by_column = {
                column: work.read_column(session, file)
                for column, file in columns.items()
            }
            print("the same values from every case", flush=True)
            work.check(cases, rows_by_column)
            seconds = measure_cases(cases, rows_by_column, ROUNDS, WARM_ROUNDS)
        print("the engine in plain Python", flush=True)
        pure = _measure_pure()
    java = subprocess.run(["java", "-version"], capture_output=True, text=True)
    write_run(
        json_path,
        _PACKAGES,
        java=java.stderr.partition("\n")[0],
        rounds={"warm": WARM_ROUNDS, "measured": ROUNDS},
        bytes={column: file.size for column, file in columns.items()},
        seconds=seconds,
        pure=pure,
    )


def _measure_pure() -> dict[str, dict[str, list[float]]]:
    """Measure fewer rows in a Spark session whose workers use the Python engine."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.spark_udf.pure_engine", str(PURE_ROWS)],
        cwd=ROOT,
        env={**os.environ, "KWIRE_BACKEND": "pure"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )

    seconds: dict[str, dict[str, list[float]]] = json.loads(
        done.stdout.splitlines()[-1]
    )
    return seconds
