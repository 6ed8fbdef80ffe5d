# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a state machine with blocking calls and one selector.

This file has sockets, TLS and the clock; the machine decides what is sent to which
broker.
"""

from __future__ import annotations

import errno
import selectors
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from .addresses import connection_problem
from .forks import ForkAware
from .network import set_no_delay

if TYPE_CHECKING:
    import ssl as tls
    from collections.abc import Callable

    from ..machines import ClusterMachine, Link
    from .network import Network, SocketAddress
    from .protocols import Machine

_NEVER = float("inf")

_LONGEST_WAIT_S = 3600.0

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class BlockingRunner(ForkAware):
    """Runs one machine, in the thread that calls its methods.

    The coroutines block the thread and never suspend. They let the operations of
    ``operations.py`` wait for this runner as they wait for an ``AsyncRunner``.
    """

    def __init__(
        self, machine: Machine, cluster: ClusterMachine, network: Network
    ) -> None:
        self._machine = machine
        self._cluster = cluster
        self._network = network
        self._selector = selectors.DefaultSelector()
        self._sockets: dict[Link, _LinkSocket] = {}
        # When the machine wanted to be moved, as of its last ``advance``.
        self._due_at = float("inf")
        self._alarm, self._bell = socket.socketpair()
        self._alarm.setblocking(False)
        self._bell.setblocking(False)
        self._selector.register(self._alarm, _READ)
        self.watch_forks()

    def run_until(self, is_over: Callable[[], bool], until: float = _NEVER) -> None:
        """Run the machine until ``is_over()``, which is called after each step.

        Or until the time ``until``, of ``time.monotonic``.
        What the machine wants to send by then has been given to the kernel.
        """
        self.check_process()
        # A caller that took its time: what came meanwhile was not late.
        has_news = time.monotonic() >= self._due_at and self._take_ready(0.0)
        # The caller may have done something to the machine, and waits for it.
        has_news = has_news or not is_over()
        while True:
            # A callback of the machine can fork, too.
            self.check_process()
            now = time.monotonic()
            if has_news or now >= self._machine.wake_at:
                self._advance(now)
            for each in list(self._sockets.values()):
                each.write(now)
            if is_over() or now >= until:
                return
            if any(link.is_over for link in self._sockets):
                # No name, or no connection: known at once, without an event.
                has_news = True
                continue
            sockets = self._sockets.values()
            at = min([self._machine.wake_at, until, *(s.next_at for s in sockets)])
            pause = min(max(at - now, 0.0), _LONGEST_WAIT_S)
            has_news = self._take_ready(pause)

    def poll(self) -> None:
        """Move the machine by what has happened, without waiting."""
        self.check_process()
        if self._take_ready(0.0):
            self._advance(time.monotonic())
        self.run_until(lambda: True)

    def wake(self) -> None:
        """Let ``run_until`` call ``is_over`` now; may be called from any thread."""
        # Closed is awake, and so is one that has been woken very often.
        with suppress(OSError):
            self._bell.send(b"!")

    def now(self) -> float:
        """Return the time of ``time.monotonic``."""
        return time.monotonic()

    async def wait(
        self, is_over: Callable[[], bool], timeout_s: float | None = None
    ) -> None:
        """Call ``run_until`` with a timeout in seconds."""
        until = _NEVER if timeout_s is None else time.monotonic() + timeout_s
        self.run_until(is_over, until)

    async def pass_turn(self) -> None:
        """Call ``poll``."""
        self.poll()

    async def end(self) -> None:
        """Call ``close``."""
        self.close()

    def note_fork(self) -> None:
        """Close the copies of the sockets in this child process, and send nothing.

        Nothing is unregistered from the selector: the parent process uses the same one.
        """
        super().note_fork()
        for each in self._sockets.values():
            each.close_copy()
        self._sockets.clear()
        self.close()

    def abandon(self) -> None:
        """Call ``close`` for an owner that the garbage collector deletes."""
        self.close()

    def close(self) -> None:
        """Close all sockets."""
        self._alarm.close()
        self._bell.close()
        for each in self._sockets.values():
            each.close()
        self._sockets.clear()
        self._selector.close()

    def _advance(self, now: float) -> None:
        self._machine.advance(now)
        self._due_at = self._machine.wake_at
        self._open_and_close(now)

    def _take_ready(self, pause: float) -> bool:
        """Move what sockets are ready for; return whether the machine has news."""
        has_news = False
        now = time.monotonic()
        unread = [each for each in self._sockets.values() if each.has_unread(now)]
        for each in unread:
            has_news |= each.step(now)
        for key, _ in self._selector.select(0.0 if unread else pause):
            if key.data is None:
                self._alarm.recv(1 << 10)
            else:
                has_news |= key.data.step(time.monotonic())
        return has_news

    def _open_and_close(self, now: float) -> None:
        for link in [link for link in self._sockets if link.is_over]:
            self._sockets.pop(link).close()
        for link in self._cluster.take_new_links():
            self._sockets[link] = _LinkSocket(link, self._selector, self._network, now)


def _list_blocking_errors(context: tls.SSLContext | None) -> tuple[type[OSError], ...]:
    """Return the errors of a socket that has to wait until it is ready."""
    if context is None:
        return (BlockingIOError,)
    # Only a connection with TLS requires ssl, which takes long to import.
    import ssl as tls

    return BlockingIOError, tls.SSLWantReadError, tls.SSLWantWriteError


class _LinkSocket:
    """The socket of one link: opening, in the handshake of TLS, or open."""

    def __init__(
        self,
        link: Link,
        selector: selectors.BaseSelector,
        network: Network,
        now: float,
    ) -> None:
        self._link = link
        self._network = network
        self._selector = selector
        # When to try the next address of the host name, unless this one answers.
        self.next_at = _NEVER
        self._context: tls.SSLContext | None = None
        self._socket: socket.socket | None = None
        self._tls: tls.SSLSocket | None = None
        self._is_open = False
        self._unsent = memoryview(b"")
        self._watched = 0
        self._places: list[SocketAddress] = []
        self._share_s = 0.0
        self._last_error: OSError | ValueError | None = None
        try:
            self._context = network.load_context()
            opened = network.connect(link)
            if opened is None:
                self._places = network.find_addresses(link)
                self._share_s = network.share_timeout(len(self._places))
        except (OSError, ValueError, OverflowError) as error:
            link.note_failure(connection_problem(error, self._context), now)
            return
        self._would_block = _list_blocking_errors(self._context)
        if opened is None:
            self._try_next(now)
        else:
            opened.setblocking(False)
            self._watch_opening(opened)

    def step(self, now: float) -> bool:
        """Do what the socket is ready for; return whether the machine has news."""
        try:
            if self._is_open:
                return self._read(now)
            if self._tls is None and not self._is_connected():
                return False
            return self._shake_hands(now)
        except self._would_block:
            return False
        except (OSError, ValueError) as error:
            # TLS has a ValueError for the name of a host that it cannot check.
            return self._fail(error, now)

    def write(self, now: float) -> None:
        """Write what the link has to send, as far as the kernel takes it."""
        if not self._is_open:
            if now >= self.next_at:
                self._fail(TimeoutError(errno.ETIMEDOUT, ""), now)
            return
        connection = self._connection()
        try:
            while True:
                if not self._unsent:
                    self._unsent = memoryview(self._link.data_to_send())
                    if not self._unsent:
                        self._watch(self._reading(now))
                        return
                count = connection.send(self._unsent)
                self._unsent = self._unsent[count:]
        except self._would_block:
            self._watch(self._reading(now) | _WRITE)
        except OSError as error:
            self._fail(error, now)

    def has_unread(self, now: float) -> bool:
        """Whether TLS has decrypted bytes, which no selector reports."""
        has_bytes = self._is_open and self._tls is not None and self._tls.pending() > 0
        return has_bytes and self._link.can_receive(now)

    def close(self) -> None:
        """Close the socket, whatever state it is in."""
        if self._socket is not None:
            with suppress(KeyError, ValueError):
                self._selector.unregister(self._connection())
            self._connection().close()
            self._socket = self._tls = None
            self._is_open = False

    def close_copy(self) -> None:
        """Close the socket in a child process, without a message to the peer."""
        if self._socket is not None:
            self._connection().close()
            self._socket = self._tls = None
            self._is_open = False

    def _connection(self) -> socket.socket:
        found = self._tls or self._socket
        assert found is not None, "there is a socket while the link is not over"
        return found

    def _try_next(self, now: float) -> None:
        """Try the next address of the host, or give up."""
        while self._places:
            family, place = self._places.pop(0)
            try:
                new = socket.socket(family, socket.SOCK_STREAM)
            except OSError as error:
                self._last_error = error
                continue
            new.setblocking(False)
            with suppress(BlockingIOError):
                try:
                    new.connect(place)
                except BlockingIOError:
                    raise
                except OSError as error:
                    self._last_error = error
                    new.close()
                    continue
            self._link.server_name = self._network.find_server_name(self._link, place)
            self._watch_opening(new)
            self.next_at = now + self._share_s if self._places else _NEVER
            return
        problem = self._last_error or OSError("the host name has no address")
        self._link.note_failure(connection_problem(problem, self._context), now)

    def _watch_opening(self, new: socket.socket) -> None:
        set_no_delay(new)
        self._socket = new
        self._selector.register(new, _READ | _WRITE, self)
        self._watched = _READ | _WRITE

    def _is_connected(self) -> bool:
        assert self._socket is not None
        code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, "")
        try:
            self._socket.getpeername()
        except OSError:
            return False
        return True

    def _shake_hands(self, now: float) -> bool:
        # The address has answered.
        self.next_at = _NEVER
        if self._context is not None:
            # Only a connection with TLS requires ssl, which takes long to import.
            import ssl as tls

            if self._tls is None:
                assert self._socket is not None
                self._selector.unregister(self._socket)
                self._tls = self._context.wrap_socket(
                    self._socket,
                    server_hostname=self._link.server_name,
                    do_handshake_on_connect=False,
                )
                self._selector.register(self._tls, _READ, self)
                self._watched = _READ
            try:
                self._tls.do_handshake()
            except tls.SSLWantWriteError:
                self._watch(_READ | _WRITE)
                return False
            except tls.SSLWantReadError:
                self._watch(_READ)
                return False
        self._is_open = True
        self._watch(_READ)
        self._link.note_open(now, has_tls=self._tls is not None)
        return True

    def _read(self, now: float) -> bool:
        connection = self._connection()
        has_news = False
        try:
            # What TLS has decrypted already, no selector reports.
            while not has_news or (self._tls is not None and self._tls.pending()):
                if not self._link.can_receive(now):
                    self._watch(self._watched & ~_READ)
                    break
                count = connection.recv_into(self._link.get_buffer())
                if not count:
                    return self._link.receive_data(b"", now)
                has_news |= self._link.buffer_updated(count, now)
        except self._would_block:
            pass
        return has_news

    def _reading(self, now: float) -> int:
        """Return the event to wait for, unless there is no memory for the frame."""
        return _READ if self._link.can_receive(now) else 0

    def _watch(self, events: int) -> None:
        if events == self._watched:
            return
        if not events:
            self._selector.unregister(self._connection())
        elif not self._watched:
            self._selector.register(self._connection(), events, self)
        else:
            self._selector.modify(self._connection(), events, self)
        self._watched = events

    def _fail(self, error: OSError | ValueError, now: float) -> bool:
        was_open, had_tls = self._is_open, self._tls is not None
        self.close()
        if was_open and isinstance(error, ConnectionError):
            self._link.receive_data(b"", now)
        elif was_open or had_tls:
            self._link.note_failure(connection_problem(error, self._context), now)
        else:
            self._last_error = error
            self._try_next(now)
        return True
