# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Describes clients, topics and brokers in ``repr`` texts and warnings.

Names are escaped, because they may come from a broker and the text may be printed on a
terminal.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from .._text import escape_line

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

_MAX_NAMES = 3
"""Maximum number of names that ``describe_names`` shows. Further names are only
counted.
"""


def describe_names(names: Iterable[str]) -> str:
    """Format the first names and the number of further names: "a, b, c and 5 more"."""
    all_names = [escape_line(name) for name in names]
    text = ", ".join(all_names[:_MAX_NAMES])
    hidden_count = len(all_names) - _MAX_NAMES
    return f"{text} and {hidden_count:,} more" if hidden_count > 0 else text


def describe_topics(topics: Iterable[str], pattern: re.Pattern[str] | None) -> str:
    """Format the topics of a scan or consumer: "orders, payments" or "/orders-.*/"."""
    if pattern is not None:
        return f"/{escape_line(pattern.pattern)}/"
    return describe_names(sorted(topics))


def describe_cluster(addresses: Iterable[tuple[str, int]]) -> str:
    """Format the bootstrap addresses of a client: "a:9092, b:9092"."""
    return describe_names(f"{host}:{port}" for host, port in addresses)


def warn_unclosed(unclosed: object) -> None:
    """Emit a ``ResourceWarning`` for an object that is deleted without ``close``.

    Call this function in ``__del__``, because the warning refers to the line that
    deletes the object.
    """
    warnings.warn(
        f"{unclosed!r} was not closed; call close(), or use it in a with block",
        ResourceWarning,
        stacklevel=3,
        source=unclosed,
    )
