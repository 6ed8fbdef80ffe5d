# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of the job ``offsets``, with times as milliseconds."""

from datetime import UTC, datetime

import pyarrow.parquet

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def replace_time(value):
    """Return a time of a table as milliseconds, and any other value as it is."""
    if isinstance(value, datetime):
        return round((value - EPOCH).total_seconds() * 1000)
    return value


def read_rows(result, name):
    """Read all rows of a table, its files in the order of tasks."""
    rows = pyarrow.parquet.read_table(result.tables[name]).to_pylist()
    return [{key: replace_time(value) for key, value in row.items()} for row in rows]


def read_tuples(result, name, *columns):
    return [tuple(row[each] for each in columns) for row in read_rows(result, name)]
