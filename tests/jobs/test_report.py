# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of jobs are complete, self-contained, and safe with any name."""

from datetime import UTC, datetime

import pytest

from kwire.jobs.chart_text import format_duration, shorten, to_milliseconds
from kwire.jobs.report import KINDS, ROWS_SHOWN, Report
from tests.jobs.page_reader import PageReader

EVIL = "\"><script>alert(1)</script>'&lt;\u202e\ud800\0\r\n\x1b[31m\u6f22"
SAFE = "\"><script>alert(1)</script>'&lt;\\u202e\\ud800\\x00\\r\\n\\x1b[31m\u6f22"
COLUMNS = [(kind, kind.title(), kind) for kind in KINDS]
ROW = {
    "text": "orders",
    "count": 1234567,
    "bytes": 1500,
    "time": 1_700_000_000_123,
    "ms": 61_000,
    "tone": ("bad", "BREAKS"),
}


def page(*rows, **options):
    """Return a parsed page that contains one table with the rows."""
    report = Report("title")
    report.add_table("things", COLUMNS, rows, **options)
    return PageReader(report.html())


def test_cells_have_words_for_people_and_raw_values():
    """A cell contains a readable text and the raw value of the Parquet table."""
    reader = page(ROW)
    assert reader.table("things") == [
        ["orders", "1234567", "1500", "1700000000123", "61000", "BREAKS"]
    ]
    cell_texts = [text for _, text in reader.find("td")]
    assert cell_texts == [
        "orders",
        "1,234,567",
        "1.5 KB",
        "2023-11-14 22:13:20.123",
        "1 min 1 s",
        "",
    ]
    assert ({"class": "bad"}, "BREAKS") in reader.find("span")


def test_times_may_be_datetimes():
    """A cell may be a datetime with or without a time zone.

    It is truncated to milliseconds.
    """
    moment = datetime(2023, 11, 14, 22, 13, 20, 123_999)
    assert to_milliseconds(moment) == to_milliseconds(moment.replace(tzinfo=UTC))
    assert page({"time": moment}).table("things")[0][3] == "1700000000123"


def test_booleans_and_fractions_are_shown_as_people_write_them():
    """Booleans and fractions have a readable text, and the raw value of the table."""
    reader = page({"text": True}, {"text": False}, {"text": 200 / 3})
    assert [row[0] for row in reader.table("things")] == ["True", "False", str(200 / 3)]
    cell_texts = [
        text for cell, text in reader.find("td") if "text" in cell["class"].split()
    ]
    assert cell_texts == ["yes", "no", "66.6667"]


def test_missing_values_are_none_and_empty_text_is_not():
    """A null value has no raw value, and an empty string has an empty raw value."""
    assert page({}, {"text": ""}).table("things") == [
        [None] * 6,
        ["", *[None] * 5],
    ]


@pytest.mark.parametrize("value", [0, -1, -(2**63), 2**63 - 1, 10**30])
def test_cells_show_any_number(value):
    """A cell may contain any number.

    Examples are a time without a calendar date, and a negative size.
    """
    row = dict.fromkeys(("count", "bytes", "time", "ms"), value)
    assert page(row).table("things")[0][1:5] == [str(value)] * 4


def test_names_cannot_leave_their_place():
    """Hostile names in any part of a report are displayed as text.

    The name contains markup, quotes, control characters, and right-to-left marks.
    """
    report = Report(EVIL, EVIL)
    report.add_verdict("bad", EVIL, EVIL)
    report.add_figures([(EVIL, EVIL, "good")])
    report.add_text(EVIL)
    report.add_chart(EVIL, EVIL, EVIL)
    report.add_table(
        EVIL, [(EVIL, EVIL, "text")], [{EVIL: EVIL}] * 300, None, EVIL, EVIL
    )
    html = report.html()
    html.encode()
    reader = PageReader(html)
    assert len(reader.find("script")) == 1
    for tag in "title", "h1", "b", "dt", "dd", "figure", "figcaption", "th":
        assert reader.find(tag)[0][1] == SAFE, tag
    # The raw value is the unchanged name, except for characters that HTML does not
    # allow.
    raw = EVIL.replace("\0", "\ufffd").replace("\ud800", "\\ud800")
    assert reader.table(raw)[0] == [raw]
    assert "\r" not in html, "a browser would read a line feed"


def test_number_of_omitted_rows_is_shown():
    """A table shows the first 200 rows.

    A note below the table contains the number of all rows and where they are.
    """
    rows = [{"count": number} for number in range(10_000)]
    reader = page(*rows)
    assert [row[1] for row in reader.table("things")] == [
        str(number) for number in range(ROWS_SHOWN)
    ]
    assert reader.find("table")[0][0]["data-total"] == "10000"
    notes = [text for _, text in reader.find("p", class_="note")]
    assert notes == ["The first 200 of 10,000 rows; all of them are in things/."]
    assert page(ROW, total=5).find("p")[0][1].startswith("The first 1 of 5 rows; ")
    assert page(ROW).find("p") == []


def test_table_without_rows_contains_a_note():
    """The columns are shown even without rows."""
    reader = page()
    assert reader.table("things") == []
    assert reader.find("td", colspan="6")[0][1] == "none"
    assert len(reader.find("th")) == 6


def test_links_are_relative_paths_whose_names_stay_text():
    """``add_links`` accepts relative paths and rejects URLs.

    Names and paths are escaped.
    """
    report = Report("title")
    report.add_links([("Audit", "audit/report.html"), (EVIL, 'a"b<c')])
    links = PageReader(report.html()).find("a")
    assert links == [
        ({"href": "audit/report.html"}, "Audit"),
        ({"href": 'a"b<c'}, SAFE),
    ]
    for path in "javascript:alert(1)", "https://example.com", "//example.com/x":
        with pytest.raises(ValueError, match="a link must be a relative path"):
            report.add_links([("x", path)])


def test_unknown_kinds_and_tones_are_mistakes():
    """An unknown column kind or tone raises ValueError with the valid values."""
    report = Report("title")
    with pytest.raises(
        ValueError, match=r"kind of a column must be one of .*got 'number'"
    ):
        report.add_table("things", [("a", "a", "number")], [])
    with pytest.raises(ValueError, match=r"tone must be one of .*got 'red'"):
        report.add_verdict("red", "BAD", "sentence")


def test_durations_have_two_units():
    """A duration is formatted with its two largest units."""
    assert [
        format_duration(value)
        for value in (0, 0.25, 999, 1500, 61_000, 3_600_000, 100_000_000, -5000)
    ] == ["0 ms", "0.25 ms", "999 ms", "1.5 s", "1 min 1 s", "1 h", "1 d 3 h", "-5 s"]


def test_long_names_lose_their_middle():
    """A name that is too long is shortened in the middle.

    Start and end of a name are the most useful parts. Wide characters count twice.
    """
    assert shorten("orders", 6) == "orders"
    assert shorten("payments-europe-17", 10) == "payme…e-17"
    short = shorten("\u6f22" * 30, 10)
    assert len(short) == 5
    assert "…" in short
