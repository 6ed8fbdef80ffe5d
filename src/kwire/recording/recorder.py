# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Recorder``: a relay for programs that have no event loop, such as tests."""

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
    """A relay in a thread of its own, for tests and programs; ``with`` closes it.

    ``address`` is where clients bootstrap ("127.0.0.1:43211"), ``folder`` where the
    recording is, ``messages`` the texts that the command line would print.
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
        """Start listening immediately. Raises ``ListenError`` or ``OSError``."""
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
        """What has been recorded so far."""
        return self._relay.counts

    @property
    def addresses(self) -> set[str]:
        """Where the relay listens: all that clients may ever see."""
        return {format_address(*each) for each in self._relay.addresses.values()}

    def close(self) -> None:
        """End the relay and write the rest; raises what ended it before, if any."""
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
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._relay.run(self._ready.set))
        except BaseException as failure:
            self._failure = failure
        finally:
            self._ready.set()
