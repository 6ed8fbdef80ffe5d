# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Connects one client with one broker: splits, records and forwards frames.

    client socket -> ClientEnd -> frame recorded -> broker socket
    broker socket -> BrokerEnd -> frame recorded -> client socket

A frame is recorded when it is complete, and forwarded afterwards. Frames that kwire
cannot decode are forwarded unchanged. While one side cannot accept more data, reading
from the other side is paused. Only plain TCP is supported: TLS traffic cannot be
recorded and is reported as an error.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from .._text import format_address
from ..connection.negotiation import name_of
from ..errors import DecodeError, KwireError, LimitExceeded
from ..messages.framing import FrameSplitter
from . import rewriting
from .capture_files import REQUEST, RESPONSE
from .pairing import Conversation

if TYPE_CHECKING:
    from ..messages.frame_splitter import Frame
    from .pairing import Header
    from .relay import Relay

    Address = tuple[str, int]

_TURN_FRAMES = 256
"""Maximum number of frames that are forwarded on one connection before other tasks run,
so that a busy connection does not delay all others.
"""

_UNKNOWN = "", 0
"""Placeholder for the address if the peer has already disconnected."""


class RelayConnection:
    """One client connection and its broker connection.

    * ``client``: asyncio protocol for the connection to the client.
    * ``broker``: asyncio protocol for the connection to the broker.
    * ``address``: address of the broker.
    """

    def __init__(self, relay: Relay, address: Address) -> None:
        self.relay = relay
        self.address = address
        self.conversation = Conversation()
        self.client = ClientEnd(self)
        self.broker = BrokerEnd(self)
        self.client.other, self.broker.other = self.broker, self.client
        self.broker_name = format_address(*address)
        # ``run`` sets these attributes when both sides are connected:
        #   client_name  address of the client
        #   seen_host    host of the relay that the client has connected to
        #   is_open      whether both sides are connected
        #   number       number of the connection within the recording
        self.client_name = ""
        self.seen_host = ""
        self.is_open = False
        self.number = 0
        self._finished: asyncio.Future[None] = (
            asyncio.get_running_loop().create_future()
        )
        self._failure: Exception | None = None

    @property
    def is_over(self) -> bool:
        """Whether the connection has ended and forwards no more frames."""
        return self._finished.done()

    async def run(self, number: int) -> None:
        """Forward frames until both sides have finished.

        Both sides must be connected. ``number`` identifies the connection within the
        recording. Raises the error that ended the connection, if one side has failed.
        """
        self.number = number
        client_address, own_address = self.client.names()
        self.client_name = format_address(*client_address)
        # The client reached the relay at this address, so the address also works for
        # later connections from the same client.
        self.seen_host = own_address[0]
        for end in (self.client, self.broker):
            end.keep_alive()
        self.is_open = True
        for end in (self.client, self.broker):
            end.pass_frames()
        await self._finished
        if self._failure is not None:
            raise self._failure
        for end in (self.broker, self.client):
            # Wait until the peer has read the remaining data, which a slow reader
            # delays.
            await end.close()

    def steer(self) -> None:
        """Pause or resume reading on both sides, depending on available capacity."""
        self.client.steer()
        self.broker.steer()

    def note_end(self) -> None:
        """End the connection if both sides have sent their last frame."""
        if self.client.has_ended and self.broker.has_ended:
            self._finish()

    def fail(self, error: Exception) -> None:
        """End the connection, so that ``run`` raises ``error``.

        Ignored if the connection has already ended, because the first error counts.
        """
        if not self.is_over:
            self._failure = error
            self._finish()

    def abort(self) -> None:
        """Close both sides immediately and discard their buffers."""
        self._finish()
        self.client.abort()
        self.broker.abort()

    def _finish(self) -> None:
        if not self._finished.done():
            self._finished.set_result(None)


