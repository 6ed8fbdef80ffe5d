# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The write buffer, which grows at its end, and the writers of varints.

Small messages are written on the stack of the call; larger ones straight into the
bytes object that will be returned.

Twin: ``pure/writer.py``. Differs from its twin in: memory of our own for a
``bytearray``, and a noted fault code for the ``ValueFault`` exception.
C needs for itself: ``start``, ``ensure``, ``grow``, ``finish``, ``blame``,
``refuse``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from kwire._engine.fast.big_endian cimport likely, unlikely
from kwire._engine.fast.path cimport Path
from kwire._engine.fast.program cimport Step
from kwire._engine.fast.python_api cimport (
    PyBytes_AS_STRING,
    PyBytes_FromStringAndSize,
    MOST_ROOM,
    STEPS,
    PyErr_NoMemory,
    _PyBytes_Resize,
    forget_exception,
)

cdef enum:
    ON_STACK = 1024
    # The fault codes of errors.py; a test compares the two lists.
    WRONG_TYPE = 101
    OUT_OF_RANGE = 102
    NULL_NOT_ALLOWED = 103
    TEXT_TOO_LONG = 104
    NOT_UTF8 = 105
    NOT_IN_VERSION = 106
    TAGS_NOT_IN_VERSION = 107
    TAGS_NOT_PAIRS = 108
    TAGS_OUT_OF_ORDER = 109
    TOO_LARGE = 110
    # No fault of the value: a Python exception is set.
    WRITE_ERROR = -1

cdef struct Writer:
    uint8_t* at
    uint8_t* end
    uint8_t* start
    # The bytes object that is being filled, NULL while on the stack.
    PyObject* out
    int fault
    # Steps until signals are checked again.
    int steps
    # The value that cannot be written, borrowed; its step; whether it is an element.
    PyObject* value
    Step* step
    bint element
    # Replaces the description of the step's type.
    const char* expected
    Path path
    uint8_t stack[ON_STACK]


cdef inline bint start(Writer* writer, Py_ssize_t hint) noexcept:
    """Begin to write about ``hint`` bytes."""
    writer.fault = 0
    writer.steps = STEPS
    writer.path.depth = 0
    writer.step = NULL
    writer.element = False
    writer.value = NULL
    writer.expected = NULL
    writer.out = NULL
    if likely(hint <= ON_STACK):
        writer.start = writer.stack
        writer.end = writer.start + ON_STACK
    else:
        writer.out = PyBytes_FromStringAndSize(NULL, hint)
        if writer.out == NULL:
            writer.fault = WRITE_ERROR
            return False
        writer.start = <uint8_t*>PyBytes_AS_STRING(writer.out)
        writer.end = writer.start + hint
    writer.at = writer.start
    return True


cdef inline bint ensure(Writer* writer, uint64_t size) noexcept:
    """Make room for ``size`` more bytes; the one bounds check there is."""
    if likely(size <= <uint64_t>(writer.end - writer.at)):
        return True
    return grow(writer, size)


cdef inline bint grow(Writer* writer, uint64_t size) noexcept:
    """Move to a bytes object of at least twice the room."""
    cdef Py_ssize_t used = writer.at - writer.start
    cdef uint64_t wanted = 2 * <uint64_t>(writer.end - writer.start) + size
    cdef Py_ssize_t room = <Py_ssize_t>wanted
    if unlikely(wanted > <uint64_t>MOST_ROOM):
        PyErr_NoMemory()
        writer.fault = WRITE_ERROR
        return False
    if writer.out == NULL:
        writer.out = PyBytes_FromStringAndSize(NULL, room)
        if writer.out != NULL:
            memcpy(PyBytes_AS_STRING(writer.out), writer.start, <size_t>used)
    elif _PyBytes_Resize(&writer.out, room) < 0:
        writer.out = NULL
    if writer.out == NULL:
        writer.fault = WRITE_ERROR
        return False
    writer.start = <uint8_t*>PyBytes_AS_STRING(writer.out)
    writer.at = writer.start + used
    writer.end = writer.start + room
    return True


cdef inline PyObject* finish(Writer* writer) noexcept:
    """Return the bytes written, a new reference; NULL with an exception set."""
    cdef Py_ssize_t used = writer.at - writer.start
    cdef PyObject* out = writer.out
    if out == NULL:
        return PyBytes_FromStringAndSize(<const char*>writer.start, used)
    writer.out = NULL
    if _PyBytes_Resize(&out, used) < 0:
        return NULL
    return out


cdef inline bint write_unsigned_varint(Writer* writer, uint32_t value) noexcept:
    """Write an UNSIGNED_VARINT of up to 32 bits: 1 to 5 bytes.

    Source: ``ByteUtils.writeUnsignedVarint``.
    """
    if unlikely(not ensure(writer, 5)):
        return False
    while value > 0x7F:
        writer.at[0] = <uint8_t>(value & 0x7F | 0x80)
        writer.at += 1
        value >>= 7
    writer.at[0] = <uint8_t>value
    writer.at += 1
    return True


cdef inline bint write_unsigned_varlong(Writer* writer, uint64_t value) noexcept:
    """Write an unsigned varint of up to 64 bits: 1 to 10 bytes.

    Source: ``ByteUtils.writeUnsignedVarlong``.
    """
    if unlikely(not ensure(writer, 10)):
        return False
    while value > 0x7F:
        writer.at[0] = <uint8_t>(value & 0x7F | 0x80)
        writer.at += 1
        value >>= 7
    writer.at[0] = <uint8_t>value
    writer.at += 1
    return True


cdef inline bint blame(Writer* writer, int fault, PyObject* value) noexcept nogil:
    """Note a value that cannot be written; always False."""
    writer.fault = fault
    writer.value = value
    return False


cdef inline bint refuse(Writer* writer, int fault, PyObject* value) noexcept:
    """Note a value that raised when it was read; ``MemoryError`` stays set."""
    if forget_exception():
        return blame(writer, fault, value)
    writer.fault = WRITE_ERROR
    return False
