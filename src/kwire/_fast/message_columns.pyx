# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes a binary array of messages of one class into nested columns.

The second walk over a plan: it reads as ``decoder`` does, refuses what that refuses at
the same byte, and appends to columns instead of making objects. A struct becomes a
struct column, an array a list column, a field that this version lacks its default;
unknown tags are checked and left out.

Twin: ``_pure/message_columns.py``. Differs from its twin in: no Python object is made
for a row and the GIL is released, where the twin turns decoded objects into columns.
C needs for itself: ``walk_rows``, ``walk_row``, ``walk_struct``, ``walk_field``,
``put_text``, ``put_fixed``, ``put_array``, ``put_fixed_elements``, ``walk_tags``,
``walk_tagged_field``, ``read_marker``, ``read_tagged_marker``, ``is_invalid``,
``note_run``, ``is_done``, ``put_error``, ``make_row_failure``, ``make_walk_failure``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport (
    INT64_MAX,
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint32_t,
)
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from kwire._fast.big_endian cimport *
from kwire._fast.column cimport *
from kwire._fast.column_tree cimport (
    ColumnShape,
    build_columns,
    end_sources,
    find_shape,
    hold_windows,
    make_array,
)
from kwire._fast.cursor cimport *
from kwire._fast.decoder cimport get_input, view_bytes
from kwire._fast.path cimport Path, note_field, note_index, format_path
from kwire._fast.primitives cimport LONGEST_STRING, read_count, read_length
from kwire._fast.program cimport *
from kwire._fast.python_api cimport PyBuffer_Release, PyBytes_AS_STRING

from kwire import errors
from kwire.limits import DEFAULT

LARGEST_OFFSET = 2**31 - 1

cdef enum:
    # Faults of a call, beside those of ``cursor.pxd``.
    COLUMN_FULL = -2
    BAD_OFFSETS = -3

cdef struct RowWalk:
    Cursor cursor
    Path path
    # What views of bytes point into.
    ViewSource source

# The input: an Arrow binary array, and what is made of each row.
cdef struct Rows:
    const uint8_t* validity
    const uint8_t* offsets
    const uint8_t* data
    int64_t data_size
    int64_t start
    int64_t count
    int64_t ceiling
    bint is_large
    PyObject* program
    # Texts of the rows that failed; NULL where the first failure ends the call.
    Column* errors


def decode_messages(
    cls,
    version,
    validity,
    offsets,
    data,
    Py_ssize_t start,
    Py_ssize_t count,
    bint is_large,
    bint keep_errors,
    limits=DEFAULT,
    bint views=False,
):
    """Decode ``count`` messages of one class and version into a struct ``Array``.

    The input is an Arrow binary array, or large binary array (``is_large``), as its
    three buffers, of which ``start`` rows are left out; ``validity`` is None where no
    row is null. A null row becomes a null struct. With ``views``, bytes and records of
    more than 12 bytes point into ``data``, which the array holds.
    Raises what ``decode`` raises for the first bad row; the path begins with the row
    (``[7].topics``), the offset counts from the row's first byte. ``keep_errors``
    appends a string column ``_error`` instead, and all other fields of a bad row are
    null. ``LimitExceeded`` where a column would outgrow Arrow's 32-bit offsets.
    """
    cdef Program program = find_program(cls, version)
    cdef ColumnShape shape = find_shape(cls, program.layout.struct, views)
    cdef Py_buffer buffers[3]
    cdef Rows rows
    cdef RowWalk walk
    cdef Column* columns
    cdef Column* next_column
    cdef int64_t done
    cdef int held = 0
    cdef int index
    limits = limits or DEFAULT
    rows.start = start
    rows.count = count
    rows.is_large = is_large
    rows.program = <PyObject*>program
    rows.ceiling = INT64_MAX if limits.frame_bytes is None else limits.frame_bytes
    # The column of errors is after the columns of the tree.
    columns = <Column*>calloc(<size_t>shape.total + 1, sizeof(Column))
    if columns == NULL:
        raise MemoryError
    try:
        if views:
            # One export for both: an object may give another buffer the next time.
            data = view_bytes(b"" if data is None else data)
        for source in (validity, offsets, data):
            get_input(b"" if source is None else source, &buffers[held])
            held += 1
        check_sizes(
            start,
            count,
            is_large,
            None if validity is None else buffers[0].len,
            buffers[1].len,
        )
        rows.validity = NULL
        if validity is not None:
            rows.validity = <const uint8_t*>buffers[0].buf
        rows.offsets = <const uint8_t*>buffers[1].buf
        rows.data = <const uint8_t*>buffers[2].buf
        rows.data_size = buffers[2].len
        next_column = columns + 1
        build_columns(
            columns,
            &next_column,
            shape,
            program.table,
            LARGEST_OFFSET,
            &walk.source,
        )
        walk.source.start = rows.data
        walk.source.first_buffer = 0
        rows.errors = NULL
        if keep_errors:
            rows.errors = next_column
            rows.errors.kind = OP_STRING
            rows.errors.lazy = True
            rows.errors.null_default = True
            rows.errors.ceiling = columns.ceiling
        with nogil:
            done = walk_rows(&walk, &rows, program.table, columns)
        if walk.cursor.fault:
            raise make_walk_failure(&walk, program, done)
        sources = end_sources(hold_windows(data)) if views else ()
        return make_array(columns, shape, count, rows.errors, sources)
    finally:
        for index in range(held):
            PyBuffer_Release(&buffers[index])
        free_columns(columns, shape.total + 1)
        free(columns)


