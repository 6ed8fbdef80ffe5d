# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Plot the medians without garbage collection: messages and records separately."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.codec.figures import Figures
from benchmarks.codec.records import rows as record_rows
from benchmarks.codec.rows import DECODE, ENCODE, FRAME, ROWS

matplotlib.use("Agg")

from matplotlib import pyplot

_LOOKS = {
    "kwire": ("#0072b2", "o"),
    "kwire columns": ("#009e73", "o"),
    "kwire builder": ("#0072b2", "x"),
    "kwire pure": ("#56b4e9", "s"),
    "kio": ("#d55e00", "D"),
    "kafka-python": ("#e69f00", "^"),
    "aiokafka": ("#666666", "v"),
    "objects": ("#cc79a7", "D"),
    "dicts": ("#cc79a7", "^"),
    record_rows.TYPED: ("#cc79a7", "v"),
    "cramjam": ("#222222", "|"),
    "zlib": ("#222222", "1"),
    "isal": ("#222222", "2"),
    "lz4": ("#222222", "3"),
    "zstandard": ("#222222", "4"),
    record_rows.COPY: ("#222222", "_"),
}

Panels = Mapping[str, tuple[str, ...]]


def draw_messages(figures: Figures, path: Path) -> None:
    """Plot the decoding and the encoding of messages in one panel each."""
    panels = {"Decode": (DECODE,), "Encode": (ENCODE, FRAME)}
    picture, axes = pyplot.subplots(1, 2, figsize=(14, 7), layout="constrained")
    _draw(figures, picture, axes, panels, path)


def draw_records(figures: Figures, path: Path) -> None:
    """Plot each section of the record benchmarks in a panel of its own."""
    panels = {
        record_rows.OBJECTS: (record_rows.OBJECTS,),
        record_rows.BATCHES: (record_rows.BATCHES,),
        record_rows.DECOMPRESS: (record_rows.DECOMPRESS,),
        record_rows.COMPRESS: (record_rows.COMPRESS,),
        record_rows.ARROW: (record_rows.ARROW,),
        f"{record_rows.NESTED}, per message": (record_rows.NESTED,),
    }
    picture, axes = pyplot.subplots(
        3,
        2,
        figsize=(14, 13),
        layout="constrained",
        height_ratios=(13, 10, 4),
    )
    _draw(figures, picture, axes.flat, panels, path)


def _draw(
    figures: Figures, picture: Any, axes: Any, panels: Panels, path: Path
) -> None:
    """Plot panels with logarithmic time axes and a common legend, and write the
    picture.

    ``panels`` maps the title of each panel to the sections of its rows.
    """
    shown: dict[str, Any] = {}
    for axis, (title, sections) in zip(axes, panels.items(), strict=True):
        rows = [row for row in ROWS if row.section in sections][::-1]
        names = [
            f"{row.title}, built and framed" if row.section == FRAME else row.title
            for row in rows
        ]
        for label, (color, marker) in _LOOKS.items():
            points = [
                (1e6 * figures.seconds(row.section, row.title, label, False), height)
                for height, row in enumerate(rows)
                if label in {entry.name for entry in row.entries}
            ]
            if points:
                across, heights = zip(*points, strict=True)
                shown[label] = axis.scatter(
                    across, heights, color=color, marker=marker, s=60
                )
        axis.set_xscale("log")
        axis.set_yticks(range(len(rows)), names)
        axis.set_ylim(-0.6, len(rows) - 0.4)
        axis.set_xlabel("µs, median, collector off (left is faster)")
        axis.set_title(title)
        axis.grid(True, axis="both", color="#dddddd", linewidth=0.7)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    labels = [label for label in _LOOKS if label in shown]
    picture.legend(
        [shown[label] for label in labels],
        labels,
        loc="outside upper center",
        ncols=8,
        frameon=False,
    )
    picture.savefig(path, dpi=110)
    pyplot.close(picture)
