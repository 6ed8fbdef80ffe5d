# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What takes the place of aiokafka's decoder, and the short way to one record.

``PartitionRecords`` takes records from ``_unpack_records``, which yields one at a time
and keeps the position and aborted producers in attributes. The generator here does the
same with runs of decoded batches, so whatever is decided between two records (seek,
pause, a deserializer that raises) is decided by the client's code.

``getone`` and ``async for`` go through five layers for each record. If the next record
has been fetched, the method here takes it from the client's queue, with the same
checks. ``FetchResult.getall`` takes all of a partition for ``getmany``.
"""

from __future__ import annotations

import time
from itertools import islice, starmap
from typing import TYPE_CHECKING, Any, NamedTuple

from ..records import TransactionFilter
from .adapter import Replacement
from .runs import RunReader, read_filtered_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def make_replacements() -> list[Replacement]:
    """List what the adapter replaces in the version of aiokafka that is there."""
    from aiokafka.consumer import consumer, fetcher

    own = fetcher.PartitionRecords
    namespace = {
        "_fetcher_module": fetcher,
        "_memory_records": fetcher.MemoryRecords,
        "__qualname__": own.__qualname__,
        "__module__": own.__module__,
    }
    made = type(own.__name__, (FastPartitionRecords, own), namespace)
    fetched = type("Fetched", (FetchedBytes,), {"_own": fetcher.MemoryRecords})
    replacements = [
        Replacement(fetcher, "MemoryRecords", fetched),
        Replacement(fetcher, "PartitionRecords", made),
    ]
    result = fetcher.FetchResult
    replacements.append(Replacement(result, "getall", make_getall(result.getall, made)))
    methods = consumer.AIOKafkaConsumer
    # Tracing libraries replace getone too; theirs has to stay.
    if getattr(methods.getone, "__module__", None) == consumer.__name__:
        for name in ("getone", "__anext__"):
            own_method = getattr(methods, name)
            short = make_getone(own_method, result, made)
            replacements.append(Replacement(methods, name, short))
    return replacements


class AbortedTransaction(NamedTuple):
    """An aborted transaction, as the client has it."""

    producer_id: int
    first_offset: int


class FetchedBytes:
    """The client's ``MemoryRecords``, which hides its bytes, together with them."""

    _own: Any

    def __init__(self, data: Any) -> None:
        own = self._own(data)
        self.data = data
        self.has_next = own.has_next
        self.next_batch = own.next_batch
        self.size_in_bytes = own.size_in_bytes


if TYPE_CHECKING:

    class _Own:
        """What is used of the client's class."""

        next_fetch_offset: int
        _tp: Any
        _records: Any
        _records_iterator: Iterator[Any] | None
        _aborted_transactions: list[tuple[int, int]]
        _aborted_producers: set[int]
        _key_deserializer: Callable[[Any], Any] | None
        _value_deserializer: Callable[[Any], Any] | None
        _check_crcs: bool
        _isolation_level: int

        def _unpack_records(self) -> Iterator[Any]: ...
        def _consume_aborted_up_to(self, batch_offset: int) -> None: ...
else:
    _Own = object


class FastPartitionRecords(_Own):
    """The client's class, with records that kwire decoded."""

    _fetcher_module: Any
    _memory_records: Any

    def _unpack_records(self) -> Iterator[Any]:
        if not isinstance(self._records, FetchedBytes):
            yield from super()._unpack_records()
            return
        data = self._records.data
        transactions = None
        if self._isolation_level == 1:
            aborted = starmap(AbortedTransaction, self._aborted_transactions)
            transactions = TransactionFilter(aborted)
        reader = RunReader(data, self.next_fetch_offset, self._check_crcs, transactions)
        topic, partition = self._tp
        key_deserializer = self._key_deserializer
        value_deserializer = self._value_deserializer
        record_class = self._fetcher_module.ConsumerRecord
        new = record_class.__new__
        for rows, header, next_offset in reader:
            timestamp_type = header.timestamp_type
            for row in rows:
                key, value = row.key, row.value
                # One by one: __init__ would take longer than all of the decoding.
                record = new(record_class)
                record.topic = topic
                record.partition = partition
                record.offset = offset = row.offset
                record.timestamp = row.timestamp
                record.timestamp_type = timestamp_type
                record.key = key_deserializer(key) if key_deserializer else key
                record.value = (
                    value_deserializer(value) if value_deserializer else value
                )
                record.checksum = None
                record.serialized_key_size = -1 if key is None else len(key)
                record.serialized_value_size = -1 if value is None else len(value)
                record.headers = row.headers
                self.next_fetch_offset = offset + 1
                yield record
            self.next_fetch_offset = next_offset
        if reader.rest is not None:
            if transactions is not None:
                self._show_transactions(data, reader.rest)
            self._records = self._memory_records(data[reader.rest :])
            yield from super()._unpack_records()

    def _show_transactions(self, data: bytes, end: int) -> None:
        """Let the client know the aborted producers after what kwire decoded."""
        for header, is_abort in read_filtered_batches(data, end):
            self._consume_aborted_up_to(header.base_offset)
            if is_abort:
                self._aborted_producers.discard(header.producer_id)


def make_getall(own: Any, fast_class: Any) -> Any:
    """Make a ``FetchResult.getall`` that takes records without a step for each."""

    def getall(self: Any, max_records: int | None = None) -> Any:
        part = self._partition_records
        if type(part) is not fast_class or part._records_iterator is None:
            return own(self, max_records)
        if not self.check_assignment(self._topic_partition):
            return []
        records = list(islice(part._records_iterator, max_records))
        self._update_position()
        if max_records is None or len(records) < max_records:
            self._partition_records = None
        return records

    return _rename(getall, own)


def make_getone(own: Any, result_class: Any, fast_class: Any) -> Any:
    """Make a method that returns a fetched record at once, or calls ``own``."""

    async def getone(self: Any, *partitions: Any) -> Any:
        fetcher, subscription = self._fetcher, self._subscription
        fetched = fetcher._records
        if (
            partitions
            or not fetched
            or self._closed
            or fetcher._closed
            or subscription.reassignment_in_progress
        ):
            return await own(self, *partitions)
        self._coordinator.check_errors()
        for tp in fetched:  # noqa: B007
            break
        result = fetched[tp]
        if type(result) is not result_class:
            return await own(self)
        part = result._partition_records
        assignment = result._assignment
        state = assignment.state_value(tp) if assignment.active else None
        if (
            state is None
            or type(part) is not fast_class
            or state.paused
            or state.position != part.next_fetch_offset
        ):
            return await own(self)
        record = next(part._records_iterator or part, None)
        state.consumed_to(part.next_fetch_offset)
        if record is None:
            # All of them are taken: the client may fetch the partition again.
            result._partition_records = None
            del fetched[tp]
            fetcher._notify(fetcher._wait_consume_future)
            return await own(self)
        if not subscription._fetch_count:
            subscription._last_fetch_ended = time.monotonic()
        return record

    return _rename(getone, own)


def _rename(made: Any, own: Any) -> Any:
    """Give a function the name and the docstring of the one that it replaces."""
    made.__doc__ = own.__doc__
    made.__module__ = own.__module__
    made.__name__ = own.__name__
    made.__qualname__ = own.__qualname__
    return made
