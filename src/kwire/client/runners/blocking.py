# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``BlockingRunner``: runs a state machine with blocking calls and one selector.

The runner owns the sockets, TLS and the clock. The machine decides which request is
sent to which broker.
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
    """Runs one machine in the thread that calls its methods.

    The machine runs only during these calls. The coroutine methods block the thread and
    never suspend. They have the same interface as the methods of ``AsyncRunner``, so
    that the operations of ``operations.py`` work with both.
    """

    def __init__(
        self, machine: Machine, cluster: ClusterMachine, network: Network
    ) -> None:
        self._machine = machine
        self._cluster = cluster
        self._network = network
        self._selector = selectors.DefaultSelector()
        self._sockets: dict[Link, _LinkSocket] = {}
        # Value of ``wake_at`` after the last ``advance``.
        self._due_at = float("inf")
        # ``wake`` writes to the bell. This makes the alarm readable, which ends the
        # selector's current call.
        self._alarm, self._bell = socket.socketpair()
        self._alarm.setblocking(False)
        self._bell.setblocking(False)
        self._selector.register(self._alarm, _READ)
        self.watch_forks()

    def run_until(self, is_over: Callable[[], bool], until: float = _NEVER) -> None:
        """Run the machine until ``is_over()`` returns True.

        * ``is_over``: called after every step of the machine.
        * ``until``: time of ``time.monotonic`` at which to return in any case.

        On return, the bytes that the machine wants to send have been passed to the
        kernel, as far as the socket buffers have space. Raises ``UsedAfterFork`` in a
        forked child process.
        """
        self.check_process()
        # If the time for the next step has passed while the caller was busy, read the
        # sockets before advancing the machine. Responses that arrived in the meantime
        # must not count as late.
        has_news = time.monotonic() >= self._due_at and self._take_ready(0.0)
        # The caller may have changed the machine before this call, for example added a
        # request. Advance it at least once, unless the condition is already true.
        has_news = has_news or not is_over()
        while True:
            # Check again in every iteration, because a callback of the machine can
            # fork.
            self.check_process()
            now = time.monotonic()
            if has_news or now >= self._machine.wake_at:
                self._advance(now)
            for link_socket in list(self._sockets.values()):
                link_socket.write(now)
            if is_over() or now >= until:
                return
            if any(link.is_over for link in self._sockets):
                # A link can fail without an event of the selector, for example if its
                # host name cannot be resolved. Advance the machine without waiting.
                has_news = True
                continue
            sockets = self._sockets.values()
            wake_at = min([self._machine.wake_at, until, *(s.next_at for s in sockets)])
            pause = min(max(wake_at - now, 0.0), _LONGEST_WAIT_S)
            has_news = self._take_ready(pause)

    def poll(self) -> None:
        """Process pending events of the sockets and the machine without waiting."""
        self.check_process()
        if self._take_ready(0.0):
            self._advance(time.monotonic())
        self.run_until(lambda: True)

    def wake(self) -> None:
        """Make ``run_until`` call ``is_over`` immediately. Any thread may call this."""
        # Ignore the error if the runner is closed, or if the socket buffer is full of
        # earlier wake-ups. In both cases no further byte is required.
        with suppress(OSError):
            self._bell.send(b"!")

    def now(self) -> float:
        """Return the current time of ``time.monotonic``."""
        return time.monotonic()

    async def wait(
        self, is_over: Callable[[], bool], timeout_s: float | None = None
    ) -> None:
        """Run the machine until ``is_over()``, or until ``timeout_s`` has passed."""
        until = _NEVER if timeout_s is None else time.monotonic() + timeout_s
        self.run_until(is_over, until)

    async def pass_turn(self) -> None:
        """Process pending events without waiting, as ``poll`` does."""
        self.poll()

    async def end(self) -> None:
        """Close all sockets, as ``close`` does."""
        self.close()

    def note_fork(self) -> None:
        """Close the copies of the sockets in this child process without sending bytes.

        The sockets remain registered in the selector, because the parent process shares
        its kernel object and still uses it.
        """
        super().note_fork()
        for link_socket in self._sockets.values():
            link_socket.close_copy()
        self._sockets.clear()
        self.close()

    def abandon(self) -> None:
        """Close all sockets, because the garbage collector deletes their owner."""
        self.close()

    def close(self) -> None:
        """Close the sockets of all links and the selector."""
        self._alarm.close()
        self._bell.close()
        for link_socket in self._sockets.values():
            link_socket.close()
        self._sockets.clear()
        self._selector.close()

    def _advance(self, now: float) -> None:
        self._machine.advance(now)
        self._due_at = self._machine.wake_at
        self._open_and_close(now)

    def _take_ready(self, pause: float) -> bool:
        """Wait up to ``pause`` seconds for ready sockets, and process their events.

        Returns whether the machine must be advanced.
        """
        has_news = False
        now = time.monotonic()
        unread = [
            link_socket
            for link_socket in self._sockets.values()
            if link_socket.has_unread(now)
        ]
        for link_socket in unread:
            has_news |= link_socket.step(now)
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
    """Return the exceptions of a non-blocking socket that is not ready."""
    if context is None:
        return (BlockingIOError,)
    # Import ssl only for connections with TLS, because it is slow to import.
    import ssl as tls

    return BlockingIOError, tls.SSLWantReadError, tls.SSLWantWriteError


class _LinkSocket:
    """Socket of one link: connecting, in the TLS handshake, or open.

    While connecting, it tries the addresses of the host name in order.
    """

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
        # Time at which to try the next address of the host name, if the current address
        # has not answered.
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
        """Continue connecting or the TLS handshake, or read from an open socket.

        Returns whether the machine must be advanced.
        """
        try:
            if self._is_open:
                return self._read(now)
            if self._tls is None and not self._is_connected():
                return False
            return self._shake_hands(now)
        except self._would_block:
            return False
        except (OSError, ValueError) as error:
            # The ssl module raises ValueError for a host name that cannot be checked
            # against a certificate.
            return self._fail(error, now)

    def write(self, now: float) -> None:
        """Write pending bytes of the link until the socket buffer is full.

        If the socket is still connecting, only check the timeout of its address.
        """
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
        """Whether TLS holds decrypted bytes. The selector does not report these."""
        has_bytes = self._is_open and self._tls is not None and self._tls.pending() > 0
        return has_bytes and self._link.can_receive(now)

    def close(self) -> None:
        """Close the socket in any state, and remove it from the selector."""
        if self._socket is not None:
            with suppress(KeyError, ValueError):
                self._selector.unregister(self._connection())
            self._connection().close()
            self._socket = self._tls = None
            self._is_open = False

    def close_copy(self) -> None:
        """Close this copy of the socket in a forked child process.

        The peer receives nothing, because the parent process still uses the connection.
        """
        if self._socket is not None:
            self._connection().close()
            self._socket = self._tls = None
            self._is_open = False

    def _connection(self) -> socket.socket:
        connection = self._tls or self._socket
        assert connection is not None, "there is a socket while the link is not over"
        return connection

    def _try_next(self, now: float) -> None:
        """Connect to the next address of the host name. Fail if none remains."""
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
        # The address has answered, so no other address is tried after this time.
        self.next_at = _NEVER
        if self._context is not None:
            # Import ssl only for connections with TLS, because it is slow to import.
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
            # Continue while TLS holds decrypted bytes, because the selector does not
            # report them.
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
        """Return the read event, or 0 while there is no memory for the next frame."""
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
