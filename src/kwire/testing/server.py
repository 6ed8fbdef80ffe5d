# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterServer``: loopback sockets of a test cluster in an asyncio event loop.

The event loop is the caller's, or runs in a thread of its own. All calls of the machine
hold one lock, so that a test can change the cluster from any thread.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from .state.timers import NEVER

if TYPE_CHECKING:
    from .broker_connection import BrokerConnection
    from .machine import ClusterMachine

HOST = "127.0.0.1"
_BACKLOG = 128


class ClusterServer:
    """Listening sockets of all brokers, and the timer of the machine.

    * ``ports``: port for each broker, where 0 lets the system choose. A broker keeps
      its port when it is stopped and started again.
    """

    def __init__(
        self,
        machine: ClusterMachine,
        *,
        host: str = HOST,
        ports: dict[int, int] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self._machine = machine
        self._host = host
        self._ports = ports or {}
        self._tls = tls
        self._loop: asyncio.AbstractEventLoop | None = None
        self._servers: dict[int, asyncio.Server] = {}
        self._links: dict[int, _Link] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._started_s = time.monotonic()

    async def start(self) -> None:
        """Listen on the ports of all brokers."""
        self._loop = asyncio.get_running_loop()
        try:
            for node_id in self._machine.state.brokers:
                await self.start_broker(node_id)
        except BaseException:
            await self.stop()
            raise

    async def start_broker(self, node_id: int) -> None:
        """Listen on the port of a broker."""
        assert self._loop is not None
        broker = self._machine.state.brokers[node_id]
        port = broker.port if broker.port > 0 else self._ports.get(node_id, 0)
        listener = _listen(self._host, port)
        broker.host, broker.port = self._host, listener.getsockname()[1]
        server = await self._loop.create_server(
            lambda: _Link(self, node_id),
            sock=listener,
            ssl=self._tls,
            backlog=_BACKLOG,
            start_serving=False,
        )
        self._servers[node_id] = server
        await server.start_serving()

    async def stop_broker(self, node_id: int) -> None:
        """Close the listening socket and the connections of a broker."""
        server = self._servers.pop(node_id, None)
        if server is not None:
            await self._close_listener(server)
        with self.lock:
            self._machine.disconnect_broker(node_id)
            self.flush()

    async def _close_listener(self, server: asyncio.Server) -> None:
        """Close a listening socket, after the accepted sockets have transports.

        asyncio never closes an accepted socket whose server is closed before the socket
        has a transport: the client would wait forever.
        """
        assert self._loop is not None
        for listener in server.sockets:
            # Event loops without readers create the transport immediately.
            with suppress(NotImplementedError, RuntimeError):
                self._loop.remove_reader(listener.fileno())
        await asyncio.sleep(0)
        server.close()

    async def stop(self) -> None:
        """Close all sockets and wait until they are closed."""
        if self._timer is not None:
            self._timer.cancel()
        for node_id in list(self._servers):
            await self.stop_broker(node_id)
        for link in list(self._links.values()):
            link.abort()
        while self._links:
            await asyncio.sleep(0)

    def is_listening(self, node_id: int) -> bool:
        """Whether a broker accepts connections."""
        return node_id in self._servers

    def now_s(self) -> float:
        """Return the time since the creation of the server in seconds."""
        return time.monotonic() - self._started_s

    def connect(self, node_id: int, link: _Link, host: str) -> BrokerConnection:
        """Accept a connection."""
        with self.lock:
            connection = self._machine.connect(node_id, host)
            self._links[connection.connection_id] = link
            return connection

    def receive(self, connection: BrokerConnection, data: bytes) -> None:
        """Process received bytes, and send all responses that are ready."""
        with self.lock:
            self._machine.advance(self.now_s())
            connection.receive(data)
            self.flush()

    def forget(self, connection: BrokerConnection) -> None:
        """Note that a socket has been closed."""
        with self.lock:
            self._links.pop(connection.connection_id, None)
            connection.abort()
            self._machine.take_ready()

    def flush(self) -> None:
        """Send the bytes of all connections, and set the timer. Holds the lock."""
        with self.lock:
            self._machine.attempt_waiting()
            for connection in self._machine.take_ready():
                link = self._links.get(connection.connection_id)
                if link is not None:
                    link.send()
            self._set_timer()

    def flush_soon(self) -> None:
        """Call ``flush`` in the event loop. Can be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.flush)

    def _set_timer(self) -> None:
        assert self._loop is not None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due_s = self._machine.next_due_s
        if due_s != NEVER:
            delay_s = max(due_s - self.now_s(), 0.0)
            self._timer = self._loop.call_later(delay_s, self._run_timers)

    def _run_timers(self) -> None:
        with self.lock:
            self._machine.advance(self.now_s())
            self.flush()


class _Link(asyncio.Protocol):
    """Connects one socket with one ``BrokerConnection``."""

    def __init__(self, server: ClusterServer, node_id: int) -> None:
        self._server = server
        self._node_id = node_id
        self._transport: asyncio.Transport | None = None
        self._connection: BrokerConnection | None = None
        self._is_writable = True
        self._is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if not self._server.is_listening(self._node_id):
            # The broker was stopped after the event loop had accepted the socket.
            self._transport.abort()
            return
        peer = transport.get_extra_info("peername") or ("127.0.0.1", 0)
        self._connection = self._server.connect(self._node_id, self, str(peer[0]))

    def data_received(self, data: bytes) -> None:
        if self._connection is not None:
            self._server.receive(self._connection, data)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exception: Exception | None) -> None:
        if self._connection is not None:
            self._server.forget(self._connection)

    def pause_writing(self) -> None:
        self._is_writable = False
        self._regulate()

    def resume_writing(self) -> None:
        self._is_writable = True
        self._regulate()

    def send(self) -> None:
        """Write the bytes of the connection, and close the socket after its end."""
        transport, connection = self._transport, self._connection
        if transport is None or connection is None or transport.is_closing():
            return
        data = connection.data_to_send()
        if data:
            transport.write(data)
        if connection.is_closed:
            transport.close()
        else:
            self._regulate()

    def abort(self) -> None:
        """Close the socket immediately."""
        if self._transport is not None:
            self._transport.abort()

    def _regulate(self) -> None:
        """Stop reading while the client does not read, or has many open requests."""
        transport, connection = self._transport, self._connection
        if transport is None or connection is None or transport.is_closing():
            return
        must_pause = not (self._is_writable and connection.can_receive)
        if must_pause and not self._is_paused:
            transport.pause_reading()
        elif self._is_paused and not must_pause:
            transport.resume_reading()
        self._is_paused = must_pause


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        reason = (error.strerror or "unknown error").lower()
        sentence = f"cannot listen on {host} port {port}: {reason}"
        raise OSError(error.errno, sentence) from None
    return listener
