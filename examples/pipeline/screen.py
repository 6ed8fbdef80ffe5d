# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Prints lines to stdout, and a progress bar below them if stdout is a terminal.

Files and pipes only receive the lines, without control characters.
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
    """Prints lines, and shows a progress bar while its ``with`` block runs.

    ``expected_s`` is the expected total duration: the sum of the seconds that are
    passed to ``begin``.
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
        """Show the progress bar."""
        if not self._bar.disable:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the progress bar, so that other output can follow."""
        if not self._bar.disable:
            self._bar.stop()

    def begin(self, title: str, seconds: float) -> None:
        """Complete the previous step, and begin a step with an expected duration."""
        self._bar.update(self._task, advance=self._part_s, description=title)
        self._part_s = seconds

    def show(self, line: str) -> None:
        """Print a line above the progress bar."""
        if self._bar.disable:
            print(line, flush=True)
        else:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
