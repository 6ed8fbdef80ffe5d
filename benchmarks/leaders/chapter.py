# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Move leaders of three brokers under load: a chapter, a page and a picture."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.harness import ROOT, chapters
from benchmarks.harness.broker_runs import describe_machine
from benchmarks.harness.chapters import RESULTS
from benchmarks.harness.tables import table
from benchmarks.leaders.moves import KINDS, PARTITIONS, WRITES_PER_SECOND, measure

__all__ = ("OPTIONS", "measure", "write_chapter")

matplotlib.use("Agg")

from matplotlib import pyplot

PICTURE = ROOT / "docs" / "pictures" / "leader-moves.svg"
PAGE = ROOT / "docs" / "drafts" / "002-kip-951-measured.md"
OPTIONS = {"moves": 40}

_LABELS = {"hints": "with hints", "none": "hints ignored"}
_COLORS = {"hints": "#0072b2", "none": "#e69f00"}


class Moves:
    """The figures of one run."""

    def __init__(self, run: dict[str, Any]) -> None:
        """Take what the JSON of one run holds."""
        self.run = run
        self.count = len(run["moves"])

    @classmethod
    def read(cls, path: Path) -> Moves:
        """Read the JSON of one run."""
        return cls(json.loads(path.read_text()))

    def seconds(self, kind: str) -> list[float]:
        """Return the time without service of each move, in order."""
        return [move[kind]["seconds"] for move in self.run["moves"]]

    def refusals(self, kind: str) -> float:
        """Return how many Fetches were refused in a move, on average."""
        return statistics.mean(move[kind]["refusals"] for move in self.run["moves"])

    def ratio(self) -> float:
        """Return how many times as long a move takes without hints: the median."""
        pairs = zip(self.seconds("none"), self.seconds("hints"), strict=True)
        return statistics.median(none / hints for none, hints in pairs)


def _table(figures: Moves) -> str:
    lines = []
    for kind in KINDS:
        found = sorted(figures.seconds(kind))
        at = [found[0], statistics.median(found), found[int(0.9 * len(found))]]
        lines.append(
            [
                _LABELS[kind],
                *(f"{1e3 * each:,.0f}" for each in (*at, found[-1])),
                f"{figures.refusals(kind):.2f}",
            ]
        )
    head = ("ms without service", "least", "median", "90 %", "most", "refused Fetches")
    return table(head, lines)


def _text(figures: Moves, title: str, picture: str) -> str:
    return chapters.fill(
        __file__,
        title=title,
        run=figures.run,
        partitions=PARTITIONS,
        rate=WRITES_PER_SECOND,
        count=figures.count,
        machine=describe_machine(figures.run),
        table=_table(figures),
        ratio=figures.ratio(),
        picture=picture,
    )


def _draw(figures: Moves) -> None:
    matplotlib.rcParams["svg.hashsalt"] = "leader-moves"
    picture, axis = pyplot.subplots(figsize=(9, 4), layout="constrained")
    numbers = range(1, figures.count + 1)
    for kind in KINDS:
        found = [1e3 * seconds for seconds in figures.seconds(kind)]
        median = statistics.median(found)
        label = f"{_LABELS[kind]}, median {median:,.0f} ms"
        axis.scatter(numbers, found, color=_COLORS[kind], s=22, label=label)
        axis.axhline(median, color=_COLORS[kind], linewidth=1)
    axis.set_yscale("log")
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_formatter("{x:g}")
    axis.set_xlabel("move")
    axis.set_ylabel("ms without service (lower is better)")
    axis.set_title("A leader moves, and a scan reads on")
    axis.grid(True, color="#dddddd", linewidth=0.7)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    picture.legend(frameon=False, loc="outside lower center", ncols=2)
    picture.savefig(PICTURE, metadata={"Date": None})
    pyplot.close(picture)


def write_chapter(json_path: Path) -> str:
    """Write the page, the chapter and the picture; return the table."""
    figures = Moves.read(json_path)
    _draw(figures)
    picture = "pictures/leader-moves.svg"
    page = _text(figures, "# KIP-951 measured: leaders that move", f"../{picture}")
    PAGE.write_text(page)
    chapters.put_chapter(
        RESULTS, _text(figures, "## Leaders that move", f"../docs/{picture}")
    )
    return _table(figures)
