# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads single rows of columns in any order, without creating an object for each row.

The columns are the same as in ``column_encoder.pyx``, which encodes all of their rows.
The columns are not copied, because a batch contains only a few of their rows. Because
another thread may modify the columns, each size and offset is loaded only once, and
checked before it is used.

Twin: ``pure/column_rows.py``. Differs from its twin in: errors are fault codes.

Only in Cython: ``check_row_number``, ``open_buffer``, ``open_validity``,
``open_bytes``, ``is_valid``, ``find_bytes``, ``read_row``, ``find_headers``,
``put_headers``, ``make_failure``.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from kwire._engine.fast.arrays cimport give_block, grow_block
from kwire._engine.fast.big_endian cimport unlikely
from kwire._engine.fast.column cimport utf8_prefix
from kwire._engine.fast.column_rows cimport *
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.python_api cimport PyBuffer_Release
from kwire._engine.fast.record_encoder cimport (
    LARGEST,
    put_sized,
    put_varint,
    sized_size,
    varint_size,
)

from kwire import errors

cdef extern from *:
    """
    #include <string.h>
    /* Hide the origin of a loaded number from the compiler, so that it does not load
       the number again after it has been checked. */
    #if defined(__GNUC__)
    #define KWIRE_LOADED(type, number) \\
        __asm__ volatile("" : "+r"(number)); return number
    #else
    #define KWIRE_LOADED(type, number) \\
        volatile type kept = number; return kept
    #endif
    static inline int kwire_load_byte(const void *at) {
        int number = *(const unsigned char *)at;
        KWIRE_LOADED(int, number);
    }
    static inline int32_t kwire_load_int32(const void *at) {
        int32_t number;
        memcpy(&number, at, 4);
        KWIRE_LOADED(int32_t, number);
    }
    static inline int64_t kwire_load_int64(const void *at) {
        int64_t number;
        memcpy(&number, at, 8);
        KWIRE_LOADED(int64_t, number);
    }
    """
    int load_byte "kwire_load_byte"(const void* at) noexcept nogil
    int64_t load_int32 "kwire_load_int32"(const void* at) noexcept nogil
    int64_t load_int64 "kwire_load_int64"(const void* at) noexcept nogil


cdef class ColumnRows:
    """Columns of records from which ``EncodedRows.extend_columns`` reads rows.

    The parameters are the same as for ``encode_columns``, but ``offsets`` is ignored.
    The object keeps references to the columns.

    Raises ``EncodeError`` if a column has fewer than ``count`` rows.
    """

    def __cinit__(self, count, offsets, timestamps, key, value, headers):
        cdef int64_t end, first
        self.count = check_row_number(count)
        if timestamps is not None:
            validity, data, start = timestamps
            self.first_timestamp = check_row_number(start)
            end = self.first_timestamp + self.count
            self.timestamp_bits = open_validity(self, validity, end)
            self.timestamps = (
                open_buffer(self, data, 8 * end) + 8 * self.first_timestamp
            )
        open_bytes(self, &self.key, key, self.count)
        open_bytes(self, &self.value, value, self.count)
        if headers is not None and self.count:
            lists, start, count, key, value = headers
            first = check_row_number(start)
            self.item_count = check_row_number(count)
            end = first + self.count + 1
            self.lists = open_buffer(self, lists, 4 * end) + 4 * first
            open_bytes(self, &self.header_key, key, self.item_count)
            open_bytes(self, &self.header_value, value, self.item_count)

    def __dealloc__(self):
        cdef int index
        for index in range(self.held):
            PyBuffer_Release(&self.buffers[index])
        give_block(&self.spans)

    def __len__(self):
        return <Py_ssize_t>self.count


cdef int64_t check_row_number(object number) except -1:
    """Check a row count, or the first row of a column.

    Raises ``EncodeError`` if it is negative or exceeds the maximum INT32.
    """
    cdef int64_t row = -1
    # Convert the object to int first, because it may override comparison operators.
    if -LARGEST <= int(number) <= LARGEST:
        row = int(number)
    if not 0 <= row <= LARGEST:
        raise errors.EncodeError(
            "a column is shorter than the number of rows", "records"
        )
    return row


cdef const uint8_t* open_buffer(
    ColumnRows rows, object data, int64_t least
) except? NULL:
    """Acquire a buffer of at least ``least`` bytes. Returns its start."""
    cdef Py_buffer* buffer = &rows.buffers[rows.held]
    if rows.held == COLUMN_BUFFERS:
        raise SystemError("more buffers than columns have")
    get_input(b"" if data is None else data, buffer)
    rows.held += 1
    if buffer.len < least:
        raise errors.EncodeError(
            "a column is shorter than the number of rows", "records"
        )
    return <const uint8_t*>buffer.buf


