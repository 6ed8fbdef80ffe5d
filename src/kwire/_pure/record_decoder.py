# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Records out of the bytes of a batch, as objects.

The bytes are those of an entry that ``batches.py`` has checked, or what their
decompression gave. Faults of plain bytes point to where they are in the input; those
of compressed ones to the first byte of the batch, as their bytes are not in it.
Lengths below -1 are refused, though Kafka takes each of them for null.

Twin: ``_fast/record_decoder.pyx``. Differs from its twin in: faults as exceptions,
and ``read_plainly``, straight-line Python for records without a fault.
Python needs for itself: ``read_plainly``, ``read_run_plainly``, ``settle_messages``,
``long_varint``, ``finish_run``, ``collect_run``.
"""

from __future__ import annotations

import struct

from .. import errors
from ..batch_layout import (
    BATCH_OVERHEAD,
    CODEC_MASK,
    KEYS_AT,
    LEAST_RECORD,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MAGIC_AT,
    MESSAGE_OVERHEADS,
)
from .batches import read_entry, wrap_int64
from .checksums import crc32
from .cursor import (
    Cursor,
    CursorFault,
    read_int32,
    read_uint8,
    read_unsigned_varint,
    read_unsigned_varlong,
    require,
)
from .path import path_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LEAST_HEADER = 2

_classes: dict[str, Any] = {}


def bind_record(cls: type) -> None:
    """Tell the engine which class a record is."""
    _classes["record"] = cls


def read_records(
    data: Any, header: Any, *, compressed: bool = False, replace: bool = False
) -> tuple[Any, ...]:
    """Read the records of a batch of magic 2.

    ``data`` is the input that ``header.position`` counts in, or, if ``compressed``,
    what decompression gave. With ``replace``, header keys that are not UTF-8 get
    U+FFFD for the bad bytes.
    Shape: ``header.count`` times: length VARINT, attributes INT8, timestamp delta
    VARLONG, offset delta VARINT, key and value each as VARINT length (-1 is null) and
    bytes, header count VARINT, then the headers: VARINT length and UTF-8 key, VARINT
    length (-1 is null) and value.
    Units: offsets and timestamps (ms) are absolute. Raises ``DecodeError``: every
    record uses its length exactly, and the records use all bytes.
    Source: ``DefaultRecord.readFrom``.
    """
    start = 0 if compressed else header.position + BATCH_OVERHEAD
    with memoryview(data) as view:
        if not compressed:
            check_place(header, view.nbytes)
        stop = view.nbytes if compressed else header.position + header.size
        if type(data) is bytes:
            # No copy of what can be sliced as it is.
            body, first, last = data, start, stop
        else:
            body = bytes(view.cast("B")[start:stop]) if stop > start else b""
            first, last = 0, len(body)
    if not 0 <= header.count <= (last - first) // LEAST_RECORD:
        raise errors.decode_failure(
            errors.BAD_RECORD_COUNT, header.count, header.position, ""
        )
    try:
        return read_plainly(body, first, last, header)
    except Exception:
        # Whatever went wrong, the walk below says what it was and where.
        cursor = Cursor(body, first, last)
    records = []
    try:
        for index in range(header.count):
            cursor.path[:] = ["records", index]
            records.append(read_record(cursor, header, replace))
        cursor.path.clear()
        check_end(cursor)
    except CursorFault as fault:
        fault.offset = header.position if compressed else start + fault.offset - first
        failure = make_failure(fault, cursor)
    else:
        return tuple(records)
    raise failure


def read_record(cursor: Cursor, header: Any, replace: bool) -> Any:
    """Read one record of magic 2; the cursor may end after it."""
    end = cursor.end
    start = cursor.at
    length = zigzag(read_unsigned_varint(cursor))
    if length < 0:
        raise CursorFault(errors.BAD_LENGTH, start, length)
    require(cursor, length)
    cursor.end = cursor.at + length
    read_uint8(cursor)
    timestamp = header.base_timestamp + zigzag(read_unsigned_varlong(cursor))
    if header.attributes & LOG_APPEND_TIME:
        timestamp = header.max_timestamp
    offset = header.base_offset + zigzag(read_unsigned_varint(cursor))
    cursor.path.append("key")
    key = read_sized(cursor)
    cursor.path[-1] = "value"
    value = read_sized(cursor)
    cursor.path[-1] = "headers"
    start = cursor.at
    count = zigzag(read_unsigned_varint(cursor))
    if not 0 <= count <= (cursor.end - cursor.at) // _LEAST_HEADER:
        raise CursorFault(errors.BAD_COUNT, start, count)
    headers = []
    for index in range(count):
        cursor.path += (index, "key")
        start = cursor.at
        name = read_sized(cursor)
        if name is None:
            raise CursorFault(errors.UNEXPECTED_NULL, start)
        text = decode_header_key(name, cursor.at, replace)
        cursor.path[-1] = "value"
        headers.append((text, read_sized(cursor)))
        del cursor.path[-2:]
    cursor.path.pop()
    check_end(cursor)
    cursor.end = end
    return _classes["record"](
        offset=wrap_int64(offset),
        timestamp=wrap_int64(timestamp),
        key=key,
        value=value,
        headers=tuple(headers),
    )


def read_sized(cursor: Cursor) -> bytes | None:
    """Read a VARINT length (bytes) and that many bytes, or None for -1."""
    start = cursor.at
    length = zigzag(read_unsigned_varint(cursor))
    if length < -1:
        raise CursorFault(errors.BAD_LENGTH, start, length)
    if length < 0:
        return None
    require(cursor, length)
    cursor.at += length
    return bytes(cursor.data[cursor.at - length : cursor.at])


def read_message_run(
    data: Any, header: Any, *, check_crc: bool = True, end: int | None = None
) -> Any:
    """Read a plain message of magic 0 or 1 and those after it that are like it.

    ``header`` is the first one's. The run ends before the first entry that is
    compressed, damaged, cut, of another magic or timestamp type, or after ``end``
    (bytes). Returns the records, and the header of the run: from the first to the last
    one's offset.
    Raises ``DecodeError`` for the first message alone.
    """
    with memoryview(data) as raw, raw.cast("B") as view:
        stop = len(view) if end is None else min(end, len(view))
        check_place(header, stop)
        source = data if type(data) is bytes else view
        return collect_run(source, view, header, stop, check_crc)


def collect_run(
    source: Any, view: memoryview, header: Any, stop: int, check_crc: bool
) -> Any:
    """Read a run of messages; ``source`` is the quicker way to what ``view`` shows."""
    made, place, largest = read_run_plainly(source, header, stop, check_crc)
    if made:
        for each in made:
            each.__class__ = _classes["record"]
        run = header.replace(
            size=place - header.position,
            last_offset=made[-1].offset,
            max_timestamp=largest,
            count=len(made),
        )
        return tuple(made), run
    first = last = before = header
    records: list[Any] = []
    largest = header.max_timestamp
    while True:
        cursor = Cursor(view, last.position, last.position + last.size)
        try:
            records.append(read_message(cursor, last))
        except CursorFault as fault:
            if last is first:
                failure = make_failure(fault, cursor)
                break
            # The next call begins with this one, and reports it.
            last = before
            return finish_run(first, last, records, largest)
        before, largest = last, max(largest, last.max_timestamp)
        try:
            following = read_entry(view, last.position + last.size, stop, check_crc)
        except CursorFault:
            following = None
        if (
            following is None
            or following.magic != first.magic
            or following.attributes != first.attributes
        ):
            return finish_run(first, last, records, largest)
        last = following
    raise failure


def finish_run(first: Any, last: Any, records: list[Any], largest: int) -> Any:
    """Make what ``read_message_run`` returns."""
    run = first.replace(
        size=last.position + last.size - first.position,
        last_offset=last.last_offset,
        max_timestamp=largest,
        count=len(records),
    )
    return tuple(records), run


def read_message(cursor: Cursor, header: Any) -> Any:
    """Read key and value of a message of magic 0 or 1; all of its bytes are used.

    Shape: INT32 length (-1 is null) and bytes, twice.
    """
    cursor.at += KEYS_AT[header.magic]
    key = read_classic(cursor, "key")
    value = read_classic(cursor, "value")
    check_end(cursor)
    return _classes["record"](
        offset=header.base_offset,
        timestamp=header.base_timestamp,
        key=None if key is None else bytes(cursor.data[key[0] : key[1]]),
        value=None if value is None else bytes(cursor.data[value[0] : value[1]]),
    )


def read_classic(cursor: Cursor, name: str) -> tuple[int, int] | None:
    """Read an INT32 length and find that many bytes: start and end, or None for -1."""
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


def check_end(cursor: Cursor) -> None:
    """Check that nothing is left of what the cursor reads."""
    if cursor.at != cursor.end:
        raise CursorFault(errors.TRAILING_BYTES, cursor.at, cursor.end - cursor.at)


def find_payload(data: Any, header: Any) -> tuple[int, int]:
    """Find the compressed bytes of a batch or wrapper message: start and end.

    A wrapper's key is skipped; one without a value is refused at its first byte.
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


