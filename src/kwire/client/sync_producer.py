# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ProducerSync``: a producer with blocking calls. ``producer.py`` has the other."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .machines import RecordBatcher
from .producing import Awaited, ProducerBase, now_ms, take_rows
from .runners.blocking import BlockingRunner
from .table_batches import TableBatcher, TableColumns
from .transaction import TransactionSync, check_transactional

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..records import Headers, RecordLike
    from .machines import ProducerMachine, Receipt, TopicInfo


class ProducerSync(ProducerBase):
    """A producer; ``KafkaSync.producer`` makes it. It is a context manager.

    Leaving its block waits until everything is acknowledged; leaving it by an exception
    drops what is not. Entering the block with a ``transactional_id`` takes that over
    from older producers, whose open transaction is aborted. It works within its calls,
    in the thread that makes them: what was appended is sent when a batch is full, by
    the next call after ``linger_ms``, and by ``flush``.
    """

    _runner: BlockingRunner | None = None
    # When ``append`` last moved the machine, and when it has to again (ms).
    _polled_ms = _poll_ms = 1

    def send_many(
        self, topic: str, rows: Iterable[RecordLike], *, partition: int | None = None
    ) -> list[Receipt]:
        """Write rows; return when they are acknowledged, with a receipt for each batch.

        A row is (key, value), (key, value, timestamp) or (key, value, timestamp,
        headers), as for ``records.encode_batch``. Rows without a timestamp get the
        present time. Rows of one key keep their order. ``partition`` is for all rows.
        Raises ``EncodeError`` for what is no row, and ``ClusterError`` where records
        were not acknowledged, with the ``receipts`` of those that were.
        """
        runner, machine, found = self._open(topic)
        sender = RecordBatcher(machine, found, partition)
        try:
            for chosen in take_rows(rows, sender, self._options.memory_bytes):
                if not machine.has_room():
                    sender.give_way(time.monotonic())
                    runner.run_until(machine.has_room)
                sender.add(chosen, now_ms(), time.monotonic())
                runner.poll()
        except BaseException:
            sender.abandon()
            raise
        return self._wait(runner, sender.finish(time.monotonic()))

    def send_table(
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
        runner, machine, found = self._open(topic)
        sender = TableBatcher(machine, found, partition, now_ms())
        self._fill(runner, machine, sender, chosen)
        return self._wait(runner, sender.batches)

    def append(
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
        taken_ms = (
            0 if stage is None else stage.append_now(key, value, timestamp, headers)
        )
        # It may be earlier than the last time: a clock can be set back.
        if self._polled_ms <= taken_ms < self._poll_ms:
            return
        machine, runner = self._machine, self._runner
        found = None if machine is None else machine.known_topic(topic)
        if found is None or machine is None or runner is None:
            runner, machine, found = self._open(topic)
        now = time.monotonic()
        if not taken_ms:
            taken_ms = now_ms()
            row = (key, value, taken_ms if timestamp is None else timestamp, headers)
            self._put(machine, found, partition, row, now)
        runner.poll()
        self._polled_ms = taken_ms
        self._poll_ms = taken_ms + int(self._options.linger_s * 1000)
        if not machine.has_room():
            machine.flush(now)
            runner.run_until(machine.has_room)

    def append_table(
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
        runner, machine, found = self._open(topic)
        sender = TableBatcher(machine, found, partition, now_ms(), is_background=True)
        self._fill(runner, machine, sender, chosen)
        # A caller that is slow to come back must not let them wait for the machine.
        runner.run_until(Awaited(sender.batches).is_sent)
        if failure := machine.take_background_failure():
            raise failure

    def transaction(self) -> TransactionSync:
        """Make a transaction: what is written within its block is a whole.

        The producer must have a ``transactional_id``, and one transaction at a time.
        Raises ``ValueError`` otherwise.
        """
        check_transactional(self._options.transactional_id)
        return TransactionSync(self._start)

    def flush(self) -> None:
        """Send what was appended; return when it is acknowledged.

        Raises the first failure since the last ``flush``.
        """
        self._check_open()
        machine, runner = self._machine, self._runner
        if machine is not None and runner is not None:
            waiting = Awaited(machine.flush(time.monotonic()))
            runner.run_until(waiting.is_over)
            if failure := machine.take_background_failure():
                raise failure

    def close(self) -> None:
        """Send what was appended, wait for it, and close the connections."""
        if self._is_closed:
            return
        try:
            self.flush()
        finally:
            self.abort()

    def abort(self) -> None:
        """Close the connections now: what is not acknowledged is dropped."""
        self._is_closed = True
        if self._machine is not None and self._runner is not None:
            self._machine.close(time.monotonic())
            self._runner.close()
            self._machine = self._runner = None

    def __enter__(self) -> ProducerSync:
        if self._options.transactional_id is not None:
            try:
                self._start()
            except BaseException:
                # Python does not call ``__exit__`` if this raises.
                self.abort()
                raise
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def _abandon(self) -> None:
        if self._runner is not None:
            self._runner.close()

    def _open(self, topic: str) -> tuple[BlockingRunner, ProducerMachine, TopicInfo]:
        """Return the runner, the machine, and what is known of a topic."""
        self._check_sending()
        machine, runner = self._connect()
        machine.want_topic(topic, time.monotonic())
        runner.run_until(lambda: machine.is_settled(topic))
        found = machine.topic(topic)
        assert found is not None, "a topic that is settled is known, or raises"
        return runner, machine, found

    def _fill(
        self,
        runner: BlockingRunner,
        machine: ProducerMachine,
        sender: TableBatcher,
        table: TableColumns,
    ) -> None:
        """Give all rows of a table to the machine."""
        try:
            for piece in table.pieces():
                sender.begin(piece)
                while sender.fill(time.monotonic()):
                    runner.poll()
                    if not machine.has_room():
                        sender.give_way(time.monotonic())
                        runner.run_until(machine.has_room)
        except BaseException:
            sender.abandon()
            raise
        sender.finish(time.monotonic())

    def _wait(self, runner: BlockingRunner, batches: Any) -> list[Receipt]:
        awaited = Awaited(batches)
        runner.run_until(awaited.is_over)
        return awaited.receipts()

    def _connect(self) -> tuple[ProducerMachine, BlockingRunner]:
        """Return the machine and its runner, which are made by the first use."""
        self._check_open()
        if self._machine is None or self._runner is None:
            machine = self._begin(time.monotonic())
            self._machine = machine
            self._runner = BlockingRunner(machine, machine.cluster, self._kafka.network)
        return self._machine, self._runner

    def _start(self) -> tuple[ProducerMachine, BlockingRunner]:
        """Take the transactional id over, unless that is done."""
        check_transactional(self._options.transactional_id)
        machine, runner = self._connect()
        transactions = machine.transactions
        assert transactions is not None
        runner.run_until(lambda: transactions.is_settled or machine.failure is not None)
        if machine.failure is not None:
            raise machine.failure
        return machine, runner
