# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads batch headers: where a batch ends, whether it is valid, and its fields.

An entry is a record batch (magic 2), a compressed wrapper message or a plain message
(both magic 0 or 1). All begin with the offset, INT64, and the size of what follows,
INT32; the magic is always byte 16. ``record_decoder.py`` and ``legacy_records.py``
read what an entry holds.

Twin: ``fast/batches.pyx``. Differs from its twin in: faults as exceptions.
"""

from __future__ import annotations

import struct

from ... import errors
from ...schema.batch_layout import (
    ATTRIBUTES_AT,
    BATCH_OVERHEAD,
    CODEC_MASK,
    CONTROL,
    KNOWN_CODECS,
    LEAST_RECORD,
    LOG_OVERHEAD,
    MAGIC_AT,
    MESSAGE_OVERHEADS,
    MESSAGE_TIMESTAMP_AT,
    TRANSACTIONAL,
)
from .checksums import crc32, crc32c
from .cursor import CursorFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ..record_types import BatchHeader

_BATCH_HEADER = struct.Struct(">qiibIhiqqqhii")
_MESSAGE_HEADER = struct.Struct(">qiIbb")

_classes: dict[str, type[BatchHeader]] = {}


def bind_batch_header(cls: type[BatchHeader]) -> None:
    """Set the class of batch headers, which the engine cannot import."""
    _classes["header"] = cls


def read_batch_header(
    data: Buffer,
    position: int = 0,
    *,
    check_crc: bool = True,
    end: int | None = None,
) -> BatchHeader | None:
    """Read the header of the entry at byte ``position``; None at the end of the input.

    The input ends where it has no complete entry any more: a fetch may cut its last
    one. ``end`` is where to stop before the end of ``data``. The size of the entry is
    checked, and its checksum unless ``check_crc`` is off; without that, nothing after
    the header is read.
    Units: positions and sizes in bytes, timestamps in ms.
    Raises ``CorruptBatch`` at ``position``. Source: ``ByteBufferLogInputStream``,
    ``DefaultRecordBatch.ensureValid``, ``LegacyRecord.ensureValid``.
    """
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the input must be contiguous in memory; pass bytes(data)")
    # An empty view cannot be cast; it has nothing to read either.
    with view, view.cast("B") if view.nbytes else memoryview(b"") as source:
        stop = len(source) if end is None else end
        check_range(position, stop, len(source))
        try:
            return read_entry(source, position, stop, check_crc)
        except CursorFault as fault:
            failure = errors.decode_failure(fault.code, fault.detail, fault.offset, "")
    # Outside, so that a kept exception does not keep the caller's buffer.
    raise failure


def read_last_header(
    data: Buffer, position: int = 0, *, end: int | None = None
) -> BatchHeader | None:
    """Read the header of the last complete entry from byte ``position`` on.

    None where no complete entry is left. Walks from header to header and looks at
    nothing else: checksums are checked where records are read. An incomplete
    entry after it is passed over, as a fetch may cut it.
    Units: positions and sizes in bytes.
    Raises ``CorruptBatch`` at the first entry that cannot be one.
    Source: KIP-74; ``MemoryRecords.batches``.
    """
    last = None
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the input must be contiguous in memory; pass bytes(data)")
    with view, view.cast("B") if view.nbytes else memoryview(b"") as source:
        stop = len(source) if end is None else end
        check_range(position, stop, len(source))
        try:
            while (entry := read_entry(source, position, stop, False)) is not None:
                last = entry
                position += entry.size
            return last
        except CursorFault as fault:
            failure = errors.decode_failure(fault.code, fault.detail, fault.offset, "")
    raise failure


def measure_run(
    data: Buffer,
    position: int,
    end: int,
    *,
    last_start: int,
    most_bytes: int,
    expected: int,
    check_crc: bool = True,
) -> tuple[int, int]:
    """Measure the run of ordinary batches from byte ``position`` on.

    Ordinary is a whole batch of magic 2 that begins before ``last_start`` and with the
    offset after its neighbour's last one, the first with ``expected``, and is neither
    compressed nor part of a transaction nor a control batch. The run ends where it
    would have more than ``most_bytes``, at the first other entry, or at ``end``.
    Returns the byte and the offset after it; those that were given, if it is empty.
    Never raises for what is in the bytes.
    """
    first = position
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the input must be contiguous in memory; pass bytes(data)")
    with view, view.cast("B") if view.nbytes else memoryview(b"") as source:
        check_range(position, end, len(source))
        while position < last_start:
            try:
                entry = read_entry(source, position, end, False)
                if (
                    entry is None
                    or entry.magic != 2
                    or entry.attributes & (CODEC_MASK | TRANSACTIONAL | CONTROL)
                    or entry.base_offset != expected
                    or entry.last_offset < expected
                    or entry.last_offset == 2**63 - 1
                    or position + entry.size - first > most_bytes
                ):
                    break
                # Last, as it takes longest.
                if check_crc:
                    read_entry(source, position, end, True)
            except CursorFault:
                break
            expected = entry.last_offset + 1
            position += entry.size
    return position, expected


def check_range(position: int, end: int, size: int) -> None:
    """Refuse a position or an end outside of an input of ``size`` bytes."""
    if not 0 <= end <= size:
        raise ValueError(
            f"end must be 0 to {size}, the length of the input (got {end})"
        )
    if not 0 <= position <= end:
        raise ValueError(
            f"position must be 0 to {end}, where the input ends (got {position})"
        )


def read_entry(
    data: bytes | memoryview, position: int, end: int, check_crc: bool
) -> BatchHeader | None:
    """Read the header of an entry and check the entry; None at the end.

    Shape: offset INT64, size INT32, then for magic 2: partition leader epoch INT32,
    magic INT8, crc UINT32 (CRC-32C of what follows it), attributes INT16, last offset
    delta INT32, base timestamp INT64, max timestamp INT64, producer id INT64, producer
    epoch INT16, base sequence INT32, count INT32; for magic 0 and 1: crc UINT32
    (CRC-32), magic INT8, attributes INT8, and for 1 a timestamp INT64.
    """
    left = end - position
    if left < LOG_OVERHEAD:
        return None
    offset, size = struct.unpack_from(">qi", data, position)
    if size < MESSAGE_OVERHEADS[0]:
        raise CursorFault(errors.BAD_BATCH_SIZE, position, size)
    if left <= MAGIC_AT:
        return None
    magic = data[position + MAGIC_AT]
    if magic > 2:
        raise CursorFault(errors.BAD_MAGIC, position, magic - (magic >> 7 << 8))
    if size > left - LOG_OVERHEAD:
        return None
    if magic < 2:
        return read_message_head(data, position, size, magic, check_crc)
    if size < BATCH_OVERHEAD - LOG_OVERHEAD:
        raise CursorFault(errors.BAD_BATCH_SIZE, position, size)
    (
        *_,
        leader_epoch,
        magic,
        crc,
        attributes,
        last_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    ) = _BATCH_HEADER.unpack_from(data, position)
    stop = position + LOG_OVERHEAD + size
    if check_crc:
        found = crc32c(data[position + ATTRIBUTES_AT : stop])
        if found != crc:
            raise CursorFault(errors.BAD_CRC, position, found)
    codec = attributes & CODEC_MASK
    if not KNOWN_CODECS[2] >> codec & 1:
        raise CursorFault(errors.BAD_CODEC, position, codec)
    room = (size - BATCH_OVERHEAD + LOG_OVERHEAD) // LEAST_RECORD
    if count < 0 or (count > room and not codec):
        raise CursorFault(errors.BAD_RECORD_COUNT, position, count)
    return _classes["header"](
        position=position,
        size=LOG_OVERHEAD + size,
        magic=magic,
        attributes=attributes,
        crc=crc,
        base_offset=offset,
        last_offset=wrap_int64(offset + last_delta),
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        partition_leader_epoch=leader_epoch,
        record_count=count,
    )


def read_message_head(
    data: bytes | memoryview, position: int, size: int, magic: int, check_crc: bool
) -> BatchHeader:
    """Read the header of a complete entry of magic 0 or 1."""
    if size < MESSAGE_OVERHEADS[magic]:
        raise CursorFault(errors.BAD_BATCH_SIZE, position, size)
    offset, _, crc, _, attributes = _MESSAGE_HEADER.unpack_from(data, position)
    stop = position + LOG_OVERHEAD + size
    if check_crc:
        found = crc32(data[position + MAGIC_AT : stop])
        if found != crc:
            raise CursorFault(errors.BAD_CRC, position, found)
    codec = attributes & CODEC_MASK
    if not KNOWN_CODECS[magic] >> codec & 1:
        raise CursorFault(errors.BAD_CODEC, position, codec)
    timestamp = -1
    if magic:
        (timestamp,) = struct.unpack_from(">q", data, position + MESSAGE_TIMESTAMP_AT)
    return _classes["header"](
        position=position,
        size=LOG_OVERHEAD + size,
        magic=magic,
        attributes=attributes,
        crc=crc,
        base_offset=offset,
        last_offset=offset,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        record_count=-1 if codec else 1,
    )


def wrap_int64(value: int) -> int:
    """Bring a sum into the range of INT64, as Kafka's own sums overflow."""
    return (value + 2**63) % 2**64 - 2**63
