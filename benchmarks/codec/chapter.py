# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Messages, records, connections and the start, beside the other codecs.

pytest-benchmark measures and writes the figures. Tables of records and connections are
in ``records/report.py`` and ``connections/report.py``; targets are in the three files
``targets.py``.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import kwire
from benchmarks.codec import plot
from benchmarks.codec.connections.report import connection_tables
from benchmarks.codec.connections.targets import connection_verdicts
from benchmarks.codec.figures import COLLECTOR, Figures, cell, format_verdict
from benchmarks.codec.records.report import record_tables
from benchmarks.codec.records.targets import record_verdicts
from benchmarks.codec.rows import (
    ALL_PEERS,
    ATTRIBUTES,
    DECODE,
    ENCODE,
    FRAME,
    LOOP,
    ROWS,
    VARINTS,
    ZERO_COPY,
)
from benchmarks.codec.targets import METADATA, unclaimed, verdicts, wishes
from benchmarks.harness import ROOT
from benchmarks.harness.chapters import PICTURES, RESULTS, put_chapters
from benchmarks.harness.contenders import CONTENDERS
from benchmarks.harness.tables import table
from benchmarks.harness.verdicts import summary
from benchmarks.workloads.messages import RECORD_SIZES, workload

OPTIONS: dict[str, object] = {}
PACKAGES = (
    "kio",
    "kafka-python",
    "aiokafka",
    "crc32c",
    "cramjam",
    "python-snappy",
    "lz4",
    "zstandard",
    "isal",
    "numpy",
    "pyarrow",
)

METHOD = """\
Every contender runs alone in a process of its own, so none pays for the imports and
objects of another. A round asks each contender of a row in turn, in an order drawn
anew each time, for one batch of about 2 ms (or one call that takes longer) with the
collector off and one with it on, each after one call that is not counted. `timeit`
times the statement that a user would write; what can be looked up once (a reader, a
class) is looked up before. Each process holds 20,000 lists, as a program has something
in memory. Figures are medians over {least} to {most} rounds. Before anything was
timed, every contender decoded every input to the same values and encoded the same
bytes (the files `test_inputs.py` in `benchmarks/codec`). Cells with two figures give
collector off / on. A target is met only if both are good enough."""


ABOUT = {
    DECODE: (
        "The whole message from bytes, every object built. kwire shares equal int\n"
        "arrays within a message; the row of 100 brokers has next to none to share.\n"
        "The C loop is `c_messages.c`: code for this one message, without a plan to\n"
        "follow. It makes the same objects with Python's own functions, so it is the\n"
        "floor of a codec for Python."
    ),
    ENCODE: "A message, made beforehand, to bytes.",
    FRAME: "From scalars to a message, to bytes with header and size.",
}


def message_tables(figures: Figures) -> Iterator[str]:
    """Write the tables of messages."""
    for section in (DECODE, ENCODE, FRAME):
        loop = (LOOP,) if section == DECODE else ()
        labels = ("kwire", "kwire pure", *ALL_PEERS, *loop)
        head = ("µs", *labels, "kwire beside peer", "pure beside peer")
        lines = []
        for row in ROWS:
            if row.section == section:
                cells = [cell(figures, row, label) for label in labels]
                verdict = [format_verdict(figures, row, label) for label in labels[:2]]
                lines.append([row.title, *cells, *verdict])
        yield f"## {section}\n\n{ABOUT[section]}\n\n{table(head, lines)}"


def varint_table(figures: Figures) -> str:
    """Write the table of varints."""
    labels = ("kwire", "kwire pure", *ALL_PEERS, "C loop")
    lines = [
        [
            row.title,
            *(cell(figures, row, label) for label in labels),
            format_verdict(figures, row, "kwire"),
        ]
        for row in ROWS
        if row.section == VARINTS
    ]
    text = (
        "kwire is called once for all values (numpy arrays in and out), the other\n"
        "codecs once per value. The C loop is `c_loop.c`, timed within C, with its\n"
        "arrays allocated beforehand."
    )
    head = ("µs", *labels, "kwire beside best peer, beside C")
    return f"## {VARINTS}\n\n{text}\n\n{table(head, lines)}"


