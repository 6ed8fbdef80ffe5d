# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes snappy with cramjam, in xerial framing or as one raw block.

Every block declares its decompressed size, so the sum is compared with the limit before
memory is allocated. A payload without xerial header is read as one raw block.
"""

from __future__ import annotations

from .blocks import KIB, Damaged, TooLarge, check_pieces, load_cramjam, reserve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Buffer

XERIAL_HEADER = b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01" * 2
XERIAL_BLOCK = 32 * KIB
# Maximum ratio: a copy element of three bytes produces up to 64 bytes.
MAX_GROWTH = 64 / 3


def _find_blocks(data: memoryview) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) byte positions of the raw blocks.

    Without a xerial header, the whole input is one block. Raises ``Damaged`` if the
    header or the length of a block is invalid.
    """
    end = len(data)
    if data[:8] != XERIAL_HEADER[:8]:
        yield 0, end
        return
    if end < 16:
        raise Damaged("it ends within its header")
    if int.from_bytes(data[12:16], "big") > 1:
        raise Damaged("its header requires a newer reader")
    at = 16
    count = 0
    while at < end:
        count += 1
        check_pieces(count, data)
        start = at + 4
        at = start + int.from_bytes(data[at:start], "big")
        if at > end:
            raise Damaged("a block is longer than what is left")
        yield start, at


def _read_size(block: memoryview) -> int:
    """Read the decompressed size that a raw block declares, a varint at its start."""
    size = 0
    for index, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    else:
        raise Damaged("a block has no length")
    if size > MAX_GROWTH * len(block):
        raise Damaged("a block claims more content than its bytes can hold")
    return size


def read(
    data: memoryview, magic: int, limit: int, allocate: Callable[[int], Buffer]
) -> memoryview:
    """Decompress all blocks.

    ``compression.Codec`` describes the parameters and the errors.
    """
    library = load_cramjam()
    size = 0
    for start, stop in _find_blocks(data):
        size += _read_size(data[start:stop])
        if size > limit:
            raise TooLarge
    memory = reserve(allocate, size)
    decompress_into = library.snappy.decompress_raw_into
    at = 0
    try:
        for start, stop in _find_blocks(data):
            at += decompress_into(data[start:stop], memory[at:size])
    except library.DecompressionError as failure:
        raise Damaged(str(failure)) from None
    return memory[:size]


def bound(size: int) -> int:
    """Compute the maximum size of ``size`` bytes after compression."""
    # For every block, snappy requires one sixth more than the input, and 32 bytes. The
    # framing adds 16 bytes, and 4 bytes for every block.
    return 16 + size + size // 6 + 36 * (size // XERIAL_BLOCK + 1)


def write(data: memoryview, magic: int, level: int) -> bytes:
    """Compress into blocks of 32 KiB in xerial's framing."""
    compress_into = load_cramjam().snappy.compress_raw_into
    # Output size that snappy requires: the input, a sixth more, and 32 bytes.
    room = memoryview(bytearray(XERIAL_BLOCK + XERIAL_BLOCK // 6 + 32))
    pieces = [XERIAL_HEADER]
    for start in range(0, len(data), XERIAL_BLOCK):
        length = compress_into(data[start : start + XERIAL_BLOCK], room)
        pieces += length.to_bytes(4, "big"), bytes(room[:length])
    return b"".join(pieces)
