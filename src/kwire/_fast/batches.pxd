# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The head of an entry as a C struct, and how to read one without the lock.

Twin: ``_pure/batches.py``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t

from kwire._fast.cursor cimport Cursor

cdef enum:
    # Bytes of the offset and the size in front of every entry.
    LOG_OVERHEAD = 12
    MAGIC_AT = 16
    # Bytes of a batch of magic 2 in front of its records.
    BATCH_OVERHEAD = 61
    # Bytes of a message with an empty key and value behind its size, by magic.
    MESSAGE_OVERHEAD_0 = 14
    MESSAGE_OVERHEAD_1 = 22
    # Where the length of the key stands in a message, by magic.
    KEY_AT_0 = 18
    KEY_AT_1 = 26
    CODEC_MASK = 0x07
    LOG_APPEND_TIME = 0x08
    TRANSACTIONAL = 0x10
    CONTROL = 0x20
    DELETE_HORIZON = 0x40
    # Bytes that a record of magic 2 takes at least.
    LEAST_RECORD = 7
    HEADER_SLOTS = 14

cdef struct Entry:
    Py_ssize_t position
    Py_ssize_t size
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

cdef int read_entry(
    Cursor* cursor, Py_ssize_t position, Py_ssize_t end, bint check_crc, Entry* entry
) noexcept nogil
cdef PyObject* make_header(Entry* entry) noexcept
cdef int entry_of(object header, Entry* entry) except -1