def attribute_table(figures: Figures) -> str:
    """Write the table of attribute reads, in nanoseconds."""
    row = next(row for row in ROWS if row.section == ATTRIBUTES)
    lines = []
    for entry in row.entries:
        nanos = [
            f"{1e9 * figures.seconds(row.section, row.title, entry.name, state):.2f}"
            for state in COLLECTOR
        ]
        verdict = (
            format_verdict(figures, row, entry.name) if entry.name == "kwire" else ""
        )
        lines.append([entry.name, " / ".join(nanos), verdict])
    head = ("one field of a decoded partition", "ns", "beside the plain class")
    return f"## {ATTRIBUTES}\n\n{table(head, lines)}"


def pays_from(figures: Figures, title: str) -> str:
    """Say from which measured size views are the faster way to decode."""
    faster = [
        size
        for size in RECORD_SIZES
        if figures.seconds(
            ZERO_COPY, f"{title}, records of {size:,} B", "kwire zero_copy", False
        )
        < figures.seconds(ZERO_COPY, f"{title}, records of {size:,} B", "kwire", False)
    ]
    if not faster:
        return f"{title}: at no measured size"
    return f"{title}: from records of {min(faster):,} B"


def zero_copy_table(figures: Figures) -> str:
    """Write the table of views instead of copies."""
    labels = ("kwire zero_copy", "kwire", "kio")
    lines = [
        [
            row.title,
            *(cell(figures, row, label) for label in labels),
            format_verdict(figures, row, "kwire zero_copy"),
        ]
        for row in ROWS
        if row.section == ZERO_COPY
    ]
    sizes = "\n".join(
        f"- {pays_from(figures, title)}"
        for title in ("Produce request v9", "Fetch response v12")
    )
    text = (
        "10 topics x 10 partitions. The smallest measured size at which zero_copy\n"
        f"beats a plain decode:\n\n{sizes}"
    )
    head = ("µs", *labels, "zero_copy beside kio")
    return f"## {ZERO_COPY}\n\n{text}\n\n{table(head, lines)}"


def start_table(figures: Figures) -> str:
    """Write memory, start, build and size."""
    held = [
        [
            f"memory of one decoded {title}, of 100 held",
            label,
            f"{figures.note(DECODE, title, label, 'held_bytes') / 1000:.0f} KB",
        ]
        for title in METADATA
        for label in ("kwire", "kwire pure", "kio", "kafka-python")
    ]
    starts = [
        [title, label, f"{1e3 * figures.seconds('Start', title, label, False):.2f} ms"]
        for title, labels in (
            ("import kwire", ("kwire", "kwire pure")),
            (
                "import and decode Metadata v9",
                ("kwire", "kwire pure", "kio", "kafka-python"),
            ),
        )
        for label in labels
    ]
    built = figures.seconds("Start", "build", "kwire", False)
    size = figures.note("Start", "build", "kwire", "stripped_bytes")
    rest = [
        ["build of the extension, Cython and C", "kwire", f"{built:.1f} s"],
        ["extension, stripped", "kwire", f"{size / 1000:,.0f} KB"],
    ]
    text = (
        "Memory is `tracemalloc`'s, without the input. A start is a fresh\n"
        "interpreter, the median of 15; the first message includes the import."
    )
    lines = [*held, *starts, *rest]
    return (
        f"## Memory, start, size\n\n{text}\n\n{table(('what', 'who', 'figure'), lines)}"
    )


