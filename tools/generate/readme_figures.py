# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generate the speed figures in README.md: two paragraphs and the picture.

``docs/pictures/speed.svg`` has one group of bars for Spark and one for messages. All
figures are read from pages that benchmarks write. With ``--check``, this program only
reports outdated figures.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from tools import ROOT

README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "pictures" / "speed.svg"
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
_COMMAND = "python -m tools.generate.readme_figures"

UDF_CHAPTER = "## Spark UDFs"
UDF_ROWS = {
    "UDF: by hand": "Python UDF by hand",
    "UDF: aiokafka": "Python UDF with aiokafka",
    "`from_kafka_records, schema`": "from_kafka_records",
    "`read_records, schema`": "read_records",
}
"""Labels of the bars by row of the first table in ``UDF_CHAPTER``."""

MESSAGE_ROW = "Metadata response v9"
MESSAGE_COLUMNS = {
    "kafka-python": "kafka-python",
    "kwire pure": "kwire in pure Python",
    "kio": "kio",
    "kwire": "kwire, compiled (Cython)",
}
"""Labels of the bars by column of the chapter Decode in ``RESULTS``."""

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
    """Bar of the picture.

    * ``figure``: value, formatted as on the page that contains it.
    * ``ratio``: ratio to another bar with its unit, or "" for bars without ratio.
    """

    label: str
    figure: str
    ratio: str = ""

    @property
    def value(self) -> float:
        """Length of the bar: the figure as a number."""
        return float(self.figure.replace(",", ""))

    @property
    def is_kwire(self) -> bool:
        """Return whether the bar is a function or an engine of kwire."""
        return "kwire" in self.label or self.label.endswith("_records")


class Group(NamedTuple):
    """Bars of one task, which share their unit and their scale."""

    title: str
    bars: list[Bar]


def read_groups() -> list[Group]:
    """Read the bars of both groups from the results pages.

    Raises ``ValueError`` if a page does not contain one of the figures.
    """
    results = RESULTS.read_text("utf-8")
    return [
        Group(
            "Spark: decode 400,000 records of a binary column, seconds",
            read_udf_bars(results),
        ),
        Group(
            "Decode a Metadata response of 1,000 partitions, µs",
            read_message_bars(results),
        ),
    ]


def read_udf_bars(page: str) -> list[Bar]:
    """Read the seconds of each decoder in the UDF chapter.

    Bars of kwire's functions also contain their speed relative to the UDF. Raises
    ``ValueError`` if a row is missing.
    """
    rows = {row[0]: row for row in read_table(page, UDF_CHAPTER)}
    bars = []
    for name, label in UDF_ROWS.items():
        if name not in rows:
            raise ValueError(f"{RESULTS.name} has no row {name!r} in {UDF_CHAPTER!r}")
        bar = Bar(label, rows[name][1])
        ratio = rows[name][rows["job"].index("over by hand")]
        bars.append(bar._replace(ratio=ratio) if bar.is_kwire else bar)
    return bars


def read_message_bars(page: str) -> list[Bar]:
    """Read the microseconds that each library and engine needs to decode one message.

    The bar of the compiled engine also contains its speed relative to the Python
    engine. Raises ``ValueError`` if the row of the message is missing.
    """
    head, *rows = read_table(page, "## Decode")
    row = next((row for row in rows if row[0] == MESSAGE_ROW), None)
    if row is None:
        raise ValueError(f"{RESULTS.name} has no row {MESSAGE_ROW!r} in Decode")
    # A cell contains two times: without and with garbage collection. Use the first.
    figures = dict(zip(head, (cell.partition(" / ")[0] for cell in row), strict=True))
    bars = [Bar(label, figures[name]) for name, label in MESSAGE_COLUMNS.items()]
    twin = next(bar for bar in bars if "pure" in bar.label)
    ratio = format_ratio(twin.value / bars[-1].value)
    return [*bars[:-1], bars[-1]._replace(ratio=f"{ratio}x its pure twin")]


def read_table(page: str, heading: str) -> list[list[str]]:
    """Return the rows of the first table below a second-level heading.

    Each row is a list of cells. Returns one row with an empty cell if there is no
    table.
    """
    chapter = page.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    table = re.search(r"(?:^\|.*\n)+", chapter, re.MULTILINE)
    lines = table[0].splitlines() if table else [""]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def format_ratio(ratio: float) -> str:
    """Format a ratio without decimal places, or with one if it is below 10."""
    return f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"


def draw(groups: list[Group]) -> str:
    """Return the picture as SVG, with colours for light and dark screens."""
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


def write_paragraphs(groups: list[Group]) -> dict[str, str]:
    """Return each paragraph of README.md that contains figures, by its first words."""
    udf, message = ({bar.label: bar for bar in group.bars} for group in groups)
    hand, aiokafka, column, rows = (udf[label] for label in UDF_ROWS.values())
    compiled, twin = (
        message[MESSAGE_COLUMNS["kwire"]],
        message[MESSAGE_COLUMNS["kwire pure"]],
    )
    speed = compiled.ratio.partition("x")[0]
    return {
        "For 400,000 records": (
            f"For 400,000 records on two cores, the UDF takes {hand.figure} s (with"
            f" aiokafka: {aiokafka.figure} s) and `from_kafka_records`"
            f" {column.figure} s: **{column.ratio[:-1]} times as fast**."
            f" `read_records`, with one row per record, takes {rows.figure} s:"
            f" **{rows.ratio[:-1]} times as fast**."
            " [Replace a UDF](docs/spark/drop-in.md) lists the differences, and gains"
            " with other data and settings."
        ),
        "The engine is compiled": (
            "The engine is compiled with Cython. If the compiled engine is not"
            " available, an engine in pure Python returns the same results. Decoding a"
            f" Metadata response with 1,000 partitions takes {compiled.figure} µs, and"
            f" {twin.figure} µs in pure Python: the compiled engine is **{speed} times"
            f" as fast**. The fastest other library, kio, takes"
            f" {message['kio'].figure} µs, and kafka-python"
            f" {message['kafka-python'].figure} µs."
        ),
    }


def fill(readme: str, groups: list[Group]) -> str:
    """Return README.md with the current figures.

    Raises ``ValueError`` if a paragraph is missing or occurs more than once.
    """
    for start, paragraph in write_paragraphs(groups).items():
        lines = textwrap.wrap(
            paragraph, 88, break_long_words=False, break_on_hyphens=False
        )
        matches = re.findall(rf"^{re.escape(start)}(?:.+\n)+", readme, re.MULTILINE)
        if len(matches) != 1:
            raise ValueError(
                f"README.md needs one paragraph that begins with {start!r}"
            )
        readme = readme.replace(matches[0], "\n".join(lines) + "\n")
    return readme


def find_problems(groups: list[Group]) -> Iterator[str]:
    """Yield a message if the picture is outdated, and another if README.md is."""
    if not PICTURE.exists() or PICTURE.read_text("utf-8") != draw(groups):
        yield f"{PICTURE.relative_to(ROOT)} is old; write it with {_COMMAND}"
    readme = README.read_text("utf-8")
    if readme != fill(readme, groups):
        yield f"the figures of README.md are old; write them with {_COMMAND}"


def main() -> int:
    """Write the picture and the paragraphs, or check them if ``--check`` is specified.

    Returns the exit code: 1 if one of them is outdated.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    groups = read_groups()
    if not parser.parse_args().check:
        PICTURE.write_text(draw(groups), "utf-8")
        README.write_text(fill(README.read_text("utf-8"), groups), "utf-8")
        return 0
    problems = list(find_problems(groups))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
