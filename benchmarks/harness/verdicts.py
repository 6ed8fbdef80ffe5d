# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Verdict``: one target, and whether a run reached it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.harness.tables import table


@dataclass(frozen=True)
class Verdict:
    """One target, what was reached, and whether that is enough."""

    work: str
    wanted: str
    reached: str
    met: bool


def at_least(work: str, ratio: float, least: float) -> Verdict:
    """Judge a ratio that has to be ``least`` or more."""
    return Verdict(work, f"at least {least:g}x", f"{ratio:.3g}x", ratio >= least)


def target_table(
    found: Sequence[Verdict], more: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Write a table of all targets, with ``more`` columns before the last one."""
    columns = {
        "target": [each.work for each in found],
        "wanted": [each.wanted for each in found],
        "reached": [each.reached for each in found],
        **(more or {}),
        "met": ["yes" if each.met else "no" for each in found],
    }
    return table(tuple(columns), zip(*columns.values(), strict=True))


def summary(found: Sequence[Verdict]) -> str:
    """Count the targets met and name those missed."""
    missed = [verdict for verdict in found if not verdict.met]
    lines = [f"{len(found) - len(missed)} of {len(found)} targets were met."]
    if missed:
        lines += ["", "Missed:", ""]
        lines += [
            f"- {verdict.work}: {verdict.reached}; wanted {verdict.wanted}"
            for verdict in missed
        ]
    return "\n".join(lines)
