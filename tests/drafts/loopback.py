# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A loopback socket for the drafts: a thread that answers, and a client.

Every wait has an end, so that a peer that says nothing fails a test instead of holding
it up. What goes wrong in the thread is raised where the test can see it.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from types import ModuleType

TIMEOUT_S = 5


@contextlib.contextmanager
def serving(
    kwire: ModuleType, answer: Callable[[bytes], bytes | None]
) -> Iterator[tuple[str, int]]:
    """Serve connections one after another; give the address.

    ``answer`` takes a frame without its size and gives the bytes to write, or None to
    close the connection; a ``KwireError`` closes it as well.
    """
    failures: list[BaseException] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(TIMEOUT_S)
        over = threading.Event()

        def accept() -> None:
            try:
                while not over.is_set():
                    connection, _ = listener.accept()
                    if not over.is_set():
                        _serve(kwire, connection, answer)
                    connection.close()
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            over.set()
            # accept is waiting: one more connection wakes it up.
            socket.create_connection(listener.getsockname(), TIMEOUT_S).close()
            thread.join(TIMEOUT_S)
            assert not thread.is_alive(), "the server does not come to an end"
    if failures:
        raise failures[0]


def _serve(
    kwire: ModuleType,
    connection: socket.socket,
    answer: Callable[[bytes], bytes | None],
) -> None:
    connection.settimeout(TIMEOUT_S)
    splitter = kwire.messages.framing.FrameSplitter()
    while chunk := connection.recv(65536):
        for frame in splitter.feed(chunk):
            try:
                reply = answer(frame)
            except kwire.errors.KwireError:
                return
            if reply is None:
                return
            connection.sendall(reply)


def ask(kwire: ModuleType, address: tuple[str, int], data: bytes) -> bytes | None:
    """Write a request over a new connection; give the frame that comes back.

    None if the server hangs up instead.
    """
    splitter = kwire.messages.framing.FrameSplitter()
    with socket.create_connection(address, TIMEOUT_S) as connection:
        connection.sendall(data)
        while chunk := _received(connection):
            for frame in splitter.feed(chunk):
                return frame
    return None


def negotiate(kwire: ModuleType, strategy: object, address: tuple[str, int]) -> object:
    """Run a client strategy over a new connection, to its table or its error."""
    frame = ask(kwire, address, strategy.data_to_send())
    if frame is None:
        return strategy.connection_lost()
    return strategy.receive_frame(frame)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except ConnectionResetError:
        return b""
