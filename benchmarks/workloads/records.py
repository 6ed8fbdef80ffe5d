# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Records that all contenders encode and decode, and their bytes.

The bytes are encoded here according to the protocol, so that no contender defines
another contender's input. This module does not depend on any contender, but compresses
with the regular libraries.
"""

from __future__ import annotations

import functools
import itertools
import random
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import cramjam
import lz4.frame
import zstandard
from crc32c import crc32c

from benchmarks.workloads.messages import Values, workload

#: Key, value, timestamp in milliseconds, headers.
Row = tuple[bytes, bytes, int, list[tuple[str, bytes]]]

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
#: Default levels in Kafka. For gzip, this is the library's default.
LEVELS = {"gzip": 6, "lz4": 9, "zstd": 3}
SNAPPY_BLOCK = 32 * 1024

_HEADER = struct.Struct(">qiibIhiqqqhii")
_HEADER_FIELDS = (
    "base_offset",
    "length",
    "partition_leader_epoch",
    "magic",
    "crc",
    "attributes",
    "last_offset_delta",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "count",
)
BATCH_HEADER = _HEADER.size
_CRC_FROM = 21
_XERIAL_HEADER = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
_FIRST_TIMESTAMP = 1_700_000_000_000

#: Workload shapes: magic, records, bytes per value, headers per record.
_SHAPES = {
    "1k_100B": (2, 1_000, 100, 0),
    "1k_100B_3hdr": (2, 1_000, 100, 3),
    "1k_1KB": (2, 1_000, 1_024, 0),
    "10k_100B": (2, 10_000, 100, 0),
    "10k_1KB": (2, 10_000, 1_024, 0),
    "v1_1k_100B": (1, 1_000, 100, 0),
}
_TEXT = (
    "account basket cancel checkout confirm coupon deliver discount express gift "
    "invoice login logout order parcel payment pickup priority refund reminder "
    "repeat return search session shipment standard stock subscribe transfer update"
)


def magic(name: str) -> int:
    """Return the magic of a workload's records."""
    return _SHAPES[name][0]


