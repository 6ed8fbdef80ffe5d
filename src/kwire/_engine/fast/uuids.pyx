# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Makes ``uuid.UUID`` objects of two 64-bit halves, and the reverse, in C.

Importing the ``uuid`` module takes some 5 ms and most messages have no uuid, so the
first one imports it. Without a twin: ``pure/primitives.py`` has ``make_uuid``.
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

# ``UUID``, ``SafeUUID.unknown`` and the zero UUID, once the module is imported. Threads
# without the GIL may import it at once: the first tuple that is kept is the one.
cdef PyObject* _uuid_parts = NULL
cdef list _kept = []
cdef object _int_name = "int"
cdef object _is_safe_name = "is_safe"
cdef object _sixty_four = 64


cdef PyObject* make_uuid(uint64_t high, uint64_t low) noexcept:
    """Make a ``uuid.UUID`` of two halves, most significant first."""
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
    """Split a ``uuid.UUID`` into halves; False for another object or without memory."""
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
        # An object that only looks like a uuid is the caller's mistake, whatever it
        # raises when it is asked.
        forget_exception()
    return done


cdef inline PyObject* find_parts() noexcept:
    """Find what UUIDs are made of; NULL without memory."""
    cdef PyObject* parts = load_pointer(&_uuid_parts)
    return load_parts() if parts == NULL else parts


cdef PyObject* load_parts() noexcept:
    """Import the module; NULL without memory."""
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
