# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes columns as a magic 2 batch, without an object for each record.

A bytes column is a tuple of its validity (None if there are no nulls), its 32-bit
offsets, its bytes, and its first row. A column of numbers is a tuple without the
offsets. Slices of Arrow arrays can therefore be used without a copy, at any alignment.

Another thread may modify the columns. Validity, offsets and numbers are therefore
copied before they are read, because they determine the batch size. Header keys are
checked again after they have been copied to the batch.

Twin: ``pure/column_encoder.py``. Differs from its twin in: errors are fault codes, and
no rows are created.

Only in Cython: ``open_buffer``, ``copy_buffer``, ``open_bits``, ``open_bytes``,
``open_numbers``, ``open_headers``, ``close_all``, ``find_bytes_row``, ``read_number``,
``bit_at``, ``measure_rows``, ``put_rows``, ``put_headers``, ``headers_size``,
``make_failure``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from kwire._engine.fast.arrays cimport Block, give_block, take_block
from kwire._engine.fast.batches cimport *
from kwire._engine.fast.big_endian cimport unlikely
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.python_api cimport (
    PyBuffer_Release,
    PyBytes_AS_STRING,
    PyBytes_GET_SIZE,
    Py_XDECREF,
    new_bytes,
)
from kwire._engine.fast.column cimport utf8_prefix
from kwire._engine.fast.column_rows cimport check_row_number
from kwire._engine.fast.record_encoder cimport (
    LARGEST,
    compress_records,
    put_sized,
    put_varint,
    put_varlong,
    sized_size,
    store_batch_head,
    varint_size,
    varlong_size,
    zigzag_delta,
)

from kwire import errors

cdef enum:
    # Buffers that are not copied: bytes of record keys, record values, header keys and
    # header values.
    BUFFERS = 4
    # Copied buffers: validity and numbers of two columns, validity and offsets of four
    # columns, and header list offsets.
    COPIES = 13

cdef enum RowFault:
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
    # Index of the first row's validity bit.
    int shift

cdef struct Numbers:
    const uint8_t* validity
    const int64_t* values
    int shift
    # Without a column, row n has the value first + n * step.
    int64_t step
    int64_t first

cdef struct Source:
    Py_buffer buffers[BUFFERS]
    int held
    Block copies[COPIES]
    int copied
    # Size of each record in bytes without its length field, as uint32.
    Block sizes
    int64_t count
    Numbers offsets
    Numbers timestamps
    Bytes key
    Bytes value
    bint has_headers
    const int32_t* lists
    int64_t header_count
    # First header of these rows. The header columns may also contain headers for other
    # rows.
    int64_t first_header
    Bytes header_key
    Bytes header_value
    int64_t row


def encode_columns(
    count, offsets, timestamps, key, value, headers, header, compress=None
):
    """Encode ``count`` rows as one magic 2 batch.

    * ``offsets``: int64 column. None: contiguous offsets from the base offset.
    * ``timestamps`` (ms): int64 column, -1 for null. None: no timestamps.
    * ``key``, ``value``: bytes columns.
    * ``headers``: None, or a tuple of list offsets, first row, header count, header key
      column, and header value column.
    * ``header``, ``compress``: as for ``encode_batch``.

    Raises ``EncodeError`` if a row cannot be encoded. The error path contains the row.
    """
    cdef Source s
    cdef Entry entry
    cdef PyObject* out
    cdef uint8_t* at
    cdef int64_t size, largest
    cdef RowFault fault = FINE
    fill_entry(header, &entry)
    memset(&s, 0, sizeof(Source))
    s.count = check_row_number(count)
    if entry.base_offset < 0:
        raise errors.EncodeError("expected an int64 from 0", "base_offset")
    try:
        open_numbers(&s, &s.offsets, offsets, entry.base_offset, 1)
        open_numbers(&s, &s.timestamps, timestamps, -1, 0)
        open_bytes(&s, &s.key, key, 0, s.count, s.count)
        open_bytes(&s, &s.value, value, 0, s.count, s.count)
        open_headers(&s, headers)
        if not take_block(&s.sizes, 4 * s.count):
            raise MemoryError
        # Compute the size first: allocating the exact size is faster than shrinking the
        # bytes object afterwards.
        with nogil:
            fault = measure_rows(&s, &entry, &size, &largest)
        if fault == FINE:
            size += BATCH_OVERHEAD
            if size > LARGEST:
                raise errors.encode_failure(errors.TOO_LARGE, "", None, "records")
            out = new_bytes(size)
            if out == NULL:
                raise MemoryError
            data = <object>out
            Py_XDECREF(out)
            at = <uint8_t*>PyBytes_AS_STRING(out) + BATCH_OVERHEAD
            with nogil:
                fault = put_rows(&s, &entry, at)
        if fault != FINE:
            raise make_failure(&s, fault, &entry)
    finally:
        close_all(&s)
    if compress is not None:
        data = compress_records(memoryview(data), BATCH_OVERHEAD, compress)
    if not (entry.attributes & LOG_APPEND_TIME or s.count == 0):
        entry.max_timestamp = largest
    entry.count = <int32_t>s.count
    at = <uint8_t*>PyBytes_AS_STRING(<PyObject*>data)
    size = PyBytes_GET_SIZE(<PyObject*>data)
    # Writing to the bytes object is safe, because no other code has a reference to it
    # yet.
    with nogil:
        store_batch_head(at, size, &entry)
    return data


