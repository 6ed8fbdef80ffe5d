# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Verdict``: one target, and whether a run reached it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """One target, what was reached, and whether that is enough."""

    work: str
    wanted: str
    reached: str
    met: bool


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
