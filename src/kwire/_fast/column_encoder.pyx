# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns into the bytes of a batch of magic 2, without an object for each record.

A column of bytes is a tuple of its validity (None: no nulls), its 32-bit offsets, its
bytes, and the row that it begins with; one of numbers lacks the offsets. So slices of
Arrow arrays come as they are.

Twin: ``_pure/column_encoder.py``. Differs from its twin in: noted faults for
exceptions, and no rows are made on the way.
C needs for itself: ``open_buffer``, ``open_bits``, ``open_bytes``, ``open_numbers``,
``open_headers``, ``check_room``, ``close_all``, ``piece``, ``number_at``, ``put_rows``,
``put_headers``, ``headers_size``, ``failure_of``, ``row_number``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from kwire._fast.batches cimport *
from kwire._fast.big_endian cimport unlikely
from kwire._fast.decoder cimport get_input
from kwire._fast.python_api cimport (
    PyBuffer_Release,
    PyBytes_AS_STRING,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
    Py_XDECREF,
)
from kwire._fast.column cimport utf8_prefix
from kwire._fast.record_encoder cimport (
    LARGEST,
    compressed,
    put_sized,
    put_varint,
    put_varlong,
    sized_size,
    store_batch_head,
    varint_size,
    varlong_size,
)

from kwire import errors

cdef enum:
    # Validity, numbers or offsets, and bytes of all columns there can be.
    BUFFERS = 17

cdef enum Fault:
    FINE
    BAD_OFFSETS
    BAD_OFFSET
    BAD_TIMESTAMP
    NULL_KEY
    NOT_UTF8_KEY

cdef struct Bytes:
    const uint8_t* validity
    const int32_t* offsets
    const char* data
    int64_t data_size
    int64_t start

cdef struct Numbers:
    const uint8_t* validity
    const int64_t* values
    int64_t start
    # What the rows have where there is no column.
    int64_t step
    int64_t first

cdef struct Source:
    Py_buffer buffers[BUFFERS]
    int held
    int64_t count
    Numbers offsets
    Numbers timestamps
    Bytes key
    Bytes value
    bint has_headers
    const int32_t* lists
    int64_t header_count
    Bytes header_key
    Bytes header_value
    int64_t row


def encode_columns(
    count, offsets, timestamps, key, value, headers, header, compress=None
):
    """Encode ``count`` rows as one batch of magic 2.

    ``offsets`` and ``timestamps`` (ms, null is -1) are columns of int64 or None: then
    offsets go on from the base, and there are no timestamps. ``headers`` is None or a
    tuple of list offsets, the first row, the keys and the values. ``header`` and
    ``compress`` are those of ``encode_batch``.
    Raises ``EncodeError`` with the row in its path.
    """
    cdef Source s
    cdef Entry entry
    cdef PyObject* out
    cdef uint8_t* at
    cdef int64_t size, largest
    cdef Fault fault = FINE
    entry_of(header, &entry)
    memset(&s, 0, sizeof(Source))
    s.count = row_number(count)
    if entry.base_offset < 0:
        raise errors.EncodeError("expected an int64 from 0", "base_offset")
    try:
        open_numbers(&s, &s.offsets, offsets, entry.base_offset, 1)
        open_numbers(&s, &s.timestamps, timestamps, -1, 0)
        open_bytes(&s, &s.key, key, s.count)
        open_bytes(&s, &s.value, value, s.count)
        open_headers(&s, headers)
        # Bytes of the right size from the start cost less than those that shrink.
        with nogil:
            fault = put_rows(&s, &entry, NULL, &size, &largest)
        if fault == FINE:
            size += BATCH_OVERHEAD
            if size > LARGEST:
                raise errors.encode_failure(errors.TOO_LARGE, "", None, "records")
            out = PyBytes_FromStringAndSize(NULL, size)
            if out == NULL:
                raise MemoryError
            data = <object>out
            Py_XDECREF(out)
            at = <uint8_t*>PyBytes_AS_STRING(out) + BATCH_OVERHEAD
            size -= BATCH_OVERHEAD
            with nogil:
                fault = put_rows(&s, &entry, at, &size, &largest)
        if fault != FINE:
            raise failure_of(&s, fault, &entry)
    finally:
        close_all(&s)
    if compress is not None:
        data = compressed(memoryview(data), BATCH_OVERHEAD, compress)
    if not (entry.attributes & LOG_APPEND_TIME or s.count == 0):
        entry.max_timestamp = largest
    entry.count = <int32_t>s.count
    at = <uint8_t*>PyBytes_AS_STRING(<PyObject*>data)
    size = PyBytes_GET_SIZE(<PyObject*>data)
    # Nobody else has seen these bytes yet.
    with nogil:
        store_batch_head(at, size, &entry)
    return data


