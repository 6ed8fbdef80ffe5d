# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Scan`` and ``ScanSync``: read topics in chunks, from a start to an end."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from .._text.name_advice import advise_on_attributes, explain_arguments
from .chunk_reader import AsynchronousReader, BlockingReader, ChunkReader
from .chunks import Chunk, arrow_schema
from .descriptions import describe_topics
from .machines import ScanMachine
from .machines.metrics import SCAN_SNAPSHOT
from .position import Position
from .progress import ProgressBar, ScanProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .chunks import DecodingOptions
    from .machines import ScanOptions
    from .machines.scan.options import Fetched
    from .runners.protocols import ClusterAccess


class ScanBase(ChunkReader[ScanMachine]):
    """Common base of ``Scan`` and ``ScanSync``."""

    _metric_names = SCAN_SNAPSHOT

    # True when the iteration has ended, because of the last chunk or an error.
    _is_consumed = False
    # True when an Arrow stream has read a chunk. Any later iteration would lack the
    # records of this chunk.
    _is_streamed = False
    _bar: ProgressBar | None = None

    @explain_arguments("Scan")
    def __init__(
        self,
        kafka: ClusterAccess,
        options: ScanOptions,
        decoding: DecodingOptions,
        progress: bool | Callable[[ScanProgress], None] = False,
    ) -> None:
        super().__init__(kafka, decoding)
        self._options = options
        self._on_progress = None if isinstance(progress, bool) else progress
        if progress is True:
            self._bar = ProgressBar()
            self._on_progress = self._bar.show
        self._done_offsets = 0
        self._received_bytes = 0

    def position(self) -> Position:
        """Return the next offset to read of each (topic, partition).

        These are the offsets after the last returned chunk. Before the first chunk,
        they are the explicit offsets in ``start``. To continue later, pass the position
        as ``start`` of another scan. ``Position.to_json`` and ``Position.from_json``
        convert it to and from text.
        """
        start = self._options.start
        items = start.items() if isinstance(start, Mapping) else ()
        position = Position(
            {partition: spec for partition, spec in items if isinstance(spec, int)}
        )
        position.update(super().position())
        return position

    async def _read(self) -> Chunk | None:
        with self._use():
            if self._is_closing or self._is_closed:
                return None
            try:
                machine, runner = self._connect()
                self._release(machine)
                await runner.wait(self._has_result)
                chunk = self._take_chunk(machine)
                if chunk is not None:
                    self._report_progress(chunk.fetched)
                    return chunk
                if machine.failure is not None and not self._is_closing:
                    raise machine.failure
            except BaseException:
                self._is_consumed = True
                await self._end()
                raise
            self._is_consumed = not self._is_closing
            await self._finish()
        return None

    async def _finish(self) -> None:
        try:
            machine, runner = self._machine, self._runner
            if machine is not None and runner is not None and not self._is_closed:
                machine.begin_close(runner.now())
                if not machine.is_closable():
                    await runner.wait(machine.is_closable)
        finally:
            await self._end()

    async def _end(self) -> None:
        self._is_closed = True
        if self._bar is not None:
            self._bar.close()
        if self._machine is not None and self._runner is not None:
            self._close_machine(self._machine, self._runner)
            await self._runner.end()

    def _check_usable(self) -> None:
        if self._is_consumed or self._is_streamed:
            raise ValueError(
                "the scan has already been consumed; make another with kafka.scan()"
            )
        if self._is_closing:
            raise ValueError("the scan is closed; make another with kafka.scan()")

    def _make_machine(self, now: float) -> ScanMachine:
        return ScanMachine(
            self._kafka.addresses,
            self._kafka.settings,
            self._options,
            now=now,
            random=Random(),
        )

    def _report_progress(self, fetched: Fetched) -> None:
        """Add a chunk to the progress, and call the progress function, if any."""
        if self._on_progress is None:
            return
        assert self._machine is not None
        end_offset = fetched.next_offset
        if fetched.end_offset is not None:
            end_offset = min(end_offset, fetched.end_offset)
        self._done_offsets += end_offset - fetched.start_offset
        if self._pieces is None:
            # If ``batch_rows`` splits a chunk into pieces, all pieces have the same
            # data. Count it only once.
            self._received_bytes += len(fetched.data)
        remaining = self._machine.remaining_offsets()
        total = None if remaining is None else self._done_offsets + remaining
        self._on_progress(ScanProgress(self._done_offsets, total, self._received_bytes))

    def _describe(self, cluster: str) -> str:
        topics = describe_topics(self._options.topics, self._options.pattern)
        if self._is_closing:
            state = "closed"
        elif self._is_consumed:
            state = "consumed"
        elif self._machine is None:
            state = "not started"
        else:
            state = f"at {self.position().describe() or 'no offset yet'}"
        return f"{topics} on {cluster}, {state}"

    def _repr_html_(self) -> str:
        from .html_tables import make_html_table

        rows = [
            (topic, partition, offset)
            for (topic, partition), offset in sorted(self.position().items())
        ]
        columns = ("topic", "partition", "next offset")
        return make_html_table(repr(self), columns, rows)


@advise_on_attributes("Scan")
class Scan(ScanBase, AsynchronousReader[ScanMachine]):
    """Asynchronous scan. ``async for`` iterates over its chunks.

    The connections are opened when the first chunk is requested, and closed after the
    last chunk. If the iteration may end early, use ``async with`` for the scan or the
    client, so that the connections are closed.
    """


@advise_on_attributes("Scan")
class ScanSync(ScanBase, BlockingReader[ScanMachine]):
    """Scan with blocking calls. Iterate over its chunks, or use it as an Arrow stream.

    ``pyarrow.table(scan)``, ``polars.from_arrow(scan)`` and DuckDB queries accept a
    scan. They read one Arrow record batch for every chunk, or several if the chunk is
    large after decompression. The connections are opened when the first chunk is
    requested, and closed after the last chunk.
    """

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export the scan's remaining records as a stream of Arrow record batches.

        Raises ``ValueError`` if the scan is closed or has been consumed. Also raises
        ``ValueError`` if another stream has read a batch of this scan, because its
        records would be missing in the new stream. Reading only a stream's schema is
        allowed. Requires pyarrow.
        """
        import pyarrow

        self._check_usable()
        schema = arrow_schema(self._decoding)
        reader = pyarrow.RecordBatchReader.from_batches(schema, self._stream())
        return reader.__arrow_c_stream__(requested_schema)

    def _stream(self) -> Iterator[Any]:
        try:
            for chunk in self:
                self._is_streamed = True
                yield from chunk.iter_arrow()
        except BaseException:
            # Close the scan, because the consumer of the stream cannot continue after
            # an error and has no method to close the scan.
            self.close()
            raise
