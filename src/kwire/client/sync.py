# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``KafkaSync`` and ``ScanSync``: a cluster and a scan, with blocking calls."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .chunks import Chunk, ConsumerRecord, arrow_schema
from .kafka import KafkaBase, ScanBase, TopicsByName, offsets_by_partition
from .runners.blocking import BlockingRunner, run_query

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from datetime import datetime, timedelta

    from .chunks import DecodingOptions
    from .kafka import Isolation, Query
    from .machines import ScanOptions
    from .options import Topics
    from .progress import ScanProgress
    from .sync_consumer import ConsumerSync
    from .sync_producer import ProducerSync

R = TypeVar("R")


class ScanSync(ScanBase):
    """A scan: iterate over it for chunks, or pass it to a consumer of Arrow streams.

    ``pyarrow.table(scan)``, ``polars.from_arrow(scan)`` and DuckDB's queries take one
    record batch for each chunk, or several if it is large after decompression. Its
    connections are opened by the first chunk and closed after the last one.
    """

    def __init__(
        self,
        kafka: KafkaBase[Any, Any, Any],
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

    def __enter__(self) -> ScanSync:
        return self

    def __exit__(self, *exception: object) -> None:
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
        machine = self._begin(time.monotonic())
        runner = BlockingRunner(machine, machine.cluster, self._kafka.context)
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
            machine.close(time.monotonic())
            runner.close()


class KafkaSync(KafkaBase[ScanSync, "ProducerSync", "ConsumerSync"]):
    """A client of a cluster with blocking calls; ``client.connect_sync`` makes it."""

    _scan_class = ScanSync

    def topics(self) -> TopicsByName:
        """Return the metadata of each topic that the user may see."""
        return TopicsByName(self._run(self._find_topics(time.monotonic())))

    def sizes(self, topics: Iterable[str] | None = None) -> dict[tuple[str, int], int]:
        """Return the size of partitions on their leaders' disks, in bytes.

        Of all topics, or of those that are named. A partition is left out where its
        leader does not report it: the user requires the right Describe on the cluster,
        the broker Kafka 1.0. Source: DescribeLogDirs (KIP-113).
        """
        return self._run(self._find_sizes(topics, time.monotonic()))

    # A str is iterable too, but means a single topic.
    @overload
    def offsets(  # type: ignore[overload-overlap]
        self,
        topics: str,
        *,
        at: str | datetime | timedelta = "latest",
        isolation: Isolation = "read_uncommitted",
    ) -> dict[int, int]: ...

    @overload
    def offsets(
        self,
        topics: Topics,
        *,
        at: str | datetime | timedelta = "latest",
        isolation: Isolation = "read_uncommitted",
    ) -> dict[tuple[str, int], int]: ...

    def offsets(
        self,
        topics: Topics,
        *,
        at: str | datetime | timedelta = "latest",
        isolation: Isolation = "read_uncommitted",
    ) -> dict[int, int] | dict[tuple[str, int], int]:
        """Find an offset of each partition of a topic: {partition: offset}.

        ``at`` is "earliest", "latest", a ``datetime``, or a ``timedelta`` (so long
        ago): the offset of the first record at that time or later, or of the end of
        the log if there is none. ``topics`` may be as in ``scan``; if it is not a
        single name, the keys are (topic, partition), which ``scan`` takes as ``start``.
        "latest" under "read_committed" is before the first open transaction.
        """
        machine = self._find_offsets(topics, at, isolation, time.monotonic())
        return offsets_by_partition(topics, self._run(machine))

    def close(self) -> None:
        """Close all scans, consumers and producers of this client.

        Consumers leave their groups. Producers send the records that they hold and wait
        for the acknowledgements, for up to ``delivery_timeout_s``. To drop the records
        instead, call ``abort`` of the producer. Everything is closed even if something
        fails. Raises ``ClusterError`` if records were not acknowledged.
        """
        self._close()

    def __enter__(self) -> KafkaSync:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        # An exception drops unsent records, as it does in the block of a producer.
        self._close(aborts=kind is not None)

    def _close(self, *, aborts: bool = False) -> None:
        self.has_connected = False
        # The stack closes in reverse order, and goes on after an error.
        with ExitStack() as stack:
            for producer in list(self._producers):
                stack.callback(producer.abort if aborts else producer.close)
            for consumer in list(self._consumers):
                stack.callback(consumer.close)
            for scan in list(self._scans):
                stack.callback(scan.close)
        self._scans.clear()
        self._consumers.clear()
        self._producers.clear()

    def _load_producer(self) -> type[ProducerSync]:
        from .sync_producer import ProducerSync

        return ProducerSync

    def _load_consumer(self) -> type[ConsumerSync]:
        from .sync_consumer import ConsumerSync

        return ConsumerSync

    def _run(self, machine: Query[R]) -> R:
        self.has_connected = True
        return run_query(machine, self.context)
