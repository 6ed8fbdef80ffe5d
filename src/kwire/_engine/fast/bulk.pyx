# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes numpy arrays of varints.

``encode_*s(values)`` encodes an array of integers. It is fastest if the array has the
type that the decoder returns: uint32 for unsigned varints, int32 for varints, int64 for
varlongs. ``decode_*s(data, count, offset=0)`` returns such an array and the offset
(bytes) after the last value. The error path contains the value index, for example
``[3]``.

Twin: ``pure/bulk.py``. Differs from its twin in: errors are fault codes, and the loops
run without the GIL.

Only in Cython: ``read_ints``, ``read_longs``, ``encode_values``, ``put_ints``,
``put_longs``.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from kwire._engine.fast.big_endian cimport likely, load_int32, unlikely
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.python_api cimport (
    PyBuffer_Release,
    PyBytes_AS_STRING,
    PyObject,
    Py_XDECREF,
    _PyBytes_Resize,
    new_bytes,
)

from kwire import errors
from kwire.schema import plan

__all__ = [
    "decode_unsigned_varints",
    "decode_varints",
    "decode_varlongs",
    "encode_unsigned_varints",
    "encode_varints",
    "encode_varlongs",
]

cdef enum:
    UNSIGNED = 0
    ZIGZAG = 1
    ZIGZAG_LONG = 2


def encode_unsigned_varints(values):
    """Encode an array of UNSIGNED_VARINTs.

    Shape: 1 to 5 bytes for each value, with 7 bits per byte, lowest bits first.

    Source: ``ByteUtils.writeUnsignedVarint``.
    """
    return encode_values(make_array(values, "uint32", plan.UINT32), UNSIGNED)


def decode_unsigned_varints(data, Py_ssize_t count, Py_ssize_t offset=0):
    """Decode ``count`` UNSIGNED_VARINTs as a uint32 array.

    Shape: 1 to 5 bytes for each value, with 7 bits per byte, lowest bits first.

    Source: ``ByteUtils.readUnsignedVarint``.
    """
    return decode_values(data, count, offset, "uint32", UNSIGNED)


def encode_varints(values):
    """Encode an array of VARINTs.

    Shape: zigzag-encoded int32 in 1 to 5 bytes for each value.

    Source: ``ByteUtils.writeVarint``.
    """
    return encode_values(make_array(values, "int32", plan.INT32), ZIGZAG)


def decode_varints(data, Py_ssize_t count, Py_ssize_t offset=0):
    """Decode ``count`` VARINTs as an int32 array.

    Shape: zigzag-encoded int32 in 1 to 5 bytes for each value.

    Source: ``ByteUtils.readVarint``.
    """
    return decode_values(data, count, offset, "int32", ZIGZAG)


def encode_varlongs(values):
    """Encode an array of VARLONGs.

    Shape: zigzag-encoded int64 in 1 to 10 bytes for each value.

    Source: ``ByteUtils.writeVarlong``.
    """
    return encode_values(make_array(values, "int64", plan.INT64), ZIGZAG_LONG)


def decode_varlongs(data, Py_ssize_t count, Py_ssize_t offset=0):
    """Decode ``count`` VARLONGs as an int64 array.

    Shape: zigzag-encoded int64 in 1 to 10 bytes for each value.

    Source: ``ByteUtils.readVarlong``.
    """
    return decode_values(data, count, offset, "int64", ZIGZAG_LONG)


cdef object make_array(object values, str dtype, int code):
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


cdef object decode_values(
    object data, Py_ssize_t count, Py_ssize_t offset, str dtype, int form
):
    """Read ``count`` values into a numpy array of the type ``dtype``.

    Returns the array and the offset after the last value. Raises ``DecodeError`` at the
    first invalid value. The error path contains the index of the value.
    """
    cdef Py_buffer source, target
    cdef Cursor cursor
    cdef Py_ssize_t done
    if count < 0:
        raise ValueError(f"count must be 0 or more (got {count})")
    get_input(data, &source)
    try:
        if not 0 <= offset <= source.len:
            raise ValueError(
                f"offset must be 0 to {source.len}, the length of the input"
                f" (got {offset})"
            )
        cursor.fault = 0
        cursor.lenient = False
        cursor.start = <const uint8_t*>source.buf
        cursor.at = cursor.start + offset
        cursor.end = cursor.start + source.len
        if count > source.len - offset:
            raise errors.decode_failure(
                errors.TRUNCATED, count - (source.len - offset), source.len, ""
            )
        values = load_numpy().empty(count, dtype)
        get_input(values, &target)
        with nogil:
            if form == ZIGZAG_LONG:
                done = read_longs(&cursor, <int64_t*>target.buf, count)
            else:
                done = read_ints(&cursor, <uint32_t*>target.buf, count, form)
        PyBuffer_Release(&target)
        if cursor.fault:
            raise errors.decode_failure(
                cursor.fault, cursor.fault_detail, cursor.fault_offset, f"[{done}]"
            )
        return values, cursor.at - cursor.start
    finally:
        PyBuffer_Release(&source)


