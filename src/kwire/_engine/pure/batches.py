# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads batch headers: the size of a batch, its validity, and its fields.

An entry is a record batch (magic 2), a compressed wrapper message, or an uncompressed
message (both magic 0 or 1). Every entry begins with its offset (INT64) and the number
of bytes that follow (INT32), and byte 16 is always the magic. ``record_decoder.py`` and
``legacy_records.py`` read the content of an entry.

Twin: ``fast/batches.pyx``. Differs from its twin in: errors are exceptions.
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
    """Set the class of batch headers.

    The engine cannot import it, because the module of the class imports the engine.
    """
    _classes["header"] = cls


def read_batch_header(
    data: Buffer,
    position: int = 0,
    *,
    check_crc: bool = True,
    end: int | None = None,
) -> BatchHeader | None:
    """Read the header of the entry at byte ``position``.

    Returns None at the end of the input, which includes an incomplete last entry,
    because a Fetch response may truncate its last batch. ``end`` is the end of the
    input if ``data`` continues after it.

    The size of the entry is checked. With ``check_crc``, its checksum is checked too,
    otherwise no bytes after the header are read.

    Units: positions and sizes in bytes, timestamps in ms.

    Raises ``CorruptBatch`` at ``position`` if the entry is invalid, and ``ValueError``
    if ``position`` or ``end`` is outside of the input.

    Source: ``ByteBufferLogInputStream``, ``DefaultRecordBatch.ensureValid``,
    ``LegacyRecord.ensureValid``.
    """
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the input must be contiguous in memory; pass bytes(data)")
    # Use another empty view if the input is empty, because it cannot be cast.
    with view, view.cast("B") if view.nbytes else memoryview(b"") as source:
        stop = len(source) if end is None else end
        check_range(position, stop, len(source))
        try:
            return read_entry(source, position, stop, check_crc)
        except CursorFault as fault:
            failure = errors.decode_failure(fault.code, fault.detail, fault.offset, "")
    # Raise outside of the with block, so that a stored exception does not keep a
    # reference to the caller's buffer.
    raise failure


def read_last_header(
    data: Buffer, position: int = 0, *, end: int | None = None
) -> BatchHeader | None:
    """Read the header of the last complete entry from byte ``position`` on.

    Returns None if there is no complete entry. The function reads only the headers and
    does not verify checksums, because they are verified when the records are read. An
    incomplete last entry is ignored, because a Fetch response may truncate it.

    Units: positions and sizes in bytes.

    Raises ``CorruptBatch`` at the first entry that is invalid, and ``ValueError`` if
    ``position`` or ``end`` is outside of the input.

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
    """Measure the run of ordinary batches that begins at byte ``position``.

    A batch is ordinary if it is complete, has magic 2, begins before ``last_start``, is
    not compressed, and is neither transactional nor a control batch. Offsets in the run
    are contiguous: the first batch has the base offset ``expected``, and each other
    batch begins after the last offset of the previous one.

    The run ends before the first other entry, before it would exceed ``most_bytes``, or
    at ``end``. Returns the position (bytes) and the offset after the run. If the run is
    empty, these are the arguments ``position`` and ``expected``.

    The content of the input never causes an exception. With ``check_crc``, a batch with
    an incorrect checksum ends the run. Raises ``ValueError`` if ``position`` or ``end``
    is outside of the input.
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
                # Check the CRC last, because it takes the most time.
                if check_crc:
                    read_entry(source, position, end, True)
            except CursorFault:
                break
            expected = entry.last_offset + 1
            position += entry.size
    return position, expected


def check_range(position: int, end: int, size: int) -> None:
    """Raise ``ValueError`` if a position or an end is outside of the input.

    ``size`` is the length of the input in bytes.
    """
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
    """Read and validate the header of an entry, if the input contains the whole entry.

    Shape: offset INT64, size INT32, then for magic 2: partition leader epoch INT32,
    magic INT8, crc UINT32 (CRC-32C of all bytes after it), attributes INT16, last
    offset delta INT32, base timestamp INT64, max timestamp INT64, producer id INT64,
    producer epoch INT16, base sequence INT32, count INT32. For magic 0 and 1: crc
    UINT32 (CRC-32), magic INT8, attributes INT8, and only for magic 1 a timestamp
    INT64.
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
    """Read and validate the header of a complete magic 0 or 1 entry.

    With ``check_crc``, the checksum of the entry is verified as well.
    """
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
    """Reduce a sum to the range of INT64. Kafka's sums overflow in the same way."""
    return (value + 2**63) % 2**64 - 2**63
