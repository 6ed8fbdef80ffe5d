# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Verdict``: the result when a figure is compared with its target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.harness.tables import table


@dataclass(frozen=True)
class Verdict:
    """Target ``wanted``, measured value ``reached``, and whether the target is ``met``.

    ``work`` describes the measurement.
    """

    work: str
    wanted: str
    reached: str
    met: bool


def at_least(work: str, ratio: float, least: float) -> Verdict:
    """Return the verdict on the target that ``ratio`` is at least ``least``."""
    return Verdict(work, f"at least {least:g}x", f"{ratio:.3g}x", ratio >= least)


def target_table(
    found: Sequence[Verdict], more: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Format a table of all targets.

    ``more`` contains additional columns by title. They precede the last column.
    """
    columns = {
        "target": [each.work for each in found],
        "wanted": [each.wanted for each in found],
        "reached": [each.reached for each in found],
        **(more or {}),
        "met": ["yes" if each.met else "no" for each in found],
    }
    return table(tuple(columns), zip(*columns.values(), strict=True))


def summary(found: Sequence[Verdict]) -> str:
    """Describe how many targets were met, and list the missed targets."""
    missed = [verdict for verdict in found if not verdict.met]
    lines = [f"{len(found) - len(missed)} of {len(found)} targets were met."]
    if missed:
        lines += ["", "Missed:", ""]
        lines += [
            f"- {verdict.work}: {verdict.reached} (target: {verdict.wanted})"
            for verdict in missed
        ]
    return "\n".join(lines)
