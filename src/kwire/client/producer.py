# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Producer`` and ``ProducerSync``: write records to topics.

A batcher encodes records into batches. The state machine sends the batches, and returns
a receipt per batch that the cluster has acknowledged.

Both classes share ``ProducerBase``. Only ``send`` is implemented separately in every
class, because it is called for every record and must avoid the cost of an operation.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from copy import copy
from functools import partial
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from .._engine.active import record_engine as engine
from .._text.name_advice import advise_on_attributes, explain_arguments
from ..records import BatchBuilder, partitioners
from .descriptions import describe_cluster, describe_names, warn_unclosed
from .machines import (
    ClusterError,
    ProducerMachine,
    ProducerOptions,
    RecordBatcher,
    check_partition,
    choose_by_key,
)
from .machines.metrics import PRODUCER_SNAPSHOT, empty_snapshot
from .runners.operations import (
    Asynchronous,
    Blocking,
    Operations,
    operation,
    run_blocking,
)
from .table_batches import TableBatcher, TableColumns
from .transaction import Transaction, TransactionBase, TransactionSync

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..records import Headers, RecordLike
    from .machines import PendingBatch, Receipt, TopicInfo
    from .machines.produce.lingering_records import Stage
    from .machines.produce.options import Partitioner
    from .runners.aio import AsyncRunner
    from .runners.blocking import BlockingRunner
    from .runners.protocols import ClusterAccess, Runner

T = TypeVar("T", bound=TransactionBase)

MAX_RECORDS_AT_ONCE = 1000
"""Maximum number of records that are encoded between two checks of the memory limit. A
check has a fixed cost, and the memory use may grow unchecked between two checks.
"""

_SHARE = 8
"""Divisor of ``memory_bytes``.

The records encoded between two checks of the memory limit use about one eighth of it.
"""

_KEPT_BYTES = 8 << 20
"""Maximum size of freed memory blocks that the allocator keeps for reuse.

It is larger than the batches and the request that are encoded at the same time.
"""

# Partitioners that the engine implements itself, with its number for the hash function.
# This is not a dict, because a user's partitioner may be an unhashable callable.
_HASHES: tuple[tuple[Any, int], ...] = (
    (None, engine.MURMUR2),
    (partitioners.murmur2, engine.MURMUR2),
    (partitioners.murmur2_random, engine.MURMUR2),
    (partitioners.crc32, engine.CRC32),
)


def make_producer_options(
    *,
    compression: str,
    compression_level: int | None,
    acks: Literal["all", 0, 1],
    idempotent: bool | None,
    linger_s: float,
    max_batch_bytes: int,
    max_request_bytes: int,
    memory_bytes: int,
    delivery_timeout_s: float,
    partitioner: Partitioner | Callable[[Any], int] | None,
    transactional_id: str | None,
    transaction_timeout_s: float,
) -> ProducerOptions:
    """Check the arguments of ``Kafka.producer``, and return them as options.

    Raises ``ValueError`` with the name of the argument if a value is invalid, and
    ``TypeError`` if ``partitioner`` is not callable.
    """
    if acks not in ("all", -1, 0, 1):
        raise ValueError(f'acks must be "all", 1 or 0 (got {acks!r:.40})')
    is_for_all = acks in ("all", -1)
    if idempotent is None:
        idempotent = is_for_all
    if idempotent and not is_for_all:
        raise ValueError(f'idempotent=True requires acks="all" (got acks={acks})')
    if transactional_id is not None:
        if not isinstance(transactional_id, str) or not transactional_id:
            raise ValueError(
                "transactional_id must be a name, the same each time the program runs"
                f" (got {transactional_id!r:.40})"
            )
        if not idempotent:
            raise ValueError(
                'transactional_id requires acks="all" and idempotent=True'
                f" (got acks={acks!r} and idempotent={idempotent})"
            )
    for name, size in (
        ("max_batch_bytes", max_batch_bytes),
        ("max_request_bytes", max_request_bytes),
        ("memory_bytes", memory_bytes),
    ):
        if size < 1:
            raise ValueError(f"{name} must be 1 or more (got {size})")
    for name, duration in (
        ("transaction_timeout_s", transaction_timeout_s),
        ("delivery_timeout_s", delivery_timeout_s),
    ):
        if duration <= 0:
            raise ValueError(f"{name} must be more than 0 (got {duration})")
    if linger_s < 0:
        raise ValueError(f"linger_s must be 0 or more (got {linger_s})")
    if partitioner is not None and not callable(partitioner):
        raise TypeError(
            "partitioner must be a function of kwire.records.partitioners, or of key,"
            " all partitions and available partitions (got"
            f" {type(partitioner).__name__})"
        )
    # The constructor raises an error for an unknown compression or level.
    BatchBuilder(
        max_batch_bytes, compression=compression, compression_level=compression_level
    )
    hash = next(
        (number for function, number in _HASHES if function is partitioner), None
    )
    return ProducerOptions(
        compression=compression,
        compression_level=compression_level,
        acks=-1 if is_for_all else acks,  # type: ignore[arg-type]
        is_idempotent=idempotent,
        linger_s=linger_s,
        max_batch_bytes=max_batch_bytes,
        max_request_bytes=max_request_bytes,
        memory_bytes=memory_bytes,
        delivery_timeout_s=delivery_timeout_s,
        hash=engine.MURMUR2 if hash is None else hash,
        partitioner=partitioner if hash is None else None,  # type: ignore[arg-type]
        transactional_id=transactional_id,
        transaction_timeout_s=transaction_timeout_s,
    )


