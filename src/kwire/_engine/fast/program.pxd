# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The program of a plan: one ``Table`` for each struct, with an array of steps.

Version 4 of HeartbeatRequest has a flexible table of five steps:

    op              slot  nullable  size
    COMPACT_STRING  0     no              group_id
    CHECK                           4     one bounds check for the run after it
    INT32           1                     generation_id
    COMPACT_STRING  2     no              member_id
    COMPACT_STRING  3     yes             group_instance_id

An opcode combines the type, the form of the length, and whether the field is an array,
so that the hot loop branches once for each field. Adjacent fields of fixed size are a
run. Steps that are no checks are in the order of the slots. Tables never change once
they are filled.
"""

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport uint32_t

cdef enum:
    # In line, fixed size: in the order of plan.py.
    OP_BOOL = 1
    OP_INT8 = 2
    OP_INT16 = 3
    OP_UINT16 = 4
    OP_INT32 = 5
    OP_UINT32 = 6
    OP_INT64 = 7
    OP_FLOAT64 = 8
    OP_UUID = 9
    # In line, with a length of their own.
    OP_STRING = 10
    OP_COMPACT_STRING = 11
    OP_BYTES = 12
    OP_STRUCT = 13
    OP_NULLABLE_STRUCT = 14
    OP_ARRAY = 15
    # No bytes in line: in the tag section, or not in this version.
    OP_TAGGED = 16
    OP_ABSENT = 17
    OP_IGNORED = 18
    # The bounds check of the fixed-size steps that follow.
    OP_CHECK = 19

cdef struct Table

cdef struct Step:
    int op
    # The op of the content of a tagged field; for other fields the same as op.
    int content
    # The op of an array's elements.
    int inner
    int slot
    bint compact
    bint nullable
    uint32_t tag
    # CHECK: bytes of the run. ARRAY: the least size of an element. Of a field of fixed
    # size its bytes.
    Py_ssize_t size
    # CHECK: the last of the signed integers right after it, or the step itself, and the
    # bytes to be left where each of them may be loaded as one of 64 bits.
    Step* last_int
    Py_ssize_t room
    # Of a signed integer: the bits that 64 have more.
    int spare_bits
    Table* table
    # Borrowed from the Program's plan and binding.
    PyObject* default
    PyObject* attribute
    PyObject* step

cdef struct Table:
    Step* steps
    int step_count
    # Copies of the steps that read bytes in line, and of the checks.
    Step* line
    int line_count
    Step* tagged
    int tagged_count
    uint32_t* invalid_tags
    int invalid_count
    bint flexible
    PyTypeObject* cls
    Py_ssize_t slots


cdef class Program:
    cdef readonly object layout
    cdef readonly object binding
    cdef Table* table
    # What the last encoded message took, in bytes: a hint for the next.
    cdef Py_ssize_t size_hint
    # The program of the header before the message in a frame, one of the two; both
    # live for good.
    cdef PyObject* request_header
    cdef PyObject* response_header
    cdef object api_key
    cdef list memory
    cdef dict tables

    cdef Table* table_of(self, object plan) except NULL
    cdef int fill(self, Step* made, object step, object default) except -1
    cdef void* allocate(self, Py_ssize_t size) except NULL


cdef Program find_program(object cls, object version)


cdef extern from *:
    """
    static const signed char kwire_sizes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 16};
    """
    const signed char* _sizes "kwire_sizes"


cdef inline int size_of(int op) noexcept nogil:
    """Return the bytes of a fixed-size opcode; 0 for all others."""
    return _sizes[op] if op <= OP_UUID else 0
