# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats times, sizes, counts and names as text for users, without line breaks.

``pages`` and ``markup`` create HTML pages from ``templates``. ``cli/output`` formats
tables and JSON. Code that reads Kafka data does not belong in this package. Times are
milliseconds since 1970 in UTC, as in records. -1 means that there is no time. May
import no other package.
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
"""Maximum number of characters that an error message shows of a text from a peer, so
that a peer cannot fill a terminal or a log.
"""
_SURROGATES = re.compile("[\ud800-\udfff]")
_ESCAPE_BACKSLASHES = re.compile(r"\\(?=[ux][0-9a-f])")
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB", "EB")


def _to_datetime(timestamp: int) -> datetime | None:
    try:
        return _EPOCH + timedelta(milliseconds=timestamp)
    except OverflowError:
        return None


def format_time(timestamp: int) -> str:
    """Format a time with milliseconds.

    The result is "-" for -1. If the calendar cannot represent the time, it is the
    number itself.
    """
    if timestamp == -1:
        return "-"
    moment = _to_datetime(timestamp)
    if moment is None:
        return str(timestamp)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}"


def format_time_range(first: int, last: int) -> str:
    """Format a time range.

    If both times are on the same day, the result includes the time of day.
    """
    if last == -1:
        return "-"
    begin, end = _to_datetime(last if first == -1 else first), _to_datetime(last)
    if begin is None or end is None:
        return f"{first}..{last}"
    if begin.date() == end.date():
        return f"{begin:%Y-%m-%d %H:%M}..{end:%H:%M}"
    return f"{begin:%Y-%m-%d}..{end:%Y-%m-%d}"


def format_size(size: float) -> str:
    """Format a number of bytes with at most 8 characters: ``1.5 MB``."""
    for unit in _UNITS:
        if size < 999.95 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def format_count(count: int, thing: str) -> str:
    """Format a count with its noun: ``1 batch``, ``2 batches``."""
    plural = "es" if thing.endswith(("ch", "x")) else "s"
    return f"{count:,} {thing}{'' if count == 1 else plural}"


def suggest_names(wanted: str, names: Iterable[str]) -> str:
    """Return ``; did you mean a, b or c?`` for an unknown name, or an empty string.

    A name is similar if it starts with ``wanted``, ignoring case, or if only a few
    letters are different. The result contains at most three names, most similar first.
    """
    # Import difflib here, because it is only required for error messages.
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in names}
    wanted = wanted[:_LONGEST_NAME].lower()
    longer_names = [lower for lower in by_lower if wanted and lower.startswith(wanted)]
    similar_names = sorted(longer_names, key=len) + get_close_matches(
        wanted, by_lower, 3, 0.7
    )
    suggestions = list(dict.fromkeys(by_lower[lower] for lower in similar_names))[:3]
    if not suggestions:
        return ""
    *others, last_name = suggestions
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last_name}?"


def escape_line(text: str) -> str:
    """Escape line breaks and all other non-printable characters."""
    if text.isprintable():
        return text
    return "".join(map(_escape_character, text))


def quote_text(text: str) -> str:
    """Format text from a peer as one printable line with limited length."""
    # Truncate again after escaping, because escaped text is longer.
    quoted = escape_line(text[:_LONGEST_QUOTE])[:_LONGEST_QUOTE]
    return quoted if quoted == escape_line(text) else f"{quoted}..."


def format_address(host: str, port: int) -> str:
    """Format an address: "kafka:9092", "[::1]:9092".

    The host may be supplied by a peer. If it contains a user name and a password, these
    are omitted.
    """
    host = quote_text(host.rpartition("@")[2])
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def escape_controls(text: str) -> str:
    """Escape non-printable characters as ``escape_line`` does, except LF and tabs."""
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" else _escape_character(c) for c in text)


def _escape_character(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def format_name(name: object) -> str:
    r"""Format a path or topic name as valid UTF-8 text.

    File names can contain bytes that are not valid UTF-8. Python represents them as
    lone surrogates, which JSON, Arrow and HTML do not support, so they are replaced by
    ``\xNN``. A backslash before ``x`` or ``u`` and a hexadecimal digit is replaced by
    ``\x5c``, so that different names always have different results. Convert a name only
    once, because the conversion is not idempotent.
    """
    text = str(name)
    if os.sep != "\\" and "\\" in text:
        text = _ESCAPE_BACKSLASHES.sub(r"\\x5c", text)
    return _SURROGATES.sub(_escape_surrogate, text)


def _escape_surrogate(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
