# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the batches of a record set to read, and decodes them into objects.

``find_entry`` advances from one entry to the next. Only this function decides, by
offsets, control batches and transactions, which entries are read. The functions here
that return batches and rows call it, and so does ``record_columns.pyx``, which returns
columns.

Twin: ``pure/record_sets.py``. Differs from its twin in: errors are fault codes, and a
header object is created only if it is returned or passed to the transaction filter.

Only in Cython: ``begin_walk``, ``is_large``, ``make_walk_failure``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t

from kwire._engine.fast.batches cimport *
from kwire._engine.fast.big_endian cimport load_int32
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.legacy_records cimport find_entry_payload, read_inner, read_run
from kwire._engine.fast.python_api cimport PyBuffer_Release, PyTuple_GET_ITEM
from kwire._engine.fast.record_decoder cimport *
from kwire._engine.fast.record_sets cimport *
from kwire._engine.fast.structs cimport slots_of

from kwire import errors

cdef enum:
    # Minimum size in bytes of an entry whose checksum is computed without the GIL.
    LARGE_ENTRY = 32768
    # Minimum size in bytes that is counted for each record in a compressed entry.
    RECORD_BYTES = 64
    # Maximum record attributes that are encoded as a varint of one byte.
    MAX_ATTRIBUTES = 127


cdef class ReadOptions:
    """Options for reading a record set as batches, rows or columns.

    * ``decompress(codec, payload, magic, position, remaining)``: function that returns
      the decompressed bytes of an entry. ``remaining`` is their maximum number.
    * ``transactions``: ``TransactionFilter``, or None to read uncommitted records too.
    * ``lowest``, ``highest``: offsets of the first and the last record to return.
    * ``most_records``: maximum number of records in one entry.
    * ``most_bytes``: maximum decompressed size for all compressed entries in one call.
    * ``piece_bytes``: a call for rows or columns ends after the entry with which its
      entries reach this decompressed size.
    * ``check_crc``: verify the checksums of the entries.
    * ``check_records``: reject the records that the function ``check_records`` rejects.
    * ``replace``: replace invalid UTF-8 in header keys by U+FFFD instead of raising.
    """

    def __init__(
        self,
        decompress,
        transactions=None,
        int64_t lowest=INT64_MIN,
        int64_t highest=INT64_MAX,
        int64_t most_records=INT64_MAX,
        bint check_crc=True,
        bint replace=False,
        int64_t most_bytes=INT64_MAX,
        int64_t piece_bytes=INT64_MAX // 2,
        bint check_records=False,
    ):
        self.decompress = decompress
        self.transactions = transactions
        self.lowest = lowest
        self.highest = highest
        self.most_records = most_records
        self.check_crc = check_crc
        self.replace = replace
        self.most_bytes = most_bytes
        self.piece_bytes = piece_bytes
        self.check_records = check_records


def read_batch(
    data, Py_ssize_t position, Py_ssize_t end, ReadOptions options not None
):
    """Read the first batch from byte ``position`` on that has requested offsets.

    Returns its header and its records, or None if there is no such batch before
    ``end``. With a transaction filter, control batches and aborted batches have no
    records. Adjacent uncompressed magic 0 or 1 messages are returned as one batch.

    Raises ``DecodeError`` in the same cases as ``read_batch_header`` and
    ``read_records``.
    """
    cdef EntryWalk w
    cdef Reading r
    cdef Py_buffer buffer
    cdef tuple records = ()
    begin(&r, options.replace)
    get_input(data, &buffer)
    try:
        begin_walk(&w, &buffer, position, end, options)
        w.with_control = True
        if not find_wanted(&w, data, options):
            return None
        if not w.is_hidden:
            records = read_found(&w, &r, data, options)
        return make_header(&w.entry), records
    finally:
        finish(&r)
        PyBuffer_Release(&buffer)


def decode_records(
    data, ReadOptions options not None, Py_ssize_t position=0, end=None
):
    """Read the records of a record set into one list.

    ``position`` and ``end`` (bytes) specify the part of ``data`` to read. Control
    records are omitted.

    Returns the list, the position after the last complete entry, and the offset after
    that entry, which is None if there is no complete entry.

    Raises ``DecodeError`` in the same cases as ``read_batch_header`` and
    ``read_records``.
    """
    cdef EntryWalk w
    cdef Reading r
    cdef Py_buffer buffer
    cdef list rows = []
    begin(&r, options.replace)
    get_input(data, &buffer)
    try:
        begin_walk(
            &w, &buffer, position, buffer.len if end is None else end, options
        )
        while find_wanted(&w, data, options):
            rows += read_found(&w, &r, data, options)
    finally:
        finish(&r)
        PyBuffer_Release(&buffer)
    next_offset = <object>w.last_offset + 1 if w.is_started else None
    return rows, w.position, next_offset


