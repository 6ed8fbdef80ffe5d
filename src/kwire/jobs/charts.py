# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG text, for pages of ``report``: each has its raw values in ``data-*``.

Heights are pixels and widths are parts of whatever room there is, so that a chart fits
a telephone and its words keep their size. What stands left and right of the drawing
is in the padding of the ``svg`` element. Colours are classes of ``STYLE``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .chart_text import (
    amount_text,
    compact_text,
    duration_text,
    raw_of,
    shortened,
    text_of,
    text_width,
    ticks,
    time_ticks,
    tone_class,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Legend = Mapping[str, str]

MOST_ROWS = 100
"""Rows of a heat map, bars and tracks that are drawn; the worst should come first."""

MOST_SERIES = 8
_MOST_POINTS = 600
_MOST_DOTS = 40
_MOST_SPANS = 400

_LABEL_CHARACTERS = 24
_NOTE_CHARACTERS = 16
_LEGEND_CHARACTERS = 44
_ROW = 24
_BAR = 12
_LEGEND_ROOM = 330
_WIDE_ROOM, _NARROW_ROOM = 640, 180
_WORDS_IN_CELLS = 24
_LEVELS = 5
_THIN = 0.4
_ORDER = ("quiet", "", "good", "warning", "bad")
_PLOT = 220


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
    """One line of a coverage chart or of a timeline; ``note`` stands at its end."""

    label: str
    start: int
    end: int
    spans: Sequence[Span]
    note: str = ""


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], HeatCell],
    legend: Legend | None = None,
) -> str:
    """Draw rows by columns; darker is more. ``legend`` says what a tone means.

    A cell that is not in ``cells`` is blank; one without value whose tone is "bad" or
    "quiet" is struck through.
    """
    drawn = rows[:MOST_ROWS]
    most = max((cell.value for cell in cells.values()), default=0)
    width = 100 / max(len(columns), 1)
    words = len(columns) <= _WORDS_IN_CELLS
    parts = [*_column_labels(columns)]
    top = _ROW
    for row in drawn:
        parts.append(_label(row, top + 15))
        for number, column in enumerate(columns):
            if (cell := cells.get((row, column))) is not None:
                where = number * width, top, width
                parts += _heat_cell(row, column, cell, most, where, words)
        top += _ROW - 2
    parts += _more(len(rows), top)
    top += _ROW if len(rows) > len(drawn) else 0
    left = _label_room(drawn)
    entries = []
    if most:
        entries = [(f"cell l{level}", "") for level in range(1, _LEVELS)]
        entries.append((f"cell l{_LEVELS}", f"up to {amount_text(most)}"))
    entries += _tones(legend, "cell l4")
    parts += _legend(entries, top + 8, -left)
    return _svg(parts, top + 8 + _legend_height(entries), left, 14)


def _column_labels(columns: Sequence[str]) -> Iterator[str]:
    count = len(columns)
    need = count * (6 + max((text_width(str(each)) for each in columns), default=0))
    step = math.ceil(need / _WIDE_ROOM) or 1
    narrow = step * math.ceil(need / _NARROW_ROOM / step)
    for number in range(0, count, step):
        hidden = " wide" if number % narrow else ""
        at = (number + 0.5) * 100 / count
        yield (
            f'<text class="dim middle{hidden}" x="{at:.4g}%" y="16">'
            f"{text_of(shortened(columns[number], _LABEL_CHARACTERS))}</text>"
        )


