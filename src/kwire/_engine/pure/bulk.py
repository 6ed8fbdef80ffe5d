# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes numpy arrays of varints.

``encode_*s(values)`` encodes an array of integers. It is fastest if the array has the
type that the decoder returns: uint32 for unsigned varints, int32 for varints, int64 for
varlongs. ``decode_*s(data, count, offset=0)`` returns such an array and the offset
(bytes) after the last value. The error path contains the value index, for example
``[3]``.

Twin: ``fast/bulk.pyx``. Differs from its twin in: errors are exceptions.
"""

from __future__ import annotations

from ... import errors
from ...schema import plan
from .cursor import Cursor, CursorFault, read_unsigned_varint
from .wire import open_input, read_varint, read_varlong
from .writer import Writer, write_unsigned_varint, write_unsigned_varlong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Buffer

__all__ = [
    "decode_unsigned_varints",
    "decode_varints",
    "decode_varlongs",
    "encode_unsigned_varints",
    "encode_varints",
    "encode_varlongs",
]


def encode_unsigned_varints(values: Any) -> bytes:
    """Encode an array of UNSIGNED_VARINTs.

    Shape: 1 to 5 bytes for each value, with 7 bits per byte, lowest bits first.

    Source: ``ByteUtils.writeUnsignedVarint``.
    """
    writer = Writer()
    for value in make_array(values, "uint32", plan.UINT32).tolist():
        write_unsigned_varint(writer, value)
    return bytes(writer.out)


def decode_unsigned_varints(
    data: Buffer, count: int, offset: int = 0
) -> tuple[Any, int]:
    """Decode ``count`` UNSIGNED_VARINTs as a uint32 array.

    Shape: 1 to 5 bytes for each value, with 7 bits per byte, lowest bits first.

    Source: ``ByteUtils.readUnsignedVarint``.
    """
    return decode_values(data, count, offset, "uint32", read_unsigned_varint)


def encode_varints(values: Any) -> bytes:
    """Encode an array of VARINTs.

    Shape: zigzag-encoded int32 in 1 to 5 bytes for each value.

    Source: ``ByteUtils.writeVarint``.
    """
    writer = Writer()
    for value in make_array(values, "int32", plan.INT32).tolist():
        write_unsigned_varint(writer, (value << 1) ^ (value >> 31))
    return bytes(writer.out)


def decode_varints(data: Buffer, count: int, offset: int = 0) -> tuple[Any, int]:
    """Decode ``count`` VARINTs as an int32 array.

    Shape: zigzag-encoded int32 in 1 to 5 bytes for each value.

    Source: ``ByteUtils.readVarint``.
    """
    return decode_values(data, count, offset, "int32", read_varint)


def encode_varlongs(values: Any) -> bytes:
    """Encode an array of VARLONGs.

    Shape: zigzag-encoded int64 in 1 to 10 bytes for each value.

    Source: ``ByteUtils.writeVarlong``.
    """
    writer = Writer()
    for value in make_array(values, "int64", plan.INT64).tolist():
        write_unsigned_varlong(writer, (value << 1) ^ (value >> 63))
    return bytes(writer.out)


def decode_varlongs(data: Buffer, count: int, offset: int = 0) -> tuple[Any, int]:
    """Decode ``count`` VARLONGs as an int64 array.

    Shape: zigzag-encoded int64 in 1 to 10 bytes for each value.

    Source: ``ByteUtils.readVarlong``.
    """
    return decode_values(data, count, offset, "int64", read_varlong)


def make_array(values: Any, dtype: str, code: int) -> Any:
    """Convert values to a contiguous numpy array of the type ``dtype``.

    ``code`` is the same type in ``plan.py``. Raises ``EncodeError`` if a value is not
    an integer or is out of range. The error path contains the index of the value.
    """
    numpy = load_numpy()
    array = numpy.asarray(values)
    if array.dtype == dtype and array.ndim == 1:
        return numpy.ascontiguousarray(array)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        words = "a flat array of integers"
        raise errors.encode_failure(errors.WRONG_TYPE, words, values, "")
    if array.size:
        low, high = plan.INT_RANGES[code]
        for place in (int(array.argmin()), int(array.argmax())):
            value = int(array[place])
            if not low <= value <= high:
                raise errors.encode_failure(
                    errors.OUT_OF_RANGE, plan.WORDS[code], value, f"[{place}]"
                )
    return array.astype(dtype)


def decode_values(
    data: Buffer,
    count: int,
    offset: int,
    dtype: str,
    read: Callable[[Cursor], int],
) -> tuple[Any, int]:
    """Read ``count`` values into a numpy array of the type ``dtype``.

    Returns the array and the offset after the last value. Raises ``DecodeError`` at the
    first invalid value. The error path contains the index of the value.
    """
    if count < 0:
        raise ValueError(f"count must be 0 or more (got {count})")
    cursor = open_input(data, offset)
    left = cursor.end - cursor.at
    if count > left:
        raise errors.decode_failure(errors.TRUNCATED, count - left, cursor.end, "")
    values = load_numpy().empty(count, dtype)
    for index in range(count):
        try:
            values[index] = read(cursor)
        except CursorFault as fault:
            raise errors.decode_failure(
                fault.code, fault.detail, fault.offset, f"[{index}]"
            ) from None
    return values, cursor.at


def load_numpy() -> Any:
    """Import numpy, which only the functions of this module require.

    Raises ``ImportError`` with installation instructions if numpy is not installed.
    """
    try:
        import numpy
    except ImportError:
        raise ImportError(
            "the bulk functions of kwire.messages.wire require numpy;"
            " pip install kwire[numpy]"
        ) from None
    return numpy
