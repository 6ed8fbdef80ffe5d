# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Empty responses of size 0, which drafts of KIP-35 send to unknown requests.

The text of documents 000 and 001 asks for a header "with Length=0". For correlation
id 7 that can be read in three ways:

    A  00000004 00000007   the size counts the id: what ``kwire.connection`` speaks
    B  00000000 00000007   the size is literally 0, and the id comes after the frame
    C  00000000            there is no id, so its request is not known

``EmptyResponses`` changes a stream of reading B into one of reading A, or the other way
round. The connection between does not know of it.
"""

from __future__ import annotations

_SIZE_BYTES = 4
_ID_BYTES = 4


class EmptyResponses:
    """Changes the sizes of empty responses in a stream, and nothing else.

        literal = EmptyResponses.reader()
        for event in connection.receive_data(literal.convert(sock.recv(65536))): ...

    Shape: INT32 size and a frame, again and again. A ``reader`` makes 4 of a size of 0,
    a ``writer`` makes 0 of a size of 4, and both leave the 4 bytes of the correlation
    id as they are. Not for SASL tokens without a header: they may have 0 or 4 bytes.
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
        """Convert what a server of the drafts sends, for a client connection."""
        return cls(0, _ID_BYTES)

    @classmethod
    def writer(cls) -> EmptyResponses:
        """Convert what a server connection sends, for a client of the drafts."""
        return cls(_ID_BYTES, 0)

    def convert(self, chunk: bytes) -> bytes:
        """Take the next bytes of the stream; return as many, with the sizes changed."""
        data = bytearray(chunk)
        at, end = 0, len(data)
        while at < end:
            if self._left:
                step = min(self._left, end - at)
                self._left -= step
                at += step
                continue
            self._size = self._size << 8 | data[at]
            self._size_bytes += 1
            if self._size_bytes == _SIZE_BYTES:
                self._left = self._size
                if self._size == self._before:
                    # The other three bytes are 0 in both sizes.
                    data[at] = self._after
                    self._left = _ID_BYTES
                self._size = self._size_bytes = 0
            at += 1
        return bytes(data)
