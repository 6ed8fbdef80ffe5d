# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fits text into columns of a terminal: cut, padded, or folded over lines.

Widths are those of a terminal, where a character takes none, one or two columns. The
tables that are made of this are in ``output.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells, set_cell_size

if TYPE_CHECKING:
    from collections.abc import Sequence

_FOLDED_LINES = 3


def cut_text(text: str, width: int) -> str:
    """Shorten text to a width; what is left out is an ellipsis."""
    # A character is two cells wide at most.
    if 2 * len(text) <= width or cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip(" ") + "…"


def pad(text: str, width: int) -> str:
    """Fill text up with blanks, on the left if the width is negative."""
    if text.isascii():
        return text.ljust(width) if width >= 0 else text.rjust(-width)
    spaces = " " * (abs(width) - cell_len(text))
    return text + spaces if width >= 0 else spaces + text


def fold(words: Sequence[str], needed: int, first: int, width: int) -> list[str]:
    """Put words into lines: one of the width ``first``, and others of ``width``.

    They are three lines at most, but as many as the ``needed`` words in front take;
    these are broken where they are longer than a line. What is left out is an ellipsis.
    """
    lines = [""]
    for index, word in enumerate(words):
        room = first if len(lines) == 1 else width
        line = f"{lines[-1]} {word}".lstrip(" ")
        if cell_len(line) <= room:
            lines[-1] = line
            continue
        if index >= needed and len(lines) >= _FOLDED_LINES:
            lines[-1] = cut_text(line, room)
            return lines
        pieces = chop_cells(word, width)
        if index >= needed:
            # The lines that are left are for those that may be cut.
            left = _FOLDED_LINES - len(lines)
            if len(pieces) > left:
                return [
                    *lines,
                    *pieces[: left - 1],
                    cut_text("".join(pieces[left - 1 :]), width),
                ]
        lines += pieces
    return lines
