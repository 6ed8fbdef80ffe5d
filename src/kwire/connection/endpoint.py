# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Endpoint``: what the two sides of a connection share.

This class splits bytes into frames, returns events, and remembers errors and the end.
``client.py`` and ``server.py`` interpret the frames.
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
"""How much it takes less time to copy than to write by itself, about."""

_NO_EVENTS: Iterator[Event] = iter(())


class Endpoint:
    """One side of a connection: bytes in, events out, and bytes to send.

    A broken rule ends it: the error is raised once, kept as ``failure``, and every
    later call raises ``LocalProtocolError`` which says why.
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
        """Whether the connection can still be used."""
        return not self._ended

    def data_to_send(self) -> bytes:
        """Return the bytes to write now, once; empty if there are none."""
        data = b"".join(self._outgoing)
        self._outgoing.clear()
        return data

    def next_to_send(self) -> bytes:
        """Return bytes to write now, once; empty after all of them.

        As ``data_to_send``, which copies what it joins: a large frame comes alone.
        """
        outgoing = self._outgoing
        count = size = 0
        for frame in outgoing:
            if count and size + len(frame) > _JOINED_BYTES:
                break
            size += len(frame)
            count += 1
        # Of one frame, this is the frame itself.
        data = b"".join(outgoing[:count])
        del outgoing[:count]
        return data

    def receive_data(self, chunk: Buffer) -> Iterator[Event]:
        """Take bytes from the peer (empty: it closed); iterate over the events.

        Events come in the order of the bytes; an error comes after the events before
        it, so iterate to the end. ``DecodeError`` or ``RemoteProtocolError``: the
        connection is of no more use.
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
            error = self._take(self._splitter.split(chunk))
        return self._drain(error)

    @property
    def announced(self) -> int:
        """Size of the frame that is arriving, in bytes; 0 while it is not known."""
        return self._splitter.announced

    def get_buffer(self, hint: int = -1) -> memoryview:
        """Return memory for the next bytes from the peer, never empty.

        Receive into its start and call ``buffer_updated``, as
        ``asyncio.BufferedProtocol`` does; it is not to be used after that. A frame of
        more than 64 KiB stays in the memory that it arrived in. Memory grows with what
        has come, whatever ``hint`` is.
        """
        return self._splitter.get_buffer(hint)

    def buffer_updated(self, count: int) -> Iterator[Event]:
        """Take ``count`` bytes that ``get_buffer`` received; iterate over the events.

        As ``receive_data``, without a copy of large frames. The peer's end of the
        stream is ``receive_data(b"")``.
        """
        self._check_open()
        error = None
        if self._is_listening:
            error = self._take(self._splitter.buffer_updated(count))
        if error is None and not self._events:
            # A part of a large frame: most calls, while one arrives.
            return _NO_EVENTS
        return self._drain(error)

    def finish_sasl(self) -> None:
        """End the exchange of the mechanism: frames have headers from here on.

        Only the mechanism knows when raw tokens end, so it has to be said.
        """
        self._check_open()
        self._raw = False

    def close(self) -> None:
        """Close this side of the connection."""
        self._end("it was closed by this side")

    def __repr__(self) -> str:
        state = f"over: {self._ended}" if self._ended else "open"
        return f"<{type(self).__name__} with a {self._peer}, {state}>"

    def _take(self, frames: list[Frame]) -> KwireError | None:
        """Receive frames; the error is for after the events before it."""
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

    def _why_closed(self) -> str:
        reason = f"the {self._peer} closed the connection"
        if self._splitter.pending:
            reason += f" in the middle of a frame, after {self._splitter.pending} bytes"
        return reason

    def _drain(self, error: KwireError | None) -> Iterator[Event]:
        events = self._events
        while events:
            yield events.popleft()
        if error is not None:
            raise error

    def _send_raw(self, token: Buffer) -> None:
        """Shape: INT32 size and the bytes, without a header."""
        data = memoryview(token).tobytes()
        self._outgoing.append(len(data).to_bytes(4, "big") + data)

    def _end(self, reason: str) -> None:
        self._ended = self._ended or reason

    def _check_open(self) -> None:
        if self._ended:
            raise LocalProtocolError(
                f"this connection has ended: {self._ended}"
            ) from self.failure
