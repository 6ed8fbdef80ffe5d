# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares the columns of a message and their conversion to an ``Array``.

Without a twin.
"""

from libc.stdint cimport int64_t

from kwire._engine.fast.arrays cimport Array
from kwire._engine.fast.column cimport Column, ViewSource
from kwire._engine.fast.program cimport Table


cdef class ColumnShape:
    cdef str name
    cdef str format
    cdef int kind
    cdef int width
    cdef bint null_default
    cdef bytes default
    cdef tuple children
    # Number of columns in the tree below, including this column.
    cdef int total


cdef ColumnShape find_shape(object cls, object struct, bint views)
cdef void build_columns(
    Column* column,
    Column** next_column,
    ColumnShape shape,
    Table* table,
    int64_t limit,
    ViewSource* source,
) noexcept
cdef void link_columns(
    Column* column, Table* table, Column*** next_line
) noexcept nogil
cdef Array make_array(
    Column* column, ColumnShape shape, int64_t rows, Column* errors, tuple sources
)
cdef list hold_windows(object view)
cdef tuple end_sources(list memories)
