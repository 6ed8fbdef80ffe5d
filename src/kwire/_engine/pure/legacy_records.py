# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes magic 0 and 1 messages as records.

An uncompressed message is a separate entry. Compressed messages are contained in the
value of a wrapper message. ``batches.py`` reads and checks all fields of a message
except its key and value, which are read here.

Twin: ``fast/legacy_records.pyx``. Differs from its twin in: errors are exceptions, and
``record_fast_lane.py`` is called first to read messages without errors.

Only in Python: ``collect_run``.
"""

from __future__ import annotations

from ... import errors
from ...schema.batch_layout import BATCH_OVERHEAD, CODEC_MASK, KEYS_AT, LOG_APPEND_TIME
from .batches import read_entry, wrap_int64
from .cursor import Cursor, CursorFault, read_int32, require
from .record_decoder import check_end, check_place, classes, make_failure
from .record_fast_lane import try_read_inner, try_read_run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ..record_types import BatchHeader, Record


def read_message_run(
    data: Buffer, header: BatchHeader, *, check_crc: bool = True, end: int | None = None
) -> tuple[tuple[Record, ...], BatchHeader]:
    """Read a run of similar uncompressed magic 0 or 1 messages.

    ``header`` describes the first message. The run ends before the first entry that is
    compressed, damaged or incomplete, or that has another magic or timestamp type, and
    at the latest at byte ``end``.

    Returns the records and a header for the whole run, with the base offset of the
    first and the last offset of the last message.

    Raises ``DecodeError`` only if the first message is invalid.
    """
    with memoryview(data) as raw, raw.cast("B") as view:
        stop = len(view) if end is None else min(end, len(view))
        check_place(header, stop)
        source = data if type(data) is bytes else view
        done = try_read_run(source, header, stop, check_crc, classes["record"])
        if done is None:
            done = collect_run(view, header, stop, check_crc)
    records, place, largest = done
    run = header.replace(
        size=place - header.position,
        last_offset=records[-1].offset,
        max_timestamp=largest,
        record_count=len(records),
    )
    return records, run


def collect_run(
    view: memoryview, first: BatchHeader, stop: int, check_crc: bool
) -> tuple[tuple[Record, ...], int, int]:
    """Read a run of similar messages, and check each field.

    Returns the records, the position after them, and their max timestamp.
    """
    entry = first
    place, largest = first.position, first.max_timestamp
    records: list[Record] = []
    while True:
        cursor = Cursor(view, entry.position, entry.position + entry.size)
        try:
            records.append(read_message(cursor, entry))
        except CursorFault as fault:
            if not records:
                failure = make_failure(fault, cursor)
                break
            # The next call begins with this message and raises the error.
            return tuple(records), place, largest
        place, largest = cursor.end, max(largest, entry.max_timestamp)
        try:
            following = read_entry(view, place, stop, check_crc)
        except CursorFault:
            following = None
        if (
            following is None
            or following.magic != first.magic
            or following.attributes != first.attributes
        ):
            return tuple(records), place, largest
        entry = following
    raise failure


def read_message(cursor: Cursor, header: BatchHeader) -> Record:
    """Read key and value of a magic 0 or 1 message. No bytes may remain.

    Shape: INT32 length (-1 is null) and bytes, twice.
    """
    cursor.at += KEYS_AT[header.magic]
    key = read_classic(cursor, "key")
    value = read_classic(cursor, "value")
    check_end(cursor)
    return classes["record"](
        offset=header.base_offset,
        timestamp=header.base_timestamp,
        key=None if key is None else bytes(cursor.data[key[0] : key[1]]),
        value=None if value is None else bytes(cursor.data[value[0] : value[1]]),
    )


def read_classic(cursor: Cursor, name: str) -> tuple[int, int] | None:
    """Read an INT32 length and skip that number of bytes.

    Returns the start and the end of the bytes, or None if the length is -1.
    """
    cursor.path.append(name)
    start = cursor.at
    length = read_int32(cursor)
    if length < -1:
        raise CursorFault(errors.BAD_LENGTH, start, length)
    if length >= 0:
        require(cursor, length)
        cursor.at += length
    cursor.path.pop()
    return None if length < 0 else (cursor.at - length, cursor.at)


def find_payload(data: Buffer, header: BatchHeader) -> tuple[int, int]:
    """Return start and end of an entry's compressed bytes.

    The key of a wrapper message is ignored. A wrapper message without a value is an
    error at its first byte.
    """
    end = header.position + header.size
    with memoryview(data) as view, view.cast("B") as source:
        check_place(header, view.nbytes)
        if header.magic == 2:
            return header.position + BATCH_OVERHEAD, end
        cursor = Cursor(source, header.position, end)
        try:
            cursor.at += KEYS_AT[header.magic]
            read_classic(cursor, "key")
            value = read_classic(cursor, "value")
            if value is None:
                raise CursorFault(errors.NULL_WRAPPER, header.position)
            check_end(cursor)
        except CursorFault as fault:
            failure = make_failure(fault, cursor)
        else:
            return value
        finally:
            cursor.data = b""
    raise failure


def read_inner_messages(
    data: Buffer, header: BatchHeader, *, check_crc: bool = True
) -> tuple[Record, ...]:
    """Read the messages inside a compressed wrapper message.

    ``data`` is the decompressed value, and ``header`` describes the wrapper message.
    All bytes must belong to messages. With ``check_crc``, the checksums of the messages
    are verified.

    Offsets of magic 0 are absolute. Offsets of magic 1 are relative: the wrapper
    message has the offset of its last message. If the wrapper message has offset 0, the
    offsets inside are used unchanged and count from 0, as some old producers wrote
    them. If the timestamp type is LogAppendTime, all records have the wrapper message's
    timestamp.

    Raises ``DecodeError`` at the wrapper message's first byte.

    Source: ``AbstractLegacyRecordBatch.DeepRecordsIterator``.
    """
    view = memoryview(data)
    view = view.cast("B") if view.nbytes else memoryview(b"")
    body = bytes(view)
    done = try_read_inner(body, header, check_crc, classes["record"])
    if done is not None:
        return done
    records: list[Record] = []
    cursor = Cursor(view, 0, len(view))
    try:
        at = 0
        while at < len(view):
            cursor.path[:] = ["records", len(records)]
            inner = read_entry(view, at, len(view), check_crc)
            if inner is None:
                raise CursorFault(errors.TRUNCATED, len(view), 1)
            if inner.magic != header.magic or inner.attributes & CODEC_MASK:
                raise CursorFault(errors.BAD_INNER_MESSAGE, at, len(records))
            cursor.at, cursor.end = at, at + inner.size
            records.append(read_message(cursor, inner))
            at += inner.size
        cursor.path.clear()
        if not records:
            raise CursorFault(errors.EMPTY_WRAPPER, 0)
        base = compute_base(records[-1].offset, header)
    except CursorFault as fault:
        fault.offset = header.position
        failure = make_failure(fault, cursor)
    else:
        if header.magic and header.attributes & LOG_APPEND_TIME:
            stamp = header.max_timestamp
            records = [record.replace(timestamp=stamp) for record in records]
        if base:
            records = [
                record.replace(offset=wrap_int64(record.offset + base))
                for record in records
            ]
        return tuple(records)
    raise failure


def compute_base(last: int, header: BatchHeader) -> int:
    """Compute the number to add to the offsets inside a wrapper message.

    ``last`` is the offset of the last message inside.
    """
    if header.magic == 0 or header.last_offset == 0:
        return 0
    if header.last_offset < last:
        raise CursorFault(errors.BAD_WRAPPER_OFFSET, 0, last)
    return header.last_offset - last
