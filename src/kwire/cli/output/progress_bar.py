# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Draws a progress bar on stderr with rich."""

from __future__ import annotations

from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from .console import error_console

_PER_SECOND = 5


class ProgressBar:
    """Progress bar for ``size`` bytes. None means an unknown size.

    Terminals without control sequences show no bar.
    """

    def __init__(self, size: int | None) -> None:
        console = error_console()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not console.is_terminal or console.is_dumb_terminal,
            transient=True,
            refresh_per_second=_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
            expand=True,
        )
        self._task = self._progress.add_task("", total=size)

    def start(self) -> None:
        """Draw the bar. It is redrawn several times per second."""
        if not self._progress.disable:
            self._progress.start()

    def stop(self) -> None:
        """Remove the bar from the terminal."""
        if not self._progress.disable:
            self._progress.stop()

    def show_name(self, name: str) -> None:
        """Display the name of the current input, without interpreting markup."""
        self._progress.update(self._task, description=escape(name))

    def show_done(self, size: int) -> None:
        """Display the number of processed bytes."""
        self._progress.update(self._task, completed=size)