cdef RowFault measure_rows(
    Source* s, Entry* entry, int64_t* total, int64_t* largest
) noexcept nogil:
    """Check all rows, store each record size, and compute the total size."""
    cdef int64_t previous = entry.base_offset - 1
    cdef int64_t base_offset = entry.base_offset
    cdef int64_t highest = -1
    cdef int64_t sum = 0
    cdef int64_t row = 0
    cdef int64_t offset, timestamp, size
    cdef const char* data
    cdef Py_ssize_t key_size, value_size
    cdef RowFault fault = FINE
    # Use local copies. Otherwise the compiler must assume that writing to sizes
    # modifies the source, and would load these fields again for each row.
    cdef Numbers offsets = s.offsets
    cdef Numbers timestamps = s.timestamps
    cdef Bytes keys = s.key
    cdef Bytes values = s.value
    cdef bint has_headers = s.has_headers
    cdef int64_t count = s.count
    cdef uint32_t* sizes = <uint32_t*>s.sizes.data
    cdef int64_t base_timestamp = -1
    if entry.attributes & DELETE_HORIZON:
        base_timestamp = entry.base_timestamp
    elif count:
        base_timestamp = read_number(&timestamps, 0)
    for row in range(count):
        offset = read_number(&offsets, row)
        timestamp = read_number(&timestamps, row)
        if unlikely(offset <= previous or offset - base_offset > LARGEST):
            fault = BAD_OFFSET
            break
        if unlikely(timestamp < -1):
            fault = BAD_TIMESTAMP
            break
        previous = offset
        highest = max(highest, timestamp)
        if unlikely(
            not find_bytes_row(&keys, row, &data, &key_size)
            or not find_bytes_row(&values, row, &data, &value_size)
        ):
            fault = BAD_OFFSETS
            break
        size = (
            1 + varlong_size(zigzag_delta(timestamp, base_timestamp))
            + varint_size(<uint32_t>(offset - base_offset) << 1)
            + sized_size(key_size) + sized_size(value_size)
        )
        if has_headers:
            fault = headers_size(s, row, &size)
            if unlikely(fault != FINE):
                break
        else:
            size += 1
        # A size that does not fit in 32 bits makes the sum exceed the limit, so the
        # truncated value is never used.
        sizes[row] = <uint32_t>size
        sum += size + varint_size(<uint32_t>size << 1)
    if fault != FINE:
        s.row = row
        return fault
    total[0] = sum
    largest[0] = highest
    entry.base_timestamp = base_timestamp
    if previous > entry.last_offset:
        entry.last_offset = previous
    return FINE


cdef RowFault put_rows(Source* s, Entry* entry, uint8_t* at) noexcept nogil:
    """Write all records after ``measure_rows``, without bounds checks."""
    cdef int64_t row = 0
    cdef const char* data = NULL
    cdef Py_ssize_t size = -1
    cdef RowFault fault
    # Use local copies. Otherwise the compiler must assume that writing through at
    # modifies the source, and would load these fields again for each row.
    cdef Numbers offsets = s.offsets
    cdef Numbers timestamps = s.timestamps
    cdef Bytes keys = s.key
    cdef Bytes values = s.value
    cdef bint has_headers = s.has_headers
    cdef int64_t count = s.count
    cdef const uint32_t* sizes = <const uint32_t*>s.sizes.data
    cdef int64_t base_offset = entry.base_offset
    cdef int64_t base_timestamp = entry.base_timestamp
    for row in range(count):
        put_varint(&at, sizes[row] << 1)
        at[0] = 0
        at += 1
        put_varlong(&at, zigzag_delta(read_number(&timestamps, row), base_timestamp))
        put_varint(&at, <uint32_t>(read_number(&offsets, row) - base_offset) << 1)
        find_bytes_row(&keys, row, &data, &size)
        put_sized(&at, data, size)
        find_bytes_row(&values, row, &data, &size)
        put_sized(&at, data, size)
        if has_headers:
            fault = put_headers(s, row, &at)
            if unlikely(fault != FINE):
                s.row = row
                return fault
        else:
            at[0] = 0
            at += 1
    return FINE


