# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Figures from a Spark run, and the verdicts on its targets.

Cases that are compared run consecutively in every round. Their ratio is computed per
round, and the median over all rounds counts.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness.verdicts import Verdict
from benchmarks.spark import cases

SHARES = (
    (cases.LOG, cases.REPLAY, 0.85),
    (cases.LOG_VALUE, cases.REPLAY_VALUE, 0.85),
    (cases.HEADERS, cases.HEADERS_REPLAY, 0.90),
)
"""Case, its replay, and minimum share of the replay's rate."""

LEADS = dict(zip(cases.PEERS, (8, 15), strict=True))
"""Minimum speedup compared with a peer.

A share of the replay's speedup is sufficient.
"""

SHARE_OF_LEAD = 0.85
FLAT_RATIO = 1.3
WORKER_BYTES = 200_000_000


class SparkFigures:
    """Figures of one run of the Spark benchmark."""

    def __init__(self, run: dict[str, Any]) -> None:
        """Store the parsed JSON report of a run."""
        self.run = run
        self._cases: dict[str, dict[str, Any]] = run["cases"]

    @classmethod
    def read(cls, path: Path) -> SparkFigures:
        """Read the JSON report of a run."""
        return cls(json.loads(path.read_text()))

    def rows(self, case: str) -> int:
        """Return the number of rows that a case reads."""
        rows: int = self._cases[case]["rows"]
        return rows

    def size(self, case: str) -> int:
        """Return the size of a case's input in bytes."""
        size: int = self._cases[case]["bytes"]
        return size

    def rounds(self, case: str) -> list[float]:
        """Return the seconds of a case in each round."""
        seconds: list[float] = self._cases[case]["seconds"]
        return seconds

    def seconds(self, case: str) -> float:
        """Return the median seconds of a case."""
        return statistics.median(self.rounds(case))

    def rate(self, case: str) -> float:
        """Return the rows per second of a case, including the overhead of the job."""
        return self.rows(case) / self.seconds(case)

    def core_seconds(self, case: str) -> float:
        """Return the core seconds per row of a case whose job keeps all cores busy."""
        cpus: int = self.run["machine"]["cpus"]
        return cpus * self.seconds(case) / self.rows(case)

    def reading(self, name: str) -> float:
        """Return the core seconds per row of a reading without Spark.

        ``name`` is the name of the reading.
        """
        seconds: float = self.run["reading"][name]
        return seconds

    def share(self, case: str, replay: str) -> float:
        """Return the rate of a case as a share of its replay's rate."""
        rounds = zip(self.rounds(replay), self.rounds(case), strict=True)
        return statistics.median(most / own for most, own in rounds)

    def row_seconds(self, case: str) -> list[float]:
        """Return the seconds per row in each round. The empty job is subtracted."""
        rounds = zip(self.rounds(case), self.rounds(cases.EMPTY), strict=True)
        return [(own - empty) / self.rows(case) for own, empty in rounds]

    def row(self, case: str) -> float:
        """Return the median seconds per row. The empty job is subtracted."""
        return statistics.median(self.row_seconds(case))

    def lead(self, case: str, peer: str) -> float:
        """Return how many times as fast as a peer a case is.

        The empty job is subtracted.
        """
        return self.row(peer) / self.row(case)

    def spread(self) -> float:
        """Return the ratio of the maximum to the minimum cost per row.

        The costs of all input sizes are compared.
        """
        rows = [self.row(cases.log_case(size)) for size in cases.SIZES]
        return max(rows) / min(rows)


def spark_verdicts(figures: SparkFigures) -> Iterator[Verdict]:
    """Yield the verdicts on all targets for reading logs with Spark."""
    for case, replay, least in SHARES:
        reached = figures.share(case, replay)
        yield Verdict(
            case,
            f"at least {least:.0%} of its replay",
            f"{reached:.1%}",
            reached >= least,
        )
    for peer, times in LEADS.items():
        lead, most = figures.lead(cases.LOG, peer), figures.lead(cases.REPLAY, peer)
        least = SHARE_OF_LEAD * most
        yield Verdict(
            f"{cases.LOG}, beside {peer}",
            f"at least {times}x, or {SHARE_OF_LEAD:.0%} of the replay's"
            f" {most:.3g}x: {least:.3g}x",
            f"{lead:.3g}x",
            lead >= min(times, least),
        )
    for kind, work in (
        ("splits", "private memory of a worker, splits of 128 MiB"),
        ("whole", "private memory of a worker, a segment of 1 GiB in one task"),
    ):
        private = figures.run["memory"][kind]["private"]
        yield Verdict(
            work,
            f"under {WORKER_BYTES / 1e6:.0f} MB",
            f"{private / 1e6:.0f} MB",
            private < WORKER_BYTES,
        )
    spread = figures.spread()
    yield Verdict(
        f"cost of a row, slowest over fastest, {' to '.join((*cases.SIZES,)[::3])}",
        f"at most {FLAT_RATIO}x",
        f"{spread:.3g}x",
        spread <= FLAT_RATIO,
    )