def _heat_cell(
    row: str,
    column: str,
    cell: HeatCell,
    most: float,
    where: tuple[float, float, float],
    words: bool,
) -> Iterator[str]:
    left, top, width = where
    dense = "" if words else " dense"
    level = 0
    if cell.value > 0:
        level = math.ceil(_LEVELS * math.log1p(cell.value) / math.log1p(most))
    tone = tone_class(cell.tone)
    note = f", {cell.note}" if cell.note else ""
    yield (
        f'<g data-row="{raw_of(row)}" data-column="{raw_of(column)}" '
        f'data-value="{cell.value}"><title>'
        f"{text_of(f'{row}, {column}: {amount_text(cell.value)}{note}')}</title>"
        f'<rect class="cell l{level}{dense} {tone}" x="{left:.4f}%" y="{top}" '
        f'width="{width:.4f}%" height="{_ROW - 2}" rx="3"/>'
    )
    if tone in ("bad", "quiet") and level == 0:
        yield (
            f'<line class="struck {tone}" '
            f'x1="{left + width * 0.25:.4f}%" y1="{top + 16}" '
            f'x2="{left + width * 0.75:.4f}%" y2="{top + 6}"/>'
        )
    if words and cell.value:
        on = " on" if level >= 4 or (level and tone in ("bad", "warning")) else ""
        yield (
            f'<text class="middle wide{on}" x="{left + width / 2:.4f}%" '
            f'y="{top + 15}">{compact_text(cell.value)}</text>'
        )
    yield "</g>"


def bars(items: Sequence[tuple[str, float, str, str]], unit: str = "") -> str:
    """Draw (label, value, tone, note) as bars; ``unit`` may be "bytes" or "ms"."""
    drawn = items[:MOST_ROWS]
    values = [value for _, value, _, _ in drawn]
    low, high = min([0, *values]), max([0, *values])
    scale = 100 / ((high - low) or 1)
    ends = []
    parts = []
    for number, (label, value, tone, note) in enumerate(drawn):
        y = number * _ROW
        end = amount_text(value, unit)
        if note and len(end) + len(note) < _NOTE_CHARACTERS:
            end += f", {note}"
        ends.append(end)
        title = f"{label}: {amount_text(value, unit)}{f', {note}' if note else ''}"
        parts.append(_label(label, y + 16))
        parts.append(
            f'<g data-label="{raw_of(label)}" data-value="{value}">'
            f"<title>{text_of(title)}</title>"
            f'<rect class="fill {tone_class(tone)}" '
            f'x="{(min(value, 0) - low) * scale:.4f}%" y="{y + 6}" '
            f'width="{abs(value) * scale:.4f}%" height="{_BAR}" rx="2"/></g>'
            + _end_text(end, y + 16)
        )
    parts += _more(len(items), len(drawn) * _ROW)
    height = (len(drawn) + (len(items) > len(drawn))) * _ROW
    left = _label_room([label for label, *_ in drawn])
    return _svg(parts, height, left, _end_room(ends))


def coverage(tracks: Sequence[Track], legend: Legend | None = None) -> str:
    """Draw each track over its own whole width: what is there, and the holes."""
    drawn = tracks[:MOST_ROWS]
    parts: list[str] = []
    for number, track in enumerate(drawn):
        ends = track.start, track.end
        parts += _track(track, number * _ROW, ends, False)
    parts += _more(len(tracks), len(drawn) * _ROW)
    return _tracks(drawn, parts, len(tracks), legend)


def timeline(tracks: Sequence[Track], legend: Legend | None = None) -> str:
    """Draw tracks of milliseconds over one axis of time."""
    drawn = tracks[:MOST_ROWS]
    start = min((track.start for track in drawn), default=0)
    end = max((track.end for track in drawn), default=0)
    parts: list[str] = []
    bottom = (len(drawn) + 1) * _ROW
    if drawn:
        parts += _time_axis(start, end, 0, bottom - _ROW)
    for number, track in enumerate(drawn):
        parts += _track(track, (number + 1) * _ROW, (start, end), True)
    parts += _more(len(tracks), bottom)
    return _tracks(drawn, parts, len(tracks), legend, _ROW)


def _moment(timestamp: float) -> str:
    return time_ticks(int(timestamp), int(timestamp))[0][1]


