# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the bounds checks: the engine beside a copy without them.

The copy is made by rewriting its source under ``build/unchecked``; nothing that is
shipped can be built so. Before anything is measured the copy has to read past the end
of its input, within memory of ours. Both then do the benchmarks' work in turn, in
processes of their own; instructions are counted as well where valgrind is there, which
a busy machine does not disturb.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.harness import ROOT
from benchmarks.harness.worker import Worker
from tools.prove.engine_copy import ENGINE, Copy

COPY = Copy("unchecked", "KWIRE_BUILD_UNCHECKED")
"""No switch of ``setup.py``: the engine is built as it is released."""
ROUNDS = 41
BATCH_SECONDS = 0.005

LEFT = "<size_t>(cursor.end - cursor.at)"
TAGS = f"not cursor.fault and count > {LEFT} // 2"
FAULT = "byte = read_uint8(cursor)\n{0}if cursor.fault:\n{0}    return 0\n"

UNCHECKED: dict[str, list[tuple[str, str]]] = {
    "cursor.pxd": [
        (
            "cdef uint64_t left = <uint64_t>(cursor.end - cursor.at)",
            "cdef uint64_t left = size",
        ),
        *(
            (FAULT.format(indent), "byte = read_uint8(cursor)\n")
            for indent in (" " * 8, " " * 4)
        ),
    ],
    "primitives.pxd": [
        ("if unlikely(count > (cursor.end - cursor.at) // least):", "if False:")
    ],
    "decoder.pyx": [(TAGS, "False")],
    "column_walk.pyx": [
        (TAGS, "False"),
        ("if unlikely(step.size > end - at):", "if False:"),
        ("if unlikely(at >= end):", "if False:"),
        (" and size < end - at", ""),
        ("if size >= end - at or ", "if "),
        ("if likely(at < end and ", "if likely("),
    ],
    "wire.pyx": [(TAGS, "False")],
    "bulk.pyx": [("if likely(cursor.end - cursor.at >= 5):", "if True:")],
    "record_decoder.pyx": [
        (" or count > (r.cursor.end - r.cursor.at) // LEAST_RECORD", ""),
        ("not 0 <= count <= (cursor.end - cursor.at) // LEAST_HEADER", "count < 0"),
    ],
    "record_walk.pyx": [
        ("if count > (end - at) // LEAST_RECORD:", "if False:"),
        (" or raw >> 1 > <uint64_t>(end - at)", ""),
        ("if unlikely(size > end - at[0]):", "if False:"),
        (" or count > (end - at[0]) // 2", ""),
        (" or size > end - at[0]", ""),
        ("if end - at < 4:", "if False:"),
        (" or size > end - at", ""),
        ("if unlikely(start == end):", "if False:"),
        ("if unlikely(end - start < 2):", "if False:"),
        ("        if start == end:", "        if False:"),
    ],
}
"""For each file the code of a check, and the code without it."""

TASKS = {
    "ApiVersions v3": ("kwire", ("decode", "api_versions_v3")),
    "Metadata v9": ("kwire", ("decode", "metadata_v9")),
    "Metadata v9, wide": ("kwire", ("decode", "metadata_v9_wide")),
    "Fetch v12": ("kwire", ("decode", "fetch_v12")),
    "Produce v9": ("kwire", ("decode", "produce_v9")),
    "OffsetFetch v8": ("kwire", ("decode", "offset_fetch_v8")),
    "OffsetCommit v8": ("kwire", ("decode", "offset_commit_v8")),
    "Heartbeat v4": ("kwire", ("decode", "heartbeat_v4")),
    "100,000 varints": ("kwire", ("decode_integers", "varint", 100_000)),
    "1,000 records": ("kwire records", ("decode_objects", "1k_100B", "none", True)),
    "1,000 as columns": ("kwire records", ("decode_columns", "1k_100B", "none")),
    "with headers": ("kwire records", ("decode_columns", "1k_100B_3hdr", "none")),
}
COUNTED = ("Metadata v9", "Fetch v12", "OffsetFetch v8", "1,000 as columns")

PAST_THE_END = """
import kwire
from kwire.messages import wire
memory = memoryview(b"\\0\\5hello")
try:
    print(wire.decode_string(memory[:4])[0])
except kwire.DecodeError:
    print("refused")
"""

LOOP = """
import sys
from benchmarks.codec.desk import MessageDesk
from benchmarks.codec.records.desk import RecordDesk
from benchmarks.contenders import kwire, kwire_records
is_records = {label!r} == "kwire records"
desk = RecordDesk(kwire_records) if is_records else MessageDesk(kwire)
statement = desk.make_statement(*{task!r})
statement.seconds(int(sys.argv[1]), False)
"""


