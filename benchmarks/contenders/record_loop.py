# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RecordLoop``: one loop over records, to time it, to check it and to keep them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from benchmarks.harness.statement import Statement

#: What is read of every record.
FIELDS = ("offset", "timestamp", "key", "value", "headers")


class RecordLoop:
    """A loop over all records of ``data``, with ``USE`` where ``record`` is at hand.

    The same text is timed, checked and asked what its records weigh, so that none of
    the three can do less than another.
    """

    def __init__(self, text: str, names: dict[str, Any], data: bytes) -> None:
        """Keep the loop and what it runs on."""
        self._text = textwrap.indent(text.strip("\n"), "    ")
        self._names = names
        self._data = data

    def _function(self, use: str) -> tuple[Callable[[bytes], None], list[Any]]:
        found: list[Any] = []
        scope = {**self._names, "keep": found.append}
        exec(f"def read(data):\n{self._text.replace('USE', use)}", scope)
        return scope["read"], found

    def values(self) -> list[Any]:
        """Return every field of every record as plain values."""
        record = ", ".join(f"record.{name}" for name in FIELDS)
        read, found = self._function(f"keep([{record}])")
        read(self._data)
        for fields in found:
            fields[-1] = [[name, value] for name, value in fields[-1]]
        return found

    def reading(self) -> Statement:
        """Read every field of every record and keep none."""
        read, _ = self._function("; ".join(f"record.{name}" for name in FIELDS))
        names = {"read": read, "data": self._data}
        return Statement("read(data)", names, values=self.values)

    def keeping(self) -> Statement:
        """Keep every record."""

        def keep_all(data: bytes) -> list[Any]:
            read, found = self._function("keep(record)")
            read(data)
            return found

        names = {"keep_all": keep_all, "data": self._data}
        return Statement("keep_all(data)", names, values=self.values)
