# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the problems of log files, as one line per problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._text import escape_line
from .tables import clear_unknown

if TYPE_CHECKING:
    from ... import log
    from .tables import Output, RowFormat

FIELDS = (
    "path",
    "topic",
    "partition",
    "position",
    "length",
    "reason",
    "last_good_offset",
    "next_good_offset",
    "detail",
)


class ProblemWriter:
    """Writes the problems of log files in one output format, and counts them."""

    def __init__(self, output: Output, form: RowFormat) -> None:
        self._output = output
        self._rows = None if form.is_table else form.open_rows(output, FIELDS)
        self.count = 0

    def write(self, problem: log.Problem) -> None:
        """Write one problem as a line, and increment ``count``."""
        self.count += 1
        if self._rows is None:
            self._output.write(escape_line(str(problem)) + "\n")
        else:
            self._rows.write(
                clear_unknown({name: getattr(problem, name) for name in FIELDS})
            )
