# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The read cursor: a position in the input, its end, and the one bounds check.

Every read calls ``require``, which compares the size with the bytes that are left
before the position changes. Only integers and varints are read here; other types are
read in ``primitives.pxd``, fields in ``decoder.pyx``.

Twin: ``pure/cursor.py``. Differs from its twin in: a pointer for an offset, and a
noted fault code for the ``CursorFault`` exception. After a fault the functions return
junk (0) and the caller asks ``cursor.fault``; no function here raises.
C needs for itself: ``note``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from kwire._engine.fast.big_endian cimport *

cdef enum:
    # The fault codes of errors.py; a test compares the two lists.
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
    # No fault of the input: a Python exception is set.
    PYTHON_ERROR = -1

cdef struct Cursor:
    const uint8_t* at
    const uint8_t* end
    const uint8_t* start
    int fault
    int64_t fault_offset
    int64_t fault_detail
    bint lenient
    # Maximum number of elements in an array, and of tagged fields in a section.
    int64_t max_elements
    int64_t max_tags
    # The input as a memoryview, borrowed, if bytes fields shall point into it.
    PyObject* view


cdef inline void note(
    Cursor* cursor, int fault, const uint8_t* where, int64_t detail
) noexcept nogil:
    """Note the first fault of a cursor, at a position in its input."""
    cursor.fault = fault
    cursor.fault_offset = where - cursor.start
    cursor.fault_detail = detail


cdef inline bint require(Cursor* cursor, uint64_t size) noexcept nogil:
    """Check that ``size`` bytes are left. This is the only bounds check.

    The offset of the fault is the end of the input.
    """
    # 64 bits on every machine: a size of the wire may be larger than an address.
    cdef uint64_t left = <uint64_t>(cursor.end - cursor.at)
    if unlikely(size > left):
        note(cursor, TRUNCATED, cursor.end, <int64_t>(size - left))
        return False
    return True


cdef inline uint8_t read_uint8(Cursor* cursor) noexcept nogil:
    """Read one byte, unsigned."""
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
    """Read an UNSIGNED_VARINT: 1 to 5 bytes, 7 bits each, low bits first.

    More than 32 bits are refused at the varint's first byte. Kafka's reader drops
    the bits of a fifth byte above 0x0f in silence, and so does a lenient cursor.
    This is the reference. Hot loops have copies: ``bulk.read_ints``,
    ``record_walk.take_raw``, ``record_fast_lane._read_long_varint``,
    ``emitter.compact_length``.
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
    """Read an unsigned varint of up to 64 bits: 1 to 10 bytes.

    More than 64 bits are refused at the first byte.
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
