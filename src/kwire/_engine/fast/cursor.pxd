# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read cursor: a position in the input, the end of the input, and the bounds check.

Every read first calls ``require``, which compares the requested byte count with the
remaining byte count, before the position changes. This file reads only integers and
varints. ``primitives.pxd`` reads the other types, ``decoder.pyx`` reads fields.

Twin: ``pure/cursor.py``. Differs from its twin in: the position is a pointer instead of
an offset, and an error is a fault code in the cursor instead of a ``CursorFault``
exception. No function here raises. After an error a function returns 0, which has no
meaning, so the caller must check ``cursor.fault``.

Only in Cython: ``note``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from kwire._engine.fast.big_endian cimport *

cdef enum:
    # Fault codes from errors.py. A test checks that both lists are equal.
    TRUNCATED = 1
    BAD_LENGTH = 2
    BAD_COUNT = 3
    STRING_TOO_LONG = 4
    BAD_VARINT = 5
    BAD_VARLONG = 6
    UNEXPECTED_NULL = 7
    BAD_UTF8 = 8
    BAD_MARKER = 9
    TAG_OUT_OF_ORDER = 10
    TAG_NOT_IN_VERSION = 11
    TRAILING_BYTES = 12
    FRAME_TOO_LARGE = 13
    BAD_BATCH_SIZE = 14
    BAD_MAGIC = 15
    BAD_CRC = 16
    BAD_RECORD_COUNT = 17
    BAD_CODEC = 18
    NULL_WRAPPER = 19
    EMPTY_WRAPPER = 20
    BAD_INNER_MESSAGE = 21
    BAD_WRAPPER_OFFSET = 22
    TOO_MANY_RECORDS = 23
    COLUMN_TOO_LARGE = 24
    INPUT_CHANGED = 25
    TOO_MANY_ELEMENTS = 26
    TOO_MANY_TAGS = 27
    CALL_TOO_LARGE = 28
    BAD_RECORD = 29
    # The input is not the cause: a Python exception is set.
    PYTHON_ERROR = -1

cdef struct Cursor:
    const uint8_t* at
    const uint8_t* end
    const uint8_t* start
    int fault
    int64_t fault_offset
    int64_t fault_detail
    bint lenient
    # Maximum number of elements in an array, and of tagged fields in a tag section.
    int64_t max_elements
    int64_t max_tags
    # Borrowed reference to a memoryview of the input if bytes fields are returned as
    # memoryviews, otherwise NULL.
    PyObject* view


cdef inline void note(
    Cursor* cursor, int fault, const uint8_t* where, int64_t detail
) noexcept nogil:
    """Store the first fault of a cursor with its position in the input."""
    cursor.fault = fault
    cursor.fault_offset = where - cursor.start
    cursor.fault_detail = detail


cdef inline bint require(Cursor* cursor, uint64_t size) noexcept nogil:
    """Check that ``size`` bytes remain. This is the only bounds check of the cursor.

    The fault offset is the end of the input.
    """
    # Always compare 64-bit numbers: a size in the input can exceed the address space of
    # a 32-bit machine.
    cdef uint64_t left = <uint64_t>(cursor.end - cursor.at)
    if unlikely(size > left):
        note(cursor, TRUNCATED, cursor.end, <int64_t>(size - left))
        return False
    return True


cdef inline uint8_t read_uint8(Cursor* cursor) noexcept nogil:
    """Read one unsigned byte."""
    cdef uint8_t value
    if not require(cursor, 1):
        return 0
    value = <uint8_t>load_byte(cursor.at)
    cursor.at += 1
    return value


cdef inline int16_t read_int16(Cursor* cursor) noexcept nogil:
    """Read a big-endian int16."""
    if not require(cursor, 2):
        return 0
    cursor.at += 2
    return load_int16(cursor.at - 2)


cdef inline int32_t read_int32(Cursor* cursor) noexcept nogil:
    """Read a big-endian int32."""
    if not require(cursor, 4):
        return 0
    cursor.at += 4
    return load_int32(cursor.at - 4)


cdef inline uint32_t read_unsigned_varint(Cursor* cursor) noexcept nogil:
    """Read an UNSIGNED_VARINT: 1 to 5 bytes with 7 bits each, lowest bits first.

    A value with more than 32 bits is an error at its first byte. Kafka's reader
    silently ignores the bits of a fifth byte above 0x0f, and a lenient cursor does the
    same. If the fifth byte is not the last one, both report an error.

    This function is the reference implementation. Hot loops contain copies of it:
    ``bulk.read_ints``, ``record_walk.take_raw``,
    ``record_fast_lane._read_long_varint``, ``emitter.compact_length``.

    Source: ``ByteUtils.readUnsignedVarint``.
    """
    cdef const uint8_t* start = cursor.at
    cdef uint32_t byte = read_uint8(cursor)
    cdef uint32_t value = byte & 0x7F
    cdef int shift
    if likely(byte < 0x80):
        return byte
    for shift in range(7, 28, 7):
        byte = read_uint8(cursor)
        if cursor.fault:
            return 0
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
    byte = read_uint8(cursor)
    if cursor.fault:
        return 0
    if byte > 0x0F and (byte >= 0x80 or not cursor.lenient):
        note(cursor, BAD_VARINT, start, 0)
        return 0
    return value | (byte & 0x0F) << 28


cdef inline uint64_t read_unsigned_varlong(Cursor* cursor) noexcept nogil:
    """Read an unsigned varint with up to 64 bits: 1 to 10 bytes.

    A value with more than 64 bits is an error at its first byte.

    Source: ``ByteUtils.readUnsignedVarlong``.
    """
    cdef const uint8_t* start = cursor.at
    cdef uint64_t byte = read_uint8(cursor)
    cdef uint64_t value = byte & 0x7F
    cdef int shift
    if likely(byte < 0x80):
        return byte
    for shift in range(7, 63, 7):
        byte = read_uint8(cursor)
        if cursor.fault:
            return 0
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
    byte = read_uint8(cursor)
    if cursor.fault:
        return 0
    if byte > 0x01:
        note(cursor, BAD_VARLONG, start, 0)
        return 0
    return value | byte << 63
