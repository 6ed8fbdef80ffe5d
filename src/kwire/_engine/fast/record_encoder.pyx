# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes rows as a record batch, or as magic 0 or 1 messages.

``rows.pyx`` reads and checks the rows. ``records/options.py`` checks which options a
format supports.

Twin: ``pure/record_encoder.py``. Differs from its twin in: errors are fault codes, and
all sizes are computed before the first byte of a record is written.

Only in Cython: ``store_batch_head``, ``zigzag_delta``, ``measure_body``,
``put_record``, ``put_fields``, ``put_header_pairs``, ``put_message``, ``put_varint``,
``put_varlong``, ``put_sized``, ``varint_size``, ``varlong_size``, ``sized_size``,
``begin``, ``make_room``, ``finish_encoding``, ``compress_records``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from kwire._engine.fast.batches cimport *
from kwire._engine.fast.big_endian cimport (
    likely,
    store_int16,
    store_int32,
    store_int64,
    unlikely,
)
from kwire._engine.fast.checksums cimport crc32_of, crc32c_of
from kwire._engine.fast.python_api cimport *
from kwire._engine.fast.record_encoder cimport *
from kwire._engine.fast.rows cimport *
from kwire._engine.fast.writer cimport OUT_OF_RANGE, TOO_LARGE, WRITE_ERROR

from kwire import errors

cdef struct Encoding:
    # The bytes object that is being filled, and the position of the next byte.
    PyObject* out
    uint8_t* at
    uint8_t* end
    Blame blame


def encode_batch(rows, header, compress=None):
    """Encode a magic 2 batch.

    ``header`` contains the fields that do not follow from the rows. The size, the
    checksum and the record count are computed. Other fields are computed as follows:

    * last offset: the last row's offset, or the one in ``header`` if it is greater.
      Compaction preserves the last offset of a batch whose last records it removes.
    * base timestamp: the first row's timestamp, unless the batch has a delete horizon.
    * max timestamp: the maximum timestamp in the rows, unless there are none or the
      timestamp type is LogAppendTime.

    ``compress`` is a function that compresses the record bytes.

    Shape: see ``read_entry`` and ``read_records``. Raises ``EncodeError`` if a row
    cannot be encoded. The error path contains the row.

    Source: ``DefaultRecord.writeTo``, ``DefaultRecordBatch``.
    """
    cdef Encoding e
    cdef Entry entry
    cdef Row row
    cdef tuple items = tuple(rows)
    cdef Py_ssize_t count = len(items)
    cdef Py_ssize_t index
    cdef int64_t previous, largest
    cdef PyObject* item
    cdef bint done = True
    cdef int steps = STEPS
    fill_entry(header, &entry)
    check_base(&entry)
    begin(&e, BATCH_OVERHEAD + guess_size(items))
    previous = entry.base_offset - 1
    largest = -1
    if not entry.attributes & DELETE_HORIZON:
        entry.base_timestamp = -1
    e.at += BATCH_OVERHEAD
    for index in range(count):
        if unlikely(not take_step(&steps)):
            Py_XDECREF(e.out)
            raise_pending()
        item = PyTuple_GET_ITEM(<PyObject*>items, index)
        done = split(&e.blame, item, compute_next_offset(previous), &row)
        if done:
            if row.offset <= previous or row.offset - entry.base_offset > LARGEST:
                e.blame.part = b"offset"
                done = blame_value(&e.blame, OUT_OF_RANGE, NULL)
            else:
                if index == 0 and not entry.attributes & DELETE_HORIZON:
                    entry.base_timestamp = row.timestamp
                previous = row.offset
                if row.timestamp > largest:
                    largest = row.timestamp
                done = put_record(&e, &entry, &row)
        drop(&row)
        if unlikely(not done):
            e.blame.record = index
            break
    if unlikely(not done):
        Py_XDECREF(e.out)
        raise make_failure(&e.blame, row.offset, previous, entry.base_offset)
    data = finish_encoding(&e, BATCH_OVERHEAD, compress)
    if entry.attributes & LOG_APPEND_TIME or not count:
        largest = entry.max_timestamp
    if previous > entry.last_offset:
        entry.last_offset = previous
    entry.max_timestamp = largest
    entry.count = <int32_t>count
    # Writing to the bytes object is safe, because no other code has a reference to it
    # yet.
    store_batch_head(
        <uint8_t*>PyBytes_AS_STRING(<PyObject*>data),
        PyBytes_GET_SIZE(<PyObject*>data),
        &entry,
    )
    return data


cdef object compress_records(object view, Py_ssize_t head, object compress):
    """Compress the bytes of a view after the first ``head`` bytes.

    Releases the view.
    """
    # A with statement would crash in Cython's code if there was no memory.
    try:
        content = view[head:]
        try:
            packed = compress(content)
            if len(packed) > LARGEST - head:
                raise errors.encode_failure(errors.TOO_LARGE, "", None, "records")
            return b"".join((bytes(view[:head]), packed))
        finally:
            content.release()
    finally:
        view.release()


