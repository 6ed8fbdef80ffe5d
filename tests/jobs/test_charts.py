# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Charts draw all values at the right position and size."""

import itertools
import re
import xml.etree.ElementTree as ElementTree

import pytest

from kwire.jobs import charts
from kwire.jobs.chart_text import (
    choose_ticks,
    choose_time_ticks,
    format_compact,
    measure_text,
)
from kwire.jobs.charts import HeatCell, Span, Track
from tests.harness.sweeps import sweep
from tests.jobs.page_reader import PageReader

EVIL = "\"><script>alert(1)</script>'&lt;\u202e\r\n[31m"
T0 = 1_700_000_000_000
HUGE = 2**63 - 1
GREATEST = 2_000_000
"""Maximum size of a chart in bytes, for any number of values."""


def percent(text):
    """Convert a percentage such as "12.5%" to a float."""
    assert text.endswith("%")
    return float(text[:-1])


def rects(svg, word):
    """Return the attributes of all rectangles that have the CSS class ``word``."""
    return [
        attributes
        for attributes, _ in PageReader(svg).find("rect")
        if word in attributes["class"].split()
    ]


def places(svg):
    """Return (start, width) of all bars and spans, as percentages of the chart."""
    return [(percent(rect["x"]), percent(rect["width"])) for rect in rects(svg, "fill")]


def titles(svg):
    """Return the texts of all tooltips."""
    return [text for _, text in PageReader(svg).find("title")]


def extremes():
    """Yield charts with no, one, very many, huge and hostile values."""
    many_names = [f"{number}-{'x' * 50}" for number in range(1000)]
    for names in ([], [EVIL], many_names):
        cells = {(a, b): HeatCell(HUGE, "bad", EVIL) for a in names for b in names[:30]}
        yield charts.draw_heat_map(names, names[:30], cells, {"bad": EVIL})
        yield charts.draw_heat_map(names, [], {})
        for value in (0, -HUGE, HUGE, 0.5):
            items = [(name, value, "warning", EVIL) for name in names]
            yield charts.draw_bars(items)
            yield charts.draw_bars(items, "ms")
            yield charts.draw_bars(items, "bytes")
        for start, end in ((0, 0), (-HUGE, HUGE), (T0, T0 + 1)):
            spans = [Span(start, end, "good", EVIL), Span(end, end, "bad")]
            tracks = [Track(name, start, end, spans, EVIL) for name in names]
            yield charts.draw_coverage(tracks, {"good": EVIL})
            yield charts.draw_timeline(tracks, {"good": EVIL})
        for values in (
            [],
            [(5, 1)],
            [(-HUGE, -HUGE), (HUGE, HUGE)],
            [(1, None), (2, float("nan")), (3, float("inf"))],
        ):
            for unit in "records", "ms", "bytes":
                yield charts.draw_lines(dict.fromkeys(names, values), unit)


def test_any_input_makes_well_formed_svg():
    """For any values, the SVG is valid XML without scripts, NaN and infinity.

    Its size is limited, even for very many values.
    """
    count = 0
    for svg in extremes():
        ElementTree.fromstring(svg)
        assert "script" not in [tag for tag, _, _ in PageReader(svg).tags]
        for word in ('"nan', '"inf', '"-inf', "nan%", "inf%", ",nan", ",inf"):
            assert word not in svg
        assert "\u202e" not in re.sub(r' data-\w+="[^"]*"', "", svg)
        assert len(svg) < GREATEST
        count += 1
    assert count > 60


def test_heat_grows_with_the_value():
    """Larger values have darker cells, and a cell with the value 0 has no color.

    If a cell has a tone, such as "bad", the tone replaces the color of the value.
    """
    cells = {
        ("Fetch", "0"): HeatCell(0, "quiet", "removed in 4.0"),
        ("Fetch", "1"): HeatCell(7, "bad"),
        ("Fetch", "2"): HeatCell(1000),
        ("Produce", "0"): HeatCell(1),
    }
    svg = charts.draw_heat_map(["Fetch", "Produce"], ["0", "1", "2"], cells)
    page = PageReader(svg)
    drawn = [rect for rect, _ in page.find("rect", data_row=...)]
    assert [(rect["data-row"], rect["data-column"]) for rect in drawn] == list(cells)
    assert [int(rect["data-value"]) for rect in drawn] == [0, 7, 1000, 1]
    classes = [rect["class"].split() for rect in rects(svg, "cell")][:4]
    assert classes == [
        ["cell", "l0", "quiet"],
        ["cell", "l2", "bad"],
        ["cell", "l5"],
        ["cell", "l1"],
    ]
    assert len(page.find("line", class_="struck quiet")) == 1
    assert [percent(rect["x"]) for rect in rects(svg, "cell")[:4]] == pytest.approx(
        [0, 100 / 3, 200 / 3, 0], abs=0.01
    )
    assert titles(svg)[0] == "Fetch, 0: 0, removed in 4.0"


