# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the fields of a message into columns, as ``decoder`` reads them into objects.

It accepts the same input as ``decoder`` and reports errors at the same bytes. The
functions run without the GIL.

``walk_structs`` reads the structs of an array in one loop and keeps the position in a
local variable. The loop itself reads fixed-size fields, short strings, short arrays of
int32s, empty arrays and empty tag sections. Other functions, which keep the position in
the cursor, read everything else.

Without a twin: the Python engine converts decoded objects to columns.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from kwire._engine.fast.big_endian cimport *
from kwire._engine.fast.column cimport *
from kwire._engine.fast.column_walk cimport *
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.path cimport note_field, note_index
from kwire._engine.fast.primitives cimport LONGEST_STRING, read_count, read_length
from kwire._engine.fast.program cimport *


cdef int64_t walk_structs(
    RowWalk* w, Table* table, Column* column, int64_t row, int64_t count
) noexcept nogil:
    """Read structs into rows for which space has been allocated.

    Returns the number of structs, which is less than ``count`` after an error.
    """
    cdef Column** fields
    cdef Column* child
    cdef Step* last = table.line + table.line_count
    cdef Step* step
    cdef const uint8_t* at = w.cursor.at
    cdef const uint8_t* end = w.cursor.end
    # Next field of the run that was checked last.
    cdef const uint8_t* field = at
    cdef int64_t index
    cdef bint done
    for index in range(row, row + count):
        step = table.line
        fields = column.line
        while step < last:
            child = fields[0]
            # With these hints, compilers generate tests in this order instead of a jump
            # table.
            if likely(step.op == OP_INT32):
                (<int32_t*>child.values.data)[index] = load_int32(field)
                field += 4
            elif likely(step.op == OP_CHECK):
                if unlikely(step.size > end - at):
                    w.cursor.at = at
                    note_field(&w.path, note_run(w, step))
                    return index - row
                field = at
                at += step.size
            elif likely(step.op == OP_INT64):
                (<int64_t*>child.values.data)[index] = load_int64(field)
                field += 8
            elif likely(step.op == OP_INT16):
                (<int16_t*>child.values.data)[index] = load_int16(field)
                field += 2
            elif step.op <= OP_UUID:
                put_fixed(child, index, step.op, field)
                field += size_of(step.op)
            elif not put_short(step.op, step, child, index, &at, end):
                w.cursor.at = at
                if step.op == OP_BYTES:
                    done = put_bytes(w, step.nullable, step.compact, child, index)
                else:
                    done = walk_field(w, step, step.op, child, index)
                if unlikely(not done):
                    note_field(&w.path, step)
                    return index - row
                at = w.cursor.at
            step += 1
            fields += 1
        if not table.flexible:
            continue
        if likely(at < end and load_byte(at) == 0):
            at += 1
            continue
        w.cursor.at = at
        if not walk_tags(w, table, column, index):
            return index - row
        at = w.cursor.at
    w.cursor.at = at
    return count


cdef inline bint put_short(
    int op,
    Step* step,
    Column* child,
    int64_t row,
    const uint8_t** place,
    const uint8_t* end,
) noexcept nogil:
    """Append a short string, a short int32 array or an empty array to ``child``.

    ``place`` is advanced to the next field. Returns False without reading anything if
    the field is different, too large, or invalid.
    """
    cdef const uint8_t* at = place[0]
    cdef int64_t size = read_short(at, end)
    if unlikely(size < 0):
        return False
    if op == OP_COMPACT_STRING:
        if not append_short(child, row, at + 1, size):
            return False
    elif op == OP_ARRAY and step.compact and (size == 0 or step.inner == OP_INT32):
        size *= 4
        if size >= end - at or not append_int32s(child, row, at + 1, size):
            return False
    else:
        return False
    place[0] = at + 1 + size
    return True