class ProducerBase(Operations, Generic[T]):
    """Common base of ``Producer`` and ``ProducerSync``.

    The first record opens the connections. With a ``transactional_id``, the start of
    the block opens them.
    """

    _transaction_class: type[T]

    _machine: ProducerMachine | None = None
    _runner: Runner | None = None
    _is_closed = False
    # Metrics at the time when the connections were closed; None before.
    _last_metrics: dict[str, Any] | None = None

    @explain_arguments("Producer")
    def __init__(
        self,
        kafka: ClusterAccess,
        options: ProducerOptions,
        on_receipt: Callable[[Receipt], None] | None,
    ) -> None:
        self._kafka = kafka
        self._options = options
        self._on_receipt = on_receipt
        # Stages of the machine by topic or (topic, partition). ``send`` adds records to
        # them directly, so that most calls do not run the machine.
        self._stages: Mapping[Any, Stage] = {}

    @operation
    async def send_many(
        self,
        topic: str,
        records: Iterable[RecordLike],
        *,
        partition: int | None = None,
    ) -> list[Receipt]:
        """Write records, and wait until all records are acknowledged.

        * ``records``: an iterable of tuples (key, value), (key, value, timestamp) or
          (key, value, timestamp, headers), as for ``records.encode_batch``. Timestamps
          are in milliseconds. The default is the current time.
        * ``partition``: the partition of all records. By default, the partitioner
          chooses a partition per record.

        Records with the same key keep their order. Returns a receipt per batch.

        Raises ``EncodeError`` for an object that is not a record, and ``TypeError`` if
        ``records`` is not iterable. Raises ``TopicNotFound`` if the topic or the
        partition does not exist. Raises ``ClusterError`` if some records are not
        acknowledged. Its attribute ``receipts`` contains the receipts of the batches
        that were written nevertheless. Raises ``ValueError`` after ``close``, and
        outside of a transaction if the producer has a ``transactional_id``.
        """
        machine, runner, info = await self._open(topic)
        batcher = RecordBatcher(machine, info, partition)
        try:
            for chosen in take_records(records, batcher, self._options.memory_bytes):
                if not machine.has_room():
                    batcher.give_way(runner.now())
                    await runner.wait(machine.has_room)
                batcher.add(chosen, now_ms(), runner.now())
                await runner.pass_turn()
        except BaseException:
            batcher.abandon()
            raise
        acknowledgement = Awaited(batcher.finish(runner.now()))
        await runner.wait(acknowledgement.is_over)
        return acknowledgement.receipts()

    @operation
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
        wait: bool = True,
    ) -> list[Receipt]:
        """Write each row of a table as one record.

        * ``table``: a ``pyarrow.Table``, or an object that pyarrow can convert to one.
        * ``key``, ``value``: names of columns with bytes or text.
        * ``headers``: name of a column with lists of (key, value).
        * ``timestamp``: name of a column with timestamps or milliseconds.
        * ``partition``: a partition for all rows, or the name of a column with
          partition numbers.
        * ``wait``: wait until all rows are acknowledged, and return a receipt per
          batch.

        With ``wait=False``, the method returns an empty list as soon as all rows are in
        flight. It waits only while ``memory_bytes`` are in use. ``on_receipt`` is
        called with the receipt of every batch. The next call with ``wait=False``,
        ``flush`` or ``close`` raises the first failure.

        Requires ``kwire[arrow]`` and numpy. Raises the same errors as ``send_many``.
        Also raises ``ValueError`` if the table does not have a column, ``TypeError`` if
        a column has an unsuitable type, and ``EncodeError`` with the column's name if
        its Arrow data is invalid or a value cannot be converted to the required type.
        Raises ``EncodeError`` without a name if ``table`` cannot be converted.
        """
        self._check_sending()
        columns = TableColumns(
            table,
            key=key,
            value=value,
            headers=headers,
            timestamp=timestamp,
            partition=partition,
        )
        machine, runner, info = await self._open(topic)
        batcher = TableBatcher(
            machine, info, partition, now_ms(), is_background=not wait
        )
        try:
            for piece in columns.pieces():
                batcher.begin(piece)
                while batcher.fill(runner.now()):
                    await runner.pass_turn()
                    if not machine.has_room():
                        batcher.give_way(runner.now())
                        await runner.wait(machine.has_room)
        except BaseException:
            batcher.abandon()
            raise
        batcher.finish(runner.now())
        acknowledgement = Awaited(batcher.batches)
        if wait:
            await runner.wait(acknowledgement.is_over)
            return acknowledgement.receipts()
        # Wait until all batches are in flight. Otherwise they would remain unsent until
        # the next call, because a blocking producer works only during calls.
        await runner.wait(acknowledgement.is_sent)
        if failure := machine.take_background_failure():
            raise failure
        return []

    def transaction(self) -> T:
        """Return a new transaction, which is a context manager.

        Records written within its block are committed or aborted together.
        A producer can have one open transaction at a time. Raises ``ValueError`` if the
        producer has no ``transactional_id``, and at the start of the block if another
        transaction is open.
        """
        self._check_transactional()
        return self._transaction_class(self._init_transactions)

    def metrics(self) -> dict[str, Any]:
        """Return the current metrics as numbers by name.

        The reference documentation describes each name. All numbers are 0 before the
        first connection. After ``close``, they no longer change. This method may be
        called from any thread.
        """
        if self._last_metrics is not None:
            return dict(self._last_metrics)
        machine, runner = self._machine, self._runner
        if machine is None or runner is None:
            return empty_snapshot(PRODUCER_SNAPSHOT)
        return machine.read_metrics(runner.now())

    @operation
    async def flush(self) -> None:
        """Send all accepted records, and wait until they are acknowledged.

        The records are those of ``send`` and of ``send_table`` with ``wait=False``.
        Raises the first failure that no earlier call has raised, usually a
        ``ClusterError``. Raises ``ValueError`` after ``close``.
        """
        self._check_open()
        await self._flush()

    @operation
    async def close(self, *, flush: bool = True) -> None:
        """Flush the producer as ``flush`` does, then close its connections.

        With ``flush=False``, unacknowledged records are dropped, and no failure is
        raised. A second call does nothing. Raises the first failure that no earlier
        call has raised, usually a ``ClusterError``. The connections are closed even if
        a failure is raised.
        """
        await self._close(flush)

    def __repr__(self) -> str:
        cluster = describe_cluster(self._kafka.addresses)
        state = self._describe_state()
        return f"<{type(self).__name__} of {cluster}, {state}>"

    def __del__(self) -> None:
        if self._machine is not None and not self._is_closed:
            warn_unclosed(self)
            if self._runner is not None:
                self._runner.abandon()

    async def _enter(self) -> None:
        if self._options.transactional_id is not None:
            try:
                await self._init_transactions()
            except BaseException:
                # Close here, because Python does not call the exit method if the start
                # of the block raises an error.
                await self._close(flush=False)
                raise

    async def _leave(self, has_failed: bool) -> None:
        await self._close(flush=not has_failed)

    async def _close(self, flush: bool) -> None:
        if self._is_closed:
            return
        try:
            if flush:
                await self._flush()
                await self._push_last_metrics()
        finally:
            self._is_closed = True
            machine, runner = self._machine, self._runner
            if machine is not None and runner is not None:
                machine.close(runner.now())
                self._last_metrics = machine.read_metrics(runner.now())
            self._machine = self._runner = None
            if runner is not None:
                await runner.end()

    async def _push_last_metrics(self) -> None:
        """Push the metrics for the last time if brokers subscribe to them.

        The producer is marked as closed first, so that it accepts no more records while
        this method waits.
        """
        self._is_closed = True
        machine, runner = self._machine, self._runner
        if machine is not None and runner is not None:
            machine.begin_close(runner.now())
            if not machine.is_closable():
                await runner.wait(machine.is_closable)

    async def _flush(self) -> None:
        machine, runner = self._machine, self._runner
        if machine is not None and runner is not None:
            acknowledgement = Awaited(machine.flush(runner.now()))
            await runner.wait(acknowledgement.is_over)
            if failure := machine.take_background_failure():
                raise failure

    async def _open(self, topic: str) -> tuple[ProducerMachine, Runner, TopicInfo]:
        """Wait for a topic's metadata.

        Returns the machine, its runner, and the metadata. Raises ``ClusterError`` if
        the topic does not exist.
        """
        self._check_sending()
        machine, runner = self._connect()
        machine.want_topic(topic, runner.now())
        await runner.wait(partial(machine.is_settled, topic))
        info = machine.topic(topic)
        assert info is not None, "a topic that is settled is known, or raises"
        return machine, runner, info

    async def _init_transactions(self) -> tuple[ProducerMachine, Runner]:
        """Fence older producers of the transactional id, unless this was done before.

        Returns the machine and its runner.
        """
        self._check_transactional()
        machine, runner = self._connect()
        transactions = machine.transactions
        assert transactions is not None
        await runner.wait(
            lambda: transactions.is_settled or machine.failure is not None
        )
        if machine.failure is not None:
            raise machine.failure
        return machine, runner

    def _connect(self) -> tuple[ProducerMachine, Runner]:
        """Return the machine and its runner. The first call creates them."""
        self._check_open()
        if self._machine is None or self._runner is None:
            self._machine, self._runner = self._start(
                self._make_machine, self._kafka.network
            )
        return self._machine, self._runner

    def _make_machine(self, now: float) -> ProducerMachine:
        self._kafka.note_connection()
        keep_freed_memory(_KEPT_BYTES)
        machine = ProducerMachine(
            self._kafka.addresses,
            self._kafka.settings,
            self._options,
            now=now,
            random=Random(),
            on_receipt=self._on_receipt,
        )
        self._stages = machine.lingering.stages
        return machine

    def _pass_record(
        self,
        machine: ProducerMachine,
        topic: TopicInfo,
        partition: int | None,
        row: tuple[Any, Any, int, Headers],
        now: float,
    ) -> bool:
        """Pass one record to the machine.

        Returns whether the machine must be advanced.
        """
        if partition is not None:
            check_partition(topic, partition)
        elif self._options.partitioner is not None:
            # Call the partitioner now instead of with the batch, so that the caller of
            # ``send`` gets its errors.
            partition = choose_by_key(machine, topic, row[0])
        return machine.send(topic, partition, row, now)

    def note_fork(self) -> None:
        """Drop the machine in this child process.

        Its records belong to the parent process, which sends them.
        """
        super().note_fork()
        self._machine = self._runner = None
        self._stages = {}

    def _check_open(self) -> None:
        self.check_process()
        if self._is_closed:
            raise ValueError("the producer is closed; make another")

    def _check_transactional(self) -> None:
        if self._options.transactional_id is None:
            raise ValueError(
                "a transaction requires a transactional_id: pass it to producer()"
            )

    def _check_sending(self) -> None:
        """Raise ``ValueError`` if the producer cannot accept records now.

        It is closed, or it has a ``transactional_id`` and no transaction is open.
        """
        self._check_open()
        machine = self._machine
        if self._options.transactional_id is None or (machine and machine.failure):
            return
        transactions = None if machine is None else machine.transactions
        if transactions is None or transactions.is_over:
            raise ValueError(
                "records of a producer with a transactional_id belong to transactions:"
                " send them within producer.transaction()"
            )

    def _describe_state(self) -> str:
        if self._is_closed:
            return "closed"
        if self._machine is None:
            return "not started"
        topics = describe_names(sorted(self._machine.topic_names)) or "no topic yet"
        state = "all" if self._machine.is_idle() else "not all"
        return f"{topics}, {state} records acknowledged"