cdef void store_batch_head(
    uint8_t* at, int64_t size, Entry* entry
) noexcept nogil:
    """Write the header of a magic 2 batch in front of its records."""
    store_int64(at + BASE_OFFSET_AT, <uint64_t>entry.base_offset)
    store_int32(at + SIZE_AT, <uint32_t>(size - LOG_OVERHEAD))
    store_int32(at + LEADER_EPOCH_AT, <uint32_t>entry.partition_leader_epoch)
    at[MAGIC_AT] = 2
    store_int16(at + ATTRIBUTES_AT, <uint16_t>entry.attributes)
    store_int32(
        at + LAST_OFFSET_DELTA_AT,
        <uint32_t>(entry.last_offset - entry.base_offset),
    )
    store_int64(at + BASE_TIMESTAMP_AT, <uint64_t>entry.base_timestamp)
    store_int64(at + MAX_TIMESTAMP_AT, <uint64_t>entry.max_timestamp)
    store_int64(at + PRODUCER_ID_AT, <uint64_t>entry.producer_id)
    store_int16(at + PRODUCER_EPOCH_AT, <uint16_t>entry.producer_epoch)
    store_int32(at + BASE_SEQUENCE_AT, <uint32_t>entry.base_sequence)
    store_int32(at + COUNT_AT, <uint32_t>entry.count)
    store_int32(
        at + CRC_AT,
        crc32c_of(0, at + ATTRIBUTES_AT, <size_t>(size - ATTRIBUTES_AT)),
    )


cdef bint put_record(Encoding* e, Entry* entry, Row* row) noexcept:
    """Write one magic 2 record. The caller must have checked its fields."""
    cdef int64_t size = measure_body(entry, row)
    if unlikely(not make_room(e, size + 5)):
        return False
    put_fields(&e.at, entry, row, size)
    put_header_pairs(&e.at, row.headers)
    return True


cdef void put_header_pairs(uint8_t** at, PyObject* headers) noexcept:
    """Write record headers without a bounds check."""
    cdef Py_ssize_t index, text_size
    cdef PyObject* pair
    cdef const char* text
    put_varint(at, <uint32_t>PyTuple_GET_SIZE(headers) << 1)
    for index in range(PyTuple_GET_SIZE(headers)):
        pair = PyTuple_GET_ITEM(headers, index)
        text = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(pair, 0), &text_size)
        put_sized(at, text, text_size)
        pair = PyTuple_GET_ITEM(pair, 1)
        if pair == NONE:
            put_sized(at, NULL, -1)
        else:
            put_sized(at, PyBytes_AS_STRING(pair), PyBytes_GET_SIZE(pair))


cdef int check_base(Entry* entry) except -1:
    """Raise ``EncodeError`` if the base offset of a header is negative."""
    if entry.base_offset < 0:
        raise errors.EncodeError("expected an int64 from 0", "base_offset")
    return 0


def encode_messages(rows, header, compress=None):
    """Encode magic 0 or 1 messages: each separately, or all in one wrapper message.

    With ``compress``, the messages are compressed together in a wrapper message. For
    magic 1, the offsets inside are relative, beginning at 0. The wrapper has the offset
    of the last message, and their max timestamp unless the timestamp type is
    LogAppendTime.

    Shape: see ``read_entry`` and ``read_message``. Raises ``EncodeError`` if a row
    cannot be encoded. The error path contains the row.

    Source: ``LegacyRecord.write``, ``MemoryRecordsBuilder``.
    """
    cdef Encoding e
    cdef Entry entry
    cdef Row row
    cdef tuple items = tuple(rows)
    cdef Py_ssize_t index
    cdef int64_t previous
    cdef int64_t base = 0
    cdef int64_t largest = -1
    cdef PyObject* item
    cdef bint done = True
    cdef int steps = STEPS
    cdef int attributes
    fill_entry(header, &entry)
    check_base(&entry)
    attributes = entry.attributes & ~CODEC_MASK
    if entry.magic and compress is not None:
        base = entry.base_offset
    previous = entry.base_offset - 1
    begin(
        &e,
        guess_size(items)
        + <int64_t>len(items) * (LOG_OVERHEAD + MESSAGE_OVERHEAD_1),
    )
    for index in range(len(items)):
        if unlikely(not take_step(&steps)):
            Py_XDECREF(e.out)
            raise_pending()
        item = PyTuple_GET_ITEM(<PyObject*>items, index)
        done = split(&e.blame, item, compute_next_offset(previous), &row)
        if done:
            done = check_no_headers(&e.blame, &row)
        if done and row.offset <= previous:
            e.blame.part = b"offset"
            done = blame_value(&e.blame, OUT_OF_RANGE, NULL)
        if done:
            previous = row.offset
            if entry.magic == 0:
                row.timestamp = -1
            elif attributes & LOG_APPEND_TIME:
                row.timestamp = entry.max_timestamp
            if row.timestamp > largest:
                largest = row.timestamp
            row.offset -= base
            done = put_message(&e, entry.magic, attributes, &row)
        drop(&row)
        if not done:
            e.blame.record = index
            break
    if not done:
        Py_XDECREF(e.out)
        raise make_failure(&e.blame, row.offset, previous, -1)
    payload = finish_encoding(&e, 0, compress)
    if compress is None:
        return payload
    begin(&e, len(payload) + LOG_OVERHEAD + MESSAGE_OVERHEAD_1)
    row.key_size = -1
    row.value = PyBytes_AS_STRING(<PyObject*>payload)
    row.value_size = len(payload)
    row.offset = previous
    row.timestamp = largest
    if not put_message(&e, entry.magic, entry.attributes, &row):
        Py_XDECREF(e.out)
        raise make_failure(&e.blame)
    return finish_encoding(&e, 0, None)


