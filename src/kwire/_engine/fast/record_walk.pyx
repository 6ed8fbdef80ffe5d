# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes records into columns without Python objects and without the GIL.

Without a twin: the Python engine creates columns from record objects. The walk accepts
the same input as ``record_decoder.pyx`` and stops at anything that
``record_decoder.pyx`` would reject. ``record_columns.pyx`` then creates the exception.
"""

from cpython.object cimport PyObject
from libc.stdint cimport (
    INT64_MAX,
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint64_t,
)

from kwire._engine.fast.batches cimport *
from kwire._engine.fast.big_endian cimport (
    likely,
    load_byte,
    load_int16,
    load_int32,
    unlikely,
)
from kwire._engine.fast.column cimport *
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.primitives cimport make_text
from kwire._engine.fast.python_api cimport (
    Py_XDECREF,
    PyErr_Clear,
    PyUnicode_AsUTF8AndSize,
)
from kwire._engine.fast.record_sets cimport *
from kwire._engine.fast.record_walk cimport *


cdef void reserve_rows(ColumnWalk* w) noexcept nogil:
    """Allocate space for the rows that the headers of the entries announce.

    This is only an optimization. The walk reads the headers again, and allocates more
    space on demand.
    """
    cdef const uint8_t* at = w.entries.cursor.start + w.entries.position
    cdef const uint8_t* end = (
        w.entries.cursor.start + min(<int64_t>w.entries.end, w.entries.stop)
    )
    cdef int64_t rows = 0
    cdef int64_t bytes_ = 0
    cdef int64_t size, count
    while end - at > BATCH_OVERHEAD:
        size = LOG_OVERHEAD + <int64_t>load_int32(at + SIZE_AT)
        if size < LOG_OVERHEAD + MESSAGE_OVERHEAD_0 or size > end - at:
            break
        if at[MAGIC_AT] < 2:
            rows += 1
            bytes_ += size
        elif size >= BATCH_OVERHEAD and not load_int16(at + ATTRIBUTES_AT) & CODEC_MASK:
            count = load_int32(at + COUNT_AT)
            if 0 < count <= (size - BATCH_OVERHEAD) // LEAST_RECORD:
                rows += count
                bytes_ += size - BATCH_OVERHEAD
        at += size
    if 0 < rows <= w.columns.limit and widen(w.columns, rows) == DONE:
        # Values usually are the largest part of records. The space for keys grows on
        # demand.
        if not w.views:
            grow_block(&w.value.text, 0, min(bytes_, w.value.limit))


cdef WalkEnd walk_entries(ColumnWalk* w) noexcept nogil:
    """Read uncompressed entries until one requires Python code."""
    cdef Step step
    cdef WalkEnd reason
    while True:
        step = find_entry(&w.entries)
        if step == SET_END:
            return AT_END
        if step == SET_FAULT:
            return AT_FAULT
        if step == SET_TRANSACTION:
            return AT_TRANSACTION
        if w.entries.entry.attributes & CODEC_MASK:
            return AT_ENTRY
        reason = walk_plain(w)
        if reason != AT_END:
            return reason


cdef WalkEnd walk_plain(ColumnWalk* w) noexcept nogil:
    """Read an entry that is not compressed."""
    cdef Entry* entry = &w.entries.entry
    cdef const uint8_t* at = w.entries.cursor.start + entry.position
    if entry.count > w.entries.most_records:
        return TOO_MANY
    if w.views:
        if w.input_buffer < 0:
            w.input_buffer = w.buffer_count
            w.buffer_count += count_windows(w.input_size)
        w.source.start = w.entries.cursor.start
        w.source.first_buffer = w.input_buffer
    if entry.magic == 2:
        return walk_records(w, at + BATCH_OVERHEAD, at + entry.size)
    return walk_message(w, entry, at)


cdef WalkEnd make_room(ColumnWalk* w, int64_t count) noexcept nogil:
    """Allocate space for more rows, and update the pointers to the columns."""
    cdef Outcome outcome
    if w.rows + count > w.columns.room:
        w.columns.length = w.rows
        outcome = widen(w.columns, w.rows + count)
        if outcome != DONE:
            return NO_ROOM if outcome == NO_MEMORY else TOO_LARGE
    w.offsets = <int64_t*>w.columns.children[<int>OFFSET].values.data
    w.timestamps = <int64_t*>w.columns.children[<int>TIMESTAMP].values.data
    w.timestamp_types = <int32_t*>w.columns.children[<int>TIMESTAMP_TYPE].values.data
    return AT_END


cdef WalkEnd walk_records(
    ColumnWalk* w, const uint8_t* at, const uint8_t* end
) noexcept nogil:
    """Append the records of a magic 2 batch to the columns."""
    cdef Entry* entry = &w.entries.entry
    cdef int64_t count = entry.count
    cdef int64_t first = w.rows
    cdef uint64_t raw, offset, timestamp
    cdef const uint8_t* stop
    cdef bint keep = True
    cdef bint inside = (
        entry.base_offset >= w.entries.lowest
        and entry.last_offset <= w.entries.highest
    )
    cdef int32_t appended = (entry.attributes & LOG_APPEND_TIME) >> 3
    cdef WalkEnd reason
    if count > (end - at) // LEAST_RECORD:
        return BAD_ENTRY
    reason = make_room(w, count)
    if reason != AT_END:
        return reason
    for _ in range(count):
        if unlikely(not take_raw(&at, end, 32, &raw)):
            return BAD_ENTRY
        if unlikely(raw & 1 or raw >> 1 > <uint64_t>(end - at)):
            return BAD_ENTRY
        stop = at + (raw >> 1)
        if unlikely(at == stop):
            return BAD_ENTRY
        at += 1
        if unlikely(not take_raw(&at, stop, 64, &timestamp)):
            return BAD_ENTRY
        timestamp = (
            <uint64_t>entry.base_timestamp + (timestamp >> 1 ^ (0 - (timestamp & 1)))
        )
        if appended:
            timestamp = <uint64_t>entry.max_timestamp
        if unlikely(not take_raw(&at, stop, 32, &offset)):
            return BAD_ENTRY
        offset = <uint64_t>entry.base_offset + (offset >> 1 ^ (0 - (offset & 1)))
        if not inside:
            keep = w.entries.lowest <= <int64_t>offset <= w.entries.highest
        reason = put_sized(w.key, w.rows, &at, stop, keep)
        if unlikely(reason != AT_END):
            return reason
        reason = put_sized(w.value, w.rows, &at, stop, keep)
        if unlikely(reason != AT_END):
            return reason
        if unlikely(not take_raw(&at, stop, 32, &raw)):
            return BAD_ENTRY
        if unlikely(raw != 0):
            reason = walk_headers(w, raw, &at, stop, keep)
            if unlikely(reason != AT_END):
                return reason
        if unlikely(at != stop):
            return BAD_ENTRY
        if likely(keep):
            reason = put_row(w, <int64_t>offset, <int64_t>timestamp, appended)
            if unlikely(reason != AT_END):
                return reason
    if at != end:
        return BAD_ENTRY
    if w.batch_columns:
        fill_batch(w, first)
    return AT_END


cdef inline WalkEnd put_row(
    ColumnWalk* w, int64_t offset, int64_t timestamp, int32_t kind
) noexcept nogil:
    """Append a row. Its key, value and headers must have been appended already."""
    cdef Outcome outcome = DONE
    w.offsets[w.rows] = offset
    w.timestamp_types[w.rows] = kind
    if unlikely(timestamp == -1):
        # There is no timestamp. The row is null in Arrow, and -1 in numpy for every
        # unit.
        outcome = mark_null(&w.columns.children[<int>TIMESTAMP], w.rows)
    elif w.factor != 1:
        if -INT64_MAX // w.factor <= timestamp <= INT64_MAX // w.factor:
            timestamp *= w.factor
        else:
            timestamp = 0
            outcome = mark_null(&w.columns.children[<int>TIMESTAMP], w.rows)
    elif w.divisor != 1:
        # Round towards the past like Python's // operator. C rounds towards 0.
        timestamp = timestamp // w.divisor - (timestamp % w.divisor < 0)
    w.timestamps[w.rows] = timestamp
    if w.headers != NULL:
        offsets_of(w.headers)[w.rows + 1] = <int32_t>w.headers.children.length
    w.rows += 1
    return AT_END if outcome == DONE else NO_ROOM


cdef inline WalkEnd put_sized(
    Column* column, int64_t row, const uint8_t** at, const uint8_t* end, bint keep
) noexcept nogil:
    """Append the bytes after a VARINT length, or null if the length is -1."""
    cdef uint64_t raw
    cdef int64_t size
    cdef Outcome outcome
    if unlikely(not take_raw(at, end, 32, &raw)):
        return BAD_ENTRY
    if raw & 1:
        if unlikely(raw != 1):
            return BAD_ENTRY
        outcome = put_null(column, row) if keep else DONE
        return AT_END if outcome == DONE else NO_ROOM
    size = <int64_t>(raw >> 1)
    if unlikely(size > end - at[0]):
        return BAD_ENTRY
    if likely(keep):
        outcome = append_text(column, row, at[0], size)
        if unlikely(outcome != DONE):
            return NO_ROOM if outcome == NO_MEMORY else TOO_LARGE
    at[0] += size
    return AT_END


cdef WalkEnd walk_headers(
    ColumnWalk* w, uint64_t raw, const uint8_t** at, const uint8_t* end, bint keep
) noexcept nogil:
    """Append record headers after their count.

    If the record is not kept or headers were not requested, they are only checked.
    """
    cdef int64_t count = <int64_t>(raw >> 1)
    cdef int64_t size, good
    cdef Column* item
    cdef Outcome outcome
    cdef WalkEnd reason
    if raw & 1 or count > (end - at[0]) // 2:
        return BAD_ENTRY
    keep = keep and w.headers != NULL
    item = w.headers.children if keep else NULL
    if keep and item.length + count > item.room:
        outcome = widen(item, item.length + count)
        if outcome != DONE:
            return NO_ROOM if outcome == NO_MEMORY else TOO_LARGE
    for _ in range(count):
        if not take_raw(at, end, 32, &raw):
            return BAD_ENTRY
        size = <int64_t>(raw >> 1)
        if raw & 1 or size > end - at[0]:
            return BAD_ENTRY
        outcome = DONE
        if keep:
            outcome = append_string(
                &item.children[0], item.length, at[0], size, &good
            )
        else:
            good = utf8_prefix(at[0], size)
        if unlikely(good < size):
            if not w.replace:
                return BAD_ENTRY
            outcome = DONE
            if keep:
                outcome = put_replaced(&item.children[0], item.length, at[0], size)
        if unlikely(outcome != DONE):
            return NO_ROOM if outcome == NO_MEMORY else TOO_LARGE
        at[0] += size
        reason = put_sized(
            &item.children[1] if keep else NULL,
            item.length if keep else 0,
            at,
            end,
            keep,
        )
        if reason != AT_END:
            return reason
        if keep:
            item.length += 1
    return AT_END


cdef Outcome put_replaced(
    Column* column, int64_t row, const uint8_t* at, int64_t size
) noexcept with gil:
    """Append a string whose invalid UTF-8 is replaced by U+FFFD."""
    cdef Outcome outcome = NO_MEMORY
    cdef Py_ssize_t length
    cdef const char* content = NULL
    cdef PyObject* text = make_text(at, <Py_ssize_t>size, "replace")
    if text != NULL:
        content = PyUnicode_AsUTF8AndSize(text, &length)
    if content != NULL:
        outcome = append_text(column, row, <const uint8_t*>content, length)
    else:
        PyErr_Clear()
    Py_XDECREF(text)
    return outcome


cdef WalkEnd walk_message(
    ColumnWalk* w, Entry* entry, const uint8_t* at
) noexcept nogil:
    """Append one magic 0 or 1 message to the columns."""
    cdef const uint8_t* end = at + entry.size
    cdef int64_t first = w.rows
    cdef int64_t size
    cdef int index
    cdef Outcome outcome
    cdef WalkEnd reason = make_room(w, 1)
    cdef bint keep = w.entries.lowest <= entry.base_offset <= w.entries.highest
    if reason != AT_END:
        return reason
    at += KEY_AT_1 if entry.magic else KEY_AT_0
    for index in range(2):
        if end - at < 4:
            return BAD_ENTRY
        size = load_int32(at)
        at += 4
        if size < -1 or size > end - at:
            return BAD_ENTRY
        outcome = DONE
        if keep and size < 0:
            outcome = put_null(&w.columns.children[<int>KEY + index], w.rows)
        elif keep:
            outcome = append_text(
                &w.columns.children[<int>KEY + index], w.rows, at, size
            )
        if outcome != DONE:
            return NO_ROOM if outcome == NO_MEMORY else TOO_LARGE
        at += max(size, 0)
    if at != end:
        return BAD_ENTRY
    if not keep:
        return AT_END
    reason = put_row(
        w,
        entry.base_offset,
        entry.base_timestamp,
        -1 if entry.magic == 0 else (w.entries.entry.attributes & LOG_APPEND_TIME) >> 3,
    )
    if reason == AT_END and w.batch_columns:
        fill_batch(w, first)
    return reason


cdef WalkEnd walk_inner(
    ColumnWalk* w, const uint8_t* start, Py_ssize_t size
) noexcept nogil:
    """Append the messages inside a wrapper message.

    All message headers are read first, because the last message determines the base for
    the relative offsets.
    """
    cdef Cursor cursor
    cdef Entry inner
    cdef Py_ssize_t at = 0
    cdef int64_t count = 0
    cdef int64_t first = 0
    cdef uint64_t base = 0
    cdef WalkEnd reason
    cursor.fault = 0
    cursor.start = start
    while at < size:
        if not read_entry(&cursor, at, size, w.entries.check_crc, &inner):
            return BAD_ENTRY
        if inner.magic != w.entries.entry.magic or inner.attributes & CODEC_MASK:
            return BAD_ENTRY
        if count == 0:
            first = inner.base_offset
        at += <Py_ssize_t>inner.size
        count += 1
    if count == 0:
        return BAD_ENTRY
    if count > w.entries.most_records:
        w.entries.entry.count = <int32_t>count
        return TOO_MANY
    if w.entries.entry.magic == 1 and w.entries.entry.last_offset != 0:
        if w.entries.entry.last_offset < inner.base_offset:
            return BAD_ENTRY
        base = <uint64_t>w.entries.entry.last_offset - <uint64_t>inner.base_offset
    # The header of the wrapper message contains only the last offset.
    w.entries.entry.base_offset = <int64_t>(<uint64_t>first + base)
    at = 0
    while at < size:
        # The loop above has already verified the checksums if that was requested.
        if (
            not read_entry(&cursor, at, size, False, &inner)
            or inner.magic != w.entries.entry.magic
        ):
            return BAD_ENTRY
        inner.base_offset = <int64_t>(<uint64_t>inner.base_offset + base)
        if w.entries.entry.magic == 1 and w.entries.entry.attributes & LOG_APPEND_TIME:
            inner.base_timestamp = w.entries.entry.max_timestamp
        reason = walk_message(w, &inner, start + at)
        if reason != AT_END:
            return reason
        at += <Py_ssize_t>inner.size
    # charge_entry() needs the number of records.
    w.entries.entry.count = <int32_t>count
    return AT_END


cdef void fill_batch(ColumnWalk* w, int64_t first) noexcept nogil:
    """Fill the columns that contain each record's batch fields."""
    cdef Column* column = &w.columns.children[<int>HEADERS + (w.headers != NULL)]
    cdef Entry* entry = &w.entries.entry
    cdef int64_t row
    for row in range(first, w.rows):
        (<int64_t*>column[0].values.data)[row] = entry.position
        (<int64_t*>column[1].values.data)[row] = entry.base_offset
        (<int8_t*>column[2].values.data)[row] = <int8_t>entry.magic
        (<int16_t*>column[3].values.data)[row] = <int16_t>entry.attributes
        (<int32_t*>column[4].values.data)[row] = entry.partition_leader_epoch
        (<int64_t*>column[5].values.data)[row] = entry.producer_id
        (<int16_t*>column[6].values.data)[row] = <int16_t>entry.producer_epoch
        (<int32_t*>column[7].values.data)[row] = entry.base_sequence


cdef inline bint take_raw(
    const uint8_t** at, const uint8_t* end, int bits, uint64_t* raw
) noexcept nogil:
    """Read an unsigned varint with up to ``bits`` bits.

    Returns False if it is invalid.
    """
    cdef const uint8_t* start = at[0]
    cdef uint64_t byte
    cdef int shift
    if unlikely(start == end):
        return False
    byte = load_byte(start)
    raw[0] = byte
    if likely(byte < 0x80):
        at[0] = start + 1
        return True
    if unlikely(end - start < 2):
        return False
    byte = load_byte(start + 1)
    raw[0] = (raw[0] & 0x7F) | (byte & 0x7F) << 7
    start += 2
    if likely(byte < 0x80):
        at[0] = start
        return True
    for shift in range(14, bits + 6, 7):
        if start == end:
            return False
        byte = load_byte(start)
        start += 1
        if byte >> (bits - shift):
            return False
        raw[0] |= (byte & 0x7F) << shift
        if byte < 0x80:
            at[0] = start
            return True
    return False
