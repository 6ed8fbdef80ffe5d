# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read the tables of the job ``offsets``, with timestamps in milliseconds."""

from datetime import UTC, datetime

import pyarrow.parquet

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def replace_time(value):
    """Convert a datetime to milliseconds since the epoch.

    Return other values unchanged.
    """
    if isinstance(value, datetime):
        return round((value - EPOCH).total_seconds() * 1000)
    return value


def read_rows(result, name):
    """Read all rows of a table as dicts, in the order of its files."""
    rows = pyarrow.parquet.read_table(result.tables[name]).to_pylist()
    return [{key: replace_time(value) for key, value in row.items()} for row in rows]


def read_tuples(result, name, *columns):
    return [tuple(row[column] for column in columns) for row in read_rows(result, name)]
