# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State of shared ints within one ``decode`` call, and the functions of the fast path.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from kwire._engine.fast.big_endian cimport likely, unlikely
from kwire._engine.fast.cursor cimport Cursor
from kwire._engine.fast.python_api cimport *

cdef enum:
    SHARED_ARRAYS = 16
    ARRAY_CREDIT = 64
    # Maximum size in bytes of a shared array: 16 int32s.
    SHARED_BYTES = 64
    # Number of hash slots for int32s, selected by their low bits, and maximum number of
    # shared ints.
    INT_PLACES = 256
    SHARED_INTS = 255
    INT_CREDIT = 256

cdef struct SharedArray:
    # Copy of the bytes, because the input may be modified.
    uint8_t data[SHARED_BYTES]
    Py_ssize_t size
    PyObject* value

cdef struct SharedInt:
    int32_t number
    PyObject* value

cdef struct SharedInts:
    # One bit for each element of arrays that is in use.
    unsigned int arrays_in_use
    # Decreases with each array that was not shared. Sharing of arrays stops below 0.
    int array_credit
    SharedArray arrays[SHARED_ARRAYS]
    # The same for ints outside of Python's cache of small ints: 0 before the first one,
    # and below 0 after sharing has stopped.
    int int_credit
    int ints_in_use
    # Index in ints, or 0 if the slot is empty. Initialized with the first int.
    uint8_t int_places[INT_PLACES]
    SharedInt ints[SHARED_INTS + 1]
    # The last int64 and its object, which is NULL before the first one.
    int64_t last_number
    PyObject* last_value

cdef PyObject* read_int32_array(
    SharedInts* known, Cursor* cursor, bint compact, bint nullable
) noexcept

cdef PyObject* share_int32(SharedInts* known, int32_t number) noexcept


cdef inline void begin_sharing(SharedInts* known) noexcept nogil:
    """Initialize the state. Nothing is shared yet."""
    known.arrays_in_use = 0
    known.array_credit = ARRAY_CREDIT
    known.ints_in_use = 0
    known.int_credit = 0
    known.last_value = NULL


cdef inline void end_sharing(SharedInts* known) noexcept:
    """Release the references that only this call needed."""
    cdef int index
    if known.arrays_in_use:
        for index in range(SHARED_ARRAYS):
            if known.arrays_in_use >> index & 1:
                Py_XDECREF(known.arrays[index].value)
    for index in range(known.ints_in_use):
        Py_XDECREF(known.ints[index + 1].value)
    Py_XDECREF(known.last_value)


cdef inline PyObject* make_int32(SharedInts* known, int32_t number) noexcept:
    """Create an int. Equal values share one object, because broker ids are repeated."""
    cdef SharedInt* shared
    cdef int place
    if is_kept(number):
        return kept_int(number)
    if likely(known.int_credit > 0):
        place = known.int_places[<uint8_t>number]
        shared = &known.ints[place]
        if likely(place and shared.number == number):
            known.int_credit += known.int_credit < INT_CREDIT
            return new_ref(shared.value)
    return share_int32(known, number)


cdef inline PyObject* make_int64(SharedInts* known, int64_t number) noexcept:
    """Create an int. Reuse the previous object if the value is the same.

    The high watermark of a partition often is equal to its last stable offset.
    """
    if is_kept(number):
        return kept_int(number)
    if known.last_value == NULL or known.last_number != number:
        Py_XDECREF(known.last_value)
        known.last_value = int_of(number)
        known.last_number = number
        if unlikely(known.last_value == NULL):
            return NULL
    return new_ref(known.last_value)