class _End(asyncio.BufferedProtocol):
    """Protocol for one side of a ``RelayConnection``.

    It receives the frames of its peer, and writes the frames of the other side to it.

    ``has_ended`` becomes true after the last frame from the peer.
    """

    other: _End
    _direction: str

    def __init__(self, connection: RelayConnection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._splitter = FrameSplitter(connection.relay.limits)
        # Complete frames that are waiting to be forwarded.
        self._frames: deque[Frame] = deque()
        # Arrival time of these frames in microseconds since 1970.
        self._moment = 0
        # Held bytes that have already been reported to the relay.
        self._held = 0
        # True while reading from the peer is paused.
        self._is_paused = False
        # True while the write buffer to the peer is full.
        self._is_full = False
        # ``_is_ending`` becomes true when the peer has sent its end of file. After the
        # remaining frames have been forwarded, ``has_ended`` becomes true as well.
        self.has_ended = False
        self._is_ending = False
        self._lost = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Transports in uvloop do not inherit from asyncio classes.
        self._transport = cast("asyncio.Transport", transport)
        self.steer()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._splitter.get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        self._moment = time.time_ns() // 1000
        self._frames.extend(self._splitter.buffer_updated(nbytes))
        self.pass_frames()

    def eof_received(self) -> bool:
        self._is_ending = True
        if self._connection.is_open and not self._frames:
            self._finish_input()
        # True keeps the transport open, because the peer may still read responses.
        return True

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self.other.note_progress()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._lost.done():
            self._lost.set_result(None)
        # The transport is unusable after every kind of error, so treat all errors as a
        # disconnected peer.
        self._connection.fail(ConnectionAbortedError())

    def steer(self) -> None:
        """Pause or resume reading, depending on whether frames can be forwarded.

        Reading is paused while received frames wait in this object, while the recording
        buffer is full, and while the other side accepts no data.
        """
        if self._transport is None or self._is_ending or self._connection.is_over:
            return
        # A client may send data before its broker is connected. Read the first chunk
        # anyway: if the connection fails, closing a socket with unread bytes would send
        # a reset to the client.
        is_early = not self._connection.is_open and bool(self._splitter.pending)
        has_room = self._connection.relay.buffer.has_room and not self.other._is_full
        is_paused = is_early or not has_room or bool(self._frames)
        if is_paused != self._is_paused:
            self._is_paused = is_paused
            if is_paused:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def note_progress(self) -> None:
        """Continue reading after the other peer has read most of its pending data."""
        self._report_held()
        self.steer()

    def write(self, parts: list[Frame]) -> None:
        """Write frames and their sizes.

        Small parts are joined into one write. Large frames, which are memoryviews, are
        written separately to avoid a copy.
        """
        transport = self._transport
        assert transport is not None, "frames are passed once both are connected"
        begin = 0
        for index, part in enumerate(parts):
            if type(part) is memoryview:
                transport.write(b"".join(parts[begin:index]))
                transport.write(part)
                begin = index + 1
        if begin < len(parts):
            transport.write(b"".join(parts[begin:]))

    def write_end(self) -> None:
        """Send the end of the stream to the peer, after all buffered data."""
        if self._transport is not None and not self._transport.is_closing():
            # This fails if the peer has disconnected. asyncio then also calls
            # ``connection_lost``, so the error is not reported here.
            with suppress(OSError):
                self._transport.write_eof()

    def unwritten(self) -> int:
        """Return the number of bytes that still wait in the write buffer."""
        return self._transport.get_write_buffer_size() if self._transport else 0

    def names(self) -> tuple[Address, Address]:
        """Return the peer address and the local address.

        An address is ("", 0) if the peer has already disconnected.
        """
        transport = self._transport
        assert transport is not None, "asked of those that are connected"
        peer = transport.get_extra_info("peername") or _UNKNOWN
        own = transport.get_extra_info("sockname") or _UNKNOWN
        return (peer[0], peer[1]), (own[0], own[1])

    def keep_alive(self) -> None:
        """Enable TCP keep-alive to detect peers that disappear without closing."""
        if self._transport is not None:
            with suppress(OSError):
                self._transport.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1
                )

    async def close(self) -> None:
        """Close the connection after all buffered data has been sent to the peer."""
        if self._transport is not None:
            self._transport.close()
            await self._lost

    def abort(self) -> None:
        """Close the connection immediately and discard received frames."""
        self._frames.clear()
        # Both sides reference each other in a cycle. Replace the splitter to free its
        # memory now instead of at the next garbage collection.
        self._splitter = FrameSplitter(self._connection.relay.limits)
        if self._transport is not None:
            self._transport.abort()

    def pass_frames(self) -> None:
        """Forward received frames.

        If there are many, continue in a later loop iteration.
        """
        if self._connection.is_over:
            return
        if not self._connection.is_open:
            self.steer()
            return
        try:
            self._pass_some_frames()
            if not self._frames:
                self._check_stream()
        except KwireError as error:
            self._connection.fail(error)
            return
        self._report_held()
        self.steer()
        if self._frames:
            self._loop.call_soon(self.pass_frames)
        elif self._is_ending:
            self._finish_input()

    def _pass_some_frames(self) -> None:
        """Record and forward up to ``_TURN_FRAMES`` frames."""
        frames = self._frames
        outgoing: list[Frame] = []
        for _ in range(min(len(frames), _TURN_FRAMES)):
            frame = frames.popleft()
            changed = self._process_frame(frame)
            if changed is None:
                outgoing += (len(frame).to_bytes(4, "big"), frame)
            else:
                outgoing.append(changed)
        self.other.write(outgoing)

    def _process_frame(self, frame: Frame) -> bytes | None:
        """Record a frame from the peer.

        Returns the changed frame with its size field, which is forwarded instead, or
        None to forward the frame unchanged.
        """
        raise NotImplementedError

    def _record_frame(
        self, header: Header, frame: Frame, is_secret: bool, rewritten: bool = False
    ) -> None:
        """Add a frame to the recording, without its content if it is secret."""
        connection = self._connection
        connection.relay.buffer.add(
            connection.number,
            self._direction,
            self._moment,
            connection.client_name,
            connection.broker_name,
            header,
            len(frame),
            None if is_secret else frame,
            rewritten,
        )
        connection.relay.note_recorded()

    def _get_host(self) -> str:
        """Return the peer host for error messages."""
        raise NotImplementedError

    def _check_stream(self) -> None:
        """Raise ``_NotKafka`` if the peer has sent an invalid frame size."""
        try:
            self._splitter.check()
        except DecodeError as error:
            raise _NotKafka(self._get_host(), error) from error

    def _report_held(self) -> None:
        """Report the change in held bytes to the relay.

        Held bytes are the incomplete frame from this peer, and data not yet read by the
        other peer.
        """
        held = self._splitter.pending + self.other.unwritten()
        change, self._held = held - self._held, held
        if change:
            self._connection.relay.hold(self._connection, change)

    def _finish_input(self) -> None:
        """Mark the input stream as finished and close the other side's output."""
        self.has_ended = True
        self.other.write_end()
        self._connection.note_end()