@advise_on_attributes("Producer")
class Producer(ProducerBase[Transaction], Asynchronous):
    """Asynchronous producer. ``Kafka.producer`` returns it.

    It is an asynchronous context manager. At the end of its block, it waits until all
    records are acknowledged. After an exception in the block, it drops unacknowledged
    records. With a ``transactional_id``, the start of the block fences older producers
    of this id and aborts their open transactions. Any number of tasks may use the same
    producer.
    """

    _transaction_class = Transaction
    _runner: AsyncRunner | None

    async def send(
        self,
        topic: str,
        *,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: Headers = (),
        timestamp: int | None = None,
        partition: int | None = None,
    ) -> None:
        """Accept one record, and send it later in a batch with other records.

        * ``key``, ``value``: the record's content. The default is null.
        * ``headers``: pairs (name, value).
        * ``timestamp``: milliseconds since 1970. The default is the current time.
        * ``partition``: by default, the partitioner chooses the partition.

        Waits only while ``memory_bytes`` are in use, and for the metadata of a new
        topic. If the record is not acknowledged, the next ``flush`` or ``close`` raises
        the failure. Raises ``EncodeError`` if the record is invalid, and
        ``TopicNotFound`` if the topic or the partition does not exist. Raises another
        ``ClusterError`` if the metadata cannot be requested, or if the producer has
        failed. Raises ``ValueError`` after ``close``, and outside of a transaction if
        the producer has a ``transactional_id``.
        """
        stage = self._stages.get(topic if partition is None else (topic, partition))
        if stage is not None and stage.append_now(key, value, timestamp, headers):
            return
        machine, runner = self._machine, self._runner
        info = None if machine is None else machine.known_topic(topic)
        if info is None or machine is None or runner is None:
            machine, _, info = await self._open(topic)
            runner = self._runner
            assert runner is not None
        now = runner.now()
        row = (key, value, now_ms() if timestamp is None else timestamp, headers)
        if self._pass_record(machine, info, partition, row, now):
            runner.step()
        if machine.has_room():
            # Otherwise, a caller that sends in a loop and never waits would prevent the
            # event loop from reading its sockets.
            await runner.yield_turn()
        else:
            machine.flush(now)
            await runner.wait(machine.has_room)


