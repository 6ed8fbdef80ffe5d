# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compressed records: gzip, snappy, lz4 and zstd as Kafka frames them.

The framings are read and written here, block by block, so that every size is checked
before memory is asked for; what stands inside a block is the libraries' work. They
are loaded when a codec is first used. What the bytes mean is none of this file's
business: it knows no batch and no record.

How much a payload can grow to is known before it is decompressed, or found out in
small steps, and no step goes further than one block past the ceiling.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from io import BytesIO

from . import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .limits import Limits

__all__ = ["NAMES", "bound", "codec_of", "compress", "decompress"]

NAMES = ("none", "gzip", "snappy", "lz4", "zstd")
"""The codecs by the number that stands in the attributes of a batch."""

KIB, MIB = 1024, 1024 * 1024


class _Damaged(Exception):
    """Says what is wrong with the compressed bytes."""


class _TooLarge(Exception):
    """The bytes are, or say that they are, more than the ceiling allows."""


def codec_of(name: str) -> int:
    """Give the number of a codec; ``EncodeError`` for a name that is none."""
    try:
        return NAMES.index(name)
    except ValueError:
        raise errors.EncodeError(
            f"expected one of {', '.join(NAMES)}, got {name!r:.40}", "compression"
        ) from None


def decompress(
    codec: int,
    data: Any,
    magic: int,
    limits: Limits,
    position: int,
    allocate: Callable[[int], Any] = bytearray,
) -> memoryview:
    """Decompress the payload of one batch.

    ``data`` is the payload alone, any contiguous bytes; ``position`` the first byte
    of its batch, which every error names. ``allocate(size)`` gives writable memory
    of at least that many bytes, whatever they hold.

    Raises ``CorruptBatch`` for damaged data and ``LimitExceeded`` before the result
    passes ``decompressed_bytes`` or ``decompressed_ratio`` of ``limits``.
    """
    if codec == 0:
        return memoryview(data).cast("B")
    if not 0 < codec < len(NAMES) or (codec == 4 and magic < 2):
        raise errors.decode_failure(errors.BAD_CODEC, codec, position, "")
    failure: errors.DecodeError
    with memoryview(data) as view, view.cast("B") as payload:
        ceiling = sys.maxsize
        if limits.decompressed_bytes is not None:
            ceiling = int(min(ceiling, limits.decompressed_bytes))
        if limits.decompressed_ratio is not None:
            ceiling = int(min(ceiling, limits.decompressed_ratio * len(payload)))
        try:
            return _READERS[codec - 1](payload, magic, ceiling, allocate)
        except _Damaged as fault:
            words = f"the {NAMES[codec]} data is damaged: {fault}"
            failure = errors.CorruptBatch(words, position)
        except _TooLarge:
            failure = errors.LimitExceeded(
                f"the {NAMES[codec]} data grows past {ceiling} bytes; pass limits="
                "kwire.Limits(decompressed_bytes=..., decompressed_ratio=...) for more",
                position,
            )
        except (MemoryError, OverflowError):
            words = f"the {NAMES[codec]} data grows to more than there is memory for"
            failure = errors.LimitExceeded(words, position)
    # Outside, so that a kept exception does not keep the caller's buffer.
    raise failure


def compress(codec: int, data: Any, magic: int, level: int | None = None) -> bytes:
    """Compress the records of one batch, framed as Kafka's own clients do.

    ``level`` is the library's: 0 to 9 for gzip (6 if None), 1 to 12 for lz4 (1),
    -131072 to 22 for zstd (3); ``EncodeError`` for another, and for any with snappy,
    which has none. The same bytes give the same result.
    """
    payload = memoryview(data).cast("B")
    if codec == 4 and magic < 2:
        raise errors.EncodeError("expected magic 2 for zstd", "compression")
    low, high, usual = _LEVELS[codec]
    if level is None:
        level = usual
    elif not isinstance(level, int) or not low <= level <= high:
        expected = f"a level from {low} to {high}" if low < high else "no level"
        raise errors.EncodeError(
            f"expected {expected} for {NAMES[codec]}, got {level!r:.40}",
            "compression_level",
        )
    return _WRITERS[codec](payload, magic, level)


