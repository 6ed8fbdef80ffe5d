# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
r"""Reads Java property files, such as the ``--config`` files of Kafka's tools.

    # comment                     lines that begin with # or !
    name = value                  or name: value, or name value
    name = first \
           second                 \ at the end of a line continues it
    name = \u00e9 \t \\          escapes

This module only parses the file. ``properties.py`` interprets the properties.
Source: java.util.Properties.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from .shown_texts import hide_path, is_pem, show_path

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_BYTES = 1 << 20

_NAME = re.compile(r"((?:[^\\=:\s]|\\.)*)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Read a property file. Pass the result to ``connect`` as ``config``.

    As in Java, the encoding is ISO 8859-1, and other characters are written as ``\u``
    escapes. Spaces around a value are removed, as in Kafka's clients.

    Raises ``OSError`` if the file cannot be read. Raises ``ValueError`` if it is not a
    property file: if it is larger than 1 MiB, contains NUL bytes or an incomplete
    ``\u`` escape, or contains a line of PEM text and the previous line does not end
    with a backslash. Errors do not show values.
    """
    try:
        # The path can also be a pipe, because shells pass secrets as <(command).
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise hide_path(error) from None
    except ValueError:
        raise ValueError("path must be that of a property file") from None
    name = show_path(path) or "the property file"
    if len(data) > _MOST_BYTES or b"\0" in data:
        raise ValueError(f"{name}: is not a property file (lines of name = value)")
    properties: dict[str, str] = {}
    for number, line in _iterate_lines(data.decode("latin-1")):
        match = _NAME.fullmatch(line)
        assert match is not None, "any text is a name and a value"
        try:
            key, value = (_unescape(text) for text in match.groups())
        except ValueError:
            raise ValueError(
                f"{name}, line {number}: \\u must be followed by the 4 hexadecimal"
                " digits of a character"
            ) from None
        if is_pem(key):
            raise ValueError(
                f"{name}, line {number}: a line of PEM text is not a property; end each"
                " line of the value except the last with a backslash"
            )
        properties[key] = value.strip()
    return properties


def _iterate_lines(text: str) -> Iterator[tuple[int, str]]:
    """Iterate over logical lines, each with the number of its first physical line.

    A logical line can continue over several physical lines. Comments and empty lines
    are skipped.
    """
    parts: list[str] = []
    first = 0
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = line.lstrip(" \t\f")
        if not parts:
            if not line or line[0] in "#!":
                continue
            first = number
        backslashes = len(line) - len(line.rstrip("\\"))
        parts.append(line[:-1] if backslashes % 2 else line)
        if not backslashes % 2:
            yield first, "".join(parts)
            parts.clear()
    if parts:
        yield first, "".join(parts)


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        digits, other = match.groups()
        if digits:
            return chr(int(digits, 16))
        if other == "u":
            raise ValueError("an escape without its digits")
        return _CONTROLS.get(other, other)

    units = _ESCAPE.sub(character, text)
    # A character above U+FFFF is written as two escapes, which are the surrogates of
    # UTF-16. Combine them.
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
