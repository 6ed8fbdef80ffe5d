# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes a binary array of request headers into columns.

Each row is a frame without its size. The header version is looked up by API key and
version in a table that is created from the plans. The body is not read. If a row is
invalid, ``judge``, a function of the caller that reads whole frames, reads it again and
raises the error.

Twin: ``pure/header_columns.py``. Differs from its twin in: no Python object is created
for a valid row, and the GIL is released. In ``pure``, headers are decoded to objects.

Only in Cython: ``find_header_shape``, ``walk_rows``, ``walk_row``, ``skip_tags``,
``put_error``.
"""

from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, int16_t, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from kwire._engine.fast.big_endian cimport *
from kwire._engine.fast.column cimport *
from kwire._engine.fast.column_tree cimport ColumnShape, make_array, build_columns
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.message_columns cimport check_sizes, make_column_failure
from kwire._engine.fast.primitives cimport read_length
from kwire._engine.fast.program cimport *
from kwire._engine.fast.python_api cimport PyBuffer_Release, PyBytes_AS_STRING

from kwire.schema import plan
from kwire.errors import DecodeError, UnsupportedVersion, decode_failure
from kwire._limits import DEFAULT
from kwire.schema import registry

LARGEST_OFFSET = 2**31 - 1

cdef enum:
    # Indexes of the fields.
    API_KEY = 0
    API_VERSION = 1
    CORRELATION_ID = 2
    CLIENT_ID = 3
    BODY_POSITION = 4
    # Entry of the table if there is no such request.
    UNKNOWN = 255

# Reason why a walk stops.
cdef enum Reason:
    AT_END
    AT_BAD_ROW
    AT_BAD_OFFSETS
    AT_LARGEST_OFFSET
    AT_NO_MEMORY

# Input (an Arrow binary array), and the columns to fill.
cdef struct Rows:
    const uint8_t* validity
    const uint8_t* offsets
    const uint8_t* data
    int64_t data_size
    int64_t start
    int64_t count
    int64_t limit
    int64_t max_tags
    bint is_large
    # Header versions by API key and version.
    const uint8_t* table
    int64_t table_size
    int64_t table_width
    # Client id for header versions without one. A size of -1 means null.
    const uint8_t* default
    int64_t default_size
    Column* columns
    # Number and bytes of the current row.
    int64_t row
    const uint8_t* begin
    const uint8_t* end

cdef list _table = []


def decode_request_headers(
    cls,
    judge,
    validity,
    offsets,
    data,
    Py_ssize_t start,
    Py_ssize_t count,
    bint is_large,
    bint keep_errors,
    limits=DEFAULT,
):
    """Decode the headers of ``count`` request frames into a struct ``Array``.

    The input is an Arrow binary array, as for ``decode_messages``.

    * ``cls``: class of the headers.
    * ``judge``: function that reads a whole frame and raises the error of an invalid
      row.
    * ``keep_errors``: do not raise for invalid rows. Instead, append a string column
      ``_error``, and set all other fields of an invalid row to null.

    Fields: api_key, api_version, correlation_id, client_id, and body_position, the
    position of the body in the row (bytes). A null row becomes a null struct.

    Raises the exception from ``judge`` for the first invalid row, with the row number
    inserted before its path. Raises ``LimitExceeded`` if a column would exceed Arrow's
    32-bit offsets.
    """
    cdef ColumnShape shape = find_header_shape()
    cdef Py_buffer buffers[3]
    cdef Rows rows
    cdef Reason reason
    cdef Column* columns
    cdef Column* errors = NULL
    cdef Column* next_column
    cdef bytes table, default
    cdef int held = 0
    cdef int index
    limits = limits or DEFAULT
    table, rows.table_width = load_header_versions()
    rows.table = <const uint8_t*>PyBytes_AS_STRING(<PyObject*>table)
    rows.table_size = len(table)
    name = cls().client_id
    default = b"" if name is None else name.encode()
    rows.default = <const uint8_t*>PyBytes_AS_STRING(<PyObject*>default)
    rows.default_size = -1 if name is None else len(default)
    rows.start = start
    rows.count = count
    rows.is_large = is_large
    rows.limit = INT64_MAX if limits.frame_bytes is None else limits.frame_bytes
    rows.max_tags = INT64_MAX
    if limits.tagged_fields is not None:
        rows.max_tags = min(int(limits.tagged_fields), INT64_MAX)
    rows.row = 0
    # The error column follows the tree's columns.
    columns = <Column*>calloc(<size_t>shape.total + 1, sizeof(Column))
    if columns == NULL:
        raise MemoryError
    try:
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
        build_columns(columns, &next_column, shape, NULL, LARGEST_OFFSET, NULL)
        rows.columns = columns
        if keep_errors:
            errors = next_column
            open_errors(errors, columns.limit)
        if not reserve(columns, 0, count):
            raise MemoryError
        while True:
            with nogil:
                reason = walk_rows(&rows)
            if reason == AT_BAD_ROW:
                error = judge_row(judge, <bytes>rows.begin[:rows.end - rows.begin])
                if errors == NULL:
                    raise make_error_of_row(error, rows.row)
                reason = put_error(&rows, errors, str(error).encode())
            elif reason == AT_END and errors != NULL:
                if catch_up(errors, count) != DONE:
                    reason = AT_NO_MEMORY
            if reason == AT_BAD_OFFSETS:
                raise ValueError(
                    f"the offsets of row {rows.row} are not within the data"
                )
            if reason == AT_LARGEST_OFFSET:
                raise make_column_failure(find_program(cls, 0).layout)
            if reason == AT_NO_MEMORY:
                raise MemoryError
            if reason == AT_END:
                return make_array(columns, shape, count, errors, ())
    finally:
        for index in range(held):
            PyBuffer_Release(&buffers[index])
        free_columns(columns, shape.total + 1)
        free(columns)


# The shape, after it has been created. Without the GIL, several threads may create it
# at the same time, and setdefault keeps only one of them.
cdef dict _shapes = {}


cdef ColumnShape find_header_shape():
    """Return the struct column type, or create it."""
    cdef ColumnShape made, child
    cdef list children = []
    shape = _shapes.get("")
    if shape is not None:
        return shape
    for name, format, kind, width in (
        ("api_key", "s", OP_INT16, 2),
        ("api_version", "s", OP_INT16, 2),
        ("correlation_id", "i", OP_INT32, 4),
        ("client_id", "u", OP_STRING, 0),
        ("body_position", "i", OP_INT32, 4),
    ):
        child = ColumnShape.__new__(ColumnShape)
        child.name = name
        child.format = format
        child.kind = kind
        child.width = width
        child.children = ()
        child.total = 1
        children.append(child)
    made = ColumnShape.__new__(ColumnShape)
    made.name = ""
    made.format = "+s"
    made.kind = OP_STRUCT
    made.children = tuple(children)
    made.total = 1 + len(children)
    return _shapes.setdefault("", made)


cdef Reason walk_rows(Rows* rows) noexcept nogil:
    """Read rows until the end or until the first invalid row."""
    cdef int64_t place
    cdef Reason reason
    while rows.row < rows.count:
        place = rows.start + rows.row
        if rows.validity != NULL and not rows.validity[place >> 3] >> (place & 7) & 1:
            if put_null(rows.columns, rows.row) != DONE:
                return AT_NO_MEMORY
        else:
            reason = walk_row(rows, place)
            if unlikely(reason != AT_END):
                return reason
        rows.row += 1
    return AT_END


cdef inline Reason walk_row(Rows* rows, int64_t place) noexcept nogil:
    """Read one header into the current row. Returns ``AT_END`` if it is valid.

    Shape: INT16 API key, INT16 version, INT32 correlation id. From header version 1 on,
    the client id, which is a classic string in all versions (KIP-482). From header
    version 2 on, a tag section.
    """
    cdef int32_t narrow[2]
    cdef int64_t wide[2]
    cdef Cursor cursor
    cdef Column* fields = rows.columns.children
    cdef const uint8_t* text = rows.default
    cdef int64_t size = rows.default_size
    cdef int64_t row = rows.row
    cdef int64_t entry
    cdef int64_t good
    cdef int16_t api_key, version
    cdef int32_t correlation_id
    cdef uint8_t header_version
    cdef Outcome outcome
    if rows.is_large:
        memcpy(wide, rows.offsets + 8 * place, 16)
    else:
        memcpy(narrow, rows.offsets + 4 * place, 8)
        wide[0] = narrow[0]
        wide[1] = narrow[1]
    if unlikely(not 0 <= wide[0] <= wide[1] <= rows.data_size):
        return AT_BAD_OFFSETS
    rows.begin = cursor.start = cursor.at = rows.data + wide[0]
    rows.end = cursor.end = rows.data + wide[1]
    cursor.fault = 0
    cursor.lenient = False
    cursor.max_tags = rows.max_tags
    if unlikely(wide[1] - wide[0] > rows.limit or not require(&cursor, 8)):
        return AT_BAD_ROW
    api_key = load_int16(cursor.at)
    version = load_int16(cursor.at + 2)
    correlation_id = load_int32(cursor.at + 4)
    entry = <int64_t>api_key * rows.table_width + version
    if unlikely(
        not 0 <= version < rows.table_width or not 0 <= entry < rows.table_size
    ):
        return AT_BAD_ROW
    header_version = rows.table[entry]
    if unlikely(header_version == UNKNOWN):
        return AT_BAD_ROW
    cursor.at += 8
    if likely(header_version > 0):
        size = read_length(&cursor, False, 2)
        if unlikely(cursor.fault):
            return AT_BAD_ROW
        text = cursor.at
        if size > 0:
            if unlikely(not require(&cursor, <uint64_t>size)):
                return AT_BAD_ROW
            cursor.at += size
    if header_version > 1 and unlikely(not skip_tags(&cursor)):
        return AT_BAD_ROW
    good = size
    if size < 0:
        outcome = put_null(&fields[<int>CLIENT_ID], row)
    else:
        outcome = append_string(&fields[<int>CLIENT_ID], row, text, size, &good)
    if unlikely(good < size):
        return AT_BAD_ROW
    if unlikely(cursor.at - cursor.start > rows.columns.limit):
        return AT_LARGEST_OFFSET
    if unlikely(outcome != DONE):
        return AT_LARGEST_OFFSET if outcome == FULL else AT_NO_MEMORY
    (<int16_t*>fields[<int>API_KEY].values.data)[row] = api_key
    (<int16_t*>fields[<int>API_VERSION].values.data)[row] = version
    (<int32_t*>fields[<int>CORRELATION_ID].values.data)[row] = correlation_id
    (<int32_t*>fields[<int>BODY_POSITION].values.data)[row] = <int32_t>(
        cursor.at - cursor.start
    )
    return AT_END


cdef inline bint skip_tags(Cursor* cursor) noexcept nogil:
    """Skip a tag section. No header version defines any tags."""
    cdef uint32_t count = read_unsigned_varint(cursor)
    cdef uint32_t tag, size
    cdef int64_t previous = -1
    if cursor.fault or count > cursor.max_tags:
        return False
    for _ in range(count):
        tag = read_unsigned_varint(cursor)
        size = read_unsigned_varint(cursor)
        if cursor.fault or tag <= previous or not require(cursor, size):
            return False
        previous = tag
        cursor.at += size
    return True


cdef Reason put_error(Rows* rows, Column* errors, bytes text) noexcept:
    """Set all fields in an invalid row to null, and store the error text."""
    cdef Outcome outcome = put_null_fields(rows.columns, rows.row)
    if outcome == DONE:
        outcome = open_row(errors, rows.row)
    if outcome == DONE:
        outcome = append_text(
            errors,
            rows.row,
            <const uint8_t*>PyBytes_AS_STRING(<PyObject*>text),
            len(text),
        )
    if outcome != DONE:
        return AT_LARGEST_OFFSET if outcome == FULL else AT_NO_MEMORY
    rows.row += 1
    errors.length = rows.row
    return AT_BAD_ROW


def load_header_versions():
    """Return the table of header versions and its width.

    The table contains one line for each API key. All lines have the same number of
    versions. The value is 255 if there is no such request.
    """
    if not _table:
        keys = registry.keys("request")
        entries = [registry.find_by_key(key, "request") for key in keys]
        width = max([entry.valid_versions.max for entry in entries]) + 1
        table = bytearray([<int>UNKNOWN]) * (width * (max(keys) + 1))
        for entry in entries:
            for version in entry.valid_versions:
                place = entry.api_key * width + version
                table[place] = plan.request_header_version(entry, version)
        _table.append((bytes(table), width))
    return _table[0]


def judge_row(judge, frame):
    """Read an invalid row with ``judge``. Returns the exception that it raises.

    If ``judge`` does not raise, the row has been modified since the first read, and the
    exception reports that.
    """
    failure = None
    try:
        judge(frame)
    except (DecodeError, UnsupportedVersion) as error:
        failure = error.with_traceback(None)
    # If there is no memory for a traceback, Cython assigns a MemoryError to the
    # variable instead.
    if isinstance(failure, MemoryError):
        raise failure
    return failure or decode_failure(INPUT_CHANGED, 0, 0, "")


def make_error_of_row(error, row):
    """Return the exception of a frame with the row number added to its path."""
    if isinstance(error, UnsupportedVersion):
        return UnsupportedVersion(f"[{row}]: {error.reason}")
    return type(error)(
        error.reason,
        error.offset,
        f"[{row}]{'.' if error.path else ''}{error.path}",
        error.message_name,
        error.version,
    )
