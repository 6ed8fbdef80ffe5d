# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State for a call that decodes records, and functions that use C headers.

Twin: ``pure/record_decoder.py``.

Only in Cython: ``make_record``.
"""

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int64_t, uint8_t

from kwire._engine.fast.batches cimport Entry
from kwire._engine.fast.big_endian cimport unlikely
from kwire._engine.fast.cursor cimport TRAILING_BYTES, Cursor, note
from kwire._engine.fast.python_api cimport Py_XDECREF, int_of, new_ref
from kwire._engine.fast.structs cimport new_struct, slots_of

cdef enum:
    RECORD_SLOTS = 5
    # Number of header keys that are compared with the key at the same index in the
    # previous record.
    KNOWN_NAMES = 8

cdef struct Reading:
    # State for one call, allocated on its stack.
    Cursor cursor
    Entry entry
    PyTypeObject* cls
    bint replace
    # Error path: record index, header index, field name. -1 and NULL mean that the path
    # does not contain this part.
    Py_ssize_t record
    Py_ssize_t header
    const char* part
    # Values of the previous record. Records of one producer usually have the same
    # timestamps and header keys, so the objects can be shared.
    int64_t timestamp
    PyObject* timestamp_object
    PyObject* names[KNOWN_NAMES]

cdef void begin(Reading* r, bint replace) noexcept
cdef tuple read_batch_records(Reading* r, const uint8_t* start)
cdef tuple read_content(Reading* r, const uint8_t* start, Py_ssize_t size)
cdef void finish(Reading* r) noexcept
cdef int check_place(Entry* entry, Py_ssize_t size) except -1
cdef object make_failure(Reading* r, int64_t position)


cdef inline PyObject* make_record(
    Reading* r, int64_t offset, int64_t timestamp
) noexcept:
    """Create a record with its offset and timestamp.

    The other slots are still empty.
    """
    cdef PyObject* made = new_struct(r.cls, RECORD_SLOTS)
    cdef PyObject** slots
    if unlikely(made == NULL):
        return NULL
    slots = slots_of(made)
    slots[0] = int_of(offset)
    if r.timestamp_object == NULL or r.timestamp != timestamp:
        Py_XDECREF(r.timestamp_object)
        r.timestamp_object = int_of(timestamp)
        r.timestamp = timestamp
    if unlikely(slots[0] == NULL or r.timestamp_object == NULL):
        Py_XDECREF(made)
        return NULL
    slots[1] = new_ref(r.timestamp_object)
    return made


cdef inline bint check_end(Cursor* cursor) noexcept nogil:
    """Check that no bytes remain before the end of the cursor.

    Otherwise, the fault is at the first remaining byte.
    """
    if unlikely(cursor.at != cursor.end):
        note(cursor, TRAILING_BYTES, cursor.at, cursor.end - cursor.at)
        return False
    return True