def test_bars_are_as_long_as_their_values():
    """The length of a bar is proportional to its value.

    All bars start at a common zero, and negative values extend to the left.
    """
    svg = charts.draw_bars(
        [("a", 30, "", ""), ("b", -10, "bad", "why"), ("c", 0, "", "")]
    )
    assert places(svg) == [(25, 75), (0, 25), (25, 0)]
    assert titles(svg) == ["a: 30", "b: -10, why", "c: 0"]
    assert "1.5 KB" in charts.draw_bars([("a", 1500, "", "")], "bytes")


def test_a_hole_can_be_seen_however_small():
    """One lost offset among a billion is visible.

    Its rectangle is very thin, but has a stroke, and is drawn above the other offsets.
    """
    spans = [Span(0, 1, "bad", "lost"), Span(0, 10**9, "good")]
    svg = charts.draw_coverage([Track("orders-0", 0, 10**9, spans)])
    good, bad = rects(svg, "fill")
    assert good["class"] == "fill good"
    assert bad["class"] == "fill thin bad"
    assert (bad["data-start"], bad["data-end"]) == ("0", "1")
    assert titles(svg) == ["orders-0: 0 to 999,999,999", "orders-0: 0, lost"]


def test_tracks_of_coverage_have_their_own_scale_and_of_time_a_common_one():
    """Every track in a coverage chart fills the width. A timeline has a common scale.

    Offsets of different partitions cannot be compared, but times can.
    """
    tracks = [
        Track("a", T0, T0 + 100, [Span(T0, T0 + 50)]),
        Track("b", T0 + 100, T0 + 200, [Span(T0 + 100, T0 + 150)]),
    ]
    assert places(charts.draw_coverage(tracks)) == [(0, 50), (0, 50)]
    assert places(charts.draw_timeline(tracks)) == [(0, 25), (50, 25)]


def test_a_moment_is_a_mark_and_one_of_a_count_no_long_bar():
    """In a timeline, a single moment is a mark. In a bar chart, one request is short.

    A long line or bar would look like a long period, or like many requests.
    """
    track = Track("Fetch 2", T0, T0 + 100, [Span(T0 + 50, T0 + 50, "bad", "1 request")])
    svg = charts.draw_timeline([track])
    assert rects(svg, "fill") == []
    [(mark, _)] = PageReader(svg).find("circle")
    assert (mark["class"], percent(mark["cx"])) == ("fill bad", 50)
    assert titles(svg) == ["Fetch 2: 2023-11-14 22:13:20.050, 1 request"]
    assert places(charts.draw_bars([("a", 1, "", "")])) == [(0, 10)]
    # A minimum length only applies to counts, not to bytes and times.
    assert places(charts.draw_bars([("a", 1, "", "")], "ms")) == [(0, 100)]


def axis(svg):
    """Return (classes, position, text) of the labels on a time axis."""
    return [
        (set(attributes["class"].split()), percent(attributes["x"]), text)
        for attributes, text in PageReader(svg).find("text")
    ]


@sweep("room", [350, 700, 1100])
@sweep("length", [0, 7, 5_000, 61_000, 10_000_000, 2**40, HUGE - T0])
@sweep("label", ["a", "a" * 30])
@sweep("note", ["", "n" * 16])
def test_words_of_an_axis_never_touch(room, length, label, note):
    """The labels of a time axis do not overlap, on phones and on larger screens.

    ``room`` is the width in pixels. Label widths are estimated. Below 700 pixels the
    axis has the width of the page, otherwise the width of the drawing.
    """
    svg = charts.draw_timeline([Track(label, T0, T0 + length, [], note)])
    labels = [text for _, text in PageReader(svg).find("span")]
    drawing = room - sum(map(measure_text, labels)) - 16 if room >= 700 else room
    spans = []
    for looks, part, words in axis(svg):
        if room >= 700 or "wide" not in looks:
            left, width = part / 100 * drawing, measure_text(words)
            left -= width if "end" in looks else width / 2 if "middle" in looks else 0
            spans.append((left, left + width))
    assert spans and spans[0][0] >= 0 and spans[-1][1] <= drawing
    for (_, end), (start, _) in itertools.pairwise(spans):
        assert end < start


def test_very_many_holes_melt_but_do_not_look_like_one():
    """Spans that are too narrow for the chart are merged into one pale span.

    Its tooltip contains the number of merged spans.
    """
    spans = [Span(start, start + 1, "bad") for start in range(0, 100_000, 10)]
    svg = charts.draw_coverage([Track("orders-0", 0, 100_000, spans)])
    [melted] = rects(svg, "fill")
    assert (melted["data-start"], melted["data-end"]) == ("0", "99991")
    assert float(melted["fill-opacity"]) == 0.3
    assert titles(svg) == ["orders-0: 0 to 99,990, 10,000 pieces, 10,000 in all"]


