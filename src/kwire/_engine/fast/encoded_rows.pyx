# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes batch rows one by one, before the batch header fields are known.

``rows.pyx`` and ``column_rows.pyx`` read and check the rows. ``record_encoder.pyx`` and
``column_encoder.pyx`` encode all batch rows in one call.

Twin: ``pure/encoded_rows.py``. Differs from its twin in: errors are fault codes, and
the rows are written to the bytes object that becomes the batch.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from kwire._engine.fast.batches cimport *
from kwire._engine.fast.big_endian cimport unlikely
from kwire._engine.fast.column_rows cimport (
    FINE,
    NOT_UTF8_KEY,
    ColumnRows,
    RowFault,
    make_failure as make_column_failure,
    put_headers,
    read_row,
)
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.python_api cimport *
from kwire._engine.fast.record_encoder cimport *
from kwire._engine.fast.rows cimport *
from kwire._engine.fast.writer cimport TOO_LARGE, WRITE_ERROR

from kwire import errors

cdef extern from *:
    """
    /* Truncate a bytes object to which no other code has a reference. The allocation
       keeps its size, so this cannot fail. */
    static inline void kwire_cut_bytes(PyObject *data, Py_ssize_t size) {
        Py_SET_SIZE((PyVarObject *)data, size);
        PyBytes_AS_STRING(data)[size] = 0;
    }
    """
    void cut_bytes "kwire_cut_bytes"(PyObject* data, Py_ssize_t size) noexcept

cdef enum:
    LEAST_ROOM = 1024


