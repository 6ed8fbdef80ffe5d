# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A growing column, and the tree of columns into which a message is decoded.

All functions run without the GIL. ``message_columns.pyx`` chooses the rows. Without a
twin: the Python engine creates its columns from lists.

    kind       validity   values                     text      children
    int32      bit a row  4 bytes a row
    bool       bit a row  bit a row
    string     bit a row  int32 offsets, rows + 1    UTF-8
    view       bit a row  16 bytes a row
    array      bit a row  int32 offsets, rows + 1              its elements
    struct     bit a row                                       its fields, by slot

A view has Arrow's format: an int32 length, then the value itself if it has up to 12
bytes. A longer value is not copied: the length is followed by its first 4 bytes, an
int32 buffer number and an int32 offset. A buffer begins at each multiple of 1 GiB of
the memory and extends to its end. Offsets in a buffer therefore have at most 30 bits,
and a value may extend over the start of the next buffer.

Rows are counted only once: the fields of a struct have the same number of rows as the
struct. Therefore, allocating space for a struct allocates space in all of its fields,
and an invalid row can be removed without recording which fields were appended. Two
kinds of columns have their own ``length``: the elements of an array, and *lazy*
columns, whose fields are in the tag section or not in this version. The missing rows of
a lazy column are filled with the default when the next row is appended, or at the end.

A bit of ``validity`` is 1 until the row is set to null.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from kwire._engine.fast.arrays cimport Block, give_block, grow_block
from kwire._engine.fast.big_endian cimport load_byte, unlikely
from kwire._engine.fast.primitives cimport copy_text
from kwire._engine.fast.program cimport *

cdef enum Outcome:
    DONE = 0
    NO_MEMORY = 1
    FULL = 2

cdef enum:
    # Kind of a column without an opcode: bytes as views of the input.
    OF_VIEWS = 32
    VIEW_WIDTH = 16
    LONGEST_INLINE = 12
    # Binary logarithm of the distance between the starts of adjacent buffers (1 GiB).
    WINDOW_BITS = 30

# Memory to which views refer, and the number of its first buffer.
cdef struct ViewSource:
    const uint8_t* start
    int64_t first_buffer

cdef struct Column:
    # Opcode of program.pxd. The compact and the classic encoding of a type share one
    # kind.
    int kind
    # Row size in the block values, in bytes. 0 for bools, which are stored as bits.
    int width
    bint lazy
    bint null_default
    int64_t length
    int64_t room
    # Default of a row: a fixed-size value, a string or bytes.
    const uint8_t* default
    Py_ssize_t default_size
    Block validity
    # Fixed-size values, or the offsets of strings, bytes and arrays, one more than
    # rows.
    Block values
    Block text
    # Number of bytes in text. For views it is always 1, which exceeds the capacity of
    # text, so that append_text() calls append_to_full().
    int64_t used
    ViewSource* source
    # Fields of a struct by slot, or the elements of an array.
    Column* children
    int child_count
    # Columns for the steps in a struct's Table.line, in the same order.
    Column** line
    # Maximum offset: 2**31 - 1. Tests set a lower limit.
    int64_t limit


cdef inline int32_t* offsets_of(Column* column) noexcept nogil:
    """Return the values of a string, bytes or list column as offsets."""
    return <int32_t*>column.values.data


cdef inline bint has_offsets(Column* column) noexcept nogil:
    """Whether the column contains strings, bytes or arrays."""
    return (
        column.kind == OP_STRING or column.kind == OP_BYTES or column.kind == OP_ARRAY
    )


cdef inline void open_errors(Column* column, int64_t limit) noexcept nogil:
    """Initialize the error column. It is null except for invalid rows."""
    column.kind = OP_STRING
    column.lazy = True
    column.null_default = True
    column.limit = limit


cdef inline Outcome widen(Column* column, int64_t wanted) noexcept nogil:
    """Allocate space for at least ``wanted`` rows in a column with its own length."""
    cdef int64_t room = max(wanted, min(max(2 * column.room, 16), column.limit))
    if wanted > column.limit and not column.lazy:
        return FULL
    if not reserve(column, column.length, room):
        return NO_MEMORY
    column.room = room
    return DONE


