# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A relay between Kafka clients and a cluster that records every frame.

The first listener takes the place of the upstream address; each broker that an answer
names gets one of its own, so that clients stay here. Frames are recorded when they are
whole and passed on after that; what kwire cannot read passes as it is. This is plain
TCP: TLS cannot be looked into, and is reported.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DecodeError, KwireError, LimitExceeded
from ..framing import FrameSplitter
from ..limits import Limits
from ..negotiation import name_of
from ..net import NetworkError, address_text, split_address
from . import rewriting
from .buffering import CaptureBuffer
from .capture_files import REQUEST, RESPONSE
from .pairing import Conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    Address = tuple[str, int]
    Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
    Tell = Callable[[str], None]

MAX_FRAME = 256 << 20
HIGHEST_MAX_FRAME = 0x1502_FFFF
"""A size above that may as well be the beginning of TLS."""

MAX_CONNECTIONS = 1000
MAX_HELD = 1 << 30
"""Bytes of frames, of all connections, that are not complete or not read yet."""

_CHUNK = 1 << 18
_TURN_FRAMES = 256
"""Frames of one connection that may follow each other before others have their turn."""

_CONNECT_S = 10.0
_PORTS_TRIED = 100
_WILDCARDS = ("0.0.0.0", "::")
_HTTP = (b"GET ", b"HEAD", b"POST", b"PUT ", b"OPTI", b"DELE", b"CONN", b"PATC")


class Counts(NamedTuple):
    """What a relay has recorded so far."""

    frames: int
    size: int
    connections: int


