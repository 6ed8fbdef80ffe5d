# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes batches into columns, without an object for each record.

The walk accepts the same input as ``record_decoder.pyx``, but appends to the columns of
``column.pxd`` instead of creating objects. If it cannot read a batch,
``record_decoder.pyx`` reads the batch again to determine the error. If that succeeds,
another thread or process has modified the input.

Twin: ``pure/record_columns.py``. Differs from its twin in: no object is created for a
record, and the GIL is released. In ``pure``, columns are created from record objects.

Only in Cython: ``find_record_shape``, ``make_leaf_shape``, ``make_bytes_shape``,
``make_parent_shape``, ``walk_entry``, ``make_failure``. ``record_walk.pyx`` contains
the walk.
"""

from libc.stdint cimport uint8_t
from libc.stdlib cimport calloc, free

from kwire._engine.fast.batches cimport *
from kwire._engine.fast.column cimport *
from kwire._engine.fast.column_tree cimport (
    ColumnShape,
    build_columns,
    end_sources,
    hold_windows,
    make_array,
)
from kwire._engine.fast.decoder cimport get_input, view_bytes
from kwire._engine.fast.program cimport *
from kwire._engine.fast.python_api cimport PyBuffer_Release, raise_pending
from kwire._engine.fast.record_sets cimport *
from kwire._engine.fast.record_walk cimport *

from kwire import errors
from kwire._engine.fast.legacy_records import read_inner_messages, read_message_run
from kwire._engine.fast.record_decoder import read_records

LARGEST_OFFSET = 2**31 - 1


cdef ColumnShape make_leaf_shape(str name, str format, int kind, int width):
    """Create a column type without child columns."""
    cdef ColumnShape shape = ColumnShape.__new__(ColumnShape)
    shape.name = name
    shape.format = format
    shape.kind = kind
    shape.width = width
    shape.children = ()
    shape.total = 1
    return shape


cdef ColumnShape make_parent_shape(str name, str format, int kind, list children):
    """Create a column type with child columns."""
    cdef ColumnShape shape = make_leaf_shape(name, format, kind, 0)
    shape.children = tuple(children)
    for child in children:
        shape.total += (<ColumnShape>child).total
    return shape


cdef dict _shapes = {}


cdef ColumnShape make_bytes_shape(str name, bint views):
    """Create a bytes column type."""
    if views:
        return make_leaf_shape(name, "vz", OF_VIEWS, VIEW_WIDTH)
    return make_leaf_shape(name, "z", OP_BYTES, 0)


cdef ColumnShape find_record_shape(
    bint headers, bint batch_columns, str unit, bint views
):
    """Return the struct column type of records, or create it."""
    choice = headers, batch_columns, unit, views
    shape = _shapes.get(choice)
    if shape is not None:
        return shape
    children = [
        make_leaf_shape("offset", "l", OP_INT64, 8),
        make_leaf_shape("timestamp", f"ts{unit[0]}:UTC", OP_INT64, 8),
        make_leaf_shape("timestamp_type", "i", OP_INT32, 4),
        make_bytes_shape("key", views),
        make_bytes_shape("value", views),
    ]
    if headers:
        pair = [
            make_leaf_shape("key", "u", OP_STRING, 0),
            make_bytes_shape("value", False),
        ]
        item = make_parent_shape("item", "+s", OP_STRUCT, pair)
        children.append(make_parent_shape("headers", "+l", OP_ARRAY, [item]))
    if batch_columns:
        children += [
            make_leaf_shape("batch_position", "l", OP_INT64, 8),
            make_leaf_shape("base_offset", "l", OP_INT64, 8),
            make_leaf_shape("magic", "c", OP_INT8, 1),
            make_leaf_shape("attributes", "s", OP_INT16, 2),
            make_leaf_shape("partition_leader_epoch", "i", OP_INT32, 4),
            make_leaf_shape("producer_id", "l", OP_INT64, 8),
            make_leaf_shape("producer_epoch", "s", OP_INT16, 2),
            make_leaf_shape("base_sequence", "i", OP_INT32, 4),
        ]
    return _shapes.setdefault(
        choice, make_parent_shape("", "+s", OP_STRUCT, children)
    )


cdef dict _FACTORS = {"s": (1, 1000), "ms": (1, 1), "us": (1000, 1), "ns": (1000000, 1)}


def decode_columns(
    data,
    ReadOptions options not None,
    Py_ssize_t position=0,
    end=None,
    bint headers=True,
    bint batch_columns=False,
    str timestamp_unit="ms",
    bint views=False,
):
    """Decode the records of all batches into one struct ``Array``.

    * ``position``, ``end`` (bytes): the part of ``data`` to read.
    * ``headers``: include the headers.
    * ``batch_columns``: append columns with each record's batch fields.
    * ``timestamp_unit``: "s", "ms", "us" or "ns".
    * ``views``: keys and values of more than 12 bytes refer to ``data`` or to the
      decompressed bytes, which the array keeps alive.

    Control batches are omitted, and so are batches that the transaction filter hides.
    Returns the array, the position after the last complete entry, and the offset after
    that entry, which is None if there is no complete entry.

    Shape: offset, timestamp, timestamp type, key, value, then the headers as a list of
    key and value, then the batch columns. A timestamp is null if it is -1, which means
    that there is no timestamp, or if the unit cannot represent it. Time and memory are
    linear in the input size.

    Raises ``DecodeError`` in the same cases as ``read_batch_header`` and
    ``read_records``. Raises ``LimitExceeded`` if keys, values or headers exceed 32-bit
    offsets.
    """
    cdef ColumnShape shape = find_record_shape(
        headers, batch_columns, timestamp_unit, views
    )
    cdef list sources = []
    cdef Py_buffer buffer
    cdef ColumnWalk w
    cdef Column* next_column
    cdef WalkEnd reason
    w.rows = 0
    w.replace = options.replace
    w.batch_columns = batch_columns
    w.views = views
    w.buffer_count = 0
    w.input_buffer = -1
    w.factor, w.divisor = _FACTORS[timestamp_unit]
    if views:
        # Export the buffer only once, because an object may return a different buffer
        # for the second request.
        data = view_bytes(data)
    get_input(data, &buffer)
    w.input_size = buffer.len
    # No statement between this allocation and the try block may raise, because the
    # memory would leak.
    w.columns = <Column*>calloc(<size_t>shape.total, sizeof(Column))
    if w.columns == NULL:
        PyBuffer_Release(&buffer)
        raise MemoryError
    next_column = w.columns + 1
    build_columns(w.columns, &next_column, shape, NULL, LARGEST_OFFSET, &w.source)
    w.key = &w.columns.children[<int>KEY]
    w.value = &w.columns.children[<int>VALUE]
    w.headers = &w.columns.children[<int>HEADERS] if headers else NULL
    try:
        begin_walk(
            &w.entries, &buffer, position, buffer.len if end is None else end, options
        )
        with nogil:
            reserve_rows(&w)
        while True:
            with nogil:
                reason = walk_entries(&w)
            if reason == AT_END:
                break
            if reason == AT_TRANSACTION:
                if filter_entry(&w.entries, data, options) or is_outside(&w.entries):
                    continue
                reason = AT_ENTRY
            if reason == AT_ENTRY:
                reason = walk_entry(&w, data, options, sources)
            if reason != AT_END:
                raise make_failure(&w, reason, data)
        next_offset = None
        if w.entries.is_started:
            next_offset = <object>w.entries.last_offset + 1
        if w.input_buffer >= 0:
            index = <Py_ssize_t>w.input_buffer
            sources[index:index] = hold_windows(data)
        array = make_array(
            w.columns, shape, w.rows, NULL, end_sources(sources) if views else ()
        )
        return array, w.entries.position, next_offset
    finally:
        free_columns(w.columns, shape.total)
        free(w.columns)
        PyBuffer_Release(&buffer)


cdef WalkEnd walk_entry(
    ColumnWalk* w, object data, ReadOptions options, list sources
) except *:
    """Read an entry, whether it is compressed or not."""
    cdef Py_buffer buffer
    cdef WalkEnd reason
    cdef const uint8_t* at
    cdef Entry* entry = &w.entries.entry
    if not entry.attributes & CODEC_MASK:
        return walk_plain(w)
    if entry.count > w.entries.most_records:
        return TOO_MANY
    payload = decompress_entry(&w.entries, data, options)
    if w.views:
        payload = view_bytes(payload)
    get_input(payload, &buffer)
    try:
        at = <const uint8_t*>buffer.buf
        if entry.magic == 2:
            charge_entry(&w.entries, buffer.len)
        if w.views:
            w.source.start = at
            w.source.first_buffer = w.buffer_count
            w.buffer_count += count_windows(buffer.len)
            sources += hold_windows(payload)
        with nogil:
            if entry.magic == 2:
                reason = walk_records(w, at, at + buffer.len)
            else:
                reason = walk_inner(w, at, buffer.len)
        if reason == AT_END and entry.magic < 2:
            charge_entry(&w.entries, buffer.len)
    finally:
        PyBuffer_Release(&buffer)
    if reason == BAD_ENTRY or (reason == TOO_MANY and entry.magic < 2):
        # Create the error here, because the decompressed bytes are still available. An
        # error inside a wrapper message takes precedence over the message count limit.
        header = make_header(entry)
        if entry.magic == 2:
            read_records(payload, header, compressed=True, replace=w.replace)
        else:
            read_inner_messages(payload, header, check_crc=w.entries.check_crc)
        if reason == BAD_ENTRY:
            raise errors.decode_failure(errors.INPUT_CHANGED, 0, entry.position, "")
    return reason


cdef object make_failure(ColumnWalk* w, WalkEnd reason, object data):
    """Create the exception that explains why a walk stopped."""
    cdef int64_t position = w.entries.entry.position
    if reason == AT_FAULT:
        return make_walk_failure(&w.entries)
    if reason == TOO_LARGE:
        return errors.decode_failure(errors.COLUMN_TOO_LARGE, 0, position, "")
    if reason == TOO_MANY:
        return make_record_limit_failure(&w.entries)
    if reason == BAD_ENTRY:
        header = make_header(&w.entries.entry)
        if w.entries.entry.magic == 2:
            read_records(data, header, replace=w.replace)
        else:
            read_message_run(data, header, check_crc=w.entries.check_crc)
        return errors.decode_failure(errors.INPUT_CHANGED, 0, position, "")
    raise_pending()
