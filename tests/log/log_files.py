# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Segment files that are created by aiokafka or by hand, never by kwire.

aiokafka encodes the batches. Base offsets, leader epochs and control bits, which
aiokafka does not support, are patched into the bytes. The checksum is then computed
with a separate library, if it includes the patched bytes. Indexes and snapshots are
packed field by field.
"""

import importlib
import struct

import crc32c
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder

BASE_TIME = 1_700_000_000_000
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
ABORT, COMMIT = b"\0\0\0\0", b"\0\0\0\1"


def module(kwire, name):
    """Return a kwire module on the engine that the fixture selects."""
    return importlib.import_module(f"{kwire.__name__}.{name}")


ACCESS = ["map", "read", "stored"]
"""Ways to open a segment: memory map, read calls, or as an object in a store."""


def segment_of(log, path, access):
    """Open a segment with one of the access methods in ``ACCESS``."""
    if access == "stored":
        return log.Segment(path.as_uri())
    return log.Segment(path, access=access)


def patched(data, position, form, *values):
    """Return a copy of ``data`` in which ``values`` are packed at ``position``.

    ``form`` is the format for ``struct.pack_into``.
    """
    changed = bytearray(data)
    struct.pack_into(form, changed, position, *values)
    return bytes(changed)


def checked(data):
    """Return a magic 2 batch with a recomputed checksum."""
    return patched(data, 17, ">I", crc32c.crc32c(data[21:]))


def batch(
    base_offset,
    count=3,
    *,
    value=b"value",
    codec="none",
    epoch=0,
    producer=-1,
    control=None,
    timestamp=None,
):
    """Encode a magic 2 batch with ``count`` equal records.

    ``control`` is the key of a control record. If it is not None, the batch is a
    control batch that only contains this record.
    """
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=CODECS[codec],
        is_transactional=producer >= 0,
        producer_id=producer,
        producer_epoch=0 if producer >= 0 else -1,
        base_sequence=0 if producer >= 0 and control is None else -1,
        batch_size=1 << 30,
    )
    first = BASE_TIME + base_offset if timestamp is None else timestamp
    for index in range(count if control is None else 1):
        key = control or b"key %d" % (base_offset + index)
        content = b"\0\0\0\0\0\0" if control else value
        builder.append(index, first + index, key, content, [("h", b"x")])
    data = bytes(builder.build())
    if control is not None:
        (attributes,) = struct.unpack_from(">h", data, 21)
        data = checked(patched(data, 21, ">h", attributes | 0x20))
    return patched(data, 0, ">qii", base_offset, len(data) - 12, epoch)


def messages(base_offset, count=3, *, magic=1, codec="none", value=b"value"):
    """Encode magic 0 or 1 messages.

    With a codec, they are in a compressed wrapper.
    """
    builder = LegacyRecordBatchBuilder(
        magic=magic, compression_type=CODECS[codec], batch_size=1 << 20
    )
    for index in range(count):
        offset = index if codec != "none" and magic else base_offset + index
        key = b"key %d" % (base_offset + index)
        timestamp = BASE_TIME + base_offset + index if magic else None
        builder.append(offset, timestamp, key, value)
    data = bytes(builder.build())
    if codec != "none":
        data = patched(data, 0, ">q", base_offset + count - 1)
    return data


def log_of(sizes, start=0, **options):
    """Encode consecutive batches, and return them as a list of bytes.

    ``sizes`` contains the record count of every batch.
    """
    batches, offset = [], start
    for count in sizes:
        batches.append(batch(offset, count, **options))
        offset += count
    return batches


class Folder:
    """Partition directory under construction."""

    def __init__(self, path):
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def segment(self, base_offset, batches, suffix=".log"):
        """Write a segment that contains ``batches``.

        Return its path, and a list of (position, size) for the batches.
        """
        path = self.path / f"{base_offset:020}{suffix}"
        path.write_bytes(b"".join(batches))
        spans, position = [], 0
        for data in batches:
            spans.append((position, len(data)))
            position += len(data)
        return path, spans

    def beside(self, base_offset, suffix, form, *entries):
        """Write a file whose entries are packed with the ``struct`` format ``form``."""
        path = self.path / f"{base_offset:020}{suffix}"
        path.write_bytes(b"".join(struct.pack(form, *entry) for entry in entries))
        return path


def aborted_entry(producer, first, last, stable=0):
    """Pack a ``.txnindex`` entry."""
    return struct.pack(">hqqqq", 0, producer, first, last, stable)


def producer_snapshot(*entries):
    """Pack a producer snapshot.

    Every entry is a tuple of eight fields in Kafka's order.
    """
    body = struct.pack(">i", len(entries))
    body += b"".join(struct.pack(">qhiqiqiq", *entry) for entry in entries)
    return struct.pack(">hI", 1, crc32c.crc32c(body)) + body


def flip(path, position, mask=1):
    """Flip one bit of a file."""
    data = bytearray(path.read_bytes())
    data[position] ^= mask
    path.write_bytes(data)


def overwrite(path, position, content):
    """Replace the bytes of a file at ``position`` by ``content``."""
    data = bytearray(path.read_bytes())
    data[position : position + len(content)] = content
    path.write_bytes(data)
