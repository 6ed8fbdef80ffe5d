# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the picture of README.md from figures that the benchmarks have measured.

``docs/pictures/speed.svg`` has one group of bars for Spark and one for messages. The
figures come from pages that are written by measurements, and README.md repeats them.
With ``--check`` this program says whether the picture is what the figures give, and
whether README.md has each figure.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from tools import ROOT

README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "pictures" / "speed.svg"
UDF_PAGE = ROOT / "docs" / "spark" / "drop-in.md"
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
_COMMAND = "python -m tools.generate.readme_picture"

UDF_ROWS = {
    "by hand, plain UDF": "Python UDF by hand",
    "from_kafka_records": "from_kafka_records",
    "read_records, as rows": "read_records",
}
"""Rows of the console output in ``UDF_PAGE``, and labels; the first is the baseline."""

MESSAGE_ROW = "Metadata response v9"
MESSAGE_COLUMNS = {
    "kafka-python": "kafka-python",
    "kwire pure": "kwire in pure Python",
    "kio": "kio",
    "kwire": "kwire, compiled (Cython)",
}
"""Columns of the chapter Decode of ``RESULTS``, and their labels."""

_WIDTH, _BAR_LEFT, _BAR_WIDTH = 660, 226, 290
_ROW, _HEADING, _MARGIN = 27, 38, 14
_STYLE = """
.back { fill: #f6f8fb; stroke: #dfe3ea; } text { fill: #1c2430; }
.kwire { fill: #1f62c4; } .other { fill: #a7b0be; } .strong { font-weight: 600; }
@media (prefers-color-scheme: dark) {
  .back { fill: #171c24; stroke: #2f3743; } text { fill: #dde3ec; }
  .kwire { fill: #6ea8ff; } .other { fill: #566173; } }
"""


class Bar(NamedTuple):
    """One bar: its label, the figure as its page has it, and words after the figure."""

    label: str
    figure: str
    ratio: str = ""

    @property
    def value(self) -> float:
        """The figure as a number."""
        return float(self.figure.replace(",", ""))

    @property
    def is_kwire(self) -> bool:
        """Whether the bar is a function or an engine of kwire."""
        return "kwire" in self.label or self.label.endswith("_records")


class Group(NamedTuple):
    """Bars of one task, with their unit."""

    title: str
    bars: list[Bar]


def read_groups() -> list[Group]:
    """Read the figures; raises ValueError if a page does not have one of them."""
    return [
        Group(
            "Spark: decode 400,000 records of a binary column, seconds",
            read_udf_bars(UDF_PAGE.read_text("utf-8")),
        ),
        Group(
            "Decode a Metadata response of 1,000 partitions, µs",
            read_message_bars(RESULTS.read_text("utf-8")),
        ),
    ]


def read_udf_bars(page: str) -> list[Bar]:
    """Read the seconds of the UDF by hand and of kwire's functions."""
    seconds = {}
    for name in UDF_ROWS:
        found = re.search(rf"^{re.escape(name)} +([0-9.]+) ", page, re.MULTILINE)
        if found is None:
            raise ValueError(f"{UDF_PAGE.name} has no row {name!r}")
        seconds[name] = found[1]
    first, *others = seconds
    bars = [Bar(UDF_ROWS[first], seconds[first])]
    for name in others:
        ratio = float(seconds[first]) / float(seconds[name])
        bars.append(Bar(UDF_ROWS[name], seconds[name], f"{format_ratio(ratio)}x"))
    return bars


def read_message_bars(page: str) -> list[Bar]:
    """Read the µs of decoding one message, of each library and of both engines."""
    chapter = page.partition("\n## Decode\n")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in chapter.splitlines()
        if line.startswith("|")
    ]
    row = next((row for row in rows if row[0] == MESSAGE_ROW), None)
    if row is None:
        raise ValueError(f"{RESULTS.name} has no row {MESSAGE_ROW!r} in Decode")
    # A cell has the time without the garbage collector, then the time with it.
    figures = dict(
        zip(rows[0], (cell.partition(" / ")[0] for cell in row), strict=True)
    )
    bars = [Bar(label, figures[name]) for name, label in MESSAGE_COLUMNS.items()]
    twin = next(bar for bar in bars if "pure" in bar.label)
    ratio = format_ratio(twin.value / bars[-1].value)
    return [*bars[:-1], bars[-1]._replace(ratio=f"{ratio}x its pure twin")]


def format_ratio(ratio: float) -> str:
    """Write a ratio as README.md does: one digit after the point below 10."""
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def draw(groups: list[Group]) -> str:
    """Return the picture as SVG, with colours for light and for dark screens."""
    parts = []
    y = _MARGIN
    for group in groups:
        parts.append(f'<text class="strong" x="16" y="{y + 18}">{escape(group.title)}')
        parts.append("</text>\n")
        y += _HEADING
        longest = max(bar.value for bar in group.bars)
        for bar in group.bars:
            looks = "kwire" if bar.is_kwire else "other"
            width = max(2, bar.value / longest * _BAR_WIDTH)
            words = f"{bar.figure} ({bar.ratio})" if bar.ratio else bar.figure
            words_x = _BAR_LEFT + width + 8
            parts.append(
                f'<text x="{_BAR_LEFT - 10}" y="{y + 14}" text-anchor="end">'
                f"{escape(bar.label)}</text>\n"
                f'<rect class="{looks}" x="{_BAR_LEFT}" y="{y}" rx="2"'
                f' width="{width:.1f}" height="18"/>\n'
                f'<text class="{"strong" if bar.ratio else "plain"}"'
                f' x="{words_x:.1f}" y="{y + 14}">{escape(words)}</text>\n'
            )
            y += _ROW
        y += _MARGIN
    height = y
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}"'
        f' viewBox="0 0 {_WIDTH} {height}" font-family="system-ui, sans-serif"'
        f' font-size="15">\n<style>{_STYLE}</style>\n'
        f'<rect class="back" x=".5" y=".5" rx="8" width="{_WIDTH - 1}"'
        f' height="{height - 1}"/>\n{"".join(parts)}</svg>\n'
    )


def find_problems(groups: list[Group]) -> Iterator[str]:
    """Yield what is old in the picture and in README.md."""
    if not PICTURE.exists() or PICTURE.read_text("utf-8") != draw(groups):
        yield f"{PICTURE.relative_to(ROOT)} is old; write it with {_COMMAND}"
    readme = README.read_text("utf-8")
    for group in groups:
        for bar in group.bars:
            if not re.search(rf"(?<![\d.,]){re.escape(bar.figure)}(?![\d,])", readme):
                yield f"README.md does not have {bar.figure} of {bar.label!r}"
            ratio = bar.ratio.partition("x")[0]
            if ratio and not re.search(rf"(?<![\d.,]){ratio}(?![\d,.])", readme):
                yield f"README.md does not have the ratio {ratio} of {bar.label!r}"


def main() -> int:
    """Write the picture, or check it; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    groups = read_groups()
    if not parser.parse_args().check:
        PICTURE.write_text(draw(groups), "utf-8")
        return 0
    problems = list(find_problems(groups))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
