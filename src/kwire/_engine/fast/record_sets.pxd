# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares the walk over the entries of a record set.

Twin: ``pure/record_sets.py``.
"""

from libc.stdint cimport int64_t

from kwire._engine.fast.batches cimport CONTROL, Entry, read_entry
from kwire._engine.fast.cursor cimport Cursor

cdef enum Step:
    # Result of find_entry.
    SET_END
    SET_ENTRY
    # The transaction filter must process the batch before it is read.
    SET_TRANSACTION
    SET_FAULT

cdef struct EntryWalk:
    Cursor cursor
    # Current entry, and position of the next one.
    Entry entry
    Py_ssize_t position
    Py_ssize_t end
    # Whether the transaction filter hides the current entry.
    bint is_hidden
    # is_started is True after the first complete entry. last_offset is the last offset
    # of the last complete entry.
    bint is_started
    int64_t last_offset
    # The options.
    int64_t lowest
    int64_t highest
    int64_t most_records
    int64_t most_bytes
    bint check_crc
    bint with_control
    # remaining is the part of most_bytes that is available for further compressed
    # entries. The walk ends at the position stop, which each compressed entry reduces
    # by its decompressed size.
    int64_t remaining
    int64_t stop
    # Attribute bits of the batches that the transaction filter must process. 0 if there
    # is no filter.
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
    """Advance to the next entry to read, or to pass to the transaction filter first.

    The walk ends at the end of the input or at an incomplete last entry.
    """
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
    """Return whether the header shows that the entry has no requested offsets."""
    # The first offset in a wrapper message (count -1) is unknown, because its header
    # contains only the last offset.
    return w.entry.last_offset < w.lowest or (
        w.entry.base_offset > w.highest and w.entry.count >= 0
    )
