# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""kwire and other libraries decode each other's compressed payloads.

The other libraries are ``zstandard``, ``lz4``, the standard gzip module, and the codec
functions of two other Kafka clients.
"""

import gzip
import importlib
import io
import itertools
import mmap
import random
import sys
import threading
import time
import warnings
import zlib
from types import SimpleNamespace

import aiokafka.codec
import lz4.block
import lz4.frame
import pytest
import zstandard

from tests.records.compression.codecs_under_test import (
    MIB,
    PAYLOADS,
    XERIAL,
    Codec,
    lz4_frame,
    raw_snappy,
    text,
    xerial,
    xxh32,
)

with warnings.catch_warnings():
    # Newer Python versions emit warnings about the standard library.
    warnings.simplefilter("ignore")
    import kafka.codec

pytestmark = pytest.mark.gate_on_pure


@pytest.mark.parametrize("number", range(len(PAYLOADS)))
def test_codec_round_trip(route, number):
    """Every payload is restored, from all buffer types and with all limits."""
    plain = PAYLOADS[number]
    packed = route.write(plain)
    assert type(packed) is bytes
    assert route.write(memoryview(bytearray(plain))) == packed
    content = route.read(packed)
    assert type(content) is memoryview and content.contiguous and content.format == "B"
    assert content == plain
    unused = bytearray(b"\xa5" * (len(plain) + MIB))
    assert route.read(memoryview(packed), allocate=lambda size: unused) == plain
    assert route.read(bytearray(packed), decompressed_bytes=len(plain)) == plain
    assert route.read(packed, decompressed_bytes=None) == plain
    assert route.read(packed, decompressed_bytes=1e7) == plain


def test_codec_none_returns_the_input(kwire):
    """The codec "none" returns its input, without a copy and without a limit."""
    codec, data = Codec(kwire, "none"), bytearray(b"abc")
    assert codec.write(data) == b"abc"
    content = codec.read(data, decompressed_bytes=1)
    data[0] = ord("x")
    assert content == b"xbc"


def test_codecs_read_a_mmap(route, tmp_path):
    """A payload in the middle of a memory map is decoded, as in a mapped log file."""
    packed = route.write(text(100_000))
    (tmp_path / "log").write_bytes(b"before" + packed + b"after")
    with open(tmp_path / "log", "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with mapped, memoryview(mapped) as view, view[6 : 6 + len(packed)] as data:
            assert route.read(data) == text(100_000)


def test_codecs_write_into_given_memory(route):
    """The decompressed bytes are written to the start of the allocated buffer."""
    plain, buffers = text(200_000), []

    def allocate(size):
        buffers.append(bytearray(size + 7))
        return buffers[-1]

    content = route.read(route.write(plain), allocate=allocate)
    assert content.obj is buffers[-1]
    assert buffers[-1][: len(plain)] == plain
    assert len(buffers) == 1


def test_codecs_let_other_threads_run(route):
    """Other threads run while a codec compresses or decompresses.

    The libraries release the GIL.
    """
    plain = text(8 * MIB)
    packed = {
        2: raw_snappy,
        3: lambda data: lz4.frame.compress(data, block_size=7, block_linked=False),
    }.get(route.number, route.write)(plain)
    before, ticks, stop = sys.getswitchinterval(), itertools.count(), threading.Event()

    def tick():
        while not stop.is_set():
            next(ticks)
            time.sleep(0)

    thread = threading.Thread(target=tick)
    sys.setswitchinterval(1000)
    try:
        thread.start()
        started = next(ticks)
        for _ in range(3):
            route.read(packed)
        done = next(ticks)
    finally:
        sys.setswitchinterval(before)
        stop.set()
        thread.join()
    assert done > started + 1


def test_threads_do_not_share_a_context(route):
    """Concurrent calls in several threads return the correct bytes.

    A codec must not share its state between threads.
    """
    plain = [text(size) for size in range(20_000, 20_400, 50)]
    failures = []

    def work(data):
        for _ in range(50):
            if route.read(route.write(data)) != data:
                failures.append(len(data))

    threads = [threading.Thread(target=work, args=(data,)) for data in plain]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


# Names, levels, libraries -------------------------------------------------------------


def test_codec_names_match_the_batch_attributes(kwire):
    """The codec numbers equal those in the batch attributes."""
    module = Codec(kwire, "none").module
    names = ["none", "gzip", "snappy", "lz4", "zstd"]
    assert [module.codec_of(name) for name in names] == [0, 1, 2, 3, 4]
    with pytest.raises(kwire.EncodeError, match=r"gzip, snappy, lz4, zstd.*'br'"):
        module.codec_of("br")


def test_codec_table_is_indexed_by_number(kwire):
    """The index of a codec in the table is its number in the batch attributes."""
    module = Codec(kwire, "none").module
    layout = importlib.import_module(f"{kwire.__name__}.schema.batch_layout")
    assert [row.number for row in module.CODECS] == list(range(len(module.CODECS)))
    assert tuple(row.name for row in module.CODECS) == module.NAMES
    for magic, mask in enumerate(layout.KNOWN_CODECS):
        numbers = {
            row.number
            for row in module.CODECS
            if layout.LEAST_MAGICS[row.number] <= magic
        }
        assert {number for number in range(8) if mask >> number & 1} == numbers


@pytest.mark.parametrize("number", [-1, 5, 6, 7])
def test_unknown_codec_number_is_rejected(kwire, number):
    """Numbers from 5 to 7 fit in the batch attributes, but are not codecs."""
    codec = Codec(kwire, "gzip")
    codec.number = number
    assert str(number) in codec.reason(b"abc")


@pytest.mark.parametrize("magic", [0, 1])
def test_zstd_needs_magic_2(kwire, magic):
    """Older formats do not support zstd, neither for writing nor for reading."""
    zstd = Codec(kwire, "zstd")
    with pytest.raises(kwire.EncodeError, match="magic 2"):
        zstd.write(b"abc", magic)
    with pytest.raises(kwire.CorruptBatch):
        zstd.read(zstd.write(b"abc"), magic)


@pytest.mark.parametrize(
    ("name", "bad", "words"),
    [
        ("gzip", -1, "must be 0 to 9"),
        ("gzip", 10, "must be 0 to 9"),
        ("lz4", 0, "must be 1 to 12"),
        ("lz4", 13, "must be 1 to 12"),
        ("zstd", 23, "must be -131072 to 22"),
        ("zstd", -131073, "must be -131072 to 22"),
        ("zstd", 3.0, "must be -131072 to 22"),
        ("snappy", 1, "no level"),
        ("none", 0, "no level"),
    ],
)
def test_invalid_level_is_rejected(kwire, name, bad, words):
    """The error contains the valid range."""
    with pytest.raises(kwire.EncodeError, match=words):
        Codec(kwire, name).write(b"abc", level=bad)


def test_higher_level_produces_fewer_bytes(kwire):
    """A higher level produces fewer bytes. None is the default level."""
    plain = text(100_000)
    for name, low, usual, high in (
        ("gzip", 1, 6, 9),
        ("lz4", 1, 1, 12),
        ("zstd", -5, 3, 19),
    ):
        codec = Codec(kwire, name)
        assert codec.write(plain) == codec.write(plain, level=usual)
        assert len(codec.write(plain, level=high)) < len(codec.write(plain, level=low))
        for magic in (0, 2):
            packed = codec.write(plain, max(magic, name == "zstd" and 2), high)
            assert codec.read(packed, max(magic, name == "zstd" and 2)) == plain


def test_missing_library_error_names_the_package(kwire, monkeypatch):
    """Only gzip needs no library. Otherwise the error says what to install."""
    for library in ("cramjam", "zstandard", "isal"):
        monkeypatch.setitem(sys.modules, library, None)
    for name in ("snappy", "lz4", "zstd"):
        codec = Codec(kwire, name)
        for call in (codec.read, codec.write):
            with pytest.raises(ImportError, match=r"pip install kwire\[compression\]"):
                call(zstandard.compress(b"abc"))
    plain = Codec(kwire, "gzip")
    assert plain.read(plain.write(b"abc")) == b"abc"


# Output of other libraries ------------------------------------------------------------


@pytest.mark.parametrize("plain", [text(10), text(200_000)], ids=len)
def test_kwire_and_other_clients_decode_each_other(kwire, plain):
    """The codec functions of other clients and kwire decode each other's output."""
    for codecs in (kafka.codec, aiokafka.codec):
        for name in ("gzip", "snappy", "lz4", "zstd"):
            codec = Codec(kwire, name)
            packed = getattr(codecs, f"{name}_encode")(plain)
            assert codec.read(packed) == plain, (codecs, name)
            assert getattr(codecs, f"{name}_decode")(codec.write(plain)) == plain
    raw = kafka.codec.snappy_encode(plain, xerial_compatible=False)
    assert Codec(kwire, "snappy").read(raw) == plain


