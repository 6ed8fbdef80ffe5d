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
    found: list[Range] = []
    for first, last in sorted(ranges):
        if last < first:
            continue
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found


def subtract_ranges(ranges: Iterable[Range], others: Sequence[Range]) -> list[Range]:
    """Remove all offsets of ``others`` from ``ranges``.

    ``others`` must be sorted and disjoint.
    """
    found = []
    for first, last in ranges:
        for low, high in find_overlapping(others, first, last):
            if first < low:
                found.append((first, low - 1))
            first = high + 1
        if first <= last:
            found.append((first, last))
    return found


def find_overlapping(ranges: Sequence[Range], first: int, last: int) -> Sequence[Range]:
    """Find all ranges that overlap the range from ``first`` to ``last``."""
    begin = bisect_right(ranges, (first, 2**64))
    if begin and ranges[begin - 1][1] >= first:
        begin -= 1
    return ranges[begin : bisect_right(ranges, (last, 2**64))]


def count(ranges: Iterable[Range]) -> int:
    """Count all offsets."""
    return sum(last - first + 1 for first, last in ranges)
