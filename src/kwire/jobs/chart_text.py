# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Text in charts and tables of a report: numbers, timestamps and shortened names.

This module is used by ``charts`` and ``report``.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from unicodedata import east_asian_width

from .._text import escape_line, format_size, format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TONES = ("", "good", "warning", "bad", "quiet")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000

_DURATION_UNITS = (
    (_DAY, "d", _HOUR, "h"),
    (_HOUR, "h", _MINUTE, "min"),
    (_MINUTE, "min", _SECOND, "s"),
)

_ROUND_DURATIONS = tuple(
    count * unit
    for unit, counts in (
        (1, (1, 2, 5, 10, 20, 50, 100, 200, 500)),
        (_SECOND, (1, 2, 5, 10, 15, 30)),
        (_MINUTE, (1, 2, 5, 10, 15, 30)),
        (_HOUR, (1, 2, 3, 6, 12)),
        (_DAY, (1, 2, 7, 14, 28, 56, 112, 364)),
    )
    for count in counts
)
"""Round durations in milliseconds, for chart intervals and axis labels."""

_MAX_TICKS = 6
_MIN_TICK_FRACTION, _MAX_TICK_FRACTION = 0.2, 0.88

_CHARACTER_WIDTH = 7.2
"""Estimated width of a character in pixels. The estimate is rather too large, because
texts overlap in the chart if it is too small.
"""


def check_tone(tone: str) -> str:
    """Return ``tone`` unchanged. Raises ``ValueError`` if it is not a valid tone."""
    if tone not in TONES:
        raise ValueError(f"tone must be one of {TONES} (got {tone!r})")
    return tone


def to_milliseconds(moment: datetime) -> int:
    """Convert a datetime to milliseconds since 1970. Without a time zone it is UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND


def measure_text(text: str) -> int:
    """Estimate the width of a text in pixels."""
    return math.ceil(_count_cells(text) * _CHARACTER_WIDTH)


def _count_cells(text: str) -> int:
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)


def shorten(text: str, most: int) -> str:
    """Shorten a text to a maximum width, by replacing its middle with an ellipsis.

    The width is measured in Latin letters. Wide East Asian characters count as two. The
    middle is removed because the beginning and the end are the most distinctive.
    """
    text = escape_line(str(text))
    if _count_cells(text) <= most:
        return text
    keep = min(len(text), most) - 1
    while _count_cells(short := _remove_middle(text, keep)) > most:
        keep -= 1
    return short


def _remove_middle(text: str, keep: int) -> str:
    tail_length = keep // 2
    return f"{text[: keep - tail_length]}…{text[len(text) - tail_length :]}"


def format_amount(value: float, unit: str = "") -> str:
    """Format an amount. ``unit`` is "bytes", "ms", or another text for plain numbers.

    Plain integers are exact, and other plain numbers have six significant digits. Bytes
    are rounded as in ``format_size``, and milliseconds as in ``format_duration``.
    """
    if unit == "bytes":
        return f"-{format_size(-value)}" if value < 0 else format_size(value)
    if unit == "ms":
        return format_duration(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def format_compact(value: float) -> str:
    """Format a number in a short form: "950", "1.2k" or "34M".

    Below 1,000, a number has up to three significant digits. A count has at most four
    characters.
    """
    if abs(value) < 999.5:
        return f"{value:.3g}"
    for unit in "kMGTPE":
        value /= 1000
        if abs(value) < 999.5 or unit == "E":
            break
    return f"{value:.0f}{unit}" if abs(value) >= 9.95 else f"{value:.2g}{unit}"


def format_duration(duration: float) -> str:
    """Format a duration in milliseconds with its two largest units.

    Below one minute, only one unit with three significant digits is used.
    """
    if duration < 0:
        return f"-{format_duration(-duration)}"
    if duration < _SECOND:
        return f"{duration:.3g} ms"
    if duration < _MINUTE:
        return f"{duration / _SECOND:.3g} s"
    size, name, part_size, part_name = next(
        unit for unit in _DURATION_UNITS if duration >= unit[0]
    )
    part_count = int(duration % size // part_size)
    text = f"{int(duration // size):,} {name}"
    return f"{text} {part_count} {part_name}" if part_count else text


def choose_ticks(values: Sequence[float], unit: str) -> list[tuple[float, str]]:
    """Choose round tick values for an axis that includes 0 and all values.

    Returns pairs of value and label.
    """
    low, high = min([0, *values]), max([0, *values])
    if low == high:
        high = 1
    size = 1
    if unit == "ms":
        sizes = (_DAY, _HOUR, _MINUTE, _SECOND, 1)
        size = next(
            unit_size
            for unit_size in sizes
            if high - low >= 2 * unit_size or unit_size == 1
        )
    step = _round_step((high - low) / size / 4) * size
    if unit != "ms" and all(isinstance(value, int) for value in values):
        step = max(step, 1)
    first, last = math.floor(low / step), math.ceil(high / step)
    tick_values = [number * step for number in range(first, last + 1)]
    if unit not in ("bytes", "ms"):
        return [(value, format_compact(value)) for value in tick_values]
    return [
        (value, format_amount(value, unit) if value else "0") for value in tick_values
    ]


def _round_step(minimum: float) -> float:
    power: float = 10.0 ** math.floor(math.log10(minimum))
    factors = (1, 2, 5, 10)
    return power * next(
        factor for factor in factors if factor * power >= minimum * 0.999
    )


def choose_time_step(length: int, most: int) -> int:
    """Choose a round interval that divides a length into at most ``most`` parts.

    The length and the interval are milliseconds. The last part can be shorter than the
    interval.
    """
    return next(
        (step for step in _ROUND_DURATIONS if step * most > length), length // most + 1
    )


def choose_time_ticks(start: int, end: int) -> list[tuple[float, str]]:
    """Choose tick labels for a time axis: both ends, and round times in between.

    Returns pairs of relative position (0 to 1) and label. The first label is complete.
    The other labels have the precision that the interval requires.
    """
    first, last = format_time(start), format_time(end)
    length = end - start
    if length <= 0:
        return [(0.0, first.removesuffix(".000"))]
    if first == str(start) or last == str(end):
        return [(0.0, first), (1.0, last)]
    step = choose_time_step(length, _MAX_TICKS)
    # Select the part of "2026-11-21 04:05:06.789" that the interval requires.
    if step < _SECOND:
        visible = slice(11, 23)
    elif step < _MINUTE:
        visible = slice(11, 19)
    elif length < _DAY:
        visible = slice(11, 16)
    elif step < _DAY:
        visible = slice(5, 16)
    else:
        visible = slice(0, 10)
    ticks = [(0.0, first[: visible.stop])]
    for timestamp in range(start - start % step + step, end, step):
        fraction = (timestamp - start) / length
        if (
            _MIN_TICK_FRACTION < fraction < _MAX_TICK_FRACTION
            and len(ticks) <= 2 * _MAX_TICKS
        ):
            ticks.append((fraction, format_time(timestamp)[visible]))
    return [*ticks, (1.0, last[visible])]
