# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RecordLoop``: one loop over records that is timed, verified and used for memory."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from benchmarks.harness.statement import Statement

#: Record fields to read.
FIELDS = ("offset", "timestamp", "key", "value", "headers")


class RecordLoop:
    """Source text of a loop over the records in ``data``, with the placeholder ``USE``.

    ``USE`` is replaced by statements that process ``record``. The same loop is used for
    timing, for verification and for memory measurements, so that all three do the same
    work.
    """

    def __init__(self, text: str, names: dict[str, Any], data: bytes) -> None:
        """Store the source text, the names that it uses, and the encoded input."""
        self._text = textwrap.indent(text.strip("\n"), "    ")
        self._names = names
        self._data = data

    def _function(self, use: str) -> tuple[Callable[[bytes], None], list[Any]]:
        kept_values: list[Any] = []
        scope = {**self._names, "keep": kept_values.append}
        exec(f"def read(data):\n{self._text.replace('USE', use)}", scope)
        return scope["read"], kept_values

    def values(self) -> list[Any]:
        """Return [offset, timestamp, key, value, headers] for each record."""
        record = ", ".join(f"record.{name}" for name in FIELDS)
        read, kept_values = self._function(f"keep([{record}])")
        read(self._data)
        for fields in kept_values:
            fields[-1] = [[name, value] for name, value in fields[-1]]
        return kept_values

    def reading(self) -> Statement:
        """Return a statement that reads all fields of all records.

        The records are not kept.
        """
        read, _ = self._function("; ".join(f"record.{name}" for name in FIELDS))
        names = {"read": read, "data": self._data}
        return Statement("read(data)", names, values=self.values)

    def keeping(self) -> Statement:
        """Return a statement that decodes all records and keeps them in a list."""

        def keep_all(data: bytes) -> list[Any]:
            read, kept_records = self._function("keep(record)")
            read(data)
            return kept_records

        names = {"keep_all": keep_all, "data": self._data}
        return Statement("keep_all(data)", names, values=self.values)
