# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The ways of each library, as the report names them.

What a way makes of strings, byte strings and records is in a table of ``chapter.md``.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.languages.cases import Case


class Way(NamedTuple):
    """A way to use a library."""

    name: str
    defers: tuple[str, ...] = ()
    """Operations of which not all values exist when the call returns."""

    def eager(self, case: Case) -> bool:
        """Whether all values of a case exist when the call returns."""
        return case.operation not in self.defers


WAYS = {
    "objects": Way("kwire"),
    "zero_copy": Way("kwire, zero_copy"),
    "columns": Way("kwire columns"),
    "column_views": Way("kwire columns, views"),
    "arrow_views": Way("kwire to Arrow, views"),
    "arrow": Way("kwire to Arrow"),
    "kafka-protocol": Way("kafka-protocol"),
    "kacrab-protocol": Way("kacrab-protocol"),
    "kafka-wire": Way("kafka-wire"),
    "krabka-protocol": Way("krabka-protocol"),
    "krabka-protocol-borrowed": Way("krabka-protocol, borrowed", defers=("records",)),
    "kafka-clients": Way("kafka-clients", defers=("records",)),
    "kafka-clients-list": Way("kafka-clients, kept in a list"),
    "kmsg": Way("kmsg, kgo"),
    "kmsg-unsafe": Way("kmsg, unsafe strings"),
}
