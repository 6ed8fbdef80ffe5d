# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Brokers and clients that exchange frames over loopback TCP sockets.

A broker is a function that answers a frame. ``LoopbackBroker`` records the received
frames, so that a run can report the actual traffic. All waits have a timeout.
"""

from __future__ import annotations

import socket
import socketserver
import threading
from typing import TYPE_CHECKING

from ...errors import KwireError
from ...messages.framing import FrameSplitter

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_HOST = "127.0.0.1"
_TIMEOUT_S = 5
_CHUNK_BYTES = 65536


class LoopbackBroker:
    """Accepts connections on a free port of the loopback interface.

    ``answer`` receives a frame without its size, and returns the bytes to write. If it
    returns None or raises ``KwireError`` or ``OSError``, the connection is closed.
    Other exceptions are raised at the end of the ``with`` block.
    """

    def __init__(self, answer: Callable[[bytes], bytes | None]) -> None:
        self.answer = answer
        self.connections: list[list[bytes]] = []
        """Received frames per connection, in accept order."""
        self._failures: list[BaseException] = []
        broker = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                broker._serve(self.request)

        self._server = socketserver.ThreadingTCPServer((_HOST, 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )

    @property
    def port(self) -> int:
        """Port on which the broker listens."""
        port: int = self._server.server_address[1]
        return port

    @property
    def host(self) -> str:
        """Address on which the broker listens."""
        return _HOST

    def count(self, api_key: int) -> int:
        """Return the number of received requests for an API, over all connections."""
        head = api_key.to_bytes(2, "big")
        return sum(frame[:2] == head for frames in self.connections for frame in frames)

    def connect(self) -> LoopbackClient:
        """Open a connection to this broker."""
        return LoopbackClient(self.host, self.port)

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(_TIMEOUT_S)
        splitter = FrameSplitter()
        frames: list[bytes] = []
        self.connections.append(frames)
        try:
            while chunk := connection.recv(_CHUNK_BYTES):
                for frame in splitter.feed(chunk):
                    frames.append(bytes(frame))
                    reply = self.answer(bytes(frame))
                    if reply is None:
                        return
                    connection.sendall(reply)
        except (KwireError, OSError):
            return
        except Exception as error:
            self._failures.append(error)

    def __enter__(self) -> LoopbackBroker:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(_TIMEOUT_S)
        if self._failures and error is None:
            raise self._failures[0]


class LoopbackClient:
    """Broker connection that writes a request and returns the next frame."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), _TIMEOUT_S)
        self._splitter = FrameSplitter()

    def exchange(self, data: bytes) -> bytes | None:
        """Write a request, and return the next frame.

        Returns None if the broker closes the connection. Raises ``TimeoutError`` if the
        broker does not answer within 5 seconds.
        """
        try:
            self._socket.sendall(data)
            while chunk := self._socket.recv(_CHUNK_BYTES):
                for frame in self._splitter.feed(chunk):
                    return bytes(frame)
        except ConnectionError:
            return None
        return None

    def __enter__(self) -> LoopbackClient:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()
