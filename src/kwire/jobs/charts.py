# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG, for pages of ``report``: each has its raw values in ``data-*``.

Heights are pixels and widths are parts of whatever room there is, so that a chart fits
a telephone and its words keep their size. What stands left and right of the drawing
is in the padding of the ``svg`` element. Colours and paddings are classes of the style
of ``pages/templates/report.css``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ..pages.markup import Markup, tag
from .chart_frame import (
    LABEL_CHARACTERS,
    MOST_ROWS,
    MOST_SERIES,
    NARROW,
    NOTE_CHARACTERS,
    ROW,
    STEP,
    WIDE,
    draw_end,
    draw_label,
    draw_legend,
    draw_rest,
    draw_time_axis,
    find_room,
    list_tones,
    make_svg,
    measure_ends,
    measure_labels,
    measure_legend,
    round_up,
)
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
    from collections.abc import Iterator, Mapping, Sequence

    from .chart_frame import Legend, Sides

_MOST_POINTS = 600
_MOST_DOTS = 40
_MOST_SPANS = 400

_BAR = 12
_WORDS_IN_CELLS = 24
_LEVELS = 5
_THIN = 0.4
_ORDER = ("quiet", "", "good", "warning", "bad")
_PLOT = 220
_LEAST_SCALE = 10


class HeatCell(NamedTuple):
    """One cell of a heat map: how much, and whether that is good."""

    value: float
    tone: str = ""
    note: str = ""


class Span(NamedTuple):
    """A piece of a track, from ``start`` up to but not including ``end``."""

    start: int
    end: int
    tone: str = ""
    note: str = ""


class Track(NamedTuple):
    """One line of a coverage chart or of a timeline; ``note`` is written at its end."""

    label: str
    start: int
    end: int
    spans: Sequence[Span]
    note: str = ""


def draw_heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], HeatCell],
    legend: Legend | None = None,
) -> Markup:
    """Draw rows by columns; darker is more. ``legend`` says what a tone means.

    A cell that is not in ``cells`` is blank; one without value whose tone is "bad" or
    "quiet" is struck through.
    """
    drawn = rows[:MOST_ROWS]
    most = max((cell.value for cell in cells.values()), default=0)
    width = 100 / max(len(columns), 1)
    words = len(columns) <= _WORDS_IN_CELLS
    sides = measure_labels(drawn), STEP
    parts = [*_column_labels(columns, sides)]
    top = ROW
    for row in drawn:
        parts.append(draw_label(row, top + 15))
        for number, column in enumerate(columns):
            if (cell := cells.get((row, column))) is not None:
                where = number * width, top, width
                parts.append(_heat_cell(row, column, cell, most, where, words))
        top += ROW - 2
    parts += draw_rest(len(rows), top)
    top += ROW if len(rows) > len(drawn) else 0
    entries = []
    if most:
        entries = [(f"cell l{level}", "") for level in range(1, _LEVELS)]
        entries.append((f"cell l{_LEVELS}", f"up to {format_amount(most)}"))
    entries += list_tones(legend, "cell l4")
    parts += draw_legend(entries, top + 8, sides)
    return make_svg(parts, top + 8 + measure_legend(entries), sides)


def _column_labels(columns: Sequence[str], sides: Sides) -> Iterator[Markup]:
    count = len(columns)
    need = count * (6 + max((measure_text(str(each)) for each in columns), default=0))
    step = math.ceil(need / find_room(WIDE, sides)) or 1
    narrow = step * math.ceil(need / find_room(NARROW, sides) / step)
    for number in range(0, count, step):
        hidden = " wide" if number % narrow else ""
        at = (number + 0.5) * 100 / count
        short = shorten(columns[number], LABEL_CHARACTERS)
        yield tag("text", short, class_=f"dim middle{hidden}", x=f"{at:.4g}%", y=16)


