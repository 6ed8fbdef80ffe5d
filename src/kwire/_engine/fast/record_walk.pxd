# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares the decoding of records into columns, and the reasons why it stops."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from kwire._engine.fast.column cimport Column, ViewSource
from kwire._engine.fast.record_sets cimport EntryWalk

cdef enum WalkEnd:
    # Reason why walk_entries returned.
    AT_END
    AT_ENTRY
    AT_TRANSACTION
    AT_FAULT
    BAD_ENTRY
    NO_ROOM
    TOO_LARGE
    TOO_MANY

cdef enum RecordColumn:
    # Indexes of the columns that are always present, and of the optional headers.
    OFFSET
    TIMESTAMP
    TIMESTAMP_TYPE
    KEY
    VALUE
    HEADERS

cdef struct ColumnWalk:
    EntryWalk entries
    Column* columns
    # Some of the columns by name. headers is NULL if headers were not requested.
    Column* key
    Column* value
    Column* headers
    int64_t* offsets
    int64_t* timestamps
    int32_t* timestamp_types
    int64_t rows
    # Memory to which views currently refer, number of buffers so far, and number of the
    # first input buffer, which is -1 until a view refers to the input.
    ViewSource source
    int64_t buffer_count
    int64_t input_buffer
    int64_t input_size
    # Options that only apply to columns.
    bint replace
    bint batch_columns
    bint views
    int64_t factor
    int64_t divisor

cdef void reserve_rows(ColumnWalk* w) noexcept nogil
cdef WalkEnd walk_entries(ColumnWalk* w) noexcept nogil
cdef WalkEnd walk_plain(ColumnWalk* w) noexcept nogil
cdef WalkEnd walk_records(
    ColumnWalk* w, const uint8_t* at, const uint8_t* end
) noexcept nogil
cdef WalkEnd walk_inner(
    ColumnWalk* w, const uint8_t* start, Py_ssize_t size
) noexcept nogil