cdef class EncodedRows:
    """Rows of one magic 2 batch. Each row is encoded when it is added.

    * ``most``: maximum total record size in bytes. The first row is always accepted.

    ``extend`` and ``extend_columns`` add rows until the next one would exceed ``most``.
    ``content`` is the total record size in bytes, and ``len()`` returns the record
    count.

    Source: ``MemoryRecordsBuilder``.
    """

    cdef readonly int64_t content
    cdef int64_t most
    # Bytes object with space for a batch header, the records, and unused capacity; and
    # whether a returned batch is this object.
    cdef PyObject* out
    cdef int64_t room
    cdef bint is_shared
    cdef Entry entry

    def __init__(self, int64_t most):
        self.most = most

    def __dealloc__(self):
        Py_XDECREF(self.out)

    def __len__(self):
        return self.entry.count

    def extend(self, records, Py_ssize_t start=0, int64_t timestamp=-1):
        """Add records from index ``start`` on. Returns the first index not added.

        ``records`` is a list or a tuple of records, whose offsets are ignored.
        ``timestamp`` (ms) is the default timestamp. The function stops before the first
        record with which the batch would be too large.

        Raises ``EncodeError`` if a record is invalid. The error path contains the
        record, and the records before it remain in the batch.
        """
        cdef Blame e
        cdef Row row
        cdef Py_ssize_t index
        cdef int64_t size, body
        cdef uint8_t* at
        cdef bint done
        check_rows(records)
        for index in range(max(start, 0), len(records)):
            item = records[index]
            clear(&e)
            done = split(&e, <PyObject*>item, 0, &row)
            if done:
                # From here on, no code of the caller can run and modify the row.
                if row.timestamp < 0:
                    row.timestamp = timestamp
                size = self.measure(&row, &body)
                if size < 0:
                    done = blame_value(&e, TOO_LARGE, NONE)
                elif not self.fits(size):
                    drop(&row)
                    return index
                elif not self.widen(size, len(records) - index):
                    e.fault = WRITE_ERROR
                    done = False
            if done:
                at = self.put(&row, body)
                put_header_pairs(&at, row.headers)
                self.note(&row, size)
            drop(&row)
            if not done:
                e.record = index
                raise make_failure(&e)
        return max(start, <Py_ssize_t>len(records))

    def extend_columns(
        self,
        ColumnRows columns not None,
        numbers,
        Py_ssize_t start=0,
        int64_t timestamp=-1,
    ):
        """Add rows of columns from index ``start`` on, as ``extend`` does.

        ``numbers`` contains the numbers of the rows, from 0, as int64 in native byte
        order. ``timestamp`` (ms) replaces null timestamps.

        Raises ``EncodeError`` if a row is invalid. The error path contains the row
        number.
        """
        cdef Py_buffer buffer
        cdef Row row
        cdef Py_ssize_t count
        cdef Py_ssize_t index = max(start, 0)
        cdef int64_t size, body
        cdef int64_t number = 0
        cdef int64_t header_count = 0
        cdef uint8_t* at
        cdef RowFault fault = FINE
        cdef bint is_large = False
        cdef bint done = True
        get_input(numbers, &buffer)
        count = buffer.len
        if count % 8:
            PyBuffer_Release(&buffer)
            raise ValueError(f"numbers must be int64 (got {count} bytes)")
        count //= 8
        # No code of the caller can run until the buffer is released.
        while index < count:
            memcpy(&number, <const uint8_t*>buffer.buf + 8 * index, 8)
            row.timestamp = timestamp
            fault = read_row(columns, number, &row, &header_count)
            if unlikely(fault != FINE):
                break
            size = self.measure(&row, &body)
            is_large = size < 0
            if unlikely(is_large or not self.fits(size)):
                break
            done = self.widen(size, count - index)
            if unlikely(not done):
                break
            at = self.put(&row, body)
            if columns.lists == NULL:
                at[0] = 0
            elif not put_headers(columns, header_count, &at):
                fault = NOT_UTF8_KEY
                break
            self.note(&row, size)
            index += 1
        PyBuffer_Release(&buffer)
        if fault != FINE:
            raise make_column_failure(fault, columns, number, &row)
        if is_large:
            raise errors.encode_failure(TOO_LARGE, "", None, f"records[{number}]")
        if not done:
            raise MemoryError
        return max(start, index)

    def make_batch(self, header, compress=None):
        """Return the encoded record batch with all rows.

        ``header`` and ``compress`` are the same as for ``encode_batch``. The rows are
        kept, so that the function can be called again with another header.
        """
        cdef Entry entry
        cdef int64_t used
        cdef PyObject* made
        fill_entry(header, &entry)
        check_base(&entry)
        used = BATCH_OVERHEAD + self.content
        if self.out == NULL or (self.is_shared and compress is None):
            made = new_bytes(used)
            if made == NULL:
                raise MemoryError
            data = <object>made
            Py_XDECREF(made)
            if self.out != NULL:
                memcpy(
                    PyBytes_AS_STRING(made), PyBytes_AS_STRING(self.out), <size_t>used
                )
        else:
            # The returned batch has no unused capacity, so rows that are added later
            # are written to a copy.
            if self.room > used:
                cut_bytes(self.out, <Py_ssize_t>used)
                self.room = used
            data = <object>self.out
            self.is_shared = self.is_shared or compress is None
        entry.count = self.entry.count
        entry.last_offset = max(
            entry.last_offset, entry.base_offset + entry.count - 1
        )
        if entry.count:
            entry.base_timestamp = self.entry.base_timestamp
            if not entry.attributes & LOG_APPEND_TIME:
                entry.max_timestamp = self.entry.max_timestamp
        if compress is not None:
            data = compress_records(memoryview(data), BATCH_OVERHEAD, compress)
        # Writing to the bytes object is safe, because no other code has a reference to
        # it yet.
        store_batch_head(
            <uint8_t*>PyBytes_AS_STRING(<PyObject*>data),
            PyBytes_GET_SIZE(<PyObject*>data),
            &entry,
        )
        return data

    cdef inline int64_t measure(self, Row* row, int64_t* body) noexcept:
        """Compute the next record size in bytes.

        ``body`` is set to the size without the length field. Returns -1 if the record
        is too large for a batch.
        """
        row.offset = self.entry.count
        if row.offset == 0:
            self.entry.base_timestamp = row.timestamp
            self.entry.max_timestamp = -1
        body[0] = measure_body(&self.entry, row)
        if body[0] > LARGEST - 5 - BATCH_OVERHEAD - self.content:
            return -1
        return body[0] + varint_size(<uint32_t>body[0] << 1)

    cdef inline bint fits(self, int64_t size) noexcept:
        """Whether the batch can contain another record of ``size`` bytes."""
        return not self.entry.count or self.content + size <= self.most

    cdef inline bint widen(self, int64_t size, int64_t count) noexcept:
        """Ensure capacity for a record of ``size`` bytes.

        A buffer that must grow gets capacity for ``count`` such records if ``most``
        permits. Returns False with an exception set if there is no memory. Then nothing
        has changed.
        """
        return size <= self.room - BATCH_OVERHEAD - self.content or (
            self.grow(size, count)
        )

    cdef bint grow(self, int64_t size, int64_t count) noexcept:
        """Increase the capacity for ``widen``."""
        cdef int64_t used = BATCH_OVERHEAD + self.content
        cdef int64_t room = self.room
        cdef PyObject* grown
        room = max(2 * room, LEAST_ROOM, used + size * min(count, LARGEST // size))
        room = max(min(room, BATCH_OVERHEAD + self.most), used + size)
        room = min(room, LARGEST)
        if room >= LARGE_OUTPUT:
            # Keep the output on the heap, as begin() of record_encoder.pyx explains.
            take_and_free(<size_t>(room + room // 4))
        grown = new_bytes(room)
        if grown == NULL:
            return False
        if self.out != NULL:
            memcpy(
                PyBytes_AS_STRING(grown), PyBytes_AS_STRING(self.out), <size_t>used
            )
            Py_XDECREF(self.out)
        self.out = grown
        self.room = room
        self.is_shared = False
        return True

    cdef inline uint8_t* put(self, Row* row, int64_t body) noexcept:
        """Write the next record up to its headers.

        Returns the position of the headers.
        """
        cdef uint8_t* at = <uint8_t*>PyBytes_AS_STRING(self.out)
        at += BATCH_OVERHEAD + self.content
        put_fields(&at, &self.entry, row, body)
        return at

    cdef inline void note(self, Row* row, int64_t size) noexcept:
        """Count a record that has been written."""
        self.content += size
        self.entry.count += 1
        self.entry.max_timestamp = max(self.entry.max_timestamp, row.timestamp)
