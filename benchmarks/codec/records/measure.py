# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure memory for records, and the commands that read log segments.

The segment repeats one batch and only changes its base offset, which is not covered by
the CRC. It is a temporary file that has just been written, so its data is in the page
cache.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.codec.records.targets import (
    COLUMN_HOLDERS,
    COLUMN_TASKS,
    CRC_ALONE,
    DUMP,
    HELD_COUNT,
    HELD_TASK,
    HELD_TITLE,
    HOLDERS,
    MEMORY,
    SEGMENTS,
    VERIFY,
    VERIFY_SMALL,
    held_title,
)
from benchmarks.harness import ROOT
from benchmarks.harness.replay import clock, replay
from benchmarks.workloads.records import encoded, rows

BATCH = "1k_100B"
SEGMENT_BYTES = 2**30
ROUNDS = 5
DUMPED_LINES = 200_000

CRC_PROGRAM = """
import mmap, sys, time
from crc32c import crc32c
with open(sys.argv[1], "rb") as file:
    segment = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
started = time.perf_counter()
crc32c(segment)
print(time.perf_counter() - started)
"""
CASES = {
    VERIFY: "kwire",
    VERIFY_SMALL: "kwire",
    CRC_ALONE: "crc32c",
    DUMP: "kwire",
}


@pytest.mark.benchmark(timer=clock)
@pytest.mark.parametrize("label", HOLDERS)
def test_held_objects(benchmark, workers, label) -> None:
    """Store the memory per record of decoded objects, in bytes."""
    worker = workers[f"{label} records"]
    seconds = worker.ask("seconds", 1, False, *HELD_TASK)
    held = worker.ask("held_bytes", 20, *HELD_TASK) / HELD_COUNT
    labels = {"section": MEMORY, "title": HELD_TITLE, "entry": label}
    replay(benchmark, [seconds], held_bytes=held, **labels)


@pytest.mark.benchmark(timer=clock)
@pytest.mark.parametrize("count", COLUMN_TASKS)
@pytest.mark.parametrize("label", COLUMN_HOLDERS)
def test_held_columns(benchmark, workers, label, count) -> None:
    """Store the memory per record of decoded columns, and their small objects.

    The objects are counted as allocated memory blocks.
    """
    worker, task = workers[f"{label} records"], COLUMN_TASKS[count]
    seconds = worker.ask("seconds", 1, False, *task)
    held = worker.ask("column_bytes", *task) / count
    blocks = worker.ask("held_blocks", *task)
    labels = {"section": MEMORY, "title": held_title(count), "entry": label}
    replay(benchmark, [seconds], held_bytes=held, blocks=blocks, **labels)


def write_segment(path: Path, size: int) -> int:
    """Write as many batches as fit into ``size`` bytes, and at least one.

    Returns the number of written bytes.
    """
    batch, records = encoded(BATCH, "none"), len(rows(BATCH))
    path.parent.mkdir()
    with path.open("wb") as file:
        for number in range(max(1, size // len(batch))):
            file.write(struct.pack(">q", number * records))
            file.write(batch[8:])
        written = file.tell()
    # Set an old modification time, as most segments have. kwire reads a recently
    # written segment into memory instead of mapping it, because it could still be
    # truncated.
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return written


def launch(lines: int, *command: Any) -> dict[str, Any]:
    """Run a kwire command, and return the figures that ``launch.py`` prints.

    ``lines`` is the number of output lines after which the command is stopped.
    """
    launcher = ROOT / "benchmarks" / "harness" / "launch.py"
    bare = [sys.executable, "-I", "-S", launcher, str(lines)]
    done = subprocess.run(
        [*bare, sys.executable, "-m", "kwire", *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def verify(segment: Path) -> dict[str, Any]:
    """Run ``kwire verify`` on a valid segment. Returns the figures of the process.

    Raises ``RuntimeError`` if the command reports an error.
    """
    figures = launch(0, "verify", segment)
    if figures["code"]:
        raise RuntimeError(f"kwire verify ended with {figures['code']}")
    return figures


def check_verify(sound: Path, damaged: Path) -> None:
    """Check that ``kwire verify`` reads every byte of a segment.

    It must report an error if one bit of the last byte is flipped.
    """
    batch = bytearray(sound.read_bytes())
    batch[-1] ^= 1
    damaged.parent.mkdir()
    damaged.write_bytes(batch)
    if not launch(0, "verify", damaged)["code"]:
        raise RuntimeError("kwire verify found nothing wrong in a damaged segment")


def dump(segment: Path) -> dict[str, Any]:
    """Print the first ``DUMPED_LINES`` records of a segment with ``kwire dump``.

    Returns the figures. Raises ``RuntimeError`` if the output is wrong.
    """
    figures = launch(DUMPED_LINES, "dump", segment, "-o", "jsonl")
    if figures["lines"] < DUMPED_LINES:
        raise RuntimeError(f"kwire dump ended after {figures['lines']} lines")
    if json.loads(figures["first_text"])["offset"] != 0:
        raise RuntimeError(f"kwire dump began with {figures['first_text']!r}")
    return figures | {"seconds": figures["first_line"]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Iterator[Callable[[str], Any]]:
    """Run all segment commands in turn, ``ROUNDS`` times.

    Yields a function that returns the figures of each run for a title.
    """
    folder = tmp_path_factory.mktemp("segments")
    name = "00000000000000000000.log"
    large, small = folder / "large-0" / name, folder / "small-0" / name
    size = write_segment(large, SEGMENT_BYTES)
    write_segment(small, 1)

    def crc_alone() -> dict[str, Any]:
        program = [sys.executable, "-c", CRC_PROGRAM, large]
        done = subprocess.run(program, stdout=subprocess.PIPE, check=True)
        return {"seconds": float(done.stdout)}

    commands = {
        VERIFY: lambda: verify(large) | {"bytes": size},
        VERIFY_SMALL: lambda: verify(small),
        CRC_ALONE: crc_alone,
        DUMP: lambda: dump(large),
    }
    figures_by_title: dict[str, Any] = {title: [] for title in commands}
    check_verify(small, folder / "damaged-0" / name)
    crc_alone()
    for _ in range(ROUNDS):
        for title, run in commands.items():
            figures_by_title[title].append(run())
    yield lambda title: figures_by_title[title]
    large.unlink()


@pytest.mark.benchmark(timer=clock)
@pytest.mark.parametrize("title", CASES)
def test_segment(benchmark, runs, title) -> None:
    """Store the durations, the memory and the output of a segment command."""
    all_figures = runs(title)
    labels = {"section": SEGMENTS, "title": title, "entry": CASES[title]}
    for note in ("bytes", "max_rss_bytes", "lines"):
        values = [figures[note] for figures in all_figures if note in figures]
        if values:
            labels[note] = max(values)
    replay(benchmark, [figures["seconds"] for figures in all_figures], **labels)
