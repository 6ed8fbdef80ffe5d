# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Times, sizes, counts and names as people read and write them, in one line.

Times are milliseconds since 1970 in UTC, as in records; -1 is none.
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
_NO_TEXT = re.compile("[\ud800-\udfff]")
_LIKE_ESCAPE = re.compile(r"\\(?=[ux][0-9a-f])")
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB", "EB")


def read_time(text: str) -> int:
    """Read milliseconds, or ISO-8601 (UTC if it names no zone); ``ValueError``."""
    if text.lstrip("-").isdigit():
        return int(text)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _moment(timestamp: int) -> datetime | None:
    try:
        return _EPOCH + timedelta(milliseconds=timestamp)
    except OverflowError:
        return None


def time_text(timestamp: int) -> str:
    """Write a time to the millisecond; the number itself where no calendar reaches."""
    if timestamp == -1:
        return "-"
    moment = _moment(timestamp)
    if moment is None:
        return str(timestamp)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}"


def time_range_text(first: int, last: int) -> str:
    """Write two times in short: with the hours if they are of one day."""
    if last == -1:
        return "-"
    begin, end = _moment(last if first == -1 else first), _moment(last)
    if begin is None or end is None:
        return f"{first}..{last}"
    if begin.date() == end.date():
        return f"{begin:%Y-%m-%d %H:%M}..{end:%H:%M}"
    return f"{begin:%Y-%m-%d}..{end:%Y-%m-%d}"


def size_text(size: float) -> str:
    """Write a number of bytes in at most 8 characters."""
    for unit in _UNITS:
        if size < 999.95 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def count_text(count: int, thing: str) -> str:
    """Write a number of things: "1 batch", "2 batches"."""
    plural = "es" if thing.endswith(("ch", "x")) else "s"
    return f"{count:,} {thing}{'' if count == 1 else plural}"


def did_you_mean(wanted: str, names: Iterable[str]) -> str:
    """Write the end of an error about a name: the three nearest ones, or nothing.

    Near are those that begin so, whatever the case, and those with few other letters.
    """
    # For an error alone; most programs never see one.
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


def one_line(text: str) -> str:
    """Escape line ends and all else that a terminal would not print as it stands."""
    if text.isprintable():
        return text
    return "".join(map(_escaped, text))


def escape_controls(text: str) -> str:
    """Escape as ``one_line`` does, but leave line ends (LF) and tabs."""
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def name_text(name: object) -> str:
    r"""Write a path, or the name of a topic, as text that tables can hold.

    File systems allow bytes in names that are no UTF-8, which Python keeps as lone
    surrogates; no JSON, Arrow or HTML can carry those. They become ``\xNN``. A
    backslash that would read like one becomes ``\x5c``, so that two names never share
    a text; hence names are given to this function once, as the system has them.
    """
    text = str(name)
    if os.sep != "\\" and "\\" in text:
        text = _LIKE_ESCAPE.sub(r"\\x5c", text)
    return _NO_TEXT.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
