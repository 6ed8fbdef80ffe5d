# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a run, and whether each target was reached in it.

Nothing is rounded before it is compared, and a row's target counts as met only when
it is met with the collector off and with it on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.codec.rows import DECODE, ROWS, ZERO_COPY
from benchmarks.harness.work import Row, Target

COLLECTOR = (False, True)

IMPORT_SECONDS = 0.005
FIRST_MESSAGE_SECONDS = 0.015
BUILD_SECONDS = 60
STRIPPED_BYTES = 2_200_000
#: Of the pure engine beside kio: its structs have one slot more.
PURE_MEMORY = 1.05
OTHER_WISHES = (
    "memory of one decoded Metadata response, kwire pure: wished for not more than "
    "kio's. A struct of kwire has one slot more, for unknown tagged fields: 8 bytes "
    "for each of 1,104 structs, which is the difference",
    "extension, stripped: wished for under 1,000 KB, and under 1,700 KB before it read "
    "messages into Arrow in one loop and wrote rows from it. It is 27 modules, so that "
    "each job imports what it needs, and 27 empty modules of Cython have 980 KB",
)
FLAT_RATIO = 1.1
METADATA = ("Metadata response v9", "Metadata response v9, 100 brokers")


@dataclass(frozen=True)
class Verdict:
    """One target, what was reached, and whether that is enough."""

    work: str
    wanted: str
    reached: str
    met: bool


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

    def rounds(self) -> tuple[int, int]:
        """Return the least and the most rounds that any row was given."""
        sections = {row.section for row in ROWS}
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


def wishes(figures: Figures) -> Iterator[str]:
    """Write the targets that lie below a wish, and the wish."""
    for row in ROWS:
        for target in row.targets:
            if target.wish:
                verdict = row_verdict(figures, row, target)
                yield (
                    f"{verdict.work}: {verdict.reached}; wanted {verdict.wanted}; "
                    f"{target.wish}"
                )
    yield from OTHER_WISHES


def unclaimed(figures: Figures) -> Iterator[str]:
    """Write the comparisons that kwire does not claim to win."""
    for row in ROWS:
        for target in row.unclaimed:
            verdict = row_verdict(figures, row, target)
            yield f"{verdict.work}: {verdict.reached}"


def verdicts(figures: Figures) -> Iterator[Verdict]:
    """Judge every target there is."""
    for row in ROWS:
        for target in row.targets:
            yield row_verdict(figures, row, target)
    yield _flat_verdict(figures)
    for title in METADATA:
        for entry in ("kwire", "kwire pure"):
            yield _memory_verdict(figures, title, entry)
    yield from _start_verdicts(figures)


def _flat_verdict(figures: Figures) -> Verdict:
    """Judge whether the size of records matters to views of them."""
    titles = [
        row.title
        for row in ROWS
        if row.section == ZERO_COPY and row.title.startswith("Fetch")
    ][1:]
    spread = []
    for collector in COLLECTOR:
        found = [
            figures.seconds(ZERO_COPY, title, "kwire zero_copy", collector)
            for title in titles
        ]
        spread.append(max(found) / min(found))
    return Verdict(
        "zero_copy Fetch v12, slowest over fastest from 1 KB to 1 MB records",
        f"at most {FLAT_RATIO}x",
        f"{spread[0]:.3g}x / {spread[1]:.3g}x",
        max(spread) <= FLAT_RATIO,
    )


def _memory_verdict(figures: Figures, title: str, entry: str) -> Verdict:
    kwire, kio = (
        figures.note(DECODE, title, name, "held_bytes") for name in (entry, "kio")
    )
    times = PURE_MEMORY if entry == "kwire pure" else 1
    share = f"{times} of " if times > 1 else ""
    return Verdict(
        f"memory of one decoded {title}, {entry}",
        f"not more than {share}kio's {kio / 1000:.0f} KB",
        f"{kwire / 1000:.0f} KB",
        kwire <= times * kio,
    )


def _start_verdicts(figures: Figures) -> Iterator[Verdict]:
    for entry in ("kwire", "kwire pure"):
        for title, limit in (
            ("import kwire", IMPORT_SECONDS),
            ("import and decode Metadata v9", FIRST_MESSAGE_SECONDS),
        ):
            seconds = figures.seconds("Start", title, entry, False)
            yield Verdict(
                f"{title}, {entry}",
                f"under {limit * 1000:.0f} ms",
                f"{seconds * 1000:.2f} ms",
                seconds < limit,
            )
        heavy = figures.note("Start", "import kwire", entry, "heavy")
        yield Verdict(
            f"heavy standard modules loaded by import kwire, {entry}",
            "none",
            ", ".join(heavy) or "none",
            not heavy,
        )
    seconds = figures.seconds("Start", "build", "kwire", False)
    wanted = f"under {BUILD_SECONDS} s"
    met = seconds < BUILD_SECONDS
    yield Verdict("build of the extension", wanted, f"{seconds:.1f} s", met)
    size = figures.note("Start", "build", "kwire", "stripped_bytes")
    wanted = f"under {STRIPPED_BYTES / 1000:,.0f} KB"
    met = size < STRIPPED_BYTES
    yield Verdict("extension, stripped", wanted, f"{size / 1000:,.0f} KB", met)
