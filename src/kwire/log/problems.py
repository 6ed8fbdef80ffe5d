# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Problem``: describes damage in log files, and its position.

Problems are values instead of exceptions, so that valid data after a damaged region can
still be read. ``make_error`` converts a problem to an exception. ``in_file`` adds the
file path to a decoding error. ``walk.py`` and ``verify.py`` detect the problems.
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
"""Problem types which mean that bytes of a log cannot be read as records."""


@dataclass(frozen=True, slots=True)
class Problem:
    r"""Damaged region in a file, or missing data.

    * ``path``: file path. Bytes that are not UTF-8 are shown as ``\xNN``.
    * ``topic``: topic name, or "" if the directory name contains no topic.
    * ``partition``: partition number, or -1 if the directory name contains none.
    * ``position``: byte position at which the damaged region begins.
    * ``length``: size of the damaged region in bytes. 0 means that no byte is damaged,
      but that data is missing before this position.
    * ``reason``: problem type, which is a constant in this module.
    * ``last_good_offset``: last valid offset before the region, or -1 if there is none
      or if it is unknown.
    * ``next_good_offset``: first valid offset after the region, or -1 if there is none
      or if it is unknown.
    * ``detail``: description for users.
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
    """Return the exception ``CorruptBatch`` for a problem."""
    return CorruptBatch(problem.detail, problem.position, problem.path)


def in_file(error: DecodeError, path: str, base: int = 0) -> DecodeError:
    """Copy a decoding error and add the file to its path.

    ``path`` has the same format as in ``Problem``. ``base`` is the file position at
    which the decoded input began.
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
    """Raise the problem as an exception, pass it to the callback, or ignore it.

    Raises ``CorruptBatch`` if ``on_corrupt`` is "raise", and ``TypeError`` if it is not
    "raise", "skip" or a function.
    """
    if on_corrupt == "raise":
        raise make_error(problem)
    if callable(on_corrupt):
        on_corrupt(problem)
    elif on_corrupt != "skip":
        raise TypeError(
            f'on_corrupt must be "raise", "skip" or a function (got {on_corrupt!r:.40})'
        )