cdef inline bint append_int32s(
    Column* child, int64_t row, const uint8_t* at, int64_t size
) noexcept nogil:
    """Append ``size`` bytes of int32s as the last row if there is sufficient space."""
    cdef Column* elements = child.children
    cdef int64_t length = elements.length + size // 4
    cdef uint32_t* values = <uint32_t*>elements.values.data + elements.length
    cdef int64_t index
    if length > elements.room and size:
        return False
    for index in range(size // 4):
        values[index] = <uint32_t>load_int32(at + 4 * index)
    elements.length = length
    offsets_of(child)[row + 1] = <int32_t>length
    return True


cdef inline int64_t read_short(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Read a compact length of one byte whose content ends before ``end``.

    Returns -1 for null, for a size of more than 126, and if the length is invalid.
    """
    cdef int64_t size
    if unlikely(at >= end):
        return -1
    size = <int64_t>load_byte(at) - 1
    return size if size < 0x7F and size < end - at else -1


cdef bint walk_field(
    RowWalk* w, Step* step, int op, Column* child, int64_t row
) noexcept nogil:
    """Read one field into a row for which space has been allocated."""
    if op == OP_ARRAY:
        return put_array(w, step, child, row)
    if op <= OP_UUID:
        if not require(&w.cursor, size_of(op)):
            return False
        put_fixed(child, row, op, w.cursor.at)
        w.cursor.at += size_of(op)
        return True
    if op == OP_BYTES:
        return put_bytes(w, step.nullable, step.compact, child, row)
    if op == OP_STRING or op == OP_COMPACT_STRING:
        return put_string(w, step.nullable, step.compact, child, row)
    if op == OP_NULLABLE_STRUCT and not read_marker(&w.cursor):
        return not w.cursor.fault and is_done(w, put_null(child, row))
    return walk_structs(w, step.table, child, row, 1) == 1


cdef bint put_string(
    RowWalk* w, bint nullable, bint compact, Column* child, int64_t row
) noexcept nogil:
    """Read a string into a row."""
    cdef Cursor* cursor = &w.cursor
    cdef const uint8_t* start = cursor.at
    cdef int64_t size = read_length(cursor, compact, 2)
    cdef int64_t good = size
    cdef Outcome outcome
    if unlikely(cursor.fault):
        return False
    if size < 0:
        return put_absence(w, nullable, start, child, row)
    if unlikely(size > LONGEST_STRING):
        note(cursor, STRING_TOO_LONG, start, size)
        return False
    if not require(cursor, <uint64_t>size):
        return False
    outcome = append_string(child, row, cursor.at, size, &good)
    if unlikely(good < size):
        note(cursor, BAD_UTF8, cursor.at + good, 0)
        return False
    cursor.at += size if outcome == DONE else 0
    return is_done(w, outcome)


cdef bint put_bytes(
    RowWalk* w, bint nullable, bint compact, Column* child, int64_t row
) noexcept nogil:
    """Read bytes into a row."""
    cdef Cursor* cursor = &w.cursor
    cdef const uint8_t* start = cursor.at
    cdef int64_t size = read_length(cursor, compact, 4)
    cdef Outcome outcome
    if unlikely(cursor.fault):
        return False
    if size < 0:
        return put_absence(w, nullable, start, child, row)
    if not require(cursor, <uint64_t>size):
        return False
    outcome = append_text(child, row, cursor.at, size)
    cursor.at += size if outcome == DONE else 0
    return is_done(w, outcome)


cdef bint put_absence(
    RowWalk* w, bint nullable, const uint8_t* start, Column* child, int64_t row
) noexcept nogil:
    """Set a row to null. It is an error at ``start`` if the field is not nullable."""
    if nullable:
        return is_done(w, put_null(child, row))
    note(&w.cursor, UNEXPECTED_NULL, start, 0)
    return False


cdef inline void put_fixed(
    Column* child, int64_t row, int op, const uint8_t* at
) noexcept nogil:
    """Store one fixed-size value in a row. The caller must have checked the bounds."""
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
    """Read an array into a row, and its elements into the child column."""
    cdef Cursor* cursor = &w.cursor
    cdef int64_t count = read_count(cursor, step.compact, step.nullable, step.size)
    cdef Column* elements = child.children
    cdef int64_t length = elements.length
    cdef int64_t index
    if count < 0:
        return not cursor.fault and is_done(w, put_null(child, row))
    if unlikely(length + count > elements.room):
        if not is_done(w, widen(elements, length + count)):
            return False
    if step.inner == OP_STRUCT:
        index = walk_structs(w, step.table, elements, length, count)
    elif step.inner <= OP_UUID:
        index = put_fixed_elements(elements, cursor.at, step.inner, count)
        cursor.at += count * size_of(step.inner)
    else:
        index = put_texts(w, step, elements, count)
    if unlikely(index < count):
        note_index(&w.path, index)
        elements.length = length + index
        return False
    elements.length = length + count
    offsets_of(child)[row + 1] = <int32_t>elements.length
    return True


cdef int64_t put_texts(
    RowWalk* w, Step* step, Column* elements, int64_t count
) noexcept nogil:
    """Append strings or bytes to the elements. Returns the number that was read."""
    cdef int64_t length = elements.length
    cdef int64_t index
    cdef bint done
    for index in range(count):
        if step.inner == OP_BYTES:
            done = put_bytes(w, False, step.compact, elements, length + index)
        else:
            done = put_string(w, False, step.compact, elements, length + index)
        if unlikely(not done):
            return index
    return count


cdef inline int64_t put_fixed_elements(
    Column* elements, const uint8_t* at, int op, int64_t count
) noexcept nogil:
    """Append fixed-size elements. The caller must have checked the bounds."""
    cdef uint32_t* narrow
    cdef uint32_t raw
    cdef int64_t index
    if op == OP_INT32:
        # The values do not affect any decision, so the compiler may load several of
        # them together, and may load them again.
        narrow = <uint32_t*>elements.values.data + elements.length
        for index in range(count):
            memcpy(&raw, at + 4 * index, 4)
            narrow[index] = swap32(raw)
        return count
    for index in range(count):
        put_fixed(elements, elements.length + index, op, at)
        at += size_of(op)
    return count


cdef bint walk_tags(
    RowWalk* w, Table* table, Column* column, int64_t row
) noexcept nogil:
    """Read a tag section. Unknown tags are checked and skipped."""
    cdef Cursor* cursor = &w.cursor
    cdef const uint8_t* start = cursor.at
    cdef uint32_t count = read_unsigned_varint(cursor)
    cdef uint32_t tag, size
    cdef int64_t previous = -1
    cdef int known
    cdef Step* step
    if not cursor.fault and count > <size_t>(cursor.end - cursor.at) // 2:
        note(cursor, BAD_COUNT, start, count)
    if not cursor.fault and count > cursor.max_tags:
        note(cursor, TOO_MANY_TAGS, start, count)
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
    """Read the content of one known tag. ``size`` is its length in bytes."""
    cdef Cursor* cursor = &w.cursor
    cdef const uint8_t* end = cursor.end
    if not is_done(w, open_row(child, row)):
        return False
    cursor.end = cursor.at + size
    if step.content != OP_NULLABLE_STRUCT:
        walk_field(w, step, step.content, child, row)
    elif read_tagged_marker(cursor):
        walk_structs(w, step.table, child, row, 1)
    elif not cursor.fault:
        is_done(w, put_null(child, row))
    if not cursor.fault and cursor.at != cursor.end:
        note(cursor, TRAILING_BYTES, cursor.at, cursor.end - cursor.at)
    cursor.end = end
    child.length = row + 1
    return not cursor.fault


cdef bint read_marker(Cursor* cursor) noexcept nogil:
    """Read the INT8 before a nullable struct: 1 if it is present, -1 for null."""
    cdef const uint8_t* start = cursor.at
    cdef int8_t marker = <int8_t>read_uint8(cursor)
    if not cursor.fault and marker != 1 and marker != -1:
        note(cursor, BAD_MARKER, start, marker)
    return marker == 1


cdef bint read_tagged_marker(Cursor* cursor) noexcept nogil:
    """Read the marker of a tagged nullable struct: UNSIGNED_VARINT 1 or 0."""
    cdef const uint8_t* start = cursor.at
    cdef uint32_t marker = read_unsigned_varint(cursor)
    if not cursor.fault and marker > 1:
        note(cursor, BAD_MARKER, start, marker)
    return marker == 1


cdef bint is_invalid(Table* table, uint32_t tag) noexcept nogil:
    """Whether the schema defines this tag for other versions only."""
    cdef int index
    for index in range(table.invalid_count):
        if table.invalid_tags[index] == tag:
            return True
    return False


cdef Step* note_run(RowWalk* w, Step* check) noexcept nogil:
    """Store a truncation fault for a run of fixed-size fields that exceeds the input.

    Returns the first field of the run that does not fit.
    """
    cdef Step* step = check + 1
    cdef Py_ssize_t left = w.cursor.end - w.cursor.at
    while size_of(step.op) <= left:
        left -= size_of(step.op)
        step += 1
    note(&w.cursor, TRUNCATED, w.cursor.end, size_of(step.op) - left)
    return step
