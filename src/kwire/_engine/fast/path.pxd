# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Error path: the fields and array elements that lead to the invalid bytes.

Each function adds its part of the path only when it returns after an error, innermost
part first. Decoding and encoding without an error therefore never update the path.

Twin: ``pure/path.py``. Differs from its twin in: the path is a C array in reverse
order, which is recorded after an error and then formatted.

Only in Cython: ``note_field``, ``note_index``.
"""

from libc.stdint cimport int64_t

from kwire._engine.fast.program cimport Step

cdef enum:
    # Twice the maximum nesting depth of structs that the schema language allows. Each
    # level adds at most a field and an element.
    DEEPEST = 32

cdef struct PathPart:
    # NULL means the field unknown_tagged_fields.
    Step* step
    # Index of the array element, or -1 if the field is not an array.
    int64_t index
    # True until the field is known: an element is recorded before its array.
    bint unnamed

cdef struct Path:
    int depth
    PathPart parts[DEEPEST]


cdef inline void note_field(Path* path, Step* step) noexcept nogil:
    """Add a field to an error path. NULL means the unknown tagged fields."""
    cdef PathPart* part
    if path.depth == 0 or not path.parts[path.depth - 1].unnamed:
        if path.depth == DEEPEST:
            return
        path.parts[path.depth].index = -1
        path.depth += 1
    part = &path.parts[path.depth - 1]
    part.step = step
    part.unnamed = False


cdef inline void note_index(Path* path, int64_t index) noexcept nogil:
    """Add the index of an array element to an error path."""
    if path.depth < DEEPEST:
        path.parts[path.depth].index = index
        path.parts[path.depth].unnamed = True
        path.depth += 1


cdef inline str format_path(Path* path):
    """Format a path, for example as ``topics[3].name``."""
    cdef int place
    cdef str text = ""
    cdef str name
    for place in range(path.depth - 1, -1, -1):
        name = ""
        if path.parts[place].unnamed:
            pass
        elif path.parts[place].step == NULL:
            name = "unknown_tagged_fields"
        else:
            name = <str>path.parts[place].step.attribute
        text += f".{name}" if text and name else name
        if path.parts[place].index >= 0:
            text += f"[{path.parts[place].index}]"
    return text
