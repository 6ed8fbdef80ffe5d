# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Shares ints and arrays of ints that are repeated within a message.

A large message can contain the same broker ids thousands of times, and also the same
replica lists. Each of them becomes one object. The shared objects are stored in the
state of the call. Sharing stops early if few values are repeated.

Without a twin: the Python engine does not share objects.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from kwire._engine.fast.big_endian cimport *
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.primitives cimport read_count
from kwire._engine.fast.python_api cimport *
from kwire._engine.fast.shared_ints cimport *

keep_ints()

cdef PyObject* read_int32_array(
    SharedInts* known, Cursor* cursor, bint compact, bint nullable
) noexcept:
    """Read an int32 array.

    Replica lists are often repeated within a message, so equal lists of up to 16
    elements become one tuple. Sharing stops early if lists are not repeated.
    """
    cdef Py_ssize_t count = read_count(cursor, compact, nullable, 4)
    cdef const uint8_t* at = cursor.at
    cdef Py_ssize_t size = count * 4
    cdef uint32_t place
    cdef SharedArray* shared
    cdef PyObject* made
    if count < 0:
        return NULL if cursor.fault else new_ref(NONE)
    if count == 0:
        return PyTuple_New(0)
    cursor.at += size
    if known.array_credit < 0 or size > SHARED_BYTES:
        return make_int32s(known, at, count)
    place = (
        <uint32_t>load_int32(at) * 31 + <uint32_t>load_int32(at + size - 4) * 7
        + <uint32_t>count
    ) % SHARED_ARRAYS
    shared = &known.arrays[place]
    if known.arrays_in_use >> place & 1:
        if shared.size == size and is_equal(shared.data, at, size):
            known.array_credit += known.array_credit < ARRAY_CREDIT
            return new_ref(shared.value)
        Py_XDECREF(shared.value)
        known.arrays_in_use ^= <unsigned int>1 << place
    known.array_credit -= 1
    # Create the tuple from the copy, because later arrays are compared with the copy.
    copy_int32s(shared.data, at, size)
    made = make_int32s(known, shared.data, count)
    if made != NULL:
        known.arrays_in_use |= <unsigned int>1 << place
        shared.size = size
        shared.value = new_ref(made)
    return made


cdef inline PyObject* make_int32s(
    SharedInts* known, const uint8_t* at, Py_ssize_t count
) noexcept:
    """Create a tuple of ``count`` int32s."""
    cdef PyObject* made = PyTuple_New(count)
    cdef PyObject* value
    cdef Py_ssize_t index
    if made == NULL:
        return NULL
    for index in range(count):
        value = make_int32(known, load_int32(at + 4 * index))
        if value == NULL:
            Py_XDECREF(made)
            return NULL
        PyTuple_SET_ITEM(made, index, value)
    PyObject_GC_UnTrack(made)
    return made


cdef PyObject* share_int32(SharedInts* known, int32_t number) noexcept:
    """Create an int for which ``make_int32`` has not found an object, and share it.

    The first value of a hash slot keeps the slot, because messages list their brokers
    first. Sharing stops early if ints are not repeated.
    """
    cdef uint8_t* place = &known.int_places[<uint8_t>number]
    cdef PyObject* made = int_of(number)
    if made == NULL or known.int_credit < 0:
        return made
    if known.int_credit == 0:
        memset(known.int_places, 0, INT_PLACES)
        known.int_credit = INT_CREDIT
    known.int_credit -= 1
    if known.int_credit == 0:
        known.int_credit = -1
    if not place[0] and known.ints_in_use < SHARED_INTS:
        known.ints_in_use += 1
        place[0] = <uint8_t>known.ints_in_use
        known.ints[known.ints_in_use].number = number
        known.ints[known.ints_in_use].value = new_ref(made)
    return made


cdef inline void copy_int32s(
    uint8_t* to, const uint8_t* at, Py_ssize_t size
) noexcept nogil:
    """Copy a few int32s. A call of memcpy would take longer."""
    cdef uint64_t pair
    cdef uint32_t last
    while size >= 8:
        memcpy(&pair, at, 8)
        pair = once(pair)
        memcpy(to, &pair, 8)
        at += 8
        to += 8
        size -= 8
    if size:
        memcpy(&last, at, 4)
        last = <uint32_t>once(last)
        memcpy(to, &last, 4)


cdef inline bint is_equal(
    const uint8_t* a, const uint8_t* b, Py_ssize_t size
) noexcept nogil:
    """Whether a few int32s have equal bytes. A call of memcmp would take longer."""
    cdef uint64_t left, right
    cdef uint32_t last_left, last_right
    while size >= 8:
        memcpy(&left, a, 8)
        memcpy(&right, b, 8)
        if left != right:
            return False
        a += 8
        b += 8
        size -= 8
    if size == 0:
        return True
    memcpy(&last_left, a, 4)
    memcpy(&last_right, b, 4)
    return last_left == last_right
