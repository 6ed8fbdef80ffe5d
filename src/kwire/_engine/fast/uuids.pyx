# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Converts between ``uuid.UUID`` objects and two 64-bit halves, in C.

Importing the ``uuid`` module takes about 5 ms and most messages do not contain a UUID,
so the module is imported when the first UUID is read or written.

Without a twin: ``make_uuid`` is in ``pure/primitives.py``.
"""

from libc.stdint cimport uint64_t

from kwire._engine.fast.python_api cimport *

cdef extern from *:
    """
    static inline PyObject *kwire_new_of_type(PyObject *t) {
        PyObject *empty = PyTuple_New(0);
        PyObject *made = empty == NULL
            ? NULL
            : PyBaseObject_Type.tp_new((PyTypeObject *)t, empty, NULL);
        Py_XDECREF(empty);
        return made;
    }
    """
    PyObject* new_of_type "kwire_new_of_type"(PyObject* cls) noexcept

# UUID, SafeUUID.unknown and the zero UUID, after the module has been imported. Without
# the GIL, several threads may import it at the same time. The first tuple in the list
# is used.
cdef PyObject* _uuid_parts = NULL
cdef list _kept = []
cdef object _int_name = "int"
cdef object _is_safe_name = "is_safe"
cdef object _sixty_four = 64


cdef PyObject* make_uuid(uint64_t high, uint64_t low) noexcept:
    """Create a ``uuid.UUID`` from two halves, the most significant half first."""
    cdef PyObject* number
    cdef PyObject* shifted
    cdef PyObject* half
    cdef PyObject* made
    cdef PyObject* parts = find_parts()
    if parts == NULL:
        return NULL
    if high == 0 and low == 0:
        return new_ref(PyTuple_GET_ITEM(parts, 2))
    half = PyLong_FromUnsignedLongLong(high)
    shifted = NULL if half == NULL else PyNumber_Lshift(half, <PyObject*>_sixty_four)
    Py_XDECREF(half)
    half = NULL if shifted == NULL else PyLong_FromUnsignedLongLong(low)
    number = NULL if half == NULL else PyNumber_Or(shifted, half)
    Py_XDECREF(half)
    Py_XDECREF(shifted)
    made = NULL if number == NULL else new_of_type(PyTuple_GET_ITEM(parts, 0))
    if made != NULL and (
        PyObject_GenericSetAttr(made, <PyObject*>_int_name, number) < 0
        or PyObject_GenericSetAttr(
            made, <PyObject*>_is_safe_name, PyTuple_GET_ITEM(parts, 1)
        ) < 0
    ):
        Py_XDECREF(made)
        made = NULL
    Py_XDECREF(number)
    return made


cdef bint uuid_halves(PyObject* value, uint64_t* high, uint64_t* low) noexcept:
    """Split a ``uuid.UUID`` into halves. Returns False for other objects.

    Also returns False with ``MemoryError`` set if there is no memory.
    """
    cdef PyObject* number = NULL
    cdef PyObject* half = NULL
    cdef bint done = False
    cdef PyObject* parts = find_parts()
    if parts == NULL:
        return False
    if PyObject_IsInstance(value, PyTuple_GET_ITEM(parts, 0)) == 1:
        number = PyObject_GetAttr(value, <PyObject*>_int_name)
    if number != NULL and PyLong_CheckExact(number):
        half = PyNumber_Rshift(number, <PyObject*>_sixty_four)
    if half != NULL:
        high[0] = PyLong_AsUnsignedLongLong(half)
        low[0] = PyLong_AsUnsignedLongLongMask(number)
        done = PyErr_Occurred() == NULL
    Py_XDECREF(half)
    Py_XDECREF(number)
    if not done and PyErr_Occurred():
        # An object that only imitates a UUID is an invalid value, whatever exception
        # its attributes raise.
        forget_exception()
    return done


cdef inline PyObject* find_parts() noexcept:
    """Return the objects from which UUIDs are created, or NULL without memory."""
    cdef PyObject* parts = load_pointer(&_uuid_parts)
    return load_parts() if parts == NULL else parts


cdef PyObject* load_parts() noexcept:
    """Import the ``uuid`` module and return its objects. NULL without memory."""
    cdef PyObject* parts = NULL
    try:
        import uuid

        _kept.append((uuid.UUID, uuid.SafeUUID.unknown, uuid.UUID(int=0)))
        parts = <PyObject*>_kept[0]
    except MemoryError:
        pass
    if parts != NULL:
        publish_pointer(&_uuid_parts, parts)
    return parts
