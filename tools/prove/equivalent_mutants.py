# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The mutants of bounds comparisons that behave as the code does, with the reasons.

``EQUIVALENT`` has single mutants, by file, function, comparison and what became of it:
none of them may be noticed by a test. The second comparison of its kind in a function
has a 2. ``HINTS`` has functions whose result is a guess that the code after them does
not rely on; mutants there are not tried.
"""

SLOW_WAY = "the slow way, which is then taken, gives the same"
MARGIN = "four bytes are looked at; the fifth is a margin"
OTHERS_WAIT = "other threads wait a little or not; what is read is the same"
EARLY = "room is made one row before it is needed"
MISSING = "bytes that are not there are found missing where they are read"
TO_THE_END = "the same bytes were walked over before, and they end at the end"
SAID_LATER = "what is too long is read again for damage before either is said"
EMPTY = "there is nothing to look at in empty text"
READ_BEFORE = "strings, which are next, were read in the clause before"
LAST_PLACE = "the last place of the table is of no request"

_ROWS = [
    (SLOW_WAY, "primitives.pxd", "copy_text", "size >= 8", ("size > 8", "False")),
    (SLOW_WAY, "primitives.pxd", "copy_text", "size >= 4", ("size > 4", "False")),
    (
        SLOW_WAY,
        "bulk.pyx",
        "read_ints",
        "cursor.end - cursor.at >= 5",
        ("cursor.end - cursor.at > 5", "False"),
    ),
    (
        MARGIN,
        "bulk.pyx",
        "read_ints",
        "cursor.end - cursor.at >= 5",
        ("cursor.end - cursor.at >= (5) - 1",),
    ),
    (
        SLOW_WAY,
        "decoder.pyx",
        "read_structs",
        "left >= step.room",
        ("left > step.room", "False"),
    ),
    (
        SLOW_WAY,
        "decoder.pyx",
        "is_section_empty",
        "cursor.at >= cursor.end",
        ("cursor.at >= (cursor.end) - 1", "True"),
    ),
    (
        SLOW_WAY,
        "decoder.pyx",
        "is_next_empty",
        "cursor.at < cursor.end",
        ("cursor.at < (cursor.end) - 1", "False"),
    ),
    (
        READ_BEFORE,
        "decoder.pyx",
        "read_values",
        "inner <= OP_UUID",
        ("inner <= (OP_UUID) + 1",),
    ),
    (
        SLOW_WAY,
        "column_walk.pyx",
        "walk_structs",
        "at < end",
        ("at < (end) - 1", "False"),
    ),
    (SLOW_WAY, "column_walk.pyx", "put_short", "size < 0", ("size <= 0", "True")),
    (
        SLOW_WAY,
        "column_walk.pyx",
        "put_short",
        "size >= end - at",
        ("size >= (end - at) - 1", "True"),
    ),
    (
        SLOW_WAY,
        "column_walk.pyx",
        "append_int32s",
        "length > elements.room",
        ("length >= elements.room", "True"),
    ),
    (
        SLOW_WAY,
        "column_walk.pyx",
        "read_short",
        "at >= end",
        ("at >= (end) - 1", "True"),
    ),
    (
        SLOW_WAY,
        "column_walk.pyx",
        "read_short",
        "size < 0x7F",
        ("size < (0x7F) - 1", "False"),
    ),
    (
        SLOW_WAY,
        "column_walk.pyx",
        "read_short",
        "size < end - at",
        ("size < (end - at) - 1", "False"),
    ),
    (
        EARLY,
        "column_walk.pyx",
        "put_array",
        "length + count > elements.room",
        ("length + count >= elements.room",),
    ),
    (
        OTHERS_WAIT,
        "batches.pyx",
        "read_batch_header",
        "stop - position >= LARGE_INPUT",
        (
            "stop - position > LARGE_INPUT",
            "True",
            "False",
            "stop - position >= (LARGE_INPUT) - 1",
        ),
    ),
    (
        OTHERS_WAIT,
        "record_sets.pyx",
        "is_large",
        "w.end - w.position >= LARGE_ENTRY",
        (
            "w.end - w.position > LARGE_ENTRY",
            "False",
            "w.end - w.position >= (LARGE_ENTRY) - 1",
        ),
    ),
    (
        OTHERS_WAIT,
        "record_sets.pyx",
        "is_large",
        "load_int32(w.cursor.start + w.position + SIZE_AT) >= LARGE_ENTRY",
        (
            "load_int32(w.cursor.start + w.position + SIZE_AT) > LARGE_ENTRY",
            "load_int32(w.cursor.start + w.position + SIZE_AT) >= (LARGE_ENTRY) - 1",
            "True",
            "False",
        ),
    ),
    (
        SLOW_WAY,
        "record_sets.pyx",
        "read_found",
        "w.entry.base_offset < w.lowest",
        ("w.entry.base_offset <= w.lowest", "True"),
    ),
    (
        SLOW_WAY,
        "record_sets.pyx",
        "read_found",
        "w.entry.last_offset > w.highest",
        ("w.entry.last_offset >= w.highest", "True"),
    ),
    (
        SLOW_WAY,
        "record_sets.pyx",
        "read_found",
        "w.entry.magic < 2",
        ("w.entry.magic <= 2", "True"),
    ),
    (
        EARLY,
        "record_walk.pyx",
        "make_room",
        "w.rows + count > w.columns.room",
        ("w.rows + count >= w.columns.room",),
    ),
    (
        EARLY,
        "record_walk.pyx",
        "walk_headers",
        "item.length + count > item.room",
        ("item.length + count >= item.room",),
    ),
    (
        MISSING,
        "record_walk.pyx",
        "walk_records",
        "count > (end - at) // LEAST_RECORD",
        ("count > ((end - at) // LEAST_RECORD) + 1",),
    ),
    (
        MISSING,
        "record_walk.pyx",
        "walk_headers",
        "count > (end - at[0]) // 2",
        ("count > ((end - at[0]) // 2) + 1",),
    ),
    (
        MISSING,
        "record_walk.pyx",
        "walk_headers",
        "size > end - at[0]",
        ("size >= end - at[0]",),
    ),
    (
        SAID_LATER,
        "record_walk.pyx",
        "walk_inner",
        "at < size",
        ("at < (size) - 1",),
    ),
    (
        TO_THE_END,
        "record_walk.pyx",
        "walk_inner",
        "at < size (2)",
        ("at < (size) - 1",),
    ),
    (EMPTY, "header_columns.pyx", "walk_row", "size > 0", ("size >= 0",)),
    (
        LAST_PLACE,
        "header_columns.pyx",
        "walk_row",
        "0 <= entry < rows.table_size",
        ("0 <= entry < (rows.table_size) - 1",),
    ),
]

EQUIVALENT = {
    (file, function, old, new): reason
    for reason, file, function, old, mutants in _ROWS
    for new in mutants
}

HINTS = {
    ("record_walk.pyx", "reserve_rows"): (
        "it makes room beforehand; where rows are appended, room is made again"
    ),
}