class ClientEnd(_End):
    """Protocol for the client side, which receives requests."""

    _direction = REQUEST

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if not self._connection.relay.accept(self._connection):
            self.abort()

    def _process_frame(self, frame: Frame) -> None:
        header, is_secret = self._connection.conversation.request(frame)
        self._record_frame(header, frame, is_secret)

    def _get_host(self) -> str:
        return self._connection.client_name.rpartition(":")[0]


class BrokerEnd(_End):
    """Protocol for the broker side, which receives responses."""

    _direction = RESPONSE

    def _process_frame(self, frame: Frame) -> bytes | None:
        header, is_secret = self._connection.conversation.response(frame)
        changed = self._rewrite(header, frame)
        self._record_frame(header, frame, is_secret, changed is not None)
        return changed

    def _get_host(self) -> str:
        return self._connection.broker_name.rpartition(":")[0]

    def _rewrite(self, header: Header, frame: Frame) -> bytes | None:
        """Replace broker addresses in a response, and remove unsupported versions.

        Returns the new frame with its size field, or None to forward the original
        frame. Raises ``ListenError`` if the relay cannot listen for a broker in the
        response.
        """
        connection, relay = self._connection, self._connection.relay
        try:
            if limited := rewriting.limit_versions(header, frame):
                changed, removed = limited
                relay.tell_once(
                    f"clients are not offered {', '.join(removed)}: this kwire cannot"
                    " rewrite their broker addresses"
                )
                return changed
            if answer := rewriting.read_answer(header, frame):
                listeners = relay.find_listeners(answer, connection.seen_host)
                return answer.write(listeners)
        except ListenError:
            raise
        except KwireError as error:
            assert header.api_key is not None, "only known responses are decoded"
            relay.tell_once(
                f"{connection.broker_name}: {name_of(header.api_key)}"
                f" v{header.api_version} cannot be decoded and is passed on unchanged,"
                f" so clients may bypass the relay: {error}"
            )
        return None


class ListenError(KwireError):
    """The relay cannot listen on an address."""


class _NotKafka(KwireError):
    """A peer sent invalid frames, for example because it uses TLS or HTTP."""

    def __init__(self, sender: str, error: DecodeError) -> None:
        reason = error.reason
        if error.offset == 0 and "HTTP" in reason:
            reason = "it speaks HTTP, not Kafka's protocol"
        elif "TLS" in reason:
            reason = (
                "it speaks TLS, which cannot be recorded: use a plaintext listener,"
                " with security.protocol=PLAINTEXT or SASL_PLAINTEXT"
            )
        elif isinstance(error, LimitExceeded):
            reason += "; raise --max-frame to let it pass"
        super().__init__(f"{sender}: {reason}")
