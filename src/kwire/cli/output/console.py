# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Draws colours and progress bars with rich, and escapes control characters.

Importing rich takes longer than printing thousands of records. Therefore, only modules
that draw in a terminal import this module.
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
    """rich console that escapes control characters in all text."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(file=find_styled(stream))

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render segments, and escape control characters in their text.

        The control segments of rich, for example for colours, are not changed.
        """
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(escape_controls(segment.text), segment.style)


def error_console() -> EscapingConsole:
    """Create the console that draws on stderr."""
    return EscapingConsole(sys.stderr)
