# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Column memory, and the Arrow arrays that are created from it.

A ``Block`` is raw memory that a walk can allocate, grow and free without the GIL. A
``Memory`` is a Python object that owns a block, or refers to the caller's memory.

Twin: ``pure/arrays.py``. See ``arrays.pyx`` for the differences.
"""

from libc.stdint cimport int64_t, uint8_t

cdef struct Block:
    # data is aligned to 64 bytes. room bytes may be used, and the 64 bytes after them
    # may be read.
    uint8_t* data
    Py_ssize_t room
    void* raw


cdef bint take_block(Block* block, int64_t room) noexcept nogil
cdef bint grow_block(Block* block, int64_t used, int64_t room) noexcept nogil
cdef void give_block(Block* block) noexcept nogil


cdef class Memory:
    cdef Block block
    cdef uint8_t* data
    cdef readonly Py_ssize_t size
    cdef Py_ssize_t exports
    # Memoryview to which the bytes belong, or None if the memory owns a block.
    cdef object held


cpdef Memory new_memory(Py_ssize_t size)
cpdef Memory grow_memory(Memory memory, Py_ssize_t used, Py_ssize_t size)
cpdef Memory hold_memory(object view, Py_ssize_t start)
cdef Memory make_memory(Block* block, Py_ssize_t size)
cdef int shrink(Memory memory, Py_ssize_t size) except -1


cdef class Array:
    cdef readonly str format
    cdef readonly str name
    cdef readonly int64_t length
    cdef readonly int64_t null_count
    cdef readonly int64_t offset
    cdef readonly tuple buffers
    cdef readonly tuple children
    cdef readonly bint nullable
    cdef readonly dict metadata
    cdef const char* format_text
    cdef const char* name_text
    cdef bytes metadata_bytes
    # Node count and buffer count of the whole tree.
    cdef int nodes
    cdef int slots


cdef Array new_array(
    str format,
    str name,
    int64_t length,
    int64_t null_count,
    tuple buffers,
    tuple children,
    bint nullable,
)
