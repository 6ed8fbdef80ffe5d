# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the bounds checks: compare the engine with a copy without checks.

The copy is created under ``build/unchecked`` by rewriting the sources. A released
package cannot be built in this way. Before the measurement, the copy must read past its
input, within memory that belongs to this process. This proves that its checks are
missing. Both engines then run the benchmark tasks in turn, in separate processes. If
valgrind is installed, instructions are counted as well, because this count is not
affected by other load on the machine.
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
"""``setup.py`` has no option for this copy.

The engine is always built like a release.
"""
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
"""Code with a check and its replacement without the check, by source file."""

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
    """Create the copy without checks. An up-to-date copy is reused.

    Raises SystemExit if the code for a check is missing in the sources.
    """
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
    """Return the environment in which an interpreter imports kwire from ``root``."""
    paths = [str(root / "src"), str(ROOT)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "KWIRE_BACKEND": "fast"}


def run_code(root: Path, code: str, *arguments: str) -> str:
    """Run Python code with the engine of the tree ``root``. Returns its output."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(root),
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def make_sure() -> None:
    """Check that the copy reads past its input, and that this tree's engine does not.

    Raises ``SystemExit`` otherwise.
    """
    for root, expected in ((ROOT, "refused"), (COPY.root, "hello")):
        output = run_code(root, PAST_THE_END)
        if output != expected:
            raise SystemExit(f"the engine in {root.name} says {output!r}: wrong one")


def workers(root: Path) -> dict[str, Worker]:
    """Start the worker processes that use the engine of the tree ``root``.

    Returns the workers by label.
    """
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
    """Measure all tasks in turn: with the engine, and with the engine without checks.

    Returns a pair of median seconds for each task.
    """
    both = [workers(ROOT), workers(COPY.root)]
    medians = {}
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
            medians[title] = (checked, unchecked)
            print(
                f"{title:20}{checked * 1e6:12,.1f} us{unchecked * 1e6:12,.1f} us"
                f"{checked / unchecked - 1:+9.1%}",
                flush=True,
            )
    finally:
        for each in both:
            for worker in each.values():
                worker.close()
    return medians


def instructions(root: Path, title: str) -> float:
    """Count the instructions in one operation with valgrind.

    The instructions in two runs with different loop counts are subtracted, so that
    startup does not count.
    """
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
    """Count the instructions of each task with valgrind, with checks and without
    checks.

    Returns a pair of counts for each task, or an empty dictionary if valgrind is not
    installed.
    """
    if shutil.which("valgrind") is None:
        print("no valgrind here, so no instructions are counted")
        return {}
    counts = {}
    for title in COUNTED:
        checked, unchecked = (instructions(root, title) for root in (ROOT, COPY.root))
        counts[title] = (checked, unchecked)
        print(
            f"{title:20}{checked:15,.0f}{unchecked:15,.0f}"
            f"{checked / unchecked - 1:+9.1%}",
            flush=True,
        )
    return counts


def cost(found: dict[str, tuple[float, float]]) -> float:
    """Return the geometric mean of the costs of all tasks, in percent."""
    ratios = (checked / unchecked for checked, unchecked in found.values())
    return 100 * (statistics.geometric_mean(ratios) - 1)


def run() -> tuple[float, float | None]:
    """Build the copy, and compare both engines.

    Returns the cost of the checks in percent of time and of instructions. The second
    value is None if valgrind is not installed.
    """
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
