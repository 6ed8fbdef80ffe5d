# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FrameSplitter``: splits a stream of bytes into frames.

    INT32 size | frame of that size | INT32 size | frame | ...

Bytes come in one of two ways: as a chunk that the caller received, or received into
memory of the splitter, where a large frame then stays. ``framing.py`` decodes frames.
"""

from __future__ import annotations

from collections import deque
from struct import Struct

from .._limits import DEFAULT, Limits
from ..errors import DecodeError, InvalidLength, LimitExceeded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from typing_extensions import Buffer

    from .._engine.pure.arrays import Memory

    Frame: TypeAlias = bytes | memoryview

_size_at = Struct(">i").unpack_from

_SIZE_BYTES = 4
_HIGHEST_SIZE = 0x7FFFFFFF
_TLS_ALERT, _TLS_HANDSHAKE = 0x15, 0x16
_HTTP_RESPONSE = b"HTTP"
_HTTP_METHODS = b"GET ", b"HEAD", b"POST", b"PUT ", b"OPTI", b"DELE", b"CONN", b"PATC"

LEAST_MEMORY = 1 << 16
"""Bytes of memory before the first byte has come; a frame that needs more is large."""


class FrameSplitter:
    """Splits a stream of bytes into frames.

    ``feed`` takes chunks; ``get_buffer`` and ``buffer_updated`` are for callers that
    let the kernel write into the splitter's own memory, as ``asyncio.BufferedProtocol``
    does. A frame comes without its size: bytes, or for a frame of more than 64 KiB a
    read-only memoryview of the memory that it arrived in, which it then owns.

    Memory grows with the bytes that have come, never with the size that a frame
    announces: it is at most twice the largest frame that the stream has had, its
    incomplete last one included, and 64 KiB. After an error the stream has no meaning:
    the splitter takes nothing more and raises the error again.
    """

    __slots__ = (
        "_failure",
        "_highest",
        "_largest",
        "_limits",
        "_memory",
        "_pending",
        "_ready",
        "_start",
        "_view",
        "_wanted",
    )

    def __init__(self, limits: Limits = DEFAULT) -> None:
        limit = limits.frame_bytes
        self._limits = limits
        self._highest = _HIGHEST_SIZE if limit is None else limit
        # The bytes of the incomplete frame are the first ``_pending`` of ``_memory``,
        # and ``_wanted`` make it complete, as far as is known.
        self._memory: Memory | None = None
        self._view: memoryview | None = None
        self._pending = 0
        self._wanted = _SIZE_BYTES
        self._largest = 0
        self._ready: deque[Frame] = deque()
        self._start = 0
        self._failure: tuple[type[DecodeError], str] | None = None

    @property
    def pending(self) -> int:
        """The number of bytes that wait for the rest of their frame."""
        return self._pending

    @property
    def announced(self) -> int:
        """Size of the incomplete frame with its size field; 0 while it is not known."""
        return 0 if self._wanted == _SIZE_BYTES else self._wanted

    def feed(self, chunk: Buffer) -> Iterator[Frame]:
        """Take the next bytes of the stream; iterate over the frames now complete.

        The stream has a size before each frame, as a socket gives it; a frame comes
        without its size. Frames that are not fetched from the iterator come with the
        next one. ``LimitExceeded`` for a size over ``limits.frame_bytes`` (its text
        names TLS or HTTP if the bytes look like it), ``InvalidLength`` for a negative
        one; the offset counts from the start of the stream. Time is linear in the bytes
        fed.
        """
        self._ready.extend(self.split(chunk))
        return self._frames()

    def split(self, chunk: Buffer) -> list[Frame]:
        """Take the next bytes of the stream; list the frames now complete.

        As ``feed``, but what is wrong with the stream is raised by ``check`` alone,
        when the frames before it have been seen to. After that there are no more.
        """
        frames: list[Frame] = []
        if type(chunk) is bytes and not self._pending:
            return frames if self._failure is not None else self._cut_frames(chunk)
        with memoryview(chunk) as whole, whole.cast("B") as source:
            at, end = 0, len(source)
            # Only the frame that has begun needs memory of the splitter.
            while self._pending and at < end and self._failure is None:
                room = self._room(end - at)
                count = min(len(room), self._wanted - self._pending, end - at)
                room[:count] = source[at : at + count]
                room.release()
                frames += self.buffer_updated(count)
                at += count
            if at < end and self._failure is None:
                frames += self._cut_frames(source[at:].tobytes())
        return frames

    def get_buffer(self, hint: int = -1) -> memoryview:
        """Return memory for the next bytes of the stream, never empty.

        Write to its start and call ``buffer_updated`` with the number of bytes; it is
        not to be used after that. ``hint``, the bytes that the caller would like, is
        for ``asyncio`` and changes nothing: how much there is follows from what has
        come.
        """
        return self._room(LEAST_MEMORY)

    def buffer_updated(self, count: int) -> list[Frame]:
        """Take ``count`` bytes that were written; list the frames now complete.

        What is wrong with the stream is raised by ``check``, as with ``split``.
        ``ValueError`` for more bytes than ``get_buffer`` gave room for.
        """
        view = self._view
        room = 0 if view is None else len(view) - self._pending
        if view is None or not 0 <= count <= room:
            raise ValueError(
                f"count must be 0 to {room}, the length of the buffer (got {count})"
            )
        if self._failure is not None:
            return []
        self._pending += count
        if self._pending < self._wanted:
            return []
        if self._wanted == _SIZE_BYTES:
            (size,) = _size_at(view)
            if self._pending < _SIZE_BYTES + size <= _SIZE_BYTES + self._highest:
                # It is where the rest of its frame goes: nothing to cut or to copy.
                self._wanted = _SIZE_BYTES + size
                return []
        if self._wanted > LEAST_MEMORY and self._pending == self._wanted == len(view):
            self._memory = self._view = None
            self._start += self._pending
            self._largest = max(self._largest, self._pending)
            self._pending, self._wanted = 0, _SIZE_BYTES
            return [view.toreadonly()[_SIZE_BYTES:]]
        # Slices of bytes are frames at once; those of memory are not.
        data = view[: self._pending].tobytes()
        self._pending = 0
        return self._cut_frames(data)

    def check(self) -> None:
        """Raise what is wrong with the stream, if something is."""
        if self._failure is not None:
            kind, reason = self._failure
            raise kind(reason, self._start, "size")

    def _cut_frames(self, data: bytes) -> list[Frame]:
        """Cut bytes that begin with a frame; keep those of an incomplete one."""
        frames: list[Frame] = []
        highest = self._highest
        at, end = 0, len(data)
        self._wanted = _SIZE_BYTES
        while end - at >= _SIZE_BYTES:
            (size,) = _size_at(data, at)
            if not 0 <= size <= highest:
                self._start += at
                self._failure = self._judge(size, data[at : at + _SIZE_BYTES])
                return frames
            start = at + _SIZE_BYTES
            after = start + size
            if after > end:
                self._wanted = after - at
                break
            frames.append(data[start:after])
            at = after
        self._start += at
        if at < end:
            self._keep(data, at)
        return frames

    def _keep(self, data: bytes, at: int) -> None:
        """Keep the bytes of an incomplete frame for when the others have come."""
        end = len(data)
        while at < end:
            room = self._room(end - at)
            count = min(len(room), end - at)
            room[:count] = data[at : at + count]
            room.release()
            self._pending += count
            at += count

    def _room(self, least: int) -> memoryview:
        """Find or make room after the bytes that are pending."""
        view = self._view
        if view is None or self._memory is None:
            # Only once bytes come: importing this file loads no engine.
            from .._engine.active import record_engine

            self._memory = record_engine.new_memory(least)
            view = self._view = memoryview(self._memory)
        elif self._pending == len(view):
            from .._engine.active import record_engine

            view.release()
            # Not a byte after the end of a large frame, as it is handed out as it is.
            size = min(max(2 * self._pending, self._largest), self._wanted)
            size = max(size, self._pending + 1)
            self._memory = record_engine.grow_memory(self._memory, self._pending, size)
            view = self._view = memoryview(self._memory)
        return view[self._pending :]

    def _frames(self) -> Iterator[Frame]:
        while self._ready:
            yield self._ready.popleft()
        self.check()

    def _judge(self, size: int, head: bytes) -> tuple[type[DecodeError], str]:
        if size < 0:
            return InvalidLength, f"a frame cannot have {size} bytes"
        limit = self._limits.frame_bytes
        reason = f"a frame of {size} bytes is over the limit of {limit}"
        first, second, *_ = head
        if first in (_TLS_ALERT, _TLS_HANDSHAKE) and second == 3:
            what = "alert" if first == _TLS_ALERT else "handshake"
            reason += (
                f"; the bytes look like a TLS {what}: the peer speaks TLS where"
                " plaintext was expected"
            )
        elif head == _HTTP_RESPONSE or head in _HTTP_METHODS:
            reason += "; the bytes are HTTP, so the peer is no Kafka"
        return LimitExceeded, reason
