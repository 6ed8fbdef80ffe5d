# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Makes ``uuid.UUID`` objects of two 64-bit halves, and the reverse, in C.

Importing the ``uuid`` module takes some 5 ms and most messages have no uuid, so the
first one imports it. Without a twin: ``_pure/primitives.py`` has ``make_uuid``.
"""

from libc.stdint cimport uint64_t

from kwire._fast.python_api cimport *

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

cdef object _uuid_type = None
cdef object _uuid_unknown_safety = None
cdef object _uuid_zero = None
# What another thread may be reading while its place is taken: threads without the GIL
# may load the module at once.
cdef list _uuid_zeros = []
cdef object _int_name = "int"
cdef object _is_safe_name = "is_safe"
cdef object _sixty_four = 64


cdef PyObject* make_uuid(uint64_t high, uint64_t low) noexcept:
    """Make a ``uuid.UUID`` of two halves, most significant first."""
    cdef PyObject* number
    cdef PyObject* shifted
    cdef PyObject* half
    cdef PyObject* made
    if _uuid_type is None and not load_uuid():
        return NULL
    if high == 0 and low == 0:
        return new_ref(<PyObject*>_uuid_zero)
    half = PyLong_FromUnsignedLongLong(high)
    shifted = NULL if half == NULL else PyNumber_Lshift(half, <PyObject*>_sixty_four)
    Py_XDECREF(half)
    half = NULL if shifted == NULL else PyLong_FromUnsignedLongLong(low)
    number = NULL if half == NULL else PyNumber_Or(shifted, half)
    Py_XDECREF(half)
    Py_XDECREF(shifted)
    made = NULL if number == NULL else new_of_type(<PyObject*>_uuid_type)
    if made != NULL and (
        PyObject_GenericSetAttr(made, <PyObject*>_int_name, number) < 0
        or PyObject_GenericSetAttr(
            made, <PyObject*>_is_safe_name, <PyObject*>_uuid_unknown_safety
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
    if _uuid_type is None and not load_uuid():
        return False
    if PyObject_IsInstance(value, <PyObject*>_uuid_type) == 1:
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


cdef bint load_uuid() noexcept:
    global _uuid_type, _uuid_unknown_safety, _uuid_zero
    try:
        import uuid

        _uuid_unknown_safety = uuid.SafeUUID.unknown
        _uuid_zeros.append(uuid.UUID(int=0))
        _uuid_zero = _uuid_zeros[0]
        _uuid_type = uuid.UUID
    except MemoryError:
        return False
    return True
