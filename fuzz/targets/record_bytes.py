# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Prepares record sets for a target: sets checksums and compresses records.

Without this step, almost every changed batch would only fail because of its checksum.
So most inputs receive a correct checksum. Compressed batches are compressed here, so
that the fuzzer can change their uncompressed records.
"""

import zlib

from fuzz import engines

PACK = 8
"""Bit of an input's first byte: compress the records with the codec in bits 0 to 2."""


def repaired(data):
    """Return a record set in which each complete entry has its correct checksum."""
    crc32c = engines.module(
        engines.packages()[0], f"_engine.{engines.packages()[0].backend}.checksums"
    ).crc32c
    data = bytearray(data)
    at = 0
    while len(data) - at > 16:
        size = int.from_bytes(data[at + 8 : at + 12], "big", signed=True)
        end = at + 12 + size
        if size < 14 or end > len(data):
            break
        if data[at + 16] < 2:
            sum_ = zlib.crc32(data[at + 16 : end])
            data[at + 12 : at + 16] = sum_.to_bytes(4, "big")
        elif size >= 49:
            sum_ = crc32c(bytes(data[at + 21 : end]))
            data[at + 17 : at + 21] = sum_.to_bytes(4, "big")
        at = end
    return bytes(data)


def packed(data, codec):
    """Return a record set with compressed records.

    For magic 2, the records of the first batch are compressed. For magic 0 and 1, the
    whole set becomes the value of one compressed message.
    """
    kwire = engines.packages()[0]
    compress = engines.module(kwire, "records.compression").compress
    magic = data[16] if len(data) > 16 else 255
    if magic == 2 and len(data) >= 61:
        content = compress(codec, data[61:], 2)
        size = (49 + len(content)).to_bytes(4, "big")
        attributes = bytes((data[21], data[22] & ~7 | codec))
        return data[:8] + size + data[12:21] + attributes + data[23:61] + content
    if magic < 2 and codec < 4:
        content = compress(codec, repaired(data), magic)
        value = b"\xff" * 4 + len(content).to_bytes(4, "big") + content
        head = bytes((magic, codec)) + (bytes(8) if magic else b"")
        size = 4 + len(head) + len(value)
        offset = data[:8]
        return offset + size.to_bytes(4, "big") + bytes(4) + head + value
    return data


def set_of(data):
    """Return the record set of an input.

    The first byte of ``data`` contains the options.
    """
    mode, data = data[0], data[1:]
    if mode & PACK and 1 <= mode & 7 <= 4:
        data = packed(data, mode & 7)
    return data if mode & 0x80 else repaired(data)
