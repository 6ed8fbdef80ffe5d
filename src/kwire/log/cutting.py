# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds positions for splitting a segment, so that multiple readers can share it.

A segment is split where a valid batch begins between two other valid batches. Offsets
must ascend across the three batches, so that a walk from this position finds the same
batches as a walk from the beginning. Positions are taken from the offset index, or
found by reading one header after another. In an object store, reading individual
headers would require many requests, so a small region near the target is searched
instead.
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

_MAX_DISTANCE = 4 * MIB
"""Maximum distance in bytes between the first and the last of three index entries that
are checked together.
"""

_PROOF_BYTES = MIB
"""Minimum total size in bytes of consecutive valid batches that a search accepts.

A single valid batch may belong to a record value that contains Kafka data.
"""

_MAX_HINTS = 3
"""Number of index entries that are tried for a split position. If all of them fail, the
headers are read instead.
"""


def find_cuts(
    file: FileBytes,
    walk: Walker,
    index: OffsetIndex | None,
    size: int,
    *,
    is_remote: bool,
) -> tuple[int, ...]:
    """Find the split positions of an open segment. See ``Segment.find_splits``.

    * ``walk``: starts a walk through the file from a position.
    * ``index``: offset index for the segment, if available.
    * ``size``: target split size in bytes.
    * ``is_remote``: search for batches near the target instead of reading all headers.
    """
    cuts = [0]
    while cuts[-1] + size + size // 2 < file.size:
        target = cuts[-1] + size
        cut = None
        for entries in () if index is None else index.lookups():
            cut = _find_cut_by_index(walk, entries, cuts[-1], target)
            if cut is not None:
                break
        if cut is None and is_remote:
            cut = _find_cut_by_search(walk, file.size, target)
        elif cut is None:
            cut = _find_cut_by_headers(walk, cuts[-1], target)
        if cut is None:
            break
        cuts.append(cut)
    return tuple(cuts)


def _find_cut_by_index(
    walk: Walker, entries: Entries, start: int, target: int
) -> int | None:
    """Find a split position near ``target`` in the index.

    Returns None unless a walk finds valid batches at the index entry and at the entries
    before and after it.
    """
    entry_number = max(1, bisect_left(entries, target, key=lambda entry: entry[1]))
    for first_number in range(
        entry_number - 1, min(entry_number - 1 + _MAX_HINTS, len(entries) - 2)
    ):
        neighbours = entries[first_number : first_number + 3]
        if (
            neighbours[0][1] < start
            or neighbours[2][1] - neighbours[0][1] > _MAX_DISTANCE
        ):
            return None
        if not do_ascend(neighbours):
            return None
        if _are_entries_valid(walk, neighbours):
            return neighbours[1][1]
    return None


def _are_entries_valid(walk: Walker, entries: Entries) -> bool:
    """Whether a walk finds valid batches at all index entries, without problems."""
    offsets_by_position = {position: offset for offset, position in entries}
    end = entries[-1][1] + 1
    previous_offset = -1
    for item in walk(start=entries[0][1], end=end):
        if isinstance(item, Problem):
            return False
        offset = offsets_by_position.pop(item.position, None)
        if offset is not None and not (previous_offset < offset >= item.base_offset):
            return False
        previous_offset = item.last_offset
    return not offsets_by_position


def _find_cut_by_headers(walk: Walker, start: int, target: int) -> int | None:
    """Find a split position by reading all headers from ``start`` to ``target``.

    If a header is invalid, the walk starts again at ``start``, the previous split
    position, and verifies checksums. Returns None if no position is found.
    """
    last_position = start
    for item in walk(start=start, end=target, check_crc=False):
        if isinstance(item, Problem):
            last_position = start
            break
        last_position = item.position
    return _find_first_cut(walk, last_position, target)


def _find_first_cut(walk: Walker, start: int, target: int) -> int | None:
    """Walk from a batch to the first split position at or after ``target``.

    A split position is the start of a batch between two other valid batches. Returns
    None if there is no such batch.
    """
    previous = cut = None
    for item in walk(start=start):
        if isinstance(item, Problem):
            previous = cut = None
            continue
        if cut is not None:
            return cut
        if previous is not None and item.position >= target:
            cut = item.position
        previous = item
    return None


def _find_cut_by_search(walk: Walker, size: int, target: int) -> int | None:
    """Find a split position by searching for a sequence of valid batches.

    The sequence must be at least ``_PROOF_BYTES`` long, or extend to the end of the
    segment file. Returns the position of its second batch, or None if there is no such
    sequence after ``target``.
    """
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
            elif item.position - first >= _PROOF_BYTES:
                return cut
        else:
            return cut
        start = item.position
    return None
