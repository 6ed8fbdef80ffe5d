# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers at unaligned addresses are read correctly, as Arrow and numpy allow them.

Arrow recommends aligned buffers but does not require them. Buffers from a file or a
socket are often unaligned. An aligned load from such an address is undefined behavior
in C, which compilers exploit. ``make sanitize`` reports it.
"""

import itertools

import numpy
import pyarrow
import pytest


def shift_buffer(buffer, by):
    """Copy a buffer to an address that is ``by`` bytes above a multiple of 8."""
    if buffer is None:
        return None
    room = numpy.zeros(len(buffer) + 16, dtype="u1")
    start = -room.ctypes.data % 8 + by
    room[start : start + len(buffer)] = numpy.frombuffer(buffer, dtype="u1")
    return pyarrow.py_buffer(room[start : start + len(buffer)])


def misalign_array(array, by):
    """Copy an Arrow array so that all of its buffers are unaligned by ``by`` bytes."""
    buffers = [shift_buffer(buffer, by) for buffer in array.buffers()]
    if isinstance(array, pyarrow.StructArray):
        children = [
            misalign_array(array.field(index), by) for index in range(len(array.type))
        ]
        buffers = buffers[:1]
    elif isinstance(array, pyarrow.ListArray):
        children, buffers = [misalign_array(array.values, by)], buffers[:2]
    else:
        children = []
    return pyarrow.Array.from_buffers(
        array.type, len(array), buffers, array.null_count, array.offset, children
    )


@pytest.mark.parametrize("by", [1, 2, 4, 7])
def test_columns_are_encoded_at_any_alignment(kwire, by):
    """Columns with unaligned buffers are encoded to the same batch as aligned ones.

    Offsets, numbers and validity bitmaps are unaligned, and the columns are sliced.
    """
    rows = [
        (None if number % 5 else b"key", b"v" * number, number) for number in range(40)
    ]
    rows = [
        (*row, [("a" * (number % 3), b"b"), ("c", None)])
        for number, row in enumerate(rows)
    ]
    table = pyarrow.record_batch(
        kwire.records.columns.decode_records(kwire.records.encode_batch(rows))
    )
    arrays = [misalign_array(column, by) for column in table.columns]
    misaligned = pyarrow.RecordBatch.from_arrays(arrays, names=table.schema.names)
    for start, end in itertools.combinations((0, 1, 9, 40), 2):
        one, two = (part.slice(start, end - start) for part in (table, misaligned))
        options = {"base_offset": start}
        assert kwire.records.columns.encode_batch(one, **options) == (
            kwire.records.columns.encode_batch(two, **options)
        )


@pytest.mark.parametrize("by", [1, 2, 3])
def test_messages_and_headers_are_decoded_at_any_alignment(kwire, by):
    """Binary arrays are decoded if their 32-bit or 64-bit offsets are unaligned."""
    cls = kwire.messages.MetadataRequest
    frames = [
        kwire.messages.framing.encode_request(cls(), 9, correlation_id)[4:]
        for correlation_id in range(20)
    ]
    bodies = [kwire.encode(cls(), 9)] * 20
    for kind in (pyarrow.binary(), pyarrow.large_binary()):
        array = pyarrow.array(frames, kind)
        read = kwire.messages.arrow.request_headers_to_arrow
        assert read(misalign_array(array, by)).equals(read(array))
        array = pyarrow.array(bodies, kind)
        read = kwire.messages.arrow.messages_to_arrow
        assert read(misalign_array(array, by), cls, 9).equals(read(array, cls, 9))


@pytest.mark.parametrize("by", [1, 2, 3])
def test_integers_are_encoded_at_any_alignment(kwire, by):
    """The integers of a numpy array are encoded from any address."""
    for kind, dtype in (
        ("unsigned_varints", "u4"),
        ("varints", "i4"),
        ("varlongs", "i8"),
    ):
        values = numpy.arange(-50 if dtype != "u4" else 0, 200).astype(dtype)
        room = numpy.zeros(values.nbytes + by, dtype="u1")
        odd = room[by:].view(dtype)
        odd[:] = values
        encode = getattr(kwire.messages.wire, f"encode_{kind}")
        assert encode(odd) == encode(values)
