# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test job reports in a browser: layout, behaviour and numbers.

All tables of a page are compared with the Parquet files in the same directory. In light
and dark mode, and in wide and narrow windows, the page must not load other resources,
report errors, overflow its window, or contain overlapping chart labels. Tables can be
sorted and filtered, indicate when they are wider than the page, and are printed
completely. As a self-test, a page with one wrong number must be rejected first.

    python -m tools.interop.browser.report_page [FOLDER ...] [--screenshots FOLDER]

FOLDER is the output directory of a job. Without it, only a sample page with all chart
types is tested.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from playwright.sync_api import Page

from kwire.jobs import charts
from kwire.jobs.chart_text import to_milliseconds
from kwire.jobs.report import Report
from kwire.jobs.tables import REPORT, Output
from tools.interop.browser.check_page import open_page, print_on, resize

VIEWS = {
    "light": (1280, 900, False),
    "dark": (1280, 900, True),
    "small": (800, 900, False),
    "narrow": (390, 844, False),
}
PAPER = 1040, 720
"""Printable area of landscape A4 paper in pixels, at 96 pixels per inch."""

NOTHING = "\0nothing"
"""Marker for a cell without a value. It is different from an empty string."""

TABLES = """[...document.querySelectorAll("table[data-table]")].map(table => ({
  name: table.dataset.table,
  total: +table.dataset.total,
  keys: [...table.querySelectorAll("th")].map(cell => cell.dataset.key),
  rows: [...table.querySelectorAll("tbody tr:not(.none)")].map(row =>
    [...row.cells].map(cell => cell.dataset.value ?? null)),
}))"""
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"
OUTSIDE = """[...document.querySelectorAll(".chart text, .chart span")].filter(text => {
  const box = text.getBoundingClientRect();
  return box.width && (box.left < 0 || box.right > innerWidth + 1);
}).map(text => text.textContent)"""
TOUCHING = """[...document.querySelectorAll(".chart")].flatMap(chart => {
  const texts = [...chart.querySelectorAll("text, span")].map(text =>
    [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width);
  return texts.flatMap(([words, a], at) => texts.slice(at + 1).filter(([, b]) =>
    a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom
  ).map(([others]) => `${words} | ${others}`));
})"""
HINTS = """[...document.querySelectorAll(".scroll")].filter(place =>
  (place.scrollWidth > place.clientWidth)
    === place.previousElementSibling.querySelector(".hint").hidden)
  .map(place => place.firstChild.dataset.table)"""
CUT_OFF = """[...document.querySelectorAll("th, td")].filter(cell => {
  const box = cell.getBoundingClientRect();
  return box.right > innerWidth + 1 || !box.width || cell.scrollWidth > box.width + 1;
}).map(cell => cell.textContent)"""
SORT = """(() => {
  const wrong = [], known = value => value !== undefined;
  for (const table of document.querySelectorAll("table[data-table]")) {
    const rows = () => [...table.querySelectorAll("tbody tr:not(.none)")];
    const first = rows();
    if (first.length < 2) continue;
    for (const [at, head] of [...table.tHead.rows[0].cells].entries()) {
      const is_text = ["text", "tone"].includes(head.dataset.kind);
      for (const sign of [1, -1]) {
        const press = new KeyboardEvent("keydown", {key: "Enter"});
        if (sign > 0) head.firstChild.click();
        else head.firstChild.dispatchEvent(press);
        const all = rows().map(row => row.cells[at].dataset.value);
        const values = all.filter(known).map(each => is_text ? each : Number(each));
        const place = `${table.dataset.table}: ${head.dataset.key} ${sign}`;
        if (all.length !== first.length) wrong.push(`${place}: rows are lost`);
        if (all.slice(0, values.length).some(each => !known(each)))
          wrong.push(`${place}: an empty cell before others`);
        for (let n = 1; n < values.length; n++) {
          const order = is_text ? words.compare(values[n - 1], values[n])
            : values[n - 1] - values[n];
          if (sign * order > 0) wrong.push(`${place}: ${values[n - 1]}, ${values[n]}`);
        }
        const state = head.getAttribute("aria-sort");
        if (state !== (sign > 0 ? "ascending" : "descending")) wrong.push(state);
      }
      head.firstChild.click();
      if (head.querySelector("button")) wrong.push("titles on one sheet alone");
      if (rows().some((row, n) => row !== first[n])) wrong.push("not as it was");
    }
  }
  return wrong;
})()"""
FILTER = """(() => {
  const wrong = [];
  for (const table of document.querySelectorAll("table[data-table]")) {
    const input = table.parentElement.previousElementSibling.querySelector("input");
    const rows = [...table.querySelectorAll("tbody tr:not(.none)")];
    if (!input !== rows.length < 2) wrong.push(`${table.dataset.table}: a filter`);
    if (!input) continue;
    for (const typed of [rows[0].cells[1].textContent.toUpperCase(), "no such row"]) {
      input.value = typed;
      input.dispatchEvent(new Event("input"));
      const left = rows.filter(row => row.checkVisibility());
      const meant = rows.filter(row => [...row.cells].some(
        cell => cell.textContent.toLowerCase().includes(typed.trim().toLowerCase())));
      const summary = `${meant.length} of ${rows.length} rows`;
      if (left.length !== meant.length || input.nextSibling.value !== summary)
        wrong.push(`${table.dataset.table}: ${left.length}, not ${summary}`);
    }
    input.value = "";
    input.dispatchEvent(new Event("input"));
    if (rows.some(row => row.hidden)) wrong.push(`${table.dataset.table}: some left`);
  }
  return wrong;
})()"""
ALL_HEIGHT = "document.documentElement.scrollHeight"


