# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns of views: bytes that stay where they are, in the input or in a payload.

A view is that of Arrow: an int32 length, then up to 12 bytes themselves; of more bytes
the first 4, an int32 number of a buffer and an int32 offset in it. An offset of more
than 30 bits counts on in the buffer after, which is the same memory from 1 GiB further
on. Without a twin: ``fast`` has this in ``column.pxd`` and ``column_tree.pyx``.
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
    """Memory that views point into: an input or a payload.

    ``buffers`` are those of the whole column so far, to which the memory's are added.
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
        """Make the view of a value that begins at byte ``place``.

        ``OverflowError`` for more bytes than a view may have.
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
        """Make the view of a value that is a part of the memory."""
        if not isinstance(value, memoryview) or len(value) <= _LONGEST_INLINE:
            return self.make_view(value, 0)
        interface = load_interface()
        if self._address is None:
            self._address = interface.find_address(self.data)
        return self.make_view(value, interface.find_address(value) - self._address)


def find_places(
    data: memoryview, header: BatchHeader, count: int
) -> list[tuple[int, int]]:
    """Find where key and value of each record of an entry begin; 0 for null.

    ``data`` is the input, or what decompression of the entry gave. The records have
    been read from the same bytes before.
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
    """Find key and value of a record of magic 2, and advance to the next one."""
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
    """Find key and value of a message of magic 0 or 1, and advance to the next one."""
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
    """Make an array of views into buffers; ``nulls`` of them are null.

    The last buffer is the one that Arrow wants: the sizes of those before.
    """
    sizes = Memory(array("q", [len(each) for each in buffers]).tobytes())
    content = (validity, Memory(b"".join(views)), *buffers, sizes)
    return Array("vz", name, len(views), nulls, content)
