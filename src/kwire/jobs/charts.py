# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Charts for HTML reports. All raw values are available as ``data-*`` attributes.

A chart consists of rows with a label, marks and a note. This module computes the marks
and their horizontal positions in percent, because the width of the chart depends on the
page. ``_text/templates/chart.html`` draws the marks, and the browser places the texts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from .._text import pages
from .chart_text import (
    check_tone,
    choose_ticks,
    choose_time_ticks,
    format_amount,
    format_compact,
    measure_text,
    shorten,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .._text.markup import Markup

    Legend = Mapping[str, str]
    Point = tuple[int, float | None]

MOST_ROWS = 100
"""Maximum number of rows in a chart. Further rows are only counted, so callers should
sort important rows first.
"""

MOST_SERIES = 8
"""Maximum number of lines in a line chart, because more lines cannot be distinguished
by their colours.
"""

LABEL_CHARACTERS = 24
NOTE_CHARACTERS = 16
_LEGEND_CHARACTERS = 44

_MAX_POINTS = 600
_MAX_DOTS = 40
_MAX_SPANS = 400

_MAX_LABELED_COLUMNS = 24
_LEVELS = 5
_THIN_PERCENT = 0.4
_TONE_ORDER = ("quiet", "", "good", "warning", "bad")
_MIN_SCALE = 10

WIDE, NARROW = 700, 350
"""Minimum page widths in pixels.

* ``WIDE``: on computers.
* ``NARROW``: on telephones.
"""

_GAP_PIXELS = 8


class HeatCell(NamedTuple):
    """Cell of a heat map.

    * ``value``: number that determines how dark the cell is.
    * ``tone``: tone of the cell, or "".
    * ``note``: additional text that explains the cell, or "".
    """

    value: float
    tone: str = ""
    note: str = ""


class Span(NamedTuple):
    """Section of a track. ``end`` is exclusive.

    Positions are offsets in a coverage chart, and milliseconds since 1970 in a
    timeline.
    """

    start: int
    end: int
    tone: str = ""
    note: str = ""


class Track(NamedTuple):
    """Row of a coverage chart or timeline.

    * ``start``, ``end``: limits of the row, in the unit of its spans.
    * ``note``: text that is displayed at the end of the row.
    """

    label: str
    start: int
    end: int
    spans: Sequence[Span]
    note: str = ""


class _Mark(NamedTuple):
    """Visual element at the position ``x`` (percent).

    It is a bar, a dot if ``width`` is None, or an axis label.

    * ``looks``: CSS classes.
    * ``facts``: raw values for ``data-*`` attributes.
    * ``strike``: tone of the strike-through line, or "" without such a line.
    """

    x: float
    looks: str
    width: float | None = None
    title: str = ""
    facts: Mapping[str, object] = {}
    words: str = ""
    opacity: float = 1
    strike: str = ""
    is_dark: bool = False


class _Row(NamedTuple):
    """Row of a chart.

    * ``facts``: raw values for ``data-*`` attributes.
    * ``end``: note after the marks.
    """

    label: str
    marks: Sequence[_Mark]
    facts: Mapping[str, object]
    end: str = ""

    @property
    def short(self) -> str:
        """Label, shortened to ``LABEL_CHARACTERS``."""
        return shorten(self.label, LABEL_CHARACTERS)

    @property
    def note(self) -> str:
        """Note after the marks, shortened to ``NOTE_CHARACTERS``."""
        return shorten(self.end, NOTE_CHARACTERS)


class _Line(NamedTuple):
    """Line in a line chart.

    * ``paths``: SVG point lists, one per section without gaps.
    * ``dots``: (x, y, title) tuples. In a long series, only points between two gaps are
      displayed as dots.
    * ``raw``: raw values for ``data-*`` attributes.
    """

    name: str
    looks: str
    paths: list[str]
    dots: list[tuple[float, float, str]]
    raw: str


def _draw_rows(
    rows: Sequence[_Row],
    total: int,
    legend: Iterable[tuple[str, str]] = (),
    times: Sequence[_Mark] = (),
    columns: Sequence[_Mark] = (),
) -> Markup:
    """Draw rows below an axis of ``times``, or below the column names.

    ``total`` is the number of rows before truncation.
    """
    more_note = f"{total - len(rows):,} more" if len(rows) < total else ""
    return pages.draw(
        rows=rows,
        series=(),
        times=times,
        columns=columns,
        # Cells of a heat map fill almost the whole height of a row. Bars are less high.
        inset=1 if columns else 5,
        more=more_note,
        legend=[
            (looks, shorten(explanation, _LEGEND_CHARACTERS))
            for looks, explanation in legend
        ],
    )


def _list_tones(legend: Legend | None, base_classes: str) -> Iterator[tuple[str, str]]:
    for tone, explanation in (legend or {}).items():
        yield f"{base_classes} {check_tone(tone)}", explanation


def draw_heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], HeatCell],
    legend: Legend | None = None,
) -> Markup:
    """Draw a heat map. Cells with higher values are darker.

    * ``rows``, ``columns``: names.
    * ``cells``: cells by (row, column). Missing cells remain blank. A cell with value 0
      is struck through if its tone is "bad" or "quiet".
    * ``legend``: explanations by tone.
    """
    max_value = max((cell.value for cell in cells.values()), default=0)
    drawn = [
        _Row(
            row,
            [
                _make_heat_mark(row, number, columns, cells[row, column], max_value)
                for number, column in enumerate(columns)
                if (row, column) in cells
            ],
            {},
        )
        for row in rows[:MOST_ROWS]
    ]
    level_legend = []
    if max_value:
        level_legend = [(f"cell l{level}", "") for level in range(1, _LEVELS)]
        level_legend.append((f"cell l{_LEVELS}", f"up to {format_amount(max_value)}"))
    return _draw_rows(
        drawn,
        len(rows),
        [*level_legend, *_list_tones(legend, "cell l4")],
        columns=list(_make_column_labels(columns, drawn)),
    )