def test_lz4_header_has_the_checksum_of_its_magic(kwire):
    """An lz4 frame has version 1, independent 64 KiB blocks and a header checksum.

    For magic 0, the checksum includes the magic bytes of the frame, as Kafka's old
    clients computed it. For magic 1 and 2, it is the checksum that the lz4 format
    specifies.
    """
    codec = Codec(kwire, "lz4")
    # The xxHash specification defines these values for a seed of 0.
    assert xxh32(b"") == bytes.fromhex("02cc5d05")
    assert xxh32(b"abc") == bytes.fromhex("32d153ff")
    checksum, old_checksum = (
        xxh32(b"\x60\x40")[2],
        xxh32(bytes.fromhex("04224d18 6040"))[2],
    )
    assert checksum == 0x82 != old_checksum
    assert codec.write(b"", 2) == bytes.fromhex("04224d18 6040 82 00000000")
    assert codec.write(b"", 1) == codec.write(b"", 2)
    assert codec.write(b"", 0) == bytes(
        [*codec.write(b"", 2)[:6], old_checksum, 0, 0, 0, 0]
    )


def test_lz4_header_checksum_is_read_from_magic_1_on(kwire):
    """The checksum of the lz4 header is only verified for magic 1 and 2.

    For magic 0, clients wrote two variants.
    """
    codec = Codec(kwire, "lz4")
    for magic in (0, 1, 2):
        packed = bytearray(codec.write(text(1000), magic))
        assert codec.read(packed, magic) == text(1000)
        packed[6] ^= 1
        if magic == 0:
            assert codec.read(packed, magic) == text(1000)
        else:
            with pytest.raises(kwire.CorruptBatch, match="checksum of its header"):
                codec.read(packed, magic)