def test_lines_go_through_their_points_and_stop_at_gaps():
    """A line goes through all of its points, and has a gap at unknown values.

    The maximum is below the top of the chart, and zero is at the bottom.
    """
    values = [(T0, 0), (T0 + 10, 40), (T0 + 20, None), (T0 + 30, 10), (T0 + 40, 20)]
    svg = charts.draw_lines({"billing": values}, "records")
    page = PageReader(svg)
    [group] = page.find("g", data_series="billing")
    assert group[0]["data-points"] == f"{T0}:0 {T0 + 10}:40 {T0 + 30}:10 {T0 + 40}:20"
    paths = [line["points"] for line, _ in page.find("polyline")]
    assert paths == ["0.00,220.00 250.00,0.00", "750.00,165.00 1000.00,110.00"]
    assert len(page.find("circle")) == 4


def test_no_peak_is_lost_in_long_series():
    """Ten thousand points are reduced to some hundred. The maximum is kept."""
    values = [(T0 + number, number % 50) for number in range(10_000)]
    values[7777] = (T0 + 7777, 5_000)
    svg = charts.draw_lines({"billing": values}, "records")
    [group] = PageReader(svg).find("g", data_series="billing")
    points = group[0]["data-points"].split()
    assert len(points) <= 600
    assert f"{T0 + 7777}:5000" in points


def test_gaps_of_long_series_and_at_their_ends_are_kept():
    """Unknown values remain visible as gaps if a long line is thinned out.

    A line that ends before the end of the axis is not extended.
    """
    values = [
        (T0 + index, None if 3000 <= index < 3002 else 1) for index in range(6000)
    ]
    svg = charts.draw_lines({"billing": values}, "records")
    assert len(PageReader(svg).find("polyline")) == 2
    values = [(T0 + index, 1 if index < 50 else None) for index in range(101)]
    svg = charts.draw_lines({"billing": values}, "records")
    [(path, _)] = PageReader(svg).find("polyline")
    assert path["points"].split()[-1].startswith("490.00,")


def test_number_of_omitted_chart_rows_is_shown():
    """A note below the chart contains the number of omitted values."""
    names = [str(number) for number in range(130)]
    for svg in (
        charts.draw_bars([(name, 1, "", "") for name in names]),
        charts.draw_coverage([Track(name, 0, 1, []) for name in names]),
        charts.draw_timeline([Track(name, 0, 1, []) for name in names]),
        charts.draw_heat_map(names, ["0"], {}),
    ):
        assert "30 more are not drawn" in svg
    svg = charts.draw_lines({name: [(T0, 1)] for name in names}, "records")
    assert "122 more series are not drawn" in svg


def test_axes_have_round_marks():
    """An axis has a few labels with round numbers, and includes all values."""
    assert choose_ticks([3, 41, 7], "records") == [
        (0, "0"),
        (20, "20"),
        (40, "40"),
        (60, "60"),
    ]
    assert [words for _, words in choose_ticks([5 * 3_600_000], "ms")] == [
        "0",
        "2 h",
        "4 h",
        "6 h",
    ]
    assert choose_ticks([1], "records") == [(0, "0"), (1, "1")]
    for values in ([], [0], [-5, 3], [HUGE], [0.001], [1e300]):
        marks = [value for value, _ in choose_ticks(values, "records")]
        assert marks[0] <= min([0, *values])
        assert marks[-1] >= max([0, *values])
        assert 2 <= len(marks) <= 7


def test_times_on_axes_are_round_and_as_short_as_can_be():
    """The labels of a time axis are round times in a short format.

    The first label contains the day. Full hours have no seconds.
    """
    begin = 1_763_700_000_000
    ticks = choose_time_ticks(begin, begin + 5 * 3_600_000)
    assert [words for _, words in ticks] == [
        "2025-11-21 04:40",
        "06:00",
        "07:00",
        "08:00",
        "09:00",
        "09:40",
    ]
    assert [part * 300 for part, _ in ticks] == pytest.approx(
        [0, 80, 140, 200, 260, 300]
    )
    assert choose_time_ticks(5, 5) == [(0.0, "1970-01-01 00:00:00.005")]
    assert choose_time_ticks(-HUGE, HUGE) == [(0.0, str(-HUGE)), (1.0, str(HUGE))]


def test_compact_numbers_fit_a_cell():
    """Numbers up to Kafka's maximum have at most five characters."""
    numbers = (0, 7, 999, 999.7, 1000, 1234, 9_960, 12_345, 999_999, HUGE)
    assert [format_compact(number) for number in numbers] == [
        "0",
        "7",
        "999",
        "1k",
        "1k",
        "1.2k",
        "10k",
        "12k",
        "1M",
        "9.2E",
    ]


def test_unknown_tones_are_mistakes():
    """An unknown tone raises ValueError, because it would have no color."""
    with pytest.raises(ValueError, match=r"tone must be one of .*got 'red'"):
        charts.draw_bars([("a", 1, "red", "")])
