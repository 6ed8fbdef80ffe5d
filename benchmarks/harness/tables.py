# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Format tables and durations for the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table. All columns except the first are right-aligned."""
    rule = ["---", *("--:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))


def amount(seconds: float) -> str:
    """Format a duration in microseconds with about three significant digits."""
    micros = seconds * 1e6
    if micros >= 100:
        return f"{micros:,.0f}"
    return f"{micros:.3g}" if micros >= 1 else f"{micros:.3f}"
