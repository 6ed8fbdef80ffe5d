# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes lz4 frames with cramjam.

The frame header declares the maximum block size. Blocks are decompressed one after
another, so that the result exceeds the limit by at most one block. Frames with
dependent blocks or with a dictionary are rejected. The header checksum is verified from
magic 1 on. Checksums of blocks and content are not verified.
"""

from __future__ import annotations

from functools import lru_cache

from .blocks import KIB, Damaged, TooLarge, check_pieces, load_cramjam, reserve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from typing_extensions import Buffer

FRAME_MAGIC = b"\x04\x22\x4d\x18"
BLOCK = 64 * KIB
MAX_GROWTH = 255  # Maximum number of output bytes per input byte in a block.
STORED = 1 << 31  # Flag in the block length: the content is not compressed.


def _read_header(data: memoryview, magic: int) -> tuple[int, int, int]:
    """Read a frame header.

    Returns the maximum block size in bytes, the number of checksum bytes after every
    block, and the position of the first block. Raises ``Damaged`` if the header is
    invalid, or if Kafka does not allow such a frame.
    """
    if len(data) < 7 or data[:4] != FRAME_MAGIC:
        raise Damaged("it does not start with a frame")
    flags, sizes = data[4], data[5]
    if flags & 0xC2 != 0x40 or sizes & 0x8F or sizes < 0x40:
        raise Damaged("its header uses reserved bits or another version")
    if flags & 0x01:
        raise Damaged("it needs a dictionary")
    if not flags & 0x20:
        raise Damaged("its blocks depend on each other, which Kafka does not allow")
    at = 14 if flags & 0x08 else 6
    # In magic 0, Kafka itself computed the checksum over too many bytes, and other
    # writers computed the correct checksum. Accept both.
    if magic and data[at : at + 1] != _make_checksum(bytes(data[4:at])):
        raise Damaged("the checksum of its header does not match")
    return 1 << 8 + (sizes >> 4) * 2, 4 if flags & 0x10 else 0, at + 1


def _find_blocks(
    data: memoryview, largest: int, behind: int, at: int
) -> Iterator[tuple[int, int, int]]:
    """Iterate over the blocks as (stored flag, start, length).

    Like Kafka's reader, this ends at the end mark and ignores all following bytes.
    """
    end = len(data)
    count = 0
    while True:
        count += 1
        check_pieces(count, data)
        start = at + 4
        if start > end:
            raise Damaged("it ends without an end mark")
        length = int.from_bytes(data[at:start], "little")
        if not length:
            return
        stored = length & STORED
        length ^= stored
        at = start + length + behind
        if length > largest:
            raise Damaged("a block is larger than the header allows")
        if at > end:
            raise Damaged("a block is longer than what is left")
        yield stored, start, length


@lru_cache(maxsize=16)
def _make_checksum(header: bytes) -> bytes:
    """Return the checksum of a frame header, which is one byte.

    The checksum is the second lowest byte of the xxHash of the header (XXH32, seed 0).
    ``header`` must have fewer than 16 bytes. Longer input requires another loop.
    Source: LZ4 frame format, "Header Checksum"; xxHash specification, "XXH32".
    """
    mask = 0xFFFFFFFF
    whole = len(header) & ~3
    value = 0x165667B1 + len(header)
    for at in range(0, whole, 4):
        word = int.from_bytes(header[at : at + 4], "little")
        value = value + word * 0xC2B2AE3D & mask
        value = (value << 17 | value >> 15) * 0x27D4EB2F & mask
    for byte in header[whole:]:
        value = value + byte * 0x165667B1 & mask
        value = (value << 11 | value >> 21) * 0x9E3779B1 & mask
    value = (value ^ value >> 15) * 0x85EBCA77 & mask
    value = (value ^ value >> 13) * 0xC2B2AE3D & mask
    return bytes([(value ^ value >> 16) >> 8 & 0xFF])


def read(
    data: memoryview, magic: int, limit: int, allocate: Callable[[int], Buffer]
) -> memoryview:
    """Decompress the blocks of the first frame.

    ``compression.Codec`` describes the parameters and the errors.
    """
    library = load_cramjam()
    header = largest, _, _ = _read_header(data, magic)
    room = 0
    for stored, _, length in _find_blocks(data, *header):
        room += length if stored else min(largest, MAX_GROWTH * length)
        if room >= limit + largest:
            room = limit + largest
            break
    memory = reserve(allocate, room)
    decompress_into = library.lz4.decompress_block_into
    size = 0
    try:
        for stored, start, length in _find_blocks(data, *header):
            block = data[start : start + length]
            if stored:
                memory[size : size + length] = block
                size += length
            else:
                place = memory[size : size + largest]
                # Without an output length, cramjam would read the length from the first
                # four bytes.
                size += decompress_into(block, place, len(place))
            if size > limit:
                raise TooLarge
    except library.DecompressionError as failure:
        raise Damaged(str(failure)) from None
    return memory[:size]


def bound(size: int) -> int:
    """Compute the maximum size of ``size`` bytes after compression."""
    return 15 + size + 4 * (size // BLOCK + 1)


def write(data: memoryview, magic: int, level: int) -> bytes:
    """Compress into one frame of independent blocks of 64 KiB."""
    library = load_cramjam()
    header = b"\x60\x40"  # Version 1, independent blocks of 64 KiB.
    head = FRAME_MAGIC + header
    head += _make_checksum(header if magic else head)
    if level > 1:
        return b"".join([head, *_compress_densely(library, data, level), bytes(4)])
    # Output size that lz4 requires: the input, one 255th more, and 16 bytes.
    room = memoryview(bytearray(BLOCK + BLOCK // 255 + 16))
    pieces: list[Buffer] = [head]
    for start in range(0, len(data), BLOCK):
        plain = data[start : start + BLOCK]
        length = library.lz4.compress_block_into(plain, room, store_size=False)
        if length < len(plain):
            pieces += length.to_bytes(4, "little"), bytes(room[:length])
        else:
            pieces += (len(plain) | STORED).to_bytes(4, "little"), plain
    pieces.append(bytes(4))
    return b"".join(pieces)


def _compress_densely(library: Any, data: memoryview, level: int) -> Iterator[Any]:
    """Compress at a level for which cramjam only supports complete frames.

    Returns the blocks of this frame without the checksum after every block, which
    Kafka's frames do not have.
    """
    options = {"content_checksum": False, "block_linked": False}
    encoder = library.lz4.Compressor(level=level, **options)
    encoder.compress(bytes(data))
    frame = memoryview(bytes(encoder.finish()))
    for stored, start, length in _find_blocks(frame, *_read_header(frame, 2)):
        yield (length | stored).to_bytes(4, "little")
        yield frame[start : start + length]