def _heat_cell(
    row: str,
    column: str,
    cell: HeatCell,
    most: float,
    where: tuple[float, float, float],
    words: bool,
) -> Markup:
    left, top, width = where
    dense = "" if words else " dense"
    level = 0
    if cell.value > 0:
        level = math.ceil(_LEVELS * math.log1p(cell.value) / math.log1p(most))
    tone = check_tone(cell.tone)
    note = f", {cell.note}" if cell.note else ""
    inside = [
        tag("title", f"{row}, {column}: {format_amount(cell.value)}{note}"),
        tag(
            "rect",
            class_=f"cell l{level}{dense} {tone}",
            x=f"{left:.4f}%",
            y=top,
            width=f"{width:.4f}%",
            height=ROW - 2,
            rx=3,
        ),
    ]
    if tone in ("bad", "quiet") and level == 0:
        begin, end = (f"{left + width * part:.4f}%" for part in (0.25, 0.75))
        ends = {"x1": begin, "y1": top + 16, "x2": end, "y2": top + 6}
        inside.append(tag("line", class_=f"struck {tone}", **ends))
    if words and cell.value:
        on = " on" if level >= 4 or (level and tone in ("bad", "warning")) else ""
        place = {"x": f"{left + width / 2:.4f}%", "y": top + 15}
        text = format_compact(cell.value)
        inside.append(tag("text", text, class_=f"middle wide{on}", **place))
    return tag("g", *inside, data_row=row, data_column=column, data_value=cell.value)


def draw_bars(items: Sequence[tuple[str, float, str, str]], unit: str = "") -> Markup:
    """Draw (label, value, tone, note) as bars; ``unit`` may be "bytes" or "ms".

    What is counted is drawn on a scale of ten at least: one is no long bar.
    """
    drawn = items[:MOST_ROWS]
    values = [value for _, value, _, _ in drawn]
    low, high = min([0, *values]), max([0, *values])
    if not unit:
        high = max(high, _LEAST_SCALE)
    scale = 100 / ((high - low) or 1)
    ends = []
    parts = []
    for number, (label, value, tone, note) in enumerate(drawn):
        y = number * ROW
        end = format_amount(value, unit)
        if note and len(end) + len(note) < NOTE_CHARACTERS:
            end += f", {note}"
        ends.append(end)
        title = f"{label}: {format_amount(value, unit)}{f', {note}' if note else ''}"
        bar = tag(
            "rect",
            class_=f"fill {check_tone(tone)}",
            x=f"{(min(value, 0) - low) * scale:.4f}%",
            y=y + 6,
            width=f"{abs(value) * scale:.4f}%",
            height=_BAR,
            rx=2,
        )
        parts.append(draw_label(label, y + 16))
        parts.append(
            tag("g", tag("title", title), bar, data_label=label, data_value=value)
        )
        parts += draw_end(end, y + 16)
    parts += draw_rest(len(items), len(drawn) * ROW)
    height = (len(drawn) + (len(items) > len(drawn))) * ROW
    sides = measure_labels([label for label, *_ in drawn]), measure_ends(ends)
    return make_svg(parts, height, sides)


def draw_coverage(tracks: Sequence[Track], legend: Legend | None = None) -> Markup:
    """Draw each track over its own whole width: what is there, and the holes."""
    drawn = tracks[:MOST_ROWS]
    parts: list[Markup] = []
    for number, track in enumerate(drawn):
        ends = track.start, track.end
        parts += _track(track, number * ROW, ends, False)
    parts += draw_rest(len(tracks), len(drawn) * ROW)
    return _tracks(drawn, parts, len(tracks), legend)


def draw_timeline(tracks: Sequence[Track], legend: Legend | None = None) -> Markup:
    """Draw tracks of milliseconds over one axis of time.

    A span that ends where it starts is one moment, and drawn as a mark.
    """
    drawn = tracks[:MOST_ROWS]
    start = min((track.start for track in drawn), default=0)
    end = max((track.end for track in drawn), default=0)
    parts: list[Markup] = []
    bottom = (len(drawn) + 1) * ROW
    if drawn:
        parts += draw_time_axis(start, end, 0, bottom - ROW, _sides(drawn))
    for number, track in enumerate(drawn):
        parts += _track(track, (number + 1) * ROW, (start, end), True)
    parts += draw_rest(len(tracks), bottom)
    return _tracks(drawn, parts, len(tracks), legend, ROW)


