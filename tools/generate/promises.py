# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generate the table of promises from the figures that tests have recorded.

A harness that verifies a promise stores its figures with ``record`` in a separate file
in ``tests/safety/figures``. Every figure includes the limit that it must satisfy. This
program writes the table in SECURITY.md from these files. ``--check`` checks that the
table is up to date, that every promise has a figure, and that every specified test
exists. This program does not measure anything.
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
    """Recorded figure of a test, with the limits that it must satisfy.

    * ``promise``: key of the promise in ``PROMISES``, for example "P7".
    * ``what``: description of the figure.
    * ``test``: test function or make target that records the figure.
    * ``least``, ``most``: minimum and maximum of the figure. None means no limit.
    * ``date``: day of the recording in ISO format.
    """

    promise: str
    what: str
    figure: float
    test: str
    least: float | None = None
    most: float | None = None
    unit: str = ""
    date: str = ""

    def is_kept(self) -> bool:
        """Return whether the figure satisfies its limits."""
        return (self.least is None or self.figure >= self.least) and (
            self.most is None or self.figure <= self.most
        )

    @property
    def key(self) -> tuple[str, str, str]:
        """Promise, test and description, which identify the figure in its file."""
        return self.promise, self.test, self.what

    def is_looser_than(self, other: Figure) -> bool:
        """Return whether this figure lacks or relaxes a limit of the other figure."""
        return (
            other.least is not None and (self.least is None or self.least < other.least)
        ) or (other.most is not None and (self.most is None or self.most > other.most))

    def text(self) -> str:
        """Format the description, the value, the unit and the limits of the figure."""
        parts = [f"{self.what}: {number(self.figure)}{self.unit}"]
        if self.least is not None:
            parts.append(f"at least {number(self.least)}{self.unit}")
        if self.most is not None and (self.most or self.figure):
            parts.append(f"at most {number(self.most)}{self.unit}")
        return parts[0] + (f" ({', '.join(parts[1:])})" if parts[1:] else "")


def number(value: float) -> str:
    """Format a number with thousands separators and at most four significant digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def record(source: str, figures: Iterable[Figure]) -> None:
    """Write the figures of one harness to its file, with today's date.

    ``source`` is the name of the file without its suffix. The new figures replace all
    figures in the file.

    Raises ``ValueError`` if a figure violates its limits, or if a previous figure is
    missing or has a less strict limit. The latter prevents the accidental loss of a
    figure. If the loss is intended, delete the file first.
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
    """Read the figures of one harness from its JSON file."""
    return [Figure(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def figures() -> list[Figure]:
    """Read the figures of all harnesses, sorted by promise."""
    rows = [row for path in sorted(FIGURES.glob("*.json")) for row in read(path)]
    return sorted(rows, key=lambda row: (int(row.promise[1:]), row.test, row.what))


def table(rows: list[Figure]) -> str:
    """Format the table in Markdown, with one row for each pair of promise and test."""
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
    """Replace the table between the two markers of the page."""
    head, rest = text.split(START)
    return head + START + "\n" + table(rows) + "\n" + END + rest.split(END)[1]


def missing_tests(rows: list[Figure]) -> Iterator[str]:
    """Yield an error for each missing test or make target of a figure."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for test in sorted({row.test for row in rows}):
        if test.startswith("make "):
            if f"\n{test[5:]}:" not in makefile:
                yield f"{test} is not a target of the Makefile"
            continue
        if missing := missing_part(test):
            yield missing


def missing_part(test: str) -> str:
    """Describe why a test does not exist: its file or its function is missing.

    Returns "" if it exists.
    """
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
    """Yield all errors in the figures, in their tests, and in the table of the page."""
    for promise in PROMISES.keys() - {row.promise for row in rows}:
        yield f"{promise} has no figure: {PROMISES[promise]}"
    yield from (f"{r.promise} is broken: {r.text()}" for r in rows if not r.is_kept())
    yield from missing_tests(rows)
    if page_with(text, rows) != text:
        yield (
            "the table of SECURITY.md is stale; run: python -m tools.generate.promises"
        )


def main() -> int:
    """Write the table in SECURITY.md, or check it if ``--check`` is specified.

    Returns the exit code: 1 if there are errors. Errors in the figures are also
    reported after the table has been written.
    """
    parser = argparse.ArgumentParser(description="The table of promises in SECURITY.md")
    parser.add_argument("--check", action="store_true", help="write nothing")
    asked = parser.parse_args()
    rows, text = figures(), PAGE.read_text(encoding="utf-8")
    if not asked.check:
        text = page_with(text, rows)
        PAGE.write_text(text, encoding="utf-8")
    problems = sorted(complaints(rows, text))
    for complaint in problems:
        print(complaint, file=sys.stderr)
    if not problems:
        print(f"{len(PROMISES)} promises, {len(rows)} figures, all kept")
    return min(1, len(problems))


if __name__ == "__main__":
    sys.exit(main())