@functools.cache
def rows(name: str) -> list[Row]:
    """Return the records in a workload. Keys have 10 bytes.

    Values consist of words and numbers and compress to about a third, like event data.
    One hundred records share a timestamp in whole seconds, which is the finest
    resolution that all contenders support.
    """
    _, count, size, headers = _SHAPES[name]
    source = random.Random(name)
    words = _TEXT.split()

    def value(index: int) -> bytes:
        event = f'{{"id":{index},"user":"{source.getrandbits(48):012x}","text":"'
        while len(event) < size:
            event += f"{source.choice(words)} {source.randrange(1000)} "
        return event[: size - 2].encode() + b'"}'

    def headers_of(index: int) -> list[tuple[str, bytes]]:
        all_headers = [
            ("trace-id", source.randbytes(16)),
            ("source", b"checkout-eu"),
            ("content-type", b"application/json"),
        ]
        return all_headers[:headers]

    return [
        (
            f"key-{index:06d}".encode(),
            value(index),
            _FIRST_TIMESTAMP + 1000 * (index // 100),
            headers_of(index),
        )
        for index in range(count)
    ]


def decoded(name: str) -> list[Any]:
    """Return the expected records, as lists ordered like ``record_loop.FIELDS``."""
    return [
        [offset, timestamp, key, value, [list(header) for header in headers]]
        for offset, (key, value, timestamp, headers) in enumerate(rows(name))
    ]


def _varint(value: int) -> bytes:
    left = value << 1 if value >= 0 else (-value << 1) - 1
    encoded_bytes = bytearray()
    while left >= 0x80:
        encoded_bytes.append(left & 0x7F | 0x80)
        left >>= 7
    encoded_bytes.append(left)
    return bytes(encoded_bytes)


def _sized(data: bytes) -> bytes:
    return _varint(len(data)) + data


def _record(offset: int, row: Row) -> bytes:
    key, value, timestamp, headers = row
    parts = [
        b"\x00",
        _varint(timestamp - _FIRST_TIMESTAMP),
        _varint(offset),
        _sized(key),
        _sized(value),
        _varint(len(headers)),
    ]
    parts += [_sized(name.encode()) + _sized(data) for name, data in headers]
    return _sized(b"".join(parts))


def _message(offset: int, row: Row) -> bytes:
    key, value, timestamp, _ = row
    body = struct.pack(">bbqi", 1, 0, timestamp, len(key)) + key
    body += struct.pack(">i", len(value)) + value
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


@functools.cache
def section(name: str) -> bytes:
    """Return a batch's uncompressed records, without the batch header."""
    write = _record if magic(name) == 2 else _message
    return b"".join(itertools.starmap(write, enumerate(rows(name))))


def snappy_blocks(data: bytes) -> Iterator[memoryview]:
    """Split data into blocks, like the snappy stream of Java producers."""
    view = memoryview(data)
    for start in range(0, len(data), SNAPPY_BLOCK):
        yield view[start : start + SNAPPY_BLOCK]


def compressed_blocks(data: bytes) -> Iterator[memoryview]:
    """Split a snappy stream into its compressed blocks."""
    view = memoryview(data)
    start = len(_XERIAL_HEADER)
    while start < len(data):
        end = start + 4 + int.from_bytes(view[start : start + 4])
        yield view[start + 4 : end]
        start = end


def joined(result: Any) -> bytes:
    """Return the output of a compression library as bytes.

    For snappy, the output is a list of blocks.
    """
    return b"".join(map(bytes, result)) if isinstance(result, list) else bytes(result)


def _compress(codec: str, data: bytes) -> bytes:
    """Compress like a Java producer: small frames without the uncompressed size."""
    if codec == "gzip":
        return zlib.compress(data, LEVELS[codec], wbits=31)
    if codec == "snappy":
        blocks = map(cramjam.snappy.compress_raw, snappy_blocks(data))
        framed = (len(block).to_bytes(4) + bytes(block) for block in blocks)
        return _XERIAL_HEADER + b"".join(framed)
    if codec == "lz4":
        return lz4.frame.compress(
            data,
            compression_level=LEVELS[codec],
            block_size=lz4.frame.BLOCKSIZE_MAX64KB,
            block_linked=False,
            store_size=False,
        )
    options = {"level": LEVELS[codec], "write_content_size": False}
    return zstandard.ZstdCompressor(**options).compress(data)


def _decompress(codec: str, data: bytes) -> bytes:
    if codec == "gzip":
        return zlib.decompress(data, wbits=31)
    if codec == "snappy":
        blocks = map(cramjam.snappy.decompress_raw, compressed_blocks(data))
        return b"".join(map(bytes, blocks))
    if codec == "lz4":
        return lz4.frame.decompress(data)
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


@functools.cache
def compressed(name: str, codec: str) -> bytes:
    """Return a batch's compressed records, without the batch header."""
    data = section(name)
    return data if codec == "none" else _compress(codec, data)


def encoded(name: str, codec: str) -> bytes:
    """Return the encoded batch, which all contenders decode."""
    if magic(name) == 1:
        return section(name)
    records = compressed(name, codec)
    last = len(rows(name)) - 1
    checked = struct.pack(
        ">hiqqqhii",
        CODECS.index(codec),
        last,
        _FIRST_TIMESTAMP,
        rows(name)[last][2],
        -1,
        -1,
        -1,
        last + 1,
    )
    checked += records
    start = struct.pack(">qiibI", 0, len(checked) + 9, -1, 2, crc32c(checked))
    return start + checked


def apart(data: bytes) -> Values:
    """Parse one batch, verify its size and CRC, and decompress its records.

    Fields that may differ between equal batches are omitted: the size and the CRC of
    the compressed bytes, and the leader epoch, which is written by the broker. Messages
    of magic 0 and 1 are returned unchanged. Raises ValueError if the size or the CRC is
    wrong.
    """
    if data[16] < 2:
        return {"messages": data}
    fields = dict(zip(_HEADER_FIELDS, _HEADER.unpack_from(data), strict=True))
    if fields.pop("length") != len(data) - 12:
        raise ValueError("the batch has the wrong size")
    if fields.pop("crc") != crc32c(memoryview(data)[_CRC_FROM:]):
        raise ValueError("the batch has the wrong CRC")
    del fields["partition_leader_epoch"]
    records, codec = data[BATCH_HEADER:], CODECS[fields["attributes"] & 7]
    return fields | {
        "records": records if codec == "none" else _decompress(codec, records)
    }


def messages(name: str, count: int) -> list[Values]:
    """Return the values of ``count`` different messages of the same type."""
    values = workload(name).values
    if name.startswith("heartbeat"):
        member = values["member_id"]
        return [
            values | {"generation_id": index, "member_id": f"{index % 1000}-{member}"}
            for index in range(count)
        ]
    number = "timeout_ms" if name.startswith("produce") else "controller_id"
    return [values | {number: index} for index in range(count)]
