# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Connection targets that do not compare two entries in a row."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.codec.connections.rows import (
    CODEC,
    CONNECTION_ROWS,
    NEGOTIATION,
    STREAMS,
)
from benchmarks.codec.figures import COLLECTOR, Figures
from benchmarks.harness.verdicts import Verdict
from benchmarks.harness.work import Row

NEGOTIATION_SECONDS = 50e-6
OVER_CODEC_SECONDS = 3e-6


def _verdict(work: str, seconds: list[float], limit: float) -> Verdict:
    shown = " / ".join(f"{each * 1e6:.3g}" for each in seconds)
    wanted = f"under {limit * 1e6:.0f} µs"
    return Verdict(work, wanted, f"{shown} µs", max(seconds) < limit)


def over_codec(figures: Figures, row: Row) -> list[float]:
    """Return the seconds per frame that exceed the decoding of its message.

    The values are for the disabled and for the enabled garbage collector.
    """
    return [
        figures.seconds(row.section, row.title, "kwire", state)
        - figures.seconds(row.section, row.title, CODEC, state)
        for state in COLLECTOR
    ]


def verdicts_of(figures: Figures, row: Row) -> Iterator[Verdict]:
    """Yield the verdicts on the targets of one row that this module defines."""
    work = f"{row.section}, {row.title}, kwire"
    if row.section == STREAMS:
        over = over_codec(figures, row)
        yield _verdict(f"{work}, per frame over {CODEC}", over, OVER_CODEC_SECONDS)
    elif row.section == NEGOTIATION:
        seconds = [
            figures.seconds(row.section, row.title, "kwire", state)
            for state in COLLECTOR
        ]
        yield _verdict(work, seconds, NEGOTIATION_SECONDS)


def connection_verdicts(figures: Figures) -> Iterator[Verdict]:
    """Yield the verdicts on all targets that this module defines."""
    for row in CONNECTION_ROWS:
        yield from verdicts_of(figures, row)
