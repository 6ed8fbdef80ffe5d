# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Hashes of keys, which decide the partition of a record.

``hash_column`` and ``split_rows`` take the number of a hash: ``MURMUR2`` or ``CRC32``.
Which partition a hash means is decided in ``records/partitioners.py``, but for
``split_rows``.

Twin: ``fast/partitioning.pyx``. Differs from its twin in: faults as exceptions.
Python needs for itself: ``hash_of``.
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
    """Give the MurmurHash2 of any contiguous bytes-like object, as an int32.

    The seed and the byte order are those of Kafka's Java client.
    Source: ``Utils.murmur2``.
    """
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the key must be contiguous in memory; pass bytes(key)")
    found = hash_of(view.tobytes(), MURMUR2)
    return found - (found >> 31 << 32)


def hash_of(key: bytes, kind: int) -> int:
    """Give the hash of a key as an unsigned int32."""
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
    """Give the hashes of a column of bytes: ``count`` int32 of this machine.

    ``column`` is a tuple as in ``column_encoder``. The hash of a null is 0.
    Raises ``EncodeError`` for offsets that do not ascend within the bytes.
    """
    count = check_row_number(count)
    keys = BytesColumn(column, count)
    found = []
    for row in range(count):
        key = keys.read(row, f"[{row}]")
        found.append(0 if key is None else hash_of(key, kind))
    return struct.pack(f"={count}I", *found)


def split_rows(rows: Any, count: int, kind: int) -> tuple[list[Any], list[Any]]:
    """Sort rows by the partition that the hash of their key means.

    Returns ``count`` lists, by partition, and the list of rows without a key. The
    order within a list is that of ``rows``, a list or a tuple. MurmurHash2 loses its
    sign bit before it is divided, as in Kafka. Raises ``EncodeError`` with the row in
    its path for what is no row.
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
