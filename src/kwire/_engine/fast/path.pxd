# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The path in an error: the fields and elements that lead to the bad bytes.

Noted while the functions return, innermost first, so that it costs nothing without a
fault. Twin: ``pure/path.py``. Differs from its twin in: the path is kept in C and
backwards, so it is noted as well as written out.
C needs for itself: ``note_field``, ``note_index``.
"""

from libc.stdint cimport int64_t

from kwire._engine.fast.program cimport Step

cdef enum:
    # Twice what the rules of the schema language let structs nest.
    DEEPEST = 32

cdef struct PathPart:
    # NULL for the unknown tagged fields.
    Step* step
    # The element of an array, or -1.
    int64_t index
    # Whether the field is still to come: an element is noted before its array.
    bint unnamed

cdef struct Path:
    int depth
    PathPart parts[DEEPEST]


cdef inline void note_field(Path* path, Step* step) noexcept nogil:
    """Note a field on the path of a fault; NULL for the unknown tags."""
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
    """Note an element of an array on the path of a fault."""
    if path.depth < DEEPEST:
        path.parts[path.depth].index = index
        path.parts[path.depth].unnamed = True
        path.depth += 1


cdef inline str format_path(Path* path):
    """Format a path: ``topics[3].name``."""
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
