# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What the codecs share: the errors, the maximum number of blocks, memory, and cramjam.

A block takes some microseconds to decompress even if it is empty, so every codec counts
its blocks with ``check_pieces``. The format of the blocks belongs to the file of each
codec.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Buffer

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


def reserve(allocate: Callable[[int], Buffer], size: int) -> memoryview:
    """Allocate writable memory of at least ``size`` bytes."""
    return memoryview(allocate(size)).cast("B")


def load_cramjam() -> Any:
    """Import cramjam, which snappy and lz4 require, and zstd without zstandard."""
    try:
        import cramjam
    except ImportError:
        raise ImportError(
            "snappy, lz4 and zstd require cramjam: pip install kwire[compression]"
        ) from None
    return cramjam
