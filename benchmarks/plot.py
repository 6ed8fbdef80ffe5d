# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the medians of messages, collector off, as one picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib

from benchmarks.rows import DECODE, ENCODE, FRAME, ROWS
from benchmarks.targets import Figures

matplotlib.use("Agg")

from matplotlib import pyplot

LOOKS = {
    "kwire": ("#0072b2", "o"),
    "kwire pure": ("#56b4e9", "s"),
    "kio": ("#d55e00", "D"),
    "kafka-python": ("#e69f00", "^"),
    "aiokafka": ("#666666", "v"),
}


def draw(figures: Figures, path: Path) -> None:
    """Draw one panel for decoding and one for encoding, on logarithmic scales."""
    panels = {"Decode": (DECODE,), "Encode": (ENCODE, FRAME)}
    picture, axes = pyplot.subplots(1, 2, figsize=(14, 7), layout="constrained")
    for axis, (title, sections) in zip(axes, panels.items(), strict=True):
        rows = [row for row in ROWS if row.section in sections][::-1]
        names = [
            f"{row.title}, built and framed" if row.section == FRAME else row.title
            for row in rows
        ]
        for label, (color, marker) in LOOKS.items():
            points = [
                (1e6 * figures.seconds(row.section, row.title, label, False), height)
                for height, row in enumerate(rows)
                if label in {entry.name for entry in row.entries}
            ]
            across, heights = zip(*points, strict=True)
            axis.scatter(across, heights, color=color, marker=marker, s=45, label=label)
        axis.set_xscale("log")
        axis.set_yticks(range(len(rows)), names)
        axis.set_xlabel("µs, median, collector off (left is faster)")
        axis.set_title(title)
        axis.grid(True, axis="both", color="#dddddd", linewidth=0.7)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False)
    picture.savefig(path, dpi=110)
    pyplot.close(picture)
