# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Recorder``: runs a relay for programs without an event loop, such as tests."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from .._text import format_address
from ..client.runners.addresses import split_address
from .relay import MAX_CONNECTIONS, MAX_HELD_BYTES, Relay, read_listen

if TYPE_CHECKING:
    import os

    from .relay import Counts


class Recorder:
    """Runs a relay in a background thread. Use it as a context manager to close it.

    * ``listen``: address for accepting clients. Port 0 selects a free port.
    * ``upstream``: address of any broker in the cluster.
    * ``out``: directory in which the recording creates its own directory.
    * ``flush_s``: maximum traffic loss in seconds if the process is killed.
    * ``max_connections``: maximum number of simultaneous client connections.
    * ``max_held_bytes``: maximum size of incomplete and unread frames, in bytes.

    Further attributes:

    * ``address``: bootstrap address for clients, such as "127.0.0.1:43211".
    * ``folder``: directory of the recording.
    * ``messages``: console messages that the command ``kwire record`` would print.
    """

    def __init__(
        self,
        listen: str,
        upstream: str,
        out: str | os.PathLike[str],
        *,
        flush_s: float = 1.0,
        max_connections: int = MAX_CONNECTIONS,
        max_held_bytes: int = MAX_HELD_BYTES,
    ) -> None:
        """Start listening immediately.

        Raises ``ListenError`` if the address cannot be used, ``OSError`` if the
        recording directory cannot be created, and ``ValueError`` if an address is
        invalid.
        """
        self.messages: list[str] = []
        broker = split_address(upstream)
        self._relay = Relay(
            read_listen(listen),
            broker,
            out,
            tell=self.messages.append,
            flush_s=flush_s,
            max_connections=max_connections,
            max_held_bytes=max_held_bytes,
        )
        self.folder = self._relay.folder
        self._failure: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name="kwire-recorder", daemon=True
        )
        self._thread.start()
        self._ready.wait()
        self._raise_failure()
        self.address = format_address(*self._relay.addresses[broker])

    @property
    def counts(self) -> Counts:
        """Counts of frames, bytes and connections that were recorded so far."""
        return self._relay.counts

    @property
    def addresses(self) -> set[str]:
        """Listener addresses, which replace the broker addresses in responses.

        If kwire cannot decode a response, clients receive its original addresses, and
        ``messages`` contains a warning.
        """
        return {format_address(*address) for address in self._relay.addresses.values()}

    def close(self) -> None:
        """Stop the relay and write the remaining frames.

        If the relay has failed earlier, raises the error that stopped it.
        """
        if self._thread.is_alive():
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._relay.stop)
        self._thread.join()
        self._raise_failure()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _raise_failure(self) -> None:
        """Raise the error of the relay thread once, if there is one."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _run(self) -> None:
        """Run the relay in the background thread, and store its error."""
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._relay.run(self._ready.set))
        except BaseException as failure:
            self._failure = failure
        finally:
            self._ready.set()
