# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Validates foreign Arrow arrays before a pyarrow kernel reads them.

Arrow data contains offsets, views, dictionary indices and child lengths that refer to
memory. pyarrow kernels (``cast``, ``take``, ``combine_chunks``) do not check them. An
invalid offset can therefore crash the process, or copy unrelated process memory into a
record. ``admit_array`` checks all of these values. Every array from outside kwire must
be validated before the first kernel, regardless of its origin. The check takes about 1
ns per value, 5 ns per header, and 0.05 ns per byte of a string.

The Arrow C data interface passes addresses without the sizes of their memory. The
exporter is code in the same process, so no check can detect a wrong address, array
offset or last offset (the data size) in an exported array.
"""

from __future__ import annotations

from .._text import escape_line
from ..errors import EncodeError, LimitExceeded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def load_pyarrow(user: str) -> Any:
    """Import pyarrow.

    If it is not installed, raises ``ImportError`` with the name ``user`` of the code
    that requires it, and with the command that installs it.
    """
    try:
        import pyarrow
    except ImportError:
        raise ImportError(
            f"{user} requires pyarrow: pip install kwire[arrow]", name="pyarrow"
        ) from None
    return pyarrow


def admit_array(array: Any, name: str = "") -> None:
    """Validate an array or chunked array completely, before a kernel reads it.

    Raises ``EncodeError`` with the column ``name`` as its path if the data is invalid.
    Raises ``ImportError`` if a view type with null rows requires a newer pyarrow.
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
    """Convert a column from any library into one validated pyarrow array.

    Accepts pyarrow arrays and chunked arrays, objects with ``__arrow_c_array__`` or
    ``__arrow_c_stream__``, and pandas series, whose missing values become null. A
    result with several chunks remains a chunked array. Raises ``TypeError`` for other
    objects, and ``EncodeError`` if the Arrow data is invalid.
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
    """Convert a column into one array of binary or large binary.

    Accepts the same objects as ``load_array``, and raises the same exceptions. Also
    raises ``TypeError`` if the Arrow type is not binary, string or null.
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
        # Combined chunks with 2 GiB or more require 64-bit offsets.
        if types.is_binary(array.type) and array.nbytes >= 2**31:
            array = array.cast(pyarrow.large_binary())
        array = array.combine_chunks()
    return array


def load_short_binary_array(array: Any) -> Any:
    """Convert a column into one array of binary, which has 32-bit offsets.

    Raises ``LimitExceeded`` if all rows together have 2 GiB or more, and the exceptions
    of ``load_binary_array``.
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
    """Validate all rows of a view array as if none of them were null.

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
    """Iterate over all view arrays with null rows inside a valid array."""
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
    """Return the reason of a pyarrow error in one line.

    The following lines refer to Arrow's own source code. The first line may contain
    strings from the data, so control characters are escaped.
    """
    return escape_line(str(error).partition("\n")[0])