cdef int check_sizes(
    Py_ssize_t start,
    Py_ssize_t count,
    bint is_large,
    object validity_size,
    Py_ssize_t offsets_size,
) except -1:
    """Check that the buffers are long enough for the rows."""
    if start < 0 or count < 0:
        raise ValueError(f"start and count must be 0 or more (got {start} and {count})")
    last = int(start) + count
    if validity_size is not None and validity_size < (last + 7) // 8:
        raise ValueError(
            f"validity is too short for {last} rows (got {validity_size} bytes)"
        )
    if count and offsets_size < (last + 1) * (8 if is_large else 4):
        raise ValueError(
            f"offsets are too short for {last} rows (got {offsets_size} bytes)"
        )
    return 0


cdef int64_t walk_rows(
    RowWalk* w, Rows* rows, Table* table, Column* column
) noexcept nogil:
    """Read all rows; return the one at which a fault was noted."""
    cdef int64_t row
    cdef int64_t place
    w.cursor.fault = 0
    w.cursor.lenient = False
    w.cursor.view = NULL
    w.path.depth = 0
    if not reserve(column, 0, rows.count):
        w.cursor.fault = PYTHON_ERROR
        return 0
    for row in range(rows.count):
        place = rows.start + row
        if rows.validity != NULL and not rows.validity[place >> 3] >> (place & 7) & 1:
            if is_done(w, put_null(column, row)):
                continue
            return row
        if likely(walk_row(w, rows, place, table, column, row)):
            continue
        if rows.errors == NULL or w.cursor.fault < 0:
            return row
        rewind(column, row, row + 1)
        if is_done(w, put_null_fields(column, row)):
            put_error(w, rows, row)
        if w.cursor.fault:
            return row
    if is_done(w, complete(column, rows.count)) and rows.errors != NULL:
        is_done(w, catch_up(rows.errors, rows.count))
    return rows.count


cdef inline bint walk_row(
    RowWalk* w, Rows* rows, int64_t place, Table* table, Column* column, int64_t row
) noexcept nogil:
    """Read one message, which takes all bytes of its row."""
    cdef int32_t narrow[2]
    cdef int64_t wide[2]
    if rows.is_large:
        memcpy(wide, rows.offsets + 8 * place, 16)
    else:
        memcpy(narrow, rows.offsets + 4 * place, 8)
        wide[0] = narrow[0]
        wide[1] = narrow[1]
    if unlikely(not 0 <= wide[0] <= wide[1] <= rows.data_size):
        w.cursor.fault = BAD_OFFSETS
        return False
    w.cursor.start = w.cursor.at = rows.data + wide[0]
    w.cursor.end = rows.data + wide[1]
    if wide[1] - wide[0] > rows.ceiling:
        note(&w.cursor, FRAME_TOO_LARGE, w.cursor.start, wide[1] - wide[0])
        return False
    if not walk_struct(w, table, column, row):
        return False
    if w.cursor.at != w.cursor.end:
        note(&w.cursor, TRAILING_BYTES, w.cursor.at, w.cursor.end - w.cursor.at)
        return False
    return True


