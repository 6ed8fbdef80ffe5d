# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads tables of records to be written: Parquet files, Arrow files and Arrow streams.

    file or pipe -> record columns -> validation -> pieces with limited size

Many rows can share one value in a dictionary, a view or a list. A small file can
therefore describe rows with any size, so columns keep their stored types. A piece has
at most ``MAX_ROWS`` rows, and its keys, values and headers have at most ``MAX_BYTES``
bytes when they are written. A larger row becomes a separate piece.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from ..._text import escape_line
from ...errors import KwireError, quote
from ...messages.arrow_arrays import describe_arrow_error
from ...messages.arrow_types import load_pyarrow
from ...records.tables import admit_column, read_column_names
from .arrow_messages import read_batches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

MAX_ROWS = 1 << 16
MAX_BYTES = 16 << 20

_COLUMNS = ("key", "value", "headers", "timestamp")
_ROWS_OF_DELTA_ENCODING = 16
"""Number of rows to read at a time from columns with delta encoding.

In this encoding, values can share long prefixes, so few rows may require much memory.
"""

_HEADER_BYTES = 16
"""Maximum number of bytes that a record header requires in addition to its key and
value.
"""


def read_parquet(path: str) -> Iterator[Any]:
    """Read a Parquet file as record batches with record columns.

    Raises ``ClickException`` if the file is damaged or has no column ``value``.
    """
    parquet = load_pyarrow("parquet").parquet
    with _explain_errors(path), parquet.ParquetFile(path) as file:
        columns = _choose_columns(file.schema_arrow, path)
        leaves = _find_leaves(file, columns)
        for number in range(file.metadata.num_row_groups):
            for batch in _read_row_group(parquet, path, number, columns, leaves):
                yield from _split_batch(batch)


def read_arrow(path: str | None) -> Iterator[Any]:
    """Read an Arrow file or stream from a file, a pipe or stdin, as record batches.

    Raises ``ClickException`` if the input is damaged or has no column ``value``.
    """
    pyarrow = load_pyarrow("arrow")
    name = path or "stdin"
    with _explain_errors(name), click.open_file(path or "-", "rb") as opened:
        file = cast("BinaryIO", opened)
        columns = None
        for batch in read_batches(file, pyarrow):
            if columns is None:
                columns = _choose_columns(batch.schema, name)
            yield from _split_batch(batch.select(columns))


@contextmanager
def _explain_errors(name: str) -> Iterator[None]:
    """Convert exceptions for a damaged file to a one-line error with the file name."""
    pyarrow = load_pyarrow("tables")
    try:
        yield
    except UnicodeDecodeError as error:
        raise click.ClickException(
            f"{name}: names in the file must be UTF-8 (got {quote(error.object)})"
        ) from None
    except (pyarrow.ArrowException, KwireError, ValueError, LookupError) as error:
        raise click.ClickException(f"{name}: {describe_arrow_error(error)}") from None
    except OSError as error:
        if error.filename is not None:
            raise
        # Read errors from pyarrow have neither an error number nor a file name.
        raise click.ClickException(f"{name}: {describe_arrow_error(error)}") from None
    except (MemoryError, OverflowError):
        raise click.ClickException(
            f"{name}: a size in the file requires more memory than is available"
        ) from None


def _choose_columns(schema: Any, name: str) -> list[str]:
    """Return the names of the record columns in a schema.

    Raises ``ClickException`` if the schema has no column ``value``.
    """
    names = read_column_names(schema)
    columns = [column for column in _COLUMNS if column in names]
    if "value" not in columns:
        raise click.ClickException(
            f"{name}: a column named value is required (got"
            f" {', '.join(map(escape_line, names))})"
        )
    return columns


def _find_leaves(file: Any, columns: list[str]) -> list[str]:
    """Return the Parquet paths of the leaf columns with text or bytes.

    These columns contain the keys and values of records and headers.
    """
    leaves = [file.schema.column(index) for index in range(len(file.schema))]
    return [
        leaf.path
        for leaf in leaves
        if leaf.physical_type == "BYTE_ARRAY" and leaf.path.split(".")[0] in columns
    ]


