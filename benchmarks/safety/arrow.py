# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure how much time ``send_table`` needs to validate Arrow data, without a network.

The rows from the producer benchmark are encoded from a table into batches for several
partitions. Every round measures the validation and the remaining work separately, so
that other load on the machine affects both.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import kwire
from benchmarks.producer.contender import BATCH_BYTES, Job, make_rows, make_table

ROUNDS = 41
PARTITIONS = 6
ROWS_BY_SIZE = {100: 100_000, 1000: 20_000}


def run() -> dict[int, float]:
    """Measure the validation for each value size.

    Prints and returns the additional time in percent, by value size in bytes.
    """
    print()
    return {size: _measure(size, count) for size, count in ROWS_BY_SIZE.items()}


def _measure(size: int, count: int) -> float:
    from kwire.client import table_batches

    table = make_table(Job("", "", "none", make_rows(count, size)))
    admit_column = table_batches.admit_column
    spent = 0.0

    def measure_column(table: Any, name: str) -> Any:
        nonlocal spent
        started = time.process_time()
        column = admit_column(table, name)
        spent += time.process_time() - started
        return column

    checks, others = [], []
    table_batches.admit_column = measure_column
    try:
        for _ in range(ROUNDS):
            spent, started = 0.0, time.process_time()
            _encode(table_batches, table)
            checks.append(spent)
            others.append(time.process_time() - started - spent)
    finally:
        table_batches.admit_column = admit_column
    check, other = statistics.median(checks), statistics.median(others)
    print(
        f"send_table, {size:4} B{1e9 * (check + other) / count:10.1f} ns a row"
        f"{1e9 * check / count:8.1f} of them for validation{100 * check / other:8.2f} %"
    )
    return 100 * check / other


def _encode(table_batches: Any, table: Any) -> None:
    """Encode a table like ``send_table``: select partitions, create full batches."""
    import numpy

    from kwire._engine.active import record_engine as engine
    from kwire.records.partitioners import murmur2_column
    from kwire.records.tables import split_columns

    columns = table_batches.TableColumns(
        table,
        key="key",
        value="value",
        headers=None,
        timestamp=None,
        partition=None,
    )
    for piece in columns.pieces():
        hashes = murmur2_column(piece.column("key")).view("uint32") & 0x7FFFFFFF
        partitions = (hashes % PARTITIONS).astype("int16")
        order = numpy.argsort(partitions, kind="stable").astype("int64")
        named = dict(zip(piece.schema.names, piece.columns, strict=True))
        rows = engine.ColumnRows(*split_columns(piece.num_rows, named))
        taken = 0
        while taken < len(order):
            batch = engine.EncodedRows(BATCH_BYTES)
            taken += batch.extend_columns(rows, order[taken:], 1)
            batch.make_batch(kwire.records.BatchHeader(magic=2, last_offset=-1))
