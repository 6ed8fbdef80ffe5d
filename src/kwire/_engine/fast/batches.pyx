# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads batch headers: where a batch ends, whether it is valid, and its fields.

An entry is a record batch (magic 2), a compressed wrapper message or a plain message
(both magic 0 or 1). All begin with the offset, INT64, and the size of what follows,
INT32; the magic is always byte 16. ``record_decoder.pyx`` and ``legacy_records.pyx``
read what an entry holds.

Twin: ``pure/batches.py``. Differs from its twin in: noted faults for exceptions, and
a C struct for the head where no object is asked for; sums of INT64 wrap by themselves.
C needs for itself: ``make_header``, ``fill_entry``, ``number``. Python needs for
itself: ``wrap_int64``.
"""

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport INT64_MAX, int8_t, int64_t, uint8_t, uint32_t, uint64_t

from kwire._engine.fast.batches cimport *
from kwire._engine.fast.big_endian cimport load_byte, load_int16, load_int32, load_int64
from kwire._engine.fast.checksums cimport crc32_of, crc32c_of
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.python_api cimport (
    Py_XDECREF,
    PyBuffer_Release,
    int_of,
)
from kwire._engine.fast.structs cimport new_struct, slots_of, type_of

from kwire import errors
from kwire.schema.batch_layout import KNOWN_CODECS

cdef PyTypeObject* _header_class = NULL

# Bit n of an element for the codec of number n, by magic.
cdef int[3] _known_codecs = KNOWN_CODECS

cdef enum:
    # From here on it pays to let other threads run.
    LARGE_INPUT = 32768


def bind_batch_header(cls):
    """Set the class of batch headers, which the engine cannot import."""
    global _header_class
    _header_class = <PyTypeObject*>cls


def read_batch_header(
    data,
    Py_ssize_t position=0,
    *,
    bint check_crc=True,
    end=None,
):
    """Read the header of the entry at byte ``position``; None at the end of the input.

    The input ends where it has no complete entry any more: a fetch may cut its last
    one. ``end`` is where to stop before the end of ``data``. The size of the entry is
    checked, and its checksum unless ``check_crc`` is off; without that, nothing after
    the header is read.
    Units: positions and sizes in bytes, timestamps in ms.
    Raises ``CorruptBatch`` at ``position``. Source: ``ByteBufferLogInputStream``,
    ``DefaultRecordBatch.ensureValid``, ``LegacyRecord.ensureValid``.
    """
    cdef Py_buffer buffer
    cdef Cursor cursor
    cdef Entry entry
    cdef Py_ssize_t stop
    cdef int found
    get_input(data, &buffer)
    try:
        stop = buffer.len if end is None else end
        check_range(position, stop, buffer.len)
        cursor.fault = 0
        cursor.start = <const uint8_t*>buffer.buf
        if check_crc and stop - position >= LARGE_INPUT:
            with nogil:
                found = read_entry(&cursor, position, stop, check_crc, &entry)
        else:
            found = read_entry(&cursor, position, stop, check_crc, &entry)
    finally:
        PyBuffer_Release(&buffer)
    if cursor.fault:
        raise errors.decode_failure(
            cursor.fault, cursor.fault_detail, cursor.fault_offset, ""
        )
    if not found:
        return None
    return make_header(&entry)


def read_last_header(data, Py_ssize_t position=0, *, end=None):
    """Read the header of the last complete entry from byte ``position`` on.

    None where no complete entry is left. Walks from header to header and looks at
    nothing else: checksums are checked where records are read. An incomplete
    entry after it is passed over, as a fetch may cut it.
    Units: positions and sizes in bytes.
    Raises ``CorruptBatch`` at the first entry that cannot be one.
    Source: KIP-74; ``MemoryRecords.batches``.
    """
    cdef Py_buffer buffer
    cdef Cursor cursor
    cdef Entry entry
    cdef Entry last
    cdef Py_ssize_t stop
    get_input(data, &buffer)
    try:
        stop = buffer.len if end is None else end
        check_range(position, stop, buffer.len)
        cursor.fault = 0
        cursor.start = <const uint8_t*>buffer.buf
        last.size = 0
        with nogil:
            while read_entry(&cursor, position, stop, False, &entry):
                last = entry
                position += <Py_ssize_t>entry.size
    finally:
        PyBuffer_Release(&buffer)
    if cursor.fault:
        raise errors.decode_failure(
            cursor.fault, cursor.fault_detail, cursor.fault_offset, ""
        )
    if not last.size:
        return None
    return make_header(&last)


def measure_run(
    data,
    Py_ssize_t position,
    Py_ssize_t end,
    *,
    int64_t last_start,
    int64_t most_bytes,
    int64_t expected,
    bint check_crc=True,
):
    """Measure the run of ordinary batches from byte ``position`` on.

    Ordinary is a whole batch of magic 2 that begins before ``last_start`` and with the
    offset after its neighbour's last one, the first with ``expected``, and is neither
    compressed nor part of a transaction nor a control batch. The run ends where it
    would have more than ``most_bytes``, at the first other entry, or at ``end``.
    Returns the byte and the offset after it; those that were given, if it is empty.
    Never raises for what is in the bytes.
    """
    cdef Py_buffer buffer
    cdef Cursor cursor
    cdef Entry entry
    cdef Py_ssize_t first = position
    get_input(data, &buffer)
    try:
        check_range(position, end, buffer.len)
        cursor.fault = 0
        cursor.start = <const uint8_t*>buffer.buf
        with nogil:
            while position < last_start:
                if not read_entry(&cursor, position, end, False, &entry):
                    break
                if (
                    entry.magic != 2
                    or entry.attributes & (CODEC_MASK | TRANSACTIONAL | CONTROL)
                    or entry.base_offset != expected
                    or entry.last_offset < expected
                    or entry.last_offset == INT64_MAX
                    or position + entry.size - first > most_bytes
                ):
                    break
                # Last, as it takes longest.
                if check_crc and entry.crc != crc32c_of(
                    0,
                    cursor.start + position + ATTRIBUTES_AT,
                    <size_t>(entry.size - ATTRIBUTES_AT),
                ):
                    break
                expected = entry.last_offset + 1
                position += <Py_ssize_t>entry.size
    finally:
        PyBuffer_Release(&buffer)
    return position, expected


cpdef int check_range(Py_ssize_t position, Py_ssize_t end, Py_ssize_t size) except -1:
    """Refuse a position or an end outside of an input of ``size`` bytes."""
    if not 0 <= end <= size:
        raise ValueError(
            f"end must be 0 to {size}, the length of the input (got {end})"
        )
    if not 0 <= position <= end:
        raise ValueError(
            f"position must be 0 to {end}, where the input ends"
            f" (got {position})"
        )
    return 0


cdef int read_entry(
    Cursor* cursor, Py_ssize_t position, Py_ssize_t end, bint check_crc, Entry* entry
) noexcept nogil:
    """Read the header of an entry and check the entry; None at the end.

    Shape: offset INT64, size INT32, then for magic 2: partition leader epoch INT32,
    magic INT8, crc UINT32 (CRC-32C of what follows it), attributes INT16, last offset
    delta INT32, base timestamp INT64, max timestamp INT64, producer id INT64, producer
    epoch INT16, base sequence INT32, count INT32; for magic 0 and 1: crc UINT32
    (CRC-32), magic INT8, attributes INT8, and for 1 a timestamp INT64.
    """
    # Returns 1, or 0 at the end and for a fault, which is noted.
    cdef const uint8_t* at = cursor.start + position
    cdef Py_ssize_t left = end - position
    cdef Py_ssize_t size
    cdef uint32_t found
    if left < LOG_OVERHEAD:
        return 0
    size = load_int32(at + SIZE_AT)
    if size < MESSAGE_OVERHEAD_0:
        note(cursor, BAD_BATCH_SIZE, at, size)
        return 0
    if left <= MAGIC_AT:
        return 0
    entry.magic = <int>load_byte(at + MAGIC_AT)
    if entry.magic > 2:
        note(cursor, BAD_MAGIC, at, <int8_t>entry.magic)
        return 0
    if size > left - LOG_OVERHEAD:
        return 0
    entry.position = position
    entry.size = LOG_OVERHEAD + size
    entry.base_offset = load_int64(at + BASE_OFFSET_AT)
    if entry.magic < 2:
        return read_message_head(cursor, at, check_crc, entry)
    if size < BATCH_OVERHEAD - LOG_OVERHEAD:
        note(cursor, BAD_BATCH_SIZE, at, size)
        return 0
    entry.crc = <uint32_t>load_int32(at + CRC_AT)
    if check_crc:
        found = crc32c_of(
            0, at + ATTRIBUTES_AT, <size_t>(entry.size - ATTRIBUTES_AT)
        )
        if found != entry.crc:
            note(cursor, BAD_CRC, at, found)
            return 0
    entry.attributes = load_int16(at + ATTRIBUTES_AT)
    entry.count = load_int32(at + COUNT_AT)
    if not _known_codecs[2] >> (entry.attributes & CODEC_MASK) & 1:
        note(cursor, BAD_CODEC, at, entry.attributes & CODEC_MASK)
        return 0
    if entry.count < 0 or (
        entry.count > (entry.size - BATCH_OVERHEAD) // LEAST_RECORD
        and not entry.attributes & CODEC_MASK
    ):
        note(cursor, BAD_RECORD_COUNT, at, entry.count)
        return 0
    entry.partition_leader_epoch = load_int32(at + LEADER_EPOCH_AT)
    entry.last_offset = <int64_t>(
        <uint64_t>entry.base_offset
        + <uint64_t><int64_t>load_int32(at + LAST_OFFSET_DELTA_AT)
    )
    entry.base_timestamp = load_int64(at + BASE_TIMESTAMP_AT)
    entry.max_timestamp = load_int64(at + MAX_TIMESTAMP_AT)
    entry.producer_id = load_int64(at + PRODUCER_ID_AT)
    entry.producer_epoch = load_int16(at + PRODUCER_EPOCH_AT)
    entry.base_sequence = load_int32(at + BASE_SEQUENCE_AT)
    return 1


cdef int read_message_head(
    Cursor* cursor, const uint8_t* at, bint check_crc, Entry* entry
) noexcept nogil:
    """Read the header of a complete entry of magic 0 or 1."""
    cdef uint32_t found
    if entry.magic == 1 and entry.size < LOG_OVERHEAD + MESSAGE_OVERHEAD_1:
        note(cursor, BAD_BATCH_SIZE, at, entry.size - LOG_OVERHEAD)
        return 0
    entry.crc = <uint32_t>load_int32(at + MESSAGE_CRC_AT)
    if check_crc:
        found = crc32_of(0, at + MAGIC_AT, <size_t>(entry.size - MAGIC_AT))
        if found != entry.crc:
            note(cursor, BAD_CRC, at, found)
            return 0
    entry.attributes = <int8_t>load_byte(at + MESSAGE_ATTRIBUTES_AT)
    if not _known_codecs[entry.magic] >> (entry.attributes & CODEC_MASK) & 1:
        note(cursor, BAD_CODEC, at, entry.attributes & CODEC_MASK)
        return 0
    entry.last_offset = entry.base_offset
    entry.base_timestamp = -1
    if entry.magic:
        entry.base_timestamp = load_int64(at + MESSAGE_TIMESTAMP_AT)
    entry.max_timestamp = entry.base_timestamp
    entry.producer_id = -1
    entry.producer_epoch = -1
    entry.base_sequence = -1
    entry.partition_leader_epoch = -1
    entry.count = -1 if entry.attributes & CODEC_MASK else 1
    return 1


cdef object make_header(Entry* entry):
    """Make the object of a batch header."""
    cdef PyObject* made = new_struct(_header_class, HEADER_SLOTS)
    cdef PyObject** slots
    cdef int index
    if made == NULL:
        raise MemoryError
    slots = slots_of(made)
    slots[0] = int_of(entry.position)
    slots[1] = int_of(entry.size)
    slots[2] = int_of(entry.magic)
    slots[3] = int_of(entry.attributes)
    slots[4] = int_of(entry.crc)
    slots[5] = int_of(entry.base_offset)
    slots[6] = int_of(entry.last_offset)
    slots[7] = int_of(entry.base_timestamp)
    slots[8] = int_of(entry.max_timestamp)
    slots[9] = int_of(entry.producer_id)
    slots[10] = int_of(entry.producer_epoch)
    slots[11] = int_of(entry.base_sequence)
    slots[12] = int_of(entry.partition_leader_epoch)
    slots[13] = int_of(entry.count)
    for index in range(HEADER_SLOTS):
        if slots[index] == NULL:
            Py_XDECREF(made)
            raise MemoryError
    header = <object>made
    Py_XDECREF(made)
    return header


cdef int fill_entry(object header, Entry* entry) except -1:
    """Read the fields of a header object; ``TypeError`` for another object."""
    cdef PyObject** slots
    if _header_class == NULL or type_of(<void*>header) != _header_class:
        raise TypeError(
            f"header must be a BatchHeader (got {errors.quote(header, 80)})"
        )
    slots = slots_of(<void*>header)
    entry.position = <object>slots[0]
    entry.size = <object>slots[1]
    entry.magic = <object>slots[2]
    entry.attributes = <object>slots[3]
    entry.crc = <object>slots[4]
    entry.base_offset = <object>slots[5]
    entry.last_offset = <object>slots[6]
    entry.base_timestamp = <object>slots[7]
    entry.max_timestamp = <object>slots[8]
    entry.producer_id = <object>slots[9]
    entry.producer_epoch = <object>slots[10]
    entry.base_sequence = <object>slots[11]
    entry.partition_leader_epoch = <object>slots[12]
    entry.count = <object>slots[13]
    return 0
