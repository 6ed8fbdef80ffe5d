# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Figures from a run, and the verdicts on its targets.

Two cases are compared within every round. The result is the median over these ratios.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness.verdicts import Verdict, at_least
from benchmarks.spark_udf import cases
from benchmarks.spark_udf.rounds import READING

LEADS = {cases.FROM_RECORDS: 3.5, cases.READ_RECORDS: 7.0}
"""Minimum speedup by function, compared with aiokafka in a UDF."""


class UdfFigures:
    """Figures of one run of the UDF benchmark."""

    def __init__(self, run: dict[str, Any]) -> None:
        """Store the parsed JSON report of a run."""
        self.run = run

    @classmethod
    def read(cls, path: Path) -> UdfFigures:
        """Read the JSON report of a run."""
        return cls(json.loads(path.read_text()))

    def rounds(self, column: str, name: str, engine: str = "") -> list[float]:
        """Return the seconds of a case in each round.

        The job that only reads the column is subtracted.
        """
        times = self.run["pure" if engine == "pure" else "seconds"][column]
        pairs = zip(times[name], times[READING], strict=True)
        return [own - reading for own, reading in pairs]

    def seconds(self, column: str, name: str, engine: str = "") -> float:
        """Return a case's median seconds, without reading the column."""
        return statistics.median(self.rounds(column, name, engine))

    def lead(self, column: str, name: str, other: str, engine: str = "") -> float:
        """Return how many times as fast as the case ``other`` a case is."""
        pairs = zip(
            self.rounds(column, other, engine),
            self.rounds(column, name, engine),
            strict=True,
        )
        return statistics.median(slow / fast for slow, fast in pairs)


def udf_verdicts(figures: UdfFigures) -> Iterator[Verdict]:
    """Yield the verdicts on all targets for UDFs."""
    for name, target in LEADS.items():
        lead = figures.lead(cases.RECORD_SETS, name, cases.AIOKAFKA)
        yield at_least(f"{name}, beside aiokafka in a UDF", lead, target)