def read_inner_messages(data: Any, header: Any, *, check_crc: bool = True) -> Any:
    """Read the messages that a compressed wrapper message holds.

    ``data`` is what decompression gave, ``header`` the wrapper's. Offsets of magic 0
    are as written; those of magic 1 count up to the wrapper's own, which is that of
    the last one (0 there means that they count from 0, as old producers wrote). Under
    log append time all have the wrapper's timestamp. All bytes are used; checksums of
    the messages are checked.
    Raises ``DecodeError`` at the wrapper's first byte.
    Source: ``AbstractLegacyRecordBatch.DeepRecordsIterator``.
    """
    view = memoryview(data).cast("B") if len(data) else memoryview(b"")
    body = bytes(view)
    records, at, _ = read_run_plainly(
        body, header.replace(position=0), len(body), check_crc, header.attributes
    )
    if records and at == len(body):
        return tuple(settle_messages(records, header))
    records = []
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
        base = base_of_messages(records[-1].offset, header)
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


def base_of_messages(last: int, header: Any) -> int:
    """Compute what to add to the offsets within a wrapper; ``last`` is the last one."""
    if header.magic == 0 or header.last_offset == 0:
        return 0
    if header.last_offset < last:
        raise CursorFault(errors.BAD_WRAPPER_OFFSET, 0, last)
    return int(header.last_offset - last)


