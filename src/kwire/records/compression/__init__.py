# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compresses and decompresses records with gzip, snappy, lz4 and zstd.

A codec is a file of this package and one row of ``CODECS``, which both engines use.
The libraries of the codecs are imported on first use. Batches and records do not belong
here.

All sizes are checked before memory is allocated: the size of the result is known before
a payload is decompressed, or the payload is decompressed in small steps, so that memory
exceeds the limit by at most one block.
"""

from __future__ import annotations

import sys
from collections import namedtuple

from ... import errors
from ...schema.batch_layout import KNOWN_CODECS, LEAST_MAGICS
from . import gzip, lz4, snappy, zstd
from .blocks import Damaged, TooLarge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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
        allowed = f"must be {low} to {high} for {row.name}"
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


def _write_plain(data: memoryview, magic: int, level: int) -> bytes:
    return bytes(data)


Codec = namedtuple("Codec", "number name read write bound levels usual_level")
"""A codec: its number in the attributes of a batch, and all else that is its own.

``read(data, magic, limit, allocate)``, ``write(data, magic, level)`` and
``bound(size)`` are the work of ``decompress``, ``compress`` and ``bound``; ``levels``
are the lowest and the highest.
"""

CODECS = (
    Codec(0, "none", None, _write_plain, int, (0, -1), 0),
    Codec(1, "gzip", gzip.read, gzip.write, gzip.bound, (0, 9), 6),
    Codec(2, "snappy", snappy.read, snappy.write, snappy.bound, (0, -1), 0),
    Codec(3, "lz4", lz4.read, lz4.write, lz4.bound, (1, 12), 1),
    Codec(
        4,
        "zstd",
        zstd.read,
        zstd.write,
        zstd.bound,
        (-131072, 22),
        zstd.USUAL_LEVEL,
    ),
)
"""The codecs by their numbers; a new one is a row here."""

NAMES: tuple[str, ...] = tuple(codec.name for codec in CODECS)
"""The codecs by the number in the attributes of a batch."""
