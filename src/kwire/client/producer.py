# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Producer``: a producer over asyncio. ``sync_producer.py`` has the other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .machines import RecordBatcher
from .producing import Awaited, ProducerBase, now_ms, take_rows
from .runners.aio import AsyncRunner
from .table_batches import TableBatcher, TableColumns
from .transaction import Transaction, check_transactional

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..records import Headers, RecordLike
    from .machines import ProducerMachine, Receipt, TopicInfo


class Producer(ProducerBase):
    """A producer; ``Kafka.producer`` makes it. It is an asynchronous context manager.

    Leaving its block waits until everything is acknowledged; leaving it by an exception
    drops what is not. Entering the block with a ``transactional_id`` takes that over
    from older producers, whose open transaction is aborted. Any number of tasks may use
    it.
    """

    _runner: AsyncRunner | None = None

    async def send_many(
        self, topic: str, rows: Iterable[RecordLike], *, partition: int | None = None
    ) -> list[Receipt]:
        """Write rows; return when they are acknowledged, with a receipt for each batch.

        A row is (key, value), (key, value, timestamp) or (key, value, timestamp,
        headers), as for ``records.encode_batch``. Rows without a timestamp get the
        present time. Rows of one key keep their order. ``partition`` is for all rows.
        Raises ``EncodeError`` for what is no row, and ``ClusterError`` where records
        were not acknowledged, with the ``receipts`` of those that were.
        """
        runner, machine, found = await self._open(topic)
        sender = RecordBatcher(machine, found, partition)
        try:
            for chosen in take_rows(rows, sender, self._options.memory_bytes):
                if not machine.has_room():
                    sender.give_way(asyncio.get_running_loop().time())
                    await runner.wait(machine.has_room)
                sender.add(chosen, now_ms(), asyncio.get_running_loop().time())
                runner.step()
                # Other tasks have their turn.
                await asyncio.sleep(0)
        except BaseException:
            sender.abandon()
            raise
        return await self._wait(
            runner, sender.finish(asyncio.get_running_loop().time())
        )

    async def send_table(
        self,
        topic: str,
        table: Any,
        *,
        key: str | None = None,
        value: str = "value",
        headers: str | None = None,
        timestamp: str | None = None,
        partition: str | int | None = None,
    ) -> list[Receipt]:
        """Write the rows of a table; return when they are acknowledged.

        ``table`` is a ``pyarrow.Table``, or what pyarrow makes one of. The arguments
        name its columns: ``key`` and ``value`` are bytes or text, ``headers`` lists of
        key and value, ``timestamp`` times or ms. ``partition`` is a number for all rows
        or names a column of numbers. Requires ``kwire[arrow]`` and numpy.
        Raises as ``send_many``; ``ValueError`` for a column that is not there,
        ``TypeError`` for one of another type, and ``EncodeError`` with the name of the
        column for invalid Arrow data.
        """
        self._check_sending()
        chosen = TableColumns(
            table,
            key=key,
            value=value,
            headers=headers,
            timestamp=timestamp,
            partition=partition,
        )
        runner, machine, found = await self._open(topic)
        sender = TableBatcher(machine, found, partition, now_ms())
        await self._fill(runner, machine, sender, chosen)
        return await self._wait(runner, sender.batches)

    async def append(
        self,
        topic: str,
        *,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: Headers = (),
        timestamp: int | None = None,
        partition: int | None = None,
    ) -> None:
        """Take one record, and send it together with others.

        Waits only where ``memory_bytes`` are taken. A record that is not acknowledged
        is reported by the next ``flush`` or ``close``. Raises ``EncodeError`` for what
        is no row.
        """
        stage = self._stages.get(topic if partition is None else (topic, partition))
        if stage is not None and stage.append_now(key, value, timestamp, headers):
            return
        machine, runner = self._machine, self._runner
        found = None if machine is None else machine.known_topic(topic)
        if found is None or machine is None or runner is None:
            runner, machine, found = await self._open(topic)
        now = asyncio.get_running_loop().time()
        row = (key, value, now_ms() if timestamp is None else timestamp, headers)
        if self._put(machine, found, partition, row, now):
            runner.step()
        if machine.has_room():
            # A caller that never waits must not keep the loop from its sockets.
            await asyncio.sleep(0)
        else:
            machine.flush(now)
            await runner.wait(machine.has_room)

    async def append_table(
        self,
        topic: str,
        table: Any,
        *,
        key: str | None = None,
        value: str = "value",
        headers: str | None = None,
        timestamp: str | None = None,
        partition: str | int | None = None,
    ) -> None:
        """Take the rows of a table, and send them without waiting for acknowledgements.

        The arguments are those of ``send_table``. Returns when all rows are on their
        way to the brokers, and waits where ``memory_bytes`` are taken. Rows that are
        not acknowledged are reported by the next ``append_table``, ``flush`` or
        ``close``; ``on_receipt`` is called with the receipt of each batch. Raises
        ``ValueError`` and ``TypeError`` as ``send_table``, and ``ClusterError`` for a
        topic that cannot be written to.
        """
        self._check_sending()
        chosen = TableColumns(
            table,
            key=key,
            value=value,
            headers=headers,
            timestamp=timestamp,
            partition=partition,
        )
        runner, machine, found = await self._open(topic)
        sender = TableBatcher(machine, found, partition, now_ms(), is_background=True)
        await self._fill(runner, machine, sender, chosen)
        # A caller that is slow to come back must not let them wait for the machine.
        await runner.wait(Awaited(sender.batches).is_sent)
        if failure := machine.take_background_failure():
            raise failure

    def transaction(self) -> Transaction:
        """Make a transaction: what is written within its block is a whole.

        The producer must have a ``transactional_id``, and one transaction at a time.
        Raises ``ValueError`` otherwise.
        """
        check_transactional(self._options.transactional_id)
        return Transaction(self._start)

    async def flush(self) -> None:
        """Send what was appended; return when it is acknowledged.

        Raises the first failure since the last ``flush``.
        """
        self._check_open()
        machine, runner = self._machine, self._runner
        if machine is not None and runner is not None:
            waiting = Awaited(machine.flush(asyncio.get_running_loop().time()))
            await runner.wait(waiting.is_over)
            if failure := machine.take_background_failure():
                raise failure

    async def close(self) -> None:
        """Send what was appended, wait for it, and close the connections."""
        if self._is_closed:
            return
        try:
            await self.flush()
        finally:
            await self.abort()

    async def abort(self) -> None:
        """Close the connections now: what is not acknowledged is dropped."""
        self._is_closed = True
        if self._machine is not None and self._runner is not None:
            self._machine.close(asyncio.get_running_loop().time())
            await self._runner.end()
            self._machine = self._runner = None

    async def __aenter__(self) -> Producer:
        if self._options.transactional_id is not None:
            try:
                await self._start()
            except BaseException:
                # Python does not call ``__aexit__`` if this raises.
                await self.abort()
                raise
        return self

    async def __aexit__(self, kind: object, *exception: object) -> None:
        if kind is None:
            await self.close()
        else:
            await self.abort()

    def _abandon(self) -> None:
        if self._runner is not None:
            self._runner.abandon()

    async def _open(self, topic: str) -> tuple[AsyncRunner, ProducerMachine, TopicInfo]:
        """Return the runner, the machine, and what is known of a topic."""
        self._check_sending()
        machine, runner = self._connect()
        machine.want_topic(topic, asyncio.get_running_loop().time())
        await runner.wait(lambda: machine.is_settled(topic))
        found = machine.topic(topic)
        assert found is not None, "a topic that is settled is known, or raises"
        return runner, machine, found

    async def _fill(
        self,
        runner: AsyncRunner,
        machine: ProducerMachine,
        sender: TableBatcher,
        table: TableColumns,
    ) -> None:
        """Give all rows of a table to the machine."""
        try:
            for piece in table.pieces():
                sender.begin(piece)
                while sender.fill(asyncio.get_running_loop().time()):
                    runner.step()
                    # Other tasks have their turn.
                    await asyncio.sleep(0)
                    if not machine.has_room():
                        sender.give_way(asyncio.get_running_loop().time())
                        await runner.wait(machine.has_room)
        except BaseException:
            sender.abandon()
            raise
        sender.finish(asyncio.get_running_loop().time())

    async def _wait(self, runner: AsyncRunner, batches: Any) -> list[Receipt]:
        awaited = Awaited(batches)
        await runner.wait(awaited.is_over)
        return awaited.receipts()

    def _connect(self) -> tuple[ProducerMachine, AsyncRunner]:
        """Return the machine and its runner, which are made by the first use."""
        self._check_open()
        if self._machine is None or self._runner is None:
            machine = self._begin(asyncio.get_running_loop().time())
            self._machine = machine
            self._runner = AsyncRunner(machine, machine.cluster, self._kafka.network)
        return self._machine, self._runner

    async def _start(self) -> tuple[ProducerMachine, AsyncRunner]:
        """Take the transactional id over, unless that is done."""
        check_transactional(self._options.transactional_id)
        machine, runner = self._connect()
        transactions = machine.transactions
        assert transactions is not None
        await runner.wait(
            lambda: transactions.is_settled or machine.failure is not None
        )
        if machine.failure is not None:
            raise machine.failure
        return machine, runner
