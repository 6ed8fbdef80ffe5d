# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Typical Python UDF that parses record batches with ``struct``, without kwire.

It only supports format v2 without compression, does not verify checksums, and returns
the records as Spark rows.
"""

from __future__ import annotations

import struct

SCHEMA = (
    "array<struct<offset:bigint, timestamp:bigint, key:binary, value:binary,"
    " headers:array<struct<key:string, value:binary>>>>"
)
_batch_header = struct.Struct(">qiibIhiqqqhii")


def decode_records(data):
    """Decode a record set.

    Returns a list of (offset, timestamp, key, value, headers), or None for null.
    """
    if data is None:
        return None
    records = []
    batch = 0
    while batch + _batch_header.size <= len(data):
        fields = _batch_header.unpack_from(data, batch)
        base_offset, size, first_timestamp, count = (
            fields[0],
            fields[1],
            fields[7],
            fields[12],
        )
        at = batch + _batch_header.size
        for _ in range(count):
            _, at = read_varint(data, at)
            at += 1  # attributes
            timestamp, at = read_varint(data, at)
            offset, at = read_varint(data, at)
            key, at = read_bytes(data, at)
            value, at = read_bytes(data, at)
            header_count, at = read_varint(data, at)
            headers = []
            for _ in range(header_count):
                name, at = read_bytes(data, at)
                content, at = read_bytes(data, at)
                headers.append((name.decode(), content))
            moment = first_timestamp + timestamp
            records.append((base_offset + offset, moment, key, value, headers or None))
        batch += 12 + size
    return records


def read_varint(data, at):
    """Read a zigzag varint. Return its value and the position after it."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at
        shift += 7


def read_bytes(data, at):
    """Read bytes with a length prefix. Returns them and the position after them.

    The length -1 represents null, which is returned as None.
    """
    size, at = read_varint(data, at)
    if size < 0:
        return None, at
    return bytes(data[at : at + size]), at + size
