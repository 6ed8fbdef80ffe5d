# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads batch headers: the size of a batch, its validity, and its fields.

An entry is a record batch (magic 2), a compressed wrapper message, or an uncompressed
message (both magic 0 or 1). Every entry begins with its offset (INT64) and the number
of bytes that follow (INT32), and byte 16 is always the magic. ``record_decoder.pyx``
and ``legacy_records.pyx`` read the content of an entry.

Twin: ``pure/batches.py``. Differs from its twin in: errors are fault codes, the header
is a C struct unless the caller needs an object, and sums of INT64 overflow without a
function.

Only in Cython: ``make_header``, ``fill_entry``. Only in Python: ``wrap_int64``.
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

# Bit n of known_codecs[magic] is set if the magic supports codec n.
cdef int[3] _known_codecs = KNOWN_CODECS

cdef enum:
    # Minimum input size in bytes for which releasing the GIL is worthwhile.
    LARGE_INPUT = 32768


def bind_batch_header(cls):
    """Set the class of batch headers.

    The engine cannot import it, because the module of the class imports the engine.
    """
    global _header_class
    _header_class = <PyTypeObject*>cls


def read_batch_header(
    data,
    Py_ssize_t position=0,
    *,
    bint check_crc=True,
    end=None,
):
    """Read the header of the entry at byte ``position``.

    Returns None at the end of the input, which includes an incomplete last entry,
    because a Fetch response may truncate its last batch. ``end`` is the end of the
    input if ``data`` continues after it.

    The size of the entry is checked. With ``check_crc``, its checksum is checked too,
    otherwise no bytes after the header are read.

    Units: positions and sizes in bytes, timestamps in ms.

    Raises ``CorruptBatch`` at ``position`` if the entry is invalid, and ``ValueError``
    if ``position`` or ``end`` is outside of the input.

    Source: ``ByteBufferLogInputStream``, ``DefaultRecordBatch.ensureValid``,
    ``LegacyRecord.ensureValid``.
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

    Returns None if there is no complete entry. The function reads only the headers and
    does not verify checksums, because they are verified when the records are read. An
    incomplete last entry is ignored, because a Fetch response may truncate it.

    Units: positions and sizes in bytes.

    Raises ``CorruptBatch`` at the first entry that is invalid, and ``ValueError`` if
    ``position`` or ``end`` is outside of the input.

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
    """Measure the run of ordinary batches that begins at byte ``position``.

    A batch is ordinary if it is complete, has magic 2, begins before ``last_start``, is
    not compressed, and is neither transactional nor a control batch. Offsets in the run
    are contiguous: the first batch has the base offset ``expected``, and each other
    batch begins after the last offset of the previous one.

    The run ends before the first other entry, before it would exceed ``most_bytes``, or
    at ``end``. Returns the position (bytes) and the offset after the run. If the run is
    empty, these are the arguments ``position`` and ``expected``.

    The content of the input never causes an exception. With ``check_crc``, a batch with
    an incorrect checksum ends the run. Raises ``ValueError`` if ``position`` or ``end``
    is outside of the input.
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
                # Check the CRC last, because it takes the most time.
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
    """Raise ``ValueError`` if a position or an end is outside of the input.

    ``size`` is the length of the input in bytes.
    """
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
    """Read and validate the header of an entry, if the input contains the whole entry.

    Shape: offset INT64, size INT32, then for magic 2: partition leader epoch INT32,
    magic INT8, crc UINT32 (CRC-32C of all bytes after it), attributes INT16, last
    offset delta INT32, base timestamp INT64, max timestamp INT64, producer id INT64,
    producer epoch INT16, base sequence INT32, count INT32. For magic 0 and 1: crc
    UINT32 (CRC-32), magic INT8, attributes INT8, and only for magic 1 a timestamp
    INT64.
    """
    # Returns 1 for an entry. Returns 0 at the end of the input, and after storing a
    # fault code.
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
    """Read and validate the header of a complete magic 0 or 1 entry.

    With ``check_crc``, the checksum of the entry is verified as well.
    """
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
    """Create a batch header object."""
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
    """Copy the fields of a batch header object to the C struct.

    Raises ``TypeError`` if ``header`` is not a batch header.
    """
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
