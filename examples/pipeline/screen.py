# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Lines on stdout, with a progress bar below them if stdout is a terminal.

A file or a pipe gets the lines alone, without control characters.
"""

import sys

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

BAR_WIDTH = 30


class Screen:
    """Prints lines; the bar is there while the ``with`` block runs.

    ``expected_s`` is the sum of the seconds that are passed to ``begin``.
    """

    def __init__(self, expected_s: float, *, has_bar: bool = True) -> None:
        self._console = Console(file=sys.stdout)
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(BAR_WIDTH),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=self._console,
            disable=not has_bar
            or not self._console.is_terminal
            or self._console.is_dumb_terminal,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("", total=expected_s)
        self._part_s = 0.0

    def __enter__(self) -> "Screen":
        """Draw the bar."""
        if not self._bar.disable:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar, so that other output can follow."""
        if not self._bar.disable:
            self._bar.stop()

    def begin(self, title: str, seconds: float) -> None:
        """Complete the previous part, and begin one of about ``seconds`` seconds."""
        self._bar.update(self._task, advance=self._part_s, description=title)
        self._part_s = seconds

    def show(self, line: str) -> None:
        """Print a line above the bar."""
        if self._bar.disable:
            print(line, flush=True)
        else:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
