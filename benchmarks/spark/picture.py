# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Plot a Spark run: rates compared with replays, and the cost per row by input size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.spark import cases
from benchmarks.spark.targets import FLAT_RATIO, SparkFigures

matplotlib.use("Agg")

from matplotlib import pyplot

_KWIRE, _REPLAY, _PEER = "#0072b2", "#bbbbbb", "#e69f00"
_BARS = {
    cases.REPLAY: _REPLAY,
    cases.LOG: _KWIRE,
    cases.PEERS[0]: _PEER,
    cases.PEERS[1]: _PEER,
    cases.REPLAY_VALUE: _REPLAY,
    cases.LOG_VALUE: _KWIRE,
    cases.HEADERS_REPLAY: _REPLAY,
    cases.HEADERS: _KWIRE,
}


def draw(figures: SparkFigures, path: Path) -> None:
    """Plot the rates in one panel and the costs per row in the other panel."""
    picture, (rates, costs) = pyplot.subplots(
        1, 2, figsize=(14, 5), layout="constrained"
    )
    _draw_rates(figures, rates)
    _draw_costs(figures, costs)
    for axis in (rates, costs):
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    picture.savefig(path, dpi=110)
    pyplot.close(picture)


def _draw_rates(figures: SparkFigures, axis: Any) -> None:
    names = list(_BARS)[::-1]
    rates = [figures.rate(name) / 1e6 for name in names]
    bars = axis.barh(names, rates, color=[_BARS[name] for name in names])
    axis.bar_label(bars, [f"{rate:.2f}" for rate in rates], padding=3)
    axis.set_xlabel("million rows per second (right is faster)")
    axis.set_title("Spark, two threads: kwire beside replays and peers")
    axis.grid(True, axis="x", color="#dddddd", linewidth=0.7)


def _draw_costs(figures: SparkFigures, axis: Any) -> None:
    sizes = [figures.size(cases.log_case(size)) for size in cases.SIZES]
    medians = [1e9 * figures.row(cases.log_case(size)) for size in cases.SIZES]
    low = min(medians)
    axis.axhspan(low, low * FLAT_RATIO, color="#0072b2", alpha=0.1)
    for size, name in zip(sizes, cases.SIZES, strict=True):
        rounds = [1e9 * each for each in figures.row_seconds(cases.log_case(name))]
        axis.scatter([size] * len(rounds), rounds, color="#56b4e9", s=14)
    axis.plot(sizes, medians, color=_KWIRE, marker="o")
    axis.set_xscale("log")
    axis.set_xticks(sizes, list(cases.SIZES))
    axis.minorticks_off()
    axis.set_ylim(0, None)
    axis.set_xlabel("input")
    axis.set_ylabel("ns a row, less an empty job")
    axis.set_title(f"Cost of a row by the size of the input; the band is {FLAT_RATIO}x")
    axis.grid(True, color="#dddddd", linewidth=0.7)
