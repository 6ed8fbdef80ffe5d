# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A relay between Kafka clients and a cluster that records every frame.

The first listener takes the place of the upstream address; each broker that a response
names gets a listener of its own, so that clients stay on the relay. Here are listeners,
limits and the end of a recording; ``relay_connections.py`` moves the frames.
"""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from .._limits import Limits
from .._text import format_address
from ..client.runners.addresses import split_address
from ..errors import KwireError
from .buffering import CaptureBuffer
from .relay_connections import ListenError, RelayConnection

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from . import rewriting

    Address = tuple[str, int]
    Tell = Callable[[str], None]

MAX_FRAME_BYTES = 256 << 20
HIGHEST_MAX_FRAME_BYTES = 0x1502_FFFF
"""A size above that may as well be the beginning of TLS."""

MAX_CONNECTIONS = 1000
MAX_HELD_BYTES = 1 << 30
"""Bytes of frames, of all connections, that are not complete or not read yet."""

_CONNECT_S = 10.0
_PORTS_TRIED = 100
_WILDCARDS = ("0.0.0.0", "::")


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
    are turned away. Where connections hold more than ``max_held_bytes`` bytes of frames
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
        flush_s: float = 1.0,
        max_frame_bytes: int = MAX_FRAME_BYTES,
        max_connections: int = MAX_CONNECTIONS,
        max_held_bytes: int = MAX_HELD_BYTES,
        count: int | None = None,
    ) -> None:
        """Make the recording's folder; listening is ``run``'s."""
        self._host, self._port = listen
        self._upstream = upstream
        self.buffer = CaptureBuffer(out, flush_s, self._steer_connections)
        self.limits = Limits(frame_bytes=max_frame_bytes)
        self._tell = tell
        self._told: set[str] = set()
        self._unreachable: set[Address] = set()
        self._selves: set[Address] = set()
        self._max_connections = max_connections
        self._max_held_bytes = max_held_bytes
        self._held: dict[RelayConnection, int] = {}
        self._held_by_all = 0
        self._count = count
        self._connections = 0
        self._listeners: list[asyncio.Task[asyncio.Server]] = []
        self._own: set[Address] = set()
        self._addresses: dict[Address, Address] = {}
        self._open: dict[RelayConnection, asyncio.Task[None]] = {}
        self._stop = asyncio.Event()

    @property
    def folder(self) -> Path:
        """Where the recording is."""
        return self.buffer.folder

    @property
    def recording(self) -> str:
        """The id of the recording."""
        return self.buffer.recording

    @property
    def addresses(self) -> dict[Address, Address]:
        """The listener of each broker, by the broker's address."""
        return dict(self._addresses)

    @property
    def counts(self) -> Counts:
        """What has been recorded so far."""
        return Counts(self.buffer.frames, self.buffer.size, self._connections)

    def stop(self) -> None:
        """Let ``run`` come to its end."""
        self._stop.set()

    async def run(self, ready: Callable[[], None]) -> None:
        """Relay until ``stop``; calls ``ready`` once clients can connect.

        Raises ``ListenError`` if it cannot listen, and ``OSError`` if it cannot write.
        Frames that were written before remain.
        """
        writing = asyncio.create_task(self.buffer.run())
        stopping = asyncio.create_task(self._stop.wait())
        try:
            self._listen_for(self._upstream)
            ready()
            await asyncio.wait((writing, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            await self._close_connections()
            if not writing.done():
                writing.cancel()
                with suppress(asyncio.CancelledError):
                    await writing
                await self._write_frames(self.buffer.close())
        await self._write_frames(writing)

    async def _write_frames(self, work: Any) -> None:
        try:
            with suppress(asyncio.CancelledError):
                await work
        except OSError as error:
            lost = self.buffer.frames - self.buffer.safe
            reason = (error.strerror or str(error)).lower()
            raise OSError(
                error.errno,
                f"{reason}; recording ended. The first {self.buffer.safe:,} frames"
                f" are written, {lost:,} are lost: free some space, or give another"
                " --output",
                str(self.folder),
            ) from error

    async def _close_connections(self) -> None:
        self._stop.set()
        for listener in self._listeners:
            (await listener).close()
        for connection, serving in self._open.items():
            connection.abort()
            serving.cancel()
        await asyncio.gather(*self._open.values(), return_exceptions=True)

    def tell_once(self, sentence: str) -> None:
        """Pass a sentence to ``tell``, unless that was done before."""
        if sentence not in self._told:
            self._told.add(sentence)
            self._tell(sentence)

    def _listen_for(self, broker: Address) -> None:
        """Listen in the place of a broker, unless that is done already."""
        if broker in self._addresses or broker in self._addresses.values():
            return
        try:
            bound = _bind(self._host, self._port, len(self._addresses))
        except OSError as error:
            address = format_address(self._host, self._port)
            raise ListenError(
                f"listening at {address}: {_reason(error)}; choose another address"
            ) from error
        own_host, own_port, *_ = bound.getsockname()
        self._own.add((own_host, own_port))
        self._addresses[broker] = self._host, own_port
        # Clients can connect from here on; the task accepts them.
        loop = asyncio.get_running_loop()
        serving = loop.create_server(
            lambda: RelayConnection(self, broker).client, sock=bound
        )
        self._listeners.append(loop.create_task(serving))
        if len(self._addresses) > 1:
            here = format_address(*self._addresses[broker])
            self.tell_once(f"listening on {here} for {format_address(*broker)}")

    def accept(self, connection: RelayConnection) -> bool:
        """Serve a client that has connected, unless there are too many."""
        if self._stop.is_set():
            return False
        if len(self._open) >= self._max_connections:
            self.tell_once(
                f"{self._max_connections:,} connections are open and further ones are"
                " closed; raise --max-connections to accept them"
            )
            return False
        loop = asyncio.get_running_loop()
        self._open[connection] = loop.create_task(self._serve(connection))
        return True

    async def _serve(self, connection: RelayConnection) -> None:
        try:
            if await self._connect(connection):
                self._held[connection] = 0
                self._connections += 1
                await connection.run(self._connections)
        except OSError:
            pass  # one side went away: as good as a close
        except KwireError as error:
            self.tell_once(str(error))
        except asyncio.CancelledError:
            pass  # the relay ends, or this connection held too much
        finally:
            self._release(connection)
            connection.abort()
            del self._open[connection]

    async def _connect(self, connection: RelayConnection) -> bool:
        """Connect to the broker of a client; return whether that succeeded."""
        broker = connection.address
        if broker in self._selves:
            return False
        try:
            async with asyncio.timeout(_CONNECT_S):
                loop = asyncio.get_running_loop()
                await loop.create_connection(lambda: connection.broker, *broker)
        except (OSError, ValueError) as error:
            if broker not in self._unreachable:
                self._unreachable.add(broker)
                self._tell(
                    f"{format_address(*broker)}: the broker cannot be reached"
                    f" ({_reason(error)}); clients are turned away until it can"
                )
            return False
        if self._is_own(connection):
            self._selves.add(broker)
            self.tell_once(
                f"{format_address(*broker)}: this is the address that the relay listens"
                " on; give that of a broker"
            )
            return False
        self._unreachable.discard(broker)
        return True

    def _is_own(self, connection: RelayConnection) -> bool:
        """Whether a connection ends at a listener of this relay, which calls itself."""
        (host, port), (here, _) = connection.broker.names()
        return host == here and any(
            (each, port) in self._own for each in (host, *_WILDCARDS)
        )

    def _steer_connections(self) -> None:
        """Read again what did not fit into the buffer of the recording."""
        for connection in self._open:
            connection.steer()

    def hold(self, connection: RelayConnection, change: int) -> None:
        """Count what a connection holds; end the one that holds most, if it is needed.

        One that was ended, and has not noticed yet, is not counted any more.
        """
        if connection not in self._held:
            return
        self._held[connection] += change
        self._held_by_all += change
        while self._held_by_all > self._max_held_bytes:
            largest = max(self._held, key=self._held.__getitem__)
            self._release(largest)
            largest.abort()
            self.tell_once(
                f"incomplete and unread frames need more than {self._max_held_bytes:,}"
                " bytes: the connections with the largest share are closed; raise"
                " --max-held to keep them"
            )

    def _release(self, connection: RelayConnection) -> None:
        self._held_by_all -= self._held.pop(connection, 0)

    def note_recorded(self) -> None:
        """Stop if the requested number of frames is recorded."""
        if self._count is not None and self.buffer.frames >= self._count:
            self.stop()

    def find_listeners(
        self, answer: rewriting.Answer, seen_host: str
    ) -> dict[Address, Address]:
        """Listen for the brokers of a response; return the listener of each broker.

        ``seen_host`` is the address at which the client found the relay.
        """
        for broker in sorted(answer.addresses):
            self._listen_for(broker)
        return {
            broker: (seen_host if host in _WILDCARDS else host, port)
            for broker, (host, port) in self._addresses.items()
        }


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
    """Read where to listen; port 0 is any. ``ValueError`` as ``split_address``."""
    if text.startswith(":"):
        raise ValueError(
            f"{text!r} has no host; write 127.0.0.1{text} for clients of this machine,"
            f" 0.0.0.0{text} for those of others"
        )
    if text.endswith(":0"):
        # No address to connect to, which is what split_address reads.
        return split_address(f"{text.removesuffix(':0')}:1")[0], 0
    return split_address(text)
