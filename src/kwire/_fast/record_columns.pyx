# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Records by the thousand, from the bytes of batches into columns.

The third walk over bytes: it reads as ``record_decoder.pyx`` does and refuses what
that refuses, but appends to the columns of ``column.pxd`` instead of making objects.
A batch that it cannot read is read again by ``record_decoder.pyx``, which says why; if
that can read it, the input has changed meanwhile.

Twin: ``_pure/record_columns.py``. Differs from its twin in: no object is made for a
record and the GIL is released, where the twin turns records into columns.
C needs for itself: ``record_shape``, ``plain_shape``, ``parent_shape``, ``hidden``,
``is_control``, ``walk_entry``, ``decoded_payload``, ``failure_of``; the walk is
``record_walk.pyx``'s.
"""

from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, INT64_MIN, uint8_t
from libc.stdlib cimport calloc, free

from kwire._fast.batches cimport *
from kwire._fast.column cimport *
from kwire._fast.column_tree cimport ColumnShape, make_array, build_columns
from kwire._fast.cursor cimport *
from kwire._fast.decoder cimport get_input
from kwire._fast.program cimport *
from kwire._fast.python_api cimport Py_XDECREF, PyBuffer_Release, raise_pending
from kwire._fast.record_walk cimport *

from kwire import errors
from kwire._fast.record_decoder import (
    find_payload,
    read_inner_messages,
    read_message_run,
    read_records,
)

LARGEST_OFFSET = 2**31 - 1


cdef ColumnShape plain_shape(str name, str format, int kind, int width):
    """Make the type of a column that has no columns below it."""
    cdef ColumnShape shape = ColumnShape.__new__(ColumnShape)
    shape.name = name
    shape.format = format
    shape.kind = kind
    shape.width = width
    shape.children = ()
    shape.total = 1
    return shape


cdef ColumnShape parent_shape(str name, str format, int kind, list children):
    """Make the type of a column over others."""
    cdef ColumnShape shape = plain_shape(name, format, kind, 0)
    shape.children = tuple(children)
    for child in children:
        shape.total += (<ColumnShape>child).total
    return shape


cdef dict _shapes = {}


cdef ColumnShape record_shape(bint headers, bint batch_columns, str unit):
    """Find or make the type of the struct column of records."""
    shape = _shapes.get((headers, batch_columns, unit))
    if shape is not None:
        return shape
    children = [
        plain_shape("offset", "l", OP_INT64, 8),
        plain_shape("timestamp", f"ts{unit[0]}:UTC", OP_INT64, 8),
        plain_shape("timestamp_type", "i", OP_INT32, 4),
        plain_shape("key", "z", OP_BYTES, 0),
        plain_shape("value", "z", OP_BYTES, 0),
    ]
    if headers:
        pair = [
            plain_shape("key", "u", OP_STRING, 0),
            plain_shape("value", "z", OP_BYTES, 0),
        ]
        item = parent_shape("item", "+s", OP_STRUCT, pair)
        children.append(parent_shape("headers", "+l", OP_ARRAY, [item]))
    if batch_columns:
        children += [
            plain_shape("batch_position", "l", OP_INT64, 8),
            plain_shape("base_offset", "l", OP_INT64, 8),
            plain_shape("magic", "c", OP_INT8, 1),
            plain_shape("attributes", "s", OP_INT16, 2),
            plain_shape("partition_leader_epoch", "i", OP_INT32, 4),
            plain_shape("producer_id", "l", OP_INT64, 8),
            plain_shape("producer_epoch", "s", OP_INT16, 2),
            plain_shape("base_sequence", "i", OP_INT32, 4),
        ]
    return _shapes.setdefault(
        (headers, batch_columns, unit), parent_shape("", "+s", OP_STRUCT, children)
    )


cdef dict _FACTORS = {"s": (1, 1000), "ms": (1, 1), "us": (1000, 1), "ns": (1000000, 1)}


def decode_columns(
    data,
    decompress,
    *,
    Py_ssize_t position=0,
    end=None,
    bint headers=True,
    bint batch_columns=False,
    str timestamp_unit="ms",
    bint check_crc=True,
    bint replace=False,
    transactions=None,
    start_offset=None,
    end_offset=None,
    most_records=None,
):
    """Decode the records of all batches into the columns of one struct ``Array``.

    ``position`` and ``end`` bound the entries in ``data`` (bytes), ``start_offset``
    and ``end_offset`` the records (the latter is the first that is left out).
    ``decompress(codec, payload, magic, position)`` gives the bytes of a compressed
    batch. Control batches are left out, and what ``transactions`` hides.
    ``most_records`` is the ceiling for one batch. Returns the array and the position
    behind the last whole entry.
    Shape: offset, timestamp, timestamp type, key, value, then the headers as a list of
    key and value, then the columns of the batch. A timestamp that its unit cannot
    carry is null. Time and memory are linear in the bytes; no object for each record.
    Raises ``DecodeError`` as ``read_batch_header`` and ``read_records`` do, and
    ``LimitExceeded`` where keys, values or headers outgrow 32-bit offsets.
    """
    cdef ColumnShape shape = record_shape(headers, batch_columns, timestamp_unit)
    cdef Py_buffer buffer
    cdef Walk w
    cdef Column* next_column
    cdef Reason reason
    w.rows = 0
    w.check_crc = check_crc
    w.replace = replace
    w.batch_columns = batch_columns
    w.factor, w.divisor = _FACTORS[timestamp_unit]
    w.lowest = INT64_MIN if start_offset is None else start_offset
    w.highest = INT64_MAX if end_offset is None else end_offset - 1
    w.most_records = INT64_MAX if most_records is None else most_records
    w.position = position
    w.cursor.fault = 0
    w.cursor.lenient = False
    get_input(data, &buffer)
    # From here on nothing may fail before the try.
    w.columns = <Column*>calloc(<size_t>shape.total, sizeof(Column))
    if w.columns == NULL:
        PyBuffer_Release(&buffer)
        raise MemoryError
    next_column = w.columns + 1
    build_columns(w.columns, &next_column, shape, NULL, LARGEST_OFFSET)
    w.key = &w.columns.children[<int>KEY]
    w.value = &w.columns.children[<int>VALUE]
    w.headers = &w.columns.children[<int>HEADERS] if headers else NULL
    try:
        w.end = buffer.len if end is None else end
        if not 0 <= position <= w.end <= buffer.len:
            raise ValueError(f"position is one in the input, not {position}")
        w.cursor.start = <const uint8_t*>buffer.buf
        with nogil:
            reserve_rows(&w)
        while True:
            with nogil:
                reason = walk_entries(&w, transactions is not None)
            if reason == AT_END:
                break
            if reason != AT_ENTRY:
                raise failure_of(&w, reason, data)
            if is_control(&w) and w.entry.count > w.most_records:
                raise failure_of(&w, TOO_MANY, data)
            if transactions is not None and hidden(&w, data, decompress, transactions):
                w.position += w.entry.size
                continue
            reason = walk_entry(&w, data, decompress)
            if reason != AT_END:
                raise failure_of(&w, reason, data)
            w.position += w.entry.size
        return make_array(w.columns, shape, w.rows, NULL), w.position
    finally:
        free_columns(w.columns, shape.total)
        free(w.columns)
        PyBuffer_Release(&buffer)


cdef inline bint is_control(Walk* w) noexcept nogil:
    """Whether an entry is a control batch."""
    return w.entry.magic == 2 and (w.entry.attributes & CONTROL) != 0


cdef bint hidden(
    Walk* w, object data, object decompress, object transactions
) except -1:
    """Ask ``transactions`` about an entry; it sees the records of control batches."""
    cdef PyObject* made = make_header(&w.entry)
    if made == NULL:
        raise MemoryError
    header = <object>made
    Py_XDECREF(made)
    records = ()
    if is_control(w):
        if w.entry.attributes & CODEC_MASK:
            payload = decoded_payload(w, data, decompress)
            records = read_records(payload, header, compressed=True, replace=True)
        else:
            records = read_records(data, header, replace=True)
    return transactions.hides(header, records)


cdef Reason walk_entry(Walk* w, object data, object decompress) except *:
    """Read what an entry holds, compressed or not."""
    cdef Py_buffer buffer
    cdef Reason reason
    cdef const uint8_t* at
    if w.entry.count > w.most_records:
        return TOO_MANY
    if not w.entry.attributes & CODEC_MASK:
        return walk_plain(w)
    payload = decoded_payload(w, data, decompress)
    get_input(payload, &buffer)
    try:
        at = <const uint8_t*>buffer.buf
        with nogil:
            if w.entry.magic == 2:
                reason = walk_records(w, at, at + buffer.len)
            else:
                reason = walk_inner(w, at, buffer.len)
    finally:
        PyBuffer_Release(&buffer)
    if reason == BAD_ENTRY or (reason == TOO_MANY and w.entry.magic < 2):
        # Found out here, while its bytes are at hand; what is wrong inside a wrapper
        # counts before the number of its messages.
        made = make_header(&w.entry)
        if made == NULL:
            raise MemoryError
        header = <object>made
        Py_XDECREF(made)
        if w.entry.magic == 2:
            read_records(payload, header, compressed=True, replace=w.replace)
        else:
            read_inner_messages(payload, header, check_crc=w.check_crc)
        if reason == BAD_ENTRY:
            raise errors.decode_failure(errors.INPUT_CHANGED, 0, w.position, "")
    return reason


cdef object decoded_payload(Walk* w, object data, object decompress):
    """Have the bytes of a compressed entry decompressed."""
    cdef PyObject* made = make_header(&w.entry)
    if made == NULL:
        raise MemoryError
    header = <object>made
    Py_XDECREF(made)
    start, end = find_payload(data, header)
    # No with statement: in C it crashes where memory runs out.
    view = memoryview(data)
    try:
        source = view.cast("B")
        try:
            payload = source[start:end]
            try:
                return decompress(
                    w.entry.attributes & CODEC_MASK,
                    payload,
                    w.entry.magic,
                    w.position,
                )
            finally:
                payload.release()
        finally:
            source.release()
    finally:
        view.release()


cdef object failure_of(Walk* w, Reason reason, object data):
    """Build the exception of a walk that could not go on."""
    cdef PyObject* made
    cdef Py_ssize_t position = w.position
    if reason == AT_FAULT:
        return errors.decode_failure(
            w.cursor.fault, w.cursor.fault_detail, w.cursor.fault_offset, ""
        )
    if reason == TOO_LARGE:
        return errors.decode_failure(errors.COLUMN_TOO_LARGE, 0, position, "")
    if reason == TOO_MANY:
        return errors.decode_failure(
            errors.TOO_MANY_RECORDS, w.entry.count, position, ""
        )
    if reason == BAD_ENTRY:
        made = make_header(&w.entry)
        if made != NULL:
            header = <object>made
            Py_XDECREF(made)
            if w.entry.magic == 2:
                read_records(data, header, replace=w.replace)
            else:
                read_message_run(data, header, check_crc=w.check_crc)
            return errors.decode_failure(errors.INPUT_CHANGED, 0, position, "")
    raise_pending()