cdef Py_ssize_t read_ints(
    Cursor* cursor, uint32_t* out, Py_ssize_t count, int form
) noexcept nogil:
    """Read 32-bit varints. Returns the number of values before an error."""
    cdef Py_ssize_t index
    cdef uint32_t raw, four
    for index in range(count):
        # A varint of up to four bytes needs no further check if five bytes remain.
        four = <uint32_t>0x80808080
        if likely(cursor.end - cursor.at >= 5):
            four = <uint32_t>load_int32(cursor.at)
        if unlikely(four & <uint32_t>0x80808080 == <uint32_t>0x80808080):
            raw = read_unsigned_varint(cursor)
            if cursor.fault:
                return index
        else:
            raw = four >> 24 & 0x7F
            cursor.at += 1
            if four & <uint32_t>0x80000000:
                raw |= (four >> 16 & 0x7F) << 7
                cursor.at += 1
                if four & 0x800000:
                    raw |= (four >> 8 & 0x7F) << 14
                    cursor.at += 1
                    if four & 0x8000:
                        raw |= (four & 0x7F) << 21
                        cursor.at += 1
        out[index] = raw >> 1 ^ (0 - (raw & 1)) if form == ZIGZAG else raw
    return count


cdef Py_ssize_t read_longs(
    Cursor* cursor, int64_t* out, Py_ssize_t count
) noexcept nogil:
    """Read 64-bit varints. Returns the number of values before an error."""
    cdef Py_ssize_t index
    cdef uint64_t raw
    for index in range(count):
        raw = read_unsigned_varlong(cursor)
        if unlikely(cursor.fault):
            return index
        out[index] = <int64_t>(raw >> 1 ^ (0 - (raw & 1)))
    return count


cdef object encode_values(object array, int form):
    """Encode all values in an array that already has the right type."""
    cdef Py_buffer source
    cdef PyObject* out
    cdef Py_ssize_t count, size
    cdef uint8_t* start
    get_input(array, &source)
    try:
        count = source.len // source.itemsize
        out = new_bytes(<int64_t>count * (10 if form == ZIGZAG_LONG else 5))
        if out == NULL:
            raise MemoryError
        start = <uint8_t*>PyBytes_AS_STRING(out)
        with nogil:
            if form == ZIGZAG_LONG:
                size = put_longs(start, <const uint8_t*>source.buf, count)
            else:
                size = put_ints(start, <const uint8_t*>source.buf, count, form)
    finally:
        PyBuffer_Release(&source)
    if _PyBytes_Resize(&out, size) < 0:
        raise MemoryError
    result = <bytes>out
    Py_XDECREF(out)
    return result


cdef Py_ssize_t put_ints(
    uint8_t* start, const uint8_t* values, Py_ssize_t count, int form
) noexcept nogil:
    """Write 32-bit varints. Returns the number of bytes.

    The output must have a capacity of 5 bytes per value. ``values`` may be at an
    unaligned address, because numpy allows that.
    """
    cdef uint8_t* at = start
    cdef Py_ssize_t index
    cdef uint32_t raw
    for index in range(count):
        memcpy(&raw, values + 4 * index, 4)
        if form == ZIGZAG:
            raw = raw << 1 ^ (0 - (raw >> 31))
        while raw > 0x7F:
            at[0] = <uint8_t>(raw | 0x80)
            at += 1
            raw >>= 7
        at[0] = <uint8_t>raw
        at += 1
    return at - start


cdef Py_ssize_t put_longs(
    uint8_t* start, const uint8_t* values, Py_ssize_t count
) noexcept nogil:
    """Write 64-bit varints. Returns the number of bytes.

    The output must have a capacity of 10 bytes per value.
    """
    cdef uint8_t* at = start
    cdef Py_ssize_t index
    cdef uint64_t raw
    for index in range(count):
        memcpy(&raw, values + 8 * index, 8)
        raw = raw << 1 ^ (0 - (raw >> 63))
        while raw > 0x7F:
            at[0] = <uint8_t>(raw | 0x80)
            at += 1
            raw >>= 7
        at[0] = <uint8_t>raw
        at += 1
    return at - start


cdef object load_numpy():
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
