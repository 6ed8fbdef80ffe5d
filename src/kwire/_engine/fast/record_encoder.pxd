# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the parts of a record to a buffer with sufficient capacity.

Twin: ``pure/record_encoder.py``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from kwire._engine.fast.batches cimport Entry
from kwire._engine.fast.rows cimport Row

cdef extern from *:
    """
    #if defined(__GNUC__)
    /* ceil(bits / 7), computed from the position of the highest bit. */
    #define kwire_size_of_varint(v) \\
        ((Py_ssize_t)((63 ^ __builtin_clzll((v) | 1ULL)) * 9 + 73) >> 6)
    #else
    static inline Py_ssize_t kwire_size_of_varint(unsigned long long v) {
        Py_ssize_t size = 1;
        while (v >>= 7)
            size++;
        return size;
    }
    #endif
    """
    Py_ssize_t size_of_varint "kwire_size_of_varint"(uint64_t raw) noexcept nogil

cdef enum:
    LARGEST = 2147483647
    # Minimum size in bytes of an output that must not be allocated from new pages.
    LARGE_OUTPUT = 65536

cdef int check_base(Entry* entry) except -1
cdef void put_header_pairs(uint8_t** at, PyObject* headers) noexcept
cdef object compress_records(object view, Py_ssize_t head, object compress)
cdef void store_batch_head(
    uint8_t* at, int64_t size, Entry* entry
) noexcept nogil


cdef inline void put_varint(uint8_t** at, uint32_t raw) noexcept nogil:
    """Write an unsigned varint with up to 32 bits without a bounds check."""
    if raw < 0x80:
        at[0][0] = <uint8_t>raw
        at[0] += 1
        return
    if raw < 0x4000:
        at[0][0] = <uint8_t>(raw | 0x80)
        at[0][1] = <uint8_t>(raw >> 7)
        at[0] += 2
        return
    while raw > 0x7F:
        at[0][0] = <uint8_t>(raw | 0x80)
        at[0] += 1
        raw >>= 7
    at[0][0] = <uint8_t>raw
    at[0] += 1


cdef inline void put_varlong(uint8_t** at, uint64_t raw) noexcept nogil:
    """Write an unsigned varint with up to 64 bits without a bounds check."""
    while raw > 0x7F:
        at[0][0] = <uint8_t>(raw | 0x80)
        at[0] += 1
        raw >>= 7
    at[0][0] = <uint8_t>raw
    at[0] += 1


cdef inline void put_sized(
    uint8_t** at, const char* data, Py_ssize_t size
) noexcept nogil:
    """Write a VARINT length and the bytes without a bounds check. -1 means null."""
    if size < 0:
        at[0][0] = 1
        at[0] += 1
        return
    put_varint(at, <uint32_t>size << 1)
    memcpy(at[0], data, <size_t>size)
    at[0] += size


cdef inline Py_ssize_t varint_size(uint32_t raw) noexcept nogil:
    """Compute the size in bytes for an unsigned varint."""
    return size_of_varint(raw)


cdef inline Py_ssize_t varlong_size(uint64_t raw) noexcept nogil:
    """Compute the size in bytes for an unsigned varint with up to 64 bits."""
    return size_of_varint(raw)


cdef inline int64_t sized_size(int64_t size) noexcept nogil:
    """Compute the number of bytes that ``put_sized`` writes."""
    if size < 0:
        return 1
    if size > LARGEST:
        # The record is too large in any case. Return early, so that the sum cannot
        # overflow.
        return size
    return varint_size(<uint32_t>size << 1) + size


cdef inline uint64_t zigzag_delta(int64_t number, int64_t base) noexcept nogil:
    """Compute the zigzag encoding of ``number`` - ``base``."""
    cdef uint64_t raw = <uint64_t>number - <uint64_t>base
    return raw << 1 ^ <uint64_t>(<int64_t>raw >> 63)


cdef inline int64_t measure_body(Entry* entry, Row* row) noexcept nogil:
    """Compute the size in bytes of a magic 2 record, without its length field."""
    return (
        1 + varlong_size(zigzag_delta(row.timestamp, entry.base_timestamp))
        + varint_size(<uint32_t>(row.offset - entry.base_offset) << 1)
        + sized_size(row.key_size) + sized_size(row.value_size) + row.headers_size
    )


cdef inline void put_fields(
    uint8_t** at, Entry* entry, Row* row, int64_t size
) noexcept nogil:
    """Write a record up to its headers, without a bounds check.

    ``size`` is the record size in bytes, without its length field.
    """
    put_varint(at, <uint32_t>size << 1)
    at[0][0] = 0
    at[0] += 1
    put_varlong(at, zigzag_delta(row.timestamp, entry.base_timestamp))
    put_varint(at, <uint32_t>(row.offset - entry.base_offset) << 1)
    put_sized(at, row.key, row.key_size)
    put_sized(at, row.value, row.value_size)
