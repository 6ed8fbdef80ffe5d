# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Provides every codec in a package, and test inputs.

A route is a codec with one library: gzip uses isal or zlib, zstd uses zstandard or
cramjam.
"""

import functools
import importlib
import random

import cramjam
import pytest

MIB = 1024 * 1024
POSITION = 4711

ROUTES = {
    "gzip": ("gzip", None),
    "gzip by zlib": ("gzip", "isal"),
    "snappy": ("snappy", None),
    "lz4": ("lz4", None),
    "zstd": ("zstd", None),
    "zstd by cramjam": ("zstd", "zstandard"),
}
"""(codec, library) by route. The library is made unavailable, or None."""


@functools.cache
def text(size):
    """Return ``size`` reproducible bytes, which compress about as well as records."""
    dice = random.Random(size)
    words = [dice.randbytes(3).hex().encode() for _ in range(100)]
    return b" ".join(dice.choices(words, k=size // 7 + 1))[:size]


SIZES = (0, 1, 100, 32768, 65536, 65537, 300_000)
PAYLOADS = [text(size) for size in SIZES] + [
    random.Random(1).randbytes(200_000),
    text(65536) + random.Random(2).randbytes(65536) + text(10),
    bytes(3 * MIB),
]


class Codec:
    """Codec of the tested package, with default values for most arguments."""

    def __init__(self, kwire, name):
        self.kwire = kwire
        self.module = importlib.import_module(f"{kwire.__name__}.records.compression")
        self.number = self.module.codec_of(name)

    def read(self, data, magic=2, allocate=bytearray, **ceilings):
        limits = self.kwire.Limits(**ceilings)
        return self.module.decompress(
            self.number, data, magic, limits, POSITION, allocate
        )

    def write(self, data, magic=2, level=None):
        return self.module.compress(self.number, data, magic, level)

    def refusal(self, data, **ceilings):
        """Assert that decoding raises CorruptBatch or LimitExceeded.

        Return the error.
        """
        kinds = (self.kwire.CorruptBatch, self.kwire.LimitExceeded)
        with pytest.raises(kinds) as caught:
            self.read(data, **ceilings)
        assert caught.value.offset == POSITION
        return caught.value

    def reason(self, data, **ceilings):
        """Assert that decoding raises CorruptBatch. Return the reason in the error."""
        error = self.refusal(data, **ceilings)
        assert type(error) is self.kwire.CorruptBatch, error
        assert error.reason.isprintable() and len(error.reason) < 160
        return error.reason


def xxh32(data):
    """Compute the 32-bit xxHash (XXH32) of fewer than 16 bytes with the seed 0.

    Source: the xxHash specification. Longer inputs need another algorithm.
    """
    primes = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    value = (primes[4] + len(data)) % 2**32

    def rotated(number, by):
        return (number << by | number >> 32 - by) % 2**32

    while len(data) >= 4:
        value += int.from_bytes(data[:4], "little") * primes[2]
        value = rotated(value % 2**32, 17) * primes[3] % 2**32
        data = data[4:]
    for byte in data:
        value = rotated((value + byte * primes[4]) % 2**32, 11) * primes[0] % 2**32
    value = (value ^ value >> 15) * primes[1] % 2**32
    value = (value ^ value >> 13) * primes[2] % 2**32
    return (value ^ value >> 16).to_bytes(4, "big")


def lz4_frame(*blocks, flags=0x60, sizes=0x40, magic=b"\x04\x22\x4d\x18", extra=b""):
    """Build an lz4 frame.

    * ``blocks``: content of the blocks, without their sizes.
    * ``flags`` and ``sizes``: the two descriptor bytes FLG and BD.
    * ``magic``: magic bytes.
    * ``extra``: optional header fields.
    """
    head = bytes([flags, sizes]) + extra
    body = b"".join(len(block).to_bytes(4, "little") + block for block in blocks)
    return magic + head + xxh32(head)[2:3] + body + bytes(4)


XERIAL = bytes.fromhex("82534e4150505900 00000001 00000001")


def xerial(*blocks):
    """Return raw snappy blocks in the xerial format: a header, then size and block."""
    return XERIAL + b"".join(len(block).to_bytes(4, "big") + block for block in blocks)


def raw_snappy(plain):
    return bytes(cramjam.snappy.compress_raw(plain))
