# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Copies the valid batches of a damaged segment, byte for byte.

A segment is never changed in place, and a copy appears when it is complete. Indexes are
not copied: a broker builds those that are missing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from .._files import create_file
from .._limits import DEFAULT, MIB
from .problems import Problem
from .segments import walk_segment

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._limits import Limits
    from .segments import Segment

_PIECE = MIB


class _NothingGood(Exception):
    """Ends a copy without a batch, so that no file appears."""


class CopyReport(NamedTuple):
    """What a copy holds: its batches and bytes, and what was left out and why."""

    batches: int
    bytes_copied: int
    bytes_left_out: int
    problems: tuple[Problem, ...]


def copy_good(
    segment: Segment,
    target: str | os.PathLike[str],
    *,
    progress: Callable[[int], object] | None = None,
    limits: Limits = DEFAULT,
) -> CopyReport:
    """Write the valid batches of a segment to a new file; return a ``CopyReport``.

    ``target`` must not exist: ``FileExistsError``. Without a single whole batch no file
    is written, and ``batches`` of the report is 0. A torn tail is left out as damage
    is, but is no problem. ``progress`` is called with the bytes read since the last
    call.
    """
    found: list[Problem] = []
    batches = copied = 0
    with (
        suppress(_NothingGood),
        create_file(target) as copy,
        segment.open() as file,
    ):
        size = file.size
        for item in walk_segment(segment, file, progress=progress, limits=limits):
            if isinstance(item, Problem):
                found.append(item)
                continue
            at, end = item.position, item.position + item.size
            while at < end:
                at += copy.write(file.data[at : min(end, at + _PIECE)])
            batches += 1
            copied += item.size
        if not batches:
            raise _NothingGood
    return CopyReport(batches, copied, size - copied, tuple(found))
