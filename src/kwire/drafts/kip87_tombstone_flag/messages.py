# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes messages according to the KIP-87 draft.

The draft's magic 2 is a message format with the layout of magic 1, in which an
attribute bit marks tombstones. Kafka's own magic 2, the record batch, was introduced
later. It is a different format with the same number, and ``dialect_of`` distinguishes
both by their checksums. Messages with magic 0 and 1 are identical in both dialects, and
are also supported here.

This Python implementation serves both engines. ``compaction.py`` determines whether a
message is a delete.
"""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..._engine.active import record_engine as engine
from ..._limits import DEFAULT, Limits
from ...errors import (
    CorruptBatch,
    DecodeError,
    EncodeError,
    InvalidLength,
    LimitExceeded,
    TrailingBytes,
    Truncated,
)
from ...records import compression as codecs
from ...schema.batch_layout import KNOWN_CODECS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Buffer

    Dialect = Literal["kip87", "kafka"]

_ASIDE = {
    "kip87": (
        "a message of the KIP-87 draft; read it with kwire.drafts.kip87_tombstone_flag"
    ),
    "kafka": "a record batch of Kafka's magic 2; read it with kwire.records",
}

TOMBSTONE_BIT = 0x10
"""Default bit that marks a tombstone.

The document does not specify a bit. When it was written, attribute bits 0 to 2
contained the compression and bit 3 the timestamp type. This is the first bit that was
available.
"""

CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08

_LOG_OVERHEAD, _MAGIC_AT, _BATCH_CRC_AT, _BATCH_CRC_END = 12, 16, 17, 21
_LEAST_SIZES = (14, 22, 22)
"""Minimum message size by magic, in bytes after the size field."""

_CODECS_OF = 1
"""Magic whose codecs all messages support, because the draft predates zstd."""

_INT64 = 2**63


class Message(NamedTuple):
    """Message with offset, timestamp (ms; -1 means no timestamp), key and value.

    ``magic`` is 0, 1 or the draft's 2. ``attributes`` is a byte from 0 to 255, in which
    the compression bits are 0, because ``decode`` decompresses messages.
    """

    offset: int = 0
    timestamp: int = -1
    key: bytes | None = None
    value: bytes | None = None
    magic: int = 2
    attributes: int = 0


def encode(
    messages: Iterable[Message],
    *,
    compression: Literal["none", "gzip", "snappy", "lz4"] = "none",
) -> bytes:
    """Encode messages as a message set, which ``compression`` wraps into one message.

    Every message consists of offset INT64, size INT32 (of the following bytes), crc
    UINT32 (CRC-32 of the following bytes), magic INT8, attributes INT8, timestamp INT64
    (magic 1 and 2), and key and value as INT32 length (-1 is null) and bytes. A
    compressed message contains such a set as its value. Inner offsets start from 0,
    unless the magic is 0.

    Raises ``EncodeError`` if a message cannot be represented. Source: KIP-87, KIP-31,
    KIP-32.
    """
    rows = tuple(messages)
    codec = codecs.codec_of(compression)
    for index, row in enumerate(rows):
        _check(row, f"messages[{index}]")
    if codec and rows:
        rows = (_wrap(rows, codec),)
    return b"".join(map(_encode_one, rows))


def decode(
    data: Buffer, *, check_crc: bool = True, limits: Limits = DEFAULT
) -> tuple[Message, ...]:
    """Decode a message set of the draft, which may also contain magic 0 and 1.

    * ``check_crc``: if False, checksums are not verified, and magic 2 is assumed to be
      the draft's.

    An incomplete last message ends the set without an error, because a fetch may
    truncate it. Compressed messages are decompressed.

    Raises ``DecodeError``. Its text identifies a record batch of Kafka's magic 2. Error
    offsets are byte positions in ``data``. For decompressed content, the offset is the
    first byte of the compressed message.
    """
    source = _read_bytes(data)
    messages: list[Message] = []
    for start, end in _entries(source):
        if check_crc:
            _check_crc(source, start, end)
        message = _read_one(source, start, end)
        if message.attributes & CODEC_MASK:
            messages += _open_wrapper(message, start, check_crc, limits)
        else:
            messages.append(message)
    return tuple(messages)


def dialect_of(data: Buffer) -> Dialect | None:
    """Detect the dialect of the first entry with magic 2.

    The draft has its CRC-32 at byte 12, which covers all bytes from byte 16. Kafka has
    its CRC-32C at byte 17, which covers all bytes from byte 21. Returns None if no
    entry has magic 2, or neither checksum matches. Raises ``CorruptBatch`` if an entry
    has an invalid size.
    """
    source = _read_bytes(data)
    for start, end in _entries(source):
        if source[start + _MAGIC_AT] == 2:
            return _dialect(source, start, end)
    return None


def require_dialect(data: Buffer, dialect: Dialect) -> None:
    """Check that all entries with magic 2 have the specified dialect.

    Call this function before decoding. Raises ``CorruptBatch`` for the first entry with
    another dialect, and names that dialect. Raises ``ValueError`` if ``dialect`` is not
    "kip87" or "kafka".
    """
    if dialect not in _ASIDE:
        raise ValueError(f'dialect must be "kip87" or "kafka" (got {dialect!r:.40})')
    source = _read_bytes(data)
    for start, end in _entries(source):
        if source[start + _MAGIC_AT] == 2:
            actual_dialect = _dialect(source, start, end)
            if actual_dialect != dialect:
                raise _foreign(actual_dialect, start)


def _read_bytes(data: Buffer) -> bytes:
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the input must be contiguous in memory; pass bytes(data)")
    return data if isinstance(data, bytes) else view.tobytes()


def _check(message: Message, path: str) -> None:
    magic, attributes = message.magic, message.attributes
    if magic not in (0, 1, 2):
        raise EncodeError(f"expected 0, 1 or 2, got {magic!r:.40}", f"{path}.magic")
    if not isinstance(attributes, int) or not 0 <= attributes <= 0xFF:
        expected = f"expected 0 to 255, got {attributes!r:.40}"
        raise EncodeError(expected, f"{path}.attributes")
    if attributes & CODEC_MASK:
        expected = "the compression bits must be 0; encode sets them"
        raise EncodeError(expected, f"{path}.attributes")
    for name in ("offset", "timestamp"):
        number = getattr(message, name)
        if not isinstance(number, int) or not -_INT64 <= number < _INT64:
            expected = f"expected an int64, got {number!r:.40}"
            raise EncodeError(expected, f"{path}.{name}")
    for name in ("key", "value"):
        content = getattr(message, name)
        if content is not None and not isinstance(content, bytes):
            expected = f"expected bytes or None, got {type(content).__name__}"
            raise EncodeError(expected, f"{path}.{name}")


def _encode_one(message: Message) -> bytes:
    parts = [bytes((message.magic, message.attributes))]
    if message.magic:
        parts.append(struct.pack(">q", message.timestamp))
    for content in (message.key, message.value):
        parts.append(struct.pack(">i", -1 if content is None else len(content)))
        parts.append(content or b"")
    body = b"".join(parts)
    head = struct.pack(">qiI", message.offset, len(body) + 4, zlib.crc32(body))
    return head + body


def _wrap(rows: tuple[Message, ...], codec: int) -> Message:
    """Compress messages into one message, which has the offset of the last message."""
    codecs.check_magic(codec, _CODECS_OF)
    magic, kind = rows[0].magic, rows[0].attributes & LOG_APPEND_TIME
    if any((r.magic, r.attributes & LOG_APPEND_TIME) != (magic, kind) for r in rows):
        raise EncodeError("must have the same magic and timestamp type", "messages")
    if kind and len({row.timestamp for row in rows}) > 1:
        raise EncodeError("must have the same log append time", "messages")
    offsets = [row.offset for row in rows]
    if offsets[0] < 0 or any(one >= other for one, other in pairwise(offsets)):
        raise EncodeError("offsets must be 0 or more and ascend", "messages")
    base = offsets[0] if magic else 0
    inner = b"".join(_encode_one(r._replace(offset=r.offset - base)) for r in rows)
    return Message(
        offset=offsets[-1],
        timestamp=max(row.timestamp for row in rows),
        value=codecs.compress(codec, inner, magic),
        magic=magic,
        attributes=codec | kind,
    )


def _entries(source: bytes) -> Iterator[tuple[int, int]]:
    """Iterate over the start and end positions (bytes) of the complete entries."""
    start = 0
    while len(source) - start >= _LOG_OVERHEAD:
        (size,) = struct.unpack_from(">i", source, start + 8)
        if size < _LEAST_SIZES[0]:
            raise CorruptBatch(
                f"a message of {size} bytes is smaller than its own header", start
            )
        if len(source) - start <= _MAGIC_AT:
            return
        magic = source[start + _MAGIC_AT]
        if magic > 2:
            raise CorruptBatch(f"magic must be 0, 1 or 2 (got {magic})", start)
        end = start + _LOG_OVERHEAD + size
        if end > len(source):
            return
        if size < _LEAST_SIZES[magic]:
            words = f"a message of {size} bytes is smaller than its own header"
            raise CorruptBatch(words, start)
        yield start, end
        start = end


def _dialect(source: bytes, start: int, end: int) -> Dialect | None:
    """Detect the dialect of a complete entry by its checksums.

    Returns None if neither of the two checksums is correct.
    """
    (crc,) = struct.unpack_from(">I", source, start + _LOG_OVERHEAD)
    if crc == zlib.crc32(memoryview(source)[start + _MAGIC_AT : end]):
        return "kip87"
    (crc,) = struct.unpack_from(">I", source, start + _BATCH_CRC_AT)
    if crc == engine.crc32c(source[start + _BATCH_CRC_END : end]):
        return "kafka"
    return None


def _check_crc(source: bytes, start: int, end: int) -> None:
    if source[start + _MAGIC_AT] == 2:
        dialect = _dialect(source, start, end)
        if dialect != "kip87":
            raise _foreign(dialect, start)
        return
    (crc,) = struct.unpack_from(">I", source, start + _LOG_OVERHEAD)
    actual = zlib.crc32(memoryview(source)[start + _MAGIC_AT : end])
    if actual != crc:
        words = f"the bytes have the checksum {actual:#010x}, not the one stored"
        raise CorruptBatch(words, start)


def _foreign(found: Dialect | None, start: int) -> CorruptBatch:
    if found is None:
        return CorruptBatch(
            "neither the CRC-32 of the KIP-87 draft nor the CRC-32C of Kafka's record"
            " batches matches these bytes of magic 2",
            start,
        )
    return CorruptBatch(f"by its checksum {_ASIDE[found]}", start)


def _read_one(source: bytes, start: int, end: int) -> Message:
    """Decode one complete entry. Raises ``TrailingBytes`` if bytes are left over."""
    offset, _, _, magic, attributes = struct.unpack_from(">qiIBB", source, start)
    if not KNOWN_CODECS[_CODECS_OF] >> (attributes & CODEC_MASK) & 1:
        codec = attributes & CODEC_MASK
        words = f"no compression has the number {codec} in this format"
        raise CorruptBatch(words, start)
    position = start + _MAGIC_AT + 2
    timestamp = -1
    if magic:
        (timestamp,) = struct.unpack_from(">q", source, position)
        position += 8
    key, position = _read_sized(source, position, end, "key")
    value, position = _read_sized(source, position, end, "value")
    if position != end:
        raise TrailingBytes(
            f"bytes left over in the message: {end - position}", position
        )
    return Message(offset, timestamp, key, value, magic, attributes)


def _read_sized(
    source: bytes, at: int, end: int, path: str
) -> tuple[bytes | None, int]:
    """Read an INT32 length and the bytes after it.

    Returns the bytes, or None if the length is -1, and the position after the bytes.
    Raises ``Truncated`` or ``InvalidLength`` with ``path`` if the length is invalid.
    """
    start = at + 4
    if end < start:
        words = f"the message ends here, bytes still needed: {start - end}"
        raise Truncated(words, end, path)
    (length,) = struct.unpack_from(">i", source, at)
    if length == -1:
        return None, start
    if length < 0:
        raise InvalidLength(f"{length} is not a valid length", at, path)
    if length > end - start:
        words = f"the message ends here, bytes still needed: {length - (end - start)}"
        raise Truncated(words, end, path)
    return source[start : start + length], start + length


def _open_wrapper(
    wrapper: Message, start: int, check_crc: bool, limits: Limits
) -> list[Message]:
    """Decompress a message according to the rules for its magic (0 or 1).

    Magic 2 follows the rules for magic 1.
    """
    if wrapper.value is None:
        raise CorruptBatch("a compressed message without a value", start)
    magic, kind = wrapper.magic, wrapper.attributes & LOG_APPEND_TIME
    codec = wrapper.attributes & CODEC_MASK
    content = codecs.decompress(codec, wrapper.value, magic, limits, start)
    inner: list[Message] = []
    try:
        source, end = bytes(content), 0
        for begin, end in _entries(source):
            if check_crc:
                _check_crc(source, begin, end)
            inner.append(_read_one(source, begin, end))
            if limits.records is not None and len(inner) > limits.records:
                words = (
                    "more records than limits allow; pass"
                    " limits=kwire.Limits(records=...) to allow more"
                )
                raise LimitExceeded(words, begin)
        if end != len(source) or not inner:
            words = f"{len(source) - end} bytes that are not a complete message"
            raise CorruptBatch(words, end)
    except DecodeError as fault:
        failure = type(fault)(f"in a compressed message: {fault.reason}", start)
    else:
        return _add_place(inner, wrapper, magic, kind, start)
    raise failure


def _add_place(
    inner: list[Message], wrapper: Message, magic: int, kind: int, start: int
) -> list[Message]:
    """Set the offsets and timestamps of decompressed messages from their wrapper."""
    if any(row.magic != magic or row.attributes & CODEC_MASK for row in inner):
        words = (
            "a message within a compressed one must be uncompressed and of the same"
            " magic"
        )
        raise CorruptBatch(words, start)
    base, last = 0, inner[-1].offset
    # Some old producers set the wrapper offset to 0. Their inner offsets count from 0.
    if magic and wrapper.offset:
        base = wrapper.offset - last
    if magic and (base < 0 or any(not 0 <= row.offset <= last for row in inner)):
        words = "the offsets in a compressed message do not end with its own"
        raise CorruptBatch(f"{words} {wrapper.offset}", start)
    return [
        row._replace(
            offset=row.offset + base,
            timestamp=wrapper.timestamp if kind else row.timestamp,
            attributes=row.attributes & ~LOG_APPEND_TIME | kind,
        )
        for row in inner
    ]
