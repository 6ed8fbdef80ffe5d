# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Shows how far a long job is: bytes, bytes per second, time left, current file.

Shown on stderr, and only where that is a terminal.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import (
    Progress as Bar,
)

from ..formatting import escape_line
from .terminal import error_console

if TYPE_CHECKING:
    from collections.abc import Iterator

_PER_SECOND = 5
_NAME = 24
"""Characters of the current file's name, of which the last ones tell most."""


class Progress:
    """The bar of one job of ``size`` bytes, shown while the ``with`` block runs.

    None is a size that is not known.
    """

    def __init__(self, size: int | None, *, wanted: bool = True) -> None:
        console = error_console()
        wanted = wanted and console.is_terminal and not console.is_dumb_terminal
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not wanted,
            transient=True,
            refresh_per_second=_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
            expand=True,
        )
        self._task = self._bar.add_task("", total=size)
        self._done = 0

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def name(self, current: str) -> None:
        """Show the name of what is read now."""
        current = escape_line(current)
        if len(current) > _NAME:
            current = "…" + current[1 - _NAME :]
        self._bar.update(self._task, description=escape(current))

    def advance(self, size: int) -> None:
        """Count bytes that were read."""
        self._done += size
        self._bar.update(self._task, completed=self._done)

    def reach(self, position: int) -> None:
        """Show how many bytes are done in total."""
        self.advance(position - self._done)

    @property
    def done(self) -> int:
        """The bytes that were read."""
        return self._done

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the bar while something else is written to the terminal."""
        if self._bar.disable:
            yield
            return
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()