cdef const uint8_t* open_validity(
    ColumnRows rows, object validity, int64_t end
) except? NULL:
    """Acquire the validity of the rows before ``end``.

    Returns NULL if there is none.
    """
    if validity is None:
        return NULL
    return open_buffer(rows, validity, (end + 7) // 8)


cdef int open_bytes(
    ColumnRows rows, BytesColumn* column, object given, int64_t count
) except -1:
    """Acquire the buffers of a bytes column."""
    validity, offsets, content, start = given
    column.first = check_row_number(start)
    count += column.first
    column.validity = open_validity(rows, validity, count)
    column.offsets = open_buffer(
        rows, offsets, 4 * (count + 1) if count > column.first else 0
    ) + 4 * column.first
    column.data = <const char*>open_buffer(rows, content, 0)
    column.data_size = rows.buffers[rows.held - 1].len
    return 0


cdef inline bint is_valid(const uint8_t* bits, int64_t place) noexcept:
    """Whether a row is not null, by its validity bit.

    Without bits, all rows are valid.
    """
    return bits == NULL or load_byte(bits + (place >> 3)) >> (place & 7) & 1


cdef inline bint find_bytes(
    BytesColumn* column, int64_t row, const char** data, Py_ssize_t* size
) noexcept:
    """Return a row's bytes, or size -1 for null.

    Returns False if the offsets do not ascend or exceed the column's bytes.
    """
    cdef const uint8_t* at = column.offsets + 4 * row
    cdef int64_t start = load_int32(at)
    cdef int64_t end = load_int32(at + 4)
    if unlikely(start < 0 or end < start or end > column.data_size):
        return False
    data[0] = column.data + start
    size[0] = <Py_ssize_t>(end - start)
    if not is_valid(column.validity, column.first + row):
        size[0] = -1
    return True


cdef RowFault read_row(
    ColumnRows rows, int64_t number, Row* row, int64_t* header_count
) noexcept:
    """Read the parts of a row. A null timestamp leaves ``row.timestamp`` unchanged."""
    if unlikely(number < 0 or number >= rows.count):
        return BAD_NUMBER
    if rows.timestamps != NULL and is_valid(
        rows.timestamp_bits, rows.first_timestamp + number
    ):
        row.timestamp = load_int64(rows.timestamps + 8 * number)
        if unlikely(row.timestamp < -1):
            return BAD_TIMESTAMP
    if unlikely(
        not find_bytes(&rows.key, number, &row.key, &row.key_size)
        or not find_bytes(&rows.value, number, &row.value, &row.value_size)
    ):
        return BAD_OFFSETS
    row.headers_size = 1
    header_count[0] = 0
    if rows.lists == NULL:
        return FINE
    return find_headers(rows, number, row, header_count)


cdef RowFault find_headers(
    ColumnRows rows, int64_t number, Row* row, int64_t* header_count
) noexcept:
    """Find the headers of a row, and check that their keys are UTF-8."""
    cdef int64_t first = load_int32(rows.lists + 4 * number)
    cdef int64_t last = load_int32(rows.lists + 4 * number + 4)
    cdef int64_t item
    cdef Span* span
    if first < 0 or last < first or last > rows.item_count:
        return BAD_OFFSETS
    header_count[0] = last - first
    row.headers_size = varint_size(<uint32_t>(last - first) << 1)
    if not grow_block(&rows.spans, 0, 2 * (last - first) * <int64_t>sizeof(Span)):
        return NO_MEMORY
    span = <Span*>rows.spans.data
    for item in range(first, last):
        if not find_bytes(&rows.header_key, item, &span.data, &span.size):
            return BAD_OFFSETS
        if span.size < 0:
            return NULL_KEY
        if utf8_prefix(<const uint8_t*>span.data, span.size) != span.size:
            return NOT_UTF8_KEY
        row.headers_size += sized_size(span.size)
        span += 1
        if not find_bytes(&rows.header_value, item, &span.data, &span.size):
            return BAD_OFFSETS
        row.headers_size += sized_size(span.size)
        span += 1
    return FINE


cdef bint put_headers(ColumnRows rows, int64_t header_count, uint8_t** at) noexcept:
    """Write the headers found by ``find_headers``.

    Returns False if a key is no longer UTF-8, because another thread has modified it.
    """
    cdef Span* span = <Span*>rows.spans.data
    cdef Span* end = span + 2 * header_count
    put_varint(at, <uint32_t>header_count << 1)
    while span < end:
        put_sized(at, span.data, span.size)
        if unlikely(utf8_prefix(at[0] - span.size, span.size) != span.size):
            return False
        span += 1
        put_sized(at, span.data, span.size)
        span += 1
    return True


cdef object make_failure(RowFault fault, ColumnRows rows, int64_t number, Row* row):
    """Create the exception for an invalid row."""
    cdef str path = f"records[{number}]"
    if fault == NO_MEMORY:
        return MemoryError()
    if fault == BAD_NUMBER:
        return errors.EncodeError(
            f"the columns have no such row; they have {rows.count}", path
        )
    if fault == BAD_TIMESTAMP:
        return errors.encode_failure(
            errors.OUT_OF_RANGE,
            "an int64 from -1",
            row.timestamp,
            f"{path}.timestamp",
        )
    if fault == BAD_OFFSETS:
        return errors.EncodeError(
            "the offsets are not within the bytes of the column", path
        )
    if fault == NULL_KEY:
        return errors.EncodeError("expected a string, got None", f"{path}.headers")
    return errors.EncodeError("expected header keys of UTF-8", f"{path}.headers")