def _tracks(
    drawn: Sequence[Track],
    parts: list[str],
    total: int,
    legend: Legend | None,
    above: int = 0,
) -> str:
    left = _label_room([track.label for track in drawn])
    height = above + (len(drawn) + (total > len(drawn))) * _ROW
    entries = [*_tones(legend, "fill")]
    parts += _legend(entries, height + 8, -left)
    if entries:
        height += 8 + _legend_height(entries)
    return _svg(parts, height, left, _end_room([track.note for track in drawn]))


def _track(track: Track, y: int, ends: tuple[int, int], is_time: bool) -> Iterator[str]:
    start, end = ends
    scale = 100 / ((end - start) or 1)
    say = _moment if is_time else amount_text
    yield _label(track.label, y + 16)
    yield (
        f'<g data-label="{raw_of(track.label)}" data-start="{track.start}" '
        f'data-end="{track.end}"><rect class="base" '
        f'x="{(track.start - start) * scale:.4f}%" y="{y + 5}" '
        f'width="{(track.end - track.start) * scale:.4f}%" height="14" rx="2"/>'
    )
    for span, covered in _merged(track.spans, (end - start) / _MOST_SPANS):
        last = span.end if is_time else span.end - 1
        words = say(span.start)
        if last > span.start:
            words += f" to {say(last)}"
        title = f"{track.label}: {words}{f', {span.note}' if span.note else ''}"
        width = (span.end - span.start) * scale
        thin = " thin" if width < _THIN else ""
        faint = f' fill-opacity="{max(0.3, covered):.2f}"' if covered < 1 else ""
        yield (
            f'<rect class="fill{thin} {tone_class(span.tone)}"{faint} '
            f'x="{(span.start - start) * scale:.4f}%" y="{y + 5}" '
            f'width="{width:.4f}%" height="14" '
            f'data-start="{span.start}" data-end="{span.end}">'
            f"<title>{text_of(title)}</title></rect>"
        )
    yield "</g>"
    yield _end_text(track.note, y + 16)


def _merged(spans: Sequence[Span], near: float) -> Iterator[tuple[Span, float]]:
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
            yield _melted(melted)
            melted = []
        melted.append(span)
    yield _melted(melted)


def _melted(spans: Sequence[Span]) -> tuple[Span, float]:
    first, end = spans[0], max(span.end for span in spans)
    if len(spans) == 1:
        return first, 1.0
    covered = sum(span.end - span.start for span in spans)
    note = f"{len(spans):,} pieces, {covered:,} in all"
    whole = Span(first.start, end, first.tone, note)
    return whole, min(1.0, covered / ((end - first.start) or 1))


def lines(series: Mapping[str, Sequence[tuple[int, float | None]]], unit: str) -> str:
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
    marks = ticks([value for _, value in points], unit)
    low, high = marks[0][0], marks[-1][0]
    names = [(f"line s{number}", name) for number, name in enumerate(drawn)]
    top = _legend_height(names) + 14
    left = 12 + max(text_width(words) for _, words in marks)
    parts = [*_legend(names, 0, -left)]
    for value, words in marks:
        y = top + _PLOT * (high - value) / (high - low)
        axis = "axis" if value == 0 else "grid"
        parts.append(
            f'<line class="{axis}" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(
            f'<text class="dim end" x="-8" y="{y + 4:.1f}">{text_of(words)}</text>'
        )
    if points:
        parts += _time_axis(start, end, top + _PLOT + 6, None)
    scale = (start, 1000 / ((end - start) or 1), high, _PLOT / (high - low))
    for number, (name, values) in enumerate(drawn.items()):
        parts += _line(name, f"s{number}", _thinned(values), scale, top, unit)
    height = top + _PLOT + _ROW + 6
    parts += _more(len(series), height, "series")
    height += _ROW if len(series) > len(drawn) else 0
    return _svg(parts, height, left, 16)