def settle_messages(made: list[Any], header: Any) -> list[Any]:
    """Settle offsets and timestamps of the plain messages of a wrapper, and seal them.

    Raises ``DecodeError`` where the wrapper's own offset does not fit.
    """
    try:
        base = base_of_messages(made[-1].offset, header)
    except CursorFault as fault:
        fault.offset = header.position
        failure = make_failure(fault, Cursor(b"", 0, 0))
    else:
        fixed = header.magic and header.attributes & LOG_APPEND_TIME
        for each in made:
            if fixed:
                each.timestamp = header.max_timestamp
            if base:
                each.offset = wrap_int64(each.offset + base)
            each.__class__ = _classes["record"]
        return made
    raise failure


def check_place(header: Any, size: int) -> None:
    """Check that the input has the bytes of the entry of a header."""
    least = BATCH_OVERHEAD
    if 0 <= header.magic < 2:
        least = LOG_OVERHEAD + MESSAGE_OVERHEADS[header.magic]
    if (
        not 0 <= header.magic <= 2
        or header.size < least
        or not 0 <= header.position <= size
        or header.size > size - header.position
    ):
        raise ValueError(
            "the header must be of a batch in this input; read it from the same bytes"
        )


def make_failure(fault: CursorFault, cursor: Cursor) -> errors.DecodeError:
    """Turn a fault into the exception."""
    path = path_text(cursor.path)
    return errors.decode_failure(fault.code, fault.detail, fault.offset, path)