def _make_column_labels(
    columns: Sequence[str], rows: Sequence[_Row]
) -> Iterator[_Mark]:
    """Yield labels for as many columns as fit on a page of the width ``WIDE``.

    Labels that would overlap on a page of the width ``NARROW`` are hidden there.
    """
    count = len(columns)
    required_width = count * (
        6 + max((measure_text(name) for name in columns), default=0)
    )
    step = math.ceil(required_width / _measure_free_width(WIDE, rows)) or 1
    narrow = step * math.ceil(required_width / _measure_free_width(NARROW, rows) / step)
    for number in range(0, count, step):
        hidden = " wide" if number % narrow else ""
        label = shorten(columns[number], LABEL_CHARACTERS)
        yield _Mark((number + 0.5) * 100 / count, f"middle{hidden}", words=label)


def _measure_free_width(width: int, rows: Sequence[_Row]) -> int:
    """Return the width that remains for the marks between labels and notes, in pixels.

    ``width`` is the page width in pixels.
    """
    label = max((measure_text(row.short) for row in rows), default=0)
    note = max((measure_text(row.note) for row in rows), default=0)
    return max(width - label - note - 2 * _GAP_PIXELS, 20)


def _make_heat_mark(
    row: str,
    column_index: int,
    columns: Sequence[str],
    cell: HeatCell,
    max_value: float,
) -> _Mark:
    width = 100 / len(columns)
    level = 0
    if cell.value > 0:
        level = math.ceil(_LEVELS * math.log1p(cell.value) / math.log1p(max_value))
    tone = check_tone(cell.tone)
    has_words = len(columns) <= _MAX_LABELED_COLUMNS
    note = f", {cell.note}" if cell.note else ""
    is_strong = tone in ("bad", "warning")
    return _Mark(
        column_index * width,
        f"cell l{level}{'' if has_words else ' dense'} {tone}",
        width,
        f"{row}, {columns[column_index]}: {format_amount(cell.value)}{note}",
        {"row": row, "column": columns[column_index], "value": cell.value},
        words=format_compact(cell.value) if has_words and cell.value else "",
        strike=tone if tone in ("bad", "quiet") and level == 0 else "",
        is_dark=level >= 4 or (level > 0 and is_strong),
    )


def draw_bars(items: Sequence[tuple[str, float, str, str]], unit: str = "") -> Markup:
    """Draw a bar chart from (label, value, tone, note) tuples.

    ``unit`` can be "bytes" or "ms". Otherwise the values are counts, and the scale ends
    at 10 or higher, so that a count of 1 does not look like a large value.
    """
    drawn = items[:MOST_ROWS]
    values = [value for _, value, _, _ in drawn]
    low, high = min([0, *values]), max([0, *values])
    if not unit:
        high = max(high, _MIN_SCALE)
    scale = 100 / ((high - low) or 1)
    rows = []
    for label, value, tone, note in drawn:
        amount = format_amount(value, unit)
        description = f"{amount}, {note}" if note else amount
        mark = _Mark(
            (min(value, 0) - low) * scale,
            f"fill {check_tone(tone)}",
            abs(value) * scale,
            f"{label}: {description}",
            {"label": label, "value": value},
        )
        note_text = description if len(description) <= NOTE_CHARACTERS else amount
        rows.append(_Row(label, [mark], {}, note_text))
    return _draw_rows(rows, len(items))


