# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compression libraries, and a copy with a checksum: lower bounds for codecs.

A library only processes the records in a batch. It does not parse or write a header,
compute a CRC or fill columns. Like kwire, it must determine its output size itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import cramjam
import lz4.frame
import zstandard
from crc32c import crc32c
from isal import igzip

from benchmarks.harness.statement import Statement
from benchmarks.workloads import records as workloads

BUILDS = "the bytes, in memory of its own"
CHECKS = "what the format carries: gzip a CRC-32, the others nothing"


def _blocks(work: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    """Return a function that applies ``work`` to each block in a list."""
    return lambda blocks: [work(block) for block in blocks]


_DECOMPRESS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("gzip", "cramjam"): cramjam.gzip.decompress,
    ("gzip", "zlib"): lambda data: zlib.decompress(data, wbits=31),
    ("gzip", "isal"): igzip.decompress,
    ("snappy", "cramjam"): _blocks(cramjam.snappy.decompress_raw),
    ("lz4", "cramjam"): cramjam.lz4.decompress,
    ("lz4", "lz4"): lz4.frame.decompress,
    ("zstd", "cramjam"): cramjam.zstd.decompress,
    ("zstd", "zstandard"): (
        lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)
    ),
}


def _cramjam_lz4(data: bytes, level: int) -> Any:
    compressor = cramjam.lz4.Compressor(
        level=level, content_checksum=False, block_linked=False
    )
    compressor.compress(data)
    return compressor.finish()


def _lz4(data: bytes, level: int) -> bytes:
    return lz4.frame.compress(
        data,
        compression_level=level,
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        store_size=False,
    )


_COMPRESS: dict[tuple[str, str], Callable[[Any, int], Any]] = {
    ("gzip", "cramjam"): lambda data, level: cramjam.gzip.compress(data, level=level),
    ("gzip", "zlib"): lambda data, level: zlib.compress(data, level, wbits=31),
    ("snappy", "cramjam"): (
        lambda blocks, _: [cramjam.snappy.compress_raw(block) for block in blocks]
    ),
    ("lz4", "cramjam"): _cramjam_lz4,
    ("lz4", "lz4"): _lz4,
    ("zstd", "cramjam"): lambda data, level: cramjam.zstd.compress(data, level=level),
    ("zstd", "zstandard"): (
        lambda data, level: zstandard.ZstdCompressor(
            level=level, write_content_size=False
        ).compress(data)
    ),
}


def decompress(name: str, codec: str, library: str) -> Statement:
    """Decompress the records of a batch with a library."""
    work = _DECOMPRESS[codec, library]
    data: Any = workloads.compressed(name, codec)
    if codec == "snappy":
        data = list(workloads.compressed_blocks(data))
    names = {"decompress": work, "data": data}
    return Statement(
        "decompress(data)", names, values=lambda: workloads.joined(work(data))
    )


#: Fastest library for decompression, by codec.
_FASTEST = {"gzip": "isal", "snappy": "cramjam", "lz4": "lz4", "zstd": "cramjam"}


def fastest(name: str, codec: str) -> Callable[[], bytes]:
    """Return a function that decompresses a batch's records with the best library."""
    statement = decompress(name, codec, _FASTEST[codec])
    work, data = statement.names["decompress"], statement.names["data"]
    if codec == "snappy":
        return lambda: b"".join(work(data))
    return lambda: work(data)


def compress(name: str, codec: str, level: int, library: str) -> Statement:
    """Compress the records of a batch with a library."""
    work = _COMPRESS[codec, library]
    data: Any = workloads.section(name)
    if codec == "snappy":
        data = list(workloads.snappy_blocks(data))

    def decompressed() -> bytes:
        result = work(data, level)
        return workloads.joined(_DECOMPRESS[codec, library](result))

    names = {"compress": work, "data": data, "level": level}
    return Statement("compress(data, level)", names, values=decompressed)


#: Fastest library for compression, by codec.
_FASTEST_COMPRESS = {**_FASTEST, "gzip": "zlib", "zstd": "zstandard"}


def compress_pieces(codec: str, level: int, data: memoryview) -> list[Any]:
    """Compress with the fastest library.

    Returns a list with one item for each block (snappy), or with a single item.
    """
    work = _COMPRESS[codec, _FASTEST_COMPRESS[codec]]
    if codec == "snappy":
        return list(work(list(workloads.snappy_blocks(data)), level))
    return [work(data, level)]


def decompress_pieces(codec: str, pieces: list[Any]) -> bytes:
    """Decompress the items that ``compress_pieces`` has returned, and join them."""
    work = _DECOMPRESS[codec, _FASTEST_COMPRESS[codec]]
    return workloads.joined(work(pieces if codec == "snappy" else pieces[0]))


def copy_and_crc(name: str) -> Statement:
    """Copy a batch into newly allocated memory, and compute the CRC of the original."""
    data = workloads.encoded(name, "none")

    def copy_and_check(view: memoryview) -> tuple[bytes, int]:
        return bytes(view), crc32c(view)

    names = {"copy_and_check": copy_and_check, "view": memoryview(data)}
    return Statement("copy_and_check(view)", names)
