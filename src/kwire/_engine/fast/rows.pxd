# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A row as a C struct, and its faults. Twin: ``pure/rows.py``."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

cdef struct Row:
    int64_t offset
    int64_t timestamp
    # Sizes are -1 for null.
    const char* key
    Py_ssize_t key_size
    const char* value
    Py_ssize_t value_size
    # A tuple of pairs of str and bytes or None; borrowed.
    PyObject* headers
    int64_t headers_size
    # What had to be made for this row: key, value, headers, the row itself.
    PyObject* owned[4]

cdef struct Blame:
    int fault
    # Owned, NULL for none.
    PyObject* blamed
    const char* expected
    # Where a fault is: -1 and NULL where there is no such part of the path.
    Py_ssize_t record
    Py_ssize_t header
    const char* part

cdef int check_rows(object rows) except -1
cdef int64_t compute_next_offset(int64_t offset) noexcept nogil
cdef bint split(Blame* e, PyObject* item, int64_t offset, Row* row) noexcept
cdef bint check_no_headers(Blame* e, Row* row) noexcept
cdef bint blame_value(Blame* e, int fault, PyObject* value) noexcept
cdef void clear(Blame* e) noexcept
cdef void drop(Row* row) noexcept
cdef int64_t guess_size(tuple rows) except -1
cdef object make_failure(
    Blame* e, int64_t offset=*, int64_t previous=*, int64_t base_offset=*
)