cdef int begin_walk(
    EntryWalk* w,
    Py_buffer* buffer,
    Py_ssize_t position,
    Py_ssize_t end,
    ReadOptions options,
) except -1:
    """Initialize a walk over the entries between two positions of the input."""
    check_range(position, end, buffer.len)
    w.cursor.fault = 0
    w.cursor.start = <const uint8_t*>buffer.buf
    w.position = position
    w.end = end
    w.is_started = False
    w.is_hidden = False
    w.last_offset = -1
    w.lowest = options.lowest
    w.highest = options.highest
    w.most_records = options.most_records
    w.most_bytes = options.most_bytes
    w.remaining = options.most_bytes
    w.stop = position + options.piece_bytes
    w.check_crc = options.check_crc
    w.with_control = False
    w.filtered = 0 if options.transactions is None else TRANSACTIONAL | CONTROL
    return 0


cdef bint find_wanted(EntryWalk* w, object data, ReadOptions options) except -1:
    """Advance to the next visible entry with requested offsets.

    Returns False at the end of the input. With ``with_control``, the walk stops also at
    hidden entries and at control batches.
    """
    cdef Step step
    while True:
        if is_large(w):
            with nogil:
                step = find_entry(w)
        else:
            step = find_entry(w)
        if step == SET_ENTRY:
            return True
        if step == SET_END:
            return False
        if step == SET_FAULT:
            raise make_walk_failure(w)
        w.is_hidden = filter_entry(w, data, options)
        if not is_outside(w) and (w.with_control or not w.is_hidden):
            return True


cdef bint is_large(EntryWalk* w) noexcept nogil:
    """Whether the entry is so large that its checksum is computed without the GIL."""
    return (
        w.check_crc
        and w.end - w.position >= LARGE_ENTRY
        and load_int32(w.cursor.start + w.position + SIZE_AT) >= LARGE_ENTRY
    )


cdef bint filter_entry(EntryWalk* w, object data, ReadOptions options) except -1:
    """Pass a batch to the transaction filter. Returns whether the batch is hidden.

    The filter also receives the records if the batch is a control batch.
    """
    cdef Reading r
    cdef tuple records = ()
    if w.entry.attributes & CONTROL:
        begin(&r, True)
        try:
            records = read_every(w, &r, data, options)
        finally:
            finish(&r)
    return options.transactions.observe(make_header(&w.entry), records)


cdef tuple read_found(EntryWalk* w, Reading* r, object data, ReadOptions options):
    """Read the requested records of the current entry.

    The entry is read like in ``read_every``. Records outside of the requested offsets
    are omitted.
    """
    cdef tuple records = read_every(w, r, data, options)
    # The offsets of magic 0 and 1 messages may be in any order.
    if (
        w.entry.base_offset < w.lowest
        or w.entry.last_offset > w.highest
        or w.entry.magic < 2
    ):
        return cut_records(records, w.lowest, w.highest)
    return records


cdef tuple read_every(EntryWalk* w, Reading* r, object data, ReadOptions options):
    """Read all records of the current entry, or of a run that begins with it.

    A run consists of similar uncompressed magic 0 or 1 messages. After a run, the
    current entry describes the whole run. After a wrapper message, its base offset is
    the offset of the first inner message.
    """
    cdef Py_buffer buffer
    cdef Py_ssize_t size
    cdef tuple records
    if w.entry.count > w.most_records:
        raise make_record_limit_failure(w)
    r.entry = w.entry
    if not w.entry.attributes & CODEC_MASK:
        if w.entry.magic == 2:
            records = read_batch_records(r, w.cursor.start)
            if options.check_records:
                check_records(
                    w,
                    w.cursor.start + w.entry.position + BATCH_OVERHEAD,
                    <Py_ssize_t>(w.entry.size - BATCH_OVERHEAD),
                )
            return records
        records = read_run(r, w.cursor.start, w.end, w.check_crc)
        w.entry = r.entry
        w.position = <Py_ssize_t>(w.entry.position + w.entry.size)
        w.last_offset = w.entry.last_offset
        return records
    payload = decompress_entry(w, data, options)
    get_input(payload, &buffer)
    try:
        if w.entry.magic == 2:
            charge_entry(w, buffer.len)
            records = read_content(r, <const uint8_t*>buffer.buf, buffer.len)
            if options.check_records:
                check_records(w, <const uint8_t*>buffer.buf, buffer.len)
            return records
        records = read_inner(r, <const uint8_t*>buffer.buf, buffer.len, w.check_crc)
    finally:
        size = buffer.len
        PyBuffer_Release(&buffer)
    w.entry.base_offset = <object>slots_of(PyTuple_GET_ITEM(<PyObject*>records, 0))[0]
    w.entry.count = <int32_t>len(records)
    if w.entry.count > w.most_records:
        raise make_record_limit_failure(w)
    charge_entry(w, size)
    return records


