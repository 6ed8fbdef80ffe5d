# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The frame of a chart: labels, legend, time axis, and the ``svg`` element.

The rooms left and right of a drawing are padding of the ``svg`` element, in steps for
which the style has a class each.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..pages.markup import Markup, tag
from .chart_text import check_tone, choose_time_ticks, measure_text, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Legend = Mapping[str, str]
    Sides = tuple[int, int]

MOST_ROWS = 100
"""Rows of a heat map, bars and tracks that are drawn; the worst should come first."""

MOST_SERIES = 8
"""Lines that are drawn in one chart."""

LABEL_CHARACTERS = 24
NOTE_CHARACTERS = 16
_LEGEND_CHARACTERS = 44
_LEGEND_ROOM = 330

ROW = 24
WIDE, NARROW = 700, 350
"""Pixels of a chart on the narrowest screen that is no telephone's, and on one."""

STEP = 20
_GAP = 8


def draw_time_axis(
    start: int, end: int, y: float, grid: float | None, sides: Sides
) -> Iterator[Markup]:
    """Write the times below or above a drawing; ``grid`` is the height of lines.

    No words touch others. Where a telephone has no room for both ends below the
    drawing, they begin and end with the chart there, its labels and notes included.
    """
    marks = choose_time_ticks(start, end)
    room = find_room(WIDE, sides)
    widths = [measure_text(words) for _, words in marks]
    taken: float = widths[0]
    ends_width = sum(widths[each] for each in {0, len(marks) - 1})
    is_tight = ends_width + _GAP > find_room(NARROW, sides)
    for number, (part, words) in enumerate(marks):
        at = f"{part * 100:.4g}%"
        if grid is not None:
            ends = {"y1": y + ROW - 4, "y2": y + ROW + grid}
            yield tag("line", class_="grid", x1=at, x2=at, **ends)
        first, last = number == 0, number == len(marks) - 1
        if not first and not last:
            before, behind = (
                part * room + half * widths[number] / 2 for half in (-1, 1)
            )
            if before < taken + _GAP or behind + _GAP > room - widths[-1]:
                continue
            taken = behind
        anchor = "" if first else " end" if last else " middle wide"
        if is_tight and (first or last):
            dx = -sides[0] if first else sides[1]
            look = f"dim{anchor} narrow"
            yield tag("text", words, class_=look, x=at, dx=dx, y=y + 14)
            anchor += " wide"
        yield tag("text", words, class_=f"dim{anchor}", x=at, y=y + 14)


def find_room(width: int, sides: Sides) -> int:
    """Tell how many pixels a drawing has at least, on a page of some width."""
    return max(width - sum(sides), STEP)


def round_up(width: int) -> int:
    """Round the room beside a drawing up: there is a class for each step."""
    return math.ceil(width / STEP) * STEP


def draw_label(label: str, y: float) -> Markup:
    short = shorten(label, LABEL_CHARACTERS)
    title = [tag("title", label)] if short != str(label) else []
    return tag("text", *title, short, class_="end", x=-8, y=y)


def measure_labels(labels: Iterable[str]) -> int:
    widths = (measure_text(shorten(each, LABEL_CHARACTERS)) for each in labels)
    return round_up(8 + max(widths, default=0))


def draw_end(words: str, y: float) -> Iterator[Markup]:
    if words:
        short = shorten(words, NOTE_CHARACTERS)
        title = [tag("title", words)] if short != words else []
        # A percentage and pixels together: the text is moved by its own attribute.
        yield tag("text", *title, short, class_="dim", x="100%", dx=8, y=y)


def measure_ends(ends: Iterable[str]) -> int:
    widths = (measure_text(shorten(each, NOTE_CHARACTERS)) for each in ends)
    return round_up(10 + max(widths, default=0))


def draw_rest(total: int, y: float, what: str = "") -> Iterator[Markup]:
    most = MOST_SERIES if what else MOST_ROWS
    if total > most:
        words = f"{total - most:,} more {what}".strip()
        yield tag("text", f"{words} are not drawn", class_="dim", x=0, y=y + 16)


def list_tones(legend: Legend | None, kind: str) -> Iterator[tuple[str, str]]:
    for tone, words in (legend or {}).items():
        yield f"{kind} {check_tone(tone)}", words


def _place_entries(
    entries: Sequence[tuple[str, str]],
) -> Iterator[tuple[int, int, str, str]]:
    x, line = 0, 0
    for kind, words in entries:
        short = shorten(words, _LEGEND_CHARACTERS)
        need = 16 + (12 + measure_text(short) if short else 0)
        if x and x + need > _LEGEND_ROOM:
            x, line = 0, line + 1
        yield x, line, kind, short
        x += need


def draw_legend(
    entries: Sequence[tuple[str, str]], y: float, sides: Sides
) -> Iterator[Markup]:
    for x, line, kind, words in _place_entries(entries):
        top, left = y + line * 20, x - sides[0]
        box = {"width": 12, "height": 12, "rx": 2}
        yield tag("rect", class_=kind, x=left, y=top + 4, **box)
        if words:
            yield tag("text", words, class_="dim", x=left + 17, y=top + 14)


def measure_legend(entries: Sequence[tuple[str, str]]) -> int:
    return 20 * len({line for _, line, _, _ in _place_entries(entries)})


def make_svg(parts: Sequence[Markup], height: float, sides: Sides) -> Markup:
    nothing = tag("text", "nothing to show", class_="dim", y=16)
    left, right = sides
    return tag(
        "svg",
        *(parts or [nothing]),
        class_=f"chart left{left} right{right}",
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        height=max(height, ROW),
    )