cdef bint walk_struct(
    RowWalk* w, Table* table, Column* column, int64_t row
) noexcept nogil:
    """Read a struct into a row for which there is room."""
    cdef Column* child
    cdef Step* step = table.steps
    cdef Step* last = step + table.step_count
    cdef const uint8_t* start
    cdef uint32_t tags
    cdef int op
    cdef bint done
    while step < last:
        op = step.op
        child = &column.children[step.slot]
        done = True
        if op == OP_CHECK:
            if not require(&w.cursor, step.size):
                step = note_run(w, step)
                done = False
        elif op == OP_INT32:
            (<int32_t*>child.values.data)[row] = load_int32(w.cursor.at)
            w.cursor.at += 4
        elif op == OP_COMPACT_STRING:
            done = put_text(w, step.nullable, True, OP_STRING, child, row)
        elif op == OP_ARRAY:
            done = put_array(w, step, child, row)
        elif op <= OP_UUID:
            put_fixed(child, row, op, w.cursor.at)
            w.cursor.at += size_of(op)
        elif op < OP_TAGGED:
            done = walk_field(w, step, op, child, row)
        if unlikely(not done):
            note_field(&w.path, step)
            return False
        step += 1
    if not table.flexible:
        return True
    start = w.cursor.at
    tags = read_unsigned_varint(&w.cursor)
    if likely(tags == 0 and not w.cursor.fault):
        return True
    return walk_tags(w, table, column, row, start, tags)


cdef bint walk_field(
    RowWalk* w, Step* step, int op, Column* child, int64_t row
) noexcept nogil:
    """Read one field into a row for which there is room."""
    if op == OP_ARRAY:
        return put_array(w, step, child, row)
    if op <= OP_UUID:
        if not require(&w.cursor, size_of(op)):
            return False
        put_fixed(child, row, op, w.cursor.at)
        w.cursor.at += size_of(op)
        return True
    if op == OP_STRING or op == OP_COMPACT_STRING or op == OP_BYTES:
        return put_text(w, step.nullable, step.compact, child.kind, child, row)
    if op == OP_NULLABLE_STRUCT and not read_marker(&w.cursor):
        return not w.cursor.fault and is_done(w, put_null(child, row))
    return walk_struct(w, step.table, child, row)


cdef inline bint put_text(
    RowWalk* w, bint nullable, bint compact, int kind, Column* child, int64_t row
) noexcept nogil:
    """Read a string or bytes into a row."""
    cdef Cursor* cursor = &w.cursor
    cdef const uint8_t* start = cursor.at
    cdef int64_t size = read_length(cursor, compact, 2 if kind == OP_STRING else 4)
    cdef int64_t good = size
    cdef Outcome outcome
    if unlikely(cursor.fault):
        return False
    if size < 0:
        if nullable:
            return is_done(w, put_null(child, row))
        note(cursor, UNEXPECTED_NULL, start, 0)
        return False
    if kind == OP_STRING and unlikely(size > LONGEST_STRING):
        note(cursor, STRING_TOO_LONG, start, size)
        return False
    if not require(cursor, <uint64_t>size):
        return False
    if kind == OP_STRING:
        outcome = append_string(child, row, cursor.at, size, &good)
    else:
        outcome = append_text(child, row, cursor.at, size)
    if unlikely(good < size):
        note(cursor, BAD_UTF8, cursor.at + good, 0)
        return False
    if unlikely(not is_done(w, outcome)):
        return False
    cursor.at += size
    return True


