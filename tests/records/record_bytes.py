# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes batches and messages by hand, with valid or invalid fields.

The module does not use kwire, so that kwire is tested against an independent
implementation. All fields, including the checksum, can be specified. Omitted fields are
correct.
"""

import gzip
import struct
import zlib


def _crc32c_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ 0x82F63B78 * (value & 1)
        table.append(value)
    return table


_TABLE = _crc32c_table()


def crc32c(data):
    """Compute CRC-32C (Castagnoli), the checksum of magic 2 batches."""
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ _TABLE[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


def raw_varint(value):
    """Encode an unsigned integer as a varint."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def varint(value):
    """Encode a signed integer as a zigzag varint."""
    return raw_varint(value << 1 if value >= 0 else (-value << 1) - 1)


def sized(content):
    """Encode bytes after their varint length, which is -1 for None."""
    return varint(-1) if content is None else varint(len(content)) + content


def record(
    offset=0, timestamp=0, key=None, value=None, headers=(), attributes=0, size=None
):
    """Encode a magic 2 record. ``offset`` and ``timestamp`` are deltas."""
    body = bytes([attributes]) + varint(timestamp) + varint(offset)
    body += sized(key) + sized(value) + varint(len(headers))
    body += b"".join(sized(name) + sized(content) for name, content in headers)
    return framed(body, size)


def framed(body, size=None):
    """Return ``body`` after its length as a varint. ``size`` replaces the length."""
    return varint(len(body) if size is None else size) + body


BATCH_FIELDS = {
    "base_offset": 0,
    "size": None,
    "leader_epoch": 0,
    "magic": 2,
    "crc": None,
    "attributes": 0,
    "last_delta": None,
    "base_timestamp": 0,
    "max_timestamp": 0,
    "producer_id": -1,
    "producer_epoch": -1,
    "base_sequence": -1,
    "count": None,
}


def batch(*records, **fields):
    """Encode a magic 2 batch that contains the encoded ``records``.

    ``fields`` replaces header fields by name.
    """
    f = BATCH_FIELDS | fields
    assert f.keys() == BATCH_FIELDS.keys()
    count = len(records) if f["count"] is None else f["count"]
    last_delta = len(records) - 1 if f["last_delta"] is None else f["last_delta"]
    content = struct.pack(
        ">hiqqqhii",
        (f["attributes"] + 2**15) % 2**16 - 2**15,
        last_delta,
        f["base_timestamp"],
        f["max_timestamp"],
        f["producer_id"],
        f["producer_epoch"],
        f["base_sequence"],
        count,
    )
    content += b"".join(records)
    crc = crc32c(content) if f["crc"] is None else f["crc"]
    size = 9 + len(content) if f["size"] is None else f["size"]
    head = (f["base_offset"], size, f["leader_epoch"], f["magic"], crc)
    return struct.pack(">qiiBI", *head) + content


def compressed_batch(*records, **fields):
    """Encode a magic 2 batch whose encoded ``records`` are compressed with gzip."""
    fields = {"count": len(records), "last_delta": len(records) - 1} | fields
    fields["attributes"] = fields.get("attributes", 0) | 1
    return batch(gzip.compress(b"".join(records), mtime=0), **fields)


def classic(content):
    """Encode bytes after their INT32 length, which is -1 for None."""
    if content is None:
        return b"\xff\xff\xff\xff"
    return len(content).to_bytes(4, "big") + content


def message(
    magic,
    offset=0,
    key=None,
    value=None,
    timestamp=0,
    attributes=0,
    crc=None,
    body=None,
):
    """Encode a magic 0 or 1 message. ``body`` replaces key and value."""
    head = struct.pack(">BB", magic, attributes)
    if magic:
        head += struct.pack(">q", timestamp)
    content = head + (classic(key) + classic(value) if body is None else body)
    crc = zlib.crc32(content) if crc is None else crc
    return struct.pack(">qiI", offset, 4 + len(content), crc) + content


def wrapper(magic, *messages, offset=None, **fields):
    """Encode a gzip-compressed message that contains others.

    Its default offset is that of the last inner message.
    """
    if offset is None:
        offset = int.from_bytes(messages[-1][:8], "big")
    fields["attributes"] = fields.get("attributes", 0) | 1
    fields.setdefault("value", gzip.compress(b"".join(messages), mtime=0))
    return message(magic, offset, **fields)


def repaired(data):
    """Return a copy in which the checksums of all complete entries are correct."""
    data = bytearray(data)
    start = 0
    while len(data) - start > 16:
        size = int.from_bytes(data[start + 8 : start + 12], "big", signed=True)
        end = start + 12 + size
        if size < 14 or end > len(data):
            break
        if data[start + 16] < 2:
            crc = zlib.crc32(data[start + 16 : end])
            data[start + 12 : start + 16] = crc.to_bytes(4, "big")
        elif size >= 49:
            crc = crc32c(data[start + 21 : end])
            data[start + 17 : start + 21] = crc.to_bytes(4, "big")
        start = end
    return bytes(data)
