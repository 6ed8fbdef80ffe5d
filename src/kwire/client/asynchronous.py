# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Kafka`` and ``Scan``: a cluster and a scan, over asyncio."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .aio import AsyncRunner
from .chunks import Chunk, ConsumerRecord
from .kafka import KafkaBase, ScanBase

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from ..cluster import ScanOptions
    from .chunks import DecodingOptions


class Scan(ScanBase):
    """A scan: iterate over it for chunks with ``async for``.

    Its connections are opened by the first chunk and closed after the last one; leave
    an iteration early within ``async with scan``, or within that of the cluster.
    """

    def __init__(
        self, kafka: KafkaBase[Any], options: ScanOptions, decoding: DecodingOptions
    ) -> None:
        super().__init__(kafka, options, decoding)
        self._chunks = self._read()

    async def messages(self) -> AsyncIterator[ConsumerRecord]:
        """Iterate over the records one by one."""
        async for chunk in self:
            for record in chunk.messages():
                yield record

    async def close(self) -> None:
        """Close the connections; there are no more chunks."""
        await self._chunks.aclose()

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
        try:
            while True:
                await runner.run_until(machine.has_result)
                fetched = machine.take()
                if fetched is None:
                    break
                yield Chunk(fetched, self._decoding)
                machine.release(fetched)
            if machine.failure is not None:
                raise machine.failure
        finally:
            machine.close(loop.time())
            await runner.close()


class Kafka(KafkaBase[Scan]):
    """A cluster, to be read over asyncio; ``client.connect`` makes it."""

    _scan_class = Scan

    async def close(self) -> None:
        """Close the connections of all scans."""
        for scan in self._scans:
            await scan.close()
        self._scans.clear()

    async def __aenter__(self) -> Kafka:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()
