# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Record tables for ``RESULTS.md``, keyed by section heading."""

from __future__ import annotations

from benchmarks.codec.figures import Figures, list_verdicts, row_table
from benchmarks.codec.records.rows import (
    ARROW,
    BATCHES,
    COMPRESS,
    COPY,
    DECOMPRESS,
    LOOP,
    NESTED,
    OBJECTS,
    RECORD_ROWS,
    TITLES,
    TYPED,
    VIEWS,
)
from benchmarks.codec.records.targets import (
    COLUMN_HOLDERS,
    COLUMN_TASKS,
    CRC_ALONE,
    DUMP,
    HELD_TITLE,
    HOLDERS,
    MEMORY,
    SEGMENTS,
    VERIFY,
    VERIFY_SMALL,
    held_title,
    record_verdicts,
    verify_seconds,
)
from benchmarks.harness.tables import table
from benchmarks.workloads import records as workloads

#: Table entries by section.
_LABELS = {
    OBJECTS: ("kwire", "kwire pure", "aiokafka", "kafka-python", "kio", LOOP),
    BATCHES: (
        "kwire",
        "kwire builder",
        "kwire columns",
        "kwire pure",
        "pure builder",
        "pure columns",
        "aiokafka",
        "kafka-python",
        "kio",
        LOOP,
    ),
    ARROW: (
        "kwire",
        VIEWS,
        "kwire columns",
        "kwire pure",
        "aiokafka",
        "kafka-python",
        COPY,
        LOOP,
    ),
    DECOMPRESS: (
        "kwire",
        "kwire pure",
        "cramjam",
        "zlib",
        "isal",
        "lz4",
        "zstandard",
        LOOP,
    ),
    COMPRESS: ("kwire", "kwire pure", "cramjam", "zlib", "lz4", "zstandard", LOOP),
    NESTED: ("kwire", VIEWS, "kwire pure", "objects", "dicts", TYPED),
}


def _memory_table(figures: Figures) -> str:
    lines = [
        [HELD_TITLE, label, _held(figures, HELD_TITLE, label), "-"] for label in HOLDERS
    ]
    for count in COLUMN_TASKS:
        title = held_title(count)
        for label in COLUMN_HOLDERS:
            blocks = figures.note(MEMORY, title, label, "blocks")
            lines.append([title, label, _held(figures, title, label), f"{blocks:,}"])
    head = ("what", "who", "bytes per record", "small objects in all")
    return table(head, lines)


def _held(figures: Figures, title: str, label: str) -> str:
    return f"{figures.note(MEMORY, title, label, 'held_bytes'):.0f}"


def _segment_table(figures: Figures) -> str:
    def seconds(title: str, entry: str = "kwire") -> str:
        return f"{figures.seconds(SEGMENTS, title, entry, False):.2f} s"

    def memory(title: str) -> str:
        return f"{figures.note(SEGMENTS, title, 'kwire', 'max_rss_bytes') / 1e6:.0f} MB"

    rate = figures.note(SEGMENTS, VERIFY, "kwire", "bytes") / verify_seconds(figures)
    lines = [
        [VERIFY, seconds(VERIFY), memory(VERIFY)],
        [VERIFY_SMALL, seconds(VERIFY_SMALL), memory(VERIFY_SMALL)],
        ["the one less the other", f"{rate / 1e9:.2f} GB/s", "-"],
        [CRC_ALONE, seconds(CRC_ALONE, "crc32c"), "-"],
        [f"{DUMP}, first line", seconds(DUMP), memory(DUMP)],
    ]
    return table(("what", "figure", "memory"), lines)


def _work_table() -> str:
    lines = []
    for name, title in TITLES.items():
        count = len(workloads.rows(name))
        sizes = [
            f"{len(workloads.encoded(name, codec)):,}"
            if workloads.magic(name) == 2 or codec == "none"
            else "-"
            for codec in workloads.CODECS
        ]
        lines.append([title, f"{count:,}", *sizes])
    head = ("records", "count", *workloads.CODECS)
    return table(head, lines)


def record_tables(figures: Figures) -> dict[str, str]:
    """Return the table of each record section in Markdown."""
    tables = {"The records": _work_table()}
    for section, labels in _LABELS.items():
        rows = [row for row in RECORD_ROWS if row.section == section]
        tables[section] = row_table(figures, rows, labels, {"beside others": None})
    tables[MEMORY] = _memory_table(figures)
    tables[SEGMENTS] = _segment_table(figures)
    return tables


def record_lists(figures: Figures) -> dict[str, str]:
    """Return a list of verdicts for the sections with targets outside of table rows.

    The start of a verdict's description determines its section.
    """
    starts = {NESTED: NESTED, MEMORY: "small objects", SEGMENTS: "kwire"}
    return {
        section: list_verdicts(
            verdict
            for verdict in record_verdicts(figures)
            if verdict.work.startswith(start)
        )
        for section, start in starts.items()
    }
