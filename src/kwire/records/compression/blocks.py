# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the blocks of compressed records, to check their sizes beforehand.

Headers, lengths and marks are read here, nothing is decompressed and no library is
needed; that is ``__init__.py``'s part. What is not right raises ``Damaged``.

A block costs some microseconds however little it holds, so the blocks are counted:
see ``check_pieces``.
"""

from __future__ import annotations

from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

KIB, MIB = 1024, 1024 * 1024


class Damaged(Exception):
    """Says what is wrong with the compressed bytes."""


class TooLarge(Exception):
    """The bytes are over the limit, or claim to be."""


FREE_PIECES = 16
PIECE = 64  # bytes of input that allow one more


def check_pieces(count: int, data: memoryview, size: int = 0) -> None:
    """Refuse compressed bytes that consist of too many pieces.

    A piece is a block, a frame or a member. Each costs some microseconds, so 1 MB of
    empty ones costs 0.2 to 0.8 s, where honest data of that length costs some 10 ms.
    Writers fill blocks of 32 KiB and more, and zeros compress to 257 bytes at least
    with lz4, to 1.5 KiB with snappy. Only zstd makes four bytes of 128 KiB, so there
    each KiB of the ``size`` that the pieces hold allows one more.
    """
    most = FREE_PIECES + len(data) // PIECE + size // KIB
    if count > most:
        raise Damaged(f"it consists of more than {most} blocks (got {len(data)} bytes)")


# snappy -------------------------------------------------------------------------------

XERIAL_HEAD = b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01" * 2
XERIAL_BLOCK = 32 * KIB
SNAPPY_GROWTH = 64 / 3  # a copy turns three bytes into no more than 64


def find_snappy_blocks(data: memoryview) -> Iterator[tuple[int, int]]:
    """Find the raw blocks; without a xerial header all is one block."""
    end = len(data)
    if data[:8] != XERIAL_HEAD[:8]:
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


def read_snappy_size(block: memoryview) -> int:
    """Read the size that a raw block declares, a varint at its start."""
    size = 0
    for index, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    else:
        raise Damaged("a block has no length")
    if size > SNAPPY_GROWTH * len(block):
        raise Damaged("a block claims more content than its bytes can hold")
    return size


# lz4 ----------------------------------------------------------------------------------

LZ4_HEAD = b"\x04\x22\x4d\x18"
LZ4_BLOCK = 64 * KIB
LZ4_GROWTH = 255  # a block turns one byte into no more than these
STORED = 1 << 31  # in the length of a block: its content is not compressed


def read_lz4_header(data: memoryview, magic: int) -> tuple[int, int, int]:
    """Read a header: the largest block, the bytes after each, the first's place."""
    if len(data) < 7 or data[:4] != LZ4_HEAD:
        raise Damaged("it does not start with a frame")
    flags, sizes = data[4], data[5]
    if flags & 0xC2 != 0x40 or sizes & 0x8F or sizes < 0x40:
        raise Damaged("its header uses reserved bits or another version")
    if flags & 0x01:
        raise Damaged("it needs a dictionary")
    if not flags & 0x20:
        raise Damaged("its blocks depend on each other, which Kafka does not allow")
    at = 14 if flags & 0x08 else 6
    # In magic 0 Kafka itself wrote the checksum of too many bytes, and others wrote
    # the right one.
    if magic and data[at : at + 1] != make_lz4_checksum(bytes(data[4:at])):
        raise Damaged("the checksum of its header does not match")
    return 1 << 8 + (sizes >> 4) * 2, 4 if flags & 0x10 else 0, at + 1


def find_lz4_blocks(
    data: memoryview, largest: int, behind: int, at: int
) -> Iterator[tuple[int, int, int]]:
    """Find the blocks: whether stored, place, length.

    Like Kafka's reader, this ends at the end mark, whatever follows it.
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
def make_lz4_checksum(header: bytes) -> bytes:
    """Return the second byte of the xxh32 of fewer than 16 bytes."""
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


# zstd ---------------------------------------------------------------------------------

ZSTD_HEAD = 0xFD2FB528
ZSTD_SKIPPABLE = 0x184D2A50  # and up to 0xF more: a frame without content
ZSTD_BLOCK = 128 * KIB
ZSTD_WINDOW = 8 * MIB  # every reader has to offer it, whatever its limit
REPEATED, COMPRESSED = 1, 2  # kinds of blocks


def measure_zstd(data: memoryview, limit: int, result: int | None = None) -> int:
    """Return how many bytes all frames together hold at most, if under the limit.

    A frame may declare it. It cannot hold more than its blocks do, and the lengths of
    those are in the data: so a false declaration is harmless. ``result`` is what they
    really hold, once that is known.
    """
    end = len(data)
    at = room = declared = count = 0
    while at < end:
        count += 1
        check_pieces(count, data, room if result is None else result)
        start = int.from_bytes(data[at : at + 4], "little")
        if start & ~0xF == ZSTD_SKIPPABLE and end - at >= 8:
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        if start != ZSTD_HEAD:
            raise Damaged(f"no frame starts at byte {at} of it")
        head = bytes(data[at + 4 : at + 19])
        content, window, length = read_zstd_header(head)
        if window > max(limit, ZSTD_WINDOW):
            raise TooLarge
        at += 4 + length
        largest = min(window, ZSTD_BLOCK)
        held = last = 0
        while not last:
            block = int.from_bytes(data[at : at + 3], "little")
            if at + 3 > end:
                raise Damaged("it ends too early")
            last, kind, size = block & 1, block >> 1 & 3, block >> 3
            at += 3 + (1 if kind == REPEATED else size)
            held += largest if kind == COMPRESSED else size
            count += 1
            likely = held if content is None else min(held, content)
            check_pieces(count, data, room + likely if result is None else result)
            if room + held > limit and content is None:
                return room + held
        at += 4 if head[0] & 0x04 else 0
        if content is not None:
            if content > held:
                raise Damaged("a frame claims more content than its blocks can hold")
            held = content
            declared += content
            if declared > limit:
                raise TooLarge
        room += held
    if at > end or not end:
        raise Damaged("it ends too early")
    return room


def read_zstd_header(head: bytes) -> tuple[int | None, int, int]:
    """Read a frame header: the size of the content if given, the window, its length.

    ``head`` starts after the magic number and may be longer or shorter.
    """
    if len(head) < 2:
        raise Damaged("it ends too early")
    single = head[0] & 0x20
    at = (1 if single else 2) + (0, 1, 2, 4)[head[0] & 3]
    width = (1 if single else 0, 2, 4, 8)[head[0] >> 6]
    content = None
    if width:
        content = int.from_bytes(head[at : at + width], "little")
        content += 256 if width == 2 else 0
    if single:
        return content, content or 0, at + width
    window = 1 << 10 + (head[1] >> 3)
    return content, window + (window >> 3) * (head[1] & 7), at + width
