# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FrameSplitter``: splits a byte stream into frames.

    INT32 size | frame of that size | INT32 size | frame | ...

Bytes are provided in one of two ways: as a chunk that the caller has received, or by
receiving into the splitter's memory, in which case large frames are not copied.
``framing.py`` decodes frames.
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
"""Initial size of a splitter's memory in bytes. A frame that does not fit into this
memory is called a large frame.
"""


class FrameSplitter:
    """Splits a byte stream into frames.

    ``feed`` accepts chunks. ``get_buffer`` and ``buffer_updated`` are for callers that
    let the kernel write into the splitter's memory, as in ``asyncio.BufferedProtocol``.
    A frame is returned without its size. It is a bytes object, or a read-only
    memoryview if it has more than 64 KiB. Such a view owns the memory into which the
    frame was received.

    Memory grows with the received bytes, and never with an announced frame size. Its
    maximum is 64 KiB plus twice the size of the largest frame in the stream so far,
    including the incomplete last frame. After an error, the remaining stream cannot be
    interpreted. Therefore, the splitter ignores additional bytes and raises the
    previous error again.
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
        # The first ``_pending`` bytes of ``_memory`` belong to the incomplete frame.
        # ``_wanted`` is the number of bytes of the whole frame, including its size
        # field. Until the size is known, it is the number of bytes in the size field.
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
        """Number of received bytes in the incomplete frame."""
        return self._pending

    @property
    def announced(self) -> int:
        """Size of the incomplete frame in bytes, including its size field.

        The number is 0 until the complete size field has been received.
        """
        return 0 if self._wanted == _SIZE_BYTES else self._wanted

    def feed(self, chunk: Buffer) -> Iterator[Frame]:
        """Process the stream's next bytes, and iterate over the completed frames.

        In the stream, every frame is preceded by its size, as on a socket. Frames are
        returned without their size. If the iterator is not exhausted, the next iterator
        returns the remaining frames.
        Raises ``LimitExceeded`` if a size exceeds ``limits.frame_bytes``. The message
        mentions TLS or HTTP if the bytes resemble these protocols. Raises
        ``InvalidLength`` if a size is negative. Offsets are counted from the start of
        the stream. Time is linear in the input size.
        """
        self._ready.extend(self.split(chunk))
        return self._yield_frames()

    def split(self, chunk: Buffer) -> list[Frame]:
        """Process the stream's next bytes, and return the list of completed frames.

        This method corresponds to ``feed``, but only ``check`` raises stream errors, so
        that callers can process the frames before the error first. No frames are
        returned after an error.
        """
        frames: list[Frame] = []
        if type(chunk) is bytes and not self._pending:
            return frames if self._failure is not None else self._split_frames(chunk)
        with memoryview(chunk) as view, view.cast("B") as source:
            position, end = 0, len(source)
            # Only the incomplete frame requires the splitter's memory.
            while self._pending and position < end and self._failure is None:
                free_memory = self._reserve_memory(end - position)
                count = min(
                    len(free_memory), self._wanted - self._pending, end - position
                )
                free_memory[:count] = source[position : position + count]
                free_memory.release()
                frames += self.buffer_updated(count)
                position += count
            if position < end and self._failure is None:
                frames += self._split_frames(source[position:].tobytes())
        return frames

    def get_buffer(self, hint: int = -1) -> memoryview:
        """Return a writable buffer for the stream's next bytes. It is never empty.

        Write to the start of the buffer, then call ``buffer_updated`` with the number
        of bytes, which invalidates the buffer. ``hint`` is the size that the caller
        prefers. This parameter only exists for ``asyncio`` and is ignored, because the
        buffer size depends on the received bytes.
        """
        return self._reserve_memory(LEAST_MEMORY)

    def buffer_updated(self, count: int) -> list[Frame]:
        """Process ``count`` bytes in the buffer, and return the completed frames.

        As with ``split``, only ``check`` raises stream errors.
        Raises ``ValueError`` if ``count`` exceeds the buffer length.
        """
        view = self._view
        capacity = 0 if view is None else len(view) - self._pending
        if view is None or not 0 <= count <= capacity:
            raise ValueError(
                f"count must be 0 to {capacity}, the length of the buffer (got {count})"
            )
        if self._failure is not None:
            return []
        self._pending += count
        if self._pending < self._wanted:
            return []
        if self._wanted == _SIZE_BYTES:
            (size,) = _size_at(view)
            if self._pending < _SIZE_BYTES + size <= _SIZE_BYTES + self._highest:
                # The memory can receive the remaining frame directly, without splitting
                # or copying.
                self._wanted = _SIZE_BYTES + size
                return []
        if self._wanted > LEAST_MEMORY and self._pending == self._wanted == len(view):
            self._memory = self._view = None
            self._start += self._pending
            self._largest = max(self._largest, self._pending)
            self._pending, self._wanted = 0, _SIZE_BYTES
            return [view.toreadonly()[_SIZE_BYTES:]]
        # Slices of bytes are independent frames, but slices of the memory are not.
        data = view[: self._pending].tobytes()
        self._pending = 0
        return self._split_frames(data)

    def check(self) -> None:
        """Raise the error in the stream, if there is one."""
        if self._failure is not None:
            kind, reason = self._failure
            raise kind(reason, self._start, "size")

    def _split_frames(self, data: bytes) -> list[Frame]:
        """Split bytes that begin with a frame, and return the complete frames.

        An incomplete frame at the end is stored for the next call.
        """
        frames: list[Frame] = []
        highest = self._highest
        position, end = 0, len(data)
        self._wanted = _SIZE_BYTES
        while end - position >= _SIZE_BYTES:
            (size,) = _size_at(data, position)
            if not 0 <= size <= highest:
                self._start += position
                self._failure = self._describe_failure(
                    size, data[position : position + _SIZE_BYTES]
                )
                return frames
            start = position + _SIZE_BYTES
            frame_end = start + size
            if frame_end > end:
                self._wanted = frame_end - position
                break
            frames.append(data[start:frame_end])
            position = frame_end
        self._start += position
        if position < end:
            self._store_pending(data, position)
        return frames

    def _store_pending(self, data: bytes, at: int) -> None:
        """Store an incomplete frame until its remaining bytes have been received."""
        end = len(data)
        while at < end:
            free_memory = self._reserve_memory(end - at)
            count = min(len(free_memory), end - at)
            free_memory[:count] = data[at : at + count]
            free_memory.release()
            self._pending += count
            at += count

    def _reserve_memory(self, least: int) -> memoryview:
        """Return the available memory after the pending bytes.

        Allocate it if necessary.
        """
        view = self._view
        if view is None or self._memory is None:
            # Import the engine when the first bytes arrive, so that this module can be
            # imported quickly without an engine.
            from .._engine.active import record_engine

            self._memory = record_engine.new_memory(least)
            view = self._view = memoryview(self._memory)
        elif self._pending == len(view):
            from .._engine.active import record_engine

            view.release()
            # Do not exceed the end of a large frame: its memory is returned unchanged.
            size = min(max(2 * self._pending, self._largest), self._wanted)
            size = max(size, self._pending + 1)
            self._memory = record_engine.grow_memory(self._memory, self._pending, size)
            view = self._view = memoryview(self._memory)
        return view[self._pending :]

    def _yield_frames(self) -> Iterator[Frame]:
        while self._ready:
            yield self._ready.popleft()
        self.check()

    def _describe_failure(
        self, size: int, first_bytes: bytes
    ) -> tuple[type[DecodeError], str]:
        if size < 0:
            return InvalidLength, f"a frame cannot have {size} bytes"
        limit = self._limits.frame_bytes
        reason = f"a frame of {size} bytes is over the limit of {limit}"
        first, second, *_ = first_bytes
        if first in (_TLS_ALERT, _TLS_HANDSHAKE) and second == 3:
            message_type = "alert" if first == _TLS_ALERT else "handshake"
            reason += (
                f"; the bytes look like a TLS {message_type}: the peer uses TLS, but"
                " plaintext was expected"
            )
        elif first_bytes == _HTTP_RESPONSE or first_bytes in _HTTP_METHODS:
            reason += "; the bytes are HTTP, not the Kafka protocol"
        return LimitExceeded, reason
