# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A loopback socket for the drafts: a broker that answers, and a client.

Both are those of ``kwire.drafts.runs.loopback``, on the engine of the test. Each wait
has a limit, and an exception in the broker fails the test.
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
    """Serve connections; give the address.

    ``answer`` takes a frame without its size and gives the bytes to write, or None to
    close the connection; a ``KwireError`` closes it as well.
    """
    with _loopback(kwire).LoopbackBroker(answer) as broker:
        yield broker.host, broker.port


def ask(kwire: ModuleType, address: tuple[str, int], data: bytes) -> bytes | None:
    """Write a request over a new connection; give the frame that comes back.

    None if the server hangs up instead.
    """
    with _loopback(kwire).LoopbackClient(*address) as connection:
        return connection.exchange(data)


def negotiate(kwire: ModuleType, strategy: object, address: tuple[str, int]) -> object:
    """Run a client strategy over a new connection, to its table or its error."""
    frame = ask(kwire, address, strategy.data_to_send())
    if frame is None:
        return strategy.connection_lost()
    return strategy.receive_frame(frame)


def _loopback(kwire: ModuleType) -> ModuleType:
    return importlib.import_module(f"{kwire.__name__}.drafts.runs.loopback")
