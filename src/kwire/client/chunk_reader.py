# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Iteration over chunks, for asyncio and for blocking calls.

Scans and consumers share this code. Only one task or thread at a time can wait for the
next chunk. Another task, another thread or a signal handler may call ``close``, which
ends the wait.
"""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from .chunk_pieces import ChunkPieces
from .chunks import Chunk, ConsumerRecord
from .descriptions import describe_cluster, warn_unclosed
from .machines.metrics import empty_snapshot
from .position import Position
from .runners.operations import (
    Asynchronous,
    Blocking,
    Operations,
    operation,
    run_blocking,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from .chunks import DecodingOptions
    from .machines import ConsumerMachine, DataLost, ScanMachine
    from .machines.scan.options import Fetched
    from .runners.blocking import BlockingRunner
    from .runners.protocols import ClusterAccess, Runner

M = TypeVar("M", bound="ScanMachine | ConsumerMachine")


class ChunkReader(Operations, Generic[M]):
    """Common base of ``AsynchronousReader`` and ``BlockingReader``.

    It returns the chunks of a state machine. The machine and its connections are
    created when the first chunk is requested.
    """

    _machine: M | None = None
    _runner: Runner | None = None
    # The chunk that was returned last. Its memory is released when the next chunk is
    # requested, because the caller may use it until then.
    _held: Fetched | None = None
    # Remaining pieces of that chunk, if ``batch_rows`` splits it.
    _pieces: ChunkPieces | None = None
    # True as soon as ``close`` is called. Connections may still be open, because a
    # waiting caller has to return first.
    _is_closing = False
    # True when the connections are closed, by ``close`` or at the end of a scan.
    _is_closed = False
    # Metrics at the time when the connections were closed; None before.
    _last_metrics: dict[str, Any] | None = None
    _metric_names: tuple[str, ...]

    def __init__(self, kafka: ClusterAccess, decoding: DecodingOptions) -> None:
        self._kafka = kafka
        self._decoding = decoding

    @property
    def losses(self) -> list[DataLost]:
        """Data losses after which reading has continued, because of ``on_data_loss``.

        The list contains at most the last 10,000 losses.
        """
        return [] if self._machine is None else self._machine.losses

    def position(self) -> Position:
        """Return the next offset to read of each (topic, partition).

        These are the offsets after the last returned chunk. Partitions are omitted
        while their offset is unknown.
        """
        return Position({} if self._machine is None else self._machine.position())

    def metrics(self) -> dict[str, Any]:
        """Return the current metrics as numbers by name.

        The reference documentation describes each name. "records_lag" is a dict of
        numbers by (topic, partition). All numbers are 0 before the first connection.
        After ``close``, they no longer change. This method may be called from any
        thread.
        """
        if self._last_metrics is not None:
            return dict(self._last_metrics)
        machine, runner = self._machine, self._runner
        if machine is None or runner is None:
            return empty_snapshot(self._metric_names)
        return machine.read_metrics(runner.now())

    @operation
    async def close(self) -> None:
        """Close the connections. No further chunks are returned.

        Another task, another thread or a signal handler may call this method. If a
        caller is waiting for a chunk, the wait and the iteration end.
        """
        await self._close()

    def __repr__(self) -> str:
        cluster = describe_cluster(self._kafka.addresses)
        return f"<{type(self).__name__} of {self._describe(cluster)}>"

    def __del__(self) -> None:
        is_over = self._is_closing or self._is_closed or self.is_forked
        if self._machine is not None and not is_over:
            warn_unclosed(self)
            if self._runner is not None:
                self._runner.abandon()

    async def _read(self) -> Chunk | None:
        """Wait for the next chunk, and return it. Returns None after the last chunk."""
        raise NotImplementedError

    async def _leave(self, has_failed: bool) -> None:
        await self._close()

    async def _close(self) -> None:
        """Mark the reader as closing, and close it as soon as no caller uses it."""
        raise NotImplementedError

    async def _end(self) -> None:
        """Close the connections.

        This method may be called repeatedly, also while another call is in progress.
        """
        raise NotImplementedError

    async def _finish(self) -> None:
        """Push the metrics for the last time if brokers subscribe, then ``_end``."""
        await self._end()

    def _use(self) -> AbstractContextManager[None]:
        """Return a context manager for one use of the machine.

        Raises ``ValueError`` if another caller is using it, and ``UsedAfterFork`` in a
        forked child process.
        """
        raise NotImplementedError

    def _check_usable(self) -> None:
        """Raise ``ValueError`` if no more chunks can be read.

        Without this check, an iteration would end immediately, as if the topics
        contained no records.
        """
        raise NotImplementedError

    def _make_machine(self, now: float) -> M:
        raise NotImplementedError

    def _describe(self, cluster: str) -> str:
        """Describe the topics and the state of the reader for ``repr``."""
        raise NotImplementedError

    def _connect(self) -> tuple[M, Runner]:
        """Return the machine and its runner. The first call creates them."""
        if self._machine is None or self._runner is None:
            self._kafka.note_connection()
            self._machine, self._runner = self._start(
                self._make_machine, self._kafka.network
            )
        return self._machine, self._runner

    def _has_result(self) -> bool:
        """Return whether a chunk is available, or no further chunk is possible."""
        assert self._machine is not None
        return self._is_closing or self._machine.has_result()

    def _release(self, machine: M) -> None:
        """Return the memory of the last returned chunk to the budget of ``machine``."""
        held, self._held = self._held, None
        if held is not None:
            machine.release(held)

    def _close_machine(self, machine: M, runner: Runner) -> None:
        """Close the machine, and store its last metrics in ``_last_metrics``."""
        machine.close(runner.now())
        if self._last_metrics is None:
            self._last_metrics = machine.read_metrics(runner.now())

    def _take_chunk(self, machine: M) -> Chunk | None:
        """Return the next chunk that the machine has fetched, or None."""
        if self._is_closing:
            return None
        self._held = machine.take()
        if self._held is None:
            return None
        chunk = Chunk(self._held, self._decoding)
        if self._decoding.batch_rows is None:
            return chunk
        return self._split_chunk(machine, chunk, self._decoding.batch_rows)

    def _split_chunk(self, machine: M, chunk: Chunk, batch_rows: int) -> Chunk:
        """Return the first ``batch_rows`` records of a chunk as a chunk of their own.

        The machine and ``_pieces`` keep the remaining records for the next call.
        """
        pieces, self._pieces = self._pieces, None
        if pieces is None or not pieces.has(chunk.fetched):
            pieces = ChunkPieces(chunk, batch_rows)
        piece = pieces.take()
        if piece is None:
            return chunk
        fetched = chunk.fetched
        if piece.next_offset is not None:
            self._pieces = pieces
            fetched = self._held = machine.split(fetched, piece.next_offset)
        return Chunk(fetched, self._decoding, piece.columns)


class AsynchronousReader(ChunkReader[M], Asynchronous):
    """Chunk reader for asyncio, which is iterated with ``async for``."""

    _is_in_use = False

    async def records(self) -> AsyncIterator[ConsumerRecord]:
        """Iterate over single records instead of chunks.

        Raises the exceptions of the iteration over chunks, and ``DecodeError`` if a
        chunk cannot be decoded.
        """
        async for chunk in self:
            for record in chunk.iter_records():
                yield record

    def __aiter__(self) -> Self:
        self._check_usable()
        return self

    if not TYPE_CHECKING:
        # Type checkers do not see this method, so that they report ``for`` without
        # ``async``.

        def __iter__(self) -> None:
            raise TypeError(
                f'{type(self).__name__} is for asyncio: use "async for", or'
                " client.connect_sync for blocking calls"
            )

    async def __anext__(self) -> Chunk:
        chunk = await self._read()
        if chunk is None:
            raise StopAsyncIteration
        return chunk

    async def _close(self) -> None:
        self._is_closing = True
        if not self.is_forked:
            await self._finish()

    @contextmanager
    def _use(self) -> Iterator[None]:
        self.check_process()
        if self._is_in_use:
            raise ValueError("another task is reading; use one object for each task")
        self._is_in_use = True
        try:
            yield
        finally:
            self._is_in_use = False


class BlockingReader(ChunkReader[M], Blocking):
    """Chunk reader with blocking calls, which is iterated with ``for``."""

    _runner: BlockingRunner | None

    def __init__(self, kafka: ClusterAccess, decoding: DecodingOptions) -> None:
        super().__init__(kafka, decoding)
        # Token of the call that uses the machine, or None. A lock is not suitable,
        # because Ctrl-C may interrupt the thread directly after ``acquire``. The lock
        # would then never be released.
        self._user: object = None
        self._user_lock = threading.RLock()

    def records(self) -> Iterator[ConsumerRecord]:
        """Iterate over single records instead of chunks.

        Raises the exceptions of the iteration over chunks, and ``DecodeError`` if a
        chunk cannot be decoded.
        """
        for chunk in self:
            yield from chunk.iter_records()

    def __iter__(self) -> Self:
        self._check_usable()
        return self

    if not TYPE_CHECKING:
        # Type checkers do not see this method, so that they report ``async for``.

        def __aiter__(self) -> None:
            raise TypeError(
                f'{type(self).__name__} is for blocking calls: use "for", or'
                " client.connect for asyncio"
            )

    def __next__(self) -> Chunk:
        chunk = run_blocking(self._read())
        if chunk is None:
            raise StopIteration
        return chunk

    async def _close(self) -> None:
        self._is_closing = True
        if self.is_forked:
            # The thread that uses the machine may exist only in the parent process.
            # Return, because it would never release the machine here.
            return
        user = object()
        try:
            if self._claim(user):
                await self._finish()
            elif self._runner is not None:
                # Wake the waiting caller, which then closes the connections.
                self._runner.wake()
        finally:
            if self._user is user:
                self._user = None

    @contextmanager
    def _use(self) -> Iterator[None]:
        self.check_process()
        user = object()
        try:
            if not self._claim(user):
                raise ValueError(
                    "another thread is reading; use one object for each thread"
                )
            yield
        finally:
            if self._user is user:
                self._user = None
            if self._is_closing and not self._is_closed:
                # Another thread has called ``close`` during this call. Its wake-up may
                # have been too late, so close the reader here.
                run_blocking(self._close())

    def _claim(self, user: object) -> bool:
        """Reserve the machine for ``user``, a unique token.

        Returns False if another call is using the machine.
        """
        with self._user_lock:
            if self._user is None:
                self._user = user
        return self._user is user
