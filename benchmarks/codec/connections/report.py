# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of ``RESULTS.md`` about connections, by the heading of their section."""

from __future__ import annotations

import dataclasses

from benchmarks.codec.connections.rows import (
    CODEC,
    CONNECTION_ROWS,
    NEGOTIATION,
    STREAMS,
)
from benchmarks.codec.connections.targets import verdicts_of
from benchmarks.codec.figures import Figures, list_verdicts, row_table

_LABELS = {
    STREAMS: ("kwire", "kwire pure", "kafka-python", CODEC),
    NEGOTIATION: ("kwire", "kwire pure"),
}


def connection_tables(figures: Figures) -> dict[str, str]:
    """Write the tables of all sections on connections."""
    found = {}
    for section, labels in _LABELS.items():
        rows = [row for row in CONNECTION_ROWS if row.section == section]
        beside = {"beside kafka-python": None} if rows[0].targets else {}
        found[section] = row_table(figures, rows, labels, beside)
    return found


def connection_lists(figures: Figures) -> dict[str, str]:
    """Write the verdicts that no row has, without the names of their sections."""
    return {
        section: list_verdicts(
            dataclasses.replace(verdict, work=verdict.work.removeprefix(f"{section}, "))
            for row in CONNECTION_ROWS
            if row.section == section
            for verdict in verdicts_of(figures, row)
        )
        for section in _LABELS
    }