cdef inline void put_fixed(
    Column* child, int64_t row, int op, const uint8_t* at
) noexcept nogil:
    """Put one fixed-size value whose bytes were granted into a row."""
    if op == OP_INT32 or op == OP_UINT32:
        (<int32_t*>child.values.data)[row] = load_int32(at)
    elif op == OP_INT16 or op == OP_UINT16:
        (<int16_t*>child.values.data)[row] = load_int16(at)
    elif op == OP_INT64 or op == OP_FLOAT64:
        (<int64_t*>child.values.data)[row] = load_int64(at)
    elif op == OP_BOOL:
        set_bit(child.values.data, row, at[0] != 0)
    elif op == OP_INT8:
        child.values.data[row] = at[0]
    else:
        memcpy(child.values.data + 16 * row, at, 16)


cdef bint put_array(RowWalk* w, Step* step, Column* child, int64_t row) noexcept nogil:
    """Read an array into a row, and its elements into the column below."""
    cdef Cursor* cursor = &w.cursor
    cdef int64_t count = read_count(cursor, step.compact, step.nullable, step.size)
    cdef Column* elements = child.children
    cdef int64_t length = elements.length
    cdef int64_t index
    cdef bint done
    if count < 0:
        return not cursor.fault and is_done(w, put_null(child, row))
    if unlikely(length + count > elements.room):
        if not is_done(w, widen(elements, length + count)):
            return False
    if step.inner <= OP_UUID:
        put_fixed_elements(elements, cursor.at, step.inner, count)
        cursor.at += count * size_of(step.inner)
    else:
        for index in range(count):
            if step.inner == OP_STRUCT:
                done = walk_struct(w, step.table, elements, length + index)
            else:
                done = put_text(
                    w, False, step.compact, elements.kind, elements, length + index
                )
            if unlikely(not done):
                note_index(&w.path, index)
                elements.length = length + index
                return False
    elements.length = length + count
    offsets_of(child)[row + 1] = <int32_t>elements.length
    return True


cdef inline void put_fixed_elements(
    Column* elements, const uint8_t* at, int op, int64_t count
) noexcept nogil:
    """Put fixed-size elements after the last ones; their bytes are granted."""
    cdef uint32_t* narrow
    cdef uint32_t raw
    cdef int64_t index
    if op == OP_INT32:
        # Nothing is decided by these, so the compiler may load many at a time.
        narrow = <uint32_t*>elements.values.data + elements.length
        for index in range(count):
            memcpy(&raw, at + 4 * index, 4)
            narrow[index] = swap32(raw)
        return
    for index in range(count):
        put_fixed(elements, elements.length + index, op, at)
        at += size_of(op)


cdef bint walk_tags(
    RowWalk* w,
    Table* table,
    Column* column,
    int64_t row,
    const uint8_t* start,
    uint32_t count,
) noexcept nogil:
    """Read a tag section after its count; unknown tags are checked and skipped."""
    cdef Cursor* cursor = &w.cursor
    cdef uint32_t tag, size
    cdef int64_t previous = -1
    cdef int known
    cdef Step* step
    if not cursor.fault and count > <size_t>(cursor.end - cursor.at) // 2:
        note(cursor, BAD_COUNT, start, count)
    for _ in range(0 if cursor.fault else count):
        start = cursor.at
        tag = read_unsigned_varint(cursor)
        if not cursor.fault and tag <= previous:
            note(cursor, TAG_OUT_OF_ORDER, start, tag)
        if not cursor.fault and is_invalid(table, tag):
            note(cursor, TAG_NOT_IN_VERSION, start, tag)
        if cursor.fault:
            break
        previous = tag
        size = read_unsigned_varint(cursor)
        if cursor.fault or not require(cursor, size):
            break
        step = NULL
        for known in range(table.tagged_count):
            if table.tagged[known].tag == tag:
                step = &table.tagged[known]
                break
        if step == NULL:
            cursor.at += size
        elif not walk_tagged_field(w, step, size, &column.children[step.slot], row):
            note_field(&w.path, step)
            return False
    if cursor.fault:
        note_field(&w.path, NULL)
        return False
    return True


