# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fits text into terminal columns: truncates, pads, or folds it to several lines.

Widths are measured in terminal columns: a character occupies zero, one or two columns.
``tables.py`` uses these functions. rich is only imported for text that is not ASCII.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FOLDED_LINES = 3


def measure(text: str) -> int:
    """Return how many terminal columns text occupies."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut_text(text: str, width: int) -> str:
    """Truncate text to a width. An ellipsis replaces the omitted end."""
    # A character occupies at most two columns, so short text need not be measured.
    if 2 * len(text) <= width or measure(text) <= width:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip(" ") + "…"


def pad(text: str, width: int) -> str:
    """Pad text with spaces, on the left if the width is negative."""
    if text.isascii():
        return text.ljust(width) if width >= 0 else text.rjust(-width)
    spaces = " " * (abs(width) - measure(text))
    return text + spaces if width >= 0 else spaces + text


def fold(words: Sequence[str], needed: int, first: int, width: int) -> list[str]:
    """Fold words into lines of limited width, and return the lines.

    * ``needed``: number of words at the beginning that must be shown completely. Those
      words are split if they are longer than a line.
    * ``first``: maximum width of the first line.
    * ``width``: maximum width of all other lines.

    The result has at most three lines, or as many as the needed words require. An
    ellipsis replaces omitted words.
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
            # Only the first ``needed`` words must be complete. Truncate this word if
            # its pieces need more than ``_FOLDED_LINES`` lines in total.
            left = _FOLDED_LINES - len(lines)
            if len(pieces) > left:
                return [
                    *lines,
                    *pieces[: left - 1],
                    cut_text("".join(pieces[left - 1 :]), width),
                ]
        lines += pieces
    return lines
