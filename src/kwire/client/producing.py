# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What the blocking and the asyncio producer have in common: options and rows."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from copy import copy
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from .._engine.active import record_engine as engine
from ..records import BatchBuilder, partitioners
from .descriptions import describe_cluster, describe_names, warn_unclosed
from .machines import (
    ClusterError,
    ProducerMachine,
    ProducerOptions,
    check_partition,
    choose_by_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..records import Headers, RecordLike
    from .machines import (
        PendingBatch,
        Receipt,
        RecordBatcher,
        TopicInfo,
    )
    from .machines.produce.lingering_records import Stage
    from .machines.produce.options import Partitioner
    from .runners.protocols import ClusterAccess

ROWS_AT_ONCE = 1000
"""How many rows are taken at most before the limit of memory is looked at again."""

_SHARE = 8
"""The rows that are taken at once have about one in so many of ``memory_bytes``."""

_KEPT_BYTES = 8 << 20
"""More than the batches and the request have that are encoded at one time."""

# No dict: a partitioner may be a callable that has no hash.
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
    linger_ms: float,
    batch_bytes: int,
    request_bytes: int,
    memory_bytes: int,
    delivery_timeout_s: float,
    partitioner: Partitioner | Callable[[Any], int] | None,
    transactional_id: str | None,
    transaction_timeout_s: float,
) -> ProducerOptions:
    """Read the arguments of ``producer``; ``ValueError`` names one that is wrong."""
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
    for name, number in (
        ("transaction_timeout_s", transaction_timeout_s),
        ("batch_bytes", batch_bytes),
        ("request_bytes", request_bytes),
        ("memory_bytes", memory_bytes),
        ("delivery_timeout_s", delivery_timeout_s),
    ):
        if number <= 0:
            raise ValueError(f"{name} must be positive (got {number})")
    if linger_ms < 0:
        raise ValueError(f"linger_ms must not be negative (got {linger_ms})")
    if partitioner is not None and not callable(partitioner):
        raise TypeError(
            "partitioner must be a function of kwire.records.partitioners, or of key,"
            " all partitions and available partitions (got"
            f" {type(partitioner).__name__})"
        )
    # Refuses a compression or a level that there is not.
    BatchBuilder(
        batch_bytes, compression=compression, compression_level=compression_level
    )
    hash = next((n for known, n in _HASHES if known is partitioner), None)
    return ProducerOptions(
        compression=compression,
        compression_level=compression_level,
        acks=-1 if is_for_all else acks,  # type: ignore[arg-type]
        is_idempotent=idempotent,
        linger_s=linger_ms / 1000,
        max_batch_bytes=batch_bytes,
        max_request_bytes=request_bytes,
        memory_bytes=memory_bytes,
        delivery_timeout_s=delivery_timeout_s,
        hash=engine.MURMUR2 if hash is None else hash,
        partitioner=partitioner if hash is None else None,  # type: ignore[arg-type]
        transactional_id=transactional_id,
        transaction_timeout_s=transaction_timeout_s,
    )


class ProducerBase:
    """A producer that has not begun: its options, and how rows become batches."""

    _machine: ProducerMachine | None = None
    _is_closed = False

    def __init__(
        self,
        kafka: ClusterAccess,
        options: ProducerOptions,
        on_receipt: Callable[[Receipt], None] | None,
    ) -> None:
        self._kafka = kafka
        self._options = options
        self._on_receipt = on_receipt
        # What most calls of ``append`` need: those of the machine.
        self._stages: Mapping[Any, Stage] = {}

    def _begin(self, now: float) -> ProducerMachine:
        self._kafka.has_connected = True
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

    def __repr__(self) -> str:
        cluster = describe_cluster(self._kafka.addresses)
        state = self._describe_state()
        return f"<{type(self).__name__} of {cluster}, {state}>"

    def _describe_state(self) -> str:
        if self._is_closed:
            return "closed"
        if self._machine is None:
            return "not started"
        topics = describe_names(sorted(self._machine.topic_names)) or "no topic yet"
        state = "all" if self._machine.is_idle() else "not all"
        return f"{topics}, {state} records acknowledged"

    def __del__(self) -> None:
        if self._machine is not None and not self._is_closed:
            warn_unclosed(self)
            self._abandon()

    def _abandon(self) -> None:
        """Close the connections of a producer that has no owner left."""
        raise NotImplementedError

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("the producer is closed; make another")

    def _check_sending(self) -> None:
        """Refuse records outside of a transaction, where they need one."""
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

    def _put(
        self,
        machine: ProducerMachine,
        topic: TopicInfo,
        partition: int | None,
        row: tuple[Any, Any, int, Headers],
        now: float,
    ) -> bool:
        """Append one record to the machine; return whether there is more to do."""
        if partition is not None:
            check_partition(topic, partition)
        elif self._options.partitioner is not None:
            # Called here, where the caller sees what it raises.
            partition = choose_by_key(machine, topic, row[0])
        return machine.send(topic, partition, row, now)


def keep_freed_memory(size: int) -> None:
    """Have freed blocks of up to ``size`` bytes kept for the next, if this is glibc.

    It maps fresh pages for each block above a threshold, and returns the end of the
    heap beyond another. Both follow the largest block that was ever freed: this one,
    of which no page is touched. Without it, zeroed pages are a third of the time that
    batches of large values take.
    """
    bytes(size)


def now_ms() -> int:
    """Return the time of the wall clock, for records without a timestamp."""
    return time.time_ns() // 1_000_000


def take_rows(
    rows: Iterable[RecordLike], sender: RecordBatcher, most: int
) -> Iterator[Any]:
    """Iterate over lists of rows, which the caller gives to ``sender``.

    There is one row in the first list, and more in the next while ``sender`` has not
    got more than its share of ``most`` bytes from a list.
    """
    if not isinstance(rows, Iterable):
        raise TypeError(
            "rows must be tuples of key and value, or records"
            f" (got {type(rows).__name__})"
        )
    start, count, share = 0, 1, most // _SHARE
    iterator = None if isinstance(rows, (list, tuple)) else iter(rows)
    while chosen := (
        rows[start : start + count]  # type: ignore[index]
        if iterator is None
        else list(islice(iterator, count))
    ):
        before = sender.taken_bytes
        yield chosen
        start += len(chosen)
        size = max(sender.taken_bytes - before, 1)
        count = min(2 * count, ROWS_AT_ONCE, max(share * len(chosen) // size, 1))


class Awaited:
    """The batches of one call, until all of them are over."""

    def __init__(self, batches: Iterable[PendingBatch]) -> None:
        self._batches = list(batches)
        self._waiting = deque(self._batches)

    def is_over(self) -> bool:
        """Whether no batch is left to wait for."""
        while self._waiting and self._waiting[0].is_over:
            self._waiting.popleft()
        return not self._waiting

    def is_sent(self) -> bool:
        """Whether each batch is over, or on its way to its broker."""
        if self.is_over():
            return True
        leaves = (leaf for batch in self._waiting for leaf in batch.leaves())
        return all(leaf.is_in_flight or leaf.is_over for leaf in leaves)

    def receipts(self) -> list[Receipt]:
        """Return the receipts; raises the first failure, with the receipts in it."""
        leaves = [leaf for batch in self._batches for leaf in batch.leaves()]
        receipts = [leaf.receipt for leaf in leaves if leaf.receipt is not None]
        for leaf in leaves:
            if leaf.failure is not None:
                # What ends a producer is the failure of other calls too.
                failure = copy(leaf.failure)
                if isinstance(failure, ClusterError):
                    failure.receipts = tuple(receipts)
                raise failure from leaf.failure.__cause__
        return receipts