def _line(
    name: str,
    colour: str,
    values: Sequence[tuple[int, float | None]],
    scale: tuple[int, float, float, float],
    top: float,
    unit: str,
) -> Iterator[str]:
    start, per_ms, high, per_unit = scale
    pieces: list[list[tuple[int, float]]] = [[]]
    for at, value in values:
        if value is None or not math.isfinite(value):
            pieces.append([])
        else:
            pieces[-1].append((at, value))
    raw = " ".join(f"{at}:{value}" for piece in pieces for at, value in piece)
    yield f'<g class="{colour}" data-series="{raw_of(name)}" data-points="{raw}">'
    yield f"<title>{text_of(name)}</title>"
    yield (
        f'<svg y="{top}" width="100%" height="{_PLOT}" viewBox="0 0 1000 {_PLOT}" '
        'preserveAspectRatio="none" overflow="visible">'
    )
    for piece in pieces:
        if len(piece) > 1:
            path = " ".join(
                f"{(at - start) * per_ms:.2f},{(high - value) * per_unit:.2f}"
                for at, value in piece
            )
            yield f'<polyline class="line" points="{path}"/>'
    yield "</svg>"
    dots = [point for piece in pieces for point in piece]
    lonely = [piece[0] for piece in pieces if len(piece) == 1]
    for at, value in dots if len(dots) <= _MOST_DOTS else lonely:
        words = f"{name}, {_moment(at)}: {amount_text(value, unit)}"
        yield (
            f'<circle cx="{(at - start) * per_ms / 10:.3f}%" '
            f'cy="{top + (high - value) * per_unit:.1f}" r="3">'
            f"<title>{text_of(words)}</title></circle>"
        )
    yield "</g>"


