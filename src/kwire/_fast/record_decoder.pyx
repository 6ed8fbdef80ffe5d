# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Records out of the bytes of a batch, as objects.

The bytes are those of an entry that ``batches.pyx`` has checked, or what their
decompression gave. Faults of plain bytes point to where they are in the input; those
of compressed ones to the first byte of the batch, as their bytes are not in it.
Lengths below -1 are refused, though Kafka takes each of them for null.

Twin: ``_pure/record_decoder.py``. Differs from its twin in: noted faults for
exceptions, and a path of two indexes and a name.
C needs for itself: ``read_headers``, ``header_name``, ``make_record``, ``path_of``,
``move_offsets``, ``begin``, ``finish``,
``read_batch_records``, ``read_content``, ``read_run``, ``read_inner``, ``payload_of``.
"""

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from kwire._fast.batches cimport *
from kwire._fast.big_endian cimport likely, unlikely
from kwire._fast.cursor cimport *
from kwire._fast.decoder cimport get_input
from kwire._fast.primitives cimport make_text, note_utf8
from kwire._fast.python_api cimport *
from kwire._fast.record_decoder cimport *
from kwire._fast.structs cimport new_struct, slots_of

from kwire import errors

cdef PyTypeObject* _record_class = NULL
cdef object _no_headers = ()

cdef enum:
    RECORD_SLOTS = 5
    LEAST_HEADER = 2
    LARGE_PAYLOAD = 262144


def bind_record(cls):
    """Tell the engine which class a record is."""
    global _record_class
    _record_class = <PyTypeObject*>cls


def read_records(data, header, *, bint compressed=False, bint replace=False):
    """Read the records of a batch of magic 2.

    ``data`` is the input that ``header.position`` counts in, or, if ``compressed``,
    what decompression gave. With ``replace``, header keys that are not UTF-8 get
    U+FFFD for the bad bytes.
    Shape: ``header.count`` times: length VARINT, attributes INT8, timestamp delta
    VARLONG, offset delta VARINT, key and value each as VARINT length (-1 is null) and
    bytes, header count VARINT, then the headers: VARINT length and UTF-8 key, VARINT
    length (-1 is null) and value.
    Units: offsets and timestamps (ms) are absolute. Raises ``DecodeError``: every
    record uses its length exactly, and the records use all bytes.
    Source: ``DefaultRecord.readFrom``.
    """
    cdef Reading r
    cdef Py_buffer buffer
    begin(&r, replace)
    entry_of(header, &r.entry)
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
    """Read the records of the batch of an input that begins at ``start``."""
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
    """Read the records of a batch from what its decompression gave."""
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
        # glibc gives freed heap back to the kernel beyond a threshold, which follows
        # the largest block ever freed: one block, never touched, saves the values of
        # every large batch from being written to fresh pages.
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
    # Nothing that can be decoded holds a cycle: spare the collector the tuple.
    if count:
        PyObject_GC_UnTrack(made)
    return made


cdef PyObject* read_record(Reading* r) noexcept:
    """Read one record of magic 2; the cursor may end after it."""
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
    if unlikely(not require(cursor, length)):
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


cdef inline PyObject* make_record(
    Reading* r, int64_t offset, int64_t timestamp
) noexcept:
    """Make a record with its two numbers; the other slots are still empty."""
    cdef PyObject* made = new_struct(_record_class, RECORD_SLOTS)
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


cdef PyObject* read_headers(
    Reading* r, const uint8_t* start, int64_t count
) noexcept:
    """Read the headers of a record, after their count, into a tuple of pairs."""
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
    made = PyTuple_New(count)
    if made == NULL:
        return NULL
    for index in range(count):
        pair = PyTuple_New(2)
        if pair == NULL:
            Py_XDECREF(made)
            return NULL
        PyTuple_SET_ITEM(made, index, pair)
        part = header_name(r, index)
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


cdef inline PyObject* header_name(Reading* r, Py_ssize_t index) noexcept:
    """Read the key of a header, which is often that of the record before."""
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
    if unlikely(not require(cursor, size)):
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
    text = decode_header_key(r, start, size)
    # Of other strings the bytes are not at hand.
    if text != NULL and PyUnicode_IS_COMPACT_ASCII(text):
        Py_XDECREF(known)
        r.names[index % KNOWN_NAMES] = new_ref(text)
    return text


cdef inline PyObject* read_sized(Cursor* cursor) noexcept:
    """Read a VARINT length (bytes) and that many bytes, or None for -1."""
    cdef const uint8_t* start = cursor.at
    cdef int64_t size = zigzag(read_unsigned_varint(cursor))
    if unlikely(cursor.fault):
        return NULL
    if size < 0:
        if unlikely(size < -1):
            note(cursor, BAD_LENGTH, start, size)
            return NULL
        return new_ref(NONE)
    if unlikely(not require(cursor, size)):
        return NULL
    cursor.at += size
    return PyBytes_FromStringAndSize(<const char*>cursor.at - size, size)


def read_message_run(data, header, *, bint check_crc=True, end=None):
    """Read a plain message of magic 0 or 1 and those after it that are like it.

    ``header`` is the first one's. The run ends before the first entry that is
    compressed, damaged, cut, of another magic or timestamp type, or after ``end``
    (bytes). Returns the records, and the header of the run: from the first to the last
    one's offset.
    Raises ``DecodeError`` for the first message alone.
    """
    cdef Reading r
    cdef Py_buffer buffer
    cdef Py_ssize_t stop
    cdef tuple records
    begin(&r, False)
    entry_of(header, &r.entry)
    get_input(data, &buffer)
    try:
        stop = buffer.len if end is None else min(<Py_ssize_t>end, buffer.len)
        check_place(&r.entry, stop)
        records = read_run(&r, <const uint8_t*>buffer.buf, stop, check_crc)
    finally:
        finish(&r)
        PyBuffer_Release(&buffer)
    return records, header_of(&r.entry)


cdef tuple read_run(
    Reading* r, const uint8_t* start, Py_ssize_t stop, bint check_crc
):
    """Read a run of messages; the entry of the first becomes that of the run."""
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
            &r.cursor, last.position + last.size, stop, check_crc, &following
        ):
            break
        if following.magic != first.magic or following.attributes != first.attributes:
            break
    if r.cursor.fault == PYTHON_ERROR or not records:
        raise make_failure(r, -1)
    # The next call begins at what ended the run, and reports it.
    r.cursor.fault = 0
    r.part = NULL
    r.entry.size = last.position + last.size - first.position
    r.entry.last_offset = last.last_offset
    r.entry.max_timestamp = largest
    r.entry.count = <int32_t>len(records)
    return tuple(records)


cdef PyObject* read_message(Reading* r, Entry* entry) noexcept:
    """Read key and value of a message of magic 0 or 1; all of its bytes are used.

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
    """Read an INT32 length and find that many bytes: start and end, or None for -1."""
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


