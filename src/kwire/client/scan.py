# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Scan`` and ``ScanSync``: iterate over the chunks of topics, from start to end.

Both forms of the iteration are written out, because they run once for each chunk.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from random import Random
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Any

from .chunks import Chunk, ConsumerRecord, arrow_schema
from .descriptions import describe_cluster, describe_topics, warn_unclosed
from .machines import ScanMachine
from .position import Position
from .progress import ProgressBar, ScanProgress
from .runners.operations import Asynchronous, Blocking, Operations

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Callable,
        Generator,
        Iterator,
    )

    from .chunks import DecodingOptions
    from .machines import DataLost, ScanOptions
    from .machines.scan.options import Fetched
    from .runners.aio import AsyncRunner
    from .runners.blocking import BlockingRunner
    from .runners.protocols import ClusterAccess


class ScanBase(Operations):
    """A scan: what to read from which cluster."""

    _machine: ScanMachine | None = None
    _is_closing = False
    # True when the iteration has ended, after the last chunk or by an error.
    _is_consumed = False
    # True when an Arrow stream has taken a chunk, which later uses would not see.
    _is_streamed = False
    _bar: ProgressBar | None = None

    def __init__(
        self,
        kafka: ClusterAccess,
        options: ScanOptions,
        decoding: DecodingOptions,
        progress: bool | Callable[[ScanProgress], None] = False,
    ) -> None:
        self._kafka = kafka
        self._options = options
        self._decoding = decoding
        self._on_progress = None if isinstance(progress, bool) else progress
        if progress is True:
            self._bar = ProgressBar()
            self._on_progress = self._bar.show
        self._done_offsets = 0
        self._received_bytes = 0

    @property
    def losses(self) -> list[DataLost]:
        """Records that were lost, if ``on_data_loss`` let the scan continue."""
        return [] if self._machine is None else self._machine.losses

    def position(self) -> Position:
        """Return the next offset of each (topic, partition), a ``start`` for later.

        The offsets are those after the last chunk that was returned. Before the first
        chunk, they are the offsets that were passed as ``start``. ``Position.to_json``
        and ``Position.from_json`` store them as text.
        """
        start = self._options.start
        items = start.items() if isinstance(start, Mapping) else ()
        position = Position(
            {partition: spec for partition, spec in items if isinstance(spec, int)}
        )
        if self._machine is not None:
            position.update(self._machine.position())
        return position

    def _check_unread(self) -> None:
        """Reject a second use, which would look like a scan without records."""
        if self._is_consumed or self._is_streamed:
            raise ValueError(
                "the scan has already been consumed; make another with kafka.scan()"
            )
        if self._is_closing:
            raise ValueError("the scan is closed; make another with kafka.scan()")

    def _report_progress(self, fetched: Fetched) -> None:
        """Count one more chunk, and call the function that shows the progress."""
        if self._on_progress is None:
            return
        assert self._machine is not None
        end_offset = fetched.next_offset
        if fetched.end_offset is not None:
            end_offset = min(end_offset, fetched.end_offset)
        self._done_offsets += end_offset - fetched.start_offset
        self._received_bytes += len(fetched.data)
        remaining = self._machine.remaining_offsets()
        total = None if remaining is None else self._done_offsets + remaining
        self._on_progress(ScanProgress(self._done_offsets, total, self._received_bytes))

    def _describe_state(self) -> str:
        if self._is_closing:
            return "closed"
        if self._is_consumed:
            return "consumed"
        if self._machine is None:
            return "not started"
        return f"at {self.position().describe() or 'no offset yet'}"

    def __repr__(self) -> str:
        topics = describe_topics(self._options.topics, self._options.pattern)
        cluster = describe_cluster(self._kafka.addresses)
        state = self._describe_state()
        return f"<{type(self).__name__} of {topics} on {cluster}, {state}>"

    def _repr_html_(self) -> str:
        from .html_tables import make_html_table

        rows = [
            (topic, partition, offset)
            for (topic, partition), offset in sorted(self.position().items())
        ]
        columns = ("topic", "partition", "next offset")
        return make_html_table(repr(self), columns, rows)

    def __del__(self) -> None:
        if self._machine is not None and not (self._is_consumed or self._is_closing):
            warn_unclosed(self)

    def _has_result(self) -> bool:
        """Whether the iteration can go on: there is a chunk, or the scan is over."""
        assert self._machine is not None
        return self._is_closing or self._machine.has_result()

    def _make_machine(self, now: float) -> ScanMachine:
        self._kafka.has_connected = True
        self._machine = ScanMachine(
            self._kafka.addresses,
            self._kafka.settings,
            self._options,
            now=now,
            random=Random(),
        )
        return self._machine