cdef int check_records(
    EntryWalk* w, const uint8_t* start, Py_ssize_t size
) except -1:
    """Reject decoded magic 2 records that other clients would read differently.

    * The offsets must ascend, from the base offset to the header's last offset.
    * The attributes must be below 128, because some clients read them as a varint.
    * The timestamp must not exceed 64 bits, because in some clients it does not
      overflow in the same way as in Kafka.

    The error contains the index of the first record that violates a rule.
    """
    cdef Cursor cursor
    cdef const uint8_t* following
    cdef uint64_t base = <uint64_t>w.entry.base_timestamp
    cdef uint64_t raw, delta, timestamp
    cdef int64_t last = <int64_t>(
        <uint64_t>w.entry.last_offset - <uint64_t>w.entry.base_offset
    )
    cdef int64_t previous = -1
    cdef int64_t offset
    cdef uint8_t attributes
    cdef int32_t index
    cursor.fault = 0
    cursor.lenient = False
    cursor.start = cursor.at = start
    cursor.end = start + size
    for index in range(w.entry.count):
        raw = read_unsigned_varint(&cursor)
        following = cursor.at + (raw >> 1)
        attributes = read_uint8(&cursor)
        raw = read_unsigned_varlong(&cursor)
        delta = raw >> 1 ^ (0 - (raw & 1))
        timestamp = base + delta
        raw = read_unsigned_varint(&cursor)
        offset = <int64_t>(raw >> 1 ^ (0 - (raw & 1)))
        if (
            cursor.fault
            or following > cursor.end
            or attributes > MAX_ATTRIBUTES
            # A sum overflows if its sign differs from the signs of both numbers.
            or ((base ^ timestamp) & (delta ^ timestamp)) >> 63
            or not previous < offset <= last
        ):
            raise errors.decode_failure(
                errors.BAD_RECORD, index, w.entry.position, ""
            )
        previous = offset
        cursor.at = following
    return 0


cdef tuple cut_records(tuple records, int64_t lowest, int64_t highest):
    """Remove the records whose offsets were not requested."""
    cdef list wanted = []
    cdef int64_t offset
    if lowest == INT64_MIN and highest == INT64_MAX:
        return records
    for record in records:
        offset = <object>slots_of(<void*>record)[0]
        if lowest <= offset <= highest:
            wanted.append(record)
    return tuple(wanted)


cdef object decompress_entry(EntryWalk* w, object data, ReadOptions options):
    """Return the decompressed content of the current entry."""
    cdef Reading r
    cdef int64_t start, end
    begin(&r, False)
    r.entry = w.entry
    start, end = find_entry_payload(&r, w.cursor.start)
    # A with statement would crash in Cython's code if there was no memory.
    view = memoryview(data)
    try:
        source = view.cast("B")
        try:
            payload = source[<Py_ssize_t>start:<Py_ssize_t>end]
            try:
                return options.decompress(
                    w.entry.attributes & CODEC_MASK,
                    payload,
                    w.entry.magic,
                    w.entry.position,
                    w.remaining,
                )
            finally:
                payload.release()
        finally:
            source.release()
    finally:
        view.release()


cdef int charge_entry(EntryWalk* w, Py_ssize_t size) except -1:
    """Count a decompressed entry towards the limits for the call.

    If there cannot be as many records as the header says, nothing is counted, because
    the decoder will reject the entry.
    """
    cdef int64_t count = w.entry.count
    if count > size // LEAST_RECORD:
        return 0
    count = max(<int64_t>size, count * RECORD_BYTES)
    if count > w.remaining:
        raise make_call_limit_failure(w)
    w.remaining -= count
    w.stop -= count
    return 0


cdef object make_call_limit_failure(EntryWalk* w):
    """Create the exception for a call whose entries exceed ``most_bytes``."""
    return errors.decode_failure(
        errors.CALL_TOO_LARGE, w.most_bytes, w.entry.position, ""
    )


cdef object make_walk_failure(EntryWalk* w):
    """Create the exception for the fault of a walk."""
    return errors.decode_failure(
        w.cursor.fault, w.cursor.fault_detail, w.cursor.fault_offset, ""
    )


cdef object make_record_limit_failure(EntryWalk* w):
    """Create the exception for an entry with more than ``most_records`` records."""
    return errors.decode_failure(
        errors.TOO_MANY_RECORDS, w.entry.count, w.entry.position, ""
    )
