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
"""The cases: what is done, of how many segments, with which pause of a store."""

EXECUTORS = (1, 2, 4)
READ_BYTES, READ_PARTITIONS = 1 << 30, 8

_NAMES = {"plan": "plan of `kafka-log`", "list": "`kwire ls --segments`"}

_TEXT = """\
# How it grows

This page has what a plan of [`kafka-log`](../spark/index.md) and `kwire ls` take for a
few hundred to 80,000 segments: time, memory, and requests to an object store.
`python -m benchmarks scale` measures it and writes this page.

The segments have 268 MB each, {each} in a partition, in batches of 16 KB with an entry
in `.index` and `.timeindex` for each. They are sparse: planning and listing read none
of what is left out. CPU is what the process took; on an idle machine it takes as long.
The files are in the page cache; a disk adds its time for a few pages of each segment.

{machine}

## On a disk

{local}

* Time is linear in the segments: the size of each file and its index are read once. A
  plan checks three batches at each end of a split; a listing reads the first header
  and those from the last entry of the index on.
* Memory is that of the plan itself, about 1.5 KB for a segment with two splits. No
  index stays in memory.
* One thread plans: most of the time is that of Python itself.

## In an object store

Here each request takes {pause} ms, and a listing takes one for each 1,000 objects.

{stored}

* A plan sends two requests for a segment that is split, its index and the batches at
  the cut, and one more for each further cut. Segments of at most `maxPartitionBytes`
  require none. A client of `pyarrow.fs` sends one more for the size of each file that
  it opens.
* A listing sends five requests for a segment.
* {threads} requests run at once: a plan takes {pause} ms x requests / {threads}, and
  what the client needs for them. The listing of the objects runs alone before.

## With more executors

A read of {read} in {partitions} partitions, eight columns of each row, by executors
that are processes with one core and {memory} MB each; splits have at most {split}.
Medians of {rounds} reads. CPU is that of Spark and of all its workers.

{executors}

* Tasks share nothing but what the driver planned, so rows per second grow with the
  cores of executors, as long as disks and network keep up.
* The CPU for a row differs by a tenth or two from run to run. More executors than the
  {cpus} cores here are not faster, and a row costs more where they share a core.
* The driver works for a moment on each task. Splits are distributed as executors become
  free.

## Where it ends

* Each split is a task of Spark, and what the driver planned is sent to it. A larger
  `maxPartitionBytes` makes fewer.
* `startingTimestamp` reads the time index of every segment before the one that it
  finds, in full: about 4 ms for each of those above.
* `isolationLevel=read_committed` reads the headers of all batches before anything else.
  On 1 TB that is every page that has a header.
* A segment without `.index`, or with one that does not fit, is hopped through from
  header to header; in a store 1 MiB is read for each cut.
* `failOnDataLoss`, and `view=batches`, read headers too. `view=problems` and
  `view=index` have one task for each partition.
* The newest segment of each partition is copied, not mapped, for an hour after its last
  write, and its time index is read in full.
"""


def measure(json_path: Path) -> None:
    """Measure every case in a process of its own: planning and listing, then reads."""
    found, reads = [], []
    with tempfile.TemporaryDirectory(prefix="kwire-scale-") as name:
        folders = {count: Path(name) / str(count) for count in COUNTS}
        sizes = {count: write_logs(folders[count], count) for count in COUNTS}
        for case, count, pause in JOBS:
            print(f"  {case}, {count:,} segments, pause {pause} ms", flush=True)
            where = (folders[count], pause) if pause else (folders[count],)
            took = run_contender("benchmarks.scale.worker", case, *where)
            found.append(took | {"case": case, "segments": count, "size": sizes[count]})
        log = write_log(Path(name) / "log", READ_BYTES, READ_PARTITIONS)
        for count in EXECUTORS:
            print(f"  a read by {count} executors", flush=True)
            reads.append(run_contender("benchmarks.scale.executors", count, log.path))
    json_path.write_text(json.dumps([found, reads]))


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
    """Write the page of one run; return its path."""
    from kwire.log.parallel import THREADS

    found, reads = json.loads(json_path.read_text())
    head = ("job", "segments", "size", "splits", "CPU seconds", "peak memory")
    stored = [
        [
            *_cells(each),
            f"{each['wall']:.1f}",
            f"{sum(each['requests'].values()):,}",
        ]
        for each in found
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
    local = [_cells(each) for each in found if not each["requests"]]
    PAGE.write_text(
        _TEXT.format(
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
