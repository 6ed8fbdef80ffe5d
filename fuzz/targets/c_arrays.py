# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of the Arrow C data interface with incorrect numbers.

pyarrow exports a valid array. Then counts, buffers and child lengths are changed in its
C struct, because no pyarrow constructor accepts such values. The interface does not
transfer buffer sizes. Every buffer is therefore followed by ``SLACK`` readable bytes,
so that an importer that computes a size from incorrect numbers reads valid memory.
"""

import ctypes

import pyarrow

SLACK = 1 << 16
"""Number of readable bytes after each buffer."""

NUMBERS = {
    0: (-(2**62), -1, 0, 1, 5, 7, 9),
    1: (-(2**62), -2, -1, 0, 1, 5, 9, 2**62),
    2: (0, 1, 2, 7, 9, 20),
    3: (0, 1, 2),
}
"""Numbers that replace a field of a ``DamagedArray``, by field.

The interface does not transfer buffer sizes. Therefore an importer cannot detect a
length or an offset beyond the slack, or an offset before the buffer, and the lists do
not contain such numbers. The fourth buffer of view arrays contains the sizes of the
other buffers. It is never removed, because pyarrow reads it before an importer can
check anything.
"""

_LENGTH, _NULL_COUNT, _OFFSET, _BUFFER_COUNT, _CHILD_COUNT = range(5)
_BUFFERS, _CHILDREN, _DICTIONARY = 5, 6, 7

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)


def _add_slack(data):
    return pyarrow.py_buffer(bytes(data) + bytes(SLACK))


def build(kind, length, buffers, null_count=-1, offset=0, children=()):
    """Create an Arrow array from buffers, without validating their content.

    Each buffer is copied and followed by ``SLACK`` bytes.
    """
    made = [None if data is None else _add_slack(data) for data in buffers]
    return pyarrow.Array.from_buffers(
        kind, length, made, null_count, offset, list(children) or None
    )


def make_roomy(array):
    """Copy an array, its children and its dictionary into buffers with slack."""
    if pyarrow.types.is_dictionary(array.type):
        return pyarrow.DictionaryArray.from_arrays(
            make_roomy(array.indices), make_roomy(array.dictionary), safe=False
        )
    kind, buffers, children = array.type, array.buffers(), ()
    if pyarrow.types.is_struct(kind):
        buffers, children = buffers[:1], list(map(make_roomy, array.flatten()))
    elif pyarrow.types.is_list(kind):
        buffers, children = buffers[:2], [make_roomy(array.values)]
    return build(kind, len(array), buffers, -1, 0, children)


class DamagedArray:
    """Array that is exported with changed numbers in its C struct.

    ``changes`` are tuples (node, field, number). ``node`` is an index into the array,
    its children and its dictionary in preorder. ``field`` is 0 for the length, 1 for
    the null count, 2 for the offset, and 3 to remove the buffer with this number.
    """

    def __init__(self, array, changes):
        """Store the array, and the changes that its export applies."""
        self.array, self.changes = array, changes

    def __arrow_c_array__(self, requested_schema=None):
        """Export the array, and apply the changes to the exported C struct."""
        schema, array = self.array.__arrow_c_array__()
        nodes = list(_nodes(_pointer_of(array, b"arrow_array")))
        for node, field, number in self.changes:
            struct = nodes[node % len(nodes)]
            if field < 3:
                struct[field] = number
            elif struct[_BUFFER_COUNT]:
                buffers = _int64s(struct[_BUFFERS], struct[_BUFFER_COUNT])
                buffers[number % struct[_BUFFER_COUNT]] = 0
        return schema, array


def _int64s(address, count):
    return (ctypes.c_int64 * count).from_address(address)


def _nodes(address):
    """Yield the C structs of an array, its children and its dictionary."""
    struct = _int64s(address, 10)
    yield struct
    if struct[_CHILD_COUNT]:
        for child in _int64s(struct[_CHILDREN], struct[_CHILD_COUNT]):
            yield from _nodes(child)
    if struct[_DICTIONARY]:
        yield from _nodes(struct[_DICTIONARY])
