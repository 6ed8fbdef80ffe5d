# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes magic 0 and 1 messages as records.

An uncompressed message is a separate entry. Compressed messages are contained in the
value of a wrapper message. ``batches.pyx`` reads and checks all fields of a message
except its key and value, which are read here.

Twin: ``pure/legacy_records.py``. Differs from its twin in: errors are fault codes.

Only in Cython: ``read_run``, ``find_entry_payload``, ``read_inner``, ``move_offsets``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from kwire._engine.fast.batches cimport *
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.legacy_records cimport *
from kwire._engine.fast.python_api cimport *
from kwire._engine.fast.record_decoder cimport *
from kwire._engine.fast.structs cimport slots_of

cdef object _no_headers = ()


def read_message_run(data, header, *, bint check_crc=True, end=None):
    """Read a run of similar uncompressed magic 0 or 1 messages.

    ``header`` describes the first message. The run ends before the first entry that is
    compressed, damaged or incomplete, or that has another magic or timestamp type, and
    at the latest at byte ``end``.

    Returns the records and a header for the whole run, with the base offset of the
    first and the last offset of the last message.

    Raises ``DecodeError`` only if the first message is invalid.
    """
    cdef Reading r
    cdef Py_buffer buffer
    cdef Py_ssize_t stop
    cdef tuple records
    begin(&r, False)
    fill_entry(header, &r.entry)
    get_input(data, &buffer)
    try:
        stop = buffer.len if end is None else min(<Py_ssize_t>end, buffer.len)
        check_place(&r.entry, stop)
        records = read_run(&r, <const uint8_t*>buffer.buf, stop, check_crc)
    finally:
        finish(&r)
        PyBuffer_Release(&buffer)
    return records, make_header(&r.entry)


cdef tuple read_run(
    Reading* r, const uint8_t* start, Py_ssize_t stop, bint check_crc
):
    """Read a run of messages. Updates the entry so that it describes the whole run."""
    cdef Entry first = r.entry
    cdef Entry last = r.entry
    cdef Entry following = r.entry
    cdef PyObject* made
    cdef int64_t largest = first.max_timestamp
    cdef list records = []
    cdef int steps = STEPS
    r.cursor.start = start
    while True:
        if not take_step(&steps):
            r.cursor.fault = PYTHON_ERROR
            break
        made = read_message(r, &following)
        if made == NULL:
            break
        record = <object>made
        Py_XDECREF(made)
        records.append(record)
        last = following
        largest = max(largest, last.max_timestamp)
        if not read_entry(
            &r.cursor,
            <Py_ssize_t>(last.position + last.size),
            stop,
            check_crc,
            &following,
        ):
            break
        if following.magic != first.magic or following.attributes != first.attributes:
            break
    if r.cursor.fault == PYTHON_ERROR or not records:
        raise make_failure(r, -1)
    # The next call begins with the entry that ended the run and raises its error.
    r.cursor.fault = 0
    r.part = NULL
    r.entry.size = last.position + last.size - first.position
    r.entry.last_offset = last.last_offset
    r.entry.max_timestamp = largest
    r.entry.count = <int32_t>len(records)
    return tuple(records)


cdef PyObject* read_message(Reading* r, Entry* entry) noexcept:
    """Read key and value of a magic 0 or 1 message. No bytes may remain.

    Shape: INT32 length (-1 is null) and bytes, twice.
    """
    cdef Cursor* cursor = &r.cursor
    cdef PyObject* made
    cdef PyObject** slots
    cdef const uint8_t* start
    cdef Py_ssize_t size
    cdef int index
    cursor.at = cursor.start + entry.position
    cursor.at += KEY_AT_1 if entry.magic else KEY_AT_0
    cursor.end = cursor.start + entry.position + entry.size
    made = make_record(r, entry.base_offset, entry.base_timestamp)
    if made == NULL:
        cursor.fault = PYTHON_ERROR
        return NULL
    slots = slots_of(made)
    for index in range(2):
        if not read_classic(cursor, &start, &size):
            r.part = b"value" if index else b"key"
            Py_XDECREF(made)
            return NULL
        if size < 0:
            slots[2 + index] = new_ref(NONE)
        else:
            slots[2 + index] = PyBytes_FromStringAndSize(<const char*>start, size)
            if slots[2 + index] == NULL:
                cursor.fault = PYTHON_ERROR
                Py_XDECREF(made)
                return NULL
    slots[4] = new_ref(<PyObject*>_no_headers)
    if not check_end(cursor):
        Py_XDECREF(made)
        return NULL
    return made


cdef bint read_classic(
    Cursor* cursor, const uint8_t** start, Py_ssize_t* size
) noexcept nogil:
    """Read an INT32 length and skip that number of bytes.

    Returns the start and the end of the bytes, or None if the length is -1.
    """
    size[0] = read_int32(cursor)
    if cursor.fault:
        return False
    if size[0] < -1:
        note(cursor, BAD_LENGTH, cursor.at - 4, size[0])
        return False
    start[0] = cursor.at
    if size[0] >= 0:
        if not require(cursor, size[0]):
            return False
        cursor.at += size[0]
    return True