def test_lz4_of_the_oldest_clients_is_compatible(kwire, monkeypatch):
    """Test kafka-python's functions for old brokers, which use magic 0."""
    codec = Codec(kwire, "lz4")
    hashed = SimpleNamespace(
        xxh32=lambda data: SimpleNamespace(digest=lambda: xxh32(bytes(data)))
    )
    monkeypatch.setattr(kafka.codec, "xxhash", hashed)
    plain = text(200_000)
    packed = kafka.codec.lz4_encode_old_kafka(plain)
    assert packed[6] == codec.write(plain, 0)[6]
    assert codec.read(packed, 0) == plain
    assert kafka.codec.lz4_decode_old_kafka(codec.write(plain, 0)) == plain


@pytest.mark.parametrize("flags", [*itertools.product([False, True], repeat=3)])
@pytest.mark.parametrize("block", [4, 5, 6, 7])
def test_lz4_frames_with_all_options_are_read(kwire, block, flags):
    """lz4 frames with all block sizes and all combinations of flags are decoded.

    The flags are block checksum, content checksum and content size.
    """
    codec = Codec(kwire, "lz4")
    names = ("content_checksum", "block_checksum", "store_size")
    options = dict(zip(names, flags, strict=True))
    for plain in (b"", text(300_000), random.Random(1).randbytes(100_000)):
        packed = lz4.frame.compress(
            plain, block_size=block, block_linked=False, **options
        )
        assert codec.read(packed) == plain
        # Bytes after the end mark are ignored.
        assert codec.read(packed + b"\x00more") == plain
        if block == 4:
            assert lz4.frame.decompress(codec.write(plain)) == plain


