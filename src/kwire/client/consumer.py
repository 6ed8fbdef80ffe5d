# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Consumer``: reads topics as a member of a group, with asyncio.

``sync_consumer.py`` has the other.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from .chunks import Chunk, ConsumerRecord
from .consuming import ConsumerBase
from .runners.aio import AsyncRunner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from .machines import ConsumerMachine


class Consumer(ConsumerBase):
    """A member of a group; ``Kafka.consumer`` makes it: iterate over it for chunks.

    It joins with the first chunk, and leaves at the end of ``async with``. Heartbeats
    are sent while the caller works on a chunk, as long as the event loop runs.
    """

    _runner: AsyncRunner | None = None
    _is_read = False

    async def poll(self, timeout_s: float | None = None) -> Chunk | None:
        """Return the next chunk; None after ``timeout_s``, or once it is closed.

        The caller is done with the chunks before, of which the group may give
        partitions to others now. May be cancelled: nothing is lost.
        """
        if self._is_read:
            raise ValueError("another task is reading; use a consumer for each")
        if self._is_closing:
            return None
        loop = asyncio.get_running_loop()
        machine, runner = self._open()
        self._is_read = True
        self._let_go(machine)
        machine.begin_wait(loop.time())
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await runner.wait(self._has_result)
        finally:
            self._is_read = False
            machine.end_wait(loop.time())
        chunk = self._take(machine)
        if chunk is not None:
            return chunk
        if machine.failure is not None and not self._is_closing:
            await self.close()
            raise machine.failure
        return None

    async def messages(self) -> AsyncIterator[ConsumerRecord]:
        """Iterate over the records one by one."""
        async for chunk in self:
            for record in chunk.messages():
                yield record

    async def commit(self, chunk: Chunk | None = None) -> dict[tuple[str, int], int]:
        """Commit what was read up to a chunk, or all that was returned so far.

        Returns the offsets that were committed, by (topic, partition): where the group
        goes on. Raises ``PartitionLost`` if the group has taken the partition of a
        chunk; without a chunk, such partitions are left out, unless they are lost
        while it waits. Other errors are ``ClusterError`` too.
        """
        if self._machine is None or self._runner is None or self._is_closing:
            return self._commit_nothing()
        now = asyncio.get_running_loop().time()
        pending = self._machine.commit(now, None if chunk is None else chunk.fetched)
        await self._runner.wait(lambda: pending.is_over or self._is_closed)
        return pending.result()

    async def close(self) -> None:
        """Leave the group, and close the connections; nothing is committed.

        A commit that is on its way is waited for. A task that waits for a chunk finds
        that the iteration is over.
        """
        if self._is_closing:
            return
        self._is_closing = True
        machine, runner = self._machine, self._runner
        if machine is None or runner is None:
            self._is_closed = True
            return
        try:
            machine.begin_close(asyncio.get_running_loop().time())
            await runner.wait(machine.has_left)
        finally:
            self._is_closed = True
            machine.close(asyncio.get_running_loop().time())
            await runner.end()

    def __aiter__(self) -> AsyncIterator[Chunk]:
        self._check_unclosed()
        return self

    async def __anext__(self) -> Chunk:
        chunk = await self.poll()
        if chunk is None:
            raise StopAsyncIteration
        return chunk

    async def __aenter__(self) -> Consumer:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    def _abandon(self) -> None:
        if self._runner is not None:
            self._runner.abandon()

    def _open(self) -> tuple[ConsumerMachine, AsyncRunner]:
        if self._machine is None or self._runner is None:
            machine = self._begin(asyncio.get_running_loop().time())
            self._machine = machine
            self._runner = AsyncRunner(machine, machine.cluster, self._network)
        return self._machine, self._runner
