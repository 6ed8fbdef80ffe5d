# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds where a segment can be split, so that several readers can share it.

A cut is the first byte of a valid batch between two valid batches, all three with
ascending offsets: a walk that begins there finds what a walk from the start finds. Cuts
come from the index, from the headers one after the other, or, in a store, where each
header would be a request, from a search near the wanted position.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, TypeAlias

from .._limits import MIB
from .indexes import do_ascend
from .problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .file_bytes import FileBytes
    from .indexes import OffsetIndex
    from .walk import SegmentWalk

    Walker: TypeAlias = Callable[..., SegmentWalk]
    """``walk_segment`` for an opened file. Its arguments are ``start`` and ``end``."""

    Entries: TypeAlias = Sequence[tuple[int, int]]

_NEAR = 4 * MIB
"""Bytes within which three entries of an index have to lie to be worth following."""

_PROOF = MIB
"""Bytes of whole batches that show, where nothing else does, that a batch which was
found is not part of the value of a record."""

_HINTS = 3
"""Entries of an index to try before hopping."""


def find_cuts(
    file: FileBytes,
    walk: Walker,
    index: OffsetIndex | None,
    size: int,
    *,
    is_remote: bool,
) -> tuple[int, ...]:
    """Find the cuts of an opened segment; see ``Segment.find_splits``.

    ``index`` is its offset index. In a remote one batches are searched for, not hopped
    to.
    """
    found = [0]
    while found[-1] + size + size // 2 < file.size:
        target = found[-1] + size
        cut = None
        for entries in () if index is None else index.lookups():
            cut = _find_by_index(walk, entries, found[-1], target)
            if cut is not None:
                break
        if cut is None and is_remote:
            cut = _find_by_search(walk, file.size, target)
        elif cut is None:
            cut = _find_by_hops(walk, found[-1], target)
        if cut is None:
            break
        found.append(cut)
    return tuple(found)


def _find_by_index(
    walk: Walker, entries: Entries, start: int, target: int
) -> int | None:
    """Use an index entry if a walk over its neighbours finds all their batches."""
    number = max(1, bisect_left(entries, target, key=lambda entry: entry[1]))
    for first in range(number - 1, min(number - 1 + _HINTS, len(entries) - 2)):
        three = entries[first : first + 3]
        if three[0][1] < start or three[2][1] - three[0][1] > _NEAR:
            return None
        if not do_ascend(three):
            return None
        if _check_entries(walk, three):
            return three[1][1]
    return None


def _check_entries(walk: Walker, entries: Entries) -> bool:
    """Whether a walk finds valid batches where the entries say, and no problem."""
    wanted = {position: offset for offset, position in entries}
    end = entries[-1][1] + 1
    before = -1
    for item in walk(start=entries[0][1], end=end):
        if isinstance(item, Problem):
            return False
        offset = wanted.pop(item.position, None)
        if offset is not None and not (before < offset >= item.base_offset):
            return False
        before = item.last_offset
    return not wanted


def _find_by_hops(walk: Walker, start: int, target: int) -> int | None:
    """Read header by header up to the target; where that fails, search every byte."""
    near = start
    for item in walk(start=start, end=target, check_crc=False):
        if isinstance(item, Problem):
            near = start
            break
        near = item.position
    return _find_first_cut(walk, near, target)


def _find_first_cut(walk: Walker, start: int, target: int) -> int | None:
    """Walk from a batch to the first cut that is not before ``target``."""
    before = cut = None
    for item in walk(start=start):
        if isinstance(item, Problem):
            before = cut = None
            continue
        if cut is not None:
            return cut
        if before is not None and item.position >= target:
            cut = item.position
        before = item
    return None


def _find_by_search(walk: Walker, size: int, target: int) -> int | None:
    """Search for a run of valid batches that is long enough to be the segment's own."""
    start = target
    while start < size:
        first = cut = None
        for item in walk(start=start):
            if isinstance(item, Problem):
                if first is not None:
                    break
                continue
            if first is None:
                first = item.position
            elif cut is None:
                cut = item.position
            elif item.position - first >= _PROOF:
                return cut
        else:
            return cut
        start = item.position
    return None