def test_lz4_stores_incompressible_blocks(kwire):
    """An lz4 block that cannot be compressed is stored unchanged after its size."""
    codec = Codec(kwire, "lz4")
    plain = random.Random(1).randbytes(65536)
    assert codec.write(plain)[7:] == b"\x00\x00\x01\x80" + plain + bytes(4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"magic": b"\x02\x21\x4c\x18"}, "does not start with a frame"),
        ({"flags": 0x20}, "another version"),
        ({"flags": 0xA0}, "another version"),
        ({"flags": 0x62}, "reserved"),
        ({"sizes": 0x41}, "reserved"),
        ({"sizes": 0xC0}, "reserved"),
        ({"sizes": 0x30}, "reserved"),
        ({"flags": 0x61, "extra": bytes(4)}, "dictionary"),
        ({"flags": 0x40}, "depend on each other"),
    ],
)
def test_lz4_headers_that_kafka_rejects_are_rejected(kwire, options, words):
    """The codecs of kwire reject the same headers, and report the reason."""
    codec = Codec(kwire, "lz4")
    block = lz4.block.compress(b"abc", store_size=False)
    assert codec.read(lz4_frame(block)) == b"abc"
    assert words in codec.reason(lz4_frame(block, **options))


def test_lz4_block_above_the_declared_size_is_rejected(kwire):
    """A block must not exceed the declared block size, whether stored or compressed."""
    codec = Codec(kwire, "lz4")
    over = lz4.block.compress(bytes(65537), store_size=False)
    small = lz4.block.compress(b"abc", store_size=False)
    assert "lz4" in codec.reason(lz4_frame(over, small))
    stored = (65537 | 1 << 31).to_bytes(4, "little") + bytes(65537)
    assert "larger" in codec.reason(lz4_frame()[:7] + stored + bytes(4))
    assert len(codec.read(lz4_frame(over, sizes=0x50))) == 65537


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize("sized", [False, True])
def test_zstd_frames_with_all_fields_are_read(kwire, monkeypatch, checksum, sized):
    """Test one or more frames with each optional field, and skippable frames."""
    compressor = zstandard.ZstdCompressor(
        write_checksum=checksum, write_content_size=sized
    )
    skipped = b"\x5a\x2a\x4d\x18\x03\0\0\0abc"
    for _ in ("zstandard", "cramjam"):
        zstd = Codec(kwire, "zstd")
        for plain in PAYLOADS:
            packed = compressor.compress(plain)
            assert zstd.read(packed) == plain
            assert zstd.read(skipped + packed + skipped + packed) == plain * 2
            # The size is unknown when the stream starts.
            stream = compressor.compressobj()
            assert zstd.read(stream.compress(plain) + stream.flush()) == plain
        broken = bytearray(compressor.compress(PAYLOADS[3]))
        broken[-1] ^= 1
        if checksum:
            assert "zstd" in zstd.reason(broken)
        monkeypatch.setitem(sys.modules, "zstandard", None)


def test_written_zstd_frame_is_read_by_zstandard(kwire):
    """The codec of kwire writes a single frame, which zstandard decodes."""
    zstd = Codec(kwire, "zstd")
    for plain in PAYLOADS:
        assert zstandard.ZstdDecompressor().decompress(zstd.write(plain)) == plain


def test_zstd_frame_that_requires_a_dictionary_is_rejected(kwire):
    """If a frame requires a dictionary, it is rejected."""
    samples = [text(size) for size in range(500, 600)]
    trained = zstandard.train_dictionary(1024, samples)
    packed = zstandard.ZstdCompressor(dict_data=trained).compress(samples[0])
    assert "zstd" in Codec(kwire, "zstd").reason(packed)


def gzip_member(plain, name=None):
    """Compress ``plain`` with the standard library, optionally with a file name."""
    file = io.BytesIO()
    with gzip.GzipFile(name or "", "wb", fileobj=file, mtime=12345) as writer:
        writer.write(plain)
    return file.getvalue()


def with_all_fields(plain):
    """Return a gzip member whose header has all optional fields."""
    head = b"\x1f\x8b\x08\x1f\0\0\0\0\0\x03" + b"\x03\0abc" + b"name\0" + b"words\0"
    head += (zlib.crc32(head) & 0xFFFF).to_bytes(2, "little")
    raw = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = raw.compress(plain) + raw.flush()
    tail = zlib.crc32(plain).to_bytes(4, "little") + len(plain).to_bytes(4, "little")
    return head + body + tail


