# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads Arrow files and streams message by message, with a limit on decompressed size.

    file -> messages -> check the declared sizes -> stream for pyarrow

A compressed buffer begins with its decompressed size, and pyarrow allocates that size.
A message with a few kilobytes can declare gigabytes. Therefore the declared sizes are
added up before pyarrow decompresses a message. The maximum per message is
``MAX_DECOMPRESSED_BYTES``.

Source: ``Message.fbs`` of Arrow (``Message``, ``RecordBatch``, ``BodyCompression``).
"""

from __future__ import annotations

from struct import error as struct_error
from struct import pack, unpack_from
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DECOMPRESSED_BYTES = 1 << 30

_FILE_START = b"ARROW1\0\0"
_FILE_END = b"ARROW1"
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


def read_batches(file: BinaryIO, pyarrow: Any) -> Iterator[Any]:
    """Iterate over the record batches in an Arrow stream or an Arrow file.

    ``file`` may be a pipe, because an Arrow file is read sequentially: it consists of
    padding, an Arrow stream and a footer. A stream without an end marker is rejected
    after its last batch, because ``kwire read`` omits the end marker if it fails.

    Raises ``ValueError`` if a message is too large or the end is missing. Exceptions
    from pyarrow are propagated.
    """
    start = file.read(len(_FILE_START))
    is_file = start == _FILE_START
    while is_file and start in (_FILE_START, bytes(8)):
        # Skip the magic bytes of an Arrow file and the padding after them, because some
        # writers align the first message to 64 bytes.
        start = file.read(8)
    joined = _JoinedStream(start, file)
    yield from pyarrow.ipc.open_stream(_CheckedStream(joined, pyarrow))
    if joined.is_at_end:
        raise ValueError(
            "the Arrow stream has no end marker; it is truncated, or its writer failed"
        )
    if is_file and not file.read().endswith(_FILE_END):
        raise ValueError("the Arrow file has no end; it is truncated")


class _JoinedStream:
    """Binary stream that prepends the bytes that have already been read.

    ``is_at_end`` becomes True if a ``read`` returned fewer bytes than requested.
    """

    closed = False
    is_at_end = False

    def __init__(self, start: bytes, file: BinaryIO) -> None:
        self._start = start
        self._file = file

    def readable(self) -> bool:
        """Return True, because pyarrow requires a readable stream."""
        return True

    def read(self, size: int) -> bytes:
        """Read ``size`` bytes, or fewer at the end of the stream."""
        start, self._start = self._start[:size], self._start[size:]
        data = self._file.read(size - len(start))
        self.is_at_end = len(start) + len(data) < size
        return start + data if start else data


class _CheckedStream:
    """Binary stream that checks the declared sizes in messages."""

    closed = False

    def __init__(self, stream: _JoinedStream, pyarrow: Any) -> None:
        self._messages = pyarrow.ipc.MessageReader.open_stream(stream)
        # Unread parts from the current message as memoryviews, in order.
        self._parts: list[Any] = []

    def readable(self) -> bool:
        """Return True, because pyarrow requires a readable stream."""
        return True

    def read(self, size: int) -> Any:
        """Read ``size`` bytes, or fewer at the end of the last message."""
        if not self._parts:
            self._read_message()
        if not self._parts:
            return b""
        part = self._parts.pop(0)
        if len(part) > size:
            self._parts.insert(0, part[size:])
        elif len(part) < size and self._parts:
            return bytes(part) + bytes(self.read(size - len(part)))
        return part[:size]

    def _read_message(self) -> None:
        try:
            message = self._messages.read_next_message()
        except StopIteration:
            return
        metadata, body = memoryview(message.metadata), memoryview(message.body or b"")
        _check_declared_bytes(metadata, body)
        padding = bytes(-len(metadata) % 8)
        size = len(metadata) + len(padding)
        start = pack("<Ii", 0xFFFFFFFF, size) + bytes(metadata) + padding
        self._parts = [part for part in (memoryview(start), body) if len(part)]


def _check_declared_bytes(metadata: memoryview, body: memoryview) -> None:
    """Check the total decompressed size that a message declares.

    Raises ``ValueError`` if the size exceeds ``MAX_DECOMPRESSED_BYTES``, or if the
    metadata refers to bytes outside the message.
    """
    try:
        size = sum(_list_declared_bytes(metadata, body))
    except struct_error:
        raise ValueError("an Arrow message has wrong positions of buffers") from None
    if size > MAX_DECOMPRESSED_BYTES:
        raise ValueError(
            f"a record batch has {size} bytes when it is decompressed, and the maximum"
            f" is {MAX_DECOMPRESSED_BYTES}; write smaller record batches"
        )


def _list_declared_bytes(metadata: memoryview, body: memoryview) -> Iterator[int]:
    """Iterate over the declared decompressed sizes of compressed buffers."""
    message = unpack_from("<I", metadata)[0]
    kind = _find_field(metadata, message, 1)
    header = _find_field(metadata, message, 2)
    if not kind or not header:
        return
    batch = _follow(metadata, header)
    if metadata[kind] == _DICTIONARY_BATCH:
        batch = _follow(metadata, _find_field(metadata, batch, 1))
    elif metadata[kind] != _RECORD_BATCH:
        return
    buffers = _find_field(metadata, batch, 2)
    if not buffers or not _find_field(metadata, batch, 3):
        return
    vector = _follow(metadata, buffers)
    for index in range(unpack_from("<I", metadata, vector)[0]):
        offset, length = unpack_from("<qq", metadata, vector + 4 + 16 * index)
        if length >= 8:
            # The size -1 marks a buffer that is not compressed.
            yield max(0, unpack_from("<q", body, offset)[0])


def _find_field(data: memoryview, table: int, index: int) -> int:
    """Return the position of a flatbuffers table's field, or 0 if it is absent."""
    layout = table - unpack_from("<i", data, table)[0]
    entry_position = 4 + 2 * index
    if entry_position >= unpack_from("<H", data, layout)[0]:
        return 0
    offset = unpack_from("<H", data, layout + entry_position)[0]
    return table + offset if offset else 0


def _follow(data: memoryview, position: int) -> int:
    """Return the position to which the flatbuffers offset at ``position`` refers."""
    target: int = position + unpack_from("<I", data, position)[0]
    return target
