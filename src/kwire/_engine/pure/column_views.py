# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns of views: values that are not copied from the input or the payload.

A view has Arrow's format: an int32 length, then the value itself if it has up to 12
bytes. Of a longer value, it contains the first 4 bytes, an int32 buffer number and an
int32 offset. A buffer begins at each multiple of 1 GiB of the memory and extends to its
end. Offsets in a buffer therefore have at most 30 bits, and a value may extend over the
start of the next buffer.

Without a twin: in ``fast``, ``column.pxd`` and ``column_tree.pyx`` contain this code.
"""

from __future__ import annotations

from array import array
from struct import Struct

from ... import errors
from ...schema.batch_layout import BATCH_OVERHEAD, CODEC_MASK, KEYS_AT
from .arrays import Array, Memory, hold_memory, load_interface
from .cursor import (
    Cursor,
    CursorFault,
    read_uint8,
    read_unsigned_varint,
    read_unsigned_varlong,
    require,
)
from .decoder import get_input
from .legacy_records import read_classic
from .record_decoder import zigzag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ..record_types import BatchHeader

_LONGEST_INLINE = 12
_MOST_BYTES = 2**31 - 1
_WINDOW = 1 << 30
_SHORT, _LONG = Struct("=i12s"), Struct("=i4sii")


class ViewSource:
    """Memory to which views refer: the input or a decompressed payload.

    ``buffers`` lists all buffers of the column. The buffers of this memory are appended
    to it.
    """

    __slots__ = ("_address", "_first", "buffers", "data")

    def __init__(self, data: Buffer, buffers: list[Memory | memoryview]) -> None:
        view = get_input(data, True)
        assert isinstance(view, memoryview)
        self.data = view
        self.buffers = buffers
        self._first = len(buffers)
        self._address: int | None = None
        for start in range(0, max(1, view.nbytes), _WINDOW):
            buffers.append(hold_memory(view, start))

    def make_view(self, value: bytes | memoryview, place: int) -> bytes:
        """Create the view of a value that begins at byte ``place``.

        Raises ``OverflowError`` if the value is too large for a view.
        """
        size = len(value)
        if size <= _LONGEST_INLINE:
            return _SHORT.pack(size, bytes(value))
        if size > _MOST_BYTES:
            raise OverflowError
        if not 0 <= place <= self.data.nbytes - size:
            raise errors.decode_failure(errors.INPUT_CHANGED, 0, 0, "")
        number, offset = divmod(place, _WINDOW)
        return _LONG.pack(size, bytes(value[:4]), self._first + number, offset)

    def make_view_of_part(self, value: bytes | memoryview) -> bytes:
        """Create the view of a value that is part of the memory."""
        if not isinstance(value, memoryview) or len(value) <= _LONGEST_INLINE:
            return self.make_view(value, 0)
        interface = load_interface()
        if self._address is None:
            self._address = interface.find_address(self.data)
        return self.make_view(value, interface.find_address(value) - self._address)


def find_places(
    data: memoryview, header: BatchHeader, count: int
) -> list[tuple[int, int]]:
    """Return the key and value positions of each record of an entry, or 0 for null.

    ``data`` is the input, or the decompressed entry. The same records must have been
    read from it before.
    """
    start, end = header.position, header.position + header.size
    if header.attributes & CODEC_MASK:
        start, end = 0, len(data)
    elif header.magic == 2:
        start += BATCH_OVERHEAD
    cursor = Cursor(data, start, end)
    find = _find_in_record if header.magic == 2 else _find_in_message
    try:
        return [find(cursor, header.magic) for _ in range(count)]
    except CursorFault:
        pass
    raise errors.decode_failure(errors.INPUT_CHANGED, 0, header.position, "")


def _find_in_record(cursor: Cursor, magic: int) -> tuple[int, int]:
    """Skip a magic 2 record. Returns the positions of its key and its value.

    The position of a null is 0.
    """
    size = zigzag(read_unsigned_varint(cursor))
    end = cursor.at + size
    read_uint8(cursor)
    read_unsigned_varlong(cursor)
    read_unsigned_varint(cursor)
    found = _find_sized(cursor), _find_sized(cursor)
    cursor.at = end
    return found


def _find_sized(cursor: Cursor) -> int:
    size = zigzag(read_unsigned_varint(cursor))
    if size < 0:
        return 0
    require(cursor, size)
    cursor.at += size
    return cursor.at - size


def _find_in_message(cursor: Cursor, magic: int) -> tuple[int, int]:
    """Skip a magic 0 or 1 message. Returns the positions of its key and its value.

    The position of a null is 0.
    """
    cursor.at += KEYS_AT[magic]
    key = read_classic(cursor, "key")
    value = read_classic(cursor, "value")
    return (0 if key is None else key[0]), (0 if value is None else value[0])


def make_view_array(
    name: str,
    views: list[bytes],
    validity: Memory | None,
    nulls: int,
    buffers: list[Memory | memoryview],
) -> Array:
    """Create an array of views.

    * ``nulls``: number of nulls.
    * ``buffers``: memory to which the views refer.

    Arrow requires an additional last buffer with the sizes of these buffers.
    """
    sizes = Memory(array("q", [len(each) for each in buffers]).tobytes())
    content = (validity, Memory(b"".join(views)), *buffers, sizes)
    return Array("vz", name, len(views), nulls, content)
