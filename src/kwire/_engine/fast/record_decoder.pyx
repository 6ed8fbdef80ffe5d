# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes the records of a magic 2 batch into objects.

The input is an entry that ``batches.pyx`` has validated, or its decompressed records.
The offset of an error in an uncompressed batch is its position in the input. For a
compressed batch it is the first byte of the batch, because the decompressed bytes have
no position in the input.

A length below -1 is an error, although Kafka treats it as null. ``legacy_records.pyx``
decodes magic 0 and 1 messages.

Twin: ``pure/record_decoder.py``. Differs from its twin in: errors are fault codes, and
an error path consists of two indexes and a name.

Only in Cython: ``read_headers``, ``read_header_key``, ``write_path``, ``begin``,
``finish``, ``read_batch_records``, ``read_content``.
"""

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from kwire._engine.fast.batches cimport *
from kwire._engine.fast.big_endian cimport likely, unlikely
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.primitives cimport make_text, note_utf8
from kwire._engine.fast.python_api cimport *
from kwire._engine.fast.record_decoder cimport *
from kwire._engine.fast.structs cimport slots_of

from kwire import errors

cdef PyTypeObject* _record_class = NULL
cdef object _no_headers = ()

cdef enum:
    LEAST_HEADER = 2
    LARGE_PAYLOAD = 262144


def bind_record(cls):
    """Set the class of records.

    The engine cannot import it, because the module of the class imports the engine.
    """
    global _record_class
    _record_class = <PyTypeObject*>cls


def read_records(data, header, *, bint compressed=False, bint replace=False):
    """Read the records of a magic 2 batch.

    * ``data``: the input to which ``header.position`` refers. If ``compressed`` is
      True, the decompressed records.
    * ``replace``: replace invalid UTF-8 in header keys by U+FFFD instead of raising.

    Shape: ``header.record_count`` times: length VARINT, attributes INT8, timestamp
    delta VARLONG, offset delta VARINT, key and value each as VARINT length (-1 is null)
    and bytes, header count VARINT, then for each header: VARINT length and key in
    UTF-8, VARINT length (-1 is null) and value.

    Units: offsets and timestamps (ms) of the records are absolute.

    Raises ``DecodeError`` if a record does not end at its length, or if the records do
    not end at the end of the batch.

    Source: ``DefaultRecord.readFrom``.
    """
    cdef Reading r
    cdef Py_buffer buffer
    begin(&r, replace)
    fill_entry(header, &r.entry)
    get_input(data, &buffer)
    try:
        if compressed:
            return read_content(&r, <const uint8_t*>buffer.buf, buffer.len)
        check_place(&r.entry, buffer.len)
        return read_batch_records(&r, <const uint8_t*>buffer.buf)
    finally:
        finish(&r)
        PyBuffer_Release(&buffer)


cdef tuple read_batch_records(Reading* r, const uint8_t* start):
    """Read the records of an uncompressed batch.

    ``start`` is the start of the input.
    """
    cdef PyObject* made
    r.cursor.start = start
    r.cursor.at = start + r.entry.position + BATCH_OVERHEAD
    r.cursor.end = start + r.entry.position + r.entry.size
    made = read_all(r)
    if made == NULL:
        raise make_failure(r, -1)
    result = <tuple>made
    Py_XDECREF(made)
    return result


cdef tuple read_content(Reading* r, const uint8_t* start, Py_ssize_t size):
    """Read the records of a compressed batch from its decompressed content."""
    cdef PyObject* made
    r.cursor.start = start
    r.cursor.at = start
    r.cursor.end = start + size
    made = read_all(r)
    if made == NULL:
        raise make_failure(r, r.entry.position)
    result = <tuple>made
    Py_XDECREF(made)
    return result


cdef PyObject* read_all(Reading* r) noexcept:
    cdef Py_ssize_t count = r.entry.count
    cdef Py_ssize_t index
    cdef PyObject* made
    cdef PyObject* record
    cdef int steps = STEPS
    if r.cursor.end - r.cursor.at >= LARGE_PAYLOAD:
        # glibc returns freed heap memory to the kernel above a threshold, which adapts
        # to the largest block that was ever freed. Allocating and freeing one block,
        # without touching it, raises the threshold. Otherwise the values of every large
        # batch would be written to new pages.
        take_and_free(<size_t>(r.cursor.end - r.cursor.at))
    if count < 0 or count > (r.cursor.end - r.cursor.at) // LEAST_RECORD:
        note(&r.cursor, BAD_RECORD_COUNT, r.cursor.start, count)
        r.cursor.fault_offset = r.entry.position
        return NULL
    made = PyTuple_New(count)
    if made == NULL:
        r.cursor.fault = PYTHON_ERROR
        return NULL
    for index in range(count):
        record = read_record(r) if take_step(&steps) else NULL
        if unlikely(record == NULL):
            if not r.cursor.fault:
                r.cursor.fault = PYTHON_ERROR
            r.record = index
            Py_XDECREF(made)
            return NULL
        PyTuple_SET_ITEM(made, index, record)
    if not check_end(&r.cursor):
        Py_XDECREF(made)
        return NULL
    # Decoded values cannot contain reference cycles, so the garbage collector does not
    # need to track the tuple.
    if count:
        PyObject_GC_UnTrack(made)
    return made


cdef PyObject* read_record(Reading* r) noexcept:
    """Read one magic 2 record. More records may follow it."""
    cdef Cursor* cursor = &r.cursor
    cdef const uint8_t* end = cursor.end
    cdef const uint8_t* start = cursor.at
    cdef int64_t length = zigzag(read_unsigned_varint(cursor))
    cdef uint64_t timestamp, offset
    cdef PyObject* made
    cdef PyObject** slots
    if unlikely(cursor.fault):
        return NULL
    if unlikely(length < 0):
        note(cursor, BAD_LENGTH, start, length)
        return NULL
    if unlikely(not require(cursor, <uint64_t>length)):
        return NULL
    cursor.end = cursor.at + length
    read_uint8(cursor)
    if unlikely(cursor.fault):
        return NULL
    timestamp = read_unsigned_varlong(cursor)
    if unlikely(cursor.fault):
        return NULL
    timestamp = (
        <uint64_t>r.entry.base_timestamp + (timestamp >> 1 ^ (0 - (timestamp & 1)))
    )
    if r.entry.attributes & LOG_APPEND_TIME:
        timestamp = <uint64_t>r.entry.max_timestamp
    offset = read_unsigned_varint(cursor)
    if unlikely(cursor.fault):
        return NULL
    offset = <uint64_t>r.entry.base_offset + (offset >> 1 ^ (0 - (offset & 1)))
    made = make_record(r, <int64_t>offset, <int64_t>timestamp)
    if unlikely(made == NULL):
        return NULL
    slots = slots_of(made)
    slots[2] = read_sized(cursor)
    if unlikely(slots[2] == NULL):
        r.part = b"key"
        Py_XDECREF(made)
        return NULL
    slots[3] = read_sized(cursor)
    if unlikely(slots[3] == NULL):
        r.part = b"value"
        Py_XDECREF(made)
        return NULL
    start = cursor.at
    length = zigzag(read_unsigned_varint(cursor))
    if likely(length == 0 and not cursor.fault):
        slots[4] = new_ref(<PyObject*>_no_headers)
    else:
        slots[4] = read_headers(r, start, length)
        if unlikely(slots[4] == NULL):
            Py_XDECREF(made)
            return NULL
    if unlikely(not check_end(cursor)):
        Py_XDECREF(made)
        return NULL
    cursor.end = end
    return made


cdef PyObject* read_headers(
    Reading* r, const uint8_t* start, int64_t count
) noexcept:
    """Read record headers after their count, as a tuple of pairs."""
    cdef Cursor* cursor = &r.cursor
    cdef Py_ssize_t index
    cdef PyObject* made
    cdef PyObject* pair
    cdef PyObject* part
    r.part = b"headers"
    if cursor.fault:
        return NULL
    if not 0 <= count <= (cursor.end - cursor.at) // LEAST_HEADER:
        note(cursor, BAD_COUNT, start, count)
        return NULL
    made = PyTuple_New(<Py_ssize_t>count)
    if made == NULL:
        return NULL
    for index in range(<Py_ssize_t>count):
        pair = PyTuple_New(2)
        if pair == NULL:
            Py_XDECREF(made)
            return NULL
        PyTuple_SET_ITEM(made, index, pair)
        part = read_header_key(r, index)
        if part == NULL:
            r.header = index
            r.part = b"key"
            Py_XDECREF(made)
            return NULL
        PyTuple_SET_ITEM(pair, 0, part)
        part = read_sized(cursor)
        if part == NULL:
            r.header = index
            r.part = b"value"
            Py_XDECREF(made)
            return NULL
        PyTuple_SET_ITEM(pair, 1, part)
        PyObject_GC_UnTrack(pair)
    if count:
        PyObject_GC_UnTrack(made)
    r.part = NULL
    return made


cdef inline PyObject* read_header_key(Reading* r, Py_ssize_t index) noexcept:
    """Read a header key. Reuse the string if the previous record has the same key."""
    cdef Cursor* cursor = &r.cursor
    cdef const uint8_t* start = cursor.at
    cdef int64_t size = zigzag(read_unsigned_varint(cursor))
    cdef PyObject* known
    cdef PyObject* text
    if unlikely(cursor.fault):
        return NULL
    if unlikely(size < 0):
        note(cursor, UNEXPECTED_NULL if size == -1 else BAD_LENGTH, start, size)
        return NULL
    if unlikely(not require(cursor, <uint64_t>size)):
        return NULL
    start = cursor.at
    cursor.at += size
    known = r.names[index % KNOWN_NAMES]
    if (
        known != NULL
        and PyUnicode_GET_LENGTH(known) == size
        and memcmp(PyUnicode_1BYTE_DATA(known), start, <size_t>size) == 0
    ):
        return new_ref(known)
    text = decode_header_key(r, start, <Py_ssize_t>size)
    # Only ASCII strings are kept, because the bytes of other strings cannot be compared
    # with the input directly.
    if text != NULL and PyUnicode_IS_COMPACT_ASCII(text):
        Py_XDECREF(known)
        r.names[index % KNOWN_NAMES] = new_ref(text)
    return text


cdef inline PyObject* read_sized(Cursor* cursor) noexcept:
    """Read a VARINT length and that number of bytes. The result is None for -1."""
    cdef const uint8_t* start = cursor.at
    cdef int64_t size = zigzag(read_unsigned_varint(cursor))
    if unlikely(cursor.fault):
        return NULL
    if size < 0:
        if unlikely(size < -1):
            note(cursor, BAD_LENGTH, start, size)
            return NULL
        return new_ref(NONE)
    if unlikely(not require(cursor, <uint64_t>size)):
        return NULL
    cursor.at += size
    return PyBytes_FromStringAndSize(<const char*>cursor.at - size, <Py_ssize_t>size)


cdef void begin(Reading* r, bint replace) noexcept:
    """Initialize the state for a call, except for the batch header."""
    memset(r, 0, sizeof(Reading))
    r.cls = _record_class
    r.replace = replace
    r.record = -1
    r.header = -1


cdef void finish(Reading* r) noexcept:
    """Release the references that only this call needed."""
    cdef int index
    Py_XDECREF(r.timestamp_object)
    for index in range(KNOWN_NAMES):
        Py_XDECREF(r.names[index])


cdef int check_place(Entry* entry, Py_ssize_t size) except -1:
    """Raise ``ValueError`` if the input does not contain the entry of a header."""
    cdef Py_ssize_t least = BATCH_OVERHEAD
    if entry.magic < 2:
        least = LOG_OVERHEAD + MESSAGE_OVERHEAD_0
    if entry.magic == 1:
        least = LOG_OVERHEAD + MESSAGE_OVERHEAD_1
    if (
        not 0 <= entry.magic <= 2
        or entry.size < least
        or not 0 <= entry.position <= size
        or entry.size > size - entry.position
    ):
        raise ValueError(
            "the header must be of a batch in this input; read it from the same bytes"
        )
    return 0


cdef object make_failure(Reading* r, int64_t position):
    """Create the ``DecodeError`` for a fault while reading records."""
    if r.cursor.fault == PYTHON_ERROR:
        raise_pending()
    return errors.decode_failure(
        r.cursor.fault,
        r.cursor.fault_detail,
        r.cursor.fault_offset if position < 0 else position,
        write_path(r),
    )


cdef str write_path(Reading* r):
    """Format an error path, for example as ``records[3].headers[0].key``."""
    cdef str text = "" if r.record < 0 else f"records[{r.record}]"
    if r.header >= 0:
        text += f".headers[{r.header}]"
    if r.part != NULL:
        text += ("." if text else "") + r.part.decode()
    return text


cdef inline int64_t zigzag(uint32_t raw) noexcept nogil:
    """Decode the zigzag encoding: 0, 1, 2, 3 mean 0, -1, 1, -2."""
    return <int32_t>(raw >> 1 ^ (0 - (raw & 1)))


cdef PyObject* decode_header_key(
    Reading* r, const uint8_t* start, Py_ssize_t size
) noexcept:
    """Decode a header key from UTF-8. Errors have the offset of the invalid byte."""
    cdef const char* on_error = "replace" if r.replace else "strict"
    cdef PyObject* text = make_text(start, size, on_error)
    if text == NULL:
        r.cursor.at = start
        note_utf8(&r.cursor)
    return text
