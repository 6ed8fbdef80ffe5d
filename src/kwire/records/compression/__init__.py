# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compresses and decompresses records with gzip, snappy, lz4 and zstd.

The framings are read and written block by block, so that every size is checked before
memory is allocated. ``blocks.py`` finds the blocks; the libraries, which
are imported on first use, decode them. This file has no batch and no record. A codec is
one row of ``CODECS``, which both engines use.

The size of the result is known before a payload is decompressed, or found in small
steps, none of which goes further than one block past the limit.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from contextlib import suppress

from ... import errors
from ...schema.batch_layout import KNOWN_CODECS, LEAST_MAGICS
from .blocks import (
    KIB,
    LZ4_BLOCK,
    LZ4_GROWTH,
    LZ4_HEAD,
    MIB,
    STORED,
    XERIAL_BLOCK,
    XERIAL_HEAD,
    Damaged,
    TooLarge,
    check_pieces,
    find_lz4_blocks,
    find_snappy_blocks,
    make_lz4_checksum,
    measure_zstd,
    read_lz4_header,
    read_snappy_size,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from typing_extensions import Buffer

    from ..._limits import Limits

__all__ = ["NAMES", "bound", "codec_of", "compress", "decompress"]


def codec_of(name: str) -> int:
    """Return the number of a codec; ``EncodeError`` for a name that is none."""
    try:
        return NAMES.index(name)
    except ValueError:
        raise errors.EncodeError(
            f"must be one of {', '.join(NAMES)} (got {errors.quote(name)})",
            "compression",
        ) from None


def decompress(
    codec: int,
    data: Buffer,
    magic: int,
    limits: Limits,
    position: int,
    allocate: Callable[[int], Buffer] = bytearray,
    remaining: int = sys.maxsize,
) -> memoryview:
    """Decompress the payload of one batch.

    ``data`` is the payload alone, any contiguous bytes; ``position`` the first byte
    of its batch, which every error names. ``allocate(size)`` gives writable memory
    of at least that many bytes, whatever they hold. ``remaining`` is the part of
    ``total_decompressed_bytes`` that earlier batches of the same call have left.

    Raises ``CorruptBatch`` for damaged data and for more blocks than any writer makes,
    ``LimitExceeded`` before the result passes ``decompressed_bytes``,
    ``decompressed_ratio`` or ``total_decompressed_bytes`` of ``limits``.
    """
    if codec == 0:
        return memoryview(data).cast("B")
    if not 0 < codec < len(CODECS) or not KNOWN_CODECS[magic] >> codec & 1:
        raise errors.decode_failure(errors.BAD_CODEC, codec, position, "")
    failure: errors.DecodeError
    with memoryview(data) as view, view.cast("B") as payload:
        limit = sys.maxsize
        if limits.decompressed_bytes is not None:
            limit = int(min(limit, limits.decompressed_bytes))
        if limits.decompressed_ratio is not None:
            limit = int(min(limit, limits.decompressed_ratio * len(payload)))
        total = limits.total_decompressed_bytes
        if total is not None:
            remaining = int(min(remaining, total))
        is_total = remaining < limit
        limit = min(limit, remaining)
        # Libraries look at their input more than once: what may change is copied.
        own = payload if type(view.obj) is bytes else memoryview(bytes(payload))
        try:
            result: memoryview = CODECS[codec].read(own, magic, limit, allocate)
            return result
        except Damaged as fault:
            words = f"the {NAMES[codec]} data is damaged: {fault}"
            failure = errors.CorruptBatch(words, position)
        except TooLarge:
            words = (
                f"the {NAMES[codec]} data grows past {limit} bytes; pass limits="
                "kwire.Limits(decompressed_bytes=..., decompressed_ratio=...) for more"
            )
            failure = errors.LimitExceeded(words, position)
            if is_total:
                failure = errors.decode_failure(
                    errors.CALL_TOO_LARGE, int(total or 0), position, ""
                )
        except (MemoryError, OverflowError):
            words = f"the {NAMES[codec]} data grows to more than there is memory for"
            failure = errors.LimitExceeded(words, position)
    # Outside, so that a kept exception does not keep the caller's buffer.
    raise failure


def compress(codec: int, data: Buffer, magic: int, level: int | None = None) -> bytes:
    """Compress the records of one batch, framed as Kafka's own clients do.

    ``level`` is the library's: 0 to 9 for gzip (6 if None), 1 to 12 for lz4 (1),
    -131072 to 22 for zstd (3); ``EncodeError`` for another, and for any with snappy,
    which has none. The same bytes give the same result.
    """
    payload = memoryview(data).cast("B")
    check_magic(codec, magic)
    row = CODECS[codec]
    low, high = row.levels
    if level is None:
        level = row.usual_level
    elif not isinstance(level, int) or not low <= level <= high:
        allowed = f"must be an int from {low} to {high} for {row.name}"
        if low > high:
            allowed = f"cannot be given: {row.name} has no levels"
        raise errors.EncodeError(
            f"{allowed} (got {errors.quote(level)})", "compression_level"
        )
    result: bytes = row.write(payload, magic, level)
    return result


def check_magic(codec: int, magic: int) -> None:
    """Refuse a codec that was introduced after the format, with ``EncodeError``."""
    row = CODECS[codec]
    if magic < LEAST_MAGICS[row.number]:
        raise errors.EncodeError(
            f"{row.name} requires magic {LEAST_MAGICS[row.number]} (got magic={magic})",
            "compression",
        )


def bound(codec: int, size: int) -> int:
    """Compute the most bytes that ``compress`` can make of ``size`` bytes."""
    result: int = CODECS[codec].bound(size)
    return result


def find_room(codec: int, size: int) -> int:
    """Find the most bytes of which ``compress`` makes at most ``size`` bytes."""
    low, high = 0, max(size, 0)
    while low < high:
        middle = (low + high + 1) // 2
        if bound(codec, middle) <= size:
            low = middle
        else:
            high = middle - 1
    return low


def _memory(allocate: Callable[[int], Buffer], size: int) -> memoryview:
    return memoryview(allocate(size)).cast("B")


def _write_plain(data: memoryview, magic: int, level: int) -> bytes:
    return bytes(data)


# gzip ---------------------------------------------------------------------------------

GZIP_HEAD = b"\x1f\x8b\x08"
GZIP_LEAST = 18  # bytes of a member that holds nothing
GZIP_GROWTH = 1032  # deflate turns one byte into no more than these
GZIP_PIECE = 256 * KIB  # what is taken out of the library at a time


def _bound_gzip(size: int) -> int:
    # Random bytes grow by a bit in eight where the fastest levels write them.
    return size + size // 8 + 64


def _read_gzip(
    data: memoryview, magic: int, limit: int, allocate: Callable[[int], Buffer]
) -> memoryview:
    library = _load_inflate()
    end = len(data)
    declared = int.from_bytes(data[-4:], "little")
    memory = _memory(allocate, min(declared, limit, GZIP_GROWTH * end))
    at = size = members = 0
    step = 64 * KIB
    while True:
        members += 1
        check_pieces(members, data)
        member = library.decompressobj(31)
        while not member.eof:
            fed = data[at : at + step]
            try:
                piece = member.decompress(fed, min(GZIP_PIECE, limit - size + 1))
            except library.error as failure:
                raise Damaged(str(failure)) from None
            left = member.unused_data if member.eof else member.unconsumed_tail
            used = len(fed) - len(left)
            if not (used or piece or member.eof):
                raise Damaged("it ends too early")
            at += used
            needed = size + len(piece)
            if needed > limit:
                raise TooLarge
            if needed > len(memory):
                larger = _memory(allocate, min(max(needed, 2 * len(memory)), limit))
                larger[:size] = memory[:size]
                memory = larger
            memory[size:needed] = piece
            size = needed
            # Deflate has blocks too, of ten bits and more, which only the library sees.
            if at > 2 * size + 16 * KIB:
                raise Damaged(f"it holds only {size} bytes in the first {at}")
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


def _read_snappy(
    data: memoryview, magic: int, limit: int, allocate: Callable[[int], Buffer]
) -> memoryview:
    library = _load_cramjam()
    size = 0
    for start, stop in find_snappy_blocks(data):
        size += read_snappy_size(data[start:stop])
        if size > limit:
            raise TooLarge
    memory = _memory(allocate, size)
    decompress_into = library.snappy.decompress_raw_into
    at = 0
    try:
        for start, stop in find_snappy_blocks(data):
            at += decompress_into(data[start:stop], memory[at:size])
    except library.DecompressionError as failure:
        raise Damaged(str(failure)) from None
    return memory[:size]


def _bound_snappy(size: int) -> int:
    # A sixth and 32 bytes for each block, which snappy asks for, and the framing.
    return 16 + size + size // 6 + 36 * (size // XERIAL_BLOCK + 1)


def _write_snappy(data: memoryview, magic: int, level: int) -> bytes:
    compress_into = _load_cramjam().snappy.compress_raw_into
    # What snappy asks for: a sixth more than the input and 32 bytes.
    room = memoryview(bytearray(XERIAL_BLOCK + XERIAL_BLOCK // 6 + 32))
    pieces = [XERIAL_HEAD]
    for start in range(0, len(data), XERIAL_BLOCK):
        length = compress_into(data[start : start + XERIAL_BLOCK], room)
        pieces += length.to_bytes(4, "big"), bytes(room[:length])
    return b"".join(pieces)


# lz4 ----------------------------------------------------------------------------------


def _read_lz4(
    data: memoryview, magic: int, limit: int, allocate: Callable[[int], Buffer]
) -> memoryview:
    library = _load_cramjam()
    header = largest, _, _ = read_lz4_header(data, magic)
    room = 0
    for stored, _, length in find_lz4_blocks(data, *header):
        room += length if stored else min(largest, LZ4_GROWTH * length)
        if room >= limit + largest:
            room = limit + largest
            break
    memory = _memory(allocate, room)
    decompress_into = library.lz4.decompress_block_into
    size = 0
    try:
        for stored, start, length in find_lz4_blocks(data, *header):
            block = data[start : start + length]
            if stored:
                memory[size : size + length] = block
                size += length
            else:
                place = memory[size : size + largest]
                # Without a length it would try the first four bytes for one.
                size += decompress_into(block, place, len(place))
            if size > limit:
                raise TooLarge
    except library.DecompressionError as failure:
        raise Damaged(str(failure)) from None
    return memory[:size]


def _bound_lz4(size: int) -> int:
    return 15 + size + 4 * (size // LZ4_BLOCK + 1)


def _write_lz4(data: memoryview, magic: int, level: int) -> bytes:
    library = _load_cramjam()
    header = b"\x60\x40"  # version 1, independent blocks; of 64 KiB
    head = LZ4_HEAD + header
    head += make_lz4_checksum(header if magic else head)
    if level > 1:
        return b"".join([head, *_lz4_dense_blocks(library, data, level), bytes(4)])
    # What lz4 asks for: a 255th more than the input and 16 bytes.
    room = memoryview(bytearray(LZ4_BLOCK + LZ4_BLOCK // 255 + 16))
    pieces: list[Buffer] = [head]
    for start in range(0, len(data), LZ4_BLOCK):
        plain = data[start : start + LZ4_BLOCK]
        length = library.lz4.compress_block_into(plain, room, store_size=False)
        if length < len(plain):
            pieces += length.to_bytes(4, "little"), bytes(room[:length])
        else:
            pieces += (len(plain) | STORED).to_bytes(4, "little"), plain
    pieces.append(bytes(4))
    return b"".join(pieces)


def _lz4_dense_blocks(library: Any, data: memoryview, level: int) -> Iterator[Any]:
    """Compress at a level that cramjam knows in whole frames only, and take the blocks.

    Its frames have a checksum after every block, which Kafka's do not.
    """
    options = {"content_checksum": False, "block_linked": False}
    encoder = library.lz4.Compressor(level=level, **options)
    encoder.compress(bytes(data))
    frame = memoryview(bytes(encoder.finish()))
    for stored, start, length in find_lz4_blocks(frame, *read_lz4_header(frame, 2)):
        yield (length | stored).to_bytes(4, "little")
        yield frame[start : start + length]


# zstd ---------------------------------------------------------------------------------

_ZSTD_LEVEL = 3


def _read_zstd(
    data: memoryview, magic: int, limit: int, allocate: Callable[[int], Buffer]
) -> memoryview:
    # One byte more than needed: the libraries check the end of a frame only if there
    # is room left, and a result that takes it is over the limit.
    bound = measure_zstd(data, limit)
    room = min(bound, limit) + 1
    memory = _memory(allocate, room)[:room]
    library = _load_zstd()
    if library.__name__ == "cramjam":
        size = _unzstd_by_cramjam(library, data, memory)
    else:
        size = _unzstd(library, data, memory)
    if size > limit:
        raise TooLarge
    if bound > limit:  # the search had stopped, and zstandard accepts half a frame
        measure_zstd(data, sys.maxsize, size)
    return memory[:size]


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
        raise Damaged(str(failure)) from None
    if len(memory) <= MIB:
        _decompressors.append(context)
    return size


def _unzstd_by_cramjam(library: Any, data: memoryview, memory: memoryview) -> int:
    try:
        return int(library.zstd.decompress_into(data, memory))
    except library.DecompressionError as failure:
        if _fills_by_cramjam(library, data, memory):
            raise TooLarge from None
        raise Damaged(str(failure)) from None


def _fills_by_cramjam(library: Any, data: memoryview, memory: memoryview) -> bool:
    """Find out whether data that cannot be read went past the end of ``memory``.

    cramjam has one error for damage and for too little room, with a text that may
    change, but it fills the room before it fails. So the last byte is made different
    and the data read again: only if all of the room was filled is it as before.
    """
    last = memory[-1]
    memory[-1] = last ^ 0xFF
    with suppress(library.DecompressionError):
        library.zstd.decompress_into(data, memory)
    return memory[-1] == last


def _bound_zstd(size: int) -> int:
    return size + size // 256 + 128


def _write_zstd(data: memoryview, magic: int, level: int) -> bytes:
    library = _load_zstd()
    if library.__name__ == "cramjam":
        return bytes(library.zstd.compress(data, level))
    usual = level == _ZSTD_LEVEL and len(data) <= MIB
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
            "snappy, lz4 and zstd require cramjam: pip install kwire[compression]"
        ) from None
    return cramjam


def _load_zstd() -> Any:
    """Import zstandard, the faster one, or else cramjam."""
    try:
        import zstandard
    except ImportError:
        return _load_cramjam()
    return zstandard


# The table ----------------------------------------------------------------------------

Codec = namedtuple("Codec", "number name read write bound levels usual_level")
"""A codec: its number in the attributes of a batch, and all else that is its own.

``read(data, magic, limit, allocate)``, ``write(data, magic, level)`` and
``bound(size)`` are the work of ``decompress``, ``compress`` and ``bound``; ``levels``
are the lowest and the highest.
"""

CODECS = (
    Codec(0, "none", None, _write_plain, int, (0, -1), 0),
    Codec(1, "gzip", _read_gzip, _write_gzip, _bound_gzip, (0, 9), 6),
    Codec(2, "snappy", _read_snappy, _write_snappy, _bound_snappy, (0, -1), 0),
    Codec(3, "lz4", _read_lz4, _write_lz4, _bound_lz4, (1, 12), 1),
    Codec(
        4,
        "zstd",
        _read_zstd,
        _write_zstd,
        _bound_zstd,
        (-131072, 22),
        _ZSTD_LEVEL,
    ),
)
"""The codecs by their numbers; a new one is a row here."""

NAMES: tuple[str, ...] = tuple(codec.name for codec in CODECS)
"""The codecs by the number in the attributes of a batch."""
