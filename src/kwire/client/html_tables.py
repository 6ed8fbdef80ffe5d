# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""HTML tables of topics, scans and chunks, for notebooks.

ElementTree writes and escapes the HTML, because names and values come from brokers and
must not be interpreted as markup. Only the ``_repr_html_`` methods import this module,
so that other programs do not load an XML library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from .._text import escape_line
from ..errors import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MAX_ROWS = 20
"""Maximum number of rows in an HTML table."""

_MAX_CELL = 60
"""Maximum number of characters that an HTML table shows of a key or value, so that the
columns of the table stay narrow.
"""


def make_html_table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> str:
    """Return an HTML table with up to 20 rows and the number of further rows.

    All text is escaped. Keys, values and numbers are shortened to 60 characters.
    Further rows are counted without keeping them in memory.
    """
    table = ElementTree.Element("table")
    ElementTree.SubElement(table, "caption").text = escape_line(caption)
    _add_row(ElementTree.SubElement(table, "thead"), "th", columns)
    body = ElementTree.SubElement(table, "tbody")
    hidden_count = 0
    for number, row in enumerate(rows):
        if number < _MAX_ROWS:
            _add_row(body, "td", row)
        else:
            hidden_count += 1
    if hidden_count > 0:
        _add_row(body, "td", [f"{hidden_count:,} more rows"])
    return ElementTree.tostring(table, encoding="unicode", method="html")


def _add_row(parent: ElementTree.Element, kind: str, values: Sequence[Any]) -> None:
    row = ElementTree.SubElement(parent, "tr")
    for value in values:
        ElementTree.SubElement(row, kind).text = _format_cell(value)


def _format_cell(value: Any) -> str:
    """Format a cell as text without control characters.

    Names are shown completely. Keys, values and numbers are shortened to ``_MAX_CELL``
    characters.
    """
    return escape_line(value) if isinstance(value, str) else quote(value, _MAX_CELL)
