# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Move leaders between three brokers under load: a chapter, a page and a picture."""

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


def _seconds(run: dict[str, Any], kind: str) -> list[float]:
    """Return the seconds without service for each move in chronological order."""
    return [move[kind]["seconds"] for move in run["moves"]]


def _ratio(run: dict[str, Any]) -> float:
    """Return the median ratio of the time without hints to the time with hints."""
    pairs = zip(_seconds(run, "none"), _seconds(run, "hints"), strict=True)
    return statistics.median(none / hints for none, hints in pairs)


def _table(run: dict[str, Any]) -> str:
    lines = []
    for kind in KINDS:
        refusals = statistics.mean(move[kind]["refusals"] for move in run["moves"])
        seconds = sorted(_seconds(run, kind))
        quantiles = [
            seconds[0],
            statistics.median(seconds),
            seconds[int(0.9 * len(seconds))],
        ]
        lines.append(
            [
                _LABELS[kind],
                *(f"{1e3 * each:,.0f}" for each in (*quantiles, seconds[-1])),
                f"{refusals:.2f}",
            ]
        )
    head = ("ms without service", "least", "median", "90 %", "most", "refused Fetches")
    return table(head, lines)


def _text(run: dict[str, Any], title: str, picture: str) -> str:
    return chapters.fill(
        __file__,
        title=title,
        run=run,
        partitions=PARTITIONS,
        rate=WRITES_PER_SECOND,
        count=len(run["moves"]),
        machine=describe_machine(run),
        table=_table(run),
        ratio=_ratio(run),
        picture=picture,
    )


def _draw(run: dict[str, Any]) -> None:
    matplotlib.rcParams["svg.hashsalt"] = "leader-moves"
    picture, axis = pyplot.subplots(figsize=(9, 4), layout="constrained")
    numbers = range(1, len(run["moves"]) + 1)
    for kind in KINDS:
        millis = [1e3 * seconds for seconds in _seconds(run, kind)]
        median = statistics.median(millis)
        label = f"{_LABELS[kind]}, median {median:,.0f} ms"
        axis.scatter(numbers, millis, color=_COLORS[kind], s=22, label=label)
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
    """Write the page, the chapter and the picture. Returns the table of the chapter."""
    run = json.loads(json_path.read_text())
    _draw(run)
    picture = "pictures/leader-moves.svg"
    page = _text(run, "# KIP-951 measured: leaders that move", f"../{picture}")
    PAGE.write_text(page)
    chapters.put_chapter(
        RESULTS, _text(run, "## Leaders that move", f"../docs/{picture}")
    )
    return _table(run)
