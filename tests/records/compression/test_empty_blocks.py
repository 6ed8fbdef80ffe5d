# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Many empty blocks, frames and members need little time and memory.

Every empty block needs a library call, so a megabyte of blocks used to take up to 0.8
seconds. They are now counted, and a batch with more empty blocks than any writer
creates is rejected as damaged. Limits for the content in large blocks are tested in
``test_compression_damage.py``.
"""

import gzip
import struct
import sys
import zlib

import cramjam
import pytest
import zstandard

from tests.harness.processor_time import least_seconds
from tests.records.compression.codecs_under_test import (
    MIB,
    ROUTES,
    XERIAL,
    Codec,
    lz4_frame,
    raw_snappy,
    text,
)

pytestmark = pytest.mark.gate_on_pure

LZ4 = lz4_frame(b"")[:7]
ZSTD = struct.pack("<I", 0xFD2FB528)


def repeat_piece(head, piece, end=b""):
    """Return ``head``, repetitions of ``piece``, and ``end``, with about 1 MiB."""
    return head + piece * ((MIB - len(head) - len(end)) // len(piece)) + end


def deflate_blocks(bits):
    """Return a gzip member of 1 MiB that repeats a deflate block.

    ``bits`` is the block as a string of "0" and "1".
    """
    body = bits * ((MIB - 30) * 8 // len(bits)) + "1100000000"
    body += "0" * (-len(body) % 8)
    packed = int(body[::-1], 2).to_bytes(len(body) // 8, "little")
    return b"\x1f\x8b\x08" + bytes(7) + packed + bytes(8)


EMPTY = {
    "gzip members": ("gzip", repeat_piece(b"", gzip.compress(b"", mtime=0))),
    "gzip blocks": ("gzip", deflate_blocks("0100000000")),
    "xerial blocks": ("snappy", repeat_piece(XERIAL, b"\0\0\0\1\0")),
    "xerial blocks of a byte": (
        "snappy",
        repeat_piece(XERIAL, b"\0\0\0\3" + raw_snappy(b"x")),
    ),
    "lz4 blocks": ("lz4", repeat_piece(LZ4, b"\1\0\0\0\0", bytes(4))),
    "lz4 stored blocks": ("lz4", repeat_piece(LZ4, b"\0\0\0\x80", bytes(4))),
    "lz4 stored bytes": ("lz4", repeat_piece(LZ4, b"\1\0\0\x80x", bytes(4))),
    "zstd frames": (
        "zstd",
        repeat_piece(b"", zstandard.ZstdCompressor().compress(b"")),
    ),
    "zstd frames of a byte": ("zstd", repeat_piece(b"", ZSTD + b"\x20\1\x09\0\0x")),
    "zstd skippable frames": (
        "zstd",
        repeat_piece(b"", b"\x50\x2a\x4d\x18" + bytes(4)),
    ),
    "zstd blocks": ("zstd", repeat_piece(ZSTD + b"\0\x58", bytes(3), b"\1\0\0")),
    "zstd blocks of a byte": (
        "zstd",
        repeat_piece(ZSTD + b"\0\x58", b"\2\0\0x", b"\1\0\0"),
    ),
    "zstd blocks that may hold much": (
        "zstd",
        repeat_piece(ZSTD + b"\xa0" + struct.pack("<I", 1), b"\x14\0\0\0\0", b"\1\0\0"),
    ),
}
"""(codec, payload) by name. The payload has 1 MiB and little or no content."""

BY_ROUTE = [
    (content_name, route)
    for content_name in sorted(EMPTY)
    for route in sorted(ROUTES)
    if ROUTES[route][0] == EMPTY[content_name][0]
]


@pytest.mark.parametrize(("content_name", "route"), BY_ROUTE)
def test_a_megabyte_of_empty_blocks_is_refused_soon(
    kwire, monkeypatch, content_name, route, figure
):
    """A payload of 1 MiB with empty blocks is rejected as damaged.

    Rejecting it takes no longer than decoding regular data. zlib does not count the
    blocks within a gzip member, because they do not slow it down.
    """
    name, missing = ROUTES[route]
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    codec = Codec(kwire, name)
    data = EMPTY[content_name][1]
    assert MIB - 100 < len(data) <= MIB
    reason = codec.reason(data)
    assert "more than 16" in reason or "bytes in the first" in reason
    milliseconds = least_seconds(lambda: codec.reason(data), most=0.06) * 1000
    figure(
        "P8",
        "processor time for 1 MiB of empty compressed blocks",
        round(milliseconds, 1),
        most=60,
        unit=" ms",
    )


def test_a_few_empty_blocks_are_read(kwire):
    """Up to 16 empty blocks, frames or members are accepted.

    Writers may add an empty one at the end.
    """
    plain = text(100)
    raw, lz4 = raw_snappy(plain), Codec(kwire, "lz4").write(plain)
    zstd = zstandard.ZstdCompressor()
    few = {
        "gzip": gzip.compress(b"") * 15 + gzip.compress(plain),
        "snappy": XERIAL + b"\0\0\0\1\0" * 15 + len(raw).to_bytes(4, "big") + raw,
        "lz4": lz4[:7] + b"\0\0\0\x80" * 14 + lz4[7:],
        "zstd": zstd.compress(b"") * 7 + zstd.compress(plain),
    }
    for name, data in few.items():
        assert Codec(kwire, name).read(data) == plain, name


@pytest.mark.parametrize("name", ["gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("size", [0, 1, 10, 1000, 100_000, 5 * MIB])
def test_blocks_of_real_writers_are_decoded(kwire, name, size):
    """Test data with the best and the worst compression: zeros, text and noise."""
    codec = Codec(kwire, name)
    noise = zlib.compress(text(min(size, MIB)), 9)
    for plain in (bytes(size), text(size), noise):
        assert codec.read(codec.write(plain)) == plain


def test_flushed_blocks_of_zstd_are_read(kwire):
    """A writer that flushes after each record creates one block per record."""
    writer = zstandard.ZstdCompressor().compressobj()
    plain = [text(1000 + index) for index in range(300)]
    data = b"".join(
        writer.compress(chunk) + writer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        for chunk in plain
    )
    data += writer.flush()
    assert Codec(kwire, "zstd").read(data) == b"".join(plain)


def test_zeros_in_the_largest_blocks_are_read(kwire):
    """64 MiB of zeros are decoded, although zstd writes them as 512 tiny blocks."""
    codec = Codec(kwire, "zstd")
    plain = bytes(64 * MIB)
    for level in (1, 3, 19):
        assert codec.read(codec.write(plain, level=level)) == plain
    assert codec.read(cramjam.zstd.compress(plain)) == plain
