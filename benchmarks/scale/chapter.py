# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Plan, list and read logs of up to 80,000 segments."""

from __future__ import annotations

import datetime
import json
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT
from benchmarks.harness.broker_runs import run_contender
from benchmarks.harness.chapters import fill
from benchmarks.harness.tables import table
from benchmarks.scale.executors import MEMORY_MB, ROUNDS, SPLIT
from benchmarks.scale.inputs import SEGMENTS, write_logs
from benchmarks.spark.inputs import write_log

PAGE = ROOT / "docs" / "project" / "scale.md"
OPTIONS: dict[str, object] = {}
PAUSE_MS = 50
COUNTS = (400, 4_000, 80_000)
JOBS = (
    *(("plan", count, 0) for count in COUNTS),
    *(("list", count, 0) for count in COUNTS[:2]),
    *(("plan", count, PAUSE_MS) for count in COUNTS[:2]),
    *(("list", count, PAUSE_MS) for count in COUNTS[:2]),
)
"""Cases: operation, segment count, and delay per store request in milliseconds."""

EXECUTORS = (1, 2, 4)
READ_BYTES, READ_PARTITIONS = 1 << 30, 8

_NAMES = {"plan": "plan of `kafka-log`", "list": "`kwire ls --segments`"}


def measure(json_path: Path) -> None:
    """Measure planning and listing in separate processes, then the Spark reads.

    The figures are written as JSON.
    """
    figures, reads = [], []
    with tempfile.TemporaryDirectory(prefix="kwire-scale-") as name:
        folders = {count: Path(name) / str(count) for count in COUNTS}
        sizes = {count: write_logs(folders[count], count) for count in COUNTS}
        for case, count, pause in JOBS:
            print(f"  {case}, {count:,} segments, pause {pause} ms", flush=True)
            where = (folders[count], pause) if pause else (folders[count],)
            took = run_contender("benchmarks.scale.worker", case, *where)
            figures.append(
                took | {"case": case, "segments": count, "size": sizes[count]}
            )
        log = write_log(Path(name) / "log", READ_BYTES, READ_PARTITIONS)
        for count in EXECUTORS:
            print(f"  a read by {count} executors", flush=True)
            reads.append(run_contender("benchmarks.scale.executors", count, log.path))
    json_path.write_text(json.dumps([figures, reads]))


def _cells(each: dict[str, Any]) -> list[str]:
    return [
        _NAMES[each["case"]],
        f"{each['segments']:,}",
        f"{each['size'] / 1e12:.2f} TB",
        f"{each['splits']:,}" if each["splits"] else "",
        f"{each['cpu']:.2f}",
        f"{each['peak'] / 1e6:.0f} MB",
    ]


def write_chapter(json_path: Path) -> str:
    """Write the page for a finished run. Returns its path as text."""
    from kwire.log.storage import THREADS

    figures, reads = json.loads(json_path.read_text())
    head = ("job", "segments", "size", "splits", "CPU seconds", "peak memory")
    stored = [
        [
            *_cells(each),
            f"{each['wall']:.1f}",
            f"{sum(each['requests'].values()):,}",
        ]
        for each in figures
        if each["requests"]
    ]
    executors = [
        [
            str(len(each["tasks"])),
            str(sum(each["tasks"])),
            str(max(each["tasks"])),
            f"{each['cpu'] / each['rows'] * 1e6:.2f}",
            f"{each['rows'] / each['wall'] / 1e6:.2f}",
        ]
        for each in reads
    ]
    read_head = (
        "executors",
        "tasks",
        "tasks of the busiest",
        "CPU seconds per million rows",
        "million rows a second",
    )
    local = [_cells(each) for each in figures if not each["requests"]]
    PAGE.write_text(
        fill(
            __file__,
            each=SEGMENTS,
            machine=f"{os.cpu_count()} CPUs, Python {platform.python_version()},"
            f" {datetime.date.today().isoformat()}.",
            local=table(head, local),
            stored=table((*head, "seconds", "requests"), stored),
            pause=PAUSE_MS,
            threads=THREADS,
            read=f"{READ_BYTES >> 30} GiB",
            partitions=READ_PARTITIONS,
            memory=MEMORY_MB,
            split=f"{SPLIT[:-1]} MiB",
            rounds=ROUNDS,
            executors=table(read_head, executors),
            cpus=os.cpu_count(),
        )
    )
    return str(PAGE)
