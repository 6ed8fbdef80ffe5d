# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes messages of the KIP-87 draft.

The draft's magic 2 is one more message format: the layout of magic 1 with a bit of the
attributes that says "tombstone". Kafka's own magic 2, the record batch, came later and
is another thing with the same number; ``dialect_of`` distinguishes them by their
checksums. Messages of magic 0 and 1 are the same in both and are read here too.

One copy in plain Python serves both engines. ``compaction.py`` decides whether a
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
"""The bit that marks a tombstone, unless the caller names another.

The document names none. Of its day's attributes 0 to 2 are the compression and 3 the
timestamp type, and this is the first bit that was free.
"""

CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08

_LOG_OVERHEAD, _MAGIC_AT, _BATCH_CRC_AT, _BATCH_CRC_END = 12, 16, 17, 21
_LEAST_SIZES = (14, 22, 22)
"""Bytes that a message takes at least after its size, by magic."""

_CODECS_OF = 1
"""The magic whose codecs all messages may have: the draft is older than zstd."""

_INT64 = 2**63


class Message(NamedTuple):
    """One message: offset, timestamp (ms; -1 for none), key, value.

    ``magic`` is 0, 1 or the draft's 2, ``attributes`` the byte from 0 to 255. The
    compression bits are 0: ``decode`` opens compressed messages.
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
    """Encode messages as a message set; with ``compression``, as one that holds it.

    Shape: per message offset INT64, size INT32 (bytes that follow), crc UINT32
    (CRC-32 of the rest), magic INT8, attributes INT8, from magic 1 on timestamp INT64,
    key and value as INT32 length (-1 is null) and bytes. A compressed message holds
    such a set as its value, the offsets counted from 0 unless its magic is 0.
    Raises ``EncodeError``. Source: KIP-87, KIP-31, KIP-32.
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
    """Decode a message set of the draft; it may have messages of magic 0 and 1.

    An incomplete last message ends the set quietly, as a fetch may cut it. Compressed
    messages are opened. ``check_crc=False`` trusts the checksums, and with them that
    magic 2 is the draft's. Raises ``DecodeError``; its text names a record batch of
    Kafka's magic 2. Offsets of errors are bytes of ``data``, and of what was compressed
    the first byte of its message.
    """
    source = _read_bytes(data)
    found: list[Message] = []
    for start, end in _entries(source):
        if check_crc:
            _check_crc(source, start, end)
        message = _read_one(source, start, end)
        if message.attributes & CODEC_MASK:
            found += _open_wrapper(message, start, check_crc, limits)
        else:
            found.append(message)
    return tuple(found)


def dialect_of(data: Buffer) -> Dialect | None:
    """Find the dialect of the first entry of magic 2; None for none, or a damaged one.

    The draft's has its CRC-32 at byte 12 over all from byte 16 on, Kafka's its CRC-32C
    at byte 17 over all from byte 21 on.
    Raises ``CorruptBatch`` for entries whose sizes cannot be.
    """
    source = _read_bytes(data)
    for start, end in _entries(source):
        if source[start + _MAGIC_AT] == 2:
            return _dialect(source, start, end)
    return None


def require_dialect(data: Buffer, dialect: Dialect) -> None:
    """Check before reading that every entry of magic 2 is of one dialect.

    Raises ``CorruptBatch`` for the first that is not, and says which it is of.
    """
    if dialect not in _ASIDE:
        raise ValueError(f'dialect must be "kip87" or "kafka" (got {dialect!r:.40})')
    source = _read_bytes(data)
    for start, end in _entries(source):
        if source[start + _MAGIC_AT] == 2:
            found = _dialect(source, start, end)
            if found != dialect:
                raise _foreign(found, start)


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
    """Compress messages into one, whose offset is that of the last."""
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
    """Iterate over the complete entries: where each begins and ends (bytes)."""
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
    """Find the dialect of a complete entry by its checksums."""
    (crc,) = struct.unpack_from(">I", source, start + _LOG_OVERHEAD)
    if crc == zlib.crc32(memoryview(source)[start + _MAGIC_AT : end]):
        return "kip87"
    (crc,) = struct.unpack_from(">I", source, start + _BATCH_CRC_AT)
    if crc == engine.crc32c(source[start + _BATCH_CRC_END : end]):
        return "kafka"
    return None


def _check_crc(source: bytes, start: int, end: int) -> None:
    if source[start + _MAGIC_AT] == 2:
        found = _dialect(source, start, end)
        if found != "kip87":
            raise _foreign(found, start)
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
    """Read one complete entry; no byte of it may be left over."""
    offset, _, _, magic, attributes = struct.unpack_from(">qiIBB", source, start)
    if not KNOWN_CODECS[_CODECS_OF] >> (attributes & CODEC_MASK) & 1:
        codec = attributes & CODEC_MASK
        words = f"no compression has the number {codec} in this format"
        raise CorruptBatch(words, start)
    at = start + _MAGIC_AT + 2
    timestamp = -1
    if magic:
        (timestamp,) = struct.unpack_from(">q", source, at)
        at += 8
    key, at = _read_sized(source, at, end, "key")
    value, at = _read_sized(source, at, end, "value")
    if at != end:
        raise TrailingBytes(f"bytes left over in the message: {end - at}", at)
    return Message(offset, timestamp, key, value, magic, attributes)


def _read_sized(
    source: bytes, at: int, end: int, path: str
) -> tuple[bytes | None, int]:
    """Read an INT32 length and its bytes; return them and the place after."""
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
    """Open a compressed message by the rules of magic 1, or of 0 for that."""
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
    """Set offsets and timestamps of decompressed messages by those of the wrapper."""
    if any(row.magic != magic or row.attributes & CODEC_MASK for row in inner):
        words = (
            "a message within a compressed one must be uncompressed and of the same"
            " magic"
        )
        raise CorruptBatch(words, start)
    base, last = 0, inner[-1].offset
    # Some old producers left 0 there; what they sent counts from 0.
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
