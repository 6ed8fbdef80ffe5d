# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Text for people: times, sizes, counts and names, each on one line.

``pages`` and ``markup`` write HTML pages from ``templates``. The texts of tables and
JSON are in ``cli/output``. Code that reads bytes of Kafka does not belong here.
Times are milliseconds since 1970 in UTC, as in records. -1 means that there is none.
May import no other package.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_NAME = 80
_LONGEST_QUOTE = 300
"""Maximum number of characters of a peer's text that an error contains."""
_NO_TEXT = re.compile("[\ud800-\udfff]")
_LIKE_ESCAPE = re.compile(r"\\(?=[ux][0-9a-f])")
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB", "EB")


def _moment(timestamp: int) -> datetime | None:
    try:
        return _EPOCH + timedelta(milliseconds=timestamp)
    except OverflowError:
        return None


def format_time(timestamp: int) -> str:
    """Format a time to the millisecond; one outside the calendar as its number."""
    if timestamp == -1:
        return "-"
    moment = _moment(timestamp)
    if moment is None:
        return str(timestamp)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}"


def format_time_range(first: int, last: int) -> str:
    """Format a range of times; the hours only if both are on the same day."""
    if last == -1:
        return "-"
    begin, end = _moment(last if first == -1 else first), _moment(last)
    if begin is None or end is None:
        return f"{first}..{last}"
    if begin.date() == end.date():
        return f"{begin:%Y-%m-%d %H:%M}..{end:%H:%M}"
    return f"{begin:%Y-%m-%d}..{end:%Y-%m-%d}"


def format_size(size: float) -> str:
    """Format a number of bytes in at most 8 characters: ``1.5 MB``."""
    for unit in _UNITS:
        if size < 999.95 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def format_count(count: int, thing: str) -> str:
    """Format a number of things: ``1 batch``, ``2 batches``."""
    plural = "es" if thing.endswith(("ch", "x")) else "s"
    return f"{count:,} {thing}{'' if count == 1 else plural}"


def suggest_names(wanted: str, names: Iterable[str]) -> str:
    """Return ``; did you mean a, b or c?`` for an unknown name, or an empty string.

    Names are near if they begin with ``wanted``, in upper or lower case, or differ from
    it in few letters. At most three are returned, the nearest first.
    """
    # Imported here because only errors need it.
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in names}
    wanted = wanted[:_LONGEST_NAME].lower()
    longer = [lower for lower in by_lower if wanted and lower.startswith(wanted)]
    near = sorted(longer, key=len) + get_close_matches(wanted, by_lower, 3, 0.7)
    found = list(dict.fromkeys(by_lower[lower] for lower in near))[:3]
    if not found:
        return ""
    *others, last = found
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


def escape_line(text: str) -> str:
    """Escape line ends and every other character that a terminal does not print."""
    if text.isprintable():
        return text
    return "".join(map(_escaped, text))


def quote_text(text: str) -> str:
    """Make the text of a peer fit into one sentence: one printable line, not long."""
    # A text that is cut before it is escaped may not fit after that.
    quoted = escape_line(text[:_LONGEST_QUOTE])[:_LONGEST_QUOTE]
    return quoted if quoted == escape_line(text) else f"{quoted}..."


def format_address(host: str, port: int) -> str:
    """Format an address: "kafka:9092", "[::1]:9092".

    The host may come from a peer. A user name and a password before it are omitted.
    """
    host = quote_text(host.rpartition("@")[2])
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def escape_controls(text: str) -> str:
    """Escape as ``escape_line`` does, but leave line ends (LF) and tabs."""
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def format_name(name: object) -> str:
    r"""Format a path or the name of a topic as text that is valid UTF-8.

    File names may contain bytes that are not UTF-8. Python keeps them as lone
    surrogates, which JSON, Arrow and HTML cannot carry; they become ``\xNN``. A
    backslash in front of ``x`` or ``u`` and a digit becomes ``\x5c``, so that two names
    never have the same text. Call this once for each name: it is not idempotent.
    """
    text = str(name)
    if os.sep != "\\" and "\\" in text:
        text = _LIKE_ESCAPE.sub(r"\\x5c", text)
    return _NO_TEXT.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
