# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Describes clients and what they read: the texts of ``repr``, and HTML tables.

Names of topics come from brokers, so that they are escaped for the terminal or the page
that shows them.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ..errors import quote
from ..formatting import escape_line

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

_MAX_NAMES = 3
"""Maximum number of names in a ``repr``."""

_MAX_ROWS = 20
"""Maximum number of rows in an HTML table."""


_MAX_CELL = 60
"""Maximum number of characters that a table shows of a key or value."""


def describe_names(names: Iterable[str]) -> str:
    """Format the first names, and the number of the others: "a, b, c and 5 more"."""
    all_names = [escape_line(name) for name in names]
    text = ", ".join(all_names[:_MAX_NAMES])
    hidden_count = len(all_names) - _MAX_NAMES
    return f"{text} and {hidden_count:,} more" if hidden_count > 0 else text


def describe_topics(topics: Iterable[str], pattern: re.Pattern[str] | None) -> str:
    """Format the topics of a scan or consumer: names, or a pattern between slashes."""
    if pattern is not None:
        return f"/{escape_line(pattern.pattern)}/"
    return describe_names(sorted(topics))


def describe_cluster(addresses: Iterable[tuple[str, int]]) -> str:
    """Format the bootstrap brokers of a client: "a:9092, b:9092"."""
    return describe_names(f"{host}:{port}" for host, port in addresses)


def make_html_table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> str:
    """Return an HTML table of the first rows, for notebooks. All text is escaped.

    Further rows are counted one by one and not kept.
    """
    # Only notebooks need this module, which has a large table.
    import html

    lines = [f"<table><caption>{html.escape(caption)}</caption>", "<thead><tr>"]
    lines += [f"<th>{html.escape(name)}</th>" for name in columns]
    lines.append("</tr></thead><tbody>")
    hidden_count = 0
    for number, row in enumerate(rows):
        if number >= _MAX_ROWS:
            hidden_count += 1
            continue
        cells = (f"<td>{html.escape(_format_cell(value))}</td>" for value in row)
        lines.append(f"<tr>{''.join(cells)}</tr>")
    if hidden_count > 0:
        text = f"{hidden_count:,} more rows"
        lines.append(f'<tr><td colspan="{len(columns)}">{text}</td></tr>')
    lines.append("</tbody></table>")
    return "".join(lines)


def _format_cell(value: Any) -> str:
    """Format a value as text without control characters, and shorten long values."""
    return escape_line(value) if isinstance(value, str) else quote(value, _MAX_CELL)


def warn_unclosed(unclosed: object) -> None:
    """Emit a ``ResourceWarning`` for an object that is collected without ``close``."""
    warnings.warn(
        f"{unclosed!r} was not closed; call close(), or use it in a with block",
        ResourceWarning,
        stacklevel=3,
        source=unclosed,
    )
