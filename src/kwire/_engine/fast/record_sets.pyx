# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decides which batches of a record set are read, and decodes these into objects.

``find_entry`` goes from one entry to the next. It is the one place that decides by
offsets, control batches and transactions which entry is read: batches and rows, which
are made here, and the columns of ``record_columns.pyx`` all call it. An entry stays a
C struct; a header object is made for what returns it or decides by it.

Twin: ``pure/record_sets.py``. Differs from its twin in: noted faults for exceptions.
C needs for itself: ``begin_walk``, ``is_large``, ``make_walk_failure``.
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
    # Entries from this size on are checked without the lock.
    LARGE_ENTRY = 32768
    # The least that a record of a compressed entry counts for in ``most_bytes``.
    RECORD_BYTES = 64
    # Maximum attributes of a record that are a varint of one byte.
    MAX_ATTRIBUTES = 127


cdef class ReadOptions:
    """How a record set is read: what batches, rows and columns have in common.

    ``decompress(codec, payload, magic, position, remaining)`` returns the bytes of a
    compressed entry, of which there may be ``remaining``. ``transactions`` is a
    ``TransactionFilter``, or None to read what is not committed too. ``lowest`` and
    ``highest`` are the offsets of the first and the last record that are wanted;
    ``most_records`` is the limit for one entry. ``replace`` is for header keys that are
    not UTF-8. ``most_bytes`` is the limit for the compressed entries of one call after
    decompression. A call for rows or columns ends after the entry with which its
    entries reach ``piece_bytes``, counted after decompression.
    With ``check_records``, rows and batches must pass ``check_records``.
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
    """Read the first batch from byte ``position`` on that has wanted offsets.

    Returns its header and its records, or None if there is no such batch before
    ``end``. Control and aborted batches have no records if transactions are filtered.
    Plain messages that follow each other are one batch.
    Raises ``DecodeError`` as ``read_batch_header`` and ``read_records`` do.
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
    """Read the records of a record set into one list, in one call.

    ``position`` and ``end`` bound the entries in ``data`` (bytes). Returns the list,
    the position after the last complete entry and the offset after it, which is None if
    there is no such entry. Control records are left out.
    Raises ``DecodeError`` as ``read_batch_header`` and ``read_records`` do.
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
    """Set up a walk over the entries between two bytes of the input."""
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
    """Advance to the next entry with wanted offsets that is not hidden, or to the end.

    A walk ``with_control`` stops at hidden ones too, and at control batches.
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
    """Whether it pays to let other threads run while an entry is checked."""
    return (
        w.check_crc
        and w.end - w.position >= LARGE_ENTRY
        and load_int32(w.cursor.start + w.position + SIZE_AT) >= LARGE_ENTRY
    )


cdef bint filter_entry(EntryWalk* w, object data, ReadOptions options) except -1:
    """Let the filter of transactions see a batch; return whether it is hidden.

    Of a control batch the filter sees the records.
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
    """Read the wanted records of the entry that was found; see ``read_every``."""
    cdef tuple records = read_every(w, r, data, options)
    # Offsets of old messages need not be in order.
    if (
        w.entry.base_offset < w.lowest
        or w.entry.last_offset > w.highest
        or w.entry.magic < 2
    ):
        return cut_records(records, w.lowest, w.highest)
    return records


cdef tuple read_every(EntryWalk* w, Reading* r, object data, ReadOptions options):
    """Read all records of the entry that was found; plain messages by the run.

    The entry is then that of the run; a wrapper's has the offset of its first message.
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
    """Reject decoded records of magic 2 that other clients would read differently.

    The offsets must ascend from the base offset to at most the last offset of the
    header. Attributes must be below 128, because some clients read them as a varint.
    The timestamp must not exceed 64 bits, because some clients do not wrap it.
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
            # The sum of two numbers overflows if its sign is not that of either.
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
    """Leave out the records whose offset is not wanted."""
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
    """Decompress the payload of an entry."""
    cdef Reading r
    cdef int64_t start, end
    begin(&r, False)
    r.entry = w.entry
    start, end = find_entry_payload(&r, w.cursor.start)
    # No with statement: in C it crashes where memory runs out.
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
    """Count a decompressed entry towards the limit of the call and of the piece.

    A record count that the bytes rule out is left to the decoder, which rejects it.
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
    """Make the exception of a call whose entries hold more than the limit."""
    return errors.decode_failure(
        errors.CALL_TOO_LARGE, w.most_bytes, w.entry.position, ""
    )


cdef object make_walk_failure(EntryWalk* w):
    """Make the exception of a walk that came to a fault."""
    return errors.decode_failure(
        w.cursor.fault, w.cursor.fault_detail, w.cursor.fault_offset, ""
    )


cdef object make_record_limit_failure(EntryWalk* w):
    """Make the exception of an entry with more records than the limit."""
    return errors.decode_failure(
        errors.TOO_MANY_RECORDS, w.entry.count, w.entry.position, ""
    )
