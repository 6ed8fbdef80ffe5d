# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes a binary array of messages of one class into nested columns.

This is the second walk over a plan, after ``decoder``. It accepts the same input,
reports the same errors at the same bytes, and appends to columns instead of creating
objects. A struct becomes a struct column, and an array becomes a list column. A field
that does not exist in this version has its default value. Unknown tags are checked and
omitted.

Twin: ``pure/message_columns.py``. Differs from its twin in: no Python object is created
for a row, and the GIL is released. In ``pure``, columns are created from decoded
objects.

Only in Cython: ``walk_rows``, ``find_scale``, ``place_of``, ``foresee``, ``walk_row``,
``put_error``, ``make_row_failure``, ``make_walk_failure``. ``column_walk.pyx`` reads
the fields of a row.
"""

from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from kwire._engine.fast.arrays cimport grow_block
from kwire._engine.fast.big_endian cimport *
from kwire._engine.fast.column cimport *
from kwire._engine.fast.column_tree cimport (
    ColumnShape,
    build_columns,
    end_sources,
    find_shape,
    hold_windows,
    link_columns,
    make_array,
)
from kwire._engine.fast.column_walk cimport *
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.decoder cimport bound_counts, get_input, view_bytes
from kwire._engine.fast.path cimport format_path, note_index
from kwire._engine.fast.program cimport *
from kwire._engine.fast.python_api cimport PyBuffer_Release, PyBytes_AS_STRING

from kwire import errors
from kwire._limits import DEFAULT

LARGEST_OFFSET = 2**31 - 1

cdef enum:
    # Fault code in addition to those of cursor.pxd and column_walk.pxd.
    BAD_OFFSETS = -3

# Input (an Arrow binary array), and the error column.
cdef struct Rows:
    const uint8_t* validity
    const uint8_t* offsets
    const uint8_t* data
    int64_t data_size
    int64_t start
    int64_t count
    int64_t limit
    bint is_large
    PyObject* program
    # Error texts of invalid rows. NULL if the first invalid row ends the call.
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

    The input is an Arrow binary array, or a large binary array if ``is_large``.

    * ``validity``, ``offsets``, ``data``: the buffers of the array. ``validity`` is
      None if no row is null.
    * ``start``: number of rows to skip at the beginning.
    * ``keep_errors``: do not raise for invalid rows. Instead, append a string column
      ``_error``, and set all other fields of an invalid row to null.
    * ``limits``: as for ``decode``.
    * ``views``: bytes and records fields of more than 12 bytes refer to ``data``, which
      the array keeps alive.

    A null row becomes a null struct.

    Raises the exception from ``decode`` for the first invalid row. Its path begins with
    the row number (for example ``[7].topics``), and its offset is relative to the first
    byte of the row. Raises ``LimitExceeded`` if a column would exceed Arrow's 32-bit
    offsets.
    """
    cdef Program program = find_program(cls, version)
    cdef ColumnShape shape = find_shape(cls, program.layout.struct, views)
    cdef Py_buffer buffers[3]
    cdef Rows rows
    cdef RowWalk walk
    cdef Column* columns
    cdef Column* next_column
    cdef Column** next_line
    cdef int64_t done
    cdef int held = 0
    cdef int index
    limits = limits or DEFAULT
    rows.start = start
    rows.count = count
    rows.is_large = is_large
    rows.program = <PyObject*>program
    rows.limit = INT64_MAX if limits.frame_bytes is None else limits.frame_bytes
    bound_counts(&walk.cursor, limits)
    # The error column follows the tree's columns, and the pointers of Column.line
    # follow it.
    columns = <Column*>calloc(
        <size_t>shape.total + 1, sizeof(Column) + 2 * sizeof(Column*)
    )
    if columns == NULL:
        raise MemoryError
    try:
        if views:
            # Export the buffer only once, because an object may return a different
            # buffer for the second request.
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
        next_line = <Column**>(columns + shape.total + 1)
        link_columns(columns, program.table, &next_line)
        walk.source.start = rows.data
        walk.source.first_buffer = 0
        rows.errors = NULL
        if keep_errors:
            rows.errors = next_column
            open_errors(rows.errors, columns.limit)
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
    """Raise ``ValueError`` if the buffers are too short for the rows."""
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
    """Read all rows of a message column.

    If ``rows.errors`` is set, all fields of an invalid row become null, and its error
    is stored there. Returns the number of rows, or the row at which another error
    occurred.
    """
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
            if row == 0:
                foresee(column, find_scale(w, rows))
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


