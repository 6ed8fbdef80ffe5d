# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Exports arrays through the Arrow C data interface, with the help of pyarrow.

Without a twin. A consumer releases imported data when it is freed itself, possibly
while an exception propagates. A release callback written in Python would lose this
exception and terminate the process, and ctypes cannot create other callbacks.
Therefore, the memory is wrapped in pyarrow's buffers, whose callbacks do not run Python
code.
"""

from __future__ import annotations

from struct import calcsize

from .arrays import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

try:
    import pyarrow
except ImportError:
    raise ImportError(
        "Arrow arrays of the engine in plain Python require pyarrow:"
        " pip install kwire[arrow]"
    ) from None

# An ArrowArray consists of five int64s and five pointers: buffers, children,
# dictionary, release, private_data.
_POINTER = calcsize("P")
_RELEASE = 5 * 8 + 3 * _POINTER
_STRUCT = _RELEASE + 2 * _POINTER

_TYPES = {
    "b": pyarrow.bool_(),
    "c": pyarrow.int8(),
    "s": pyarrow.int16(),
    "S": pyarrow.uint16(),
    "i": pyarrow.int32(),
    "I": pyarrow.uint32(),
    "l": pyarrow.int64(),
    "g": pyarrow.float64(),
    "u": pyarrow.string(),
    "z": pyarrow.binary(),
    "vz": pyarrow.binary_view(),
    "w:16": pyarrow.binary(16),
    **{
        f"ts{unit[0]}:UTC": pyarrow.timestamp(unit, "UTC")
        for unit in ("s", "ms", "us", "ns")
    },
}


def find_address(view: memoryview) -> int:
    """Return a memoryview's address. It is valid while the memoryview exists."""
    address: int = pyarrow.py_buffer(view).address
    return address


def make_field(array: Array) -> Any:
    """Create a pyarrow field with the name and the type of an array."""
    if array.format == "+s":
        kind = pyarrow.struct([make_field(child) for child in array.children])
    elif array.format == "+l":
        kind = pyarrow.list_(make_field(array.children[0]))
    else:
        kind = _TYPES[array.format]
    return pyarrow.field(array.name, kind, array.nullable, array.metadata)


def make_array(array: Array, kind: Any) -> Any:
    """Create a pyarrow array of the type ``kind`` that uses the memory of an array.

    Raises ``ImportError`` if the array contains views and pyarrow is older than 19.
    """
    buffers = array.buffers
    if array.format == "vz":
        if not getattr(kind, "has_variadic_buffers", False):
            raise ImportError(
                "columns of views of the engine in plain Python require pyarrow 19 or"
                f" newer (got {pyarrow.__version__}): pip install --upgrade pyarrow"
            )
        # Omit the last buffer, which contains the sizes of the variadic buffers.
        # pyarrow computes them itself.
        buffers = buffers[:-1]
    return pyarrow.Array.from_buffers(
        kind,
        array.length,
        [None if each is None else pyarrow.py_buffer(each) for each in buffers],
        array.null_count,
        array.offset,
        [
            make_array(child, kind.field(index).type)
            for index, child in enumerate(array.children)
        ],
    )


def schema_capsule(array: Array) -> Any:
    """Return the type of an array as a capsule with an ``ArrowSchema``."""
    return make_field(array).__arrow_c_schema__()


def array_capsule(array: Array) -> Any:
    """Return the data of an array as a capsule with an ``ArrowArray``."""
    _, made = make_array(array, make_field(array).type).__arrow_c_array__()
    return made


def import_with(array: Array, take: Callable[[int, Any], Any], schema: object) -> Any:
    """Call ``take`` with the address of an ``ArrowArray``.

    If ``take`` does not move the content out of it, the content is released.
    """
    kind = make_field(array).type
    struct = bytearray(_STRUCT)
    address = find_address(memoryview(struct))
    make_array(array, kind)._export_to_c(address)
    try:
        return take(address, schema)
    finally:
        if any(struct[_RELEASE : _RELEASE + _POINTER]):
            pyarrow.Array._import_from_c(address, kind)
