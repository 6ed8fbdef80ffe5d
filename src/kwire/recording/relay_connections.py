# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A client and its broker: frames are split, recorded and passed on, both ways.

    client socket -> ClientEnd -> frame recorded -> broker socket
    broker socket -> BrokerEnd -> frame recorded -> client socket

A frame is recorded when it is complete, and passed on after that; what kwire cannot
decode passes unchanged. An end is not read while the other one cannot take what it
sends. This is plain TCP: TLS cannot be recorded, and is reported.
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
"""Frames of one connection that may follow each other before others have their turn."""

_UNKNOWN = "", 0
"""The address of a peer that has gone in the meantime."""


class RelayConnection:
    """One client and its broker; ``client`` and ``broker`` are the two ends."""

    def __init__(self, relay: Relay, address: Address) -> None:
        self.relay = relay
        self.address = address
        self.conversation = Conversation()
        self.client = ClientEnd(self)
        self.broker = BrokerEnd(self)
        self.client.other, self.broker.other = self.broker, self.client
        self.broker_name = format_address(*address)
        self.client_name = ""
        self.seen_host = ""
        self.is_open = False
        self.number = 0
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._failure: Exception | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing is passed on any more."""
        return self._over.done()

    async def run(self, number: int) -> None:
        """Relay until both sides have ended; raises why, if one has failed.

        Both have to be connected. ``number`` is that of the connection in the
        recording.
        """
        self.number = number
        client_address, own_address = self.client.names()
        self.client_name = format_address(*client_address)
        # Where the client found the relay: an address that reaches it.
        self.seen_host = own_address[0]
        for end in (self.client, self.broker):
            end.keep_alive()
        self.is_open = True
        for end in (self.client, self.broker):
            end.pass_frames()
        await self._over
        if self._failure is not None:
            raise self._failure
        for end in (self.broker, self.client):
            # What is written still may wait for a slow reader.
            await end.close()

    def steer(self) -> None:
        """Read from both ends as far as what they send can be passed on."""
        self.client.steer()
        self.broker.steer()

    def note_end(self) -> None:
        """Take note that an end has sent its last frame."""
        if self.client.has_ended and self.broker.has_ended:
            self._finish()

    def fail(self, error: Exception) -> None:
        """Have ``run`` raise an error, unless it is over already."""
        if not self.is_over:
            self._failure = error
            self._finish()

    def abort(self) -> None:
        """End both sides; their buffers are dropped at once."""
        self._finish()
        self.client.abort()
        self.broker.abort()

    def _finish(self) -> None:
        if not self._over.done():
            self._over.set_result(None)


class _End(asyncio.BufferedProtocol):
    """One side of a connection: its frames are taken, those of the other written."""

    other: _End
    _direction: str

    def __init__(self, connection: RelayConnection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._splitter = FrameSplitter(connection.relay.limits)
        # Complete frames that wait for their turn, and when they came.
        self._frames: deque[Frame] = deque()
        self._moment = 0
        self._held = 0
        self._is_paused = False
        self._is_full = False
        self.has_ended = False
        self._is_ending = False
        self._lost = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Those of uvloop derive from no class of asyncio.
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
            self._end()
        # The other half of the connection stays open.
        return True

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self.other.note_progress()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._lost.done():
            self._lost.set_result(None)
        # Whatever has gone wrong, this side went away.
        self._connection.fail(ConnectionAbortedError())

    def steer(self) -> None:
        """Read from the peer while what it sends can be passed on."""
        if self._transport is None or self._is_ending or self._connection.is_over:
            return
        # A client may send before its broker is connected: the first bytes are read,
        # as closing with bytes unread would be a reset.
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
        """Take note that the other end has read most of what was written."""
        self._count_held()
        self.steer()

    def write(self, parts: list[Frame]) -> None:
        """Write frames and sizes; small ones together, large ones without a copy."""
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
        """End this half of the connection, after what was written."""
        if self._transport is not None and not self._transport.is_closing():
            # The peer may have gone, which is reported next.
            with suppress(OSError):
                self._transport.write_eof()

    def unwritten(self) -> int:
        """Count the bytes that the peer has not read."""
        return self._transport.get_write_buffer_size() if self._transport else 0

    def names(self) -> tuple[Address, Address]:
        """Return the addresses of the peer and of this side, as far as known."""
        transport = self._transport
        assert transport is not None, "asked of those that are connected"
        peer = transport.get_extra_info("peername") or _UNKNOWN
        own = transport.get_extra_info("sockname") or _UNKNOWN
        return (peer[0], peer[1]), (own[0], own[1])

    def keep_alive(self) -> None:
        """Have the system notice a peer that vanishes without a word."""
        if self._transport is not None:
            with suppress(OSError):
                self._transport.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1
                )

    async def close(self) -> None:
        """Close the connection once the peer has read what was written."""
        if self._transport is not None:
            self._transport.close()
            await self._lost

    def abort(self) -> None:
        """Close the connection now; what has come of frames is dropped."""
        self._frames.clear()
        # Both ends refer to each other: their memory is not to wait for the collector.
        self._splitter = FrameSplitter(self._connection.relay.limits)
        if self._transport is not None:
            self._transport.abort()

    def pass_frames(self) -> None:
        """Pass on the frames that have come, the rest of many in another turn."""
        if self._connection.is_over:
            return
        if not self._connection.is_open:
            self.steer()
            return
        try:
            self._pass_turn()
            if not self._frames:
                self._check_stream()
        except KwireError as error:
            self._connection.fail(error)
            return
        self._count_held()
        self.steer()
        if self._frames:
            self._loop.call_soon(self.pass_frames)
        elif self._is_ending:
            self._end()

    def _pass_turn(self) -> None:
        frames = self._frames
        parts: list[Frame] = []
        for _ in range(min(len(frames), _TURN_FRAMES)):
            frame = frames.popleft()
            changed = self._take(frame)
            if changed is None:
                parts += (len(frame).to_bytes(4, "big"), frame)
            else:
                parts.append(changed)
        self.other.write(parts)

    def _take(self, frame: Frame) -> bytes | None:
        """Record a frame; return what is passed on in its place, with its size."""
        raise NotImplementedError

    def _record(
        self, header: Header, frame: Frame, is_secret: bool, rewritten: bool = False
    ) -> None:
        """Record a frame; of a secret one only that there was one."""
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

    def _host(self) -> str:
        """Name the host of the peer."""
        raise NotImplementedError

    def _check_stream(self) -> None:
        try:
            self._splitter.check()
        except DecodeError as error:
            raise _NotKafka(self._host(), error) from error

    def _count_held(self) -> None:
        held = self._splitter.pending + self.other.unwritten()
        change, self._held = held - self._held, held
        if change:
            self._connection.relay.hold(self._connection, change)

    def _end(self) -> None:
        self.has_ended = True
        self.other.write_end()
        self._connection.note_end()


class ClientEnd(_End):
    """The side of the client, which sends requests."""

    _direction = REQUEST

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if not self._connection.relay.accept(self._connection):
            self.abort()

    def _take(self, frame: Frame) -> None:
        header, is_secret = self._connection.conversation.request(frame)
        self._record(header, frame, is_secret)

    def _host(self) -> str:
        return self._connection.client_name.rpartition(":")[0]


class BrokerEnd(_End):
    """The side of the broker, which sends responses."""

    _direction = RESPONSE

    def _take(self, frame: Frame) -> bytes | None:
        header, is_secret = self._connection.conversation.response(frame)
        changed = self._rewrite(header, frame)
        self._record(header, frame, is_secret, changed is not None)
        return changed

    def _host(self) -> str:
        return self._connection.broker_name.rpartition(":")[0]

    def _rewrite(self, header: Header, frame: Frame) -> bytes | None:
        connection, relay = self._connection, self._connection.relay
        try:
            if limited := rewriting.limit_versions(header, frame):
                changed, words = limited
                relay.tell_once(
                    f"clients are not offered {', '.join(words)}: this kwire cannot"
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
    """The relay cannot listen at an address."""


class _NotKafka(KwireError):
    """What one side sends is no frame."""

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