def find_payload(data, header):
    """Return start and end of an entry's compressed bytes.

    The key of a wrapper message is ignored. A wrapper message without a value is an
    error at its first byte.
    """
    cdef Reading r
    cdef Py_buffer buffer
    begin(&r, False)
    fill_entry(header, &r.entry)
    get_input(data, &buffer)
    try:
        check_place(&r.entry, buffer.len)
        return find_entry_payload(&r, <const uint8_t*>buffer.buf)
    finally:
        PyBuffer_Release(&buffer)


cdef (int64_t, int64_t) find_entry_payload(
    Reading* r, const uint8_t* start
) except *:
    """Return start and end of an entry's compressed bytes.

    ``start`` is the start of the input.
    """
    cdef Cursor* cursor = &r.cursor
    cdef const uint8_t* content
    cdef Py_ssize_t size
    cdef int64_t end = r.entry.position + r.entry.size
    if r.entry.magic == 2:
        return r.entry.position + BATCH_OVERHEAD, end
    cursor.start = start
    cursor.at = start + r.entry.position
    cursor.at += KEY_AT_1 if r.entry.magic else KEY_AT_0
    cursor.end = start + end
    r.part = b"key"
    if read_classic(cursor, &content, &size):
        r.part = b"value"
        if read_classic(cursor, &content, &size):
            r.part = NULL
            if size < 0:
                note(cursor, NULL_WRAPPER, start + r.entry.position, 0)
            else:
                check_end(cursor)
    if cursor.fault:
        raise make_failure(r, -1)
    return content - start, content - start + size


def read_inner_messages(data, header, *, bint check_crc=True):
    """Read the messages inside a compressed wrapper message.

    ``data`` is the decompressed value, and ``header`` describes the wrapper message.
    All bytes must belong to messages. With ``check_crc``, the checksums of the messages
    are verified.

    Offsets of magic 0 are absolute. Offsets of magic 1 are relative: the wrapper
    message has the offset of its last message. If the wrapper message has offset 0, the
    offsets inside are used unchanged and count from 0, as some old producers wrote
    them. If the timestamp type is LogAppendTime, all records have the wrapper message's
    timestamp.

    Raises ``DecodeError`` at the wrapper message's first byte.

    Source: ``AbstractLegacyRecordBatch.DeepRecordsIterator``.
    """
    cdef Reading r
    cdef Py_buffer buffer
    begin(&r, False)
    fill_entry(header, &r.entry)
    get_input(data, &buffer)
    try:
        return read_inner(&r, <const uint8_t*>buffer.buf, buffer.len, check_crc)
    finally:
        finish(&r)
        PyBuffer_Release(&buffer)


cdef tuple read_inner(
    Reading* r, const uint8_t* start, Py_ssize_t end, bint check_crc
):
    """Read the messages inside a compressed wrapper message from a C buffer."""
    cdef Entry inner
    cdef PyObject* made
    cdef Py_ssize_t at = 0
    cdef int64_t base = 0
    cdef list records = []
    cdef int steps = STEPS
    r.cursor.start = start
    while at < end and not r.cursor.fault:
        r.record = len(records)
        if not read_entry(&r.cursor, at, end, check_crc, &inner):
            if not r.cursor.fault:
                note(&r.cursor, TRUNCATED, start + end, 1)
            break
        if inner.magic != r.entry.magic or inner.attributes & CODEC_MASK:
            note(&r.cursor, BAD_INNER_MESSAGE, start + at, r.record)
            break
        if inner.magic and r.entry.attributes & LOG_APPEND_TIME:
            inner.base_timestamp = r.entry.max_timestamp
        if not take_step(&steps):
            r.cursor.fault = PYTHON_ERROR
            break
        made = read_message(r, &inner)
        if made == NULL:
            break
        record = <object>made
        Py_XDECREF(made)
        records.append(record)
        at += <Py_ssize_t>inner.size
    if not r.cursor.fault:
        r.record = -1
        if not records:
            note(&r.cursor, EMPTY_WRAPPER, start, 0)
        else:
            compute_base(&r.cursor, inner.base_offset, &r.entry, &base)
    if r.cursor.fault:
        raise make_failure(r, r.entry.position)
    if base:
        move_offsets(records, base)
    return tuple(records)


cdef int compute_base(
    Cursor* cursor, int64_t last, Entry* wrapper, int64_t* base
) noexcept nogil:
    """Compute the number to add to the offsets inside a wrapper message.

    ``last`` is the offset of the last message inside.
    """
    if wrapper.magic == 0 or wrapper.last_offset == 0:
        return 0
    if wrapper.last_offset < last:
        note(cursor, BAD_WRAPPER_OFFSET, cursor.start, last)
        return 0
    base[0] = <int64_t>(<uint64_t>wrapper.last_offset - <uint64_t>last)
    return 0


cdef int move_offsets(list records, int64_t base) except -1:
    """Add the base to the offsets of the records."""
    cdef PyObject** slots
    cdef int64_t offset
    cdef PyObject* moved
    for record in records:
        slots = slots_of(<void*>record)
        offset = <object>slots[0]
        moved = int_of(<int64_t>(<uint64_t>offset + <uint64_t>base))
        if moved == NULL:
            raise MemoryError
        Py_XDECREF(slots[0])
        slots[0] = moved
    return 0
