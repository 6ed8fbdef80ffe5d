# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds damage, gaps and overlaps in one pass over the segments of a partition.

Records are decoded only where the caller sets ``deep``. The files beside the segments
are compared by ``checks.py``, for callers that give a ``Checks``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text import format_name
from . import problems
from .decoding import check_records
from .problems import Problem
from .segments import walk_segment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .._limits import Limits
    from .checks import Checks
    from .segments import Segment


def examine(
    segments: Iterable[Segment],
    *,
    are_gaps_wrong: Callable[[], bool],
    deep: bool,
    strict_tail: bool,
    progress: Callable[[int], object] | None,
    limits: Limits,
    checks: Checks | None = None,
) -> Iterator[Problem]:
    """Read segments of one partition once, in their order.

    A broker may delete the oldest ones meanwhile: those that are gone before the first
    that is there are passed over. ``FileNotFoundError`` for any other, or if all are.
    """
    expected: int | None = None
    gone: FileNotFoundError | None = None
    is_first = True
    for segment in segments:
        if expected is not None:
            found = _check_seam(segment, expected, are_gaps_wrong)
            if found is not None:
                yield found
        if checks is not None:
            # Before the log: a broker writes a batch first and then what points to it.
            yield from checks.begin(segment)
        try:
            file = segment.open()
        except FileNotFoundError as error:
            if not is_first:
                raise
            gone = error
            continue
        is_first = False
        with file:
            walk = walk_segment(
                segment,
                file,
                strict_tail=strict_tail,
                are_gaps_wrong=are_gaps_wrong,
                progress=progress,
                limits=limits,
            )
            for item in walk:
                if isinstance(item, Problem):
                    if checks is not None:
                        checks.note_damage(item)
                    yield item
                    continue
                if checks is not None:
                    yield from checks.observe(item, file)
                if deep:
                    bad = check_records(walk, file, item, limits)
                    if bad is not None:
                        yield bad
            if checks is not None:
                yield from checks.end(walk.torn_at)
            expected = walk.expected if walk.ends_whole else None
    if is_first and gone is not None:
        raise gone


def _check_seam(
    segment: Segment, expected: int, are_gaps_wrong: Callable[[], bool]
) -> Problem | None:
    """Report a segment that does not begin where the one before it ends."""
    base = segment.base_offset
    if base < 0 or base == expected:
        return None
    place = format_name(segment.path), segment.topic, segment.partition, 0, 0
    if base < expected:
        detail = f"the segment before it goes up to offset {expected - 1}"
        return Problem(*place, problems.OVERLAP, expected - 1, base, detail)
    if not are_gaps_wrong():
        return None
    detail = f"offsets {expected} to {base - 1} are missing"
    return Problem(*place, problems.GAP, expected - 1, base, detail)
