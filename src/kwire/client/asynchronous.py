# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Kafka`` and ``Scan``: a cluster and a scan, with asyncio."""

from __future__ import annotations

import asyncio
from types import AsyncGeneratorType
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .aio import AsyncRunner
from .chunks import Chunk, ConsumerRecord
from .consumer import Consumer
from .kafka import KafkaBase, ScanBase, offsets_by_partition
from .producer import Producer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterable
    from datetime import datetime, timedelta

    from ..cluster import ScanOptions, TopicInfo
    from .chunks import DecodingOptions
    from .kafka import Isolation, Query
    from .options import Topics

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
    ) -> None:
        super().__init__(kafka, options, decoding)
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
                yield Chunk(fetched, self._decoding)
                machine.release(fetched)
            if machine.failure is not None and not self._is_closing:
                raise machine.failure
        finally:
            machine.close(loop.time())
            try:
                await runner.close()
            finally:
                self._over.set()


class Kafka(KafkaBase[Scan, Producer, Consumer]):
    """A client of a cluster for asyncio; ``client.connect`` makes it."""

    _scan_class = Scan
    _producer_class = Producer
    _consumer_class = Consumer

    async def topics(self) -> dict[str, TopicInfo]:
        """Return the metadata of each topic that the user may see."""
        return await self._run(self._find_topics(asyncio.get_running_loop().time()))

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
        """Close the connections of all scans, consumers and producers.

        What producers have not got acknowledged is dropped; close these before.
        Consumers leave their groups.
        """
        for scan in list(self._scans):
            await scan.close()
        self._scans.clear()
        for consumer in list(self._consumers):
            await consumer.close()
        self._consumers.clear()
        for producer in list(self._producers):
            await producer.abort()
        self._producers.clear()

    async def __aenter__(self) -> Kafka:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _run(self, machine: Query[R]) -> R:
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