def _moment(timestamp: float) -> str:
    return choose_time_ticks(int(timestamp), int(timestamp))[0][1]


def _sides(drawn: Sequence[Track]) -> Sides:
    left = measure_labels([track.label for track in drawn])
    return left, measure_ends([track.note for track in drawn])


def _tracks(
    drawn: Sequence[Track],
    parts: list[Markup],
    total: int,
    legend: Legend | None,
    above: int = 0,
) -> Markup:
    sides = _sides(drawn)
    height = above + (len(drawn) + (total > len(drawn))) * ROW
    entries = [*list_tones(legend, "fill")]
    parts += draw_legend(entries, height + 8, sides)
    if entries:
        height += 8 + measure_legend(entries)
    return make_svg(parts, height, sides)


def _track(
    track: Track, y: int, ends: tuple[int, int], is_time: bool
) -> Iterator[Markup]:
    start, end = ends
    scale = 100 / ((end - start) or 1)
    say = _moment if is_time else format_amount
    yield draw_label(track.label, y + 16)
    inside = [
        tag(
            "rect",
            class_="base",
            x=f"{(track.start - start) * scale:.4f}%",
            y=y + 5,
            width=f"{(track.end - track.start) * scale:.4f}%",
            height=14,
            rx=2,
        )
    ]
    for span, covered in _merge(track.spans, (end - start) / _MOST_SPANS):
        last = span.end if is_time else span.end - 1
        words = say(span.start)
        if last > span.start:
            words += f" to {say(last)}"
        title = f"{track.label}: {words}{f', {span.note}' if span.note else ''}"
        at = f"{(span.start - start) * scale:.4f}%"
        facts: dict[str, object] = {"data_start": span.start, "data_end": span.end}
        if span.start == span.end:
            looks = {"class_": f"fill {check_tone(span.tone)}", "r": 5}
            mark = tag(
                "circle", tag("title", title), cx=at, cy=y + 12, **looks, **facts
            )
            inside.append(mark)
            continue
        width = (span.end - span.start) * scale
        thin = " thin" if width < _THIN else ""
        if covered < 1:
            facts["fill_opacity"] = f"{max(0.3, covered):.2f}"
        inside.append(
            tag(
                "rect",
                tag("title", title),
                class_=f"fill{thin} {check_tone(span.tone)}",
                x=at,
                y=y + 5,
                width=f"{width:.4f}%",
                height=14,
                **facts,
            )
        )
    yield tag(
        "g",
        *inside,
        data_label=track.label,
        data_start=track.start,
        data_end=track.end,
    )
    yield from draw_end(track.note, y + 16)


def _merge(spans: Sequence[Span], near: float) -> Iterator[tuple[Span, float]]:
    """Order spans so that bad ones are on top; melt those too near to tell apart.

    The second value is the part of a span that is really covered.
    """
    spans = sorted(spans, key=lambda each: (_ORDER.index(each.tone), each.start))
    if len(spans) <= _MOST_SPANS:
        yield from ((span, 1.0) for span in spans)
        return
    melted: list[Span] = []
    for span in spans:
        last = melted[-1] if melted else span
        if last.tone != span.tone or span.start - last.end >= near:
            yield _melt(melted)
            melted = []
        melted.append(span)
    yield _melt(melted)


def _melt(spans: Sequence[Span]) -> tuple[Span, float]:
    first, end = spans[0], max(span.end for span in spans)
    if len(spans) == 1:
        return first, 1.0
    covered = sum(span.end - span.start for span in spans)
    note = f"{len(spans):,} pieces, {covered:,} in all"
    whole = Span(first.start, end, first.tone, note)
    return whole, min(1.0, covered / ((end - first.start) or 1))