@advise_on_attributes("Producer")
class ProducerSync(ProducerBase[TransactionSync], Blocking):
    """Producer with blocking calls. ``KafkaSync.producer`` returns it.

    It is a context manager. At the end of its block, it waits until all records are
    acknowledged. After an exception in the block, it drops unacknowledged records. With
    a ``transactional_id``, the start of the block fences older producers of this id and
    aborts their open transactions.

    The producer works only during its calls, in the caller's thread. Records that
    ``send`` has accepted are sent when a batch is full, by the first call after
    ``linger_s``, and by ``flush``.
    """

    _transaction_class = TransactionSync
    _runner: BlockingRunner | None

    # Wall clock times in ms since 1970. ``_polled_ms`` is the time at which ``send``
    # last ran the machine, and ``_poll_ms`` the time at which it must run it again.
    _polled_ms = _poll_ms = 1

    def send(
        self,
        topic: str,
        *,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: Headers = (),
        timestamp: int | None = None,
        partition: int | None = None,
    ) -> None:
        """Accept one record, and send it later in a batch with other records.

        * ``key``, ``value``: the record's content. The default is null.
        * ``headers``: pairs (name, value).
        * ``timestamp``: milliseconds since 1970. The default is the current time.
        * ``partition``: by default, the partitioner chooses the partition.

        Waits only while ``memory_bytes`` are in use, and for the metadata of a new
        topic. If the record is not acknowledged, the next ``flush`` or ``close`` raises
        the failure. Raises ``EncodeError`` if the record is invalid, and
        ``TopicNotFound`` if the topic or the partition does not exist. Raises another
        ``ClusterError`` if the metadata cannot be requested, or if the producer has
        failed. Raises ``ValueError`` after ``close``, and outside of a transaction if
        the producer has a ``transactional_id``.
        """
        stage = self._stages.get(topic if partition is None else (topic, partition))
        taken_ms = (
            0 if stage is None else stage.append_now(key, value, timestamp, headers)
        )
        # The wall clock can be set back. Therefore, run the machine also if the current
        # time is before the last run.
        if self._polled_ms <= taken_ms < self._poll_ms:
            return
        machine, runner = self._machine, self._runner
        info = None if machine is None else machine.known_topic(topic)
        if info is None or machine is None or runner is None:
            machine, _, info = run_blocking(self._open(topic))
            runner = self._runner
            assert runner is not None
        now = runner.now()
        if not taken_ms:
            taken_ms = now_ms()
            row = (key, value, taken_ms if timestamp is None else timestamp, headers)
            self._pass_record(machine, info, partition, row, now)
        runner.poll()
        self._polled_ms = taken_ms
        self._poll_ms = taken_ms + int(self._options.linger_s * 1000)
        if not machine.has_room():
            machine.flush(now)
            runner.run_until(machine.has_room)