def draw_coverage(tracks: Sequence[Track], legend: Legend | None = None) -> Markup:
    """Draw every track at full width: covered sections, and gaps between them."""
    rows = [
        _make_track(track, (track.start, track.end), False)
        for track in tracks[:MOST_ROWS]
    ]
    return _draw_rows(rows, len(tracks), _list_tones(legend, "fill"))


def draw_timeline(tracks: Sequence[Track], legend: Legend | None = None) -> Markup:
    """Draw tracks on a common time axis. Positions are milliseconds.

    A span of zero length is a single moment, which is drawn as a dot.
    """
    drawn = tracks[:MOST_ROWS]
    start = min((track.start for track in drawn), default=0)
    end = max((track.end for track in drawn), default=0)
    rows = [_make_track(track, (start, end), True) for track in drawn]
    times = list(_make_time_axis(start, end, _measure_free_width(WIDE, rows)))
    return _draw_rows(rows, len(tracks), _list_tones(legend, "fill"), times)


def _make_time_axis(start_time: int, end_time: int, axis_width: int) -> Iterator[_Mark]:
    """Return the labels of a time axis, without overlapping texts.

    ``axis_width`` is the minimum axis length in pixels. On narrow pages, only the
    labels at both ends are displayed.
    """
    ticks = choose_time_ticks(start_time, end_time)
    labels = [(fraction, label, measure_text(label)) for fraction, label in ticks]
    used_width, last_width = labels[0][2], labels[-1][2]
    yield _Mark(0, "", words=labels[0][1])
    for fraction, label, width in labels[1:-1]:
        left = fraction * axis_width - width / 2
        right = fraction * axis_width + width / 2
        if (
            left >= used_width + _GAP_PIXELS
            and right + _GAP_PIXELS <= axis_width - last_width
        ):
            used_width = math.ceil(right)
            yield _Mark(fraction * 100, "middle wide", words=label)
    if len(labels) > 1:
        yield _Mark(100, "end", words=labels[-1][1])


def _format_moment(timestamp: float) -> str:
    return choose_time_ticks(int(timestamp), int(timestamp))[0][1]


def _make_track(track: Track, ends: tuple[int, int], is_time: bool) -> _Row:
    start, end = ends
    scale = 100 / ((end - start) or 1)
    format_position = _format_moment if is_time else format_amount
    base = (track.start - start) * scale, "base", (track.end - track.start) * scale
    marks = [_Mark(*base)]
    for span, covered in _merge_spans(track.spans, (end - start) / _MAX_SPANS):
        last = span.end if is_time else span.end - 1
        description = format_position(span.start)
        if last > span.start:
            description += f" to {format_position(last)}"
        note = f", {span.note}" if span.note else ""
        width = (span.end - span.start) * scale
        is_moment = span.start == span.end
        thin = " thin" if width < _THIN_PERCENT and not is_moment else ""
        mark = _Mark(
            (span.start - start) * scale,
            f"fill{thin} {check_tone(span.tone)}",
            None if is_moment else width,
            f"{track.label}: {description}{note}",
            {"start": span.start, "end": span.end},
            opacity=max(0.3, covered),
        )
        marks.append(mark)
    facts = {"label": track.label, "start": track.start, "end": track.end}
    return _Row(track.label, marks, facts, track.note)


def _merge_spans(spans: Sequence[Span], near: float) -> Iterator[tuple[Span, float]]:
    """Sort spans by tone, so that the most urgent ones are drawn on top of the others.

    If there are more than ``_MAX_SPANS``, spans of the same tone are merged if the
    distance between them is less than ``near``, because they would look like one span.
    Yields (span, fraction) pairs. The original spans cover this fraction of the span.
    """
    spans = sorted(spans, key=lambda span: (_TONE_ORDER.index(span.tone), span.start))
    if len(spans) <= _MAX_SPANS:
        yield from ((span, 1.0) for span in spans)
        return
    melted: list[Span] = []
    for span in spans:
        last = melted[-1] if melted else span
        if last.tone != span.tone or span.start - last.end >= near:
            yield _combine_spans(melted)
            melted = []
        melted.append(span)
    yield _combine_spans(melted)


