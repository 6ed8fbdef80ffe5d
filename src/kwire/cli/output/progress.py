# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of a job: bytes, bytes per second, remaining time, current file.

Progress is shown on stderr, and only if stderr is a terminal. ``progress_bar.py`` draws
it with rich, which takes long to import.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..._text import escape_line
from .terminal import stderr_is_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .progress_bar import ProgressBar

_NAME = 24
"""Maximum length for the current file name. Longer names lose their beginning, because
the last directories are the most specific ones.
"""


class Progress:
    """Progress bar for a job, shown during its ``with`` block.

    ``size`` is the total byte count, or None if it is unknown. With ``wanted=False``,
    or if stderr is not a terminal, the bytes are counted but nothing is shown.
    """

    def __init__(self, size: int | None, *, wanted: bool = True) -> None:
        self._done = 0
        self._bar: ProgressBar | None = None
        if wanted and stderr_is_terminal():
            from .progress_bar import ProgressBar

            self._bar = ProgressBar(size)

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def name(self, current: str) -> None:
        """Display the name of the current input."""
        if self._bar is None:
            return
        current = escape_line(current)
        if len(current) > _NAME:
            current = "…" + current[1 - _NAME :]
        self._bar.show_name(current)

    def advance(self, size: int) -> None:
        """Add ``size`` bytes to the number of processed bytes, and update the bar."""
        self._done += size
        if self._bar is not None:
            self._bar.show_done(self._done)

    def reach(self, position: int) -> None:
        """Set the number of processed bytes to ``position``, and update the bar."""
        self.advance(position - self._done)

    @property
    def done(self) -> int:
        """Number of processed bytes."""
        return self._done

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Hide the bar while other output is written to the terminal."""
        if self._bar is None:
            yield
            return
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()