cdef Fault put_rows(
    Source* s, Entry* entry, uint8_t* at, int64_t* total, int64_t* largest
) noexcept nogil:
    """Write all records where ``total`` bytes have room; for NULL, add them up."""
    cdef const uint8_t* end = at + total[0]
    cdef int64_t previous = entry.base_offset - 1
    cdef int64_t offset, timestamp
    cdef uint64_t raw
    cdef uint32_t delta
    cdef const char* key
    cdef const char* value
    cdef Py_ssize_t key_size, value_size, size
    cdef int64_t row = 0
    cdef Fault fault = FINE
    cdef bint measure = at == NULL
    # Copies, as what is written through ``at`` could be the source for all C knows.
    cdef Numbers offsets = s.offsets
    cdef Numbers timestamps = s.timestamps
    cdef Bytes keys = s.key
    cdef Bytes values = s.value
    cdef bint has_headers = s.has_headers
    cdef int64_t base_offset = entry.base_offset
    cdef int64_t base_timestamp = -1
    cdef int64_t highest = -1
    cdef int64_t sum = 0
    if entry.attributes & DELETE_HORIZON:
        base_timestamp = entry.base_timestamp
    elif s.count:
        base_timestamp = number_at(&timestamps, 0)
    for row in range(s.count):
        offset = number_at(&offsets, row)
        timestamp = number_at(&timestamps, row)
        if unlikely(offset <= previous or offset - base_offset > LARGEST):
            fault = BAD_OFFSET
            break
        if unlikely(timestamp < -1):
            fault = BAD_TIMESTAMP
            break
        previous = offset
        if unlikely(
            not piece(&keys, row, &key, &key_size)
            or not piece(&values, row, &value, &value_size)
        ):
            fault = BAD_OFFSETS
            break
        raw = <uint64_t>timestamp - <uint64_t>base_timestamp
        raw = raw << 1 ^ <uint64_t>(<int64_t>raw >> 63)
        delta = <uint32_t>(offset - base_offset) << 1
        size = (
            1 + varlong_size(raw) + varint_size(delta)
            + sized_size(key_size) + sized_size(value_size)
        )
        if has_headers:
            fault = headers_size(s, row, &size)
            if unlikely(fault != FINE):
                break
        else:
            size += 1
        if measure:
            sum += size + varint_size(<uint32_t>size << 1)
            highest = max(highest, timestamp)
            continue
        # Nobody should write to columns meanwhile, but somebody may.
        if unlikely(size + varint_size(<uint32_t>size << 1) > end - at):
            fault = BAD_OFFSETS
            break
        put_varint(&at, <uint32_t>size << 1)
        at[0] = 0
        at += 1
        put_varlong(&at, raw)
        put_varint(&at, delta)
        put_sized(&at, key, key_size)
        put_sized(&at, value, value_size)
        if has_headers:
            fault = put_headers(s, row, &at, end)
            if unlikely(fault != FINE):
                break
        else:
            at[0] = 0
            at += 1
    if fault == FINE and not measure and at != end:
        fault = BAD_OFFSETS
    if fault != FINE:
        s.row = row
        return fault
    if measure:
        total[0] = sum
        largest[0] = highest
    entry.base_timestamp = base_timestamp
    if previous > entry.last_offset:
        entry.last_offset = previous
    return FINE