def read_plainly(data: bytes, at: int, end: int, header: Any) -> tuple[Any, ...]:
    """Read the records of a batch with nothing but slices; any exception is a fault.

    Each field's size moves the position, and each record's end is compared with it,
    so a slice that was cut at the end of ``data`` cannot pass unseen.
    """
    record = _classes["record"]
    builder = record._builder
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    fixed = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    lowest, highest = -(2**63), 2**63 - 1
    records = []
    for _ in range(header.count):
        byte = data[at]
        at += 1
        if byte > 127:
            byte, at = long_varint(data, at, byte)
        stop = at + (byte >> 1)
        if byte & 1 or stop > end:
            raise ValueError
        at += 1
        byte = data[at]
        at += 1
        if byte > 127:
            byte, at = long_varint(data, at, byte, 64)
        made = builder()
        if fixed is None:
            made.timestamp = base_timestamp + (byte >> 1 ^ -(byte & 1))
        else:
            made.timestamp = fixed
        byte = data[at]
        at += 1
        if byte > 127:
            byte, at = long_varint(data, at, byte)
        made.offset = base_offset + (byte >> 1 ^ -(byte & 1))
        byte = data[at]
        at += 1
        if byte > 127:
            byte, at = long_varint(data, at, byte)
        if byte == 1:
            made.key = None
        else:
            if byte & 1:
                raise ValueError
            byte >>= 1
            made.key = data[at : at + byte]
            at += byte
        byte = data[at]
        at += 1
        if byte > 127:
            byte, at = long_varint(data, at, byte)
        if byte == 1:
            made.value = None
        else:
            if byte & 1:
                raise ValueError
            byte >>= 1
            made.value = data[at : at + byte]
            at += byte
        byte = data[at]
        at += 1
        if byte:
            if byte > 127:
                byte, at = long_varint(data, at, byte)
            if byte & 1 or byte >> 1 > (stop - at) // _LEAST_HEADER:
                raise ValueError
            headers: list[tuple[str, bytes | None]] = []
            for _ in range(byte >> 1):
                byte = data[at]
                at += 1
                if byte > 127:
                    byte, at = long_varint(data, at, byte)
                if byte & 1:
                    raise ValueError
                byte >>= 1
                name = data[at : at + byte].decode()
                at += byte
                byte = data[at]
                at += 1
                if byte > 127:
                    byte, at = long_varint(data, at, byte)
                if byte == 1:
                    headers.append((name, None))
                else:
                    if byte & 1:
                        raise ValueError
                    byte >>= 1
                    headers.append((name, data[at : at + byte]))
                    at += byte
            made.headers = tuple(headers)
        else:
            made.headers = ()
        if at != stop or not (lowest <= made.timestamp <= highest):
            raise ValueError
        if not lowest <= made.offset <= highest:
            raise ValueError
        made.__class__ = record
        records.append(made)
    if at != end:
        raise ValueError
    return tuple(records)


_PLAIN = (struct.Struct(">qiIbbi"), struct.Struct(">qiIbbqi"))


def read_run_plainly(
    data: Any, header: Any, end: int, check_crc: bool, wrapper: int | None = None
) -> tuple[list[Any], int, int]:
    """Read plain messages that are like the first, as far as they have no fault.

    Returns them still unsealed, the position after them, and their max timestamp.
    ``wrapper`` has the attributes of the message that they are in.
    """
    builder = _classes["record"]._builder
    magic = header.magic
    unpack, size_of_head = _PLAIN[magic].unpack_from, _PLAIN[magic].size
    wanted = header.attributes if wrapper is None else 0
    at = header.position
    made: list[Any] = []
    largest = timestamp = -1
    while end - at >= size_of_head:
        if magic:
            offset, size, crc, found, attributes, timestamp, length = unpack(data, at)
        else:
            offset, size, crc, found, attributes, length = unpack(data, at)
        stop = at + LOG_OVERHEAD + size
        if found != magic or attributes != wanted or stop > end or length < -1:
            break
        if check_crc and crc32(data[at + MAGIC_AT : stop]) != crc:
            break
        place = at + size_of_head
        each = builder()
        if length < 0:
            each.key = None
        else:
            each.key = bytes(data[place : place + length])
            place += length
        if stop - place < 4:
            break
        length = int.from_bytes(data[place : place + 4], "big", signed=True)
        place += 4
        if length < 0:
            each.value = None
        else:
            each.value = bytes(data[place : place + length])
            place += length
        if place != stop or length < -1:
            break
        each.offset = offset
        each.timestamp = timestamp
        each.headers = ()
        made.append(each)
        if timestamp > largest or len(made) == 1:
            largest = timestamp
        at = stop
    return made, at, largest


def long_varint(data: bytes, at: int, byte: int, bits: int = 32) -> tuple[int, int]:
    """Read the rest of a varint after its first byte; an exception is a fault."""
    value = byte & 0x7F
    for shift in range(7, bits + 3, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 128:
            if value >> bits:
                break
            return value, at
    raise ValueError


def zigzag(raw: int) -> int:
    """Undo the zigzag form: 0, 1, 2, 3 mean 0, -1, 1, -2."""
    return (raw >> 1) ^ -(raw & 1)


def decode_header_key(name: bytes, end: int, replace: bool) -> str:
    """Decode a header key that ends at byte ``end``."""
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        if replace:
            return name.decode(errors="replace")
        raise CursorFault(errors.BAD_UTF8, end - len(name) + error.start) from None
