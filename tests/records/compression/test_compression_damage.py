# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged payloads are rejected, and decompression bombs stop at the limit.

``damage`` changes single bytes. ``BOMBS`` contains bombs with all sizes that can be
wrong. Their memory is measured in this process, and in a new interpreter.
"""

import gzip
import subprocess
import sys
import tracemalloc
import warnings
import zlib
from types import SimpleNamespace

import lz4.block
import lz4.frame
import pytest
import zstandard

with warnings.catch_warnings():
    # Newer Python versions emit warnings about the standard library.
    warnings.simplefilter("ignore")


from tests.harness.processor_time import least_seconds
from tests.records.compression.codecs_under_test import (
    MIB,
    POSITION,
    XERIAL,
    Codec,
    lz4_frame,
    raw_snappy,
    text,
    xerial,
)

pytestmark = pytest.mark.gate_on_pure


def test_truncated_payload_is_rejected(route):
    """A truncated payload is never decoded as a shorter one."""
    packed = route.write(text(300))
    for size in range(len(packed)):
        # The first bytes of a snappy payload are a complete xerial header, and
        # therefore a valid empty payload.
        if packed[:size] != XERIAL:
            assert len(route.reason(packed[:size])) > 20


def test_truncated_payload_of_two_frames_is_rejected(kwire, monkeypatch):
    """A payload of two zstd frames is rejected if the second frame is truncated."""
    for missing in ("", "zstandard"):
        if missing:
            monkeypatch.setitem(sys.modules, missing, None)
        zstd = Codec(kwire, "zstd")
        for sized in (False, True):
            writer = zstandard.ZstdCompressor(write_content_size=sized)
            first, second = writer.compress(text(200)), writer.compress(text(300))
            for size in range(len(first) + 1, len(first + second)):
                data = (first + second)[:size]
                assert "zstd" in zstd.reason(data)
                zstd.refusal(data, decompressed_bytes=250)


def damage(packed):
    """Yield copies of a payload in which one byte is changed.

    The first 20 bytes, which contain the header, are replaced by all other values. In
    the other bytes, every single bit is flipped.
    """
    for position in range(len(packed)):
        flips = range(1, 256) if position < 20 else (1 << bit for bit in range(8))
        for flip in flips:
            changed = bytearray(packed)
            changed[position] ^= flip
            yield changed


def test_changed_bytes_are_decoded_or_typed_errors(route):
    """The only outcomes are bytes, ``CorruptBatch`` and ``LimitExceeded``."""
    plain = text(300)
    packed = route.write(plain)
    read_count = refused = 0
    for data in damage(packed):
        try:
            content = route.read(data, decompressed_bytes=1000)
        except (route.kwire.CorruptBatch, route.kwire.LimitExceeded) as error:
            assert error.offset == POSITION
            refused += 1
        else:
            read_count += 1
            assert len(content) <= 1000
            assert route.number != 1 or content == plain
    assert refused > 1000
    assert read_count > 0
    # A damaged payload does not affect later calls.
    assert route.read(packed) == plain


# Limits -----------------------------------------------------------------------------


def zstd_bomb(frames=1, blocks=2048, head=b"\x00\x38"):
    """Return ``frames`` zstd frames that decompress to zeros.

    Every block has four bytes and decompresses to 128 KiB.
    """
    block = (128 * 1024 << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    body = block * (blocks - 1) + bytes([block[0] | 1]) + block[1:]
    return (b"\x28\xb5\x2f\xfd" + head + body) * frames


def gzip_bomb():
    """Return a gzip payload that decompresses to 256 MiB of zeros.

    It repeats one compressed block, so that creating it is fast.
    """
    zeros, checksum = bytes(MIB), 0
    writer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = writer.compress(zeros) + writer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(256):
        checksum = zlib.crc32(zeros, checksum)
    end = checksum.to_bytes(4, "little") + (256 * MIB).to_bytes(4, "little")
    return gzip.compress(b"")[:10] + block * 256 + b"\3\0" + end


LZ4_ZEROS = lz4.block.compress(bytes(65536), store_size=False)
LZ4_MANY_ZEROS = lz4.block.compress(bytes(4 * MIB), store_size=False)
HUGE = (2**62).to_bytes(8, "little")

GZIP_BOMB = gzip_bomb()

BOMBS = {
    "gzip": ("gzip", GZIP_BOMB),
    "gzip, many members": ("gzip", gzip.compress(bytes(MIB // 2)) * 500),
    "gzip, size too low": ("gzip", GZIP_BOMB[:-4] + bytes(4)),
    "gzip, size a lie": ("gzip", gzip.compress(b"abc")[:-4] + b"\xff" * 4),
    "snappy, many blocks": ("snappy", xerial(*[raw_snappy(bytes(65536))] * 4000)),
    "snappy, one block": ("snappy", raw_snappy(bytes(16 * MIB))),
    "snappy, size a lie": ("snappy", b"\xff\xff\xff\xff\x0f" + bytes(100)),
    "lz4": ("lz4", lz4_frame(*[LZ4_ZEROS] * 4096)),
    "lz4, large blocks": ("lz4", lz4_frame(*[LZ4_MANY_ZEROS] * 64, sizes=0x70)),
    "lz4, size a lie": (
        "lz4",
        lz4_frame(*[LZ4_ZEROS] * 4096, flags=0x68, extra=HUGE),
    ),
    "zstd": ("zstd", zstd_bomb()),
    "zstd, compressed": ("zstd", zstandard.compress(bytes(64 * MIB), 3)),
    "zstd, many frames": ("zstd", zstd_bomb(frames=50_000, blocks=1)),
    "zstd, many frames with sizes": (
        "zstd",
        zstd_bomb(frames=50_000, blocks=1, head=b"\xa0\0\0\2\0"),
    ),
    "zstd, size a lie": ("zstd", zstd_bomb(blocks=1, head=b"\xe0" + HUGE)),
    "zstd, window a lie": ("zstd", zstd_bomb(blocks=1, head=b"\x00\xff")),
    "zstd, size within the limit": (
        "zstd",
        zstd_bomb(blocks=2000, head=b"\x80\x38\x00\x00\x08\x00"),
    ),
}


@pytest.fixture(params=sorted(BOMBS))
def bomb(request):
    """Return (codec, payload). The payload decompresses to far more than the limit."""
    return BOMBS[request.param]


@pytest.fixture(params=[(), ("zstandard", "isal")], ids=["fastest", "others"])
def libraries(request, monkeypatch):
    """Run the test with all libraries, and with the required libraries only."""
    for library in request.param:
        monkeypatch.setitem(sys.modules, library, None)


def test_bombs_stop_at_the_ceiling(kwire, libraries, bomb, figure):
    """Decompressing a bomb stops at the limit.

    Memory grows by at most the limit and two blocks. The call takes less than 50 ms.
    """
    name, data = bomb
    codec = Codec(kwire, name)
    sizes = []

    def allocate(size):
        sizes.append(size)
        return bytearray(size)

    def refused():
        with pytest.raises((kwire.LimitExceeded, kwire.CorruptBatch)) as caught:
            codec.read(data, decompressed_bytes=MIB, allocate=allocate)
        assert caught.value.offset == POSITION

    refused()
    largest = 4 * MIB if b"\x60\x70" in data[:7] else 128 * 1024
    blocks = max(0, max(sizes, default=0) - MIB) / largest
    figure("P9", "blocks past a limit of 1 MiB", blocks, most=1)
    tracemalloc.start()
    refused()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * MIB + 2 * largest
    assert least_seconds(refused, most=0.05) < 0.05


def test_declared_sizes_do_not_decide_the_first_allocation(kwire, libraries, bomb):
    """Without a limit, the input decides the first allocation, not declared sizes.

    Otherwise a header of a few bytes could allocate gigabytes.
    """
    name, data = bomb
    codec = Codec(kwire, name)
    data = data[:199]
    sizes = [0]

    def allocate(size):
        sizes.append(size)
        return bytearray(size)

    with pytest.raises((kwire.LimitExceeded, kwire.CorruptBatch)):
        codec.read(data, decompressed_bytes=None, allocate=allocate)
    assert max(sizes) <= 64 * MIB


RESIDENT = """
import resource, sys
sys.path[:0] = {path!r}
import cramjam, isal.isal_zlib, kwire, zlib, zstandard
from kwire.records import compression
with open({file!r}, "rb") as file:
    data = file.read()