cdef inline bint reserve(Column* column, int64_t length, int64_t room) noexcept nogil:
    """Allocate space for ``room`` rows in a column and in the fields below it."""
    cdef int index
    if column.kind == OP_STRUCT:
        for index in range(column.child_count):
            if not column.children[index].lazy:
                if not reserve(&column.children[index], length, room):
                    return False
        return True
    if column.kind == OP_BOOL:
        return grow_block(&column.values, (length + 7) // 8, (room + 7) // 8)
    if not has_offsets(column):
        return grow_block(
            &column.values, length * column.width, room * column.width
        )
    if column.values.raw != NULL:
        return grow_block(&column.values, 4 * (length + 1), 4 * (room + 1))
    if not grow_block(&column.values, 0, 4 * (room + 1)):
        return False
    offsets_of(column)[0] = 0
    return True


cdef inline Outcome append_view(
    Column* column, int64_t row, const uint8_t* at, int64_t size
) noexcept nogil:
    """Store a view of source bytes in a row. Short values are copied."""
    cdef int32_t* view = <int32_t*>(column.values.data + VIEW_WIDTH * row)
    cdef int64_t place
    if size <= LONGEST_INLINE:
        view[0] = <int32_t>size
        view[1] = view[2] = view[3] = 0
        memcpy(&view[1], at, <size_t>size)
        return DONE
    if unlikely(size > INT32_MAX):
        return FULL
    place = at - column.source.start
    view[0] = <int32_t>size
    memcpy(&view[1], at, 4)
    view[2] = <int32_t>(column.source.first_buffer + (place >> WINDOW_BITS))
    view[3] = <int32_t>(place & ((1 << WINDOW_BITS) - 1))
    return DONE


cdef inline Outcome append_to_full(
    Column* column, int64_t row, const uint8_t* at, int64_t size
) noexcept nogil:
    """Append bytes to a column of views, or to a column without sufficient space."""
    cdef Outcome outcome
    # The text of views never has space, so append_text() needs no check for views.
    if column.kind == OF_VIEWS:
        return append_view(column, row, at, size)
    outcome = reserve_text(column, column.used + size)
    return append_text(column, row, at, size) if outcome == DONE else outcome


cdef inline Outcome append_text(
    Column* column, int64_t row, const uint8_t* at, int64_t size
) noexcept nogil:
    """Append bytes or valid UTF-8 as the last row. A column of views gets a view."""
    cdef int64_t used = column.used + size
    if unlikely(used > column.text.room or used > column.limit):
        return append_to_full(column, row, at, size)
    # If the value is empty, the text may not have been allocated yet.
    if size:
        memcpy(column.text.data + column.used, at, <size_t>size)
    column.used = used
    offsets_of(column)[row + 1] = <int32_t>used
    return DONE


cdef inline int64_t count_windows(int64_t size) noexcept nogil:
    """Return the number of buffers that views of ``size`` bytes need, at least one."""
    return max(1, (size + (1 << WINDOW_BITS) - 1) >> WINDOW_BITS)


cdef inline Outcome append_string(
    Column* column, int64_t row, const uint8_t* at, int64_t size, int64_t* good
) noexcept nogil:
    """Append a string as the last row, unless it is invalid UTF-8.

    ``good`` is set to the number of bytes before the first invalid byte. Only the copy
    is checked, because another thread may modify the input. Invalid UTF-8 takes
    precedence over lack of space.
    """
    cdef int64_t used = column.used + size
    cdef Outcome outcome
    cdef uint8_t* copy
    good[0] = size
    if unlikely(used > column.text.room or used > column.limit):
        outcome = reserve_text(column, used)
        if outcome != DONE:
            good[0] = utf8_prefix(at, size)
            return outcome
    if size:
        copy = column.text.data + column.used
        if not copy_text(copy, at, <Py_ssize_t>size):
            good[0] = utf8_prefix(copy, size)
            if good[0] < size:
                return DONE
    column.used = used
    offsets_of(column)[row + 1] = <int32_t>used
    return DONE


cdef inline bint append_short(
    Column* column, int64_t row, const uint8_t* at, int64_t size
) noexcept nogil:
    """Append an ASCII string as the last row.

    Returns False without a row if the string is not ASCII, or if there is not
    sufficient space.
    """
    cdef int64_t used = column.used + size
    if unlikely(used > column.text.room or used > column.limit):
        return False
    if size and unlikely(
        not copy_text(column.text.data + column.used, at, <Py_ssize_t>size)
    ):
        return False
    column.used = used
    offsets_of(column)[row + 1] = <int32_t>used
    return True


cdef inline Outcome reserve_text(Column* column, int64_t used) noexcept nogil:
    """Allocate space for ``used`` bytes of text, unless that exceeds the limit."""
    cdef int64_t room = max(2 * <int64_t>column.text.room, used)
    # A reused block may be larger than Arrow's offsets permit.
    if used > column.limit:
        return FULL
    if not grow_block(&column.text, column.used, room):
        return NO_MEMORY
    return DONE


cdef inline void set_bit(uint8_t* bits, int64_t row, bint value) noexcept nogil:
    """Set or clear a bit, counted from the lowest bit in the first byte."""
    cdef uint8_t mask = <uint8_t>(1 << (row & 7))
    if value:
        bits[row >> 3] |= mask
    else:
        bits[row >> 3] &= <uint8_t>~mask


cdef inline Outcome mark_null(Column* column, int64_t row) noexcept nogil:
    """Clear the validity bit of a row. The first null allocates the validity."""
    cdef int64_t known = column.validity.room
    if row >> 3 >= known:
        if not grow_block(
            &column.validity, known, max((row >> 3) + 1, 2 * known)
        ):
            return NO_MEMORY
        memset(
            column.validity.data + known, 255, <size_t>(column.validity.room - known)
        )
    set_bit(column.validity.data, row, False)
    return DONE


cdef inline Outcome put_null(Column* column, int64_t row) noexcept nogil:
    """Set a row to null for which space has been allocated.

    If the column is a struct, all of its fields are set to null too.
    """
    cdef Outcome outcome = mark_null(column, row)
    if column.kind == OP_STRUCT:
        return put_null_fields(column, row) if outcome == DONE else outcome
    if column.kind == OP_BOOL:
        set_bit(column.values.data, row, False)
    elif has_offsets(column):
        offsets_of(column)[row + 1] = offsets_of(column)[row]
    else:
        memset(column.values.data + row * column.width, 0, <size_t>column.width)
    return outcome


cdef inline Outcome put_null_fields(Column* column, int64_t row) noexcept nogil:
    """Set all fields of a struct to null in one row."""
    cdef Column* child
    cdef Outcome outcome
    cdef int index
    for index in range(column.child_count):
        child = &column.children[index]
        outcome = open_row(child, row) if child.lazy else DONE
        if outcome == DONE:
            outcome = put_null(child, row)
        if outcome != DONE:
            return outcome
        if child.lazy:
            child.length = row + 1
    return DONE


cdef inline Outcome open_row(Column* column, int64_t row) noexcept nogil:
    """Fill a lazy column up to a row, and allocate space for that row."""
    cdef Outcome outcome = catch_up(column, row)
    if outcome == DONE and row + 1 > column.room:
        outcome = widen(column, row + 1)
    return outcome


cdef inline Outcome catch_up(Column* column, int64_t rows) noexcept nogil:
    """Fill the missing rows of a lazy column with its default."""
    cdef Outcome outcome = DONE
    if column.length >= rows:
        return DONE
    if rows > column.room:
        outcome = widen(column, rows)
    if outcome == DONE:
        outcome = fill_default(column, column.length, rows)
    if outcome == DONE:
        column.length = rows
    return outcome


cdef inline Outcome fill_default(
    Column* column, int64_t start, int64_t end
) noexcept nogil:
    """Store the default in rows for which space has been allocated."""
    cdef Outcome outcome
    cdef int64_t row
    cdef int index
    if column.kind == OP_STRUCT and not column.null_default:
        for index in range(column.child_count):
            if not column.children[index].lazy:
                outcome = fill_default(&column.children[index], start, end)
                if outcome != DONE:
                    return outcome
        return DONE
    if not column.null_default and column.width:
        repeat_value(column, start, end)
        return DONE
    for row in range(start, end):
        outcome = DONE
        if column.null_default:
            outcome = put_null(column, row)
        elif column.kind == OP_BOOL:
            set_bit(column.values.data, row, column.default[0])
        elif column.kind == OP_ARRAY:
            offsets_of(column)[row + 1] = offsets_of(column)[row]
        else:
            outcome = append_text(column, row, column.default, column.default_size)
        if outcome != DONE:
            return outcome
    return DONE


cdef inline void repeat_value(
    Column* column, int64_t start, int64_t end
) noexcept nogil:
    """Store a fixed-size default in rows.

    Each copy doubles the number of rows that have been filled.
    """
    cdef uint8_t* first = column.values.data + start * column.width
    cdef int64_t size = (end - start) * column.width
    cdef int64_t done = min(size, <int64_t>column.width)
    memcpy(first, column.default, <size_t>done)
    while done < size:
        memcpy(first + done, first, <size_t>min(done, size - done))
        done += min(done, size - done)


cdef inline Outcome complete(Column* column, int64_t rows) noexcept nogil:
    """Fill the missing rows of all lazy columns in a tree with ``rows`` rows."""
    cdef Outcome outcome = DONE
    cdef int index
    if column.lazy:
        outcome = catch_up(column, rows)
    if column.kind == OP_ARRAY:
        rows = column.children.length
    for index in range(column.child_count):
        if outcome != DONE:
            break
        outcome = complete(&column.children[index], rows)
    return outcome


cdef inline void rewind(Column* column, int64_t rows, int64_t touched) noexcept nogil:
    """Truncate a tree to its first ``rows`` rows.

    Rows below ``touched`` may have been set to null. Their validity bits are set again.
    """
    cdef Column* child
    cdef int64_t good
    cdef int64_t last = min(touched, 8 * <int64_t>column.validity.room)
    cdef int index
    for good in range(rows, last):
        set_bit(column.validity.data, good, True)
    if column.kind == OP_ARRAY and column.values.raw != NULL:
        child = column.children
        good = offsets_of(column)[rows]
        rewind(child, good, child.length + 1)
        child.length = good
    elif has_offsets(column) and column.values.raw != NULL:
        column.used = offsets_of(column)[rows]
    elif column.kind == OP_STRUCT:
        for index in range(column.child_count):
            child = &column.children[index]
            if not child.lazy:
                rewind(child, rows, touched)
            else:
                good = min(child.length, rows)
                rewind(child, good, max(child.length, rows) + 1)
                child.length = good


cdef inline void end_bits(uint8_t* bits, int64_t rows) noexcept nogil:
    """Clear the bits after the last row, so that equal columns have equal bytes."""
    if rows & 7:
        bits[rows >> 3] &= <uint8_t>((1 << (rows & 7)) - 1)


cdef inline int64_t count_nulls(Column* column, int64_t rows) noexcept nogil:
    """Count the nulls of a column, and resize its validity to ``rows`` rows.

    Returns -1 if there is no memory.
    """
    cdef int64_t known = column.validity.room
    cdef int64_t size = (rows + 7) // 8
    cdef int64_t valid = 0
    cdef int64_t index
    cdef uint8_t byte
    if known == 0:
        return 0
    if size > known:
        if not grow_block(&column.validity, known, size):
            return -1
        memset(column.validity.data + known, 255, <size_t>(size - known))
    end_bits(column.validity.data, rows)
    for index in range(size):
        byte = column.validity.data[index]
        byte = byte - (byte >> 1 & 0x55)
        byte = (byte & 0x33) + (byte >> 2 & 0x33)
        valid += (byte + (byte >> 4)) & 0x0F
    return rows - valid


cdef inline void free_columns(Column* columns, int count) noexcept nogil:
    """Free the memory that the columns of a tree still own."""
    cdef int index
    for index in range(count):
        give_block(&columns[index].validity)
        give_block(&columns[index].values)
        give_block(&columns[index].text)


cdef inline int64_t utf8_prefix(const uint8_t* at, int64_t size) noexcept nogil:
    """Return the number of bytes before the first invalid UTF-8 byte.

    The result is ``size`` if all bytes are valid. The rules are those of Python.
    """
    cdef int64_t index = 0
    cdef int64_t more
    cdef uint64_t word
    cdef uint8_t lead, second
    while index < size:
        while index + 8 <= size:
            memcpy(&word, at + index, 8)
            if word & <uint64_t>0x8080808080808080:
                break
            index += 8
        if index == size:
            return size
        lead = <uint8_t>load_byte(at + index)
        if lead < 0x80:
            index += 1
            continue
        more = 1 + (lead >= 0xE0) + (lead >= 0xF0)
        if lead < 0xC2 or lead > 0xF4 or index + more >= size:
            return index
        second = <uint8_t>load_byte(at + index + 1)
        # Reject overlong encodings, surrogates, and code points above U+10FFFF.
        if (
            (second & 0xC0) != 0x80
            or (lead == 0xE0 and second < 0xA0)
            or (lead == 0xED and second > 0x9F)
            or (lead == 0xF0 and second < 0x90)
            or (lead == 0xF4 and second > 0x8F)
            or (more > 1 and (at[index + 2] & 0xC0) != 0x80)
            or (more > 2 and (at[index + 3] & 0xC0) != 0x80)
        ):
            return index
        index += more + 1
    return size
