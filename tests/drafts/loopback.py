# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Loopback socket for the drafts, with a server and a client.

Both use ``kwire.drafts.runs.loopback`` on the tested engine. Every wait has a timeout,
and an exception in the server fails the test.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from types import ModuleType


@contextlib.contextmanager
def serving(
    kwire: ModuleType, answer: Callable[[bytes], bytes | None]
) -> Iterator[tuple[str, int]]:
    """Serve connections, and yield the address.

    ``answer`` maps a frame without its size to the bytes to write. The server closes
    the connection if it returns None or raises ``KwireError``.
    """
    with _loopback(kwire).LoopbackBroker(answer) as broker:
        yield broker.host, broker.port


def ask(kwire: ModuleType, address: tuple[str, int], data: bytes) -> bytes | None:
    """Send a request over a new connection, and return the response frame.

    Returns None if the server closes the connection instead.
    """
    with _loopback(kwire).LoopbackClient(*address) as connection:
        return connection.exchange(data)


def negotiate(kwire: ModuleType, strategy: object, address: tuple[str, int]) -> object:
    """Run a client strategy over a new connection. Return its table or its error."""
    frame = ask(kwire, address, strategy.data_to_send())
    if frame is None:
        return strategy.connection_lost()
    return strategy.receive_frame(frame)


def _loopback(kwire: ModuleType) -> ModuleType:
    return importlib.import_module(f"{kwire.__name__}.drafts.runs.loopback")
