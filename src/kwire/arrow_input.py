# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Splits tables of records, and columns of keys, into buffers that the engine reads.

Columns are cast by pyarrow to the types that the engine reads: int64 offsets,
timestamps in ms, binary keys and values, headers as lists of key and value.
"""

from __future__ import annotations

from .errors import EncodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .record_types import TableRows


def split_table(table: Any) -> TableRows:
    """Return the count and the buffers of a table's columns of records.

    Raises ``TypeError`` for another object, or a table without keys and values, and
    ``EncodeError`` with the column as its path for one that cannot be cast.
    """
    pyarrow = _import_pyarrow()
    if not isinstance(table, (pyarrow.RecordBatch, pyarrow.Table)):
        table = _import_table(table, pyarrow)
    names = table.schema.names
    if "key" not in names or "value" not in names:
        raise TypeError(f"columns key and value are required (got {', '.join(names)})")
    binary = pyarrow.binary()
    pair = pyarrow.struct([("key", pyarrow.string()), ("value", binary)])
    kinds = {
        "offset": pyarrow.int64(),
        "timestamp": pyarrow.timestamp("ms", "UTC"),
        "key": binary,
        "value": binary,
        "headers": pyarrow.list_(pair),
    }
    found = {
        name: _column(table, name, kind)
        for name, kind in kinds.items()
        if name in names
    }
    headers = found.get("headers")
    if headers is not None:
        if headers.null_count:
            # A null list may span items all the same; one that is taken has none.
            headers = headers.take(pyarrow.array(range(len(headers))))
        pairs = headers.values
        # Flattened, so that a pair that is null has a key that is null.
        below = (_buffers(column) for column in pairs.flatten())
        headers = (headers.buffers()[1], headers.offset, len(pairs), *below)
    numbers = [
        _buffers(found[name]) if name in found else None
        for name in ("offset", "timestamp")
    ]
    return (
        table.num_rows,
        *numbers,
        _buffers(found["key"]),
        _buffers(found["value"]),
        headers,
    )


def split_keys(keys: Any) -> tuple[int, tuple[Any, ...]]:
    """Return the count and the buffers of a column of bytes or text.

    ``TypeError`` for what is no such column.
    """
    pyarrow = _import_pyarrow()
    words = "keys must be a column of bytes or text"
    try:
        if isinstance(keys, pyarrow.ChunkedArray):
            keys = keys.combine_chunks()
        elif not isinstance(keys, pyarrow.Array):
            is_arrow = hasattr(keys, "__arrow_c_array__")
            keys = pyarrow.array(keys, None if is_arrow else pyarrow.binary())
        if pyarrow.types.is_dictionary(keys.type):
            keys = keys.dictionary_decode()
        if pyarrow.types.is_null(keys.type) or _is_bytes(keys.type):
            keys = keys.cast(pyarrow.binary())
            return len(keys), _buffers(keys)
    except (pyarrow.ArrowException, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise TypeError(f"{words}: {reason}") from None
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


def _import_pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(
            "columns that are not kwire's own require pyarrow: pip install kwire[arrow]"
        ) from None
    return pyarrow


def _column(table: Any, name: str, kind: Any) -> Any:
    """Return a column as one chunk of the type that the engine reads."""
    import pyarrow

    if table.schema.names.count(name) > 1:
        raise EncodeError(f"several columns have the name {name}; leave one", name)
    column = table.column(name)
    try:
        if isinstance(column, pyarrow.ChunkedArray):
            column = column.combine_chunks()
        if pyarrow.types.is_timestamp(kind) and pyarrow.types.is_integer(column.type):
            column = column.cast(pyarrow.int64())
            return column.view(kind)
        return column if column.type == kind else column.cast(kind)
    except MemoryError:
        raise
    except pyarrow.ArrowException as error:
        # The first line only: the others name lines of Arrow's own source.
        reason = str(error).partition("\n")[0]
        words = f"the column must be of {kind} (got {column.type}): {reason}"
        raise EncodeError(words, name) from None


def _buffers(array: Any) -> tuple[Any, ...]:
    return (*array.buffers(), array.offset)
