# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Copies valid batches from a damaged segment into a new file, byte for byte.

The original segment is never changed, and the copy appears only when it is complete.
Index files are not copied, because a broker rebuilds missing indexes.
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

_COPY_BYTES = MIB
"""Number of bytes to copy at a time."""


class _NoValidBatch(Exception):
    """Aborts a copy without batches, so that no file is created."""


class CopyReport(NamedTuple):
    """Result of ``copy_good``.

    * ``batches``: number of copied batches.
    * ``bytes_copied``: total size of the copied batches in bytes.
    * ``bytes_left_out``: number of bytes of the segment that were not copied.
    * ``problems``: damaged regions that were omitted.
    """

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
    """Copy the valid batches of a segment to a new file.

    ``progress`` is a callback that receives the number of additional bytes processed.
    Damaged regions and a torn tail are omitted, but a torn tail is not reported as a
    problem.

    Returns a ``CopyReport``. If the segment contains no valid batch, ``batches`` is 0
    and no file is created. Raises ``FileExistsError`` if ``target`` exists.
    """
    problems: list[Problem] = []
    batches = copied = 0
    with (
        suppress(_NoValidBatch),
        create_file(target) as copy,
        segment.open() as file,
    ):
        size = file.size
        for item in walk_segment(segment, file, progress=progress, limits=limits):
            if isinstance(item, Problem):
                problems.append(item)
                continue
            position, end = item.position, item.position + item.size
            while position < end:
                position += copy.write(
                    file.data[position : min(end, position + _COPY_BYTES)]
                )
            batches += 1
            copied += item.size
        if not batches:
            raise _NoValidBatch
    return CopyReport(batches, copied, size - copied, tuple(problems))
