# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a job: a verdict, figures, charts and tables in one HTML file.

Its parts are collected here; ``pages`` writes them. Names come from untrusted bytes,
so they stay plain text until then. Every number is in the page as a raw value too
(``data-value``), so that it can be compared with the tables.
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
"""Rows of a table that the page shows; the Parquet files have all of them."""

_SHORT, _LONG = 24, 60
"""Characters of a cell that stay in one line, and from which on it gets more room."""

KINDS = ("text", "count", "bytes", "time", "ms", "tone")
"""How the cells of a column are written; of "tone" they are ``(tone, word)``."""


_KIND_OF = {"timestamp": "time", "string": "text", "boolean": "text", "double": "text"}


def list_columns(
    types: Mapping[str, Any], shown: str, labels: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """Make the columns of a table on a page from those of its files.

    ``types`` are as in ``make_arrow_type``, ``shown`` are names with spaces between
    them, ``labels`` those that are not the name itself. Lists are shown as a count.
    """
    columns = []
    for name in shown.split():
        kind = types.get(name, "bigint")
        kind = _KIND_OF.get(kind, "count") if isinstance(kind, str) else "count"
        if name.endswith("_ms"):
            kind = "ms"
        elif name.endswith("bytes"):
            kind = "bytes"
        label = labels.get(name, name.replace("_", " ").capitalize())
        columns.append((name, f"{label} (UTC)" if kind == "time" else label, kind))
    return columns


def describe_rest(shown: int, total: int, things: str, table: str) -> str:
    """Describe in a sentence where the things are that are not shown, if any."""
    if total <= shown:
        return ""
    return f"The first {shown:,} of {total:,} {things}; all of them are in {table}/."


class Cell(NamedTuple):
    """A cell of a table: its classes, its text, its raw value, and a tone if it has."""

    looks: str
    text: str
    exact: Any = None
    tone: str | None = None


class Report:
    """A page that is built from top to bottom; ``html`` returns the document.

    A ``tone`` is "" or "good", "warning", "bad", "quiet".
    """

    def __init__(self, title: str, subtitle: str = "") -> None:
        self._title = title
        self._subtitle = subtitle
        self._parts: list[dict[str, Any]] = []

    def _add(self, kind: str, **values: Any) -> None:
        self._parts.append({"kind": kind, **values})

    def add_verdict(self, tone: str, word: str, sentence: str) -> None:
        """Add the result in one word and one sentence."""
        self._add("verdict", tone=check_tone(tone), word=word, sentence=sentence)

    def add_figures(self, figures: Sequence[tuple[str, str, str]]) -> None:
        """Add a few numbers in large type: (label, text, tone)."""
        checked = [(label, text, check_tone(tone)) for label, text, tone in figures]
        self._add("figures", figures=checked)

    def add_chart(self, title: str, svg: Markup, note: str = "") -> None:
        """Add a chart of ``charts`` with a title above and a note below."""
        self._add("chart", title=title, svg=svg, note=note.strip())

    def add_text(self, paragraph: str) -> None:
        """Add a paragraph."""
        self._add("text", text=paragraph)

    def add_table(
        self,
        name: str,
        columns: Sequence[tuple[str, str, str]],
        rows: Sequence[Mapping[str, Any]],
        total: int | None = None,
        note: str = "",
        title: str = "",
    ) -> None:
        """Add the first rows of the table ``name``; columns are (key, label, kind).

        ``total`` is the number of rows in the Parquet files if not all of them are
        given. Times are milliseconds since 1970 or ``datetime``; None is empty.
        """
        for _, _, kind in columns:
            if kind not in KINDS:
                raise ValueError(
                    f"the kind of a column must be one of {KINDS} (got {kind!r})"
                )
        total = len(rows) if total is None else total
        shown = rows[:ROWS_SHOWN]
        self._add(
            "table",
            name=name,
            title=title or name.replace("_", " ").capitalize(),
            columns=columns,
            rows=[
                [_make_cell(row.get(key), kind) for key, _, kind in columns]
                for row in shown
            ],
            total=total,
            count=f"{total:,}",
            note=note,
            more=describe_rest(len(shown), total, "rows", name),
        )

    def html(self) -> str:
        """Return the page as a complete HTML document."""
        return pages.render(
            "report", title=self._title, subtitle=self._subtitle, parts=self._parts
        )


def _make_cell(value: Any, kind: str) -> Cell:
    if value is None:
        return Cell(f"{kind} none", "-")
    if kind == "tone":
        tone, word = value
        return Cell("tone", word, word, check_tone(tone))
    if isinstance(value, datetime):
        value = to_milliseconds(value)
    looks = kind
    if kind == "text":
        text = _format_words(value)
        if len(text) > _LONG or len(text) <= _SHORT:
            looks = "text long" if len(text) > _LONG else "text short"
    elif kind == "time":
        text = format_time(value)
    else:
        text = format_amount(value, kind)
    return Cell(looks, text, value)


def _format_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_amount(value) if isinstance(value, float) else str(value)
