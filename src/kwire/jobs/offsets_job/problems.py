# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the table ``problems``: unreadable data, and commits in open transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._files import NotRegularFile
from ..._text import format_name

if TYPE_CHECKING:
    from ...log import Problem
    from ...log.storage import Named


class ProblemRow(NamedTuple):
    """Row of the table ``problems``. The fields are the columns, in order."""

    path: str
    topic: str | None = None
    partition: int | None = None
    position: int | None = None
    length: int | None = None
    offset: int | None = None
    reason: str = ""
    error: str = ""


def make_problem_row(problem: Problem) -> ProblemRow:
    """Return the ``problems`` row for a damaged region in a log file."""
    error = problem.detail
    if problem.next_good_offset >= 0:
        error += f"; good again from offset {problem.next_good_offset}"
    return ProblemRow(
        problem.path,
        problem.topic,
        problem.partition,
        problem.position,
        problem.length,
        problem.last_good_offset + 1 if problem.last_good_offset >= 0 else None,
        problem.reason,
        error,
    )


def make_failure_row(
    path: Named, topic: str | None, partition: int | None, error: OSError
) -> ProblemRow:
    """Return the ``problems`` row for a file that could not be read."""
    return ProblemRow(
        format_name(path if error.filename is None else error.filename),
        topic,
        partition,
        reason="skipped" if isinstance(error, NotRegularFile) else "unreadable",
        error=error.strerror or str(error),
    )