cdef bint put_message(Encoding* e, int magic, int attributes, Row* row) noexcept:
    """Write one magic 0 or 1 message."""
    cdef int64_t size = MESSAGE_OVERHEAD_1 if magic else MESSAGE_OVERHEAD_0
    cdef uint8_t* at
    if row.key_size > 0:
        size += row.key_size
    if row.value_size > 0:
        size += row.value_size
    if not make_room(e, size + LOG_OVERHEAD):
        return False
    at = e.at
    store_int64(at + BASE_OFFSET_AT, <uint64_t>row.offset)
    store_int32(at + SIZE_AT, <uint32_t>size)
    at[MAGIC_AT] = <uint8_t>magic
    at[MESSAGE_ATTRIBUTES_AT] = <uint8_t>attributes
    e.at = at + MESSAGE_TIMESTAMP_AT
    if magic:
        store_int64(e.at, <uint64_t>row.timestamp)
        e.at += 8
    store_int32(e.at, <uint32_t>row.key_size)
    e.at += 4
    if row.key_size > 0:
        memcpy(e.at, row.key, <size_t>row.key_size)
        e.at += row.key_size
    store_int32(e.at, <uint32_t>row.value_size)
    e.at += 4
    if row.value_size > 0:
        memcpy(e.at, row.value, <size_t>row.value_size)
        e.at += row.value_size
    store_int32(
        at + MESSAGE_CRC_AT,
        crc32_of(0, at + MAGIC_AT, <size_t>(size + LOG_OVERHEAD - MAGIC_AT)),
    )
    return True


cdef int begin(Encoding* e, int64_t hint) except -1:
    """Initialize the state for a call and allocate about ``hint`` bytes."""
    clear(&e.blame)
    hint = min(hint, LARGEST)
    if hint >= LARGE_OUTPUT:
        # The bytes object is shrunk at the end. glibc maps new pages for each block
        # above a threshold, which adapts to the largest block that was ever freed.
        # Allocating and freeing a larger block once, without touching it, keeps this
        # output and all later ones on the heap.
        take_and_free(<size_t>(hint + hint // 4))
    e.out = new_bytes(hint)
    if e.out == NULL:
        raise MemoryError
    e.at = <uint8_t*>PyBytes_AS_STRING(e.out)
    e.end = e.at + hint
    return 0


cdef inline bint make_room(Encoding* e, int64_t size) noexcept:
    """Ensure capacity for ``size`` more bytes. A batch must be smaller than 2 GiB."""
    cdef int64_t used, room
    if likely(size <= e.end - e.at):
        return True
    used = e.at - <uint8_t*>PyBytes_AS_STRING(e.out)
    room = e.end - <uint8_t*>PyBytes_AS_STRING(e.out)
    if size > LARGEST - used:
        return blame_value(&e.blame, TOO_LARGE, NONE)
    # The capacity never exceeds the maximum batch size, so no other limit needs to be
    # checked.
    room = min(max(2 * room, used + size), LARGEST)
    if _PyBytes_Resize(&e.out, <Py_ssize_t>room) < 0:
        e.out = NULL
        e.blame.fault = WRITE_ERROR
        return False
    e.at = <uint8_t*>PyBytes_AS_STRING(e.out) + used
    e.end = <uint8_t*>PyBytes_AS_STRING(e.out) + room
    return True


cdef object finish_encoding(Encoding* e, Py_ssize_t head, object compress):
    """Return the written bytes.

    With ``compress``, all after ``head`` are compressed.
    """
    cdef Py_ssize_t used = e.at - <uint8_t*>PyBytes_AS_STRING(e.out)
    cdef PyObject* out = e.out
    e.out = NULL
    if _PyBytes_Resize(&out, used) < 0:
        raise MemoryError
    data = <object>out
    Py_XDECREF(out)
    if compress is None:
        return data
    return compress_records(memoryview(data), head, compress)
