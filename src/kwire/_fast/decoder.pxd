# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What one call of ``decode`` knows: its cursor, its options, and the way to a fault.

Everything here lives on the stack of the call and ends with it.
"""

from cpython.object cimport PyObject
from libc.stdint cimport uint8_t

from kwire._fast.cursor cimport Cursor
from kwire._fast.program cimport Step

cdef enum:
    DEEPEST = 32
    SHARED_ARRAYS = 16
    LONGEST_STRING = 32767
    # Bytes or elements that both forms of a length can state.
    LARGEST = 2147483646

cdef struct PathPart:
    # NULL stands for the unknown tagged fields.
    Step* step
    Py_ssize_t index

cdef struct SharedArray:
    # Arrays of the same bytes within one message become one tuple.
    const uint8_t* at
    Py_ssize_t size
    PyObject* value

cdef struct Decoding:
    Cursor cursor
    # The input as a memoryview, borrowed, if bytes fields shall point into it.
    PyObject* view
    int depth
    PathPart path[DEEPEST]
    SharedArray shared[SHARED_ARRAYS]
