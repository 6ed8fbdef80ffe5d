# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes zstd frames with zstandard or cramjam.

Frame and block headers are read before decompression, because they limit the result
size. The library then decompresses all frames into memory of this size, or of one byte
more than the limit. Dictionaries are not supported.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from .blocks import KIB, MIB, Damaged, TooLarge, check_pieces, load_cramjam, reserve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Buffer

FRAME_MAGIC = 0xFD2FB528
# Magic number of skippable frames, which contain no records. The last four bits of the
# number may have any value.
SKIPPABLE_MAGIC = 0x184D2A50
BLOCK = 128 * KIB
# Every reader must support this window size, regardless of its own limit.
WINDOW = 8 * MIB
REPEATED, COMPRESSED = 1, 2  # Block types.
USUAL_LEVEL = 3


def _measure(data: memoryview, limit: int, result: int | None = None) -> int:
    """Return the maximum decompressed size of all frames in bytes.

    The block lengths in the data limit this size, so a frame that declares a false size
    is harmless.

    * ``limit``: maximum size in bytes. If a frame without a declared size exceeds it,
      the following blocks are not read, and the result is greater than ``limit``.
    * ``result``: actual size if the data has already been decompressed. It limits the
      number of blocks more exactly than the maximum size.

    Raises ``TooLarge`` if the declared sizes exceed the limit, or a window exceeds both
    the limit and ``WINDOW``. Raises ``Damaged`` if a frame is invalid or declares more
    than its blocks can contain.
    """
    end = len(data)
    at = room = declared = count = 0
    while at < end:
        count += 1
        check_pieces(count, data, room if result is None else result)
        start = int.from_bytes(data[at : at + 4], "little")
        if start & ~0xF == SKIPPABLE_MAGIC and end - at >= 8:
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        if start != FRAME_MAGIC:
            raise Damaged(f"no frame starts at byte {at} of it")
        head = bytes(data[at + 4 : at + 19])
        content, window, length = _read_header(head)
        if window > max(limit, WINDOW):
            raise TooLarge
        at += 4 + length
        largest = min(window, BLOCK)
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


def _read_header(head: bytes) -> tuple[int | None, int, int]:
    """Read a frame header: content size or None, window size, and header length.

    ``head`` starts after the magic number. It may be incomplete, or longer than the
    header.
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


def read(
    data: memoryview, magic: int, limit: int, allocate: Callable[[int], Buffer]
) -> memoryview:
    """Decompress all frames.

    ``compression.Codec`` describes the parameters and the errors.
    """
    # Allocate one additional byte: libraries only verify the end of a frame if there is
    # capacity left, and a result that uses this byte exceeds the limit.
    measured = _measure(data, limit)
    room = min(measured, limit) + 1
    memory = reserve(allocate, room)[:room]
    library = _load_library()
    if library.__name__ == "cramjam":
        size = _decompress_by_cramjam(library, data, memory)
    else:
        size = _decompress(library, data, memory)
    if size > limit:
        raise TooLarge
    # The first call of _measure has not read all blocks, and zstandard accepts an
    # incomplete frame. Check all frames.
    if measured > limit:
        _measure(data, sys.maxsize, size)
    return memory[:size]


_decompressors: list[Any] = []
_compressors: list[Any] = []
"""Idle contexts for the default level. Creating one takes as long as 16 KiB of work.

Only contexts that successfully processed small payloads are reused, because a context
does not release its memory.
"""


def _decompress(library: Any, data: memoryview, memory: memoryview) -> int:
    try:
        context = _decompressors.pop()
    except IndexError:
        context = library.ZstdDecompressor()
    try:
        reader = context.stream_reader(data, read_across_frames=True)
        size: int = reader.readinto(memory)
    except library.ZstdError as failure:
        raise Damaged(str(failure)) from None
    if len(memory) <= MIB:
        _decompressors.append(context)
    return size


def _decompress_by_cramjam(library: Any, data: memoryview, memory: memoryview) -> int:
    try:
        return int(library.zstd.decompress_into(data, memory))
    except library.DecompressionError as failure:
        if _fills_by_cramjam(library, data, memory):
            raise TooLarge from None
        raise Damaged(str(failure)) from None


def _fills_by_cramjam(library: Any, data: memoryview, memory: memoryview) -> bool:
    """Whether undecodable data was decompressed beyond the end of ``memory``.

    cramjam reports damage and insufficient capacity with the same error type, and its
    text may change. It fills the memory before it fails, however. Therefore this
    function changes the last byte and decompresses again: the byte only has its old
    value if all the memory was filled.
    """
    last = memory[-1]
    memory[-1] = last ^ 0xFF
    with suppress(library.DecompressionError):
        library.zstd.decompress_into(data, memory)
    return memory[-1] == last


def bound(size: int) -> int:
    """Compute the maximum size of ``size`` bytes after compression."""
    return size + size // 256 + 128


def write(data: memoryview, magic: int, level: int) -> bytes:
    """Compress into one frame."""
    library = _load_library()
    if library.__name__ == "cramjam":
        return bytes(library.zstd.compress(data, level))
    usual = level == USUAL_LEVEL and len(data) <= MIB
    try:
        context = _compressors.pop() if usual else library.ZstdCompressor(level=level)
    except IndexError:
        context = library.ZstdCompressor(level=level)
    result: bytes = context.compress(data)
    if usual:
        _compressors.append(context)
    return result


def _load_library() -> Any:
    """Import zstandard, which is faster, or otherwise cramjam."""
    try:
        import zstandard
    except ImportError:
        return load_cramjam()
    return zstandard
