# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Shows how far a long job is: bytes, bytes per second, time left, current file.

Shown on stderr, and only if that is a terminal: ``progress_bar.py`` draws it with rich,
which takes long to import.
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
"""Characters of the current file's name, of which the last ones tell most."""


class Progress:
    """The bar of one job of ``size`` bytes, shown while the ``with`` block runs.

    None is a size that is not known.
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
        """Show the name of what is read now."""
        if self._bar is None:
            return
        current = escape_line(current)
        if len(current) > _NAME:
            current = "…" + current[1 - _NAME :]
        self._bar.show_name(current)

    def advance(self, size: int) -> None:
        """Count bytes that were read."""
        self._done += size
        if self._bar is not None:
            self._bar.show_done(self._done)

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
        if self._bar is None:
            yield
            return
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()
