# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The promises of kwire, the figures that tests recorded, and their table.

A harness that shows a promise notes its figures with ``record``, each with the bound
that it has to keep, in a file of its own under ``tests/safety/figures``. This tool
writes the table of SECURITY.md from those files; with ``--check`` it says whether the
table is what they give, whether every promise has a figure, and whether every test
that is named exists. No figure is made here.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools import ROOT

FIGURES = ROOT / "tests" / "safety" / "figures"
PAGE = ROOT / "SECURITY.md"
START = "<!-- promises: written by tools/generate/promises.py -->\n"
END = "<!-- end of promises -->\n"

PROMISES = {
    "P1": "every message and version comes back from its bytes, and its bytes from it",
    "P2": "the bytes are those of Kafka's own classes",
    "P3": "both engines agree: value, error class, offset and path",
    "P4": "deviations from Kafka are listed, and each is seen",
    "P5": "a cut or changed message is a value or a `DecodeError`",
    "P6": "nothing is read past the end of the input",
    "P7": "memory is bounded by the input",
    "P8": "time is linear in the input",
    "P9": "decompression has a limit",
    "P10": "sanitizers are silent",
    "P11": "nothing leaks",
    "P12": "a failed call leaves no state, a killed command no incomplete file",
    "P13": "threads may encode and decode at once",
    "P14": "subinterpreters work, or are refused by one ImportError",
    "P15": "input is any contiguous bytes-like; never written, always released",
    "P16": "unknown tagged fields survive",
    "P17": "fuzzing goes on",
    "P18": "tests see the code",
    "P19": "import loads little",
    "P20": "the engine in plain Python is real",
    "P21": "memory that changes during a call gives a value or an error of kwire",
}


class Figure(NamedTuple):
    """One figure: what was measured, what was reached, and what it has to keep."""

    promise: str
    what: str
    figure: float
    test: str
    least: float | None = None
    most: float | None = None
    unit: str = ""
    date: str = ""

    def is_kept(self) -> bool:
        """Whether the figure keeps its bounds."""
        return (self.least is None or self.figure >= self.least) and (
            self.most is None or self.figure <= self.most
        )

    @property
    def key(self) -> tuple[str, str, str]:
        """What the figure is of."""
        return self.promise, self.test, self.what

    def is_looser_than(self, other: Figure) -> bool:
        """Whether a bound of the other is gone or further away."""
        return (
            other.least is not None and (self.least is None or self.least < other.least)
        ) or (other.most is not None and (self.most is None or self.most > other.most))

    def text(self) -> str:
        """Say the figure and its bound as a person reads them."""
        parts = [f"{self.what}: {number(self.figure)}{self.unit}"]
        if self.least is not None:
            parts.append(f"at least {number(self.least)}{self.unit}")
        if self.most is not None and (self.most or self.figure):
            parts.append(f"at most {number(self.most)}{self.unit}")
        return parts[0] + (f" ({', '.join(parts[1:])})" if parts[1:] else "")


def number(value: float) -> str:
    """Write a figure with separators, and no more digits than it is worth."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def record(source: str, figures: Iterable[Figure]) -> None:
    """Write down the figures of one harness, dated today, in the place of its last.

    None of the last may be missing or have a looser bound, so that no figure is lost
    unseen. Remove the file first where that is intended.
    """
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    rows = sorted(figure._replace(date=today) for figure in figures)
    for row in rows:
        if row.promise not in PROMISES:
            raise ValueError(f"there is no promise {row.promise}")
        if not row.is_kept():
            raise ValueError(f"{row.promise} is broken: {row.text()}")
    path = FIGURES / f"{source}.json"
    by_key = {row.key: row for row in rows}
    for old in read(path) if path.exists() else []:
        if old.key not in by_key:
            raise ValueError(f"{path.name} would lose a figure: {old.text()}")
        if by_key[old.key].is_looser_than(old):
            raise ValueError(f"a bound of {path.name} would loosen: {old.text()}")
    lines = ",\n".join(
        json.dumps(
            {
                key: value
                for key, value in row._asdict().items()
                if value not in ("", None)
            }
        )
        for row in rows
    )
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def read(path: Path) -> list[Figure]:
    """Read what one harness wrote down."""
    return [Figure(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def figures() -> list[Figure]:
    """Read what all harnesses wrote down, in the order of the promises."""
    rows = [row for path in sorted(FIGURES.glob("*.json")) for row in read(path)]
    return sorted(rows, key=lambda row: (int(row.promise[1:]), row.test, row.what))


def table(rows: list[Figure]) -> str:
    """Write the table: one row for each promise and test."""
    lines = ["| promise | shown by | figures reached | date |", "|---|---|---|---|"]
    seen = set()
    for promise, test in dict.fromkeys((row.promise, row.test) for row in rows):
        mine = [row for row in rows if (row.promise, row.test) == (promise, test)]
        name = f"**{promise}**"
        if promise not in seen:
            name += f" {PROMISES[promise]}"
        seen.add(promise)
        reached = "; ".join(row.text() for row in mine)
        date = max(row.date for row in mine)
        lines.append(f"| {name} | `{test}` | {reached} | {date} |")
    return "\n".join(lines) + "\n"


def page_with(text: str, rows: list[Figure]) -> str:
    """Put the table between its marks in the page."""
    head, rest = text.split(START)
    return head + START + "\n" + table(rows) + "\n" + END + rest.split(END)[1]


def missing_tests(rows: list[Figure]) -> Iterator[str]:
    """Name the tests and make targets that figures claim and that do not exist."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for test in sorted({row.test for row in rows}):
        if test.startswith("make "):
            if f"\n{test[5:]}:" not in makefile:
                yield f"{test} is not a target of the Makefile"
            continue
        if missing := missing_part(test):
            yield missing


def missing_part(test: str) -> str:
    """Return which part of a test's name does not exist: its file, its function."""
    path, _, name = test.partition("[")[0].partition("::")
    source = ROOT / path
    if not source.exists():
        return f"{path} does not exist"
    if name:
        tree = ast.parse(source.read_text(encoding="utf-8"))
        names = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        if name not in names:
            return f"{path} has no {name}"
    return ""


def complaints(rows: list[Figure], text: str) -> Iterator[str]:
    """Say all that is wrong with the figures and with the page made of them."""
    for promise in PROMISES.keys() - {row.promise for row in rows}:
        yield f"{promise} has no figure: {PROMISES[promise]}"
    yield from (f"{r.promise} is broken: {r.text()}" for r in rows if not r.is_kept())
    yield from missing_tests(rows)
    if page_with(text, rows) != text:
        yield (
            "the table of SECURITY.md is stale; run: python -m tools.generate.promises"
        )


def main() -> int:
    """Write the table of SECURITY.md, or check it."""
    parser = argparse.ArgumentParser(description="The table of promises in SECURITY.md")
    parser.add_argument("--check", action="store_true", help="write nothing")
    asked = parser.parse_args()
    rows, text = figures(), PAGE.read_text(encoding="utf-8")
    if not asked.check:
        text = page_with(text, rows)
        PAGE.write_text(text, encoding="utf-8")
    found = sorted(complaints(rows, text))
    for complaint in found:
        print(complaint, file=sys.stderr)
    if not found:
        print(f"{len(PROMISES)} promises, {len(rows)} figures, all kept")
    return min(1, len(found))


if __name__ == "__main__":
    sys.exit(main())
