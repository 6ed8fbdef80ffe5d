# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats figures, verdicts and tables of the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.codec.targets import COLLECTOR, Figures, Verdict, row_verdict
from benchmarks.harness.work import Row


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Write a table; all columns but the first are set to the right."""
    rule = ["---", *("--:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))


def amount(seconds: float) -> str:
    """Write a duration in microseconds with as many digits as say something."""
    micros = seconds * 1e6
    if micros >= 100:
        return f"{micros:,.0f}"
    return f"{micros:.3g}" if micros >= 1 else f"{micros:.3f}"


def cell(figures: Figures, row: Row, entry: str) -> str:
    """Write one entry's medians, or a dash where it takes no part."""
    if entry not in {taking_part.name for taking_part in row.entries}:
        return "-"
    return " / ".join(
        amount(figures.seconds(row.section, row.title, entry, collector))
        for collector in COLLECTOR
    )


def format_verdict(figures: Figures, row: Row, entry: str) -> str:
    """Write the ratios, the target and its verdict for one entry of a row."""
    found = []
    for target in row.targets:
        if target.entry != entry:
            continue
        verdict = row_verdict(figures, row, target)
        word = "met" if verdict.met else "**missed**"
        found.append(f"{verdict.reached}, {verdict.wanted}: {word}")
    return "<br>".join(found) or "no target"


def summary(found: Sequence[Verdict]) -> str:
    """Count the targets met and name those missed."""
    missed = [verdict for verdict in found if not verdict.met]
    lines = [f"{len(found) - len(missed)} of {len(found)} targets were met."]
    if missed:
        lines += ["", "Missed:", ""]
        lines += [
            f"- {verdict.work}: {verdict.reached}; wanted {verdict.wanted}"
            for verdict in missed
        ]
    return "\n".join(lines)