cdef double find_scale(RowWalk* w, Rows* rows) noexcept nogil:
    """Estimate the size of all rows relative to the first row. Returns 1 if unknown."""
    cdef int64_t first = w.cursor.start - rows.data
    cdef int64_t last = place_of(rows, rows.start + rows.count)
    cdef int64_t size = w.cursor.end - w.cursor.start
    # Compare before subtracting, because offsets may contain arbitrary numbers.
    if size <= 0 or not first < last <= rows.data_size:
        return 1
    return <double>(last - first) / <double>size


cdef inline int64_t place_of(Rows* rows, int64_t row) noexcept nogil:
    """Return the offset of a row in the data. It may be an arbitrary number."""
    cdef int32_t narrow
    cdef int64_t wide
    if rows.is_large:
        memcpy(&wide, rows.offsets + 8 * row, 8)
        return wide
    memcpy(&narrow, rows.offsets + 4 * row, 4)
    return narrow


cdef void foresee(Column* column, double scale) noexcept nogil:
    """Allocate ``scale`` times the space that the first row uses in a column tree.

    This avoids most of the copying that growing by doubling would cause. Lack of memory
    is not an error here, because columns also grow on demand.
    """
    cdef int64_t wanted
    cdef int index
    if column.lazy:
        return
    if column.kind == OP_STRING or column.kind == OP_BYTES:
        wanted = min(<int64_t>(scale * <double>column.used), column.limit)
        grow_block(&column.text, column.used, wanted)
    elif column.kind == OP_STRUCT:
        for index in range(column.child_count):
            foresee(&column.children[index], scale)
    elif column.kind == OP_ARRAY:
        column = column.children
        wanted = min(<int64_t>(scale * <double>column.length), column.limit)
        if wanted > column.room and reserve(column, column.length, wanted):
            column.room = wanted
        foresee(column, scale)


cdef inline bint walk_row(
    RowWalk* w, Rows* rows, int64_t place, Table* table, Column* column, int64_t row
) noexcept nogil:
    """Read one message, which must end at the end of its row."""
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
    if wide[1] - wide[0] > rows.limit:
        note(&w.cursor, FRAME_TOO_LARGE, w.cursor.start, wide[1] - wide[0])
        return False
    if walk_structs(w, table, column, row, 1) == 0:
        return False
    if w.cursor.at != w.cursor.end:
        note(&w.cursor, TRAILING_BYTES, w.cursor.at, w.cursor.end - w.cursor.at)
        return False
    return True


cdef void put_error(RowWalk* w, Rows* rows, int64_t row) noexcept with gil:
    """Store the current error text in the error column."""
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
    """Create the exception for the fault of a row."""
    return errors.decode_failure(
        w.cursor.fault,
        w.cursor.fault_detail,
        w.cursor.fault_offset,
        format_path(&w.path),
        program.layout.name,
        program.layout.version,
    )


cdef object make_walk_failure(RowWalk* w, Program program, int64_t row):
    """Create the exception that ends a call."""
    if w.cursor.fault == PYTHON_ERROR:
        return MemoryError()
    if w.cursor.fault == BAD_OFFSETS:
        return ValueError(f"the offsets of row {row} are not within the data")
    if w.cursor.fault == COLUMN_FULL:
        return make_column_failure(program.layout)
    note_index(&w.path, row)
    return make_row_failure(w, program)


cdef object make_column_failure(object layout):
    """Create the exception for a column that exceeds Arrow's 32-bit offsets."""
    return errors.LimitExceeded(
        "a column would outgrow Arrow's 32-bit offsets; decode fewer rows at once",
        0,
        "",
        layout.name,
        layout.version,
    )
