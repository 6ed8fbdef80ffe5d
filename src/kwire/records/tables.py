# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Splits columns of records, of any Arrow library, into buffers that the engine reads.

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
    """Import a table of any Arrow library as pyarrow's table or record batch.

    No data is read yet: call ``admit_column`` for each column that is used.
    Raises ``TypeError`` for an object that is not a table, and ``EncodeError`` for
    column names that are not UTF-8.
    """
    pyarrow = load_pyarrow(_USER)
    if not isinstance(table, (pyarrow.RecordBatch, pyarrow.Table)):
        table = _import_table(table, pyarrow)
    read_column_names(table.schema)
    return table


def read_column_names(schema: Any) -> list[str]:
    """Return the column names of a schema. Raises ``EncodeError`` for other than UTF-8.

    pyarrow decodes the names on each access, and raises ``UnicodeDecodeError`` then.
    """
    try:
        names: list[str] = schema.names
    except UnicodeDecodeError as error:
        raise EncodeError(
            f"column names must be UTF-8 (got {quote(error.object)}); rename the column"
        ) from None
    return names


def admit_column(table: Any, name: str) -> Any:
    """Return a column of a table of ``import_table``, after its validation.

    Raises ``EncodeError`` with the name as its path for a column that is not valid, not
    as long as the table, or one of several with the name.
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
    """Return the count and the buffers of a table's columns of records.

    Raises ``TypeError`` for another object, or a table without keys and values, and
    ``EncodeError`` with the column as its path for one that is not valid or cannot be
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
            # A null list may span items all the same; one that is taken has none.
            headers = headers.take(pyarrow.array(range(len(headers))))
        pairs = headers.values
        # Flattened, so that a pair that is null has a key that is null.
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
    """Cast a valid column, integers to timestamps included. Raises ArrowException."""
    import pyarrow

    if pyarrow.types.is_timestamp(kind) and pyarrow.types.is_integer(column.type):
        column = column.cast(pyarrow.int64())
    if column.type != kind:
        column = column.cast(kind)
        # pyarrow 26 casts list views to lists whose buffer of offsets is too short.
        column.validate(full=True)
    return column


def _combine_chunks(column: Any) -> Any:
    is_chunked = hasattr(column, "combine_chunks")
    return column.combine_chunks() if is_chunked else column


def split_keys(keys: Any) -> tuple[int, tuple[Any, ...]]:
    """Return the count and the buffers of a column of bytes or text.

    Raises ``TypeError`` for another object, and ``EncodeError`` for invalid Arrow data.
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
    """Import the columns of another library through the Arrow C interface."""
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
