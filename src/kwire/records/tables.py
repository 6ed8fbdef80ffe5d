# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Splits record columns from any Arrow library into buffers that the engine reads.

``arrow_arrays.admit_array`` validates each column before its first use.
"""

from __future__ import annotations

from .._text import escape_line
from ..errors import EncodeError, quote
from ..messages.arrow_arrays import admit_array, describe_arrow_error, load_pyarrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .._engine.record_types import TableRows


_USER = "the columns of another library"


def load_column_types() -> dict[str, Any]:
    """Import pyarrow, and return the types of record columns that the engine reads."""
    pyarrow = load_pyarrow(_USER)
    binary = pyarrow.binary()
    pair = pyarrow.struct([("key", pyarrow.string()), ("value", binary)])
    return {
        "offset": pyarrow.int64(),
        "timestamp": pyarrow.timestamp("ms", "UTC"),
        "key": binary,
        "value": binary,
        "headers": pyarrow.list_(pair),
    }


def import_table(table: Any) -> Any:
    """Import a table from any Arrow library as a pyarrow table or record batch.

    No data is read yet: call ``admit_column`` for each column before its use. Raises
    ``TypeError`` if the object is not a table, and ``EncodeError`` if a column name is
    not valid UTF-8.
    """
    pyarrow = load_pyarrow(_USER)
    if not isinstance(table, (pyarrow.RecordBatch, pyarrow.Table)):
        table = _import_table(table, pyarrow)
    read_column_names(table.schema)
    return table


def read_column_names(schema: Any) -> list[str]:
    """Return a schema's column names. Raises ``EncodeError`` for invalid UTF-8.

    pyarrow decodes the names on every access, and then raises ``UnicodeDecodeError``.
    """
    try:
        names: list[str] = schema.names
    except UnicodeDecodeError as error:
        raise EncodeError(
            f"column names must be UTF-8 (got {quote(error.object)}); rename the column"
        ) from None
    return names


def admit_column(table: Any, name: str) -> Any:
    """Validate and return a column of a table from ``import_table``.

    Raises ``EncodeError`` with the column name as path if the column is invalid, if its
    length differs from the table, or if its name is not unique.
    """
    count = table.schema.names.count(name)
    if count > 1:
        raise EncodeError(
            f"several columns have the name {escape_line(name)}; leave one", name
        )
    column = table.column(name)
    admit_array(column, name)
    if len(column) != table.num_rows:
        raise EncodeError(
            f"the column has {len(column)} rows, and the table {table.num_rows}", name
        )
    return column


def split_table(table: Any) -> TableRows:
    """Return the row count and the buffers of all record columns in a table.

    Raises ``TypeError`` if the object is not a table with keys and values. Raises
    ``EncodeError`` with the column name as path if a column is invalid or cannot be
    cast.
    """
    table = import_table(table)
    names = table.schema.names
    if "key" not in names or "value" not in names:
        raise TypeError(
            "columns key and value are required (got"
            f" {', '.join(map(escape_line, names))})"
        )
    columns = {}
    for name, kind in load_column_types().items():
        if name not in names:
            continue
        column = admit_column(table, name)
        try:
            columns[name] = _combine_chunks(cast_column(column, kind))
        except MemoryError:
            raise
        except load_pyarrow(_USER).ArrowException as error:
            raise EncodeError(
                f"the column must be of {kind} (got {escape_line(str(column.type))}):"
                f" {describe_arrow_error(error)}",
                name,
            ) from None
    return split_columns(table.num_rows, columns)


def split_columns(count: int, columns: Mapping[str, Any]) -> TableRows:
    """Return ``count`` and the buffers of valid columns of ``load_column_types``."""
    import pyarrow

    headers = columns.get("headers")
    if headers is not None:
        if headers.null_count:
            # A null list may still span items. ``take`` returns null lists without
            # items.
            headers = headers.take(pyarrow.array(range(len(headers))))
        pairs = headers.values
        # After flattening, a null pair has a null key.
        below = (_buffers(column) for column in pairs.flatten())
        headers = (headers.buffers()[1], headers.offset, len(pairs), *below)
    offsets, timestamps = (
        _buffers(columns[name]) if name in columns else None
        for name in ("offset", "timestamp")
    )
    return (
        count,
        offsets,
        timestamps,
        _buffers(columns["key"]),
        _buffers(columns["value"]),
        headers,
    )


def cast_column(column: Any, kind: Any) -> Any:
    """Cast a valid column, including integers to timestamps. Raises ArrowException."""
    import pyarrow

    if pyarrow.types.is_timestamp(kind) and pyarrow.types.is_integer(column.type):
        column = column.cast(pyarrow.int64())
    if column.type != kind:
        column = column.cast(kind)
        # pyarrow 26 casts list views to lists with an offsets buffer that is too short.
        column.validate(full=True)
    return column


def _combine_chunks(column: Any) -> Any:
    is_chunked = hasattr(column, "combine_chunks")
    return column.combine_chunks() if is_chunked else column


def split_keys(keys: Any) -> tuple[int, tuple[Any, ...]]:
    """Return the length and the buffers of a column of bytes or strings.

    Raises ``TypeError`` if the object is not such a column, and ``EncodeError`` for
    invalid Arrow data.
    """
    pyarrow = load_pyarrow(_USER)
    words = "keys must be a column of bytes or text"
    try:
        if not isinstance(keys, (pyarrow.Array, pyarrow.ChunkedArray)):
            is_arrow = hasattr(keys, "__arrow_c_array__")
            keys = pyarrow.array(keys, None if is_arrow else pyarrow.binary())
        admit_array(keys)
        keys = _combine_chunks(keys)
        if pyarrow.types.is_dictionary(keys.type):
            keys = keys.dictionary_decode()
        if pyarrow.types.is_null(keys.type) or _is_bytes(keys.type):
            keys = keys.cast(pyarrow.binary())
            return len(keys), _buffers(keys)
    except (pyarrow.ArrowException, TypeError) as error:
        raise TypeError(f"{words}: {describe_arrow_error(error)}") from None
    raise TypeError(f"{words} (got {keys.type})")


def _is_bytes(kind: Any) -> bool:
    return str(kind).removeprefix("large_").removesuffix("_view") in (
        "binary",
        "string",
    )


def _import_table(table: Any, pyarrow: Any) -> Any:
    """Import columns from another library through the Arrow C interface."""
    try:
        if hasattr(table, "__arrow_c_array__"):
            return pyarrow.record_batch(table)
        if hasattr(table, "__arrow_c_stream__"):
            return pyarrow.table(table)
    except MemoryError:
        raise
    except pyarrow.ArrowException as error:
        raise TypeError(f"columns are required (got an array): {error}") from None
    raise TypeError(f"columns are required (got {type(table).__name__})")


def _buffers(array: Any) -> tuple[Any, ...]:
    return (*array.buffers(), array.offset)
