# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a run, and what they say of a row and its targets.

Nothing is rounded before it is compared, and a row's target counts as met only when
it is met with the collector off and with it on.
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
    """The medians and notes of pytest-benchmark's JSON."""

    def __init__(self, run: dict[str, Any]) -> None:
        """Take what the JSON of one run holds."""
        self.machine: dict[str, Any] = run["machine_info"]
        self.when: str = run["datetime"][:10]
        self._found = {}
        for benchmark in run["benchmarks"]:
            notes = benchmark["extra_info"]
            key = notes["title"], notes["entry"], notes.get("collector", False)
            self._found[notes["section"], *key] = benchmark

    @classmethod
    def read(cls, path: Path) -> Figures:
        """Read the JSON of one run."""
        return cls(json.loads(path.read_text()))

    def seconds(self, section: str, title: str, entry: str, collector: bool) -> float:
        """Return the median seconds of one entry."""
        median: float = self._at(section, title, entry, collector)["stats"]["median"]
        return median

    def rounds(self, sections: set[str]) -> tuple[int, int]:
        """Return the least and the most rounds that a row of some sections had."""
        rounds = [
            benchmark["stats"]["rounds"]
            for key, benchmark in self._found.items()
            if key[0] in sections
        ]
        return min(rounds), max(rounds)

    def note(self, section: str, title: str, entry: str, name: str) -> Any:
        """Return what was noted beside the durations of one entry."""
        return self._at(section, title, entry, False)["extra_info"][name]

    def _at(self, *key: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._found[key]
        return found

    def ratio(self, row: Row, target: Target, collector: bool) -> float:
        """Return how many times as fast as the best of the others the entry is."""

        def seconds(entry: str) -> float:
            return self.seconds(row.section, row.title, entry, collector)

        return min(map(seconds, target.others)) / seconds(target.entry)

    def best(self, row: Row, target: Target) -> str:
        """Name the fastest of the others, collector off."""
        return min(
            target.others,
            key=lambda entry: self.seconds(row.section, row.title, entry, False),
        )


def row_verdict(figures: Figures, row: Row, target: Target) -> Verdict:
    """Compare a row with one of its targets.

    A target below one allows kwire to be slower, and is printed as a time.
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
    """Write all targets of a row, each with its entry."""
    entries = dict.fromkeys(target.entry for target in row.targets)
    found = [f"{entry}: {format_verdict(figures, row, entry)}" for entry in entries]
    return "<br>".join(found) or "no target"


def row_table(
    figures: Figures,
    rows: Iterable[Row],
    labels: Sequence[str],
    beside: Mapping[str, str | None],
) -> str:
    """Write a table of rows: a column for each label, then the verdicts ``beside``.

    A column of verdicts has those of one entry, or those of all entries if it is None.
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
    """Write a list of verdicts that no row has."""
    return "\n".join(
        f"- {verdict.work}: {verdict.reached}; wanted {verdict.wanted}: "
        f"{'met' if verdict.met else '**missed**'}"
        for verdict in found
    )


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
