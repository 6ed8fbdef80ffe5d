# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Start test clusters, and write and read records through them."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from benchmarks.harness import chapters
from benchmarks.harness.broker_runs import describe_machine, run_contender, write_run
from benchmarks.harness.verdicts import Verdict, target_table
from benchmarks.testing.workload import BROKERS, PARTITIONS, VALUE_BYTES

OPTIONS = {"rounds": 5, "records": 300_000, "cycles": 50}
"""Number of processes, records per process, and starts per process."""

START_S = 0.05
RECORDS_PER_SECOND = 200_000
PACKAGES = ("confluent-kafka",)
_WORKLOAD = "benchmarks.testing.workload"


def measure(json_path: Path, rounds: int, records: int, cycles: int) -> None:
    """Run both workloads in new processes, and save the figures as JSON."""
    starts: list[float] = []
    readings = []
    for _ in range(rounds):
        # The first start also imports modules.
        starts += run_contender(_WORKLOAD, "start", cycles)["starts"][1:]
        readings.append(run_contender(_WORKLOAD, "records", records))
    write_run(json_path, PACKAGES, starts=starts, readings=readings, records=records)


def judge(run: dict[str, Any]) -> list[Verdict]:
    """Compare the medians with the targets."""
    start_s = statistics.median(run["starts"])
    verdicts = [
        Verdict(
            f"start and stop of {BROKERS} brokers",
            f"at most {1000 * START_S:.0f} ms",
            f"{1000 * start_s:.1f} ms",
            start_s <= START_S,
        )
    ]
    for kind in ("produce", "consume"):
        seconds = statistics.median(reading[kind] for reading in run["readings"])
        rate = run["records"] / seconds
        verdicts.append(
            Verdict(
                f"confluent-kafka, {kind}",
                f"at least {RECORDS_PER_SECOND:,} records/s",
                f"{rate:,.0f} records/s",
                rate >= RECORDS_PER_SECOND,
            )
        )
    return verdicts


def write_chapter(json_path: Path) -> str:
    """Write the chapter. Return the table."""
    run = json.loads(json_path.read_text())
    shown = target_table(judge(run))
    text = chapters.fill(
        __file__,
        count=run["records"],
        size=VALUE_BYTES,
        partitions=PARTITIONS,
        machine=describe_machine(run),
        table=shown,
    )
    chapters.put_chapter(chapters.RESULTS, text)
    return shown
