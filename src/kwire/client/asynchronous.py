# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Kafka`` and ``Scan``: a cluster and a scan, with asyncio."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .chunks import Chunk, ConsumerRecord
from .consumer import Consumer
from .kafka import KafkaBase, ScanBase, TopicsByName, offsets_by_partition
from .producer import Producer
from .runners.aio import AsyncRunner

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Callable,
        Coroutine,
        Iterable,
    )
    from datetime import datetime, timedelta

    from .chunks import DecodingOptions
    from .kafka import Isolation, Query
    from .machines import ScanOptions
    from .options import Topics
    from .progress import ScanProgress

R = TypeVar("R")


class Scan(ScanBase):
    """A scan: iterate over it for chunks with ``async for``.

    Its connections are opened by the first chunk and closed after the last one; leave
    an iteration early within ``async with scan``, or within that of the cluster.
    """

    def __init__(
        self,
        kafka: KafkaBase[Any, Any, Any],
        options: ScanOptions,
        decoding: DecodingOptions,
        progress: bool | Callable[[ScanProgress], None] = False,
    ) -> None:
        super().__init__(kafka, options, decoding, progress)
        self._runner: AsyncRunner | None = None
        self._over = asyncio.Event()
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

    async def __aenter__(self) -> Scan:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _read(self) -> AsyncGenerator[Chunk]:
        loop = asyncio.get_running_loop()
        machine = self._begin(loop.time())
        runner = AsyncRunner(machine, machine.cluster, self._kafka.context)
        self._runner = runner
        try:
            while True:
                await runner.run_until(self._has_result)
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
            machine.close(loop.time())
            try:
                await runner.close()
            finally:
                self._over.set()


class Kafka(KafkaBase[Scan, Producer, Consumer]):
    """A client of a cluster for asyncio; ``client.connect`` makes it."""

    _scan_class = Scan

    async def topics(self) -> TopicsByName:
        """Return the metadata of each topic that the user may see."""
        now = asyncio.get_running_loop().time()
        return TopicsByName(await self._run(self._find_topics(now)))

    async def sizes(
        self, topics: Iterable[str] | None = None
    ) -> dict[tuple[str, int], int]:
        """Return the size of partitions on their leaders' disks, in bytes.

        Of all topics, or of those that are named. A partition is left out where its
        leader does not report it: the user requires the right Describe on the cluster,
        the broker Kafka 1.0. Source: DescribeLogDirs (KIP-113).
        """
        now = asyncio.get_running_loop().time()
        return await self._run(self._find_sizes(topics, now))

    # A str is iterable too, but means a single topic.
    @overload
    async def offsets(  # type: ignore[overload-overlap]
        self,
        topics: str,
        *,
        at: str | datetime | timedelta = "latest",
        isolation: Isolation = "read_uncommitted",
    ) -> dict[int, int]: ...

    @overload
    async def offsets(
        self,
        topics: Topics,
        *,
        at: str | datetime | timedelta = "latest",
        isolation: Isolation = "read_uncommitted",
    ) -> dict[tuple[str, int], int]: ...

    async def offsets(
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
        machine = self._find_offsets(
            topics, at, isolation, asyncio.get_running_loop().time()
        )
        return offsets_by_partition(topics, await self._run(machine))

    async def close(self) -> None:
        """Close all scans, consumers and producers of this client.

        Consumers leave their groups. Producers send the records that they hold and wait
        for the acknowledgements, for up to ``delivery_timeout_s``. To drop the records
        instead, call ``abort`` of the producer. Everything is closed even if something
        fails. Raises ``ClusterError`` if records were not acknowledged.
        """
        await self._close(Producer.close)

    async def __aenter__(self) -> Kafka:
        return self

    async def __aexit__(self, kind: object, *exception: object) -> None:
        # An exception drops unsent records, as it does in the block of a producer.
        await self._close(Producer.close if kind is None else Producer.abort)

    async def _close(
        self, close_producer: Callable[[Producer], Coroutine[Any, Any, None]]
    ) -> None:
        self.has_connected = False
        # The stack closes in reverse order, and goes on after an error.
        async with AsyncExitStack() as stack:
            for producer in list(self._producers):
                stack.push_async_callback(close_producer, producer)
            for consumer in list(self._consumers):
                stack.push_async_callback(consumer.close)
            for scan in list(self._scans):
                stack.push_async_callback(scan.close)
        self._scans.clear()
        self._consumers.clear()
        self._producers.clear()

    def _load_producer(self) -> type[Producer]:
        return Producer

    def _load_consumer(self) -> type[Consumer]:
        return Consumer

    async def _run(self, machine: Query[R]) -> R:
        self.has_connected = True
        loop = asyncio.get_running_loop()
        runner = AsyncRunner(machine, machine.cluster, self.context)
        try:
            await runner.run_until(machine.has_result)
            if machine.failure is not None:
                raise machine.failure
            return machine.result()
        finally:
            machine.close(loop.time())
            await runner.close()