cdef inline int64_t read_number(Numbers* numbers, int64_t row) noexcept nogil:
    """Return the number of a row, or -1 for null."""
    if numbers.values == NULL:
        return <int64_t>(<uint64_t>numbers.first + <uint64_t>(row * numbers.step))
    if numbers.validity != NULL and not bit_at(numbers.validity, numbers.shift + row):
        return -1
    return numbers.values[row]


cdef inline bint bit_at(const uint8_t* bits, int64_t place) noexcept nogil:
    """Return a bit. Bits are counted from the lowest bit in the first byte."""
    return bits[place >> 3] >> (place & 7) & 1


cdef inline bint find_bytes_row(
    Bytes* column, int64_t row, const char** data, Py_ssize_t* size
) noexcept nogil:
    """Return a row's bytes, or size -1 for null.

    Returns False if the offsets do not ascend or exceed the column's bytes.
    """
    cdef int64_t start = column.offsets[row]
    cdef int64_t end = column.offsets[row + 1]
    if unlikely(start < 0 or end < start or end > column.data_size):
        return False
    data[0] = column.data + start
    size[0] = <Py_ssize_t>(end - start)
    if column.validity != NULL and not bit_at(column.validity, column.shift + row):
        size[0] = -1
    return True


cdef RowFault headers_size(Source* s, int64_t row, int64_t* size) noexcept nogil:
    """Check the headers of a record, and add their encoded size to ``size``."""
    cdef int64_t first = s.lists[row]
    cdef int64_t last = s.lists[row + 1]
    cdef int64_t index
    cdef const char* data
    cdef Py_ssize_t length
    if first < 0 or last < first or last > s.header_count:
        return BAD_OFFSETS
    size[0] += varint_size(<uint32_t>(last - first) << 1)
    for index in range(first - s.first_header, last - s.first_header):
        if not find_bytes_row(&s.header_key, index, &data, &length):
            return BAD_OFFSETS
        if length < 0:
            return NULL_KEY
        if utf8_prefix(<const uint8_t*>data, length) != length:
            return NOT_UTF8_KEY
        size[0] += sized_size(length)
        if not find_bytes_row(&s.header_value, index, &data, &length):
            return BAD_OFFSETS
        size[0] += sized_size(length)
    return FINE


cdef RowFault put_headers(Source* s, int64_t row, uint8_t** at) noexcept nogil:
    """Write record headers. The copied keys are checked again."""
    cdef int64_t first = s.lists[row]
    cdef int64_t last = s.lists[row + 1]
    cdef int64_t index
    cdef const char* data = NULL
    cdef Py_ssize_t length = -1
    put_varint(at, <uint32_t>(last - first) << 1)
    for index in range(first - s.first_header, last - s.first_header):
        find_bytes_row(&s.header_key, index, &data, &length)
        put_sized(at, data, length)
        if unlikely(utf8_prefix(at[0] - length, length) != length):
            return NOT_UTF8_KEY
        find_bytes_row(&s.header_value, index, &data, &length)
        put_sized(at, data, length)
    return FINE


cdef int open_buffer(Source* s, object data) except -1:
    """Acquire a buffer until the call ends. Returns its index."""
    if s.held == BUFFERS:
        raise SystemError("more buffers than columns have")
    get_input(b"" if data is None else data, &s.buffers[s.held])
    s.held += 1
    return s.held - 1


cdef const uint8_t* copy_buffer(
    Source* s, object data, int64_t start, int64_t end, int64_t least
) except NULL:
    """Copy the bytes from ``start`` to ``end`` of a buffer until the call ends.

    Raises ``EncodeError`` if the buffer has less than ``least`` bytes.
    """
    cdef Py_buffer buffer
    cdef Block* copy = &s.copies[s.copied]
    cdef bint is_there
    cdef bint done = False
    if s.copied == COPIES:
        raise SystemError("more buffers than columns have")
    get_input(b"" if data is None else data, &buffer)
    is_there = least <= buffer.len
    if is_there and take_block(copy, end - start):
        s.copied += 1
        memcpy(copy.data, <const uint8_t*>buffer.buf + start, <size_t>(end - start))
        done = True
    PyBuffer_Release(&buffer)
    if not is_there:
        raise errors.EncodeError(
            "a column is shorter than the number of rows", "records"
        )
    if not done:
        raise MemoryError
    return copy.data


