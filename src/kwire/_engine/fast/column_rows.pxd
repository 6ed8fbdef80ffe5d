# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns whose rows are read one by one. Twin: ``pure/column_rows.py``."""

from libc.stdint cimport int64_t, uint8_t

from kwire._engine.fast.arrays cimport Block
from kwire._engine.fast.rows cimport Row

cdef enum:
    # Maximum number of buffers: validity, numbers or offsets, and bytes of each column,
    # and the header list offsets.
    COLUMN_BUFFERS = 15

cdef enum RowFault:
    FINE
    BAD_NUMBER
    BAD_TIMESTAMP
    BAD_OFFSETS
    NULL_KEY
    NOT_UTF8_KEY
    NO_MEMORY

# Bytes of one value. A size of -1 means null.
cdef struct Span:
    const char* data
    Py_ssize_t size

cdef struct BytesColumn:
    # first is the index of row 0's validity bit. offsets points to row 0's offset.
    const uint8_t* validity
    int64_t first
    const uint8_t* offsets
    const char* data
    int64_t data_size


cdef class ColumnRows:
    cdef readonly int64_t count
    cdef Py_buffer buffers[COLUMN_BUFFERS]
    cdef int held
    cdef const uint8_t* timestamps
    cdef const uint8_t* timestamp_bits
    cdef int64_t first_timestamp
    cdef BytesColumn key
    cdef BytesColumn value
    # Header list offsets, or NULL if there are no headers.
    cdef const uint8_t* lists
    cdef int64_t item_count
    cdef BytesColumn header_key
    cdef BytesColumn header_value
    # Key and value spans for the headers in the row that was read last.
    cdef Block spans


cdef int64_t check_row_number(object number) except -1
cdef RowFault read_row(
    ColumnRows rows, int64_t number, Row* row, int64_t* header_count
) noexcept
cdef bint put_headers(ColumnRows rows, int64_t header_count, uint8_t** at) noexcept
cdef object make_failure(RowFault fault, ColumnRows rows, int64_t number, Row* row)
