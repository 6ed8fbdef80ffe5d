# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One growing column, and the tree of them that a message is decoded into.

Everything here runs without the GIL. ``message_columns.pyx`` decides what a row holds.
Without a twin: ``pure`` makes its columns from lists.

    kind       validity   values                     text      children
    int32      bit a row  4 bytes a row
    bool       bit a row  bit a row
    string     bit a row  int32 offsets, rows + 1    UTF-8
    view       bit a row  16 bytes a row
    array      bit a row  int32 offsets, rows + 1              its elements
    struct     bit a row                                       its fields, by slot

A view is that of Arrow: an int32 length, then up to 12 bytes themselves; more bytes
stay where they are, and their first 4, an int32 number of a buffer and an int32 offset
in it follow the length. An offset that is larger than 30 bits counts on in the buffer
after, which is the same memory from 1 GiB further on.

Rows are counted once: a field of a struct has as many as the struct, so that making
room for a struct makes room in all its fields, and a bad row is undone without notes.
Two kinds of column count for themselves in ``length``: the elements of an array, and a
*lazy* one, whose rows are not in the line of the struct (tagged, or not in this
version); its missing rows are filled with the default when the next one comes, or at
the end. A bit of ``validity`` is 1 until the row is found null.
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
    # A kind of column for which there is no opcode: bytes as views of the input.
    OF_VIEWS = 32
    VIEW_WIDTH = 16
    LONGEST_INLINE = 12
    # Each buffer begins so many bits of bytes after the one before.
    WINDOW_BITS = 30

# The memory that views point into, and the number of its first buffer.
cdef struct ViewSource:
    const uint8_t* start
    int64_t first_buffer

cdef struct Column:
    # An opcode of ``program.pxd``; forms of one type share one.
    int kind
    # Bytes of a row in ``values``; 0 for bools, which are bits there.
    int width
    bint lazy
    bint null_default
    int64_t length
    int64_t room
    # What a row defaults to: a fixed-size value or text.
    const uint8_t* default
    Py_ssize_t default_size
    Block validity
    # Fixed-size values, or the offsets of text and arrays: one more than rows.
    Block values
    Block text
    # Of views always 1, which is more than there is room for.
    int64_t used
    ViewSource* source
    # The fields of a struct by slot, or the elements of an array.
    Column* children
    int child_count
    # The columns of the steps of a struct's ``Table.line``, in their order.
    Column** line
    # The largest offset: 2**31 - 1, less in tests.
    int64_t limit


cdef inline int32_t* offsets_of(Column* column) noexcept nogil:
    """See the values of text or an array as what they are."""
    return <int32_t*>column.values.data


cdef inline bint has_offsets(Column* column) noexcept nogil:
    """Whether the column is of text or of arrays."""
    return (
        column.kind == OP_STRING or column.kind == OP_BYTES or column.kind == OP_ARRAY
    )


cdef inline void open_errors(Column* column, int64_t limit) noexcept nogil:
    """Set up the column of the errors of rows: text, null but for bad rows."""
    column.kind = OP_STRING
    column.lazy = True
    column.null_default = True
    column.limit = limit


cdef inline Outcome widen(Column* column, int64_t wanted) noexcept nogil:
    """Make room for ``wanted`` rows and more in a column that counts for itself."""
    cdef int64_t room = max(wanted, min(max(2 * column.room, 16), column.limit))
    if wanted > column.limit and not column.lazy:
        return FULL
    if not reserve(column, column.length, room):
        return NO_MEMORY
    column.room = room
    return DONE


cdef inline bint reserve(Column* column, int64_t length, int64_t room) noexcept nogil:
    """Make room for ``room`` rows in a column and in the fields below it."""
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
    """Put a view of bytes of the source into a row; short bytes are copied."""
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
    """Append bytes to a column that has no room for them, or has views."""
    cdef Outcome outcome
    # Views never have room for text, so that other columns need not be asked.
    if column.kind == OF_VIEWS:
        return append_view(column, row, at, size)
    outcome = reserve_text(column, column.used + size)
    return append_text(column, row, at, size) if outcome == DONE else outcome


cdef inline Outcome append_text(
    Column* column, int64_t row, const uint8_t* at, int64_t size
) noexcept nogil:
    """Append bytes, or text that is known to be UTF-8, as the last row.

    In a column of views it is a view of them.
    """
    cdef int64_t used = column.used + size
    if unlikely(used > column.text.room or used > column.limit):
        return append_to_full(column, row, at, size)
    # Without text there may be no memory for it yet.
    if size:
        memcpy(column.text.data + column.used, at, <size_t>size)
    column.used = used
    offsets_of(column)[row + 1] = <int32_t>used
    return DONE


cdef inline int64_t count_windows(int64_t size) noexcept nogil:
    """Count the buffers through which views see memory of this size; at least one."""
    return max(1, (size + (1 << WINDOW_BITS) - 1) >> WINDOW_BITS)


cdef inline Outcome append_string(
    Column* column, int64_t row, const uint8_t* at, int64_t size, int64_t* good
) noexcept nogil:
    """Append text as the last row, unless ``good`` bytes of it, not all, are UTF-8.

    What is judged is the copy and never the input, which may change meanwhile. Bad
    text counts before want of room.
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
    """Append ASCII text as the last row; False, and no row, for all that is slower."""
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
    """Make room for ``used`` bytes of text, if the column may have as many."""
    cdef int64_t room = max(2 * <int64_t>column.text.room, used)
    # Recycled memory may have more room than Arrow has offsets.
    if used > column.limit:
        return FULL
    if not grow_block(&column.text, column.used, room):
        return NO_MEMORY
    return DONE


cdef inline void set_bit(uint8_t* bits, int64_t row, bint value) noexcept nogil:
    """Set a bit, the lowest of a byte first."""
    cdef uint8_t mask = <uint8_t>(1 << (row & 7))
    if value:
        bits[row >> 3] |= mask
    else:
        bits[row >> 3] &= <uint8_t>~mask


cdef inline Outcome mark_null(Column* column, int64_t row) noexcept nogil:
    """Clear the bit of a row; the first null of a column makes its bits."""
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
    """Make a row null for which there is room; in a struct, all its fields too."""
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
    """Make all fields of a struct null in one row."""
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
    """Fill a lazy column up to a row, and make room for that row."""
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
    """Write the default into rows for which there is room."""
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
    """Write a fixed-size default into rows; each copy is as long as all before it."""
    cdef uint8_t* first = column.values.data + start * column.width
    cdef int64_t size = (end - start) * column.width
    cdef int64_t done = min(size, <int64_t>column.width)
    memcpy(first, column.default, <size_t>done)
    while done < size:
        memcpy(first + done, first, <size_t>min(done, size - done))
        done += min(done, size - done)


cdef inline Outcome complete(Column* column, int64_t rows) noexcept nogil:
    """Fill the missing rows of all lazy columns of a tree that has ``rows`` rows."""
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
    """Take a tree back to ``rows`` good rows; those below ``touched`` may be marked."""
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
    """Count the nulls of a column, and give its bits the size for ``rows`` rows.

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
    """Free what the columns of a tree still own."""
    cdef int index
    for index in range(count):
        give_block(&columns[index].validity)
        give_block(&columns[index].values)
        give_block(&columns[index].text)


cdef inline int64_t utf8_prefix(const uint8_t* at, int64_t size) noexcept nogil:
    """Find the first byte that is not UTF-8 as Python takes it, or the size."""
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
        # No overlong forms, no surrogates, nothing above U+10FFFF.
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
