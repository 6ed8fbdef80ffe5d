# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Relay between Kafka clients and a cluster that records every frame.

The first listener takes the place of the upstream address. Every broker address in a
response automatically receives its own listener, so that clients stay connected to the
relay. This module contains the listeners, the limits, and a recording's shutdown.
``relay_connections.py`` forwards the frames.
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
"""Upper limit for ``max_frame_bytes``.

A larger size field cannot be distinguished from the first bytes of a TLS connection.
"""

MAX_CONNECTIONS = 1000
MAX_HELD_BYTES = 1 << 30
"""Default limit for incomplete and unread frames on all connections, in bytes."""

_CONNECT_S = 10.0
"""Maximum time in seconds for opening a connection to a broker."""

_MAX_PORTS = 100
"""Number of ports above the configured port that are tried for the listener of a
broker. If none of these ports is free, the system chooses any free port.
"""

_WILDCARDS = ("0.0.0.0", "::")


class Counts(NamedTuple):
    """Counts of the traffic that was recorded so far.

    * ``frames``: number of frames.
    * ``size``: total size of the frames in bytes.
    * ``connections``: number of connections.
    """

    frames: int
    size: int
    connections: int


class Relay:
    """Listens for clients, forwards their frames to brokers, and records the frames.

    * ``listen``: bootstrap address for clients. Port 0 selects a free port.
    * ``upstream``: address of any broker in the cluster.
    * ``out``: directory in which the recording creates its own directory.
    * ``tell``: receives messages for the user. The same message is passed only once,
      but a broker that was reachable again in the meantime is reported again.
    * ``flush_s``: maximum traffic loss in seconds if the process is killed.
    * ``max_frame_bytes``: maximum frame size.
    * ``max_connections``: maximum number of clients. Additional clients are
      disconnected immediately.
    * ``max_held_bytes``: maximum total size of incomplete and unread frames on all
      connections. Exceeding the limit closes the connection with the most bytes.
      Additional buffers use up to 1 MiB per connection.
    * ``count``: stop after recording this number of frames. Default: no limit.
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
        """Create the recording directory. ``run`` starts the listeners."""
        self._host, self._port = listen
        self._upstream = upstream
        self.buffer = CaptureBuffer(out, flush_s, self._steer_connections)
        self.limits = Limits(frame_bytes=max_frame_bytes)
        self._tell = tell
        # Messages that have already been passed to ``tell``.
        self._told: set[str] = set()
        self._unreachable: set[Address] = set()
        # Brokers whose addresses lead back to this relay. Their clients are rejected,
        # because the relay would connect to itself endlessly.
        self._selves: set[Address] = set()
        self._max_connections = max_connections
        self._max_held_bytes = max_held_bytes
        # Number of bytes in incomplete and unread frames, by connection. Connections
        # that are being closed are no longer included.
        self._held: dict[RelayConnection, int] = {}
        # Sum of the numbers in ``_held``.
        self._held_by_all = 0
        # Number of frames after which the relay stops, or None.
        self._count = count
        self._connections = 0
        self._listeners: list[asyncio.Task[asyncio.Server]] = []
        # Addresses of the listening sockets. If a broker has one of them, its address
        # leads back to this relay.
        self._own: set[Address] = set()
        # Advertised listener addresses by broker address.
        self._addresses: dict[Address, Address] = {}
        # Client connections with the tasks that serve them.
        self._open: dict[RelayConnection, asyncio.Task[None]] = {}
        self._stop = asyncio.Event()

    @property
    def folder(self) -> Path:
        """Directory of this recording, which contains its capture files."""
        return self.buffer.folder

    @property
    def recording(self) -> str:
        """Recording id, which is also the directory's name."""
        return self.buffer.recording

    @property
    def addresses(self) -> dict[Address, Address]:
        """Listener addresses by broker address."""
        return dict(self._addresses)

    @property
    def counts(self) -> Counts:
        """Counts of frames, bytes and connections that were recorded so far."""
        return Counts(self.buffer.frames, self.buffer.size, self._connections)

    def stop(self) -> None:
        """Request a shutdown. ``run`` then closes all connections and returns."""
        self._stop.set()

    async def run(self, ready: Callable[[], None]) -> None:
        """Relay until ``stop`` is called. Calls ``ready`` when clients can connect.

        Raises ``ListenError`` if the relay cannot listen, and ``OSError`` if it cannot
        write the recording. Frames that were written before the error remain on disk.
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
        """Wait for ``work``, the task that writes the recorded frames to files.

        If the task fails, the number of lost frames is added to its error.
        """
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
        """Close all listeners and abort all connections."""
        self._stop.set()
        for listener in self._listeners:
            (await listener).close()
        for connection, serving in self._open.items():
            connection.abort()
            serving.cancel()
        await asyncio.gather(*self._open.values(), return_exceptions=True)

    def tell_once(self, sentence: str) -> None:
        """Pass a message to ``tell``, unless the same message was already passed."""
        if sentence not in self._told:
            self._told.add(sentence)
            self._tell(sentence)

    def _listen_for(self, broker: Address) -> None:
        """Start a listener that represents a broker, unless it already has one.

        Raises ``ListenError`` if the relay cannot listen.
        """
        if broker in self._addresses or broker in self._addresses.values():
            return
        try:
            bound = _bind_listener(self._host, self._port, len(self._addresses))
        except OSError as error:
            address = format_address(self._host, self._port)
            raise ListenError(
                f"listening at {address}: {_describe_error(error)}; choose another"
                " address"
            ) from error
        own_host, own_port, *_ = bound.getsockname()
        self._own.add((own_host, own_port))
        self._addresses[broker] = self._host, own_port
        # The socket accepts connections from now on. The server is created in a task,
        # because synchronous code calls this method while it rewrites responses.
        loop = asyncio.get_running_loop()
        serving = loop.create_server(
            lambda: RelayConnection(self, broker).client, sock=bound
        )
        self._listeners.append(loop.create_task(serving))
        if len(self._addresses) > 1:
            own_address = format_address(*self._addresses[broker])
            self.tell_once(f"listening on {own_address} for {format_address(*broker)}")

    def accept(self, connection: RelayConnection) -> bool:
        """Start serving a new client. Returns False if the client must be disconnected.

        Clients are rejected during shutdown and when ``max_connections`` is reached.
        """
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
        """Connect to a client's broker, and forward frames until the end."""
        try:
            if await self._connect(connection):
                self._held[connection] = 0
                self._connections += 1
                await connection.run(self._connections)
        except OSError:
            pass  # the client or the broker has closed its connection
        except KwireError as error:
            self.tell_once(str(error))
        except asyncio.CancelledError:
            pass  # the relay shuts down, or the limit for held bytes was exceeded
        finally:
            self._release(connection)
            connection.abort()
            del self._open[connection]

    async def _connect(self, connection: RelayConnection) -> bool:
        """Connect to the broker for a client.

        Returns whether the connection succeeded.
        """
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
                    f" ({_describe_error(error)}); clients are turned away until it can"
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
        """Whether the broker address leads back to a listener in this relay."""
        (host, port), (local_host, _) = connection.broker.names()
        return host == local_host and any(
            (own_host, port) in self._own for own_host in (host, *_WILDCARDS)
        )

    def _steer_connections(self) -> None:
        """Resume reading on all connections after the recording buffer was full."""
        for connection in self._open:
            connection.steer()

    def hold(self, connection: RelayConnection, change: int) -> None:
        """Update the number of bytes held by a connection, and enforce the limit.

        If the total exceeds ``max_held_bytes``, the connection with the most bytes is
        aborted. An aborted connection is no longer counted, even if its task is still
        running.
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
        """Subtract the held bytes of a connection from the total."""
        self._held_by_all -= self._held.pop(connection, 0)

    def note_recorded(self) -> None:
        """Stop the relay if the buffer has recorded the requested number of frames.

        Call this method after every recorded frame.
        """
        if self._count is not None and self.buffer.frames >= self._count:
            self.stop()

    def find_listeners(
        self, answer: rewriting.Answer, seen_host: str
    ) -> dict[Address, Address]:
        """Start listeners for the brokers in a response.

        Returns the addresses of all listeners, including earlier ones, by broker
        address. Raises ``ListenError`` if the relay cannot listen.

        ``seen_host`` is the relay address used by the client. It replaces the host if
        the relay listens on a wildcard address such as 0.0.0.0.
        """
        for broker in sorted(answer.addresses):
            self._listen_for(broker)
        return {
            broker: (seen_host if host in _WILDCARDS else host, port)
            for broker, (host, port) in self._addresses.items()
        }


def _describe_error(error: Exception) -> str:
    """Describe a connection or socket error in lowercase words."""
    if isinstance(error, TimeoutError):
        return f"no answer within {_CONNECT_S:g} s"
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return os.strerror(error.errno).lower()
    return str(getattr(error, "strerror", None) or error).lower()


def _bind_listener(host: str, port: int, number: int) -> socket.socket:
    """Open a listening socket for the broker with this index.

    The first broker uses ``port`` itself. Later brokers use the next free port above
    it, or any free port if no port is found there. Port 0 always selects a free port.
    """
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    for candidate in range(port + number, min(port + number + _MAX_PORTS, 1 << 16)):
        try:
            return socket.create_server(
                (address[0], candidate if port else 0), family=family
            )
        except OSError:
            if number == 0:
                raise
    return socket.create_server((address[0], 0), family=family)


def read_listen(text: str) -> Address:
    """Parse the listen address. Port 0 selects a free port.

    Raises ``ValueError`` if the host is missing, and in the same cases as
    ``split_address``.
    """
    if text.startswith(":"):
        raise ValueError(
            f"{text!r} has no host; write 127.0.0.1{text} for clients of this machine,"
            f" 0.0.0.0{text} for those of others"
        )
    if text.endswith(":0"):
        # ``split_address`` rejects port 0, because clients cannot connect to it.
        return split_address(f"{text.removesuffix(':0')}:1")[0], 0
    return split_address(text)