def raw_text(value: Any) -> str:
    """Format a Parquet value in the same way as the data attributes of the page."""
    if value is None:
        return NOTHING
    if isinstance(value, datetime):
        return str(to_milliseconds(value))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).replace("\0", "\ufffd")


def compare(folder: Path, table: dict[str, Any]) -> tuple[list[str], int]:
    """Compare a table of the page with its Parquet files.

    Returns the errors and the number of compared cells.
    """
    name, keys = table["name"], table["keys"]
    if not (folder / name).is_dir():
        return [f"{name}: no such table in {folder}"], 0
    stored = pyarrow.parquet.read_table(folder / name)
    wrong = []
    if table["total"] != stored.num_rows:
        wrong.append(f"{name}: {table['total']} rows, the files have {stored.num_rows}")
    if len(table["rows"]) > stored.num_rows or (stored.num_rows and not table["rows"]):
        wrong.append(f"{name}: {len(table['rows'])} of {stored.num_rows} rows shown")
    shown_columns = [
        number for number, key in enumerate(keys) if key in stored.column_names
    ]
    if not shown_columns:
        return [*wrong, f"{name}: no column {keys} is in the files"], 0
    columns = (stored[keys[number]].to_pylist() for number in shown_columns)
    left = Counter(zip(*([raw_text(v) for v in each] for each in columns), strict=True))
    for row in table["rows"]:
        shown = tuple(NOTHING if row[n] is None else row[n] for n in shown_columns)
        if not left[shown]:
            wrong.append(f"{name}: {shown} is not in the files")
        left[shown] -= 1
    return wrong, len(shown_columns) * len(table["rows"])


def look(page: Page, findings: list[str], view: str) -> list[str]:
    """Test the requirements that apply to every view of a page. Returns the errors.

    ``view`` names the view in the errors.
    """
    wrong = [f"{view}: {finding}" for finding in findings]
    if (width := page.evaluate(TOO_WIDE)) > 0:
        wrong.append(f"{view}: {width} pixels too wide")
    wrong += [f"{view}: {text!r} sticks out" for text in page.evaluate(OUTSIDE)]
    wrong += [f"{view}: {text!r} touch" for text in page.evaluate(TOUCHING)]
    wrong += [f"{view}: {name}: a wrong hint" for name in page.evaluate(HINTS)]
    return wrong


def use(page: Page) -> list[str]:
    """Test sorting and filtering of every table, and the print layout.

    Returns the errors.
    """
    wrong = [f"sorted: {fault}" for fault in page.evaluate(SORT)]
    wrong += [f"filtered: {fault}" for fault in page.evaluate(FILTER)]
    print_on(page, *PAPER)
    if (width := page.evaluate(TOO_WIDE)) > 0:
        wrong.append(f"printed: {width} pixels too wide")
    wrong += [f"printed: {text!r} is cut off" for text in page.evaluate(CUT_OFF)]
    wrong += [f"printed: {text!r} touch" for text in page.evaluate(TOUCHING)]
    return wrong


