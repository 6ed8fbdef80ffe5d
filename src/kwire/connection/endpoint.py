# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Endpoint``: the common base class of both sides of a connection.

It splits bytes into frames, returns events, and remembers the failure and the end of
the connection. ``client.py`` and ``server.py`` interpret the frames.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Literal

from ..errors import KwireError, LocalProtocolError
from ..messages.frame_splitter import FrameSplitter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

    from .._limits import Limits
    from ..messages.frame_splitter import Frame
    from .events import ConnectionClosed, Event

_JOINED_BYTES = 1 << 14
"""Approximate size in bytes up to which copying a frame is faster than writing it."""

_NO_EVENTS: Iterator[Event] = iter(())


class Endpoint:
    """One side of a connection: bytes in, events and outgoing bytes out.

    A protocol violation ends the connection. The error is raised once and stored in
    ``failure``. After the end of a connection, methods that send or process data raise
    ``LocalProtocolError``, which contains the reason of the end.
    """

    __slots__ = (
        "_compat",
        "_ended",
        "_events",
        "_is_listening",
        "_limits",
        "_outgoing",
        "_peer",
        "_raw",
        "_splitter",
        "_zero_copy",
        "failure",
    )

    def __init__(
        self,
        peer: str,
        limits: Limits,
        zero_copy: bool,
        compat: Literal["java"] | None,
    ) -> None:
        self.failure: KwireError | None = None
        self._peer = peer
        self._splitter = FrameSplitter(limits)
        self._limits = limits
        self._zero_copy = zero_copy
        self._compat = compat
        self._events: deque[Event] = deque()
        self._outgoing: list[bytes] = []
        self._raw = False
        self._is_listening = True
        self._ended = ""

    @property
    def is_open(self) -> bool:
        """Whether the connection is still usable."""
        return not self._ended

    def data_to_send(self) -> bytes:
        """Remove and return the bytes that must be written next.

        The result is empty if there is nothing to write.
        """
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        return data

    def next_to_send(self) -> bytes:
        """Remove and return some of the bytes that must be written next.

        Call it until the result is empty. Unlike ``data_to_send``, which copies all
        frames into one object, this method returns a large frame separately and does
        not copy it.
        """
        outgoing = self._outgoing
        count = size = 0
        for frame in outgoing:
            if count and size + len(frame) > _JOINED_BYTES:
                break
            size += len(frame)
            count += 1
        # If there is only one frame, ``join`` returns it without copying it.
        data = b"".join(outgoing[:count])
        del outgoing[:count]
        return data

    def receive_data(self, chunk: Buffer) -> Iterator[Event]:
        """Process bytes that the peer sent, and iterate over the resulting events.

        An empty ``chunk`` means that the peer closed the connection. Events have the
        same order as the bytes. An error is raised after the events that precede it, so
        callers must consume the whole iterator.
        Raises ``DecodeError``, ``RemoteProtocolError`` or ``UnsupportedVersion`` if the
        received bytes end the connection, and ``LocalProtocolError`` if it has already
        ended.
        """
        self._check_open()
        with memoryview(chunk) as view:
            is_end = not view.nbytes
        error = None
        if is_end:
            closed = self._make_closed()
            self._events.append(closed)
            self._end(closed.reason)
        elif self._is_listening:
            error = self._receive_frames(self._splitter.split(chunk))
        return self._yield_events(error)

    @property
    def announced(self) -> int:
        """Size in bytes of the incomplete frame that is being received.

        The number includes the four bytes of the size field. It is 0 until the complete
        size field has been received.
        """
        return self._splitter.announced

    def get_buffer(self, hint: int = -1) -> memoryview:
        """Return a writable buffer for the next bytes from the peer. It is never empty.

        Write the received bytes to the start of the buffer, then call
        ``buffer_updated``, as ``asyncio.BufferedProtocol`` does. ``buffer_updated``
        invalidates the buffer. A frame with more than 64 KiB is not copied, but remains
        in this memory. ``hint`` is ignored: memory only grows with the bytes that were
        actually received.
        """
        return self._splitter.get_buffer(hint)

    def buffer_updated(self, count: int) -> Iterator[Event]:
        """Process ``count`` bytes in the buffer, and iterate over the events.

        ``get_buffer`` returned the buffer. This method corresponds to ``receive_data``,
        but does not copy large frames. If the peer closed the connection, call
        ``receive_data(b"")``. Raises the same exceptions, and ``ValueError`` if
        ``count`` exceeds the length of the buffer.
        """
        self._check_open()
        error = None
        if self._is_listening:
            error = self._receive_frames(self._splitter.buffer_updated(count))
        if error is None and not self._events:
            # A part of a large frame has arrived. Most calls return here while such a
            # frame is being received.
            return _NO_EVENTS
        return self._yield_events(error)

    def finish_sasl(self) -> None:
        """End the SASL exchange. All following frames have headers.

        Callers must call this method, because only the mechanism knows its last raw
        token. Raises ``LocalProtocolError`` if the connection has ended.
        """
        self._check_open()
        self._raw = False

    def close(self) -> None:
        """Close this side of the connection."""
        self._end("it was closed by this side")

    def __repr__(self) -> str:
        state = f"over: {self._ended}" if self._ended else "open"
        return f"<{type(self).__name__} with a {self._peer}, {state}>"

    def _receive_frames(self, frames: list[Frame]) -> KwireError | None:
        """Process received frames, and store their events.

        Returns the error that has ended the connection, or None. The caller raises it
        after the events of the frames before it.
        """
        receive = self._receive
        try:
            for frame in frames:
                receive(frame)
                if not self._is_listening:
                    return None
            self._splitter.check()
        except KwireError as failure:
            self.failure = failure
            self._end(f"it failed: {failure}")
            return failure
        return None

    def _receive(self, frame: Frame) -> None:
        raise NotImplementedError

    def _make_closed(self) -> ConnectionClosed:
        raise NotImplementedError

    def _describe_end(self) -> str:
        reason = f"the {self._peer} closed the connection"
        if self._splitter.pending:
            reason += f" in the middle of a frame, after {self._splitter.pending} bytes"
        return reason

    def _yield_events(self, error: KwireError | None) -> Iterator[Event]:
        events = self._events
        while events:
            yield events.popleft()
        if error is not None:
            raise error

    def _send_raw(self, token: Buffer) -> None:
        """Queue a token without a request header: INT32 size, followed by the bytes."""
        data = memoryview(token).tobytes()
        self._outgoing.append(len(data).to_bytes(4, "big") + data)

    def _end(self, reason: str) -> None:
        self._ended = self._ended or reason

    def _check_open(self) -> None:
        if self._ended:
            raise LocalProtocolError(
                f"this connection has ended: {self._ended}"
            ) from self.failure