def keep_freed_memory(size: int) -> None:
    """Make glibc keep freed blocks of up to ``size`` bytes for later allocations.

    glibc maps new pages for every block above a threshold, and returns free memory at
    the end of the heap to the system above another threshold. Both thresholds grow with
    the largest mapped block that was ever freed. This function allocates and frees such
    a block, whose pages are never touched. Without it, a third of the time for batches
    with large values is spent in the kernel, on zeroed pages. Other allocators are
    unaffected.
    """
    bytes(size)


def now_ms() -> int:
    """Return the wall clock time in ms, for records without a timestamp."""
    return time.time_ns() // 1_000_000


def take_records(
    records: Iterable[RecordLike], batcher: RecordBatcher, max_bytes: int
) -> Iterator[Any]:
    """Iterate over ``records`` in lists of increasing length.

    The caller must add a list to ``batcher`` before it requests the next list, because
    this function uses the batcher to measure the size of the records. The first list
    has one record. The length then doubles up to ``MAX_RECORDS_AT_ONCE``. It is limited
    so that records with the measured size use about one eighth of ``max_bytes``.

    Raises ``TypeError`` if ``records`` is not iterable.
    """
    if not isinstance(records, Iterable):
        raise TypeError(
            "records must be an iterable of tuples (key, value), or of records"
            f" (got {type(records).__name__})"
        )
    start, count, share = 0, 1, max_bytes // _SHARE
    iterator = None if isinstance(records, (list, tuple)) else iter(records)
    while chosen := (
        records[start : start + count]  # type: ignore[index]
        if iterator is None
        else list(islice(iterator, count))
    ):
        before = batcher.taken_bytes
        yield chosen
        start += len(chosen)
        size = max(batcher.taken_bytes - before, 1)
        count = min(2 * count, MAX_RECORDS_AT_ONCE, max(share * len(chosen) // size, 1))


class Awaited:
    """Batches of one call, and whether they are acknowledged or have failed."""

    def __init__(self, batches: Iterable[PendingBatch]) -> None:
        self._batches = list(batches)
        self._waiting = deque(self._batches)

    def is_over(self) -> bool:
        """Whether every batch is acknowledged or has failed."""
        while self._waiting and self._waiting[0].is_over:
            self._waiting.popleft()
        return not self._waiting

    def is_sent(self) -> bool:
        """Whether every batch is in flight, is acknowledged or has failed."""
        if self.is_over():
            return True
        leaves = (leaf for batch in self._waiting for leaf in batch.leaves())
        return all(leaf.is_in_flight or leaf.is_over for leaf in leaves)

    def receipts(self) -> list[Receipt]:
        """Return the receipts of all batches.

        If a batch has failed, raises the first failure instead. If the failure is a
        ``ClusterError``, its attribute ``receipts`` has the receipts of the other
        batches.
        """
        leaves = [leaf for batch in self._batches for leaf in batch.leaves()]
        receipts = [leaf.receipt for leaf in leaves if leaf.receipt is not None]
        for leaf in leaves:
            if leaf.failure is not None:
                # Copy the failure before setting its receipts, because several calls
                # share it if it has ended the producer.
                failure = copy(leaf.failure)
                if isinstance(failure, ClusterError):
                    failure.receipts = tuple(receipts)
                raise failure from leaf.failure.__cause__
        return receipts
