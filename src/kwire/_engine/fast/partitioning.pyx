# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Hashes keys to assign records to partitions.

``hash_column`` and ``split_rows`` receive a hash function number: ``MURMUR2`` or
``CRC32``. ``split_rows`` also computes the partition from the hash. In all other cases,
``records/partitioners.py`` computes the partition.

Twin: ``pure/partitioning.py``. Differs from its twin in: errors are fault codes, and
the validity and offsets of a column are copied before they are checked, because another
thread may modify them.

Only in Cython: ``murmur2_of``, ``first_bytes``, ``check_row_number``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from kwire._engine.fast.checksums cimport crc32_of
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.python_api cimport (
    PyBuffer_Release,
    PyBytes_AS_STRING,
    Py_XDECREF,
    new_bytes,
)
from kwire._engine.fast.rows cimport (
    Blame,
    Row,
    check_rows,
    clear,
    drop,
    make_failure,
    split,
)

from kwire import errors

__all__ = ["CRC32", "MURMUR2", "hash_column", "murmur2", "split_rows"]

MURMUR2 = 0
CRC32 = 1

cdef enum:
    HASH_CRC32 = 1
    LARGEST_COUNT = 2147483647
    ROWS_AT_ONCE = 2048
    FACTOR = 0x5BD1E995

cdef uint32_t SEED = 0x9747B28C


def murmur2(data):
    """Return the MurmurHash2 of a contiguous bytes-like object as an int32.

    The seed and the byte order are the same as in Kafka's Java client.

    Source: ``Utils.murmur2``.
    """
    cdef uint32_t found
    cdef Py_buffer buffer
    if type(data) is not bytes and not memoryview(data).c_contiguous:
        raise TypeError("the key must be contiguous in memory; pass bytes(key)")
    get_input(data, &buffer)
    found = murmur2_of(<const uint8_t*>buffer.buf, buffer.len)
    PyBuffer_Release(&buffer)
    return <int32_t>found


cdef inline uint32_t murmur2_of(const uint8_t* at, Py_ssize_t size) noexcept nogil:
    """Return the MurmurHash2 of a memory area."""
    cdef uint32_t found = SEED ^ <uint32_t>size
    cdef uint32_t word
    cdef Py_ssize_t left = size
    while left >= 4:
        # The byte order of the hash does not depend on the machine. Compilers turn
        # these shifts into a single load where possible.
        word = (
            <uint32_t>at[0]
            | <uint32_t>at[1] << 8
            | <uint32_t>at[2] << 16
            | <uint32_t>at[3] << 24
        )
        word *= <uint32_t>FACTOR
        word ^= word >> 24
        found = found * <uint32_t>FACTOR ^ word * <uint32_t>FACTOR
        at += 4
        left -= 4
    if left:
        if left == 3:
            found ^= <uint32_t>at[2] << 16
        if left >= 2:
            found ^= <uint32_t>at[1] << 8
        found ^= <uint32_t>at[0]
        found *= <uint32_t>FACTOR
    found ^= found >> 13
    found *= <uint32_t>FACTOR
    return found ^ found >> 15