cdef const uint8_t* open_bits(
    Source* s, object data, int64_t start, int64_t end, int64_t last
) except? NULL:
    """Copy row validity, beginning with the first row's byte.

    Returns NULL if there is no validity.
    """
    if data is None:
        return NULL
    return copy_buffer(s, data, start // 8, (end + 7) // 8, (last + 7) // 8)


cdef int open_numbers(
    Source* s, Numbers* numbers, object column, int64_t first, int64_t step
) except -1:
    """Copy an int64 column. If it is None, store the values that replace it."""
    cdef int64_t row, end
    numbers.first = first
    numbers.step = step
    numbers.values = NULL
    if column is None:
        return 0
    validity, data, start = column
    row = check_row_number(start)
    end = row + s.count
    numbers.shift = row % 8
    numbers.validity = open_bits(s, validity, row, end, end)
    numbers.values = <const int64_t*>copy_buffer(s, data, 8 * row, 8 * end, 8 * end)
    return 0


cdef int open_bytes(
    Source* s, Bytes* bytes_, object column, int64_t first, int64_t end, int64_t count
) except -1:
    """Copy the offsets of a bytes column, and acquire the buffer of its bytes."""
    cdef int64_t row
    cdef int place
    validity, offsets, content, start = column
    row = check_row_number(start)
    count += row
    end += row
    first += row
    bytes_.shift = first % 8
    bytes_.validity = open_bits(s, validity, first, end, count)
    if count > row:
        bytes_.offsets = <const int32_t*>copy_buffer(
            s, offsets, 4 * first, 4 * (end + 1), 4 * (count + 1)
        )
    place = open_buffer(s, content)
    bytes_.data = <const char*>s.buffers[place].buf
    bytes_.data_size = s.buffers[place].len
    return 0


cdef int open_headers(Source* s, object headers) except -1:
    """Copy and acquire the columns of the headers."""
    cdef int64_t start, size, row
    cdef int64_t end = 0
    if headers is None or s.count == 0:
        return 0
    offsets, first, count, key, value = headers
    start = check_row_number(first)
    s.header_count = check_row_number(count)
    size = 4 * (start + s.count + 1)
    s.lists = <const int32_t*>copy_buffer(s, offsets, 4 * start, size, size)
    s.has_headers = True
    s.first_header = s.header_count
    for row in range(s.count + 1):
        if 0 <= s.lists[row] <= s.header_count:
            s.first_header = min(s.first_header, <int64_t>s.lists[row])
            end = max(end, <int64_t>s.lists[row])
    s.first_header = min(s.first_header, end)
    open_bytes(s, &s.header_key, key, s.first_header, end, s.header_count)
    open_bytes(s, &s.header_value, value, s.first_header, end, s.header_count)
    return 0


cdef void close_all(Source* s) noexcept:
    """Release all buffers and copies."""
    cdef int index
    for index in range(s.held):
        PyBuffer_Release(&s.buffers[index])
    for index in range(s.copied):
        give_block(&s.copies[index])
    give_block(&s.sizes)


cdef object make_failure(Source* s, RowFault fault, Entry* entry):
    """Create the exception for an invalid row."""
    cdef str path = f"records[{s.row}]"
    if fault == BAD_OFFSETS:
        return errors.EncodeError(
            "the offsets are not within the bytes of the column", path
        )
    if fault == BAD_OFFSET:
        return errors.EncodeError(
            f"expected ascending offsets from {entry.base_offset} to "
            f"{<object>entry.base_offset + LARGEST}, "
            f"got {read_number(&s.offsets, s.row)}",
            f"{path}.offset",
        )
    if fault == BAD_TIMESTAMP:
        return errors.encode_failure(
            errors.OUT_OF_RANGE,
            "an int64 from -1",
            read_number(&s.timestamps, s.row),
            f"{path}.timestamp",
        )
    if fault == NULL_KEY:
        return errors.EncodeError("expected a string, got None", f"{path}.headers")
    return errors.EncodeError("expected header keys of UTF-8", f"{path}.headers")
