# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State for one ``decode`` call, which is allocated on its stack."""

from cpython.object cimport PyObject

from kwire._engine.fast.cursor cimport Cursor
from kwire._engine.fast.path cimport Path
from kwire._engine.fast.shared_ints cimport SharedInts

cdef struct Decoding:
    Cursor cursor
    Path path
    # Steps until the next check for signals.
    int steps
    SharedInts ints

cdef int bound_counts(Cursor* cursor, object limits) except -1

cdef int get_input(object data, Py_buffer* buffer) except -1

cdef object view_bytes(object data)

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
