# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fits text into columns of a terminal: cut, padded, or folded over lines.

Widths are those of a terminal, where a character takes none, one or two columns. The
tables that are made of this are in ``tables.py``. rich measures what is not ASCII, and
is imported for that only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FOLDED_LINES = 3


def measure(text: str) -> int:
    """Return the number of columns that text takes."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut_text(text: str, width: int) -> str:
    """Shorten text to a width; what is left out is an ellipsis."""
    # A character is two cells wide at most.
    if 2 * len(text) <= width or measure(text) <= width:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip(" ") + "…"


def pad(text: str, width: int) -> str:
    """Fill text up with blanks, on the left if the width is negative."""
    if text.isascii():
        return text.ljust(width) if width >= 0 else text.rjust(-width)
    spaces = " " * (abs(width) - measure(text))
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
        if measure(line) <= room:
            lines[-1] = line
            continue
        if index >= needed and len(lines) >= _FOLDED_LINES:
            lines[-1] = cut_text(line, room)
            return lines
        from rich.cells import chop_cells

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