def _thinned(
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


def _time_axis(start: int, end: int, y: float, grid: float | None) -> Iterator[str]:
    """Write the times below or above a drawing; ``grid`` is the height of lines."""
    marks = time_ticks(start, end)
    for number, (part, words) in enumerate(marks):
        first, last = number == 0, number == len(marks) - 1
        anchor = "" if first else " end" if last else " middle wide"
        at = f"{part * 100:.4g}%"
        if grid is not None:
            yield (
                f'<line class="grid" x1="{at}" x2="{at}" y1="{y + _ROW - 4}" '
                f'y2="{y + _ROW + grid}"/>'
            )
        yield f'<text class="dim{anchor}" x="{at}" y="{y + 14}">{text_of(words)}</text>'


def _label(label: str, y: float) -> str:
    short = shortened(label, _LABEL_CHARACTERS)
    title = f"<title>{text_of(label)}</title>" if short != str(label) else ""
    return f'<text class="end" x="-8" y="{y}">{title}{text_of(short)}</text>'


def _label_room(labels: Iterable[str]) -> int:
    widths = (text_width(shortened(each, _LABEL_CHARACTERS)) for each in labels)
    return 8 + max(widths, default=0)


def _end_text(words: str, y: float) -> str:
    if not words:
        return ""
    short = shortened(words, _NOTE_CHARACTERS)
    title = f"<title>{text_of(words)}</title>" if short != words else ""
    # A percentage and pixels together: the text is moved by its own attribute.
    return f'<text class="dim" x="100%" dx="8" y="{y}">{title}{text_of(short)}</text>'


def _end_room(ends: Iterable[str]) -> int:
    widths = (text_width(shortened(each, _NOTE_CHARACTERS)) for each in ends)
    return 10 + max(widths, default=0)


def _more(total: int, y: float, what: str = "") -> Iterator[str]:
    most = MOST_SERIES if what else MOST_ROWS
    if total > most:
        words = f"{total - most:,} more {what}".strip()
        yield f'<text class="dim" x="0" y="{y + 16}">{words} are not drawn</text>'


def _tones(legend: Legend | None, kind: str) -> Iterator[tuple[str, str]]:
    for tone, words in (legend or {}).items():
        yield f"{kind} {tone_class(tone)}", words


def _legend_places(
    entries: Sequence[tuple[str, str]],
) -> Iterator[tuple[int, int, str, str]]:
    x, line = 0, 0
    for kind, words in entries:
        short = shortened(words, _LEGEND_CHARACTERS)
        need = 16 + (12 + text_width(short) if short else 0)
        if x and x + need > _LEGEND_ROOM:
            x, line = 0, line + 1
        yield x, line, kind, short
        x += need


def _legend(entries: Sequence[tuple[str, str]], y: float, left: float) -> Iterator[str]:
    for x, line, kind, words in _legend_places(entries):
        top = y + line * 20
        yield (
            f'<rect class="{kind}" x="{left + x}" y="{top + 4}" width="12" '
            'height="12" rx="2"/>'
        )
        if words:
            yield (
                f'<text class="dim" x="{left + x + 17}" y="{top + 14}">'
                f"{text_of(words)}</text>"
            )


def _legend_height(entries: Sequence[tuple[str, str]]) -> int:
    return 20 * len({line for _, line, _, _ in _legend_places(entries)})


def _svg(parts: Iterable[str], height: float, left: float, right: float) -> str:
    inside = "\n".join(parts) or '<text class="dim" y="16">nothing to show</text>'
    return (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'height="{max(height, _ROW)}" '
        f'style="padding-left:{left}px;padding-right:{right}px">\n{inside}\n</svg>\n'
    )


STYLE = """
.chart { display: block; width: 100%; overflow: visible; font-size: 12px; }
.chart text { fill: var(--ink); }
.chart .dim { fill: var(--dim); }
.chart .middle { text-anchor: middle; }
.chart .end { text-anchor: end; }
.chart .on { fill: var(--back); font-weight: 600; }
.chart .cell { fill: var(--heat); stroke: var(--back); stroke-width: 2px; }
.chart .l0 { fill: var(--soft); }
.chart .l1 { fill-opacity: .16; } .chart .l2 { fill-opacity: .32; }
.chart .l3 { fill-opacity: .5; } .chart .l4 { fill-opacity: .74; }
.chart .fill { fill: var(--heat); stroke: none; }
.chart .base { fill: var(--soft); stroke: var(--line); }
.chart .good { fill: var(--good); }
.chart .bad { fill: var(--bad); }
.chart .warning { fill: var(--warn); }
.chart .quiet { fill: var(--line); }
.chart .thin { stroke: var(--heat); stroke-width: 2px; }
.chart .thin.good { stroke: var(--good); } .chart .thin.bad { stroke: var(--bad); }
.chart .thin.warning { stroke: var(--warn); }
.chart .thin.quiet { stroke: var(--line); }
.chart .cell.bad, .chart .cell.warning { fill-opacity: 1; }
.chart .l0.bad, .chart .l0.warning { fill-opacity: .16; }
.chart .struck { stroke: var(--dim); stroke-width: 1.5px; opacity: .5; }
.chart .struck.bad { stroke: var(--bad); opacity: .7; }
.chart .grid { stroke: var(--line); }
.chart .axis { stroke: var(--dim); }
.chart polyline { fill: none; stroke: currentColor; stroke-width: 2px;
  stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.chart circle, .chart rect.line { fill: currentColor; }
.s0 { color: var(--heat); } .s1 { color: var(--warn); } .s2 { color: var(--good); }
.s3 { color: var(--odd); } .s4 { color: var(--bad); } .s5 { color: var(--dim); }
.s6 { color: #0e7c9b; } .s7 { color: #b0508f; }
@media (max-width: 48rem) { .chart .wide { display: none; }
  .chart .cell { stroke-width: 1px; } .chart .dense { stroke-width: 0; } }
"""

__all__ = [
    "STYLE",
    "HeatCell",
    "Span",
    "Track",
    "bars",
    "coverage",
    "duration_text",
    "heat_map",
    "lines",
    "timeline",
]