cdef inline bint check_end(Cursor* cursor) noexcept nogil:
    """Check that nothing is left of what the cursor reads."""
    if unlikely(cursor.at != cursor.end):
        note(cursor, TRAILING_BYTES, cursor.at, cursor.end - cursor.at)
        return False
    return True


def find_payload(data, header):
    """Find the compressed bytes of a batch or wrapper message: start and end.

    A wrapper's key is skipped; one without a value is refused at its first byte.
    """
    cdef Reading r
    cdef Py_buffer buffer
    begin(&r, False)
    entry_of(header, &r.entry)
    get_input(data, &buffer)
    try:
        check_place(&r.entry, buffer.len)
        return payload_of(&r, <const uint8_t*>buffer.buf)
    finally:
        PyBuffer_Release(&buffer)


cdef (Py_ssize_t, Py_ssize_t) payload_of(Reading* r, const uint8_t* start) except *:
    """Find the payload of the entry of an input that begins at ``start``."""
    cdef Cursor* cursor = &r.cursor
    cdef const uint8_t* content
    cdef Py_ssize_t size
    cdef Py_ssize_t end = r.entry.position + r.entry.size
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
    """Read the messages that a compressed wrapper message holds.

    ``data`` is what decompression gave, ``header`` the wrapper's. Offsets of magic 0
    are as written; those of magic 1 count up to the wrapper's own, which is that of
    the last one (0 there means that they count from 0, as old producers wrote). Under
    log append time all have the wrapper's timestamp. All bytes are used; checksums of
    the messages are checked.
    Raises ``DecodeError`` at the wrapper's first byte.
    Source: ``AbstractLegacyRecordBatch.DeepRecordsIterator``.
    """
    cdef Reading r
    cdef Py_buffer buffer
    begin(&r, False)
    entry_of(header, &r.entry)
    get_input(data, &buffer)
    try:
        return read_inner(&r, <const uint8_t*>buffer.buf, buffer.len, check_crc)
    finally:
        finish(&r)
        PyBuffer_Release(&buffer)


