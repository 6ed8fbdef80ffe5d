# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds damage, gaps and overlaps in one pass over all partition segments.

Records are only decoded if ``deep`` is true. If the caller passes a ``Checks`` object,
it also compares index files and leader epochs with the batches.
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
    """Read the segments in one partition sequentially, and yield detected problems.

    * ``segments``: segments in offset order.
    * ``are_gaps_wrong``: callback for missing offsets. If it returns True, the gap is
      reported as a problem.
    * ``deep``: also decode the records.
    * ``strict_tail``: treat a torn tail as damage.
    * ``progress``: callback that receives the number of additional bytes processed.
    * ``checks``: compares other files with the batches. Default: no comparison.

    A broker may delete the oldest segments during the pass. Missing segments at the
    beginning are skipped. Raises ``FileNotFoundError`` if a later segment or every
    segment is missing.
    """
    expected: int | None = None
    missing_error: FileNotFoundError | None = None
    is_first = True
    for segment in segments:
        if expected is not None:
            seam_problem = _check_base_offset(segment, expected, are_gaps_wrong)
            if seam_problem is not None:
                yield seam_problem
        if checks is not None:
            # Read the indexes before the segment. A broker writes a batch first and its
            # index entries afterwards, so every index entry must have a batch.
            yield from checks.begin(segment)
        try:
            file = segment.open()
        except FileNotFoundError as error:
            if not is_first:
                raise
            missing_error = error
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
                    record_problem = check_records(walk, file, item, limits)
                    if record_problem is not None:
                        yield record_problem
            if checks is not None:
                yield from checks.end(walk.torn_at)
            expected = walk.expected if walk.ends_whole else None
    if is_first and missing_error is not None:
        raise missing_error


def _check_base_offset(
    segment: Segment, expected: int, are_gaps_wrong: Callable[[], bool]
) -> Problem | None:
    """Compare the base offset of a segment with the end of the previous segment.

    Returns a problem if the segments overlap, or if offsets are missing between them
    and ``are_gaps_wrong`` returns True. Otherwise, returns None.
    """
    base = segment.base_offset
    if base < 0 or base == expected:
        return None
    location = format_name(segment.path), segment.topic, segment.partition, 0, 0
    if base < expected:
        detail = f"the previous segment ends at offset {expected - 1}"
        return Problem(*location, problems.OVERLAP, expected - 1, base, detail)
    if not are_gaps_wrong():
        return None
    detail = f"offsets {expected} to {base - 1} are missing"
    return Problem(*location, problems.GAP, expected - 1, base, detail)
