# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Row as a C struct, and its errors. Twin: ``pure/rows.py``."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

cdef struct Row:
    int64_t offset
    int64_t timestamp
    # A size of -1 means null.
    const char* key
    Py_ssize_t key_size
    const char* value
    Py_ssize_t value_size
    # Borrowed reference to a tuple of (str, bytes or None) pairs.
    PyObject* headers
    int64_t headers_size
    # Objects created for this row: copies of the key, value and headers, and a tuple if
    # the row is a list.
    PyObject* owned[4]

cdef struct Blame:
    int fault
    # Owned reference to the value that cannot be encoded, or NULL.
    PyObject* blamed
    const char* expected
    # Error path: record index, header index, field name. -1 and NULL mean that the path
    # does not contain this part.
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