def _combine_spans(spans: Sequence[Span]) -> tuple[Span, float]:
    first, end = spans[0], max(span.end for span in spans)
    if len(spans) == 1:
        return first, 1.0
    covered = sum(span.end - span.start for span in spans)
    note = f"{len(spans):,} pieces, {covered:,} in all"
    merged_span = Span(first.start, end, first.tone, note)
    return merged_span, min(1.0, covered / ((end - first.start) or 1))


def draw_lines(series: Mapping[str, Sequence[Point]], unit: str) -> Markup:
    """Draw a line chart from series of (milliseconds, value) points.

    A value of None is a gap. Gaps at both ends are displayed as well. ``unit`` is
    "bytes", "ms", or the name of the counted objects.
    """
    drawn = dict(list(series.items())[:MOST_SERIES])
    # Include points without a value, so that it is visible if a line ends before the
    # end of the period.
    times = [timestamp for points in drawn.values() for timestamp, _ in points]
    start, end = min(times, default=0), max(times, default=0)
    values = [
        value
        for points in drawn.values()
        for _, value in points
        if value is not None and math.isfinite(value)
    ]
    ticks = choose_ticks(values, unit)
    low, high = ticks[0][0], ticks[-1][0]
    scale = _Scale(start, 100 / ((end - start) or 1), high, 100 / (high - low))
    label_width = max(measure_text(label) for _, label in ticks)
    hidden_count = len(series) - len(drawn)
    return pages.draw(
        rows=(),
        series=[
            _make_line(name, f"s{number}", _reduce_points(points), scale, unit)
            for number, (name, points) in enumerate(drawn.items())
        ],
        ticks=[
            _Mark(scale.y(value), "grid" if value else "axis", words=label)
            for value, label in reversed(ticks)
        ],
        times=(
            [*_make_time_axis(start, end, WIDE - label_width - _GAP_PIXELS)]
            if values
            else []
        ),
        more=f"{hidden_count:,} more series" if hidden_count else "",
        legend=[
            (f"line s{number}", shorten(name, _LEGEND_CHARACTERS))
            for number, name in enumerate(drawn)
        ],
    )


class _Scale(NamedTuple):
    """Converts timestamps and values to percent, from the upper left corner."""

    start: int
    per_ms: float
    high: float
    per_unit: float

    def x(self, time: float) -> float:
        """Return the horizontal position of a timestamp, in percent from the left."""
        return (time - self.start) * self.per_ms

    def y(self, value: float) -> float:
        """Return the vertical position of a value, in percent from the top."""
        return (self.high - value) * self.per_unit


def _make_line(
    name: str, looks: str, points: Sequence[Point], scale: _Scale, unit: str
) -> _Line:
    sections: list[list[tuple[int, float]]] = [[]]
    for timestamp, value in points:
        if value is None or not math.isfinite(value):
            sections.append([])
        else:
            sections[-1].append((timestamp, value))
    # Point lists for the inner SVG drawing. Its 1000 x 220 units are stretched to the
    # size of the chart.
    paths = [
        " ".join(
            f"{scale.x(timestamp) * 10:.2f},{scale.y(value) * 2.2:.2f}"
            for timestamp, value in section
        )
        for section in sections
        if len(section) > 1
    ]
    valid_points = [point for section in sections for point in section]
    single_points = [section[0] for section in sections if len(section) == 1]
    dots = [
        (
            scale.x(timestamp),
            scale.y(value),
            f"{name}, {_format_moment(timestamp)}: {format_amount(value, unit)}",
        )
        for timestamp, value in (
            valid_points if len(valid_points) <= _MAX_DOTS else single_points
        )
    ]
    return _Line(
        name,
        looks,
        paths,
        dots,
        " ".join(f"{timestamp}:{value}" for timestamp, value in valid_points),
    )


def _reduce_points(points: Sequence[Point]) -> Sequence[Point]:
    """Reduce a series to about ``_MAX_POINTS`` points.

    The minimum and the maximum of every section are kept, so that peaks remain visible.
    """
    if len(points) <= _MAX_POINTS:
        return points
    size = math.ceil(len(points) / (_MAX_POINTS // 2))
    kept: list[Point] = []
    for start in range(0, len(points), size):
        section = points[start : start + size]
        valid_points = [point for point in section if point[1] is not None]
        if not valid_points:
            kept.append(section[0])
            continue
        ends = {min(valid_points, key=_get_value), max(valid_points, key=_get_value)}
        # Also keep a gap of the section, because gaps are as relevant as peaks.
        gaps = [point for point in section if point[1] is None][:1]
        kept += sorted([*ends, *gaps], key=_get_time)
    return kept


def _get_time(point: Point) -> int:
    return point[0]


def _get_value(point: Point) -> float:
    return point[1] or 0
