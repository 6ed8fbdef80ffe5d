# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare messages, records, connections and startup with other codecs.

pytest-benchmark runs the measurements and saves the figures. The tables for records and
connections are generated in ``records/report.py`` and ``connections/report.py``. The
targets are defined in the three ``targets.py`` files.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import kwire
from benchmarks.codec import plot
from benchmarks.codec.connections.report import connection_lists, connection_tables
from benchmarks.codec.connections.targets import connection_verdicts
from benchmarks.codec.figures import COLLECTOR, Figures, format_verdict, row_table
from benchmarks.codec.records.report import record_lists, record_tables
from benchmarks.codec.records.targets import DUMP, SEGMENTS, record_verdicts
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
from benchmarks.harness.chapters import PICTURES, RESULTS, fill, put_common
from benchmarks.harness.contenders import CONTENDERS
from benchmarks.harness.tables import table
from benchmarks.harness.verdicts import summary
from benchmarks.workloads import connections
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

_BESIDE = {"kwire beside peer": "kwire", "pure beside peer": "kwire pure"}
_MESSAGES = ("kwire", "kwire pure", *ALL_PEERS)
#: Table entries and verdict columns by section.
_COLUMNS: dict[str, tuple[tuple[str, ...], dict[str, str | None]]] = {
    DECODE: ((*_MESSAGES, LOOP), {**_BESIDE}),
    ENCODE: (_MESSAGES, {**_BESIDE}),
    FRAME: (_MESSAGES, {**_BESIDE}),
    VARINTS: ((*_MESSAGES, LOOP), {"kwire beside best peer, beside C": "kwire"}),
    ZERO_COPY: (
        ("kwire zero_copy", "kwire", "kio"),
        {"zero_copy beside kio": "kwire zero_copy"},
    ),
}


def attribute_table(figures: Figures) -> str:
    """Format the table of attribute reads, with times in nanoseconds."""
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
    return table(head, lines)


def pays_from(figures: Figures, title: str) -> str:
    """Name the smallest measured record size for which ``zero_copy`` decodes faster.

    ``title`` is the message.
    """
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


def start_table(figures: Figures) -> str:
    """Format the table of memory, startup times, build time and extension size."""
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
    return table(("what", "who", "figure"), [*held, *starts, *rest])


def work_table(figures: Figures) -> str:
    """Format the table that counts the structs, arrays and strings of each input."""
    lines = []
    for row in ROWS:
        if row.section not in (DECODE, FRAME, ZERO_COPY):
            continue
        entry = row.entries[0]
        counts = workload(str(entry.task[1])).counts()
        size = figures.note(row.section, row.title, entry.name, "bytes")
        title = f"{row.title}, framed" if row.section == FRAME else row.title
        lines.append([title, f"{size:,}", *(f"{n:,}" for n in counts.values())])
    head = ("input", "bytes", "structs", "arrays", "strings", "byte strings")
    return table(head, lines)


def contender_table() -> str:
    """Format the table that shows how contenders represent and validate messages."""
    modules = {each.module: label for label, each in reversed(CONTENDERS.items())}
    lines = []
    for module, label in reversed(modules.items()):
        contender = importlib.import_module(f"benchmarks.contenders.{module}")
        shown = f"{label}, both engines" if label.startswith("kwire") else label
        lines.append([shown, contender.BUILDS, contender.CHECKS])
    return table(("contender", "builds on decoding", "checks on decoding"), lines)


def machine_line(figures: Figures) -> str:
    """Describe the CPU, the interpreter and the package versions."""
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
    """Run pytest on some files. If a test fails, exit with pytest's exit code."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", *arguments]
    code = subprocess.run(command, cwd=ROOT).returncode
    if code:
        sys.exit(code)


def measure(json_path: Path) -> None:
    """Check that all contenders decode the same values, and then measure them.

    pytest-benchmark writes the figures to ``json_path``.
    """
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
    """Write the messages, records and connections of a run into the report.

    Returns the verdicts as text.
    """
    figures = Figures.read(json_path)
    all_verdicts = [
        *verdicts(figures),
        *record_verdicts(figures),
        *connection_verdicts(figures),
    ]
    least, most = figures.rounds({row.section for row in ROWS})
    tables = {
        section: row_table(
            figures, [row for row in ROWS if row.section == section], *columns
        )
        for section, columns in _COLUMNS.items()
    }
    tables |= record_tables(figures) | connection_tables(figures)
    tables[ATTRIBUTES] = attribute_table(figures)
    tables["Memory, start, size"] = start_table(figures)
    tables["The work"] = work_table(figures)
    lists = record_lists(figures) | connection_lists(figures)
    lists[ZERO_COPY] = "\n".join(
        f"- {pays_from(figures, title)}"
        for title in ("Produce request v9", "Fetch response v12")
    )
    shown = summary(all_verdicts)
    text = fill(
        __file__,
        machine=machine_line(figures),
        least=least,
        most=most,
        summary=shown,
        wishes="\n".join(f"- {line}" for line in wishes(figures)),
        unclaimed="\n".join(f"- {line}" for line in unclaimed(figures)),
        tables=tables,
        lists=lists,
        connections=connections,
        dumped=figures.note(SEGMENTS, DUMP, "kwire", "lines"),
        contenders=contender_table(),
    )
    put_common(RESULTS, text)
    plot.draw_messages(figures, PICTURES / "results.png")
    plot.draw_records(figures, PICTURES / "records.png")
    return shown
