# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of the Arrow C data interface whose numbers are wrong.

pyarrow exports a good array. Then counts, buffers and child lengths are changed in its
C struct, which no constructor of pyarrow lets through. The interface does not transfer
the sizes of buffers, so each buffer is followed by ``SLACK`` bytes that may be read:
the size that an importer computes from false numbers stays within them.
"""

import ctypes

import pyarrow

SLACK = 1 << 16
"""Bytes after each buffer."""

NUMBERS = {
    0: (-(2**62), -1, 0, 1, 5, 7, 9),
    1: (-(2**62), -2, -1, 0, 1, 5, 9, 2**62),
    2: (0, 1, 2, 7, 9, 20),
    3: (0, 1, 2),
}
"""New numbers of the fields of a ``DamagedArray``.

The interface has no sizes of buffers. So a length or an offset beyond the slack cannot
be detected, nor an offset before the buffer. The fourth buffer of views has the sizes
of the others, and pyarrow reads it before anything can be checked.
"""

_LENGTH, _NULL_COUNT, _OFFSET, _BUFFER_COUNT, _CHILD_COUNT = range(5)
_BUFFERS, _CHILDREN, _DICTIONARY = 5, 6, 7

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)


def _add_slack(data):
    return pyarrow.py_buffer(bytes(data) + bytes(SLACK))


def build(kind, length, buffers, null_count=-1, offset=0, children=()):
    """Make an array over roomy buffers, without a check of what they contain."""
    made = [None if data is None else _add_slack(data) for data in buffers]
    return pyarrow.Array.from_buffers(
        kind, length, made, null_count, offset, list(children) or None
    )


def make_roomy(array):
    """Copy an array into buffers with slack, children and dictionary included."""
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
    """Exports an array after changing numbers of its C struct.

    ``changes`` are (node, field, number): node counts the array, its children and its
    dictionary in preorder; field is 0 for the length, 1 the null count, 2 the offset,
    and 3 removes a buffer.
    """

    def __init__(self, array, changes):
        """Store the array and the changes. ``__arrow_c_array__`` exports them."""
        self.array, self.changes = array, changes

    def __arrow_c_array__(self, requested_schema=None):
        """Export the array with its changes."""
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
    """Iterate over the C structs of an array, its children and its dictionary."""
    struct = _int64s(address, 10)
    yield struct
    if struct[_CHILD_COUNT]:
        for child in _int64s(struct[_CHILDREN], struct[_CHILD_COUNT]):
            yield from _nodes(child)
    if struct[_DICTIONARY]:
        yield from _nodes(struct[_DICTIONARY])