def hash_column(count, column, int kind):
    """Return the hashes of a bytes column as ``count`` int32 in native byte order.

    ``column`` is a tuple as in ``column_encoder``. The hash of a null is 0.

    Raises ``EncodeError`` if the offsets do not ascend, or exceed the bytes.
    """
    cdef int64_t rows, start, size, at, end
    cdef int64_t row = 0
    cdef const uint8_t* data
    cdef const uint8_t* bits = NULL
    cdef const int32_t* ends
    cdef int32_t[ROWS_AT_ONCE + 1] places
    cdef uint32_t* out
    cdef int32_t first, last
    cdef bint stray = False
    cdef Py_buffer buffer, offset_buffer
    rows = check_row_number(count)
    validity, offsets, content, begin = column
    start = check_row_number(begin)
    # Copy the validity, and each block of offsets, so that no other thread can modify
    # them after they have been checked.
    marks = None
    if validity is not None:
        marks = bytes(first_bytes(validity, (start + rows + 7) // 8))
    bounds = first_bytes(offsets, 4 * (start + rows + 1) if rows else 0)
    hashes = new_bytes(4 * rows)
    if hashes == NULL:
        raise MemoryError
    made = <object>hashes
    Py_XDECREF(hashes)
    out = <uint32_t*>PyBytes_AS_STRING(<PyObject*>made)
    if marks is not None:
        bits = <const uint8_t*>PyBytes_AS_STRING(<PyObject*>marks)
    get_input(bounds, &offset_buffer)
    ends = <const int32_t*>offset_buffer.buf + start
    try:
        get_input(b"" if content is None else content, &buffer)
    except BaseException:
        PyBuffer_Release(&offset_buffer)
        raise
    data = <const uint8_t*>buffer.buf
    size = buffer.len
    with nogil:
        while row < rows and not stray:
            at = row
            end = min(rows, at + ROWS_AT_ONCE)
            memcpy(places, ends + at, <size_t>(4 * (end - at + 1)))
            while row < end:
                first = places[row - at]
                last = places[row - at + 1]
                if first < 0 or last < first or last > size:
                    stray = True
                    break
                if bits != NULL and not (
                    bits[(start + row) >> 3] >> ((start + row) & 7) & 1
                ):
                    out[row] = 0
                elif kind == HASH_CRC32:
                    out[row] = crc32_of(0, data + first, <size_t>(last - first))
                else:
                    out[row] = murmur2_of(data + first, last - first)
                row += 1
    PyBuffer_Release(&buffer)
    PyBuffer_Release(&offset_buffer)
    if stray:
        raise errors.EncodeError(
            "the offsets are not within the bytes of the column", f"[{<object>row}]"
        )
    return made


cdef object first_bytes(object data, int64_t size):
    """Return a view of the first ``size`` bytes of a buffer.

    Raises ``EncodeError`` if the buffer is smaller.
    """
    view = memoryview(b"" if data is None else data)
    view = view.cast("B") if view.nbytes else memoryview(b"")
    if view.nbytes < size:
        raise errors.EncodeError(
            "a column is shorter than the number of rows", "records"
        )
    return view[:<Py_ssize_t>size]


cdef int64_t check_row_number(object number) except -1:
    """Check a row count, or the first row of a column.

    Raises ``EncodeError`` if it is negative or exceeds the maximum INT32.
    """
    if not 0 <= number <= LARGEST_COUNT:
        raise errors.EncodeError(
            "a column is shorter than the number of rows", "records"
        )
    return number


def split_rows(rows, Py_ssize_t count, int kind):
    """Group rows by the partition that results from the hash of their keys.

    Returns a list with ``count`` lists, one for each partition, and a list of the rows
    without a key. Rows keep their order within each list. ``rows`` is a list or a
    tuple. The sign bit of a MurmurHash2 is cleared before the division, as in Kafka.

    Raises ``EncodeError`` if an element is not a row. The error path contains the
    element index.

    Source: ``BuiltInPartitioner.partitionForKey``, ``Utils.toPositive``.
    """
    cdef Blame e
    cdef Row parts
    cdef Py_ssize_t index, place
    cdef uint32_t found
    cdef list lists, others
    check_rows(rows)
    if count < 1:
        raise ValueError(f"count must be 1 or more (got {count})")
    lists = [[] for _ in range(count)]
    others = []
    for index in range(len(rows)):
        row = rows[index]
        clear(&e)
        if not split(&e, <PyObject*>row, 0, &parts):
            drop(&parts)
            e.record = index
            raise make_failure(&e)
        if parts.key_size < 0:
            drop(&parts)
            others.append(row)
            continue
        if kind == HASH_CRC32:
            found = crc32_of(0, <const uint8_t*>parts.key, <size_t>parts.key_size)
        else:
            found = murmur2_of(<const uint8_t*>parts.key, parts.key_size)
            found &= <uint32_t>0x7FFFFFFF
        drop(&parts)
        place = <Py_ssize_t>(found % <uint32_t>count)
        (<list>lists[place]).append(row)
    return lists, others