def _read_row_group(
    parquet: Any, path: str, number: int, columns: list[str], leaves: list[str]
) -> Iterator[Any]:
    """Read the rows of a row group in batches.

    pyarrow reads ``leaves`` as dictionary arrays, so that a shared value is not copied
    for every row. pyarrow does not support this for delta encoding, in which values can
    share their prefixes. Rows with delta encoding are read in small batches instead.
    """
    done = 0
    with parquet.ParquetFile(path, read_dictionary=leaves) as file:
        group = file.metadata.row_group(number)
        size = max(1, group.total_byte_size)
        rows = min(MAX_ROWS, max(1, MAX_BYTES * group.num_rows // size))
        try:
            for batch in file.iter_batches(rows, [number], columns):
                yield batch
                done += batch.num_rows
            return
        except OSError as error:
            if "Not yet implemented" not in str(error):
                raise
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS_OF_DELTA_ENCODING, [number], columns):
            skipped = min(done, batch.num_rows)
            done -= skipped
            yield batch.slice(skipped)


def _split_batch(batch: Any) -> Iterator[Any]:
    """Validate a record batch, and split it into pieces with limited size."""
    import numpy

    for name in batch.schema.names:
        admit_column(batch, name)
    for start in range(0, batch.num_rows, MAX_ROWS):
        rows = batch.slice(start, MAX_ROWS)
        ends = numpy.cumsum(sum(_measure_rows(column) for column in rows.columns))
        first = 0
        while first < rows.num_rows:
            limit = MAX_BYTES + (int(ends[first - 1]) if first else 0)
            end = max(first + 1, int(numpy.searchsorted(ends, limit, "right")))
            yield _trim_lists(rows.slice(first, end - first))
            first = end


def _trim_lists(batch: Any) -> Any:
    """Return a record batch slice that does not retain the headers in other rows.

    This is required before a conversion, because pyarrow casts all items in the
    underlying list array, including rows outside the slice.
    """
    import numpy
    import pyarrow.compute

    if "headers" not in batch.schema.names:
        return batch
    index = batch.schema.names.index("headers")
    column = batch.column(index)
    kinds = {pyarrow.ListArray: "int32", pyarrow.LargeListArray: "int64"}
    if type(column) not in kinds:
        return batch
    counts = pyarrow.compute.list_value_length(column).fill_null(0).to_numpy()
    offsets: NDArray[Any] = numpy.append(0, numpy.cumsum(counts)).astype(
        kinds[type(column)]
    )
    mask = column.is_null() if column.null_count else None
    trimmed = type(column).from_arrays(
        pyarrow.array(offsets), column.flatten(), column.type, mask=mask
    )
    return batch.set_column(index, batch.schema.field(index), trimmed)


def _measure_rows(column: Any) -> NDArray[Any]:
    """Return the maximum bytes per row that a column contributes to a record.

    Null rows have 0 bytes. Types that are not supported in records count as 8 bytes.
    """
    import numpy
    from pyarrow import compute, types

    kind = column.type
    if not len(column):
        return numpy.zeros(0, "int64")
    if hasattr(column, "storage"):
        return _measure_rows(column.storage)
    if types.is_struct(kind):
        nothing: NDArray[Any] = numpy.zeros(len(column), "int64")
        return sum(map(_measure_rows, column.flatten()), nothing)
    if types.is_dictionary(kind):
        sizes: NDArray[Any] = numpy.append(_measure_rows(column.dictionary), 0)
        return sizes[column.indices.cast("int64").fill_null(-1).to_numpy()]
    if types.is_binary_view(kind) or types.is_string_view(kind):
        # In Arrow's view layout, a value is represented by four int32 numbers, of which
        # the first one is its size in bytes.
        sizes = numpy.frombuffer(column.buffers()[1], "int32")[::4][column.offset :]
        sizes = sizes[: len(column)].astype("int64")
        return sizes * column.is_valid().to_numpy(zero_copy_only=False)
    if hasattr(kind, "value_field"):
        counts = compute.list_value_length(column).fill_null(0).to_numpy()
        counts = counts.astype("int64")
        if hasattr(column, "sizes"):
            # Rows in a list view may overlap, so use the largest item size for all
            # items.
            largest = _measure_rows(column.values).max(initial=0)
            return counts * (int(largest) + _HEADER_BYTES)
        sizes = _measure_rows(column.flatten()) + _HEADER_BYTES
        ends = numpy.cumsum(counts)
        totals: NDArray[Any] = numpy.append(0, numpy.cumsum(sizes))
        return totals[ends] - totals[ends - counts]
    if (
        types.is_binary(kind)
        or types.is_string(kind)
        or types.is_large_binary(kind)
        or types.is_large_string(kind)
    ):
        lengths = compute.binary_length(column).fill_null(0).to_numpy()
        return lengths.astype("int64")
    width = kind.byte_width if types.is_fixed_size_binary(kind) else 8
    return numpy.full(len(column), width, "int64")
