# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Hashes keys to assign records to partitions.

``hash_column`` and ``split_rows`` receive a hash function number: ``MURMUR2`` or
``CRC32``. ``split_rows`` also computes the partition from the hash. In all other cases,
``records/partitioners.py`` computes the partition.

Twin: ``fast/partitioning.pyx``. Differs from its twin in: errors are exceptions.

Only in Python: ``hash_of``.
"""

from __future__ import annotations

import struct
from zlib import crc32

from .column_encoder import BytesColumn, check_row_number
from .rows import check_rows, make_encode_failure, split
from .writer import ValueFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CRC32", "MURMUR2", "hash_column", "murmur2", "split_rows"]

MURMUR2 = 0
CRC32 = 1

SEED = 0x9747B28C
FACTOR = 0x5BD1E995
ALL = 0xFFFFFFFF


def murmur2(data: Any) -> int:
    """Return the MurmurHash2 of a contiguous bytes-like object as an int32.

    The seed and the byte order are the same as in Kafka's Java client.

    Source: ``Utils.murmur2``.
    """
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the key must be contiguous in memory; pass bytes(key)")
    found = hash_of(view.tobytes(), MURMUR2)
    return found - (found >> 31 << 32)


def hash_of(key: bytes, kind: int) -> int:
    """Return the hash of a key as a uint32. ``kind`` is ``MURMUR2`` or ``CRC32``."""
    if kind == CRC32:
        return crc32(key)
    size = len(key)
    found = SEED ^ size
    for (word,) in struct.iter_unpack("<I", key[: size & ~3]):
        word = word * FACTOR & ALL
        word ^= word >> 24
        found = found * FACTOR & ALL ^ word * FACTOR & ALL
    if size & 3:
        found ^= int.from_bytes(key[size & ~3 :], "little")
        found = found * FACTOR & ALL
    found ^= found >> 13
    found = found * FACTOR & ALL
    return found ^ found >> 15


def hash_column(count: int, column: Any, kind: int) -> bytes:
    """Return the hashes of a bytes column as ``count`` int32 in native byte order.

    ``column`` is a tuple as in ``column_encoder``. The hash of a null is 0.

    Raises ``EncodeError`` if the offsets do not ascend, or exceed the bytes.
    """
    count = check_row_number(count)
    keys = BytesColumn(column, count)
    found = []
    for row in range(count):
        key = keys.read(row, f"[{row}]")
        found.append(0 if key is None else hash_of(key, kind))
    return struct.pack(f"={count}I", *found)


def split_rows(rows: Any, count: int, kind: int) -> tuple[list[Any], list[Any]]:
    """Group rows by the partition that results from the hash of their keys.

    Returns a list with ``count`` lists, one for each partition, and a list of the rows
    without a key. Rows keep their order within each list. ``rows`` is a list or a
    tuple. The sign bit of a MurmurHash2 is cleared before the division, as in Kafka.

    Raises ``EncodeError`` if an element is not a row. The error path contains the
    element index.

    Source: ``BuiltInPartitioner.partitionForKey``, ``Utils.toPositive``.
    """
    check_rows(rows)
    if count < 1:
        raise ValueError(f"count must be 1 or more (got {count})")
    mask = ALL if kind == CRC32 else ALL >> 1
    lists: list[list[Any]] = [[] for _ in range(count)]
    others: list[Any] = []
    for index, row in enumerate(rows):
        path: list[str | int] = ["records", index]
        try:
            _, _, key, _, _ = split(row, 0, path)
        except ValueFault as fault:
            failure = make_encode_failure(fault, path)
        else:
            if key is None:
                others.append(row)
            else:
                lists[(hash_of(key, kind) & mask) % count].append(row)
            continue
        raise failure
    return lists, others