cdef tuple read_inner(
    Reading* r, const uint8_t* start, Py_ssize_t end, bint check_crc
):
    """Read the messages of a wrapper from what its decompression gave."""
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
        at += inner.size
    if not r.cursor.fault:
        r.record = -1
        if not records:
            note(&r.cursor, EMPTY_WRAPPER, start, 0)
        else:
            base_of_messages(&r.cursor, inner.base_offset, &r.entry, &base)
    if r.cursor.fault:
        raise make_failure(r, r.entry.position)
    if base:
        move_offsets(records, base)
    return tuple(records)


cdef int base_of_messages(
    Cursor* cursor, int64_t last, Entry* wrapper, int64_t* base
) noexcept nogil:
    """Compute what to add to the offsets within a wrapper; ``last`` is the last one."""
    if wrapper.magic == 0 or wrapper.last_offset == 0:
        return 0
    if wrapper.last_offset < last:
        note(cursor, BAD_WRAPPER_OFFSET, cursor.start, last)
        return 0
    base[0] = <int64_t>(<uint64_t>wrapper.last_offset - <uint64_t>last)
    return 0


cdef int move_offsets(list records, int64_t base) except -1:
    """Add to the offsets of records that no caller has yet."""
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


cdef void begin(Reading* r, bint replace) noexcept:
    """Set up what one call knows, except for the entry."""
    memset(r, 0, sizeof(Reading))
    r.replace = replace
    r.record = -1
    r.header = -1


cdef void finish(Reading* r) noexcept:
    """Drop the references that only the call needed."""
    cdef int index
    Py_XDECREF(r.timestamp_object)
    for index in range(KNOWN_NAMES):
        Py_XDECREF(r.names[index])


cdef int check_place(Entry* entry, Py_ssize_t size) except -1:
    """Check that the input has the bytes of the entry of a header."""
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


cdef object make_failure(Reading* r, Py_ssize_t position):
    """Turn a fault into the exception."""
    if r.cursor.fault == PYTHON_ERROR:
        raise_pending()
    return errors.decode_failure(
        r.cursor.fault,
        r.cursor.fault_detail,
        r.cursor.fault_offset if position < 0 else position,
        path_of(r),
    )


cdef str path_of(Reading* r):
    """Write where a fault is, as ``records[3].headers[0].key``."""
    cdef str text = "" if r.record < 0 else f"records[{r.record}]"
    if r.header >= 0:
        text += f".headers[{r.header}]"
    if r.part != NULL:
        text += ("." if text else "") + r.part.decode()
    return text


cdef inline int64_t zigzag(uint32_t raw) noexcept nogil:
    """Undo the zigzag form: 0, 1, 2, 3 mean 0, -1, 1, -2."""
    return <int32_t>(raw >> 1 ^ (0 - (raw & 1)))


cdef PyObject* decode_header_key(
    Reading* r, const uint8_t* start, Py_ssize_t size
) noexcept:
    """Decode a header key that ends at byte ``end``."""
    cdef const char* on_error = "replace" if r.replace else "strict"
    cdef PyObject* text = make_text(start, size, on_error)
    if text == NULL:
        r.cursor.at = start
        note_utf8(&r.cursor)
    return text
