# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Print selected rows: ``python -m benchmarks records|connections [WORD ...]``.

The rows are measured and checked in the same way as for the report, but the report is
not changed.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence

from benchmarks.codec.connections.rows import CONNECTION_ROWS
from benchmarks.codec.connections.targets import verdicts_of
from benchmarks.codec.figures import Figures, cell, row_verdict
from benchmarks.codec.records.rows import RECORD_ROWS
from benchmarks.harness.interleave import Durations, Workers, measure
from benchmarks.harness.work import Entry, Row

ROWS = {"records": RECORD_ROWS, "connections": CONNECTION_ROWS}


def figures_of(row: Row, durations: Durations) -> Figures:
    """Return the figures of one row from its durations in seconds."""
    benchmarks = [
        {
            "stats": {"median": statistics.median(seconds), "rounds": len(seconds)},
            "extra_info": {
                "section": row.section,
                "title": row.title,
                "entry": entry,
                "collector": collector,
            },
        }
        for (entry, collector), seconds in durations.items()
    ]
    return Figures({"machine_info": {}, "datetime": "", "benchmarks": benchmarks})


def _problem(entry: Entry, workers: Workers) -> str | None:
    """Return the reason why an entry cannot be measured, or None if there is none.

    An entry that returns wrong results is not measured.
    """
    try:
        difference: str | None = workers[entry.worker].ask("difference", *entry.task)
    except RuntimeError as error:
        return str(error)
    return difference and f"wrong: {difference}"


def _sound(row: Row, workers: Workers) -> Row:
    """Return the row without the entries that fail or return wrong results.

    The reasons are printed.
    """
    problems = {entry.name: _problem(entry, workers) for entry in row.entries}
    for name, problem in problems.items():
        if problem:
            print(f"  {name:14} {problem}")
    return dataclasses.replace(
        row,
        entries=tuple(entry for entry in row.entries if not problems[entry.name]),
        targets=tuple(
            target
            for target in row.targets
            if not any(problems[name] for name in (target.entry, *target.others))
        ),
    )


def _seconds(figures: Figures, row: Row, entry: Entry) -> float:
    return figures.seconds(row.section, row.title, entry.name, False)


def run(kind: str, words: Sequence[str]) -> None:
    """Check, measure and print the rows whose section and title contain all words."""
    rows = [
        row
        for row in ROWS[kind]
        if all(word.lower() in f"{row.section}: {row.title}".lower() for word in words)
    ]
    if not rows:
        raise SystemExit(f"no row of {kind} has {' and '.join(words)} in its name")
    workers = Workers()
    for listed in rows:
        print(f"{listed.section}: {listed.title}", flush=True)
        row = _sound(listed, workers)
        if not row.entries:
            continue
        figures = figures_of(row, measure(row, workers))
        first = _seconds(figures, row, row.entries[0])
        for entry in row.entries:
            times = _seconds(figures, row, entry) / first
            print(
                f"  {entry.name:14}{cell(figures, row, entry.name):>20} µs {times:8.2f}"
            )
        verdicts = [
            (target.entry, row_verdict(figures, row, target)) for target in row.targets
        ]
        if row.entries == listed.entries:
            verdicts += [("kwire", verdict) for verdict in verdicts_of(figures, row)]
        for entry, verdict in verdicts:
            word = "met" if verdict.met else "MISSED"
            print(f"  {entry}: {verdict.reached}, {verdict.wanted}: {word}")
    workers.close()
