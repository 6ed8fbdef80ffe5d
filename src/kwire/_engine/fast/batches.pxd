# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Batch header as a C struct, and functions that read it without holding the GIL.

Twin: ``pure/batches.py``.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t

from kwire._engine.fast.cursor cimport Cursor

cdef enum:
    # Layout of batches and messages. kwire/schema/batch_layout.py contains a diagram.
    BASE_OFFSET_AT = 0
    SIZE_AT = 8
    LOG_OVERHEAD = 12
    LEADER_EPOCH_AT = 12
    MAGIC_AT = 16
    CRC_AT = 17
    ATTRIBUTES_AT = 21
    LAST_OFFSET_DELTA_AT = 23
    BASE_TIMESTAMP_AT = 27
    MAX_TIMESTAMP_AT = 35
    PRODUCER_ID_AT = 43
    PRODUCER_EPOCH_AT = 51
    BASE_SEQUENCE_AT = 53
    COUNT_AT = 57
    BATCH_OVERHEAD = 61
    LEAST_RECORD = 7
    MESSAGE_CRC_AT = 12
    MESSAGE_ATTRIBUTES_AT = 17
    MESSAGE_TIMESTAMP_AT = 18
    MESSAGE_OVERHEAD_0 = 14
    MESSAGE_OVERHEAD_1 = 22
    KEY_AT_0 = 18
    KEY_AT_1 = 26
    CODEC_MASK = 0x07
    LOG_APPEND_TIME = 0x08
    TRANSACTIONAL = 0x10
    CONTROL = 0x20
    DELETE_HORIZON = 0x40

cdef enum:
    HEADER_SLOTS = 14

cdef struct Entry:
    # Positions and sizes have 64 bits on every machine, because a file may exceed 4
    # GiB.
    int64_t position
    int64_t size
    int magic
    int attributes
    uint32_t crc
    int64_t base_offset
    int64_t last_offset
    int64_t base_timestamp
    int64_t max_timestamp
    int64_t producer_id
    int producer_epoch
    int32_t base_sequence
    int32_t partition_leader_epoch
    int32_t count

cpdef int check_range(Py_ssize_t position, Py_ssize_t end, Py_ssize_t size) except -1
cdef int read_entry(
    Cursor* cursor, Py_ssize_t position, Py_ssize_t end, bint check_crc, Entry* entry
) noexcept nogil
cdef object make_header(Entry* entry)
cdef int fill_entry(object header, Entry* entry) except -1
