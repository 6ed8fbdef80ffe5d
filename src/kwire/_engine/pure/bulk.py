# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes numpy arrays of varints.

``encode_*s(values)`` takes an array of integers, the fastest in the type that the
decoder gives: uint32 for unsigned varints, int32 for varints, int64 for varlongs.
``decode_*s(data, count, offset=0)`` gives such an array and the offset (bytes) after
the last value. An error's path names the value: ``[3]``.

Twin: ``fast/bulk.pyx``. Differs from its twin in: faults as exceptions.
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
    """Encode UNSIGNED_VARINTs, one after the other.

    Shape: 1 to 5 bytes each, 7 bits a byte, low bits first.
    Source: ``ByteUtils.writeUnsignedVarint``.
    """
    writer = Writer()
    for value in make_array(values, "uint32", plan.UINT32).tolist():
        write_unsigned_varint(writer, value)
    return bytes(writer.out)


def decode_unsigned_varints(
    data: Buffer, count: int, offset: int = 0
) -> tuple[Any, int]:
    """Decode ``count`` UNSIGNED_VARINTs into a uint32 array.

    Shape: 1 to 5 bytes each, 7 bits a byte, low bits first.
    Source: ``ByteUtils.readUnsignedVarint``.
    """
    return decode_values(data, count, offset, "uint32", read_unsigned_varint)


def encode_varints(values: Any) -> bytes:
    """Encode VARINTs, one after the other.

    Shape: the zigzag form of an int32 in 1 to 5 bytes each.
    Source: ``ByteUtils.writeVarint``.
    """
    writer = Writer()
    for value in make_array(values, "int32", plan.INT32).tolist():
        write_unsigned_varint(writer, (value << 1) ^ (value >> 31))
    return bytes(writer.out)


def decode_varints(data: Buffer, count: int, offset: int = 0) -> tuple[Any, int]:
    """Decode ``count`` VARINTs into an int32 array.

    Shape: the zigzag form of an int32 in 1 to 5 bytes each.
    Source: ``ByteUtils.readVarint``.
    """
    return decode_values(data, count, offset, "int32", read_varint)


def encode_varlongs(values: Any) -> bytes:
    """Encode VARLONGs, one after the other.

    Shape: the zigzag form of an int64 in 1 to 10 bytes each.
    Source: ``ByteUtils.writeVarlong``.
    """
    writer = Writer()
    for value in make_array(values, "int64", plan.INT64).tolist():
        write_unsigned_varlong(writer, (value << 1) ^ (value >> 63))
    return bytes(writer.out)


def decode_varlongs(data: Buffer, count: int, offset: int = 0) -> tuple[Any, int]:
    """Decode ``count`` VARLONGs into an int64 array.

    Shape: the zigzag form of an int64 in 1 to 10 bytes each.
    Source: ``ByteUtils.readVarlong``.
    """
    return decode_values(data, count, offset, "int64", read_varlong)


def make_array(values: Any, dtype: str, code: int) -> Any:
    """Make a contiguous array of one type; ``EncodeError`` for what does not fit."""
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
    """Read ``count`` values into an array."""
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
    """Import numpy, which only these functions need."""
    try:
        import numpy
    except ImportError:
        raise ImportError(
            "the bulk functions of kwire.messages.wire require numpy;"
            " pip install kwire[numpy]"
        ) from None
    return numpy
