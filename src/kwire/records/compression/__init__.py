# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compresses and decompresses records with gzip, snappy, lz4 and zstd.

Every codec is a module in this package and a row in ``CODECS``, which both engines use.
Codec libraries are imported on first use. Batches and records do not belong here.

Sizes are always checked before memory is allocated: either the result size is known
before decompression, or the payload is decompressed in small steps, so that memory
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
    """Return the number of a codec. Raises ``EncodeError`` for an unknown name."""
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

    * ``data``: the payload without batch header, as contiguous bytes.
    * ``position``: first byte of the batch, for error messages.
    * ``allocate(size)``: returns writable memory with at least ``size`` bytes and any
      content.
    * ``remaining``: remainder of ``total_decompressed_bytes`` after earlier batches in
      the same call.

    Raises ``CorruptBatch`` for damaged data, and for more blocks than any known writer
    creates. Raises ``LimitExceeded`` before the result exceeds ``decompressed_bytes``,
    ``decompressed_ratio`` or ``total_decompressed_bytes`` in ``limits``. Raises
    ``ImportError`` if the codec's library is not installed.
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
        # Libraries read their input more than once. Copy input that the caller could
        # modify in the meantime.
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
    # Raise outside the ``with`` block, so that a stored exception does not keep the
    # caller's buffer alive.
    raise failure


def compress(codec: int, data: Buffer, magic: int, level: int | None = None) -> bytes:
    """Compress the records of one batch, framed as in Kafka's own clients.

    ``level`` is the library's level: 0 to 9 for gzip (default 6), 1 to 12 for lz4
    (default 1), -131072 to 22 for zstd (default 3). Equal input always produces equal
    output.

    Raises ``EncodeError`` for other levels, for any level with snappy, which has none,
    and for zstd with a magic below 2. Raises ``ImportError`` if the codec's library is
    not installed.
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
    """Raise ``EncodeError`` if the codec requires a higher magic."""
    row = CODECS[codec]
    if magic < LEAST_MAGICS[row.number]:
        raise errors.EncodeError(
            f"{row.name} requires magic {LEAST_MAGICS[row.number]} (got magic={magic})",
            "compression",
        )


def bound(codec: int, size: int) -> int:
    """Return the maximum size of ``size`` input bytes after compression."""
    result: int = CODECS[codec].bound(size)
    return result


def find_room(codec: int, size: int) -> int:
    """Return the maximum input size that compresses to at most ``size`` bytes."""
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
"""Codec number in the batch attributes, and everything specific to the codec.

``read(data, magic, limit, allocate)``, ``write(data, magic, level)`` and
``bound(size)`` implement ``decompress``, ``compress`` and ``bound``. ``read`` raises
``Damaged``, or ``TooLarge`` if the result exceeds ``limit`` bytes. ``levels`` contains
the minimum and maximum level.
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
"""Codecs by number. A new codec is an additional row."""

NAMES: tuple[str, ...] = tuple(codec.name for codec in CODECS)
"""Codec names by their number in the batch attributes."""
