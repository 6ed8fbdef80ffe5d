# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write buffer, which grows when it is full, and functions that write varints.

A small message is written to a buffer on the stack of the call. A larger message is
written directly to the bytes object that the call returns, so it is not copied.

Twin: ``pure/writer.py``. Differs from its twin in: the engine allocates the memory
itself instead of using a ``bytearray``, and an error is a fault code in the writer
instead of a ``ValueFault`` exception.

Only in Cython: ``start``, ``ensure``, ``grow``, ``finish``, ``blame``, ``refuse``.
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
    # Fault codes from errors.py. A test checks that both lists are equal.
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
    # The value is not the cause: a Python exception is set.
    WRITE_ERROR = -1

cdef struct Writer:
    uint8_t* at
    uint8_t* end
    uint8_t* start
    # The bytes object that is being filled. NULL while the stack buffer is used.
    PyObject* out
    int fault
    # Steps until the next check for signals.
    int steps
    # Borrowed reference to the value that cannot be encoded, the step of its field, and
    # whether the value is an array element.
    PyObject* value
    Step* step
    bint element
    # Description of valid values in the error message. If it is NULL, the message
    # describes the type of the step.
    const char* expected
    Path path
    uint8_t stack[ON_STACK]


cdef inline bint start(Writer* writer, Py_ssize_t hint) noexcept:
    """Initialize a writer for a message of about ``hint`` bytes."""
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
    """Ensure capacity for ``size`` more bytes. This is the only bounds check."""
    if likely(size <= <uint64_t>(writer.end - writer.at)):
        return True
    return grow(writer, size)


cdef inline bint grow(Writer* writer, uint64_t size) noexcept:
    """Move the content to a bytes object with at least twice the capacity."""
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
    """Return a new bytes object with the content, or NULL with an exception set."""
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
    """Write an unsigned varint with up to 64 bits: 1 to 10 bytes.

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
    """Store a fault code and the value that cannot be encoded. Always returns False."""
    writer.fault = fault
    writer.value = value
    return False


cdef inline bint refuse(Writer* writer, int fault, PyObject* value) noexcept:
    """Replace the pending exception by a fault code and its value. Returns False.

    ``MemoryError`` stays set, because it is not caused by the value.
    """
    if forget_exception():
        return blame(writer, fault, value)
    writer.fault = WRITE_ERROR
    return False
