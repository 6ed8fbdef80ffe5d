# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes gzip with isal or zlib.

A payload consists of one or more members. A member's size is unknown until its content
has been read. Therefore the library decompresses in steps of at most 256 KiB, and every
step is compared with the limit. Bytes after a member that do not begin another member
are ignored, as in Kafka's Java client.
"""

from __future__ import annotations

from .blocks import KIB, Damaged, TooLarge, check_pieces, reserve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Buffer

MEMBER_HEAD = b"\x1f\x8b\x08"
MIN_MEMBER_BYTES = 18  # Size of an empty member.
MAX_GROWTH = 1032  # Maximum number of output bytes per input byte in deflate.
MAX_OUTPUT = 256 * KIB  # Maximum number of bytes that the library returns in one step.


def bound(size: int) -> int:
    """Compute the maximum size of ``size`` bytes after compression."""
    # The fastest levels may encode random bytes with nine bits each.
    return size + size // 8 + 64


def read(
    data: memoryview, magic: int, limit: int, allocate: Callable[[int], Buffer]
) -> memoryview:
    """Decompress all members.

    ``compression.Codec`` describes the parameters and the errors.
    """
    library = _load_library()
    end = len(data)
    declared = int.from_bytes(data[-4:], "little")
    memory = reserve(allocate, min(declared, limit, MAX_GROWTH * end))
    at = size = members = 0
    step = 64 * KIB
    while True:
        members += 1
        check_pieces(members, data)
        member = library.decompressobj(31)
        while not member.eof:
            fed = data[at : at + step]
            try:
                piece = member.decompress(fed, min(MAX_OUTPUT, limit - size + 1))
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
                larger = reserve(allocate, min(max(needed, 2 * len(memory)), limit))
                larger[:size] = memory[:size]
                memory = larger
            memory[size:needed] = piece
            size = needed
            # Deflate blocks, of ten bits or more, are only visible to the library.
            # Reject data with many empty blocks by the ratio of input to output.
            if at > 2 * size + 16 * KIB:
                raise Damaged(f"it holds only {size} bytes in the first {at}")
            step = min(2 * step, 64 * KIB)
        # Java's reader continues with another member if the bytes start like one.
        # Otherwise it ignores the remaining bytes without an error.
        if end - at < MIN_MEMBER_BYTES or data[at : at + 3] != MEMBER_HEAD:
            return memory[:size]
        # The library returns the input beyond the end of a member. Start with small
        # steps, because thousands of tiny members would otherwise be copied repeatedly.
        step = KIB


def write(data: memoryview, magic: int, level: int) -> bytes:
    """Compress into one member."""
    import zlib

    return zlib.compress(data, level, 31)


def _load_library() -> Any:
    """Import isal if it is installed, because it inflates twice as fast; else zlib."""
    try:
        from isal import isal_zlib
    except ImportError:
        import zlib

        return zlib
    return isal_zlib
