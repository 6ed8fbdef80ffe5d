# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``TopicPattern``: regular expression of a subscription (KIP-848, KIP-714).

Brokers use RE2, whose time is linear in the length of a name. Python's ``re``
backtracks, so that a client could block the cluster with a single pattern. This module
therefore runs its own automaton, and uses ``re`` only for single characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

MAX_SIZE = 5_000
"""Maximum number of nodes of an automaton. RE2 also rejects large patterns."""

_MAX_DEPTH = 50
_MAX_REPEAT = 1_000
_COUNTS = re.compile(r"\{(\d{1,9})(,(\d{0,9}))?\}")
_GROUP = re.compile(r"\(\?(?:P?<\w+>|(i?):|(i)\))")
_CLASS = re.compile(r"(?s)\[(\^?)(\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*)\]")
_CLASS_ITEM = re.compile(r"(?s)\[:\^?\w+:\]|\\x[0-9a-fA-F]{2}|\\.|.")
_ESCAPE = re.compile(r"\\(?:[dDwWsS]|x[0-9a-fA-F]{2}|[^A-Za-z0-9])")

_ANY = re.compile(r"(?s:.)")
_NAMED_SETS = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": r"0-9A-Z_a-z",
    "xdigit": "0-9A-Fa-f",
}
"""Named sets in character classes, such as ``[:alpha:]``. Python lacks them."""


class _Step(NamedTuple):
    """Step of the automaton: a character, or empty transitions to other steps.

    * ``character``: pattern of one character. None means an empty transition.
    * ``targets``: positions of the next steps.
    """

    character: re.Pattern[str] | None
    targets: tuple[int, ...]


class TopicPattern:
    """Pattern that matches complete topic names, or parameters of clients."""

    def __init__(self, steps: list[_Step], start: int) -> None:
        self._steps = steps
        self._start = start
        self._results: dict[str, bool] = {}

    @classmethod
    def parse(cls, text: str) -> TopicPattern | None:
        """Return the pattern, or None if it is invalid or too large."""
        if len(text) > MAX_SIZE:
            return None
        try:
            parser = _Parser(text)
            return cls(parser.steps, parser.parse())
        except (ValueError, re.error):
            return None

    def filter(self, names: Iterable[str]) -> set[str]:
        """Return the names that match. Results are remembered."""
        results = {
            name: self._results[name] if name in self._results else self._match(name)
            for name in names
        }
        self._results = results
        return {name for name, is_match in results.items() if is_match}

    def _match(self, name: str) -> bool:
        positions = self._follow({self._start})
        for character in name:
            next_positions: set[int] = set()
            for position in positions:
                step = self._steps[position]
                if step.character is not None and step.character.match(character):
                    next_positions.update(step.targets)
            positions = self._follow(next_positions)
            if not positions:
                return False
        return _END in positions

    def _follow(self, positions: set[int]) -> set[int]:
        """Add the positions that are reachable by empty transitions."""
        reached: set[int] = set()
        remaining = list(positions)
        while remaining:
            position = remaining.pop()
            if position not in reached:
                reached.add(position)
                step = self._steps[position]
                if step.character is None:
                    remaining += step.targets
        return reached


_END = 0
"""Position of the step after the last character."""


