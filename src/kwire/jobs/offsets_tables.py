# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of ``offsets``: their columns, and how rows become files.

Rows are tuples in the order of the columns, with times in milliseconds, -1 or None for
an unknown one; a file has microseconds in UTC, as Spark likes them. What the rows mean
is told where they are made, and in docs/offsets.md.
"""

from __future__ import annotations

from .tables import TableWriter, load_pyarrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType
    from typing import Any, Self

_PLACE = {"group": "string", "topic": "string", "partition": "int32"}

COLUMNS = {
    "commits": {
        "timestamp": "time",
        **_PLACE,
        "offset": "int64",
        "leader_epoch": "int32",
        "metadata": "string",
        "expire_timestamp": "time",
        "is_tombstone": "bool",
        "log_offset": "int64",
        "log_partition": "int32",
        "record_version": "int32",
        "topic_id": "string",
    },
    "group_state": {
        "timestamp": "time",
        "group": "string",
        "kind": "string",
        "generation": "int32",
        "protocol_type": "string",
        "protocol": "string",
        "leader": "string",
        "state": "string",
        "members": "members",
        "log_offset": "int64",
        "log_partition": "int32",
    },
    "lag": {
        "timestamp": "time",
        **_PLACE,
        "committed": "int64",
        "log_end": "int64",
        "lag": "int64",
        "lag_ms": "int64",
        "log_offset": "int64",
    },
    "rebalances": {
        "timestamp": "time",
        "group": "string",
        "from_generation": "int32",
        "to_generation": "int32",
        "members_joined": "strings",
        "members_left": "strings",
        "duration_ms": "int64",
        "settled_ms": "int64",
    },
    "stuck": {
        **_PLACE,
        "committed": "int64",
        "log_end": "int64",
        "since": "time",
        "last_commit": "time",
    },
    "problems": {
        "path": "string",
        "topic": "string",
        "partition": "int32",
        "position": "int64",
        "length": "int64",
        "offset": "int64",
        "reason": "string",
        "error": "string",
    },
    "groups": {
        "group": "string",
        "kind": "string",
        "state": "string",
        "members": "int32",
        "partitions": "int32",
        "commits": "int64",
        "first_commit": "time",
        "last_commit": "time",
        "rebalances": "int64",
        "lag": "int64",
        "unknown_lags": "int32",
        "stuck": "int32",
        "known_lag": "int64",
    },
    "partitions": {
        **_PLACE,
        "committed": "int64",
        "log_end": "int64",
        "lag": "int64",
        "is_assigned": "bool",
    },
    "lag_over_time": {
        "timestamp": "time",
        "group": "string",
        "topic": "string",
        "lag": "int64",
        "partitions": "int32",
        "unknown_lags": "int32",
        "known_lag": "int64",
        "missing_logs": "int32",
    },
    "commit_rate": {"timestamp": "time", "group": "string", "commits": "int64"},
    "growth": {
        "record_type": "string",
        **_PLACE,
        "member": "string",
        "records": "int64",
        "tombstones": "int64",
        "bytes": "int64",
        "log_partition": "int32",
    },
    "history": {
        "log_partition": "int32",
        "path": "string",
        "bytes": "int64",
        "first_offset": "int64",
        "end_offset": "int64",
        "first_timestamp": "time",
        "last_timestamp": "time",
        "complete_from_offset": "int64",
        "complete_from": "time",
        "records": "int64",
        "commits": "int64",
        "aborted_commits": "int64",
        "pending_commits": "int64",
        "problems": "int64",
    },
}
"""The columns of each table, with the names of their types."""

_PIECE = 8192
"""Rows that become one batch of a file."""


def schema_of(name: str) -> Any:
    """Make the Arrow schema of a table."""
    arrow = load_pyarrow()
    types = _types(arrow)
    return arrow.schema([(key, types[kind]) for key, kind in COLUMNS[name].items()])


def _types(arrow: Any) -> dict[str, Any]:
    assignment = arrow.struct(
        [
            ("topic", arrow.string()),
            ("topic_id", arrow.string()),
            ("subtopology", arrow.string()),
            ("partitions", arrow.list_(arrow.int32())),
        ]
    )
    member = arrow.struct(
        [
            ("member_id", arrow.string()),
            ("instance_id", arrow.string()),
            ("client_id", arrow.string()),
            ("host", arrow.string()),
            ("epoch", arrow.int32()),
            ("subscriptions", arrow.list_(arrow.string())),
            ("subscribed_regex", arrow.string()),
            ("assignment", arrow.list_(assignment)),
        ]
    )
    return {
        "bool": arrow.bool_(),
        "int32": arrow.int32(),
        "int64": arrow.int64(),
        "members": arrow.list_(member),
        "string": arrow.string(),
        "strings": arrow.list_(arrow.string()),
        "time": arrow.timestamp("us", tz="UTC"),
    }


def table_of(name: str, rows: Sequence[tuple[Any, ...]]) -> Any:
    """Make an Arrow table of rows."""
    arrow = load_pyarrow()
    schema = schema_of(name)
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = []
    for values, field in zip(columns, schema, strict=True):
        if arrow.types.is_timestamp(field.type):
            known = [None if each is None or each < 0 else each for each in values]
            made = arrow.array(known, arrow.timestamp("ms", tz="UTC"))
            arrays.append(made.cast(field.type))
        else:
            arrays.append(arrow.array(values, field.type))
    return arrow.table(arrays, schema=schema)


class RowWriter:
    """One file of a table, which takes its rows one by one."""

    def __init__(self, name: str, path: str) -> None:
        self._name = name
        self._file = TableWriter(path, schema_of(name))
        self._rows: list[tuple[Any, ...]] = []

    def __enter__(self) -> Self:
        self._file.__enter__()
        return self

    def write(self, row: tuple[Any, ...]) -> None:
        """Take one row."""
        self._rows.append(row)
        if len(self._rows) >= _PIECE:
            self._flush()

    def _flush(self) -> None:
        self._file.write(table_of(self._name, self._rows))
        self._rows.clear()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            try:
                self._flush()
            except BaseException as failure:
                self._file.__exit__(type(failure), failure, failure.__traceback__)
                raise
        self._file.__exit__(kind, error, trace)


def write_rows(name: str, path: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Write a file of a table whose rows are all known."""
    with RowWriter(name, path) as writer:
        for row in rows:
            writer.write(row)


def read_back(name: str, paths: Iterable[str], columns: Iterable[str]) -> Any:
    """Read some columns of the files of a table, in the order of ``paths``."""
    arrow = load_pyarrow()
    columns = list(columns)
    fields = [schema_of(name).field(column) for column in columns]
    tables = [arrow.schema(fields).empty_table()]
    for path in paths:
        file = arrow.parquet.ParquetFile(path)
        # Old pyarrow cannot read a file without row groups.
        if file.metadata.num_row_groups:
            tables.append(file.read(columns=columns).select(columns))
    return arrow.concat_tables(tables)
