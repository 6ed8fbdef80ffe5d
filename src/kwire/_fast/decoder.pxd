# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The state of one call of ``decode``, on its stack: cursor, options and path."""

from cpython.object cimport PyObject
from libc.stdint cimport uint8_t

from kwire._fast.cursor cimport Cursor
from kwire._fast.path cimport Path

cdef enum:
    SHARED_ARRAYS = 16
    SHARED_CREDIT = 64
    # The longest array that is shared, in bytes: 16 int32s.
    SHARED_BYTES = 64

cdef struct SharedArray:
    # Arrays of the same bytes within one message become one tuple. The bytes are a
    # copy: those of the input may have changed.
    uint8_t data[SHARED_BYTES]
    Py_ssize_t size
    PyObject* value

cdef struct Decoding:
    Cursor cursor
    Path path
    # Steps until signals are checked again.
    int steps
    # One bit for each place of ``shared`` that is in use.
    unsigned int shared_in_use
    # Falls with each array that was not shared; below 0 the search is given up.
    int shared_credit
    SharedArray shared[SHARED_ARRAYS]

cdef int get_input(object data, Py_buffer* buffer) except -1

cdef bint is_lenient(object compat) except -1

cdef object decode_part(
    object cls,
    object data,
    object version,
    Py_ssize_t* at,
    bint zero_copy,
    bint lenient,
    object limits,
    bint whole,
)
