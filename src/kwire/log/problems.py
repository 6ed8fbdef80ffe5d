# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Problem``: what is wrong with the files of a log, and where.

A problem is a value, not an exception: one bad region must not cost the good ones
after it. ``make_error`` makes an exception of it; ``in_file`` adds the path of the file
to the error of a decoder. Problems are found by ``walk.py`` and ``verify.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..errors import CorruptBatch, DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    OnCorrupt = Literal["raise", "skip"] | Callable[["Problem"], object]

CRC = "crc"
HEADER = "header"
SIZE = "size"
ZEROS = "zeros"
CUT = "cut"
OFFSET = "offset"
GAP = "gap"
OVERLAP = "overlap"
RECORDS = "records"
INDEX = "index"
TIME_INDEX = "timeindex"
TRANSACTION_INDEX = "txnindex"
SNAPSHOT = "snapshot"
LEADER_EPOCH = "leader-epoch"
METADATA = "metadata"

LOST = frozenset((CRC, HEADER, SIZE, ZEROS, CUT, OFFSET, RECORDS))
"""The reasons for which bytes of a log are not read as records."""


@dataclass(frozen=True, slots=True)
class Problem:
    r"""One finding: a bad region of a file, or something that is missing.

    ``position`` and ``length`` are bytes of the file ``path``; a length of 0 means
    that nothing there is bad, but something is missing in front of it. Bytes of the
    path that are no UTF-8 are ``\xNN``. Offsets are -1 where there is no good one, or
    none is known. ``reason`` is one of the words above, ``detail`` a sentence for
    people.
    """

    path: str
    topic: str
    partition: int
    position: int
    length: int
    reason: str
    last_good_offset: int = -1
    next_good_offset: int = -1
    detail: str = ""

    def __str__(self) -> str:
        where = f"{self.path}: byte {self.position}"
        extent = f", {self.length} bytes" if self.length else ""
        offsets = []
        if self.last_good_offset >= 0:
            offsets.append(f"good up to offset {self.last_good_offset}")
        if self.next_good_offset >= 0:
            offsets.append(f"again from {self.next_good_offset}")
        good = f" ({', '.join(offsets)})" if offsets else ""
        return f"{where}{extent}: {self.reason}: {self.detail}{good}"


def make_error(problem: Problem) -> CorruptBatch:
    """Make the exception for a problem."""
    return CorruptBatch(problem.detail, problem.position, problem.path)


def in_file(error: DecodeError, path: str, base: int = 0) -> DecodeError:
    """Make a decoder's error again with the file in its path.

    ``path`` is text, as in a ``Problem``. ``base`` is the byte of the file that the
    decoder's input began with.
    """
    inner = f": {error.path}" if error.path else ""
    return type(error)(
        error.reason,
        base + error.offset,
        f"{path}{inner}",
        error.message_name,
        error.version,
    )


def report_problem(problem: Problem, on_corrupt: OnCorrupt) -> None:
    """Raise a problem, pass it to the caller's function, or skip it."""
    if on_corrupt == "raise":
        raise make_error(problem)
    if callable(on_corrupt):
        on_corrupt(problem)
    elif on_corrupt != "skip":
        raise TypeError(
            f'on_corrupt must be "raise", "skip" or a function (got {on_corrupt!r:.40})'
        )