def _memory(allocate: Callable[[int], Any], size: int) -> memoryview:
    return memoryview(allocate(size)).cast("B")


# gzip ---------------------------------------------------------------------------------

GZIP_HEAD = b"\x1f\x8b\x08"
GZIP_LEAST = 18  # bytes of a member that holds nothing
GZIP_GROWTH = 1032  # deflate turns one byte into no more than these
GZIP_PIECE = 256 * KIB  # what is taken out of the library at a time


def bound(codec: int, size: int) -> int:
    """Tell the most bytes that ``compress`` can make of ``size`` bytes.

    Random bytes grow: by a bit in eight where gzip's fastest levels write them, by a
    sixth and 32 bytes a block as snappy allows itself, else by heads of blocks.
    """
    if codec == 1:
        return size + size // 8 + 64
    if codec == 2:
        blocks = size // (32 * KIB) + 1
        return 16 + size + size // 6 + 36 * blocks
    if codec == 3:
        return 15 + size + 4 * (size // (64 * KIB) + 1)
    return size + size // 256 + 128 if codec else size


def _read_gzip(
    data: memoryview, magic: int, ceiling: int, allocate: Callable[[int], Any]
) -> memoryview:
    library = _load_inflate()
    end = len(data)
    declared = int.from_bytes(data[-4:], "little")
    memory = _memory(allocate, min(declared, ceiling, GZIP_GROWTH * end))
    at = size = 0
    step = 64 * KIB
    while True:
        member = library.decompressobj(31)
        while not member.eof:
            fed = data[at : at + step]
            try:
                piece = member.decompress(fed, min(GZIP_PIECE, ceiling - size + 1))
            except library.error as failure:
                raise _Damaged(str(failure)) from None
            left = member.unused_data if member.eof else member.unconsumed_tail
            used = len(fed) - len(left)
            if not (used or piece or member.eof):
                raise _Damaged("it ends too early")
            at += used
            needed = size + len(piece)
            if needed > ceiling:
                raise _TooLarge
            if needed > len(memory):
                larger = _memory(allocate, min(max(needed, 2 * len(memory)), ceiling))
                larger[:size] = memory[:size]
                memory = larger
            memory[size:needed] = piece
            size = needed
            step = min(2 * step, 64 * KIB)
        # Java's reader takes what follows as a further member if it starts like one,
        # and otherwise stops there without a complaint.
        if end - at < GZIP_LEAST or data[at : at + 3] != GZIP_HEAD:
            return memory[:size]
        # The library hands back what it was given beyond the end of a member: small
        # steps at first, or thousands of tiny members would be copied again and again.
        step = KIB


def _write_gzip(data: memoryview, magic: int, level: int) -> bytes:
    import zlib

    return zlib.compress(data, level, 31)


# snappy -------------------------------------------------------------------------------

XERIAL_HEAD = b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01" * 2
XERIAL_BLOCK = 32 * KIB
SNAPPY_GROWTH = 64 / 3  # a copy turns three bytes into no more than 64


def _read_snappy(
    data: memoryview, magic: int, ceiling: int, allocate: Callable[[int], Any]
) -> memoryview:
    library = _load_cramjam()
    size = 0
    for start, stop in _snappy_blocks(data):
        size += _snappy_size(data[start:stop])
        if size > ceiling:
            raise _TooLarge
    memory = _memory(allocate, size)
    decompress_into = library.snappy.decompress_raw_into
    at = 0
    try:
        for start, stop in _snappy_blocks(data):
            at += decompress_into(data[start:stop], memory[at:size])
    except library.DecompressionError as failure:
        raise _Damaged(str(failure)) from None
    return memory[:size]


def _snappy_blocks(data: memoryview) -> Iterator[tuple[int, int]]:
    """Find the raw blocks; without a xerial header all is one block."""
    end = len(data)
    if data[:8] != XERIAL_HEAD[:8]:
        yield 0, end
        return
    if end < 16:
        raise _Damaged("it ends within its header")
    if int.from_bytes(data[12:16], "big") > 1:
        raise _Damaged("its header asks for a newer reader")
    at = 16
    while at < end:
        start = at + 4
        at = start + int.from_bytes(data[at:start], "big")
        if at > end:
            raise _Damaged("a block is longer than what is left")
        yield start, at


def _snappy_size(block: memoryview) -> int:
    """Read the size that a raw block declares, a varint at its start."""
    size = 0
    for index, byte in enumerate(block[:5]):
        size |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    else:
        raise _Damaged("a block does not say how long it is")
    if size > SNAPPY_GROWTH * len(block):
        raise _Damaged("a block says that it holds more than its bytes can")
    return size


def _write_snappy(data: memoryview, magic: int, level: int) -> bytes:
    compress_into = _load_cramjam().snappy.compress_raw_into
    size = len(data)
    # What snappy asks for: a sixth more than the input and 32 bytes, per block.
    room = XERIAL_BLOCK + XERIAL_BLOCK // 6 + 32
    result = BytesIO(bytes(16 + (size // XERIAL_BLOCK + 1) * (room + 4)))
    with result.getbuffer() as view:
        view[:16] = XERIAL_HEAD
        at = 16
        for start in range(0, size, XERIAL_BLOCK):
            block = at + 4
            length = compress_into(
                data[start : start + XERIAL_BLOCK], view[block : block + room]
            )
            view[at:block] = length.to_bytes(4, "big")
            at = block + length
    result.truncate(at)
    return result.getvalue()


# lz4 ----------------------------------------------------------------------------------

LZ4_HEAD = b"\x04\x22\x4d\x18"
LZ4_BLOCK = 64 * KIB
LZ4_GROWTH = 255  # a block turns one byte into no more than these
STORED = 1 << 31  # in the length of a block: it stands there uncompressed


def _read_lz4(
    data: memoryview, magic: int, ceiling: int, allocate: Callable[[int], Any]
) -> memoryview:
    library = _load_cramjam()
    header = largest, _, _ = _lz4_header(data, magic)
    room = 0
    for stored, _, length in _lz4_blocks(data, *header):
        room += length if stored else min(largest, LZ4_GROWTH * length)
        if room >= ceiling + largest:
            room = ceiling + largest
            break
    memory = _memory(allocate, room)
    decompress_into = library.lz4.decompress_block_into
    size = 0
    try:
        for stored, start, length in _lz4_blocks(data, *header):
            block = data[start : start + length]
            if stored:
                memory[size : size + length] = block
                size += length
            else:
                place = memory[size : size + largest]
                # Without a length it would try the first four bytes for one.
                size += decompress_into(block, place, len(place))
            if size > ceiling:
                raise _TooLarge
    except library.DecompressionError as failure:
        raise _Damaged(str(failure)) from None
    return memory[:size]


def _lz4_header(data: memoryview, magic: int) -> tuple[int, int, int]:
    """Read a header: the largest block, what stands behind each, the first's place."""
    if len(data) < 7 or data[:4] != LZ4_HEAD:
        raise _Damaged("it does not start with a frame")
    flags, sizes = data[4], data[5]
    if flags & 0xC2 != 0x40 or sizes & 0x8F or sizes < 0x40:
        raise _Damaged("its header uses reserved bits or another version")
    if flags & 0x01:
        raise _Damaged("it needs a dictionary")
    if not flags & 0x20:
        raise _Damaged("its blocks depend on each other, which Kafka does not allow")
    at = 14 if flags & 0x08 else 6
    # In magic 0 Kafka itself wrote the checksum of too many bytes, and others wrote
    # the right one.
    if magic and data[at : at + 1] != _lz4_checksum(bytes(data[4:at])):
        raise _Damaged("the checksum of its header does not fit")
    return 1 << 8 + (sizes >> 4) * 2, 4 if flags & 0x10 else 0, at + 1


def _lz4_blocks(
    data: memoryview, largest: int, behind: int, at: int
) -> Iterator[tuple[int, int, int]]:
    """Find the blocks: whether stored, place, length.

    Like Kafka's reader, this ends at the end mark, whatever follows it.
    """
    end = len(data)
    while True:
        start = at + 4
        if start > end:
            raise _Damaged("it ends without an end mark")
        length = int.from_bytes(data[at:start], "little")
        if not length:
            return
        stored = length & STORED
        length ^= stored
        at = start + length + behind
        if length > largest:
            raise _Damaged("a block is larger than the header allows")
        if at > end:
            raise _Damaged("a block is longer than what is left")
        yield stored, start, length


@lru_cache(maxsize=16)
def _lz4_checksum(header: bytes) -> bytes:
    """Give the second byte of the xxh32 of fewer than 16 bytes."""
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


def _write_lz4(data: memoryview, magic: int, level: int) -> bytes:
    library = _load_cramjam()
    header = b"\x60\x40"  # version 1, independent blocks; of 64 KiB
    head = LZ4_HEAD + header
    head += _lz4_checksum(header if magic else head)
    if level > 1:
        return b"".join([head, *_lz4_dense_blocks(library, data, level), bytes(4)])
    size = len(data)
    # What lz4 asks for: a 255th more than the input and 16 bytes.
    room = LZ4_BLOCK + LZ4_BLOCK // 255 + 16
    result = BytesIO(bytes(11 + (size // LZ4_BLOCK + 1) * (room + 4)))
    with result.getbuffer() as view:
        view[:7] = head
        at = 7
        for start in range(0, size, LZ4_BLOCK):
            plain = data[start : start + LZ4_BLOCK]
            block = at + 4
            length = library.lz4.compress_block_into(
                plain, view[block : block + room], store_size=False
            )
            mark = 0
            if length >= len(plain):
                length, mark = len(plain), STORED
                view[block : block + length] = plain
            view[at:block] = (length | mark).to_bytes(4, "little")
            at = block + length
        view[at : at + 4] = bytes(4)
    result.truncate(at + 4)
    return result.getvalue()


def _lz4_dense_blocks(library: Any, data: memoryview, level: int) -> Iterator[Any]:
    """Compress at a level that cramjam knows in whole frames only, and take the blocks.

    Its frames have a checksum behind every block, which Kafka's do not.
    """
    options = {"content_checksum": False, "block_linked": False}
    encoder = library.lz4.Compressor(level=level, **options)
    encoder.compress(bytes(data))
    frame = memoryview(bytes(encoder.finish()))
    for stored, start, length in _lz4_blocks(frame, *_lz4_header(frame, 2)):
        yield (length | stored).to_bytes(4, "little")
        yield frame[start : start + length]


# zstd ---------------------------------------------------------------------------------

ZSTD_HEAD = 0xFD2FB528
ZSTD_SKIPPABLE = 0x184D2A50  # and up to 0xF more: a frame without content
ZSTD_BLOCK = 128 * KIB
ZSTD_WINDOW = 8 * MIB  # every reader has to offer it, whatever its ceiling
REPEATED, COMPRESSED = 1, 2  # kinds of blocks


def _read_zstd(
    data: memoryview, magic: int, ceiling: int, allocate: Callable[[int], Any]
) -> memoryview:
    # One byte more than needed: the libraries check the end of a frame only if there
    # is room left, and a result that takes it is over the ceiling.
    bound = _zstd_room(data, ceiling)
    room = min(bound, ceiling) + 1
    memory = _memory(allocate, room)[:room]
    library = _load_zstd()
    if library.__name__ == "cramjam":
        size = _unzstd_by_cramjam(library, data, memory)
    else:
        size = _unzstd(library, data, memory)
    if size > ceiling:
        raise _TooLarge
    if bound > ceiling:  # the search had stopped, and zstandard accepts half a frame
        _zstd_room(data, sys.maxsize)
    return memory[:size]


def _zstd_room(data: memoryview, ceiling: int) -> int:
    """Give the bytes that all frames together hold at most, if under the ceiling.

    A frame may declare it. It cannot hold more than its blocks do, and those stand
    there with their lengths: this is what makes a false declaration harmless.
    """
    end = len(data)
    at = room = declared = 0
    while at < end:
        start = int.from_bytes(data[at : at + 4], "little")
        if start & ~0xF == ZSTD_SKIPPABLE and end - at >= 8:
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        if start != ZSTD_HEAD:
            raise _Damaged(f"no frame starts at byte {at} of it")
        head = bytes(data[at + 4 : at + 19])
        content, window, length = _zstd_head(head)
        if window > max(ceiling, ZSTD_WINDOW):
            raise _TooLarge
        at += 4 + length
        largest = min(window, ZSTD_BLOCK)
        held = last = 0
        while not last:
            block = int.from_bytes(data[at : at + 3], "little")
            if at + 3 > end:
                raise _Damaged("it ends too early")
            last, kind, size = block & 1, block >> 1 & 3, block >> 3
            at += 3 + (1 if kind == REPEATED else size)
            held += largest if kind == COMPRESSED else size
            if room + held > ceiling and content is None:
                return room + held
        at += 4 if head[0] & 0x04 else 0
        if content is not None:
            if content > held:
                raise _Damaged("a frame says that it holds more than its blocks can")
            held = content
            declared += content
            if declared > ceiling:
                raise _TooLarge
        room += held
    if at > end or not end:
        raise _Damaged("it ends too early")
    return room


def _zstd_head(head: bytes) -> tuple[int | None, int, int]:
    """Read a frame header: the size of the content if given, the window, its length.

    ``head`` starts behind the magic number and may be longer or shorter.
    """
    if len(head) < 2:
        raise _Damaged("it ends too early")
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


_decompressors: list[Any] = []
_compressors: list[Any] = []
"""Idle contexts of the usual level, as making one costs as much as 16 KiB of work.

Only those of small payloads that went well: a context keeps the memory it needed.
"""


def _unzstd(library: Any, data: memoryview, memory: memoryview) -> int:
    try:
        context = _decompressors.pop()
    except IndexError:
        context = library.ZstdDecompressor()
    try:
        reader = context.stream_reader(data, read_across_frames=True)
        size: int = reader.readinto(memory)
    except library.ZstdError as failure:
        raise _Damaged(str(failure)) from None
    if len(memory) <= MIB:
        _decompressors.append(context)
    return size


def _unzstd_by_cramjam(library: Any, data: memoryview, memory: memoryview) -> int:
    try:
        return int(library.zstd.decompress_into(data, memory))
    except library.DecompressionError as failure:
        if "write whole buffer" in str(failure):
            raise _TooLarge from None
        raise _Damaged(str(failure)) from None


def _write_zstd(data: memoryview, magic: int, level: int) -> bytes:
    library = _load_zstd()
    if library.__name__ == "cramjam":
        return bytes(library.zstd.compress(data, level))
    usual = level == _LEVELS[4][2] and len(data) <= MIB
    try:
        context = _compressors.pop() if usual else library.ZstdCompressor(level=level)
    except IndexError:
        context = library.ZstdCompressor(level=level)
    result: bytes = context.compress(data)
    if usual:
        _compressors.append(context)
    return result


# The libraries ------------------------------------------------------------------------


def _load_inflate() -> Any:
    """Import isal if it is there, which inflates twice as fast, or else zlib."""
    try:
        from isal import isal_zlib
    except ImportError:
        import zlib

        return zlib
    return isal_zlib


def _load_cramjam() -> Any:
    """Import cramjam, which snappy and lz4 need."""
    try:
        import cramjam
    except ImportError:
        raise ImportError(
            "snappy, lz4 and zstd need cramjam: pip install kwire[compression]"
        ) from None
    return cramjam


def _load_zstd() -> Any:
    """Import zstandard, the faster one, or else cramjam."""
    try:
        import zstandard
    except ImportError:
        return _load_cramjam()
    return zstandard


def _as_it_is(data: memoryview, magic: int, level: int) -> bytes:
    return bytes(data)


_READERS = (_read_gzip, _read_snappy, _read_lz4, _read_zstd)
_WRITERS = (_as_it_is, _write_gzip, _write_snappy, _write_lz4, _write_zstd)
_LEVELS = ((0, -1, 0), (0, 9, 6), (0, -1, 0), (1, 12, 1), (-131072, 22, 3))
"""The lowest, the highest and the usual level of each codec."""