cdef bint walk_tagged_field(
    RowWalk* w, Step* step, uint32_t size, Column* child, int64_t row
) noexcept nogil:
    """Read the content of one known tag, which is ``size`` bytes long."""
    cdef Cursor* cursor = &w.cursor
    cdef const uint8_t* end = cursor.end
    if not is_done(w, open_row(child, row)):
        return False
    cursor.end = cursor.at + size
    if step.content != OP_NULLABLE_STRUCT:
        walk_field(w, step, step.content, child, row)
    elif read_tagged_marker(cursor):
        walk_struct(w, step.table, child, row)
    elif not cursor.fault:
        is_done(w, put_null(child, row))
    if not cursor.fault and cursor.at != cursor.end:
        note(cursor, TRAILING_BYTES, cursor.at, cursor.end - cursor.at)
    cursor.end = end
    child.length = row + 1
    return not cursor.fault


cdef bint read_marker(Cursor* cursor) noexcept nogil:
    """Read the marker of a nullable struct in line: INT8, 1 present, -1 null."""
    cdef const uint8_t* start = cursor.at
    cdef int8_t marker = <int8_t>read_uint8(cursor)
    if not cursor.fault and marker != 1 and marker != -1:
        note(cursor, BAD_MARKER, start, marker)
    return marker == 1


cdef bint read_tagged_marker(Cursor* cursor) noexcept nogil:
    """Read the marker of a nullable struct with a tag: UNSIGNED_VARINT, 1 or 0."""
    cdef const uint8_t* start = cursor.at
    cdef uint32_t marker = read_unsigned_varint(cursor)
    if not cursor.fault and marker > 1:
        note(cursor, BAD_MARKER, start, marker)
    return marker == 1


cdef bint is_invalid(Table* table, uint32_t tag) noexcept nogil:
    """Whether the schema knows a tag that this version must not carry."""
    cdef int index
    for index in range(table.invalid_count):
        if table.invalid_tags[index] == tag:
            return True
    return False


cdef Step* note_run(RowWalk* w, Step* check) noexcept nogil:
    """Note a truncation at the first field of a run that has no room, and find it."""
    cdef Step* step = check + 1
    cdef Py_ssize_t left = w.cursor.end - w.cursor.at
    while size_of(step.op) <= left:
        left -= size_of(step.op)
        step += 1
    note(&w.cursor, TRUNCATED, w.cursor.end, size_of(step.op) - left)
    return step


cdef inline bint is_done(RowWalk* w, Outcome outcome) noexcept nogil:
    """Note what an append came to, where it came to nothing."""
    if likely(outcome == DONE):
        return True
    if outcome == FULL:
        note(&w.cursor, COLUMN_FULL, w.cursor.at, 0)
    else:
        w.cursor.fault = PYTHON_ERROR
    return False


cdef void put_error(RowWalk* w, Rows* rows, int64_t row) noexcept with gil:
    """Turn the noted fault of a row into its text in the column of errors."""
    cdef Column* column = rows.errors
    cdef Outcome outcome = open_row(column, row)
    try:
        text = str(make_row_failure(w, <Program>rows.program)).encode()
    except MemoryError:
        outcome = NO_MEMORY
    else:
        if outcome == DONE:
            outcome = append_text(
                column,
                row,
                <const uint8_t*>PyBytes_AS_STRING(<PyObject*>text),
                len(text),
            )
    column.length = row + 1
    w.path.depth = 0
    w.cursor.fault = 0
    is_done(w, outcome)


cdef object make_row_failure(RowWalk* w, Program program):
    """Build the exception of a noted fault."""
    return errors.decode_failure(
        w.cursor.fault,
        w.cursor.fault_detail,
        w.cursor.fault_offset,
        format_path(&w.path),
        program.layout.name,
        program.layout.version,
    )


cdef object make_walk_failure(RowWalk* w, Program program, int64_t row):
    """Build the exception that ends a call."""
    if w.cursor.fault == PYTHON_ERROR:
        return MemoryError()
    if w.cursor.fault == BAD_OFFSETS:
        return ValueError(f"the offsets of row {row} are not within the data")
    if w.cursor.fault == COLUMN_FULL:
        return make_column_failure(program.layout)
    note_index(&w.path, row)
    return make_row_failure(w, program)


cdef object make_column_failure(object layout):
    """Build the exception for a column that Arrow's offsets cannot address."""
    return errors.LimitExceeded(
        "a column would outgrow Arrow's 32-bit offsets; decode fewer rows at once",
        0,
        "",
        layout.name,
        layout.version,
    )