cdef inline int64_t number_at(Numbers* numbers, int64_t row) noexcept nogil:
    """Read a number; null is -1."""
    if numbers.values == NULL:
        return <int64_t>(<uint64_t>numbers.first + <uint64_t>(row * numbers.step))
    row += numbers.start
    if numbers.validity != NULL and not numbers.validity[row >> 3] >> (row & 7) & 1:
        return -1
    return numbers.values[row]


cdef inline bint piece(
    Bytes* column, int64_t row, const char** data, Py_ssize_t* size
) noexcept nogil:
    """Find the bytes of a row, size -1 for null; False where offsets are not right."""
    row += column.start
    cdef int64_t start = column.offsets[row]
    cdef int64_t end = column.offsets[row + 1]
    if unlikely(start < 0 or end < start or end > column.data_size):
        return False
    data[0] = column.data + start
    size[0] = end - start
    if column.validity != NULL and not column.validity[row >> 3] >> (row & 7) & 1:
        size[0] = -1
    return True


cdef Fault headers_size(Source* s, int64_t row, Py_ssize_t* size) noexcept nogil:
    """Add the size of a record's headers, which are checked on the way."""
    cdef int64_t first = s.lists[row]
    cdef int64_t last = s.lists[row + 1]
    cdef int64_t index
    cdef const char* data
    cdef Py_ssize_t length
    if first < 0 or last < first or last > s.header_count:
        return BAD_OFFSETS
    size[0] += varint_size(<uint32_t>(last - first) << 1)
    for index in range(first, last):
        if not piece(&s.header_key, index, &data, &length):
            return BAD_OFFSETS
        if length < 0:
            return NULL_KEY
        if utf8_prefix(<const uint8_t*>data, length) != length:
            return NOT_UTF8_KEY
        size[0] += sized_size(length)
        if not piece(&s.header_value, index, &data, &length):
            return BAD_OFFSETS
        size[0] += sized_size(length)
    return FINE


cdef Fault put_headers(
    Source* s, int64_t row, uint8_t** at, const uint8_t* end
) noexcept nogil:
    """Write the headers of a record, which may not be what they were when checked."""
    cdef int64_t first = s.lists[row]
    cdef int64_t last = s.lists[row + 1]
    cdef int64_t index
    cdef const char* data = NULL
    cdef Py_ssize_t length = -1
    if first < 0 or last < first or last > s.header_count:
        return BAD_OFFSETS
    if varint_size(<uint32_t>(last - first) << 1) > end - at[0]:
        return BAD_OFFSETS
    put_varint(at, <uint32_t>(last - first) << 1)
    for index in range(first, last):
        if not piece(&s.header_key, index, &data, &length):
            return BAD_OFFSETS
        if sized_size(length) > end - at[0]:
            return BAD_OFFSETS
        put_sized(at, data, length)
        if not piece(&s.header_value, index, &data, &length):
            return BAD_OFFSETS
        if sized_size(length) > end - at[0]:
            return BAD_OFFSETS
        put_sized(at, data, length)
    return FINE


cdef int open_buffer(Source* s, object data, const void** start) except -1:
    """Look into a buffer for as long as the call lasts; return its place."""
    if s.held == BUFFERS:
        raise SystemError("more buffers than columns have")
    get_input(b"" if data is None else data, &s.buffers[s.held])
    s.held += 1
    start[0] = s.buffers[s.held - 1].buf
    return s.held - 1