class _Parser:
    """Creates the steps from the end of a pattern to its start.

    The parser first reads the pattern as nested tuples, and ``_connect`` then creates
    the steps, because each step needs the position of the next one.
    """

    def __init__(self, text: str) -> None:
        self.steps: list[_Step] = [_Step(None, ())]
        self._text = text
        self._position = 0
        self._depth = 0
        self._node_count = 0
        self._flags = re.DOTALL

    def parse(self) -> int:
        """Create all steps; return the position of the first one."""
        node = self._read_alternatives()
        if self._position < len(self._text):
            raise ValueError("unbalanced parenthesis")
        return self._connect(node, _END)

    def _read_alternatives(self) -> tuple[object, ...]:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError("too many nested groups")
        options = [self._read_sequence()]
        while self._accept("|"):
            options.append(self._read_sequence())
        self._depth -= 1
        return ("or", *options)

    def _read_sequence(self) -> tuple[object, ...]:
        nodes: list[tuple[object, ...]] = []
        while self._position < len(self._text) and self._peek() not in "|)":
            nodes.append(self._read_repeat())
        return ("then", *nodes)

    def _read_repeat(self) -> tuple[object, ...]:
        node = self._read_atom()
        counts = _COUNTS.match(self._text, self._position)
        if counts:
            self._position = counts.end()
            low = int(counts[1])
            has_no_maximum = counts[2] is not None and not counts[3]
            high = -1 if has_no_maximum else int(counts[3] or low)
        elif self._peek() in ("*", "+", "?"):
            low, high = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[self._peek()]
            self._position += 1
        else:
            return node
        if low > _MAX_REPEAT or high > _MAX_REPEAT or -1 < high < low:
            raise ValueError("invalid repetition")
        # A lazy repetition matches the same names.
        self._accept("?")
        return ("repeat", node, low, high)

    def _read_atom(self) -> tuple[object, ...]:
        text, start = self._text, self._position
        character = self._peek()
        if character == "(":
            return self._read_group()
        if character in ("*", "+", "?"):
            raise ValueError("repetition without an operand")
        if character in ("^", "$"):
            # Names are matched completely, so that only an anchor in the middle would
            # have an effect. Such a pattern matches no name.
            self._position += 1
            at_end = start == len(text) - 1 or text[start + 1] in "|)"
            at_start = start == 0 or text[start - 1] in "|("
            return ("then",) if (at_start, at_end)[character == "$"] else ("or",)
        if character == "[":
            match = _CLASS.match(text, start)
        elif character == "\\":
            match = _ESCAPE.match(text, start)
        else:
            match = _ANY.match(text, start)
        if match is None:
            raise ValueError("invalid class or escape sequence")
        self._position = match.end()
        if character == "[":
            atom = f"[{match[1]}{_translate_class(match[2])}]"
        else:
            atom = match[0] if character in "\\." else re.escape(match[0])
        return ("character", re.compile(atom, self._flags))

    def _read_group(self) -> tuple[object, ...]:
        match = _GROUP.match(self._text, self._position)
        flags = self._flags
        if match is not None:
            self._position = match.end()
            if match[1] or match[2]:
                self._flags |= re.IGNORECASE
            if match[2]:
                # The flag applies to the rest of the pattern.
                return ("then",)
        elif self._text.startswith("(?", self._position):
            raise ValueError("unsupported group")
        else:
            self._position += 1
        node = self._read_alternatives()
        if not self._accept(")"):
            raise ValueError("missing parenthesis")
        self._flags = flags
        return node

    def _peek(self) -> str:
        return self._text[self._position : self._position + 1]

    def _accept(self, character: str) -> bool:
        is_next = self._peek() == character
        self._position += is_next
        return is_next

    def _connect(self, node: tuple[object, ...], end: int) -> int:
        """Create the steps of a node; return the position of its first step.

        * ``end``: position of the step after the node.
        """
        self._node_count += 1
        if self._node_count > MAX_SIZE:
            raise ValueError("pattern too large")
        kind, *parts = node
        if kind == "character":
            assert isinstance(parts[0], re.Pattern)
            return self._add(parts[0], end)
        if kind == "or":
            return self._add(None, *(self._connect(_node(p), end) for p in parts))
        if kind == "then":
            for part in reversed(parts):
                end = self._connect(_node(part), end)
            return end
        operand, low, high = _node(parts[0]), parts[1], parts[2]
        assert isinstance(low, int) and isinstance(high, int)
        if high < 0:
            # The loop refers to itself, therefore its step is completed afterwards.
            loop = self._add(None, end)
            first = self._connect(operand, loop)
            self.steps[loop] = _Step(None, (first, end))
            start = loop
        else:
            start = end
            for _ in range(high - low):
                start = self._add(None, self._connect(operand, start), end)
        for _ in range(low):
            start = self._connect(operand, start)
        return start

    def _add(self, character: re.Pattern[str] | None, *targets: int) -> int:
        self.steps.append(_Step(character, targets))
        return len(self.steps) - 1


def _translate_class(items: str) -> str:
    """Return the items of a character class in Python's notation.

    Characters are escaped, because Python warns about sequences such as ``[[`` or
    ``&&``, which it reserves for set operations.
    """
    pieces = []
    tokens = _CLASS_ITEM.findall(items)
    while tokens:
        first = tokens.pop(0)
        pieces.append(_translate_item(first))
        if len(tokens) > 1 and tokens[0] == "-" and not _is_set(first):
            last = tokens[1]
            if _is_set(last):
                raise ValueError("named set at the end of a range")
            pieces.append(f"-{_translate_item(last)}")
            del tokens[:2]
    return "".join(pieces)


def _is_set(token: str) -> bool:
    """Whether an item is a set of characters, which cannot limit a range."""
    return token.startswith("[:") or (token[0] == "\\" and token[1] in "dDwWsS")


def _translate_item(token: str) -> str:
    if len(token) == 1:
        return re.escape(token)
    if token[0] == "\\":
        if not _ESCAPE.fullmatch(token):
            raise ValueError("invalid escape sequence")
        return token
    name = token[2:-2]
    if name not in _NAMED_SETS:
        raise ValueError("unsupported named set")
    return _NAMED_SETS[name]


def _node(part: object) -> tuple[object, ...]:
    assert isinstance(part, tuple)
    return part