def draw_lines(
    series: Mapping[str, Sequence[tuple[int, float | None]]], unit: str
) -> Markup:
    """Draw values over time, (milliseconds, value); None is a gap, at the ends too.

    ``unit`` is "bytes", "ms", or the name of what is counted.
    """
    drawn = dict(list(series.items())[:MOST_SERIES])
    points = [
        (at, value)
        for each in drawn.values()
        for at, value in each
        if value is not None and math.isfinite(value)
    ]
    # Gaps at the ends count: a line that stops before the end of its time is seen to.
    times = [at for each in drawn.values() for at, _ in each]
    start, end = min(times, default=0), max(times, default=0)
    marks = choose_ticks([value for _, value in points], unit)
    low, high = marks[0][0], marks[-1][0]
    names = [(f"line s{number}", name) for number, name in enumerate(drawn)]
    top = measure_legend(names) + 14
    sides = round_up(12 + max(measure_text(words) for _, words in marks)), STEP
    parts = [*draw_legend(names, 0, sides)]
    for value, words in marks:
        y = top + _PLOT * (high - value) / (high - low)
        ends = {"x1": 0, "x2": "100%", "y1": f"{y:.1f}", "y2": f"{y:.1f}"}
        parts.append(tag("line", class_="axis" if value == 0 else "grid", **ends))
        parts.append(tag("text", words, class_="dim end", x=-8, y=f"{y + 4:.1f}"))
    if points:
        parts += draw_time_axis(start, end, top + _PLOT + 6, None, sides)
    scale = (start, 1000 / ((end - start) or 1), high, _PLOT / (high - low))
    for number, (name, values) in enumerate(drawn.items()):
        parts.append(_line(name, f"s{number}", _thin_out(values), scale, top, unit))
    height = top + _PLOT + ROW + 6
    parts += draw_rest(len(series), height, "series")
    height += ROW if len(series) > len(drawn) else 0
    return make_svg(parts, height, sides)


def _line(
    name: str,
    colour: str,
    values: Sequence[tuple[int, float | None]],
    scale: tuple[int, float, float, float],
    top: float,
    unit: str,
) -> Markup:
    start, per_ms, high, per_unit = scale
    pieces: list[list[tuple[int, float]]] = [[]]
    for at, value in values:
        if value is None or not math.isfinite(value):
            pieces.append([])
        else:
            pieces[-1].append((at, value))
    drawn: list[object] = []
    for piece in pieces:
        if len(piece) > 1:
            path = " ".join(
                f"{(at - start) * per_ms:.2f},{(high - value) * per_unit:.2f}"
                for at, value in piece
            )
            drawn.append(tag("polyline", class_="line", points=path))
    stretched = tag(
        "svg",
        *drawn or [""],
        y=top,
        width="100%",
        height=_PLOT,
        viewBox=f"0 0 1000 {_PLOT}",
        preserveAspectRatio="none",
        overflow="visible",
    )
    inside = [tag("title", name), stretched]
    dots = [point for piece in pieces for point in piece]
    lonely = [piece[0] for piece in pieces if len(piece) == 1]
    for at, value in dots if len(dots) <= _MOST_DOTS else lonely:
        words = f"{name}, {_moment(at)}: {format_amount(value, unit)}"
        place = {
            "cx": f"{(at - start) * per_ms / 10:.3f}%",
            "cy": f"{top + (high - value) * per_unit:.1f}",
        }
        inside.append(tag("circle", tag("title", words), r=3, **place))
    raw = " ".join(f"{at}:{value}" for at, value in dots)
    return tag("g", *inside, class_=colour, data_series=name, data_points=raw)


def _thin_out(
    values: Sequence[tuple[int, float | None]],
) -> Sequence[tuple[int, float | None]]:
    """Keep the least and the greatest of each stretch, so that no peak is lost."""
    if len(values) <= _MOST_POINTS:
        return values
    size = math.ceil(len(values) / (_MOST_POINTS // 2))
    kept: list[tuple[int, float | None]] = []
    for begin in range(0, len(values), size):
        stretch = values[begin : begin + size]
        known = [point for point in stretch if point[1] is not None]
        if not known:
            kept.append(stretch[0])
            continue
        ends = {min(known, key=_value), max(known, key=_value)}
        # A gap is no less worth seeing than a peak.
        gaps = [point for point in stretch if point[1] is None][:1]
        kept += sorted([*ends, *gaps], key=_time)
    return kept


def _time(point: tuple[int, float | None]) -> int:
    return point[0]


def _value(point: tuple[int, float | None]) -> float:
    return point[1] or 0
