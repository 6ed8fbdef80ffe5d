# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a job: a verdict, figures, charts and tables in one HTML file.

It is complete in itself: no script, nothing that is loaded, and its own policy forbids
to. Names come from other people's bytes, so all text is escaped and what steers a
terminal or turns the writing round is shown as an escape. Every number stands in the
page raw too (``data-value``), so that it can be compared with the tables.
"""

from __future__ import annotations

from datetime import datetime

from ..plain_text import time_text
from . import charts
from .chart_text import amount_text, milliseconds, raw_of, text_of, tone_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

ROWS_SHOWN = 200
"""Rows of a table that the page shows; the Parquet files have all of them."""

_SHORT, _LONG = 24, 60
"""Characters of a cell that stay in one line, and from which on it gets more room."""

KINDS = ("text", "count", "bytes", "time", "ms", "tone")
"""How the cells of a column are written; of "tone" they are ``(tone, word)``."""


class Report:
    """A page, written from its top to its bottom; ``html`` gives the whole of it.

    A ``tone`` is "" or "good", "warning", "bad", "quiet".
    """

    def __init__(self, title: str, subtitle: str = "") -> None:
        name = text_of(title)
        self._parts = [f"<title>{name}</title>\n</head>\n<body>\n"]
        self._parts.append(f"<header><h1>{name}</h1>")
        if subtitle:
            self._parts.append(f"<p>{text_of(subtitle)}</p>")
        self._parts.append("</header>\n<main>\n")

    def verdict(self, tone: str, word: str, sentence: str) -> None:
        """Say how it stands in one word and one sentence."""
        self._parts.append(
            f'<p class="verdict {tone_class(tone)}"><b>{text_of(word)}</b> '
            f"<span>{text_of(sentence)}</span></p>\n"
        )

    def figures(self, figures: Sequence[tuple[str, str, str]]) -> None:
        """Show a few numbers large: (label, text, tone)."""
        self._parts.append('<dl class="figures">\n')
        for label, text, tone in figures:
            self._parts.append(
                f'<div class="{tone_class(tone)}"><dt>{text_of(label)}</dt>'
                f"<dd>{text_of(text)}</dd></div>\n"
            )
        self._parts.append("</dl>\n")

    def chart(self, title: str, svg: str, note: str = "") -> None:
        """Show a chart of ``charts`` under a title, and under it a note."""
        caption = f"<figcaption>{text_of(note)}</figcaption>" if note else ""
        self._parts.append(
            f"<section><h2>{text_of(title)}</h2>\n<figure>{svg}{caption}</figure>"
            "</section>\n"
        )

    def text(self, paragraph: str) -> None:
        """Say something."""
        self._parts.append(f"<p>{text_of(paragraph)}</p>\n")

    def table(
        self,
        name: str,
        columns: Sequence[tuple[str, str, str]],
        rows: Sequence[Mapping[str, Any]],
        total: int | None = None,
        note: str = "",
        title: str = "",
    ) -> None:
        """Show the first rows of the table ``name``: columns are (key, label, kind).

        ``total`` is the number of rows in the Parquet files if not all of them are
        given. Times are milliseconds since 1970 or ``datetime``; None is empty.
        """
        total = len(rows) if total is None else total
        shown = rows[:ROWS_SHOWN]
        heading = title or name.replace("_", " ").capitalize()
        self._parts.append(
            f"<section><h2>{text_of(heading)} <small>{total:,}</small></h2>\n"
        )
        if note:
            self._parts.append(f'<p class="note">{text_of(note)}</p>\n')
        self._parts.append(_table(name, columns, shown, total))
        if len(shown) < total:
            self._parts.append(
                f'<p class="note">The first {len(shown):,} of {total:,}; '
                f"all of them are in {text_of(name)}/</p>\n"
            )
        self._parts.append("</section>\n")

    def html(self) -> str:
        """Give the page as a whole document."""
        return "".join((_HEAD, *self._parts, _FOOT))


def _table(
    name: str,
    columns: Sequence[tuple[str, str, str]],
    rows: Sequence[Mapping[str, Any]],
    total: int,
) -> str:
    parts = [
        f'<div class="scroll"><table data-table="{raw_of(name)}" '
        f'data-total="{total}">\n<thead><tr>',
    ]
    for key, label, kind in columns:
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of column; kinds are {KINDS}")
        parts.append(
            f'<th class="{kind}" data-key="{text_of(key)}" data-kind="{kind}">'
            f"{text_of(label)}</th>"
        )
    parts.append("</tr></thead>\n<tbody>\n")
    for row in rows:
        parts.append("<tr>")
        parts += (_cell(row.get(key), kind) for key, _, kind in columns)
        parts.append("</tr>\n")
    if not rows:
        parts.append(f'<tr class="none"><td colspan="{len(columns)}">none</td></tr>')
    parts.append("</tbody></table></div>\n")
    return "".join(parts)


def _cell(value: Any, kind: str) -> str:
    if value is None:
        return f'<td class="{kind} none">-</td>'
    if kind == "tone":
        tone, word = value
        return (
            f'<td class="tone" data-value="{raw_of(word)}">'
            f'<span class="{tone_class(tone)}">{text_of(word)}</span></td>'
        )
    if isinstance(value, datetime):
        value = milliseconds(value)
    if kind == "text":
        text = _words(value)
        if len(text) > _LONG or len(text) <= _SHORT:
            kind = "text long" if len(text) > _LONG else "text short"
    elif kind == "time":
        text = time_text(value)
    else:
        text = amount_text(value, kind)
    return f'<td class="{kind}" data-value="{raw_of(value)}">{text}</td>'


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return amount_text(value) if isinstance(value, float) else text_of(value)


_PALETTE = """
:root { color-scheme: light dark; --back: #fff; --ink: #1c2430; --dim: #667085;
  --line: #dfe3ea; --soft: #f3f5f9; --heat: #2f6fd0; --good: #12926a; --warn: #c77700;
  --bad: #c5281c; --odd: #6941c6; }
@media (prefers-color-scheme: dark) { :root { --back: #14181f; --ink: #dde3ec;
  --dim: #8d98a9; --line: #2f3743; --soft: #1d232d; --heat: #6ea8ff; --good: #38c793;
  --warn: #f0b45b; --bad: #ff7a6b; --odd: #b8a1ff; } }
"""

_STYLE = """
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 74rem; padding: 1.6rem 1.6rem 5rem;
  color: var(--ink); background: var(--back); font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; }
h1, h2, p, dd { overflow-wrap: anywhere; }
header p { margin: .2rem 0 0; color: var(--dim); }
.verdict { display: flex; gap: .2rem 1.2rem; align-items: baseline; flex-wrap: wrap;
  margin: 1.4rem 0; padding: .8rem 1.1rem; border-radius: .5rem;
  background: var(--soft); border-left: .4rem solid var(--tone, var(--dim)); }
.verdict b { font-size: 1.3rem; color: var(--tone, inherit); }
.good { --tone: var(--good); } .warning { --tone: var(--warn); }
.bad { --tone: var(--bad); } .quiet { --tone: var(--dim); }
.figures { display: grid; gap: .8rem; margin: 1.4rem 0;
  grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); }
.figures div { padding: .7rem .9rem; border: 1px solid var(--line);
  border-radius: .5rem; }
dt { color: var(--dim); font-size: .85rem; }
dd { margin: 0; font-size: 1.5rem; line-height: 1.3; color: var(--tone, inherit);
  font-variant-numeric: tabular-nums; }
section { margin-top: 2.4rem; }
h2 { font-size: 1.1rem; margin: 0 0 .7rem; }
h2 small { font-weight: 400; color: var(--dim); margin-left: .3rem; }
figure { margin: 0; }
figcaption, .note { margin: .5rem 0; color: var(--dim); font-size: .9rem; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .87rem; }
th, td { padding: .35rem .8rem; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
th { color: var(--dim); font-weight: 600; white-space: nowrap;
  background: var(--soft); }
tbody tr { border-top: 1px solid var(--line); }
tbody tr:hover { background: var(--soft); }
td.text { min-width: 7rem; max-width: 28rem; }
.count, .bytes, .ms { text-align: right; }
td.count, td.bytes, td.ms, td.time, td.tone { white-space: nowrap;
  font-variant-numeric: tabular-nums; }
td.short { white-space: nowrap; } td.long { min-width: 16rem; }
.none { color: var(--dim); }
td.tone span { padding: .05rem .5rem; border-radius: .6rem; font-weight: 600;
  font-size: .8rem; border: 1px solid; color: var(--tone, var(--dim)); }
@media (max-width: 48rem) { body { padding: 1rem .9rem 3rem; }
  h1 { font-size: 1.3rem; } dd { font-size: 1.25rem; }
  .figures { grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); }
  th, td { padding: .3rem .55rem; } }
@media print { body { max-width: none; } .scroll { overflow: visible; } }
"""

_HEAD = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src \
'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<style>{_PALETTE}{_STYLE}{charts.STYLE}</style>
"""

_FOOT = "</main>\n</body>\n</html>\n"
