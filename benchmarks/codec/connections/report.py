# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Connection tables for ``RESULTS.md``, keyed by section heading."""

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
    """Return the table of each connection section in Markdown."""
    tables = {}
    for section, labels in _LABELS.items():
        rows = [row for row in CONNECTION_ROWS if row.section == section]
        beside = {"beside kafka-python": None} if rows[0].targets else {}
        tables[section] = row_table(figures, rows, labels, beside)
    return tables


def connection_lists(figures: Figures) -> dict[str, str]:
    """Return a list of verdicts for each section.

    The list contains targets that do not compare entries of a table row.
    """
    return {
        section: list_verdicts(
            dataclasses.replace(verdict, work=verdict.work.removeprefix(f"{section}, "))
            for row in CONNECTION_ROWS
            if row.section == section
            for verdict in verdicts_of(figures, row)
        )
        for section in _LABELS
    }