class Relay:
    """Listens, passes frames on and records them, until it is stopped.

    ``listen`` is where clients bootstrap, with port 0 for any; ``upstream`` a broker
    of the cluster; ``out`` the folder that the recording gets its own folder in.
    ``tell`` takes sentences for people, each once. Clients above ``max_connections``
    are turned away. Where connections hold more than ``max_held`` bytes of frames
    together, the one that holds most is ended; buffers of at most 1 MiB for each
    connection come on top.
    """

    def __init__(
        self,
        listen: Address,
        upstream: Address,
        out: str | os.PathLike[str],
        *,
        tell: Tell,
        flush_ms: int = 1000,
        max_frame: int = MAX_FRAME,
        max_connections: int = MAX_CONNECTIONS,
        max_held: int = MAX_HELD,
        count: int | None = None,
    ) -> None:
        """Make the recording's folder; listening is ``run``'s."""
        self._host, self._port = listen
        self._upstream = upstream
        self._buffer = CaptureBuffer(out, flush_ms)
        self._tell = tell
        self._told: set[str] = set()
        self._unreachable: set[Address] = set()
        self._selves: set[Address] = set()
        self._limits = Limits(frame_bytes=max_frame)
        self._max_connections = max_connections
        self._max_held = max_held
        self._held: dict[_Connection, int] = {}
        self._held_by_all = 0
        self._count = count
        self._connections = 0
        self._listeners: dict[Address, asyncio.Server] = {}
        self._addresses: dict[Address, Address] = {}
        self._opening = asyncio.Lock()
        self._open: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()

    @property
    def folder(self) -> Path:
        """Where the recording is."""
        return self._buffer.folder

    @property
    def recording(self) -> str:
        """The id of the recording."""
        return self._buffer.recording

    @property
    def addresses(self) -> dict[Address, Address]:
        """The listener of each broker, by the broker's address."""
        return dict(self._addresses)

    @property
    def counts(self) -> Counts:
        """What has been recorded so far."""
        return Counts(self._buffer.frames, self._buffer.size, self._connections)

    def stop(self) -> None:
        """Let ``run`` come to its end."""
        self._stop.set()

    async def run(self, ready: Callable[[], None]) -> None:
        """Relay until ``stop``; calls ``ready`` once clients can connect.

        ``NetworkError`` if it cannot listen, ``OSError`` if it cannot write: what was
        written before stays.
        """
        writing = asyncio.create_task(self._buffer.run())
        stopping = asyncio.create_task(self._stop.wait())
        try:
            await self._listen_for(self._upstream)
            ready()
            await asyncio.wait((writing, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            await self._close_connections()
            if not writing.done():
                writing.cancel()
                with suppress(asyncio.CancelledError):
                    await writing
                await self._write_frames(self._buffer.close())
        await self._write_frames(writing)

    async def _write_frames(self, work: Any) -> None:
        try:
            with suppress(asyncio.CancelledError):
                await work
        except OSError as error:
            lost = self._buffer.frames - self._buffer.safe
            reason = (error.strerror or str(error)).lower()
            raise OSError(
                error.errno,
                f"{reason}; recording ended. The first {self._buffer.safe:,} frames"
                f" are written, {lost:,} are lost: free some space, or give another"
                " --out",
                str(self.folder),
            ) from error

    async def _close_connections(self) -> None:
        for server in self._listeners.values():
            server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _tell_once(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self._tell(sentence)

    async def _listen_for(self, broker: Address) -> None:
        """Listen in the place of a broker, unless that is done already."""
        async with self._opening:
            if broker in self._addresses or broker in self._addresses.values():
                return
            try:
                bound = _bind(self._host, self._port, len(self._addresses))
            except OSError as error:
                raise NetworkError(
                    address_text(self._host, self._port),
                    f"cannot listen there: {_reason(error)}",
                ) from error
            self._addresses[broker] = self._host, bound.getsockname()[1]

            async def serve(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter
            ) -> None:
                await self._serve(broker, reader, writer)

            self._listeners[broker] = await asyncio.start_server(
                serve, sock=bound, limit=_CHUNK
            )
            if self._stop.is_set():
                self._listeners[broker].close()
        if len(self._addresses) > 1:
            here = address_text(*self._addresses[broker])
            self._tell_once(f"listening on {here} for {address_text(*broker)}")

    async def _serve(
        self,
        broker: Address,
        client_reader: asyncio.StreamReader,
        client_writer: asyncio.StreamWriter,
    ) -> None:
        if len(self._open) >= self._max_connections:
            client_writer.transport.abort()
            self._tell_once(
                f"{self._max_connections:,} connections are open and further ones are"
                " closed; raise --max-connections to accept them"
            )
            return
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            ends = await self._connect(broker)
            if ends is not None:
                client_ends = client_reader, client_writer
                connection = _Connection(self, broker, client_ends, ends)
                self._held[connection] = 0
                try:
                    await connection.run()
                finally:
                    self._release(connection)
                    ends[1].transport.abort()
        except OSError:
            pass  # one side went away: as good as a close
        except KwireError as error:
            self._tell_once(str(error))
        except asyncio.CancelledError:
            pass  # the relay ends, or this connection held too much
        finally:
            client_writer.transport.abort()
            self._open.discard(task)

    async def _connect(self, broker: Address) -> Ends | None:
        if broker in self._selves:
            return None
        try:
            async with asyncio.timeout(_CONNECT_S):
                ends = await asyncio.open_connection(*broker, limit=_CHUNK)
        except (OSError, ValueError) as error:
            if broker not in self._unreachable:
                self._unreachable.add(broker)
                self._tell(
                    f"{address_text(*broker)}: the broker cannot be reached"
                    f" ({_reason(error)}); clients are turned away until it can"
                )
            return None
        if self._is_own(ends[1]):
            self._selves.add(broker)
            ends[1].transport.abort()
            self._tell_once(
                f"{address_text(*broker)}: this is the address that the relay listens"
                " on; give that of a broker"
            )
            return None
        self._unreachable.discard(broker)
        return ends

    def _is_own(self, writer: asyncio.StreamWriter) -> bool:
        """Whether a connection ends at a listener of this relay, which calls itself."""
        host, port, *_ = writer.get_extra_info("peername")
        here, *_ = writer.get_extra_info("sockname")
        if host != here:
            return False
        bound = (
            each.getsockname()
            for server in self._listeners.values()
            for each in server.sockets
        )
        return any(
            port == own_port and own in (host, *_WILDCARDS)
            for own, own_port, *_ in bound
        )

    def _hold(self, connection: _Connection, change: int) -> None:
        """Count what a connection holds; end the one that holds most, if it is needed.

        One that was ended, and has not noticed yet, is not counted any more.
        """
        if connection not in self._held:
            return
        self._held[connection] += change
        self._held_by_all += change
        while self._held_by_all > self._max_held:
            largest = max(self._held, key=self._held.__getitem__)
            self._release(largest)
            largest.end()
            self._tell_once(
                "frames that are incomplete or not read yet take more than"
                f" {self._max_held:,} bytes: the connections with most of them are"
                " closed; raise --max-held to keep them"
            )

    def _release(self, connection: _Connection) -> None:
        self._held_by_all -= self._held.pop(connection, 0)

    async def _listeners_for(
        self, answer: rewriting.Answer, seen_host: str
    ) -> dict[Address, Address]:
        for broker in sorted(answer.addresses):
            await self._listen_for(broker)
        return {
            broker: (seen_host if host in _WILDCARDS else host, port)
            for broker, (host, port) in self._addresses.items()
        }


class _Connection:
    """One client and its broker: both ways, each frame recorded and passed on."""

    def __init__(
        self, relay: Relay, broker: Address, client_ends: Ends, broker_ends: Ends
    ) -> None:
        self._relay = relay
        self._broker = address_text(*broker)
        self._client_ends = client_ends
        self._broker_ends = broker_ends
        self._conversation = Conversation()
        client = client_ends[1]
        # Neither is there any more where the client has gone in the meantime.
        self._client = address_text(*(client.get_extra_info("peername") or ("", 0))[:2])
        # Where the client found the relay: an address that reaches it.
        self._seen_host = (client.get_extra_info("sockname") or ("",))[0]
        for _, writer in (client_ends, broker_ends):
            # Who vanishes without a word shall not stay open for ever.
            with suppress(OSError):
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1
                )
        relay._connections += 1
        self._number = relay._connections
        self._task = asyncio.current_task()

    async def run(self) -> None:
        """Relay until both sides have ended, or one has failed."""
        client_in, client_out = self._client_ends
        broker_in, broker_out = self._broker_ends
        pumps = [
            asyncio.create_task(pump)
            for pump in (
                self._pump(client_in, broker_out, self._request, self._client),
                self._pump(broker_in, client_out, self._response, self._broker),
            )
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_EXCEPTION)
            for pump in pumps:
                if pump.done():
                    pump.result()
            for writer in (broker_out, client_out):
                # What is written still may wait for a slow reader.
                writer.close()
                await writer.wait_closed()
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    def end(self) -> None:
        """End the connection; its buffers are dropped at once."""
        for _, writer in (self._client_ends, self._broker_ends):
            writer.transport.abort()
        assert self._task is not None
        self._task.cancel()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        passing: Callable[[bytes, int], Coroutine[Any, Any, bytes | None]],
        sender: str,
    ) -> None:
        splitter = FrameSplitter(self._relay._limits)
        head = b""
        held = 0
        while chunk := await reader.read(_CHUNK):
            head = head or chunk[:4]
            now = time.time_ns() // 1000
            parts: list[bytes] = []
            for number, frame in enumerate(map(bytes, splitter.split(chunk)), 1):
                if not number % _TURN_FRAMES:
                    await asyncio.sleep(0)
                changed = await passing(frame, now)
                if changed is None:
                    parts += (len(frame).to_bytes(4, "big"), frame)
                else:
                    parts.append(changed)
            writer.writelines(parts)
            try:
                splitter.check()
            except DecodeError as error:
                raise _NotKafka(sender, error, head) from error
            now_held = splitter.pending + writer.transport.get_write_buffer_size()
            self._relay._hold(self, now_held - held)
            await writer.drain()
            held = splitter.pending
            self._relay._hold(self, held - now_held)
            await self._relay._buffer.room()
        if writer.can_write_eof():
            writer.write_eof()

    async def _request(self, frame: bytes, now: int) -> None:
        header, is_secret = self._conversation.request(frame)
        self._record(REQUEST, now, header, frame, is_secret, False)

    async def _response(self, frame: bytes, now: int) -> bytes | None:
        header, is_secret = self._conversation.response(frame)
        changed = await self._rewrite(header, frame)
        self._record(RESPONSE, now, header, frame, is_secret, changed is not None)
        return changed

    async def _rewrite(self, header: Any, frame: bytes) -> bytes | None:
        relay = self._relay
        try:
            if limited := rewriting.limit_versions(header, frame):
                changed, words = limited
                relay._tell_once(
                    f"clients are not offered {', '.join(words)}: this kwire cannot"
                    " rewrite their broker addresses"
                )
                return changed
            if answer := rewriting.read_answer(header, frame):
                return answer.write(await relay._listeners_for(answer, self._seen_host))
        except NetworkError:
            raise
        except KwireError as error:
            relay._tell_once(
                f"{self._broker}: {name_of(header.api_key)} v{header.api_version}"
                " cannot be decoded and is passed on unchanged, so clients may bypass"
                f" the relay: {error}"
            )
        return None

    def _record(
        self,
        direction: str,
        now: int,
        header: Any,
        frame: bytes,
        is_secret: bool,
        rewritten: bool,
    ) -> None:
        relay = self._relay
        relay._buffer.add(
            *(self._number, direction, now, self._client, self._broker, header),
            *(len(frame), None if is_secret else frame, rewritten),
        )
        if relay._count is not None and relay._buffer.frames >= relay._count:
            relay.stop()


class _NotKafka(KwireError):
    """What one side sends is no frame."""

    def __init__(self, sender: str, error: DecodeError, head: bytes) -> None:
        reason = error.reason
        if error.offset == 0 and head in _HTTP:
            reason = "it speaks HTTP, not Kafka's protocol"
        elif "TLS" in reason:
            reason = (
                "it speaks TLS, which cannot be recorded: use a plaintext listener,"
                " with security.protocol=PLAINTEXT or SASL_PLAINTEXT"
            )
        elif isinstance(error, LimitExceeded) and "HTTP" not in reason:
            reason += "; raise --max-frame to let it pass"
        super().__init__(f"{sender.rpartition(':')[0]}: {reason}")


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {_CONNECT_S:g} s"
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return os.strerror(error.errno).lower()
    return str(getattr(error, "strerror", None) or error).lower()


def _bind(host: str, port: int, number: int) -> socket.socket:
    """Listen at ``port`` for the first broker, at a free one above it for others."""
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    for candidate in range(port + number, min(port + number + _PORTS_TRIED, 1 << 16)):
        try:
            return socket.create_server(
                (address[0], candidate if port else 0), family=family
            )
        except OSError:
            if number == 0:
                raise
    return socket.create_server((address[0], 0), family=family)


def read_listen(text: str) -> Address:
    """Read where to listen; port 0 is any. ``ValueError`` as ``net.split_address``."""
    if text.startswith(":"):
        raise ValueError(
            f"{text!r} has no host; write 127.0.0.1{text} for clients of this machine,"
            f" 0.0.0.0{text} for those of others"
        )
    if text.endswith(":0"):
        # No address to connect to, which is what split_address reads.
        return split_address(f"{text.removesuffix(':0')}:1")[0], 0
    return split_address(text)