cdef int64_t row_number(object number) except -1:
    """Check a count of rows, or the row that a column begins with."""
    cdef int64_t row = -1
    # An object's own idea of <= may be any.
    if -LARGEST <= int(number) <= LARGEST:
        row = int(number)
    if not 0 <= row <= LARGEST:
        raise errors.EncodeError("expected columns as long as their count", "records")
    return row


cdef int check_room(Source* s, int place, int64_t size) except -1:
    """Check that a buffer has the bytes that its rows need."""
    if s.buffers[place].len < size:
        raise errors.EncodeError("expected columns as long as their count", "records")
    return 0


cdef const uint8_t* open_bits(Source* s, object data, int64_t rows) except? NULL:
    """Look at the validity of rows; NULL where there is none."""
    cdef const void* bits = NULL
    if data is None:
        return NULL
    check_room(s, open_buffer(s, data, &bits), (rows + 7) // 8)
    return <const uint8_t*>bits


cdef int open_numbers(
    Source* s, Numbers* numbers, object column, int64_t first, int64_t step
) except -1:
    """Look at a column of int64, or set up what stands for a missing one."""
    cdef const void* values
    cdef int place
    numbers.first = first
    numbers.step = step
    numbers.values = NULL
    if column is None:
        return 0
    validity, data, start = column
    numbers.start = row_number(start)
    numbers.validity = open_bits(s, validity, numbers.start + s.count)
    place = open_buffer(s, data, &values)
    check_room(s, place, 8 * (numbers.start + s.count))
    numbers.values = <const int64_t*>values
    return 0


cdef int open_bytes(
    Source* s, Bytes* bytes_, object column, int64_t count
) except -1:
    """Look at a column of bytes."""
    cdef const void* data
    cdef int place
    validity, offsets, content, start = column
    bytes_.start = row_number(start)
    bytes_.validity = open_bits(s, validity, bytes_.start + count)
    place = open_buffer(s, offsets, &data)
    bytes_.offsets = <const int32_t*>data
    if count:
        check_room(s, place, 4 * (bytes_.start + count + 1))
    place = open_buffer(s, content, &data)
    bytes_.data = <const char*>data
    bytes_.data_size = s.buffers[place].len
    return 0


cdef int open_headers(Source* s, object headers) except -1:
    """Look at the columns of headers."""
    cdef const void* lists
    cdef int64_t start
    cdef int place
    if headers is None or s.count == 0:
        return 0
    offsets, first, count, key, value = headers
    start = row_number(first)
    s.header_count = row_number(count)
    place = open_buffer(s, offsets, &lists)
    check_room(s, place, 4 * (start + s.count + 1))
    s.lists = <const int32_t*>lists + start
    s.has_headers = True
    open_bytes(s, &s.header_key, key, s.header_count)
    open_bytes(s, &s.header_value, value, s.header_count)
    return 0


cdef void close_all(Source* s) noexcept:
    """Let go of all buffers."""
    cdef int index
    for index in range(s.held):
        PyBuffer_Release(&s.buffers[index])


cdef object failure_of(Source* s, Fault fault, Entry* entry):
    """Turn a fault into the exception."""
    cdef str path = f"records[{s.row}]"
    if fault == BAD_OFFSETS:
        return errors.EncodeError("expected offsets within the column's bytes", path)
    if fault == BAD_OFFSET:
        return errors.EncodeError(
            f"expected ascending offsets from {entry.base_offset} to "
            f"{<object>entry.base_offset + LARGEST}, "
            f"got {number_at(&s.offsets, s.row)}",
            f"{path}.offset",
        )
    if fault == BAD_TIMESTAMP:
        return errors.encode_failure(
            errors.OUT_OF_RANGE,
            "an int64 from -1",
            number_at(&s.timestamps, s.row),
            f"{path}.timestamp",
        )
    if fault == NULL_KEY:
        return errors.EncodeError("expected a string, got None", f"{path}.headers")
    return errors.EncodeError("expected header keys of UTF-8", f"{path}.headers")
