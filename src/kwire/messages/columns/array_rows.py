# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Selects, splits and joins rows of Arrow arrays.

Rows are only bytes and positions here; other modules interpret them. Arrays may have an
offset and nulls. Positions are numpy integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def as_binary(array: Any) -> pa.BinaryArray:
    """Convert a column of bytes or strings into one binary array.

    Raises ``TypeError`` if the column has another type.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_binary(array.type):
        return array
    try:
        return array.cast(pa.binary())
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise TypeError(
            f"Kafka's bytes must be in a column of binary (got {array.type})"
        ) from None


def is_valid(array: pa.Array) -> np.ndarray:
    """Return a bool array that is True for every row that is not null."""
    if not array.null_count:
        return np.ones(len(array), bool)
    valid: np.ndarray = array.is_valid().to_numpy(zero_copy_only=False)
    return valid


def view_memory(array: pa.BinaryArray) -> tuple[Any, np.ndarray]:
    """Return the data of a binary array, and the offsets of its rows."""
    _, offsets, data = array.buffers()
    if offsets is None or not offsets.size:
        return np.zeros(0, np.uint8), np.zeros(1, np.int32)
    places = np.frombuffer(offsets, np.int32)
    if data is None:
        data = b""
    rows = places[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(data, np.uint8), rows


def row_bytes(array: pa.BinaryArray, row: int) -> bytes:
    """Copy one row, which must not be null."""
    found: bytes = array[int(row)].as_py()
    return found


def read_int16_prefixes(array: pa.BinaryArray, missing: int) -> np.ndarray:
    """Read the INT16 at the start of every row.

    The number is ``missing`` if the row is null or has fewer than two bytes.
    """
    data, places = view_memory(array)
    numbers: np.ndarray = np.full(len(array), missing, np.int64)
    rows = np.flatnonzero((np.diff(places) >= 2) & is_valid(array))
    starts = places[rows]
    high, low = data[starts].astype(np.int8), data[starts + 1]
    numbers[rows] = high.astype(np.int64) << 8 | low
    return numbers


def cut_prefixes(
    array: pa.BinaryArray, positions: np.ndarray, rows: np.ndarray
) -> pa.BinaryArray:
    """Select rows of ``array``, without the bytes before their position.

    * ``positions``: a position per row of ``array``, not only for the selected rows. It
      must not be greater than the row size.
    * ``rows``: numbers of the selected rows.
    """
    if not len(rows):
        return pa.array([], pa.binary())
    data, places = view_memory(array)
    # Split each row into prefix and remainder as alternating rows, and select the
    # remainders.
    turns: np.ndarray = np.empty(2 * len(array) + 1, np.int32)
    turns[::2] = places
    turns[1::2] = places[:-1]
    turns[2 * rows + 1] += positions[rows].astype(np.int32)
    both = pa.Array.from_buffers(
        pa.binary(), 2 * len(array), [None, pa.py_buffer(turns), pa.py_buffer(data)]
    )
    return both.take(pa.array(2 * rows + 1))


def take_rows(array: pa.Array, rows: np.ndarray) -> pa.Array:
    """Select unique, ascending rows. Selecting all rows returns ``array``."""
    return array if len(rows) == len(array) else array.take(pa.array(rows))


def join_rows(
    parts: Iterable[tuple[np.ndarray, pa.Array]], count: int, kind: pa.DataType
) -> pa.Array:
    """Build an array with ``count`` rows from parts, each with its row numbers.

    Rows that belong to no part are null. Row numbers in every part are ascending.
    """
    parts = [part for part in parts if len(part[0])]
    if not parts:
        return pa.nulls(count, kind)
    if len(parts) == 1 and len(parts[0][0]) == count:
        return parts[0][1]
    arrays = [array for _, array in parts]
    size = sum(map(len, arrays))
    places: np.ndarray = np.full(count, size, np.int64)
    start = 0
    for rows, _ in parts:
        places[rows] = np.arange(start, start + len(rows))
        start += len(rows)
    # The additional last row is null. All rows without a part refer to it.
    whole = pa.concat_arrays([*arrays, pa.nulls(1, kind)])
    return whole.take(pa.array(places))


def text_column(texts: Mapping[int, str], count: int) -> pa.StringArray:
    """Build a string column from the texts of some rows. All other rows are null."""
    if not texts:
        return pa.nulls(count, pa.string())
    return pa.array([texts.get(row) for row in range(count)], pa.string())


def make_struct(
    kind: pa.StructType, fields: list[pa.Array], valid: np.ndarray
) -> pa.StructArray:
    """Build structs from their fields. Rows that are not ``valid`` become null."""
    mask = None if valid.all() else pa.array(~valid)
    if not fields:
        # Without fields, pyarrow cannot infer the number of rows.
        packed = pa.py_buffer(np.packbits(valid, bitorder="little"))
        return pa.Array.from_buffers(kind, len(valid), [packed], children=[])
    return pa.StructArray.from_arrays(fields, fields=list(kind), mask=mask)
