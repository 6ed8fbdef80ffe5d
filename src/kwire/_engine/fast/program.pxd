# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Program of a plan: one ``Table`` for each struct, with an array of steps.

For example, version 4 of HeartbeatRequest has a flexible table with five steps:

    op              slot  nullable  size
    COMPACT_STRING  0     no              group_id
    CHECK                           4     one bounds check for the following run
    INT32           1                     generation_id
    COMPACT_STRING  2     no              member_id
    COMPACT_STRING  3     yes             group_instance_id

An opcode combines the type, the encoding of the length, and whether the field is an
array, so that the hot loop branches once for each field. A run is a sequence of
adjacent fixed-size fields. All steps except CHECK are in slot order. A table is not
modified after it has been filled.
"""

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport uint32_t

cdef enum:
    # Fixed-size fields outside the tag section, with the numbers of plan.py.
    OP_BOOL = 1
    OP_INT8 = 2
    OP_INT16 = 3
    OP_UINT16 = 4
    OP_INT32 = 5
    OP_UINT32 = 6
    OP_INT64 = 7
    OP_FLOAT64 = 8
    OP_UUID = 9
    # Fields outside the tag section with a length, a count or nested fields.
    OP_STRING = 10
    OP_COMPACT_STRING = 11
    OP_BYTES = 12
    OP_STRUCT = 13
    OP_NULLABLE_STRUCT = 14
    OP_ARRAY = 15
    # Fields without bytes outside the tag section: OP_TAGGED fields are in the tag
    # section, the other two are not part of this version. An OP_ABSENT field must have
    # its default value when it is encoded, an OP_IGNORED field is omitted.
    OP_TAGGED = 16
    OP_ABSENT = 17
    OP_IGNORED = 18
    # Bounds check of the fixed-size steps that follow.
    OP_CHECK = 19

cdef struct Table

cdef struct Step:
    int op
    # Content opcode if the field is tagged. For other fields, the same as op.
    int content
    # Opcode of the elements if the field is an array.
    int inner
    int slot
    bint compact
    bint nullable
    uint32_t tag
    # CHECK: number of bytes in the run. ARRAY: minimum element size in bytes.
    # Fixed-size field: its number of bytes.
    Py_ssize_t size
    # CHECK only. last_int is the last of the signed integers that directly follow, or
    # the step itself if there are none. room is the number of bytes that must remain so
    # that each of these integers can be read or written as an int64.
    Step* last_int
    Py_ssize_t room
    # Signed integers: 64 minus the field's bit count.
    int spare_bits
    Table* table
    # Borrowed references. The plan and the binding of the Program own the objects.
    PyObject* default
    PyObject* attribute
    PyObject* step

cdef struct Table:
    Step* steps
    int step_count
    # Copies of the CHECK steps and of the steps that read bytes outside the tag
    # section.
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
    # Size of the last encoded message in bytes, used as the initial capacity for the
    # next.
    cdef Py_ssize_t size_hint
    # Program of the request header or response header that precedes the message in a
    # frame. Programs are never freed.
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
    """Return the size in bytes of a fixed-size opcode, or 0 for other opcodes."""
    return _sizes[op] if op <= OP_UUID else 0
