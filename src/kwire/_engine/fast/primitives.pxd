# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Primitive types of the protocol, each with a reader and a writer.

A reader takes a ``Cursor`` and returns a new reference, or NULL after it has stored a
fault code. A writer takes a ``Writer`` and a value, which it checks, and returns False
after an error. ``compact`` selects the encoding of a length: in flexible versions an
unsigned varint of n + 1 (0 for null), otherwise an int16 or int32 (-1 for null). The
fields of messages are handled in ``decoder.pyx`` and ``encoder.pyx``.

Twin: ``pure/primitives.py``. Differs from its twin in: errors are fault codes, and
``get_fixed`` and ``put_fixed`` do not check bounds, because their callers have already
checked a run of several fields.

Only in Cython: ``get_fixed``, ``make_fixed``, ``put_fixed``, ``store_fixed``,
``make_text``, ``copy_text``, ``note_utf8``, ``write_null``, ``as_int``, ``as_int32``,
``as_large_int``, ``write_raw``.
"""

from libc.stdint cimport (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    int8_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.string cimport memcpy

from kwire._engine.fast.big_endian cimport *
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.program cimport *
from kwire._engine.fast.python_api cimport *
from kwire._engine.fast.uuids cimport make_uuid, uuid_halves
from kwire._engine.fast.writer cimport *

cdef enum:
    LONGEST_STRING = 32767
    # Maximum number of bytes or elements that both encodings of a length can represent.
    LARGEST = 2147483646


cdef inline int64_t read_length(
    Cursor* cursor, bint compact, int classic_size
) noexcept nogil:
    """Read the length of a string, bytes or array. -1 means null.

    Shape: UNSIGNED_VARINT (n + 1), or INT16/INT32 of ``classic_size`` bytes. Any other
    negative length is an error at its first byte. A lenient cursor treats it as null.
    """
    cdef const uint8_t* start = cursor.at
    cdef int64_t length
    if compact:
        length = <int64_t>read_unsigned_varint(cursor) - 1
        if length > <int64_t>LARGEST + 1 and cursor.lenient:
            return -1
        return length
    length = read_int16(cursor) if classic_size == 2 else read_int32(cursor)
    if length < -1:
        if not cursor.lenient:
            note(cursor, BAD_LENGTH, start, length)
        return -1
    return length


cdef inline PyObject* read_string(Cursor* cursor, bint compact, bint nullable) noexcept:
    """Read a STRING or COMPACT_STRING. The result is None for null.

    Null is an error unless ``nullable``. A length over 32767 bytes is an error at the
    length, and invalid UTF-8 is an error at the first invalid byte. Kafka's reader
    replaces invalid UTF-8, and a lenient cursor does the same.
    """
    cdef const uint8_t* start = cursor.at
    cdef int64_t size = read_length(cursor, compact, 2)
    cdef PyObject* text
    if unlikely(cursor.fault):
        return NULL
    if size < 0:
        if not nullable:
            note(cursor, UNEXPECTED_NULL, start, 0)
            return NULL
        return new_ref(NONE)
    if unlikely(size > LONGEST_STRING):
        note(cursor, STRING_TOO_LONG, start, size)
        return NULL
    if not require(cursor, <uint64_t>size):
        return NULL
    text = make_text(
        cursor.at, <Py_ssize_t>size, "kwire-java" if cursor.lenient else "strict"
    )
    if unlikely(text == NULL):
        note_utf8(cursor)
        return NULL
    cursor.at += size
    return text


cdef inline PyObject* make_text(
    const uint8_t* at, Py_ssize_t size, const char* on_error
) noexcept:
    """Create a ``str`` from UTF-8. Returns NULL with an exception set if that fails.

    The bytes are copied first and only the copy is checked, because another thread may
    modify the input at the same time.
    """
    cdef PyObject* copy
    cdef PyObject* text
    if size == 0:
        return empty_text()
    copy = PyUnicode_New(size, 127)
    if unlikely(copy == NULL):
        return NULL
    if likely(copy_text(<uint8_t*>PyUnicode_1BYTE_DATA(copy), at, size)):
        return copy
    text = PyUnicode_DecodeUTF8(<char*>PyUnicode_1BYTE_DATA(copy), size, on_error)
    Py_XDECREF(copy)
    return text


cdef inline bint copy_text(
    uint8_t* to, const uint8_t* at, Py_ssize_t size
) noexcept nogil:
    """Copy bytes and return whether they are all ASCII. Each byte is read only once."""
    cdef uint64_t bits = 0
    cdef uint64_t word
    cdef uint32_t half = 0
    cdef uint8_t byte
    while size >= 8:
        memcpy(&word, at, 8)
        word = once(word)
        memcpy(to, &word, 8)
        bits |= word
        at += 8
        to += 8
        size -= 8
    if size >= 4:
        memcpy(&half, at, 4)
        half = <uint32_t>once(half)
        memcpy(to, &half, 4)
        at += 4
        to += 4
        size -= 4
        bits |= half
    while size > 0:
        byte = <uint8_t>load_byte(at)
        to[0] = byte
        bits |= byte
        at += 1
        to += 1
        size -= 1
    return bits & <uint64_t>0x8080808080808080 == 0


cdef inline PyObject* read_bytes(Cursor* cursor, bint compact, bint nullable) noexcept:
    """Read BYTES, COMPACT_BYTES or RECORDS. Null is an error unless ``nullable``."""
    cdef const uint8_t* start = cursor.at
    cdef int64_t size = read_length(cursor, compact, 4)
    if unlikely(cursor.fault):
        return NULL
    if size < 0:
        if not nullable:
            note(cursor, UNEXPECTED_NULL, start, 0)
            return NULL
        return new_ref(NONE)
    if not require(cursor, <uint64_t>size):
        return NULL
    start = cursor.at
    cursor.at += size
    if cursor.view != NULL:
        return part_of_view(cursor.view, start - cursor.start, <Py_ssize_t>size)
    return PyBytes_FromStringAndSize(<const char*>start, <Py_ssize_t>size)


cdef inline PyObject* read_fixed(Cursor* cursor, int op) noexcept:
    """Read one integer, BOOLEAN, FLOAT64 or UUID."""
    if not require(cursor, size_of(op)):
        return NULL
    return get_fixed(cursor, op)


cdef inline PyObject* get_fixed(Cursor* cursor, int op) noexcept:
    """Consume one fixed-size value. The caller must have checked the bounds."""
    cursor.at += size_of(op)
    return make_fixed(cursor.at - size_of(op), op)


cdef inline PyObject* make_fixed(const uint8_t* at, int op) noexcept:
    """Create one fixed-size value from its bytes."""
    cdef uint64_t raw
    cdef double real
    if op == OP_BOOL:
        return new_ref(TRUE if at[0] else FALSE)
    if op == OP_INT8:
        return int_of(<int8_t>load_byte(at))
    if op == OP_INT16:
        return int_of(load_int16(at))
    if op == OP_UINT16:
        return int_of(<uint16_t>load_int16(at))
    if op == OP_INT32:
        return int_of(load_int32(at))
    if op == OP_UINT32:
        return PyLong_FromUnsignedLong(<uint32_t>load_int32(at))
    if op == OP_INT64:
        return int_of(load_int64(at))
    if op == OP_FLOAT64:
        raw = <uint64_t>load_int64(at)
        memcpy(&real, &raw, 8)
        return PyFloat_FromDouble(real)
    return make_uuid(<uint64_t>load_int64(at), <uint64_t>load_int64(at + 8))


cdef inline Py_ssize_t read_count(
    Cursor* cursor, bint compact, bint nullable, Py_ssize_t least
) noexcept nogil:
    """Read the count of an array whose elements have at least ``least`` bytes each.

    -1 means null. The count is rejected at its first byte, before anything is
    allocated, if so many elements cannot fit into the remaining bytes, or if it exceeds
    the limit of the cursor.
    """
    cdef const uint8_t* start = cursor.at
    cdef int64_t count = read_length(cursor, compact, 4)
    if unlikely(cursor.fault):
        return -1
    if count < 0:
        if not nullable:
            note(cursor, UNEXPECTED_NULL, start, 0)
        return -1
    if unlikely(count > (cursor.end - cursor.at) // least):
        note(cursor, BAD_COUNT, start, count)
        return -1
    if unlikely(count > cursor.max_elements):
        note(cursor, TOO_MANY_ELEMENTS, start, count)
        return -1
    return <Py_ssize_t>count


cdef inline void note_utf8(Cursor* cursor) noexcept:
    """Convert the pending UnicodeDecodeError to a fault at the first invalid byte."""
    cdef PyObject* kind
    cdef PyObject* value
    cdef PyObject* trace
    cdef Py_ssize_t start = 0
    PyErr_Fetch(&kind, &value, &trace)
    PyErr_NormalizeException(&kind, &value, &trace)
    if PyErr_GivenExceptionMatches(kind, PyExc_UnicodeDecodeError):
        PyUnicodeDecodeError_GetStart(value, &start)
        note(cursor, BAD_UTF8, cursor.at + start, 0)
    else:
        cursor.fault = PYTHON_ERROR
    Py_XDECREF(kind)
    Py_XDECREF(value)
    Py_XDECREF(trace)


cdef inline bint write_length(
    Writer* writer, Py_ssize_t length, bint compact, int classic_size
) noexcept:
    """Write the length of a string, bytes or array. -1 means null."""
    if compact:
        return write_unsigned_varint(writer, <uint32_t>(length + 1))
    if unlikely(not ensure(writer, classic_size)):
        return False
    if classic_size == 2:
        store_int16(writer.at, <uint16_t>length)
    else:
        store_int32(writer.at, <uint32_t>length)
    writer.at += classic_size
    return True


cdef inline bint write_string(
    Writer* writer, PyObject* value, bint compact, bint nullable
) noexcept:
    """Write a STRING or COMPACT_STRING of at most 32767 bytes."""
    cdef const char* text
    cdef Py_ssize_t size
    if value == NONE:
        return write_null(writer, compact, 2, nullable)
    if unlikely(not PyUnicode_Check(value)):
        return blame(writer, WRONG_TYPE, value)
    if likely(PyUnicode_IS_COMPACT_ASCII(value)):
        text = <const char*>PyUnicode_1BYTE_DATA(value)
        size = PyUnicode_GET_LENGTH(value)
    else:
        text = PyUnicode_AsUTF8AndSize(value, &size)
        if text == NULL:
            return refuse(writer, NOT_UTF8, value)
    if unlikely(size > LONGEST_STRING):
        return blame(writer, TEXT_TOO_LONG, value)
    return write_length(writer, size, compact, 2) and write_raw(writer, text, size)


cdef inline bint write_bytes(
    Writer* writer, PyObject* value, bint compact, bint nullable
) noexcept:
    """Write BYTES, COMPACT_BYTES or RECORDS from a contiguous bytes-like object."""
    cdef Py_buffer buffer
    cdef bint done
    if PyBytes_CheckExact(value):
        if unlikely(PyBytes_GET_SIZE(value) > LARGEST):
            return blame(writer, TOO_LARGE, value)
        return write_length(
            writer, PyBytes_GET_SIZE(value), compact, 4
        ) and write_raw(writer, PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value))
    if value == NONE:
        return write_null(writer, compact, 4, nullable)
    if not PyObject_CheckBuffer(value):
        return blame(writer, WRONG_TYPE, value)
    if PyObject_GetBuffer(value, &buffer, PyBUF_SIMPLE) < 0:
        writer.expected = "contiguous bytes"
        return refuse(writer, WRONG_TYPE, value)
    if buffer.len > LARGEST:
        done = blame(writer, TOO_LARGE, value)
    else:
        done = write_length(writer, buffer.len, compact, 4) and write_raw(
            writer, <const char*>buffer.buf, buffer.len
        )
    PyBuffer_Release(&buffer)
    return done


cdef inline bint write_null(
    Writer* writer, bint compact, int classic_size, bint nullable
) noexcept:
    """Write null. It is an error if the field is not nullable in this version."""
    if not nullable:
        return blame(writer, NULL_NOT_ALLOWED, NONE)
    return write_length(writer, -1, compact, classic_size)


cdef inline bint write_fixed(Writer* writer, int op, PyObject* value) noexcept:
    """Write one integer, BOOLEAN, FLOAT64 or UUID."""
    return ensure(writer, size_of(op)) and put_fixed(writer, op, value)


cdef inline bint put_fixed(Writer* writer, int op, PyObject* value) noexcept:
    """Write one fixed-size value. ``ensure`` must have provided the capacity."""
    if not store_fixed(writer, writer.at, op, value):
        return False
    writer.at += size_of(op)
    return True


cdef inline bint store_fixed(
    Writer* writer, uint8_t* at, int op, PyObject* value
) noexcept:
    """Store one fixed-size value at an address with sufficient capacity."""
    cdef int64_t number = 0
    cdef double real
    cdef uint64_t raw, high, low
    if op == OP_INT32:
        if not as_int32(writer, value, &number):
            return False
        store_int32(at, <uint32_t>number)
    elif op == OP_INT16:
        if not as_int(writer, value, -32768, 32767, &number):
            return False
        store_int16(at, <uint16_t>number)
    elif op == OP_INT64:
        if not as_int(writer, value, INT64_MIN, INT64_MAX, &number):
            return False
        store_int64(at, <uint64_t>number)
    elif op == OP_BOOL:
        if value != TRUE and value != FALSE:
            return blame(
                writer, NULL_NOT_ALLOWED if value == NONE else WRONG_TYPE, value
            )
        at[0] = value == TRUE
    elif op == OP_INT8:
        if not as_int(writer, value, -128, 127, &number):
            return False
        at[0] = <uint8_t>number
    elif op == OP_UINT16:
        if not as_int(writer, value, 0, 65535, &number):
            return False
        store_int16(at, <uint16_t>number)
    elif op == OP_UINT32:
        if not as_int(writer, value, 0, 4294967295, &number):
            return False
        store_int32(at, <uint32_t>number)
    elif op == OP_FLOAT64:
        if value == NONE:
            return blame(writer, NULL_NOT_ALLOWED, value)
        real = PyFloat_AsDouble(value)
        if real == -1.0 and PyErr_Occurred():
            return refuse(writer, WRONG_TYPE, value)
        memcpy(&raw, &real, 8)
        store_int64(at, raw)
    else:
        if not uuid_halves(value, &high, &low):
            if PyErr_Occurred():
                writer.fault = WRITE_ERROR
                return False
            return blame(
                writer, NULL_NOT_ALLOWED if value == NONE else WRONG_TYPE, value
            )
        store_int64(at, high)
        store_int64(at + 8, low)
    return True


cdef inline bint as_int(
    Writer* writer, PyObject* value, int64_t low, int64_t high, int64_t* number
) noexcept:
    """Convert a value to an integer in a range. The value must have ``__index__``."""
    if likely(is_small_int(value)):
        number[0] = small_int(value)
        if likely(low <= number[0] <= high):
            return True
        return blame(writer, OUT_OF_RANGE, value)
    return as_large_int(writer, value, low, high, number)


cdef inline bint as_int32(Writer* writer, PyObject* value, int64_t* number) noexcept:
    """Convert a value to an int32.

    A small int has at most 30 bits, so it always fits.
    """
    if likely(is_small_int(value)):
        number[0] = small_int(value)
        return True
    return as_large_int(writer, value, INT32_MIN, INT32_MAX, number)


cdef inline bint as_large_int(
    Writer* writer, PyObject* value, int64_t low, int64_t high, int64_t* number
) noexcept:
    """Convert a value to an integer if it is not a small int, or not an int at all."""
    cdef int overflow = 0
    number[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
    if unlikely(number[0] == -1 and not overflow and PyErr_Occurred()):
        return refuse(writer, NULL_NOT_ALLOWED if value == NONE else WRONG_TYPE, value)
    if unlikely(overflow or number[0] < low or number[0] > high):
        return blame(writer, OUT_OF_RANGE, value)
    return True


cdef inline bint write_raw(Writer* writer, const char* data, Py_ssize_t size) noexcept:
    """Write bytes unchanged."""
    if unlikely(not ensure(writer, <uint64_t>size)):
        return False
    memcpy(writer.at, data, <size_t>size)
    writer.at += size
    return True
