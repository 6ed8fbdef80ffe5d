# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""State of a walk that reads messages into columns. Without a twin."""

from libc.stdint cimport int64_t

from kwire._engine.fast.big_endian cimport likely
from kwire._engine.fast.column cimport DONE, FULL, Column, Outcome, ViewSource
from kwire._engine.fast.cursor cimport PYTHON_ERROR, Cursor, note
from kwire._engine.fast.path cimport Path
from kwire._engine.fast.program cimport Table

cdef enum:
    # Fault code in addition to those of cursor.pxd.
    COLUMN_FULL = -2

cdef struct RowWalk:
    Cursor cursor
    Path path
    # Memory to which views of bytes refer.
    ViewSource source

cdef int64_t walk_structs(
    RowWalk* w, Table* table, Column* column, int64_t row, int64_t count
) noexcept nogil


cdef inline bint is_done(RowWalk* w, Outcome outcome) noexcept nogil:
    """Convert the outcome of an append to a fault, unless it succeeded."""
    if likely(outcome == DONE):
        return True
    if outcome == FULL:
        note(&w.cursor, COLUMN_FULL, w.cursor.at, 0)
    else:
        w.cursor.fault = PYTHON_ERROR
    return False
