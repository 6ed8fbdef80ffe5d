# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Library variants with their display names in the report.

A table in ``chapter.md`` describes how a variant represents strings, byte strings and
records.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.languages.cases import Case


class Way(NamedTuple):
    """Library and interface that are measured, such as kwire with ``zero_copy``.

    ``name`` is the name of the row in the report.
    """

    name: str
    defers: tuple[str, ...] = ()
    """Operations that return before all values have been created."""

    def eager(self, case: Case) -> bool:
        """Return whether all values of a case exist when the call returns."""
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