class Scan(ScanBase, Asynchronous):
    """A scan: iterate over it for chunks with ``async for``.

    Its connections are opened by the first chunk and closed after the last one; leave
    an iteration early within ``async with scan``, or within that of the cluster.
    """

    def __init__(
        self,
        kafka: ClusterAccess,
        options: ScanOptions,
        decoding: DecodingOptions,
        progress: bool | Callable[[ScanProgress], None] = False,
    ) -> None:
        super().__init__(kafka, options, decoding, progress)
        self._runner: AsyncRunner | None = None
        # Blocking programs must not load asyncio.
        from asyncio import Event

        self._over = Event()
        self._chunks = self._read()

    async def messages(self) -> AsyncIterator[ConsumerRecord]:
        """Iterate over the records one by one."""
        async for chunk in self:
            for record in chunk.messages():
                yield record

    async def close(self) -> None:
        """Close the connections; there are no more chunks.

        A task that waits for the next chunk finds that the iteration is over.
        """
        self._is_closing = True
        assert isinstance(self._chunks, AsyncGeneratorType)
        if not self._chunks.ag_running:
            await self._chunks.aclose()
            return
        if self._runner is not None:
            self._runner.step()
        await self._over.wait()

    def __aiter__(self) -> AsyncIterator[Chunk]:
        self._check_unread()
        return self._chunks

    async def __anext__(self) -> Chunk:
        return await anext(self._chunks)

    async def _leave(self, has_failed: bool) -> None:
        await self.close()

    async def _read(self) -> AsyncGenerator[Chunk]:
        machine, runner = self._start(self._make_machine, self._kafka.network)
        self._runner = runner
        try:
            while True:
                await runner.wait(self._has_result)
                fetched = None if self._is_closing else machine.take()
                if fetched is None:
                    break
                self._report_progress(fetched)
                yield Chunk(fetched, self._decoding)
                machine.release(fetched)
            if machine.failure is not None and not self._is_closing:
                raise machine.failure
            self._is_consumed = True
        except GeneratorExit:
            # The scan is closed, or collected by the garbage collector.
            raise
        except BaseException:
            self._is_consumed = True
            raise
        finally:
            if self._bar is not None:
                self._bar.close()
            machine.close(runner.now())
            try:
                await runner.end()
            finally:
                self._over.set()


class ScanSync(ScanBase, Blocking):
    """A scan: iterate over it for chunks, or pass it to a consumer of Arrow streams.

    ``pyarrow.table(scan)``, ``polars.from_arrow(scan)`` and DuckDB's queries take one
    record batch for each chunk, or several if it is large after decompression. Its
    connections are opened by the first chunk and closed after the last one.
    """

    def __init__(
        self,
        kafka: ClusterAccess,
        options: ScanOptions,
        decoding: DecodingOptions,
        progress: bool | Callable[[ScanProgress], None] = False,
    ) -> None:
        super().__init__(kafka, options, decoding, progress)
        self._runner: BlockingRunner | None = None
        self._chunks = self._read()
        # CPython may crash if a generator is closed while another thread runs it, so
        # that each call that uses it is its user meanwhile. Ctrl-C may arrive after any
        # call of a function: a lock that ``acquire`` has taken could stay taken.
        self._user: object = None
        self._user_lock = threading.RLock()

    def messages(self) -> Iterator[ConsumerRecord]:
        """Iterate over the records one by one."""
        for chunk in self:
            yield from chunk.messages()

    def close(self) -> None:
        """Close the connections; there are no more chunks.

        From another thread, or from a handler of a signal, it ends the wait for the
        next chunk: the iteration is over, and closes the connections then.
        """
        self._is_closing = True
        user = object()
        try:
            self._claim_chunks(user)
            if self._user is user:
                self._chunks.close()
            elif self._runner is not None:
                self._runner.wake()
        finally:
            if self._user is user:
                self._user = None

    def __iter__(self) -> Iterator[Chunk]:
        self._check_unread()
        return self

    def __next__(self) -> Chunk:
        user = object()
        try:
            self._claim_chunks(user)
            if self._user is not user:
                raise ValueError(
                    "another thread is reading this scan; use a scan for each"
                )
            chunk = next(self._chunks)
            return chunk
        finally:
            if self._user is user:
                self._user = None
            if self._is_closing:
                # By another thread, which may have come too late to wake this one.
                self.close()

    async def _leave(self, has_failed: bool) -> None:
        self.close()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export the rest of the scan as a stream of record batches.

        A second stream after the first has read a batch raises ``ValueError``, because
        it would lack records. Streams of which only the schema is read are no use.
        """
        import pyarrow

        self._check_unread()
        schema = arrow_schema(self._decoding)
        reader = pyarrow.RecordBatchReader.from_batches(schema, self._stream())
        return reader.__arrow_c_stream__(requested_schema)

    def _stream(self) -> Iterator[Any]:
        for chunk in self:
            self._is_streamed = True
            yield from chunk.iter_arrow()

    def _claim_chunks(self, user: object) -> None:
        """Make ``user`` the user of the generator, unless there is one."""
        with self._user_lock:
            if self._user is None:
                self._user = user

    def _read(self) -> Generator[Chunk]:
        machine, runner = self._start(self._make_machine, self._kafka.network)
        self._runner = runner
        try:
            while True:
                runner.run_until(self._has_result)
                fetched = None if self._is_closing else machine.take()
                if fetched is None:
                    break
                self._report_progress(fetched)
                yield Chunk(fetched, self._decoding)
                machine.release(fetched)
            if machine.failure is not None and not self._is_closing:
                raise machine.failure
            self._is_consumed = True
        except GeneratorExit:
            # The scan is closed, or collected by the garbage collector.
            raise
        except BaseException:
            self._is_consumed = True
            raise
        finally:
            if self._bar is not None:
                self._bar.close()
            machine.close(runner.now())
            runner.close()
