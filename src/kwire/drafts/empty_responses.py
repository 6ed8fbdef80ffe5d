# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Converts the empty responses that KIP-35 drafts send for unknown requests.

Documents 000 and 001 require a header "with Length=0". For correlation id 7, this can
be interpreted in three ways:

    A  00000004 00000007   the size includes the id, as in ``kwire.connection``
    B  00000000 00000007   the size is literally 0, and the id follows the frame
    C  00000000            without an id, the request cannot be identified

``EmptyResponses`` converts a stream from interpretation B to A, or in the opposite
direction. The connection is not aware of the conversion.
"""

from __future__ import annotations

_SIZE_BYTES = 4
_ID_BYTES = 4


class EmptyResponses:
    """Converts the sizes of empty responses in a stream. Other bytes are unchanged.

        literal = EmptyResponses.reader()
        for event in connection.receive_data(literal.convert(sock.recv(65536))): ...

    The stream consists of frames, which follow their INT32 size. A ``reader`` replaces
    the size 0 with 4, and a ``writer`` replaces 4 with 0. Both leave the 4 bytes of the
    correlation id unchanged. This class does not support SASL tokens without a header,
    because these may have 0 or 4 bytes.
    """

    __slots__ = ("_after", "_before", "_left", "_size", "_size_bytes")

    def __init__(self, before: int, after: int) -> None:
        self._before = before
        self._after = after
        self._size = 0
        self._size_bytes = 0
        self._left = 0

    @classmethod
    def reader(cls) -> EmptyResponses:
        """Create a converter for a client connection that receives draft responses."""
        return cls(0, _ID_BYTES)

    @classmethod
    def writer(cls) -> EmptyResponses:
        """Create a converter for a server connection that responds to draft clients."""
        return cls(_ID_BYTES, 0)

    def convert(self, chunk: bytes) -> bytes:
        """Convert the next bytes in the stream. Returns the same number of bytes."""
        data = bytearray(chunk)
        position, end = 0, len(data)
        while position < end:
            if self._left:
                step = min(self._left, end - position)
                self._left -= step
                position += step
                continue
            self._size = self._size << 8 | data[position]
            self._size_bytes += 1
            if self._size_bytes == _SIZE_BYTES:
                self._left = self._size
                if self._size == self._before:
                    # The preceding three size bytes are 0 in both cases.
                    data[position] = self._after
                    self._left = _ID_BYTES
                self._size = self._size_bytes = 0
            position += 1
        return bytes(data)
