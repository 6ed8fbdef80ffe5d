# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Offset sets: sorted lists of disjoint (first, last) pairs, both inclusive."""

from __future__ import annotations

from bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    Range: TypeAlias = tuple[int, int]


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """Sort ranges, merge overlapping and adjacent ranges, and remove empty ranges."""
    merged: list[Range] = []
    for first, last in sorted(ranges):
        if last < first:
            continue
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return merged


def subtract_ranges(ranges: Iterable[Range], others: Sequence[Range]) -> list[Range]:
    """Remove all offsets of ``others`` from ``ranges``.

    ``others`` must be sorted and disjoint.
    """
    remaining = []
    for first, last in ranges:
        for low, high in find_overlapping(others, first, last):
            if first < low:
                remaining.append((first, low - 1))
            first = high + 1
        if first <= last:
            remaining.append((first, last))
    return remaining


def find_overlapping(ranges: Sequence[Range], first: int, last: int) -> Sequence[Range]:
    """Find all ranges that overlap the range from ``first`` to ``last``."""
    start_index = bisect_right(ranges, (first, 2**64))
    if start_index and ranges[start_index - 1][1] >= first:
        start_index -= 1
    return ranges[start_index : bisect_right(ranges, (last, 2**64))]


def count(ranges: Iterable[Range]) -> int:
    """Return the number of offsets in disjoint ranges."""
    return sum(last - first + 1 for first, last in ranges)
