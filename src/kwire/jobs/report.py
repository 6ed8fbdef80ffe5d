# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""HTML report of a job: a single file with a verdict, figures, charts and tables.

This module collects the content, and ``pages`` renders it. Names can be untrusted
input, so they remain plain text until they are escaped during rendering. Every number
is also available as a raw value (``data-value``), so that it can be compared with the
Parquet tables.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from .._text import format_time, pages
from .chart_text import check_tone, format_amount, to_milliseconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .._text.markup import Markup

ROWS_SHOWN = 200
"""Maximum number of rows that the report shows of a table, so that a browser can
display it. The Parquet files contain all rows.
"""

_SHORT, _LONG = 24, 60
"""Text lengths in characters.

* ``_SHORT``: maximum length of a cell that is never wrapped.
* ``_LONG``: length above which a cell gets a wider column.
"""

KINDS = ("text", "count", "bytes", "time", "ms", "tone")
"""Formats of table columns. The values of a "tone" column are (tone, word) pairs."""


_KIND_OF = {"timestamp": "time", "string": "text", "boolean": "text", "double": "text"}


def list_columns(
    types: Mapping[str, Any], shown: str, labels: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """Derive the columns of a report table from the column types of its files.

    * ``types``: column types, as in ``make_arrow_type``.
    * ``shown``: names of the columns to show, separated by spaces.
    * ``labels``: column headings. The default heading is derived from the name.

    Lists are displayed as the number of their elements. Returns (name, heading, format)
    tuples.
    """
    columns = []
    for name in shown.split():
        cell_format = types.get(name, "bigint")
        cell_format = (
            _KIND_OF.get(cell_format, "count")
            if isinstance(cell_format, str)
            else "count"
        )
        if name.endswith("_ms"):
            cell_format = "ms"
        elif name.endswith("bytes"):
            cell_format = "bytes"
        label = labels.get(name, name.replace("_", " ").capitalize())
        columns.append(
            (name, f"{label} (UTC)" if cell_format == "time" else label, cell_format)
        )
    return columns


def describe_rest(shown: int, total: int, things: str, table: str) -> str:
    """Return a sentence that tells the reader where to find the omitted entries.

    Returns an empty string if all entries are shown.

    * ``shown``, ``total``: number of displayed entries, and of all entries.
    * ``things``: plural noun for the entries.
    * ``table``: table that contains all entries.
    """
    if total <= shown:
        return ""
    return f"The first {shown:,} of {total:,} {things}; all of them are in {table}/."


class Cell(NamedTuple):
    """Table cell.

    * ``looks``: CSS classes.
    * ``text``: visible text.
    * ``exact``: raw value for the attribute ``data-value``, or None.
    * ``tone``: tone of the cell, or None.
    """

    looks: str
    text: str
    exact: Any = None
    tone: str | None = None


class Report:
    """Report, built from top to bottom. ``html`` returns the document.

    Every ``tone`` is "", "good", "warning", "bad" or "quiet".
    """

    def __init__(self, title: str, subtitle: str = "") -> None:
        self._title = title
        self._subtitle = subtitle
        self._parts: list[dict[str, Any]] = []

    def _add_part(self, kind: str, **values: Any) -> None:
        self._parts.append({"kind": kind, **values})

    def add_verdict(self, tone: str, word: str, sentence: str) -> None:
        """Add the overall result as a word and a sentence."""
        self._add_part("verdict", tone=check_tone(tone), word=word, sentence=sentence)

    def add_figures(self, figures: Sequence[tuple[str, str, str]]) -> None:
        """Add key figures in large type, as (label, text, tone) tuples."""
        checked = [(label, text, check_tone(tone)) for label, text, tone in figures]
        self._add_part("figures", figures=checked)

    def add_chart(self, title: str, svg: Markup, note: str = "") -> None:
        """Add a chart from ``charts``, with a title above and a note below it."""
        self._add_part("chart", title=title, svg=svg, note=note.strip())

    def add_text(self, paragraph: str) -> None:
        """Add a paragraph of plain text."""
        self._add_part("text", text=paragraph)

    def add_links(self, links: Sequence[tuple[str, str]]) -> None:
        """Add links to other files, as (label, path relative to the report) pairs.

        Raises ``ValueError`` if a path is absolute or contains a colon, because a
        browser could interpret it as another address.
        """
        for _, path in links:
            if ":" in path or path.startswith("/"):
                raise ValueError(f"a link must be a relative path (got {path!r})")
        self._add_part("links", links=links)

    def add_table(
        self,
        name: str,
        columns: Sequence[tuple[str, str, str]],
        rows: Sequence[Mapping[str, Any]],
        total: int | None = None,
        note: str = "",
        title: str = "",
    ) -> None:
        """Add the first rows of the table ``name``.

        * ``columns``: (key, heading, format) tuples.
        * ``rows``: cells by key. Timestamps are milliseconds since 1970 or ``datetime``
          values. None is an empty cell.
        * ``total``: number of rows in the Parquet files, if ``rows`` is incomplete.
        * ``note``, ``title``: additional texts. The default title is derived from the
          name.

        Raises ``ValueError`` if a format is not listed in ``KINDS``.
        """
        for _, _, cell_format in columns:
            if cell_format not in KINDS:
                raise ValueError(
                    f"the kind of a column must be one of {KINDS} (got {cell_format!r})"
                )
        total = len(rows) if total is None else total
        shown_rows = rows[:ROWS_SHOWN]
        self._add_part(
            "table",
            name=name,
            title=title or name.replace("_", " ").capitalize(),
            columns=columns,
            rows=[
                [
                    _make_cell(row.get(key), cell_format)
                    for key, _, cell_format in columns
                ]
                for row in shown_rows
            ],
            total=total,
            count=f"{total:,}",
            note=note,
            more=describe_rest(len(shown_rows), total, "rows", name),
        )

    def html(self) -> str:
        """Return the complete HTML document."""
        return pages.render(
            "report", title=self._title, subtitle=self._subtitle, parts=self._parts
        )


def _make_cell(value: Any, cell_format: str) -> Cell:
    if value is None:
        return Cell(f"{cell_format} none", "-")
    if cell_format == "tone":
        tone, word = value
        return Cell("tone", word, word, check_tone(tone))
    if isinstance(value, datetime):
        value = to_milliseconds(value)
    classes = cell_format
    if cell_format == "text":
        text = _format_words(value)
        if len(text) > _LONG or len(text) <= _SHORT:
            classes = "text long" if len(text) > _LONG else "text short"
    elif cell_format == "time":
        text = format_time(value)
    else:
        text = format_amount(value, cell_format)
    return Cell(classes, text, value)


def _format_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_amount(value) if isinstance(value, float) else str(value)
