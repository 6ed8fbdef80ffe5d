# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns of ``kafka-log`` and ``kafka-live``, and their types.

Every column is declared once, with Spark's type and its Arrow equivalent. Spark
compares the two schemas exactly. ``record_batches.py`` and ``spark/log/reading.py``
fill the columns.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ...messages.arrow_types import load_arrow_types

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql.types import StructType

    from ..log.options import LogOptions

_RECORDS = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
}
_HEADERS = {"headers": "array<struct<key:string,value:binary>>"}
_OF_BATCH = {
    "batch_position": "bigint",
    "base_offset": "bigint",
    "magic": "tinyint",
    "attributes": "smallint",
    "partition_leader_epoch": "int",
    "producer_id": "bigint",
    "producer_epoch": "smallint",
    "base_sequence": "int",
}
_FILE_PATH = {"file_path": "string"}
_CORRUPT = (
    "struct<path:string,position:bigint,length:bigint,reason:string,bytes:binary>"
)
_BATCHES = {
    "topic": "string",
    "partition": "int",
    "base_offset": "bigint",
    "last_offset": "bigint",
    "record_count": "int",
    "position": "bigint",
    "size": "bigint",
    "magic": "tinyint",
    "compression": "string",
    "timestamp_type": "int",
    "base_timestamp": "timestamp",
    "max_timestamp": "timestamp",
    "partition_leader_epoch": "int",
    "producer_id": "bigint",
    "producer_epoch": "smallint",
    "base_sequence": "int",
    "is_transactional": "boolean",
    "is_control": "boolean",
    "file_path": "string",
}
_PROBLEMS = {
    "path": "string",
    "topic": "string",
    "partition": "int",
    "position": "bigint",
    "length": "bigint",
    "reason": "string",
    "last_good_offset": "bigint",
    "next_good_offset": "bigint",
}
_DETAIL = {"detail": "string"}
_INDEX = {
    "topic": "string",
    "partition": "int",
    "index": "string",
    "offset": "bigint",
    "position": "bigint",
    "timestamp": "timestamp",
    "producer_id": "bigint",
    "first_offset": "bigint",
    "path": "string",
}

_CHOICES = {
    "records": (_RECORDS, _RECORDS | _HEADERS | _OF_BATCH | _FILE_PATH),
    "batches": (_BATCHES, _BATCHES),
    "problems": (_PROBLEMS, _PROBLEMS | _DETAIL),
    "index": (_INDEX, _INDEX),
}
"""Default columns and all available columns of every view."""

VIEWS = tuple(_CHOICES)

BATCH_COLUMNS = frozenset(_OF_BATCH)


class Layout(NamedTuple):
    """Ordered columns of a reader, including the column of corrupt regions.

    * ``columns``: Spark types by column name.
    * ``corrupt``: name of the column that contains corrupt regions, or None if the
      layout does not have this column.
    """

    columns: dict[str, str]
    corrupt: str | None

    @property
    def ddl(self) -> str:
        """Columns and types of this layout, in the notation of Spark schemas (DDL)."""
        quoted = {name.replace("`", "``"): kind for name, kind in self.columns.items()}
        return ", ".join(f"`{name}` {kind}" for name, kind in quoted.items())


def default_layout(options: LogOptions) -> Layout:
    """Return the columns that the options request."""
    columns = dict(_CHOICES[options.view][0])
    _check_name(options)
    corrupt = None
    if options.view == "records":
        if options.include_headers:
            columns |= _HEADERS
        if options.include_batch_columns:
            columns |= _OF_BATCH
        if options.include_file_path:
            columns |= _FILE_PATH
    if options.view in ("records", "batches") and options.names_corrupt_record:
        corrupt = options.corrupt_record
        columns[corrupt] = _CORRUPT
    return Layout(columns, corrupt)


def chosen_layout(options: LogOptions, wanted: Iterable[tuple[str, str]]) -> Layout:
    """Return the columns of a user's schema, which contains (name, Spark type) pairs.

    Raises ``ValueError`` if the view does not have a column, or has it with another
    type.
    """
    types_by_name = dict(_CHOICES[options.view][1])
    _check_name(options)
    if options.view in ("records", "batches"):
        types_by_name[options.corrupt_record] = _CORRUPT
    columns = _choose_columns(
        "kafka-log", types_by_name, wanted, f" in view={options.view}"
    )
    corrupt = options.corrupt_record if options.corrupt_record in columns else None
    return Layout(columns, corrupt if options.view in ("records", "batches") else None)


def default_live_layout(include_headers: bool) -> Layout:
    """Return the default columns of ``kafka-live``, optionally with ``headers``."""
    return Layout(_RECORDS | _HEADERS if include_headers else dict(_RECORDS), None)


def chosen_live_layout(wanted: Iterable[tuple[str, str]]) -> Layout:
    """Return the columns of a user's ``kafka-live`` schema (see ``chosen_layout``)."""
    return Layout(_choose_columns("kafka-live", _RECORDS | _HEADERS, wanted), None)


def list_columns(source_name: str, schema: StructType) -> list[tuple[str, str]]:
    """Return the columns of a user's schema as (name, Spark type) pairs.

    Raises ``ValueError`` if a column is not nullable.
    """
    for column in schema.fields:
        if not column.nullable:
            raise ValueError(
                f"column {column.name!r} of {source_name} can be null; leave out NOT"
                " NULL"
            )
    return [(column.name, column.dataType.simpleString()) for column in schema.fields]


def _choose_columns(
    source_name: str,
    types_by_name: dict[str, str],
    wanted: Iterable[tuple[str, str]],
    where: str = "",
) -> dict[str, str]:
    columns = {}
    for name, kind in wanted:
        if name not in types_by_name:
            raise ValueError(
                f"{source_name} has no column {name!r}{where}; it has "
                + ", ".join(types_by_name)
            )
        if kind != types_by_name[name]:
            raise ValueError(
                f"column {name!r} of {source_name} must be {types_by_name[name]} (got"
                f" {kind})"
            )
        columns[name] = kind
    if not columns:
        raise ValueError(
            f"a schema of {source_name} must have one column or more (got none)"
        )
    return columns


def _check_name(options: LogOptions) -> None:
    """Raise ``ValueError`` if the name of the corrupt-record column is not unique."""
    name = options.corrupt_record
    if not name or name.lower() in map(str.lower, _CHOICES[options.view][1]):
        raise ValueError(
            "columnNameOfCorruptRecord must be a name that no column of"
            f" view={options.view} has, such as _corrupt_record (got {name!r})"
        )


@cache
def _arrow_types() -> dict[str, Any]:
    import pyarrow as pa

    types = load_arrow_types()
    text, data, long = types["string"], types["binary"], types["bigint"]
    pair = pa.struct([("key", text), ("value", data)])
    corrupt = [("path", text), ("position", long), ("length", long), ("reason", text)]
    return {
        **types,
        _HEADERS["headers"]: pa.list_(pa.field("element", pair)),
        _CORRUPT: pa.struct([*corrupt, ("bytes", data)]),
    }


def arrow_schema(layout: Layout) -> Any:
    """Return the layout as an Arrow schema that exactly matches Spark's types."""
    import pyarrow as pa

    types = _arrow_types()
    return pa.schema([(name, types[kind]) for name, kind in layout.columns.items()])
