# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares the walk over the batches of a record set.

Twin: ``pure/record_sets.py``.
"""

from libc.stdint cimport int64_t

from kwire._engine.fast.batches cimport CONTROL, Entry, read_entry
from kwire._engine.fast.cursor cimport Cursor

cdef enum Step:
    # What ``find_entry`` came to.
    SET_END
    SET_ENTRY
    # A batch that the filter of transactions has to see before it is read.
    SET_TRANSACTION
    SET_FAULT

cdef struct EntryWalk:
    Cursor cursor
    # The entry that was found last, and where the next one begins.
    Entry entry
    Py_ssize_t position
    Py_ssize_t end
    # Whether the filter of transactions hides it.
    bint is_hidden
    # The last offset of the last complete entry; ``is_started`` if there was one.
    bint is_started
    int64_t last_offset
    # The options.
    int64_t lowest
    int64_t highest
    int64_t most_records
    int64_t most_bytes
    bint check_crc
    bint with_control
    # What most_bytes leaves for further compressed entries, and the position at which
    # the walk ends, which each decompressed entry brings nearer.
    int64_t remaining
    int64_t stop
    # The attributes that make a batch one for the filter of transactions; 0 for none.
    int filtered

cdef class ReadOptions:
    cdef readonly object decompress
    cdef readonly object transactions
    cdef readonly int64_t lowest
    cdef readonly int64_t highest
    cdef readonly int64_t most_records
    cdef readonly bint check_crc
    cdef readonly bint replace
    cdef readonly int64_t most_bytes
    cdef readonly int64_t piece_bytes
    cdef readonly bint check_records

cdef int begin_walk(
    EntryWalk* w,
    Py_buffer* buffer,
    Py_ssize_t position,
    Py_ssize_t end,
    ReadOptions options,
) except -1
cdef bint filter_entry(EntryWalk* w, object data, ReadOptions options) except -1
cdef object decompress_entry(EntryWalk* w, object data, ReadOptions options)
cdef int charge_entry(EntryWalk* w, Py_ssize_t size) except -1
cdef object make_walk_failure(EntryWalk* w)
cdef object make_record_limit_failure(EntryWalk* w)


cdef inline Step find_entry(EntryWalk* w) noexcept nogil:
    """Advance to the next entry that is read, or that the filter has to see first."""
    while w.position < w.stop:
        if not read_entry(&w.cursor, w.position, w.end, w.check_crc, &w.entry):
            return SET_FAULT if w.cursor.fault else SET_END
        w.position += <Py_ssize_t>w.entry.size
        w.last_offset = w.entry.last_offset
        w.is_started = True
        w.is_hidden = False
        if w.entry.magic == 2:
            if w.entry.attributes & w.filtered:
                return SET_TRANSACTION
            if w.entry.attributes & CONTROL and not w.with_control:
                continue
        if not is_outside(w):
            return SET_ENTRY
    return SET_END


cdef inline bint is_outside(EntryWalk* w) noexcept nogil:
    """Whether the header rules out that an entry has wanted offsets."""
    # That of a compressed message has its last offset alone.
    return w.entry.last_offset < w.lowest or (
        w.entry.base_offset > w.highest and w.entry.count >= 0
    )
