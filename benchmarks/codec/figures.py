# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Figures from a benchmark run, and the verdicts based on them.

Values are compared before they are rounded. A target is only met if it is met both with
the garbage collector disabled and with it enabled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness.tables import amount, table
from benchmarks.harness.verdicts import Verdict
from benchmarks.harness.work import Row, Target

COLLECTOR = (False, True)


class Figures:
    """Medians and notes from the JSON report of pytest-benchmark."""

    def __init__(self, run: dict[str, Any]) -> None:
        """Index the benchmarks of a report by section, title, entry and collector."""
        self.machine: dict[str, Any] = run["machine_info"]
        self.when: str = run["datetime"][:10]
        self._found = {}
        for benchmark in run["benchmarks"]:
            notes = benchmark["extra_info"]
            key = notes["title"], notes["entry"], notes.get("collector", False)
            self._found[notes["section"], *key] = benchmark

    @classmethod
    def read(cls, path: Path) -> Figures:
        """Read the JSON report of a run."""
        return cls(json.loads(path.read_text()))

    def seconds(self, section: str, title: str, entry: str, collector: bool) -> float:
        """Return the median duration of an entry in seconds.

        ``collector`` selects the measurement with enabled garbage collector.
        """
        median: float = self._at(section, title, entry, collector)["stats"]["median"]
        return median

    def rounds(self, sections: set[str]) -> tuple[int, int]:
        """Return the minimum and maximum number of rounds in the specified sections."""
        rounds = [
            benchmark["stats"]["rounds"]
            for key, benchmark in self._found.items()
            if key[0] in sections
        ]
        return min(rounds), max(rounds)

    def note(self, section: str, title: str, entry: str, name: str) -> Any:
        """Return a value that was stored with an entry's durations, by its name."""
        return self._at(section, title, entry, False)["extra_info"][name]

    def _at(self, *key: Any) -> dict[str, Any]:
        benchmark: dict[str, Any] = self._found[key]
        return benchmark

    def ratio(self, row: Row, target: Target, collector: bool) -> float:
        """Return how many times faster ``target.entry`` is than the fastest other one.

        The other entries are ``target.others``.
        """

        def seconds(entry: str) -> float:
            return self.seconds(row.section, row.title, entry, collector)

        return min(map(seconds, target.others)) / seconds(target.entry)

    def best(self, row: Row, target: Target) -> str:
        """Return the name of the fastest entry in ``target.others``.

        The measurement without garbage collection is compared.
        """
        return min(
            target.others,
            key=lambda entry: self.seconds(row.section, row.title, entry, False),
        )


def row_verdict(figures: Figures, row: Row, target: Target) -> Verdict:
    """Compare a row with a target.

    If ``target.least`` is less than 1, kwire may be slower than the other entries. In
    that case the verdict shows the relative time instead of the speedup.
    """
    ratios = [figures.ratio(row, target, collector) for collector in COLLECTOR]
    beside = figures.best(row, target)
    if target.least < 1:
        wanted = f"at most {1 / target.least:.3g}"
        shown = [f"{1 / ratio:.3g}" for ratio in ratios]
        reached = f"{' / '.join(shown)} of {beside}'s time"
    else:
        wanted = f"at least {target.least:.3g}x"
        shown = [f"{ratio:.3g}x" for ratio in ratios]
        reached = f"{' / '.join(shown)} {beside}"
    met = all(ratio >= target.least for ratio in ratios)
    return Verdict(f"{row.section}, {row.title}, {target.entry}", wanted, reached, met)


def format_verdicts(figures: Figures, row: Row) -> str:
    """Format the verdicts on all targets of a row, prefixed with their entry names."""
    entries = dict.fromkeys(target.entry for target in row.targets)
    lines = [f"{entry}: {format_verdict(figures, row, entry)}" for entry in entries]
    return "<br>".join(lines) or "no target"


def row_table(
    figures: Figures,
    rows: Iterable[Row],
    labels: Sequence[str],
    beside: Mapping[str, str | None],
) -> str:
    """Format a table with one column per label, followed by the verdict columns.

    ``beside`` maps the headings for verdict columns to entry names. If a name is None,
    the column shows the verdicts for all entries.
    """
    lines = [
        [
            row.title,
            *(cell(figures, row, label) for label in labels),
            *(
                format_verdict(figures, row, entry)
                if entry
                else format_verdicts(figures, row)
                for entry in beside.values()
            ),
        ]
        for row in rows
    ]
    return table(("µs", *labels, *beside), lines)


def list_verdicts(found: Iterable[Verdict]) -> str:
    """Format verdicts outside table rows as a Markdown list."""
    return "\n".join(
        f"- {verdict.work}: {verdict.reached} (target: {verdict.wanted}): "
        f"{'met' if verdict.met else '**missed**'}"
        for verdict in found
    )


def cell(figures: Figures, row: Row, entry: str) -> str:
    """Format the medians of one entry: without and with garbage collection.

    Returns a dash if the row does not contain the entry.
    """
    if entry not in {taking_part.name for taking_part in row.entries}:
        return "-"
    return " / ".join(
        amount(figures.seconds(row.section, row.title, entry, collector))
        for collector in COLLECTOR
    )


def format_verdict(figures: Figures, row: Row, entry: str) -> str:
    """Format the ratio, the target and the verdict for each target of one entry."""
    lines = []
    for target in row.targets:
        if target.entry != entry:
            continue
        verdict = row_verdict(figures, row, target)
        word = "met" if verdict.met else "**missed**"
        lines.append(f"{verdict.reached}, {verdict.wanted}: {word}")
    return "<br>".join(lines) or "no target"
