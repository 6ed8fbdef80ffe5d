# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What a walk over the bytes of batches knows, and how it ends."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from kwire._fast.batches cimport Entry
from kwire._fast.column cimport Column
from kwire._fast.cursor cimport Cursor

cdef enum Reason:
    # Why ``walk_entries`` came back.
    AT_END
    AT_ENTRY
    AT_FAULT
    BAD_ENTRY
    NO_ROOM
    TOO_LARGE
    TOO_MANY

cdef enum Place:
    OFFSET
    TIMESTAMP
    TIMESTAMP_TYPE
    KEY
    VALUE
    HEADERS
    BATCH

cdef struct Walk:
    Cursor cursor
    Column* columns
    # The fields of the columns by name; NULL for headers that are not asked for.
    Column* key
    Column* value
    Column* headers
    int64_t* offsets
    int64_t* timestamps
    int32_t* timestamp_types
    int64_t rows
    # The entry that is being read, and where the next one begins.
    Entry entry
    Py_ssize_t position
    Py_ssize_t end
    # What was asked for.
    bint check_crc
    bint replace
    bint batch_columns
    int64_t factor
    int64_t divisor
    int64_t lowest
    int64_t highest
    int64_t most_records

cdef void reserve_rows(Walk* w) noexcept nogil
cdef Reason walk_entries(Walk* w, bint one) noexcept nogil
cdef Reason walk_plain(Walk* w) noexcept nogil
cdef Reason walk_records(Walk* w, const uint8_t* at, const uint8_t* end) noexcept nogil
cdef Reason walk_inner(Walk* w, const uint8_t* start, Py_ssize_t size) noexcept nogil
