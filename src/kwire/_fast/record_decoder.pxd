# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What one call that makes records knows, and its steps for a C entry.

Twin: ``_pure/record_decoder.py``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t

from kwire._fast.batches cimport Entry
from kwire._fast.cursor cimport Cursor

cdef enum:
    # Header keys that are looked for at their place in the record before.
    KNOWN_NAMES = 8

cdef struct Reading:
    # What one call knows; lives on its stack.
    Cursor cursor
    Entry entry
    bint replace
    # Where a fault is: -1 and NULL where there is no such part of the path.
    Py_ssize_t record
    Py_ssize_t header
    const char* part
    # Records of one producer mostly have the same timestamps and header keys.
    int64_t timestamp
    PyObject* timestamp_object
    PyObject* names[KNOWN_NAMES]

cdef void begin(Reading* r, bint replace) noexcept
cdef tuple read_batch_records(Reading* r, const uint8_t* start)
cdef tuple read_content(Reading* r, const uint8_t* start, Py_ssize_t size)
cdef tuple read_run(Reading* r, const uint8_t* start, Py_ssize_t stop, bint check_crc)
cdef (Py_ssize_t, Py_ssize_t) payload_of(Reading* r, const uint8_t* start) except *
cdef tuple read_inner(Reading* r, const uint8_t* start, Py_ssize_t end, bint check_crc)
cdef void finish(Reading* r) noexcept
