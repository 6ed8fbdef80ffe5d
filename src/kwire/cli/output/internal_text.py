# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats decoded internal records as text: ``OffsetCommit group=g offset=12``.

``internal_records.py`` creates the cells. JSON lines and CSV contain them as JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .byte_formats import NULL, compact_json, format_cell

if TYPE_CHECKING:
    from .byte_formats import Cell

_PLAIN = re.compile(r"""[^\s"'=\[{,\\]+""")
"""Pattern for text that needs no quotes, because it contains no separators."""


def is_decoded(key: Cell, value: Cell) -> bool:
    """Whether a record belongs to an internal topic and was decoded."""
    return key.encoding == "json" or (key == NULL and value.encoding == "json")


def record_words(key: Cell, value: Cell) -> tuple[list[str], int]:
    """Format a decoded record as words, starting with the words that identify it.

    The identifying words are the name, the key fields (group, topic, partition), and
    the first value field, for example the committed offset. Returns all words, and the
    number of identifying words.
    """
    if key == NULL:
        return describe_message(value), 2
    name = key.content["name"].removesuffix("Key")
    words = [name, *_fields(key.content["data"])]
    if value.encoding != "json":
        return [*words, format_cell(value)], len(words) + 1
    rest = describe_message(value)
    if rest[0] == f"{name}Value":
        rest = rest[1:]
    return words + rest, len(words) + 1


def describe_message(cell: Cell) -> list[str]:
    """Format a decoded message as its name, followed by one word per field."""
    return [cell.content["name"], *_fields(cell.content["data"])]


def _fields(data: dict[str, Any]) -> list[str]:
    return [f"{name}={_value(content)}" for name, content in data.items()]


def _value(content: Any) -> str:
    is_plain = isinstance(content, str) and _PLAIN.fullmatch(content)
    if is_plain and content.isprintable():
        return str(content)
    return compact_json(content)
