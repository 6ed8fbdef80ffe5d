# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``AsyncRunner``: runs a state machine with asyncio or uvloop.

The runner owns the transports, TLS and the clock. The machine decides which request is
sent to which broker.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from .addresses import connection_problem
from .forks import ForkAware

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..machines import ClusterMachine, Link
    from .network import Network
    from .protocols import Machine

_NEVER = float("inf")

_GOODBYE_S = 1.0
"""Maximum time in seconds to wait for the peer when a TLS connection is closed."""


class AsyncRunner(ForkAware):
    """Runs one machine on the event loop in which the runner was created.

    The machine runs whenever a socket or the timer has an event. Callers wait for a
    condition with ``wait``, and must call ``end`` to close the connections.
    """

    def __init__(
        self, machine: Machine, cluster: ClusterMachine, network: Network
    ) -> None:
        self._machine = machine
        self._cluster = cluster
        self._network = network
        self._loop = asyncio.get_running_loop()
        self._protocols: dict[Link, _LinkProtocol] = {}
        self._openings: dict[Link, asyncio.Task[None]] = {}
        # Unfinished connection attempts, including cancelled ones, and connections
        # whose socket is not closed yet. ``end`` waits for both.
        self._tasks: set[asyncio.Task[None]] = set()
        self._alive: set[_LinkProtocol] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = _NEVER
        # One future per task that waits in ``wait``.
        self._waiters: set[asyncio.Future[None]] = set()
        self._is_closed = False
        self.watch_forks()
        self._failure: BaseException | None = None

    def now(self) -> float:
        """Return the time of the event loop."""
        return self._loop.time()

    async def wait(
        self, is_over: Callable[[], bool], timeout_s: float | None = None
    ) -> None:
        """Wait until ``is_over()`` returns True, or until ``timeout_s`` has passed.

        ``is_over`` is called after every step of the machine. When it returns True, all
        bytes that the machine wants to send have been passed to the transports. The
        machine also runs while no task waits. Any number of tasks may wait.

        A timeout is not an error. Raises an unexpected error of the machine, and
        ``UsedAfterFork`` in a forked child process.
        """
        if timeout_s is None:
            await self._wait(is_over)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._wait(is_over)

    async def _wait(self, is_over: Callable[[], bool]) -> None:
        self.check_process()
        # If the caller has blocked the event loop, the timer can be due while responses
        # are waiting in the sockets. Do not step now: the event loop reads the sockets
        # before it calls the timer, so that these responses do not count as late.
        is_due = self._loop.time() >= self._timer_at
        is_wanted = self._machine.wake_at < self._timer_at and not is_due
        if is_wanted or not is_over():
            self.step()
        while not is_over():
            if self._failure is not None:
                raise self._failure
            waiter = self._loop.create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)

    async def pass_turn(self) -> None:
        """Step the machine, and let other tasks run."""
        self.step()
        await self.yield_turn()

    async def yield_turn(self) -> None:
        """Let the event loop run other tasks and read its sockets once."""
        await asyncio.sleep(0)

    def step(self) -> None:
        """Advance the machine, then apply its decisions to connections and timers.

        This opens and closes connections, writes pending bytes, sets the timer for the
        next step, and wakes all tasks in ``wait``.
        """
        if self._is_closed:
            return
        now = self._loop.time()
        try:
            self._machine.advance(now)
            self._open_and_close()
        except BaseException as error:
            self._failure = error
        for protocol in self._protocols.values():
            protocol.write()
            protocol.pause_or_resume()
        self._set_timer(max(self._machine.wake_at, now))
        self._wake_waiters()

    def _set_timer(self, at: float) -> None:
        """Schedule ``step`` for a time of the event loop.

        An earlier timer is kept, because most steps postpone the time only slightly.
        When the earlier timer calls ``step``, the step sets the timer again.
        """
        if self._timer_at <= at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._timer, self._timer_at = None, _NEVER
        self.step()

    def note_fork(self) -> None:
        """Stop the runner in this child process.

        The transports are not closed, because they belong to the event loop.
        """
        super().note_fork()
        self._is_closed = True

    def abandon(self) -> None:
        """Close all connections, because the garbage collector deletes their owner.

        May be called from any thread, and after the event loop has been closed.
        """
        # A forked child shares the socket that wakes the event loop, so a call from the
        # child would wake the event loop of its parent.
        if not self._loop.is_closed() and not self.is_forked:
            self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        self._stop()
        for protocol in self._alive:
            protocol.abort()

    def _stop(self) -> None:
        """Stop the machine, cancel the timer, and cancel all connection attempts."""
        self._is_closed = True
        self._wake_waiters()
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()

    async def end(self) -> None:
        """Close all connections. Return when all tasks and sockets are closed."""
        if self.is_forked:
            return
        self._stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._openings.clear()
        self._protocols.clear()
        await asyncio.gather(*(protocol.close() for protocol in self._alive))

    def note_alive(self, protocol: _LinkProtocol) -> None:
        """Register a new connection, which ``end`` will close."""
        self._alive.add(protocol)

    def note_lost(self, protocol: _LinkProtocol) -> None:
        """Forget a closed connection."""
        self._alive.discard(protocol)

    def fail(self, error: BaseException) -> None:
        """Store an unexpected error, and wake all tasks in ``wait`` to raise it."""
        self._failure = error
        self._wake_waiters()

    def _wake_waiters(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _open_and_close(self) -> None:
        for link in [link for link in self._openings if link.is_over]:
            self._openings.pop(link).cancel()
        for link in [link for link in self._protocols if link.is_over]:
            self._protocols.pop(link).abort()
        for link in self._cluster.take_new_links():
            task = self._loop.create_task(self._open(link))
            self._openings[link] = task
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _open(self, link: Link) -> None:
        protocol = _LinkProtocol(link, self)
        context = None
        try:
            context = self._network.load_context()
            await self._network.open_transport(link, protocol, context)
        except (OSError, ValueError, OverflowError) as error:
            link.note_failure(connection_problem(error, context), self._loop.time())
        except asyncio.CancelledError:
            protocol.abort()
            # The event loop closes the socket. uvloop does not call connection_lost in
            # this case, so forget the connection here.
            self.note_lost(protocol)
            raise
        else:
            self._protocols[link] = protocol
            link.note_open(self._loop.time(), has_tls=context is not None)
        self._openings.pop(link, None)
        self.step()


class _LinkProtocol(asyncio.BufferedProtocol):
    """Transfers bytes between one link and its transport.

    Received bytes are written directly into the frame's buffer, without a copy.
    """

    def __init__(self, link: Link, runner: AsyncRunner) -> None:
        self._link = link
        self._runner = runner
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._lost = self._loop.create_future()
        self._is_paused = False
        self._is_receiving = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Use a cast instead of isinstance, because uvloop's transports do not derive
        # from asyncio's classes.
        self._transport = cast("asyncio.Transport", transport)
        self._runner.note_alive(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._link.get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        try:
            has_news = self._link.buffer_updated(nbytes, self._loop.time())
        except BaseException as error:
            # The event loop would only log the error and continue, and the tasks in
            # ``wait`` would never learn of it.
            self._runner.fail(error)
            return
        if has_news:
            self._runner.step()
        else:
            # While the link negotiates versions and authenticates, it creates requests
            # without the machine. Write the next of these requests.
            self.write()
            self.pause_or_resume()

    def eof_received(self) -> bool:
        if self._link.receive_data(b"", self._loop.time()):
            self._runner.step()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._runner.note_lost(self)
        self._lost.set_result(None)
        if not self._link.is_over:
            if exc is None or isinstance(exc, ConnectionError):
                self._link.receive_data(b"", self._loop.time())
            else:
                problem = connection_problem(exc, None)
                self._link.note_failure(problem, self._loop.time())
            self._runner.step()

    def pause_writing(self) -> None:
        self._is_paused = True

    def resume_writing(self) -> None:
        self._is_paused = False
        self._runner.step()

    def write(self) -> None:
        """Write the pending bytes of the link, unless the transport is paused."""
        if self._transport is None:
            return
        while not self._is_paused and (data := self._link.data_to_send()):
            self._transport.write(data)

    def pause_or_resume(self) -> None:
        """Stop reading from the socket while there is no memory for the next frame."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        can_receive = self._link.can_receive(self._loop.time())
        if can_receive is not self._is_receiving:
            self._is_receiving = can_receive
            if can_receive:
                transport.resume_reading()
            else:
                transport.pause_reading()

    def abort(self) -> None:
        """Close the connection without waiting for the peer."""
        if self._transport is not None:
            self._transport.abort()

    async def close(self) -> None:
        """Close the connection. Abort it if the peer does not answer in time."""
        if self._transport is None:
            return
        self._transport.close()
        # Several tasks may wait for ``_lost``. Without the shield, a timeout or the
        # cancellation of one task would cancel the future for all tasks.
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE_S):
                await asyncio.shield(self._lost)
            return
        self._transport.abort()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE_S):
                await asyncio.shield(self._lost)