def check(folder: Path, screenshots: Path | None) -> tuple[list[str], int]:
    """Test the report in a job directory in all views.

    Returns the errors and the number of compared cells.
    """
    wrong, cells = [], 0
    for view, (width, height, dark) in VIEWS.items():
        with open_page(str(folder / REPORT), width, height, dark) as (page, findings):
            wrong += look(page, findings, view)
            if view == "light":
                for table in page.evaluate(TABLES):
                    faults, count = compare(folder, table)
                    wrong += faults
                    cells += count
                wrong += use(page)
                if screenshots is not None:
                    page.screenshot(path=screenshots / f"{folder.name}-printed.png")
            page.emulate_media(media="screen")
            if screenshots is not None:
                resize(page, width, min(page.evaluate(ALL_HEIGHT), 8000))
                page.screenshot(path=screenshots / f"{folder.name}-{view}.png")
    return wrong, cells


def write_sample(out: Path, falsified: bool) -> None:
    """Write a sample job directory with all chart types.

    If ``falsified`` is True, the page contains a wrong number.
    """
    start = 1_700_000_000_000
    name = '"><script>alert(1)</script>\r\n\u202e\u6f22'
    rows = [
        {
            "topic": name if number % 3 else None,
            "offset": (-1) ** number * 2 ** (number % 63),
            "timestamp": datetime.fromtimestamp(1_700_000_000 + number / 1000),
            "lag_ms": number / 7,
        }
        for number in range(300)
    ]
    report = Report("A page of all charts", name)
    report.add_verdict("warning", "CAREFUL", "This is a sample.")
    report.add_figures([("rows", f"{len(rows):,}", ""), (name, name, "bad")])
    cells = {
        (f"api {row}", str(column)): charts.HeatCell(
            row * column, "bad" if column < row else "", name
        )
        for row in range(8)
        for column in range(12)
    }
    report.add_chart(
        "Heat",
        charts.draw_heat_map(
            [f"api {row}" for row in range(8)],
            [str(column) for column in range(12)],
            cells,
            {"bad": "removed"},
        ),
    )
    spans = [charts.Span(0, 900, "good"), charts.Span(900, 901, "bad", name)]
    tracks = [charts.Track(name, 0, 1000, spans, "90.1 %")]
    report.add_chart("Coverage", charts.draw_coverage(tracks, {"bad": "lost"}))
    moments = [charts.Track(name, start, start + 10_000_000, [], name)]
    report.add_chart("Timeline", charts.draw_timeline(moments))
    report.add_chart(
        "Bars", charts.draw_bars([(name, 2**62, "", name), ("b", -1, "bad", "")])
    )
    series = {name: [(start + number * 60_000, number) for number in range(300)]}
    report.add_chart("Lines", charts.draw_lines(series, "ms"))
    shown = [dict(row) for row in rows]
    if falsified:
        shown[7]["offset"] += 1
    columns = [
        ("topic", "topic", "text"),
        ("offset", "offset", "count"),
        ("timestamp", "time", "time"),
        ("lag_ms", "lag", "ms"),
    ]
    report.add_table("rows", columns, shown)
    with Output(out) as output:
        output.write_table("rows", pyarrow.Table.from_pylist(rows))
        output.write_report(report.html())


def main() -> int:
    """Test the sample and the reports that the command line names.

    Returns the exit code: 1 if a test fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", metavar="FOLDER", type=Path)
    parser.add_argument("--screenshots", metavar="FOLDER", type=Path)
    options = parser.parse_args()
    wrong = []
    if options.screenshots is not None:
        options.screenshots.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        false, sample = Path(temporary, "false"), Path(temporary, "sample")
        write_sample(false, True)
        write_sample(sample, False)
        faults, _ = check(false, None)
        if len(faults) != 1 or "is not in the files" not in faults[0]:
            wrong.append(f"a page with one wrong number: found {faults}")
        for folder in (sample, *options.folders):
            faults, cells = check(folder, options.screenshots)
            if not cells:
                faults.append("no cell could be compared")
            wrong += [f"{folder.name}: {fault}" for fault in faults]
            state = "wrong" if faults else f"fine, {cells:,} cells as in the files"
            print(f"report of {folder.name}: {state}")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
