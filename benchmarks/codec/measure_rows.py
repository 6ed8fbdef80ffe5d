# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure all rows in ``rows.py``, with one test per entry and collector state.

The first test of a row measures all entries of the row, and the other tests use its
durations. The memory of decoded Metadata messages is measured as well.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.codec.rows import ROWS
from benchmarks.harness.interleave import Durations, Workers, measure
from benchmarks.harness.replay import clock, replay
from benchmarks.harness.work import Row

CASES = [
    pytest.param(
        row, entry, collector, id=f"{row.section}-{row.title}-{entry.name}-{collector}"
    )
    for row in ROWS
    for collector in (False, True)
    for entry in row.entries
]
HELD = (("decode", "metadata_v9"), ("decode", "metadata_v9_wide"))
HELD_MESSAGES = 100


@pytest.fixture(scope="module")
def measured(workers: Workers) -> Callable[[Row], Durations]:
    """Return a function that measures a row on first use and caches the durations."""
    remembered: dict[Row, Durations] = {}

    def durations(row: Row) -> Durations:
        if row not in remembered:
            remembered[row] = measure(row, workers)
        return remembered[row]

    return durations


@pytest.mark.benchmark(timer=clock)
@pytest.mark.parametrize(("row", "entry", "collector"), CASES)
def test_row(benchmark, measured, workers, row, entry, collector) -> None:
    """Store the durations of one entry in the report of pytest-benchmark."""
    durations = measured(row)[entry.name, collector]
    labels = {
        "section": row.section,
        "title": row.title,
        "entry": entry.name,
        "collector": collector,
    }
    if entry.task in HELD and not collector:
        held = workers[entry.worker].ask("held_bytes", HELD_MESSAGES, *entry.task)
        labels["held_bytes"] = held
    if entry.task[0] in ("encode", "frame", "decode", "decode_zero_copy"):
        encoding = "frame" if entry.task[0] == "frame" else "encode"
        data = workers[entry.worker].ask("bytes_of", encoding, *entry.task[1:])
        labels["bytes"] = data["size"]
    replay(benchmark, durations, **labels)
