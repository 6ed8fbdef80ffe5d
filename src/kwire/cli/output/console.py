# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Draws with rich, with control characters escaped: colours, and the moving bar.

Importing rich takes longer than printing thousands of records, so only what draws in a
terminal imports this file.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.segment import Segment

from ..._text import escape_controls
from .terminal import find_styled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType


class EscapingConsole(Console):
    """A console of rich that escapes all text that it draws."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(file=find_styled(stream))

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Draw something in segments; what is no control of rich's own is escaped."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(escape_controls(segment.text), segment.style)


def error_console() -> EscapingConsole:
    """Make the console that draws on stderr."""
    return EscapingConsole(sys.stderr)
