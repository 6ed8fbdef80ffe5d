# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Validates foreign Arrow arrays before a kernel of pyarrow reads them.

Arrow data consists of offsets, views, dictionary indices and child lengths that point
into memory. The kernels of pyarrow (``cast``, ``take``, ``combine_chunks``) follow them
without a check: an offset that points elsewhere ends the process, or copies other
memory of the process into a record. ``admit_array`` checks all of them. Every array
from outside kwire passes through it before the first kernel, whatever made the array.
The check costs about 1 ns a value, 5 ns a header, and 0.05 ns a byte of text.

The Arrow C data interface transfers addresses without the sizes of the memory there.
The exporter is code of the same process, and no check here can detect a wrong address,
array offset or last offset (the size of the data) of an exported array.
"""

from __future__ import annotations

from .._text import escape_line
from ..errors import EncodeError, LimitExceeded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def load_pyarrow(user: str) -> Any:
    """Import pyarrow. The error names ``user``, who requires it, and the extra."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(
            f"{user} requires pyarrow: pip install kwire[arrow]", name="pyarrow"
        ) from None
    return pyarrow


def admit_array(array: Any, name: str = "") -> None:
    """Validate an array or chunked array completely, before a kernel reads it.

    Raises ``EncodeError`` with ``name``, the name of the column, as its path.
    Source: "Security Considerations" of the Arrow columnar format.
    """
    import pyarrow

    try:
        array.validate(full=True)
        for chunk in array.chunks if hasattr(array, "chunks") else [array]:
            for views in _list_views(chunk):
                _validate_null_views(views)
    except MemoryError:
        raise
    except pyarrow.ArrowException as error:
        raise EncodeError(
            f"the Arrow data of the column is invalid ({describe_arrow_error(error)});"
            " write it again with its library",
            name,
        ) from None


def load_array(array: Any) -> Any:
    """Make one pyarrow array of what a library has for a column, and validate it.

    Accepts pyarrow arrays and chunked arrays, objects with ``__arrow_c_array__`` or
    ``__arrow_c_stream__``, and series of pandas, whose missing values are null.
    """
    import pyarrow

    if isinstance(array, pyarrow.ChunkedArray) and array.num_chunks == 1:
        array = array.chunk(0)
    elif isinstance(array, (pyarrow.Array, pyarrow.ChunkedArray)):
        pass
    elif hasattr(array, "__arrow_c_array__"):
        array = pyarrow.array(array)
    elif hasattr(array, "__arrow_c_stream__"):
        return load_array(pyarrow.chunked_array(array))
    elif type(array).__module__.startswith("pandas."):
        array = pyarrow.array(array, from_pandas=True)
    else:
        raise TypeError(f"an Arrow array is required (got {type(array).__name__})")
    admit_array(array)
    return array


def load_binary_array(array: Any) -> Any:
    """Make one pyarrow array of binary or large binary, as ``load_array`` does.

    Raises ``TypeError`` for an array of another type than binary or text.
    """
    import pyarrow

    array = load_array(array)
    kind = array.type
    types = pyarrow.types
    if types.is_string(kind):
        array = array.cast(pyarrow.binary())
    elif (
        types.is_large_string(kind)
        or types.is_fixed_size_binary(kind)
        or types.is_binary_view(kind)
        or types.is_string_view(kind)
        or types.is_null(kind)
    ):
        array = array.cast(pyarrow.large_binary())
    elif not types.is_binary(kind) and not types.is_large_binary(kind):
        raise TypeError(f"an array of binary is required (got one of {kind})")
    if isinstance(array, pyarrow.ChunkedArray):
        # Chunks of 2 GiB together require 64-bit offsets as one chunk.
        if types.is_binary(array.type) and array.nbytes >= 2**31:
            array = array.cast(pyarrow.large_binary())
        array = array.combine_chunks()
    return array


def load_short_binary_array(array: Any) -> Any:
    """Make one pyarrow array of binary, whose offsets have 32 bits.

    Raises ``LimitExceeded`` if its rows have 2 GiB or more together.
    """
    import pyarrow

    array = load_binary_array(array)
    if pyarrow.types.is_binary(array.type):
        return array
    try:
        return array.cast(pyarrow.binary())
    except pyarrow.ArrowInvalid:
        raise LimitExceeded(
            "the column has 2 GiB of bytes or more; decode it in parts", 0, ""
        ) from None


def _validate_null_views(views: Any) -> None:
    """Validate all rows of an array of views, as if none of them were null.

    ``validate`` skips the views of null rows, but a cast reads them.
    """
    import pyarrow

    kind = pyarrow.binary_view()
    if not getattr(kind, "has_variadic_buffers", False):
        raise ImportError(
            "columns of views with null rows require pyarrow 19 or newer (got"
            f" {pyarrow.__version__}): pip install --upgrade pyarrow"
        )
    buffers = [None, *views.buffers()[1:]]
    array = pyarrow.Array.from_buffers(kind, len(views), buffers, 0, views.offset)
    array.validate(full=True)


def _list_views(array: Any) -> Iterator[Any]:
    """Iterate over the arrays of views with null rows within a valid array."""
    kind = str(array.type)
    if kind.endswith("_view") and not kind.startswith("list"):
        if array.null_count:
            yield array
        return
    if "_view" not in kind and "extension" not in kind:
        return
    parts = [
        getattr(array, name)
        for name in ("storage", "dictionary", "values", "keys", "items")
        if hasattr(array, name)
    ]
    if hasattr(array, "field"):
        parts += map(array.field, range(array.type.num_fields))
    for part in parts:
        yield from _list_views(part)


def describe_arrow_error(error: Exception) -> str:
    """Return the reason of an error of pyarrow as one line.

    The other lines name lines of Arrow's own source. The first one may contain text of
    the data, so control characters are escaped.
    """
    return escape_line(str(error).partition("\n")[0])