for missing in {missing!r}:
    sys.modules[missing] = None
codec = compression.codec_of({name!r})
small = compression.compress(codec, bytes(1000), 2)
compression.decompress(codec, small, 2, kwire.Limits(), 0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    compression.decompress(codec, data, 2, kwire.Limits(decompressed_bytes=2**20), 0)
except kwire.DecodeError:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
ALONE = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
"""Program that runs a script in a new process.

It is needed because ``ru_maxrss`` of a new process starts with the maximum of its
parent, and this program is small.
"""


@pytest.mark.parametrize("missing", [(), ("zstandard", "isal")], ids=str)
@pytest.mark.parametrize(
    "kind", ["gzip", "snappy, many blocks", "lz4", "lz4, large blocks", "zstd"]
)
def test_bombs_leave_the_process_small(kind, missing, tmp_path, figure):
    """The peak memory of a process stays small if it decompresses a bomb.

    This includes memory that the compression libraries allocate.
    """
    name, data = BOMBS[kind]
    (tmp_path / "bomb").write_bytes(data)
    code = RESIDENT.format(
        path=sys.path, file=str(tmp_path / "bomb"), name=name, missing=missing
    )
    done = subprocess.run(
        [sys.executable, "-c", ALONE, code], capture_output=True, text=True, check=True
    )
    title = "growth of the process by a bomb at 1 MiB"
    figure("P9", title, int(done.stdout), most=8 * 1024, unit=" KiB")


def test_decompressed_bytes_limit_is_exact(route):
    """A payload is accepted if its decompressed size equals ``decompressed_bytes``.

    If it has one byte more, the error names this option.
    """
    for plain in (text(5000), text(200_000), bytes(MIB)):
        packed = route.write(plain)
        assert route.read(packed, decompressed_bytes=len(plain)) == plain
        error = route.refusal(packed, decompressed_bytes=len(plain) - 1)
        assert type(error) is route.kwire.LimitExceeded
        assert f"{len(plain) - 1} bytes" in error.reason
        assert "limits=kwire.Limits(decompressed_bytes=" in error.reason


def test_decompression_ratio_limit_applies(route):
    """The limit is a multiple of the compressed size.

    If both limits are set, the lower one applies.
    """
    plain = bytes(100_000)
    packed = route.write(plain)
    ratio = len(plain) / len(packed)
    off = {"decompressed_bytes": None}
    assert route.read(packed, decompressed_ratio=ratio + 0.1, **off) == plain
    assert route.read(packed, decompressed_ratio=float("inf")) == plain
    for ceilings in (
        {"decompressed_ratio": ratio - 0.1, **off},
        {"decompressed_ratio": ratio - 0.1},
        {"decompressed_ratio": ratio + 1, "decompressed_bytes": 99_999},
        {"decompressed_ratio": 0},
    ):
        error = route.refusal(packed, **ceilings)
        assert type(error) is route.kwire.LimitExceeded


@pytest.mark.parametrize("route", ["zstd", "zstd by cramjam"], indirect=True)
def test_zstd_windows_are_limited_above_8_mib(route):
    """Windows of zstd frames up to 8 MiB are accepted with any limit.

    Larger windows must not exceed ``decompressed_bytes``.
    """
    full_frame = zstd_bomb(blocks=1, head=bytes([0, 13 << 3]))
    assert route.read(full_frame, decompressed_bytes=MIB) == bytes(128 * 1024)
    large = zstd_bomb(blocks=1, head=bytes([0, 16 << 3]))
    assert route.read(large, decompressed_bytes=64 * MIB) == bytes(128 * 1024)
    error = route.refusal(large, decompressed_bytes=63 * MIB)
    assert type(error) is route.kwire.LimitExceeded


@pytest.mark.parametrize("route", ["zstd by cramjam"], indirect=True)
def test_cramjam_full_buffer_is_detected_without_its_message(route, monkeypatch):
    """If cramjam's output buffer is full, LimitExceeded is raised.

    Full buffers and damaged payloads raise the same class in cramjam. kwire compares
    the output instead of the message, which may change.
    """
    import cramjam

    def decompress_into(data, memory):
        try:
            return cramjam.zstd.decompress_into(data, memory)
        except cramjam.DecompressionError:
            raise cramjam.DecompressionError("in other words") from None

    class Reworded:
        __name__ = "cramjam"
        DecompressionError = cramjam.DecompressionError
        zstd = SimpleNamespace(decompress_into=decompress_into)

    monkeypatch.setattr(route.module.zstd, "_load_library", Reworded)
    # Do not write the content size, because a frame with a too large size is rejected
    # before cramjam decodes it.
    writer = zstandard.ZstdCompressor(write_content_size=False)
    for plain in (text(300_000), bytes(300_000)):
        packed = writer.compress(plain)
        assert route.read(packed, decompressed_bytes=len(plain)) == plain
        for most in (0, 1, 1000, 128 * 1024, len(plain) - 1):
            error = route.refusal(packed, decompressed_bytes=most)
            assert type(error) is route.kwire.LimitExceeded
    packed = writer.compress(text(300_000))
    damaged = packed[:12] + b"\xff" * 4 + packed[16:]
    for most in (1000, 200_000, MIB):
        assert "in other words" in route.reason(damaged, decompressed_bytes=most)


def test_codecs_raise_memory_error(route):
    """If no memory is available, LimitExceeded says so, even without a limit."""
    packed = route.write(text(100_000))

    def allocate(size):
        raise MemoryError

    with pytest.raises(route.kwire.LimitExceeded, match="more than there is memory"):
        route.read(packed, allocate=allocate, decompressed_bytes=None)
