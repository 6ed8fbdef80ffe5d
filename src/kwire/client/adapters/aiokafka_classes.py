# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Replacements for aiokafka's decoder, and a faster way to get one record.

``PartitionRecords`` gets records from ``_unpack_records``, a generator that keeps the
position and aborted producers in attributes. The replacement does the same with runs of
decoded batches. Therefore, the client's code still handles events between two records:
seek, pause, or a deserializer exception. The record objects of a run are created
together, and the deserializers are called when a record is returned.

``getone`` and ``async for`` call five layers per record. If the next record has been
fetched, the replacement returns it from the client's queue after the same checks. It
contains the code of the client's properties inline, because calling them would need
most of the time. ``FetchResult.getall`` returns all records of a partition for
``getmany``.
"""

from __future__ import annotations

from itertools import islice, starmap
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from .adapter import Replacement
from .runs import RunReader, find_codecs, read_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ...records import Record

LEAST_BYTES = 1024
"""Minimum size of a response in bytes. The client decodes smaller responses, because
starting a run would take longer than decoding a few records.
"""


def make_replacements() -> list[Replacement]:
    """Return the replacements for the installed version of aiokafka."""
    from aiokafka import codec
    from aiokafka.consumer import consumer, fetcher

    client_class = fetcher.PartitionRecords
    namespace = {
        "_fetcher_module": fetcher,
        "_codecs": find_codecs(codec),
        "__qualname__": client_class.__qualname__,
        "__module__": client_class.__module__,
    }
    fast_class = type(
        client_class.__name__, (FastPartitionRecords, client_class), namespace
    )
    replacements = [
        Replacement(fetcher, "MemoryRecords", make_reader(fetcher.MemoryRecords)),
        Replacement(fetcher, "PartitionRecords", fast_class),
    ]
    result = fetcher.FetchResult
    replacements.append(
        Replacement(result, "getall", make_getall(result.getall, fast_class))
    )
    methods = consumer.AIOKafkaConsumer
    # Tracing libraries also replace getone. Do not overwrite their replacement.
    if getattr(methods.getone, "__module__", None) == consumer.__name__:
        for name in ("getone", "__anext__"):
            own_method = getattr(methods, name)
            short = make_getone(own_method, result, fast_class)
            replacements.append(Replacement(methods, name, short))
    return replacements


class AbortedTransaction(NamedTuple):
    """Aborted transaction, converted from the client's tuple for ``RunReader``."""

    producer_id: int
    first_offset: int


def make_reader(memory_records: Any) -> Any:
    """Return the replacement for the client's ``MemoryRecords``."""

    def read(data: Any) -> Any:
        client_records = memory_records(data)
        return (
            client_records
            if len(data) < LEAST_BYTES
            else FetchedBytes(data, client_records)
        )

    return read


class FetchedBytes:
    """The client's ``MemoryRecords``, with access to their bytes."""

    def __init__(self, data: Any, own: Any) -> None:
        self.data = data
        self.has_next = own.has_next
        self.next_batch = own.next_batch
        self.size_in_bytes = own.size_in_bytes