@pytest.mark.parametrize("missing", [None, "isal"])
def test_all_gzip_members_are_read(kwire, monkeypatch, missing):
    """All gzip members in a payload are decoded.

    Decoding ends at the first bytes that are not a member, as in Java's reader.
    """
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    codec = Codec(kwire, "gzip")
    for plain in PAYLOADS:
        named, annotated = gzip_member(plain, "name"), with_all_fields(text(100))
        assert codec.read(named) == plain
        assert codec.read(named + annotated + named) == plain + text(100) + plain
        assert codec.read(named + bytes(100)) == plain
        assert codec.read(annotated + b"\x1f\x8b") == text(100)
        assert gzip.decompress(codec.write(plain)) == plain
    assert "gzip" in codec.reason(named + with_all_fields(text(100))[:-1])
    assert codec.read(with_all_fields(text(100)) * 5000) == text(100) * 5000


def test_gzip_is_deterministic(kwire):
    """The header contains neither a time nor a name."""
    codec = Codec(kwire, "gzip")
    assert codec.write(b"abc")[:8] == bytes.fromhex("1f8b0800 00000000")


@pytest.mark.parametrize("missing", [None, "isal"])
@pytest.mark.parametrize("position", range(-8, 0))
def test_gzip_trailer_is_verified(kwire, monkeypatch, position, missing):
    """If the checksum or size in the gzip trailer is wrong, the payload is damaged."""
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    codec = Codec(kwire, "gzip")
    packed = bytearray(codec.write(text(1000)))
    packed[position] ^= 0x10
    assert "gzip" in codec.reason(packed)


def test_snappy_is_written_with_xerial_framing(kwire):
    """Records are compressed with snappy in the xerial format, in blocks of 32 KiB.

    Payloads without the xerial format are decoded as well.
    """
    snappy = Codec(kwire, "snappy")
    plain = text(70_000)
    parts = [plain[start : start + 32768] for start in range(0, len(plain), 32768)]
    assert snappy.write(plain) == xerial(*map(raw_snappy, parts))
    assert snappy.write(b"") == XERIAL
    assert snappy.read(raw_snappy(plain)) == plain
    assert snappy.read(raw_snappy(b"")) == b""
    assert snappy.read(xerial(raw_snappy(b""), raw_snappy(plain))) == plain
    assert snappy.read(xerial(raw_snappy(plain), raw_snappy(plain))) == plain * 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (XERIAL[:12], "within its header"),
        (XERIAL[:15] + b"\x02", "newer reader"),
        (XERIAL + b"\0\0\0", "longer than what is left"),
        (XERIAL + b"\0\0\0\4\3", "longer than what is left"),
        (XERIAL + b"\xff\xff\xff\xff" + raw_snappy(b"abc"), "longer than what is left"),
        (xerial(b""), "has no length"),
        (b"\xff\xff\xff\xff\xff\x00", "has no length"),
        (b"\x80\x80\x80\x08abc", "more content than its bytes"),
        (xerial(b"\xc0\x84\x3d\x08abc"), "more content than its bytes"),
        (xerial(b"\x04\x08abc"), "snappy"),
    ],
)
def test_damaged_snappy_block_is_rejected(kwire, data, words):
    """A damaged snappy block or a wrong size raises CorruptBatch with the reason."""
    snappy = Codec(kwire, "snappy")
    assert words in snappy.reason(data, decompressed_bytes=None)


@pytest.mark.parametrize(
    "plain",
    [
        bytes(3) + b"\xff" * 6 + b"=\x92\xff\x10" + b"S" * 32 + b"\0",
        b"\0\0\0z\x80\0\0\0\0\0\0\xac(\0\0\0\0\0\0\xac\0\0\0\x80\x0c\0",
    ],
)
def test_lz4_block_like_a_size_header_is_decoded_completely(kwire, plain):
    """lz4 blocks that start like a size header are decoded completely."""
    compression = importlib.import_module(f"{kwire.__name__}.records.compression")
    packed = compression.compress(3, plain, 2)
    limits = kwire.Limits(decompressed_bytes=len(plain))
    assert bytes(compression.decompress(3, packed, 2, limits, 0)) == plain
