# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Contains the errors, limits and imports that all codecs share.

Even an empty block takes some microseconds to decompress, so every codec limits the
number of blocks with ``check_pieces``. The block format is implemented in the module of
every codec.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Buffer

KIB, MIB = 1024, 1024 * 1024


class Damaged(Exception):
    """Describes the damage in the compressed bytes."""


class TooLarge(Exception):
    """The decompressed size, or the size that the data declares, exceeds the limit."""


FREE_PIECES = 16
PIECE = 64  # Bytes of input that allow one additional piece.


def check_pieces(count: int, data: memoryview, size: int = 0) -> None:
    """Raise ``Damaged`` if the compressed bytes consist of too many pieces.

    A piece is a block, a frame or a member, and takes some microseconds. Therefore 1 MB
    of empty pieces takes 0.2 to 0.8 s, but normal data of this length about 10 ms.
    Writers fill blocks of at least 32 KiB, and even zeros compress to at least 257
    bytes with lz4 and 1.5 KiB with snappy. Only zstd compresses 128 KiB to four bytes,
    so it passes the decompressed ``size``, and each KiB allows one additional piece.
    """
    most = FREE_PIECES + len(data) // PIECE + size // KIB
    if count > most:
        raise Damaged(f"it consists of more than {most} blocks (got {len(data)} bytes)")


def reserve(allocate: Callable[[int], Buffer], size: int) -> memoryview:
    """Allocate writable memory of at least ``size`` bytes."""
    return memoryview(allocate(size)).cast("B")


def load_cramjam() -> Any:
    """Import cramjam, which snappy and lz4 require, and zstd without zstandard.

    Raises ``ImportError`` with the command that installs it.
    """
    try:
        import cramjam
    except ImportError:
        raise ImportError(
            "snappy, lz4 and zstd require cramjam: pip install kwire[compression]"
        ) from None
    return cramjam