def work_tables(figures: Figures) -> str:
    """Write what each row consists of and what each contender builds and checks."""
    lines = []
    for row in ROWS:
        if row.section not in (DECODE, FRAME, ZERO_COPY):
            continue
        entry = row.entries[0]
        counts = workload(str(entry.task[1])).counts()
        size = figures.note(row.section, row.title, entry.name, "bytes")
        title = f"{row.title}, framed" if row.section == FRAME else row.title
        lines.append([title, f"{size:,}", *(f"{n:,}" for n in counts.values())])
    work = table(
        ("input", "bytes", "structs", "arrays", "strings", "byte strings"), lines
    )
    modules = {each.module: label for label, each in reversed(CONTENDERS.items())}
    sides = []
    for module, label in reversed(modules.items()):
        contender = importlib.import_module(f"benchmarks.contenders.{module}")
        shown = f"{label}, both engines" if label.startswith("kwire") else label
        sides.append([shown, contender.BUILDS, contender.CHECKS])
    head = ("contender", "builds on decoding", "checks on decoding")
    text = (
        "Every contender builds all of the objects counted here, in its own types,\n"
        "and integers besides; on encoding they exist before. `zero_copy` builds\n"
        "memoryviews in place of byte strings."
    )
    return f"## The work\n\n{text}\n\n{work}\n\n{table(head, sides)}"


def bars(figures: Figures) -> str:
    """Name the targets that lie below a wish, and what is not claimed."""
    lines = [
        "Set beside a floor, measured in the same run, and not where it was wished:",
        "",
        *(f"- {line}" for line in wishes(figures)),
        "",
        "Not claimed: here kafka-python is as fast as the engine in plain Python, or",
        "faster.",
        "",
        *(f"- {line}" for line in unclaimed(figures)),
    ]
    return "\n".join(lines)


def machine_line(figures: Figures) -> str:
    """Name the machine, the interpreter and the packages."""
    cpu = figures.machine["cpu"]
    versions = [f"{name} {metadata.version(name)}" for name in PACKAGES]
    packages = ", ".join([f"kwire {kwire.__version__}", *versions])
    return (
        f"{cpu['brand_raw']}, {cpu['count']} CPUs, {figures.machine['system']} "
        f"{figures.machine['machine']}, "
        f"{figures.machine['python_implementation']} "
        f"{figures.machine['python_version']}, {figures.when}.\n{packages}."
    )


def _run_pytest(*arguments: str) -> None:
    """Run pytest on some files; a failure ends the program with its code."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", *arguments]
    code = subprocess.run(command, cwd=ROOT).returncode
    if code:
        sys.exit(code)


def measure(json_path: Path) -> None:
    """Compare the values of all contenders, then measure them."""
    print("the same values and bytes from every contender", flush=True)
    _run_pytest(
        "benchmarks/codec/test_inputs.py",
        "benchmarks/codec/records/test_inputs.py",
        "benchmarks/codec/connections/test_inputs.py",
    )
    print("measuring, about six minutes", flush=True)
    _run_pytest(
        "benchmarks/codec/measure_rows.py",
        "benchmarks/codec/records/measure.py",
        "benchmarks/codec/measure_start.py",
        "--benchmark-quiet",
        f"--benchmark-json={json_path}",
    )


def write_chapter(json_path: Path) -> str:
    """Write the common chapters from one run; return its verdicts as text."""
    figures = Figures.read(json_path)
    found = [
        *verdicts(figures),
        *record_verdicts(figures),
        *connection_verdicts(figures),
    ]
    least, most = figures.rounds({row.section for row in ROWS})
    parts = [
        "# Results\n\nWritten by `make bench`.",
        machine_line(figures),
        METHOD.format(least=least, most=most),
        f"## Targets\n\n{summary(found)}",
        bars(figures),
        "![Median times, decode and encode](pictures/results.png)",
        *message_tables(figures),
        varint_table(figures),
        attribute_table(figures),
        zero_copy_table(figures),
        *record_tables(figures),
        *connection_tables(figures),
        start_table(figures),
        work_tables(figures),
    ]
    put_chapters(RESULTS, parts)
    plot.draw_messages(figures, PICTURES / "results.png")
    plot.draw_records(figures, PICTURES / "records.png")
    return summary(found)
