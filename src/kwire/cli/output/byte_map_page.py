# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a byte map as an HTML page: bytes on the left, fields on the right.

The page contains everything as text, and its script only highlights related bytes and
fields. Long values are abbreviated in the middle, so that the page size depends on the
value count and not on the value lengths. ``byte_map_tree.py`` draws the field tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._text import format_count, pages
from .byte_map_tree import LOOKS, draw_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...explain import ByteMap, Span
    from .tables import Output

_ROW = 16
"""Number of bytes that a line of the page shows."""

_HEAD, _TAIL = 16 * _ROW, 2 * _ROW
"""Number of bytes that the page shows of a long value.

* ``_HEAD``: at the beginning of the value.
* ``_TAIL``: at the end of the value.
"""


class _Piece(NamedTuple):
    """Bytes on one line that belong to the same span.

    * ``number``: index of the span.
    * ``looks``: CSS classes.
    * ``digits``: the bytes in hex.
    * ``letters``: the bytes as characters.
    """

    number: int
    looks: str
    digits: str
    letters: str


class _ByteLine(NamedTuple):
    """Line with up to 16 bytes, or a placeholder for omitted bytes.

    * ``gap``: padding that aligns the characters of an incomplete last line.
    * ``hidden``: text of the placeholder, which contains the number of omitted bytes.
      Empty if the line shows bytes.
    """

    offset: str
    pieces: Sequence[_Piece]
    gap: str = ""
    hidden: str = ""


def write_page(
    output: Output, data: bytes, maps: Sequence[ByteMap], title: str
) -> None:
    """Write an HTML page with the bytes of an input and the fields in its byte maps."""
    spans = [span for byte_map in maps for span in byte_map.spans]
    problems = [str(byte_map.error) for byte_map in maps if byte_map.error is not None]
    problems += [
        f"record set: {error}"
        for byte_map in maps
        for error in byte_map.damage
        if error is not byte_map.error
    ]
    written = pages.stream(
        "bytes",
        title=title,
        summary=(
            f"{format_count(len(data), 'byte')}, {format_count(len(spans), 'value')}"
        ),
        problems=problems,
        sizes=" ".join(str(span.size) for span in spans),
        lines=_byte_lines(data, spans),
        tree=draw_tree(data, spans),
    )
    for piece in written:
        output.write(piece)


def _byte_lines(data: bytes, spans: Sequence[Span]) -> Iterator[_ByteLine]:
    """Split the input into 16-byte lines, and split lines at span boundaries."""
    digits = max(4, len(f"{len(data):x}"))
    index = 0
    hidden = 0
    for start in range(0, len(data), _ROW):
        end = min(start + _ROW, len(data))
        while spans[index].end <= start:
            index += 1
        span = spans[index]
        if span.position + _HEAD <= start and end <= span.end - _TAIL:
            hidden += end - start
            continue
        if hidden:
            yield _ByteLine("", (), hidden=format_count(hidden, "byte"))
            hidden = 0
        pieces = []
        number, position = index, start
        while position < end:
            stop = min(spans[number].end, end)
            piece = data[position:stop]
            looks = LOOKS[spans[number].kind]
            pieces.append(_Piece(number, looks, piece.hex(" "), _letters(piece)))
            number, position = number + 1, stop
        yield _ByteLine(f"{start:0{digits}x}", pieces, "   " * (start + _ROW - end))


def _letters(piece: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in piece)
