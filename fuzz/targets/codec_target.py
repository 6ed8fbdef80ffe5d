# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fuzzing target for a compression codec with a size limit.

The first byte of an input selects the record format, and the second byte selects the
limit. The other bytes are compressed data. If the highest bit of the second byte is
set, they are data to compress.
"""

from fuzz import engines

MODULES = ("records.compression",)
CEILINGS = (0, 1, 100, 1000, 65_536, 1_048_576)
RATIOS = (None, None, 1, 4)
RAW = 0x80
"""Bit of the second byte: the other bytes are data to compress."""


class Memory:
    """Allocator for a decompressor. ``largest`` is its largest allocation in bytes."""

    def __init__(self):
        """Create an allocator that has not allocated anything."""
        self.largest = 0

    def allocate(self, size):
        """Return a writable buffer of ``size`` bytes."""
        self.largest = max(self.largest, size)
        return bytearray(size)


def decompress(package, codec, data, magic, ceilings):
    """Decompress data with limits.

    ``ceilings`` are the maximum size in bytes, and the maximum ratio or None. Raises
    ``Finding`` if the result or the memory exceeds the limits.
    """
    compression = engines.module(package, "records.compression")
    size, ratio = ceilings
    limits = package.Limits(decompressed_bytes=size, decompressed_ratio=ratio)
    memory = Memory()
    found = compression.decompress(
        codec, data, magic, limits, 7, allocate=memory.allocate
    )
    highest = size if ratio is None else min(size, ratio * len(data))
    if len(found) > highest:
        raise engines.Finding(f"{len(found)} bytes came under a limit of {highest}")
    # A decompressor may exceed the limit by one block, which has at most 4 MiB, before
    # it detects this.
    if memory.largest > highest + 4 * 1024 * 1024:
        raise engines.Finding(f"{memory.largest} bytes for a limit of {highest}")
    return bytes(found)


def through(package, codec, data, magic):
    """Compress data and decompress the result.

    Returns the compressed data. Raises ``Finding`` if the decompressed data differs, or
    if the compressed data exceeds the bound.
    """
    compression = engines.module(package, "records.compression")
    packed = compression.compress(codec, data, magic)
    if len(packed) > compression.bound(codec, len(data)):
        raise engines.Finding(f"{len(data)} bytes grew to {len(packed)}")
    limits = package.Limits(decompressed_bytes=len(data))
    found = compression.decompress(codec, packed, magic, limits, 0)
    engines.equal("compressed and decompressed", bytes(found), data)
    return packed


def judge(codec, data):
    """Check one input of a codec on both engines."""
    if len(data) < 2:
        return
    magic = data[0] % 3
    if codec == 4:
        magic = 2
    choice, data = data[1], data[2:]
    if choice & RAW:
        said = engines.agree(through, codec, data, magic)
        engines.equal("what is compressed can be decompressed", said[0], "value")
        return
    ceilings = CEILINGS[choice % 6], RATIOS[choice // 6 % 4]
    engines.agree(decompress, codec, data, magic, ceilings)
