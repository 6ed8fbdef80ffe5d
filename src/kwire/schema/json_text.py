# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parses JSON with comments into values that remember their position in the text.

The parser of the standard library does not report positions, but schema errors require
them. ``language.py`` interprets the values. The parser accepts strict JSON and comments
between tokens (``//`` and ``/* */``). If a key is repeated, the last value is used.
Numbers are kept as strings, because Kafka reads some of them as strings.

Every ``str`` either produces a ``Value`` or raises ``SchemaError``. Time and memory are
linear in the text length. Nesting is limited, so that input cannot exhaust the stack.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from ..errors import SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

MAX_NESTING = 128
"""Maximum nesting depth for arrays and objects. Kafka's deepest schema requires 13."""

NULL, BOOL, NUMBER, STRING, ARRAY, OBJECT = (
    "null",
    "boolean",
    "number",
    "string",
    "array",
    "object",
)
"""JSON value types."""


class Value:
    """One JSON value.

    * ``kind``: type of the value, such as ``STRING`` or ``OBJECT``.
    * ``text``: content of a string. For other scalars, the value as written (``true``,
      ``-1``). Empty for arrays and objects.
    * ``elements``: elements of an array.
    * ``members``: members of an object by key, as (key position, value).
    * ``position``: (line, column), both counted from 1.
    """

    __slots__ = ("elements", "kind", "members", "position", "text")

    def __init__(self, kind: str, position: tuple[int, int], text: str = "") -> None:
        self.kind = kind
        self.position = position
        self.text = text
        self.elements: list[Value] = []
        self.members: dict[str, tuple[tuple[int, int], Value]] = {}


def read_value(text: str) -> Value:
    """Parse a text that contains exactly one JSON value.

    As in Kafka's schemas, the text can contain comments (``//`` and ``/* */``). If a
    key is repeated, its last value is used.

    Raises ``SchemaError`` with rule ``json`` at the first unexpected character, or with
    rule ``nesting-too-deep`` at the bracket that exceeds ``MAX_NESTING``.
    """
    reader = _Reader(text)
    reader.skip_blanks()
    value = reader.parse_value(0)
    reader.skip_blanks()
    if reader.at < len(text):
        reader.fail("the schema has ended; remove what follows it", reader.at)
    return value


_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANKS = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z]+")
_PLAIN = re.compile('[^"\\\\\x00-\x1f\ud800-\udfff]*')
_HEX = re.compile(r"[0-9A-Fa-f]{4}")
_WORDS = {"true": BOOL, "false": BOOL, "null": NULL}
_ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}


class _Reader:
    """Single-pass parser. ``at`` is the index of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def position(self, index: int) -> tuple[int, int]:
        line = bisect_right(self.lines, index)
        return line, index - self.lines[line - 1] + 1

    def fail(self, reason: str, index: int, rule: str = "json") -> NoReturn:
        line, column = self.position(index)
        raise SchemaError(reason, rule, line=line, column=column)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip_blanks(self) -> None:
        match = _BLANKS.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        if self.text.startswith("/*", self.at):
            self.fail("this comment is never closed; end it with */", self.at)

    def parse_value(self, depth: int) -> Value:
        start = self.at
        character = self.peek()
        if character in ("{", "["):
            if depth == MAX_NESTING:
                self.fail(
                    f"brackets nest deeper than {MAX_NESTING}; flatten the schema",
                    start,
                    "nesting-too-deep",
                )
            return (
                self.parse_object(depth)
                if character == "{"
                else self.parse_array(depth)
            )
        if character == '"':
            return Value(STRING, self.position(start), self.parse_string())
        if match := _NUMBER.match(self.text, start):
            self.at = match.end()
            return Value(NUMBER, self.position(start), match[0])
        if (match := _WORD.match(self.text, start)) and match[0] in _WORDS:
            self.at = match.end()
            return Value(_WORDS[match[0]], self.position(start), match[0])
        self.fail(f"expected a JSON value (got {self.describe_next()})", start)

    def parse_object(self, depth: int) -> Value:
        value = Value(OBJECT, self.position(self.at))
        self.at += 1
        self.skip_blanks()
        if self.peek() == "}":
            self.at += 1
            return value
        while True:
            if self.peek() != '"':
                self.fail(
                    f"expected a key in quotes (got {self.describe_next()})", self.at
                )
            key_position = self.position(self.at)
            key = self.parse_string()
            self.skip_blanks()
            if self.peek() != ":":
                self.fail(
                    f"expected : after the key (got {self.describe_next()})", self.at
                )
            self.at += 1
            self.skip_blanks()
            # If the key is repeated, delete its earlier value first, so that the key
            # moves to the end of the dict.
            value.members.pop(key, None)
            value.members[key] = (key_position, self.parse_value(depth + 1))
            if self.consume_separator("}"):
                return value

    def parse_array(self, depth: int) -> Value:
        value = Value(ARRAY, self.position(self.at))
        self.at += 1
        self.skip_blanks()
        if self.peek() == "]":
            self.at += 1
            return value
        while True:
            value.elements.append(self.parse_value(depth + 1))
            if self.consume_separator("]"):
                return value

    def consume_separator(self, bracket: str) -> bool:
        self.skip_blanks()
        character = self.peek()
        if character not in (",", bracket) or not character:
            self.fail(f"expected , or {bracket} (got {self.describe_next()})", self.at)
        self.at += 1
        self.skip_blanks()
        return character == bracket

    def parse_string(self) -> str:
        start = self.at
        self.at += 1
        parts = []
        while True:
            match = _PLAIN.match(self.text, self.at)
            if match is not None:
                parts.append(match[0])
                self.at = match.end()
            character = self.peek()
            if character == '"':
                self.at += 1
                return "".join(parts)
            if character == "\\":
                parts.append(self.parse_escape())
            elif not character:
                self.fail('this string is never closed; end it with "', start)
            elif character < " ":
                self.fail(
                    f"a string cannot hold {self.describe_next()}; escape it with \\",
                    self.at,
                )
            else:
                self.fail("a string cannot hold a lone surrogate; remove it", self.at)

    def parse_escape(self) -> str:
        start = self.at
        letter = self.text[start + 1 : start + 2]
        if letter in _ESCAPES:
            self.at += 2
            return _ESCAPES[letter]
        code = self.parse_unit(start)
        if code is None:
            self.fail("JSON has no such escape; write \\\\ for a backslash", start)
        if 0xD800 <= code < 0xDC00:
            low = self.parse_unit(self.at)
            if low is not None and 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
        if 0xD800 <= code < 0xE000:
            self.fail("a string cannot hold a lone surrogate; write the pair", start)
        return chr(code)

    def parse_unit(self, start: int) -> int | None:
        r"""Parse ``\uXXXX`` at ``start`` as a UTF-16 unit, or return None."""
        if not self.text.startswith("\\u", start):
            return None
        match = _HEX.match(self.text, start + 2)
        if match is None:
            return None
        self.at = match.end()
        return int(match[0], 16)

    def describe_next(self) -> str:
        character = self.peek()
        if not character:
            return "the end of the text"
        return character if character.isprintable() else f"U+{ord(character):04X}"