if TYPE_CHECKING:

    class _Own:
        """Attributes of the client's class that the replacement uses."""

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
    """Subclass of the client's class. It returns records that kwire has decoded."""

    _fetcher_module: Any
    _codecs: Mapping[int, Callable[[bytes], bytes]]
    # Remaining records of the current run, before deserialization.
    _made: Iterator[Any] = iter(())

    def take_records(self, count: int | None) -> list[Any]:
        """Return the next ``count`` records, or all remaining records if it is None."""
        iterator = self._records_iterator
        assert iterator is not None, "there is one until all records are taken"
        if self._key_deserializer or self._value_deserializer:
            return list(islice(iterator, count))
        records: list[Any] = []
        while count is None or len(records) < count:
            # If no record of the current run remains, this starts the next run.
            record = next(iterator, None)
            if record is None:
                break
            records.append(record)
            records += islice(
                self._made, None if count is None else count - len(records)
            )
            if records[-1] is not record:
                self.next_fetch_offset = records[-1].offset + 1
        return records

    def _unpack_records(self) -> Iterator[Any]:
        fetched = self._records
        if type(fetched) is FetchedBytes:
            return self._unpack_runs(fetched)
        return super()._unpack_records()

    def _unpack_runs(self, fetched: FetchedBytes) -> Iterator[Any]:
        aborted = None
        if self._isolation_level == 1:
            aborted = starmap(AbortedTransaction, self._aborted_transactions)
        reader = RunReader(
            fetched.data,
            self.next_fetch_offset,
            self._check_crcs,
            aborted,
            self._codecs,
        )
        key_deserializer = self._key_deserializer
        value_deserializer = self._value_deserializer
        is_deserialized = bool(key_deserializer or value_deserializer)
        for rows, header, next_offset, is_gapless in reader:
            self._made = records = self._make_records(rows, header.timestamp_type)
            for record in records:
                if is_deserialized:
                    if is_gapless and record.offset > header.base_offset:
                        # Skip the omitted batches before this record now, as the client
                        # does, because a deserializer may raise an exception.
                        self.next_fetch_offset = record.offset
                    if key_deserializer:
                        record.key = key_deserializer(record.key)
                    if value_deserializer:
                        record.value = value_deserializer(record.value)
                self.next_fetch_offset = record.offset + 1
                yield record
            self.next_fetch_offset = next_offset
        if reader.rest is not None:
            for header, is_abort in read_batches(fetched.data, reader.rest):
                fetched.next_batch()
                if aborted is not None:
                    self._consume_aborted_up_to(header.base_offset)
                    if is_abort:
                        self._aborted_producers.discard(header.producer_id)
            yield from super()._unpack_records()

    def _make_records(self, rows: list[Record], timestamp_type: int) -> Iterator[Any]:
        """Convert the records of a run to the client's record class.

        Records before ``next_fetch_offset`` are omitted.
        """
        next_fetch_offset = self.next_fetch_offset
        topic, partition = self._tp
        record_class = self._fetcher_module.ConsumerRecord
        new = record_class.__new__
        records = []
        for row in rows:
            offset = row.offset
            if offset < next_fetch_offset:
                continue
            key, value = row.key, row.value
            # Set the attributes directly, because __init__ would take longer than
            # decoding the record.
            record = new(record_class)
            record.topic = topic
            record.partition = partition
            record.offset = offset
            record.timestamp = row.timestamp
            record.timestamp_type = timestamp_type
            record.key = key
            record.value = value
            record.checksum = None
            record.serialized_key_size = -1 if key is None else len(key)
            record.serialized_value_size = -1 if value is None else len(value)
            record.headers = row.headers
            records.append(record)
        return iter(records)


def make_getall(own: Any, fast_class: Any) -> Any:
    """Return a ``FetchResult.getall`` that does not iterate over single records."""

    def getall(self: Any, max_records: int | None = None) -> Any:
        part = self._partition_records
        if type(part) is not fast_class or part._records_iterator is None:
            return own(self, max_records)
        if not self.check_assignment(self._topic_partition):
            return []
        records = part.take_records(max_records)
        self._update_position()
        if max_records is None or len(records) < max_records:
            self._partition_records = None
        return records

    return _rename(getall, own)


def make_getone(own: Any, result_class: Any, fast_class: Any) -> Any:
    """Return a method that returns a fetched record immediately, or calls ``own``."""

    async def getone(self: Any, *partitions: Any) -> Any:
        fetcher, subscription = self._fetcher, self._subscription
        fetched = fetcher._records
        if (
            partitions
            or not fetched
            or self._closed
            or fetcher._closed
            or subscription._subscription is None
            or subscription._subscription._reassignment_in_progress
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
        is_active = not assignment.unassign_future.done()
        state = assignment._tp_state.get(tp) if is_active else None
        if (
            state is None
            or type(part) is not fast_class
            or state._paused
            or state._position != part.next_fetch_offset
        ):
            return await own(self)
        record = next(part._records_iterator or part, None)
        # A partition with a position is being consumed. This is the only condition that
        # aiokafka's ``consumed_to`` checks, so the attribute can be set directly.
        state._position = part.next_fetch_offset
        if record is None:
            # All records have been returned, so the client may fetch the partition
            # again.
            result._partition_records = None
            del fetched[tp]
            fetcher._notify(fetcher._wait_consume_future)
            return await own(self)
        if not subscription._fetch_count:
            subscription._last_fetch_ended = monotonic()
        return record

    return _rename(getone, own)


def _rename(made: Any, own: Any) -> Any:
    """Give a replacement the name and the docstring of the replaced function."""
    made.__doc__ = own.__doc__
    made.__module__ = own.__module__
    made.__name__ = own.__name__
    made.__qualname__ = own.__qualname__
    return made
