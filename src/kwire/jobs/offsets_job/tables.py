# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Column definitions for the offsets tables, and conversion from rows to files.

In memory, rows are tuples in column order. Timestamps are milliseconds, and -1 or None
if they are unknown. In Parquet files, timestamps are microseconds in UTC, which is
Spark's timestamp type. The rows are documented in docs/operators/offsets.md, and in the
functions that create them.
"""

from __future__ import annotations

from collections import namedtuple
from functools import partial
from typing import TYPE_CHECKING

from ...messages.arrow_types import make_arrow_schema
from ..tables import open_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from ..tables import RowWriter

_KEY_COLUMNS = {"group": "string", "topic": "string", "partition": "int"}

_ASSIGNMENT_COLUMNS = {
    "topic": "string",
    "topic_id": "string",
    "subtopology": "string",
    "partitions": ["int"],
}
_MEMBER_COLUMNS = {
    "member_id": "string",
    "instance_id": "string",
    "client_id": "string",
    "host": "string",
    "epoch": "int",
    "subscriptions": ["string"],
    "subscribed_regex": "string",
    "assignment": [_ASSIGNMENT_COLUMNS],
}

COLUMNS: dict[str, dict[str, Any]] = {
    "commits": {
        "timestamp": "timestamp",
        **_KEY_COLUMNS,
        "offset": "bigint",
        "leader_epoch": "int",
        "metadata": "string",
        "expire_timestamp": "timestamp",
        "is_tombstone": "boolean",
        "log_offset": "bigint",
        "log_partition": "int",
        "record_version": "int",
        "topic_id": "string",
    },
    "group_state": {
        "timestamp": "timestamp",
        "group": "string",
        "kind": "string",
        "generation": "int",
        "protocol_type": "string",
        "protocol": "string",
        "leader": "string",
        "state": "string",
        "members": [_MEMBER_COLUMNS],
        "log_offset": "bigint",
        "log_partition": "int",
    },
    "lag": {
        "timestamp": "timestamp",
        **_KEY_COLUMNS,
        "committed": "bigint",
        "log_end": "bigint",
        "lag": "bigint",
        "lag_ms": "bigint",
        "log_offset": "bigint",
    },
    "rebalances": {
        "timestamp": "timestamp",
        "group": "string",
        "from_generation": "int",
        "to_generation": "int",
        "members_joined": ["string"],
        "members_left": ["string"],
        "duration_ms": "bigint",
        "settled_ms": "bigint",
    },
    "stuck": {
        **_KEY_COLUMNS,
        "committed": "bigint",
        "log_end": "bigint",
        "since": "timestamp",
        "last_commit": "timestamp",
    },
    "problems": {
        "path": "string",
        "topic": "string",
        "partition": "int",
        "position": "bigint",
        "length": "bigint",
        "offset": "bigint",
        "reason": "string",
        "error": "string",
    },
    "groups": {
        "group": "string",
        "kind": "string",
        "state": "string",
        "members": "int",
        "partitions": "int",
        "commits": "bigint",
        "first_commit": "timestamp",
        "last_commit": "timestamp",
        "rebalances": "bigint",
        "lag": "bigint",
        "unknown_lags": "int",
        "stuck": "int",
        "known_lag": "bigint",
    },
    "partitions": {
        **_KEY_COLUMNS,
        "committed": "bigint",
        "log_end": "bigint",
        "lag": "bigint",
        "is_assigned": "boolean",
    },
    "lag_over_time": {
        "timestamp": "timestamp",
        "group": "string",
        "topic": "string",
        "lag": "bigint",
        "partitions": "int",
        "unknown_lags": "int",
        "known_lag": "bigint",
        "missing_logs": "int",
    },
    "commit_rate": {"timestamp": "timestamp", "group": "string", "commits": "bigint"},
    "growth": {
        "record_type": "string",
        **_KEY_COLUMNS,
        "member": "string",
        "records": "bigint",
        "tombstones": "bigint",
        "bytes": "bigint",
        "log_partition": "int",
    },
    "history": {
        "log_partition": "int",
        "path": "string",
        "bytes": "bigint",
        "first_offset": "bigint",
        "end_offset": "bigint",
        "first_timestamp": "timestamp",
        "last_timestamp": "timestamp",
        "complete_from_offset": "bigint",
        "complete_from": "timestamp",
        "records": "bigint",
        "commits": "bigint",
        "aborted_commits": "bigint",
        "pending_commits": "bigint",
        "problems": "bigint",
    },
}
"""Column types by table name and column name."""


def _make_row_type(table: str) -> Any:
    return namedtuple(table, COLUMNS[table])


GroupRow = _make_row_type("groups")
GrowthRow = _make_row_type("growth")
HistoryRow = _make_row_type("history")
PartitionRow = _make_row_type("partitions")
RebalanceRow = _make_row_type("rebalances")
StuckRow = _make_row_type("stuck")
TopicLagRow = _make_row_type("lag_over_time")


def make_schema_of(name: str) -> Any:
    """Return the Arrow schema of the table ``name``."""
    return make_arrow_schema(COLUMNS[name])


def make_table_of(name: str, rows: Sequence[tuple[Any, ...]]) -> Any:
    """Convert rows of the table ``name`` to an Arrow table.

    Timestamps in the rows are milliseconds, and -1 or None if they are unknown.
    """
    import pyarrow

    schema = make_schema_of(name)
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [
        make_timestamps(values)
        if pyarrow.types.is_timestamp(column_type)
        else pyarrow.array(values, column_type)
        for values, column_type in zip(columns, schema.types, strict=True)
    ]
    return pyarrow.table(arrays, schema=schema)


def make_timestamps(milliseconds: Any) -> Any:
    """Convert milliseconds to a timestamp column. Negative values become null."""
    import pyarrow
    from pyarrow import compute

    times = pyarrow.array(milliseconds, pyarrow.int64())
    valid_times = compute.if_else(compute.greater_equal(times, 0), times, None)
    in_milliseconds = valid_times.cast(pyarrow.timestamp("ms", tz="UTC"))
    return in_milliseconds.cast(pyarrow.timestamp("us", tz="UTC"))


def read_milliseconds(timestamps: Any) -> Any:
    """Convert a timestamp column to milliseconds since 1970. Null values are kept."""
    import pyarrow

    return timestamps.cast(pyarrow.timestamp("ms", tz="UTC")).cast(pyarrow.int64())


def open_rows_of(name: str, path: str) -> AbstractContextManager[RowWriter]:
    """Create a Parquet file of the table ``name``, and write individual rows to it."""
    return open_rows(path, make_schema_of(name), partial(make_table_of, name))


def read_back(name: str, paths: Iterable[str], columns: Iterable[str]) -> Any:
    """Read columns of the table ``name`` from Parquet files that tasks have written.

    The rows are in the order of ``paths``.
    """
    import pyarrow.parquet

    columns = list(columns)
    fields = [make_schema_of(name).field(column) for column in columns]
    tables = [pyarrow.schema(fields).empty_table()]
    for path in paths:
        file = pyarrow.parquet.ParquetFile(path)
        # Old pyarrow versions cannot read Parquet files without row groups.
        if file.metadata.num_row_groups:
            tables.append(file.read(columns=columns).select(columns))
    return pyarrow.concat_tables(tables)