def build() -> None:
    """Make the copy, without the checks; what is there stays if it is new."""
    changed = {}
    for name, changes in UNCHECKED.items():
        text = (ROOT / ENGINE / name).read_text(encoding="utf-8")
        for old, new in changes:
            if old not in text:
                raise SystemExit(f"{name} has no check that reads {old!r} any more")
            text = text.replace(old, new)
        changed[str(ENGINE / name)] = text
    COPY.refresh(changed)
    COPY.build()


def environment(root: Path) -> dict[str, str]:
    """Let an interpreter import kwire from a tree."""
    paths = [str(root / "src"), str(ROOT)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "KWIRE_BACKEND": "fast"}


def run_code(root: Path, code: str, *arguments: str) -> str:
    """Run code on the engine of a tree, and give what it says."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(root),
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def make_sure() -> None:
    """Check that one of the two reads past its input, and the other does not."""
    for root, expected in ((ROOT, "refused"), (COPY.root, "hello")):
        found = run_code(root, PAST_THE_END)
        if found != expected:
            raise SystemExit(f"the engine in {root.name} says {found!r}: wrong one")


def workers(root: Path) -> dict[str, Worker]:
    """Start the processes that do the work on the engine of a tree."""
    before = dict(os.environ)
    os.environ.update(environment(root))
    try:
        return {
            label: Worker(label) for label in {label for label, _ in TASKS.values()}
        }
    finally:
        os.environ.clear()
        os.environ.update(before)


def times() -> dict[str, tuple[float, float]]:
    """Time each task on both engines in turn: medians with the checks and without."""
    both = [workers(ROOT), workers(COPY.root)]
    found = {}
    order = random.Random(0)
    try:
        for title, (label, task) in TASKS.items():
            ask = [each[label].ask for each in both]
            once = min(ask[0]("seconds", 1, False, *task) for _ in range(5))
            loops = max(1, round(BATCH_SECONDS / once))
            seconds: list[list[float]] = [[], []]
            for _ in range(ROUNDS):
                for side in order.sample((0, 1), 2):
                    seconds[side].append(ask[side]("seconds", loops, False, *task))
            checked, unchecked = map(statistics.median, seconds)
            found[title] = (checked, unchecked)
            print(
                f"{title:20}{checked * 1e6:12,.1f} us{unchecked * 1e6:12,.1f} us"
                f"{checked / unchecked - 1:+9.1%}",
                flush=True,
            )
    finally:
        for each in both:
            for worker in each.values():
                worker.close()
    return found


def instructions(root: Path, title: str) -> float:
    """Count the instructions of one piece of work: those that more loops need."""
    label, task = TASKS[title]
    loops = 100 if label == "kwire" else 10
    counts = []
    for number in (loops, 3 * loops):
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--callgrind-out-file=/dev/null",
                sys.executable,
                "-c",
                LOOP.format(label=label, task=task),
                str(number),
            ],
            env=environment(root) | {"PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=True,
        )
        (count,) = re.findall(r"Collected : (\d+)", done.stderr)
        counts.append(int(count))
    return (counts[1] - counts[0]) / (2 * loops)


def counted() -> dict[str, tuple[float, float]]:
    """Count instructions on both engines, with the checks and without."""
    if shutil.which("valgrind") is None:
        print("no valgrind here, so no instructions are counted")
        return {}
    found = {}
    for title in COUNTED:
        checked, unchecked = (instructions(root, title) for root in (ROOT, COPY.root))
        found[title] = (checked, unchecked)
        print(
            f"{title:20}{checked:15,.0f}{unchecked:15,.0f}"
            f"{checked / unchecked - 1:+9.1%}",
            flush=True,
        )
    return found


def cost(found: dict[str, tuple[float, float]]) -> float:
    """Give the cost over all tasks, in percent: the geometric mean."""
    ratios = (checked / unchecked for checked, unchecked in found.values())
    return 100 * (statistics.geometric_mean(ratios) - 1)


def run() -> tuple[float, float | None]:
    """Build and measure; give the cost in time and in instructions, in percent."""
    print("building the engine without its checks", flush=True)
    build()
    make_sure()
    print(f"\n{'decode':20}{'checked':>15}{'unchecked':>15}{'cost':>9}", flush=True)
    time = cost(times())
    print(f"{'all':50}{time:+8.1f}%\n\n{'instructions':20}", flush=True)
    instructions_ = counted()
    if not instructions_:
        return time, None
    work = cost(instructions_)
    print(f"{'all':50}{work:+8.1f}%")
    return time, work
