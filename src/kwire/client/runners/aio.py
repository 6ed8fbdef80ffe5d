# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a state machine with asyncio, uvloop included.

This file has transports, TLS and the clock; the machine decides what is sent to which
broker.
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
"""How long a peer may take to end TLS in good order."""


class AsyncRunner(ForkAware):
    """Runs one machine, on the event loop that it was made on."""

    def __init__(
        self, machine: Machine, cluster: ClusterMachine, network: Network
    ) -> None:
        self._machine = machine
        self._cluster = cluster
        self._network = network
        self._loop = asyncio.get_running_loop()
        self._protocols: dict[Link, _LinkProtocol] = {}
        self._openings: dict[Link, asyncio.Task[None]] = {}
        # What has not ended yet, wanted or not.
        self._tasks: set[asyncio.Task[None]] = set()
        self._alive: set[_LinkProtocol] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = _NEVER
        # One for each caller of ``wait``.
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
        """Run the machine until ``is_over()``, or return after ``timeout_s``.

        ``is_over`` is called after each step of the machine. When it returns True, the
        bytes that the machine wants to send have been passed to the transports. The
        machine also runs while no task waits. Any number of tasks may wait.
        """
        if timeout_s is None:
            await self._wait(is_over)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._wait(is_over)

    async def _wait(self, is_over: Callable[[], bool]) -> None:
        self.check_process()
        # A timer that is due is left to the loop, which reads the sockets first: what
        # came while the caller took its time was not late.
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
        """Let the machine and other tasks do what they can now."""
        self.step()
        await self.yield_turn()

    async def yield_turn(self) -> None:
        """Let other tasks run."""
        await asyncio.sleep(0)

    def step(self) -> None:
        """Let the machine do what it can now."""
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
        """Have ``step`` called at a time, or earlier by a timer that is there already:
        most steps only move the time, by a little.
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
        """Stop in this child process. The transports belong to the event loop."""
        super().note_fork()
        self._is_closed = True

    def abandon(self) -> None:
        """Close all connections for an owner that the garbage collector deletes.

        May be called from any thread, and after the end of the event loop.
        """
        # The event loop of a parent process would be woken through a shared socket.
        if not self._loop.is_closed() and not self.is_forked:
            self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        self._stop()
        for protocol in self._alive:
            protocol.abort()

    def _stop(self) -> None:
        """Stop the machine: cancel its timer and its connection attempts."""
        self._is_closed = True
        self._wake_waiters()
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()

    async def end(self) -> None:
        """Close all connections; return when no task and no socket is left."""
        if self.is_forked:
            return
        self._stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._openings.clear()
        self._protocols.clear()
        await asyncio.gather(*(each.close() for each in self._alive))

    def note_alive(self, protocol: _LinkProtocol) -> None:
        """Add a connection to those that ``end`` has to close."""
        self._alive.add(protocol)

    def note_lost(self, protocol: _LinkProtocol) -> None:
        """Remove a connection, which has ended."""
        self._alive.discard(protocol)

    def fail(self, error: BaseException) -> None:
        """Let ``wait`` raise an unexpected error."""
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
            # The event loop closes the socket. uvloop does not report that it is lost.
            self.note_lost(protocol)
            raise
        else:
            self._protocols[link] = protocol
            link.note_open(self._loop.time(), has_tls=context is not None)
        self._openings.pop(link, None)
        self.step()


class _LinkProtocol(asyncio.BufferedProtocol):
    """Moves the bytes of one link, into the memory that its frames stay in."""

    def __init__(self, link: Link, runner: AsyncRunner) -> None:
        self._link = link
        self._runner = runner
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._lost = self._loop.create_future()
        self._is_paused = False
        self._is_receiving = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Those of uvloop derive from no class of asyncio.
        self._transport = cast("asyncio.Transport", transport)
        self._runner.note_alive(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._link.get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        try:
            has_news = self._link.buffer_updated(nbytes, self._loop.time())
        except BaseException as error:
            # The loop would write it to its log, and go on.
            self._runner.fail(error)
            return
        if has_news:
            self._runner.step()
        else:
            # Negotiation goes on without the machine.
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
        """Pass to the transport what the link has to send."""
        if self._transport is None:
            return
        while not self._is_paused and (data := self._link.data_to_send()):
            self._transport.write(data)

    def pause_or_resume(self) -> None:
        """Leave bytes in the socket while there is no memory for the frame."""
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
        """Close the connection; a peer that does not answer is not waited for."""
        if self._transport is None:
            return
        self._transport.close()
        # Another task may wait for the same end. The cancellation of this task must not
        # cancel the future.
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE_S):
                await asyncio.shield(self._lost)
            return
        self._transport.abort()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE_S):
                await asyncio.shield(self._lost)
