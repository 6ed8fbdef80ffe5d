# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Replacement for kafka-python's decoder, which is a generator.

``Fetcher.PartitionRecords`` gets records from ``_unpack_records``, a generator that
keeps positions, sizes and aborted producers in attributes. The replacement does the
same with runs of decoded batches. Therefore, the client's code still handles events
between two records: seek, pause, or a deserializer exception.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .adapter import Replacement
from .runs import RunReader, find_codecs, read_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ...records import BatchHeader, Record
    from ...records.classes import AbortedTransaction

LEAST_BODY = 6
"""Minimum size in bytes of a record without its key, value and headers."""


def make_replacements() -> list[Replacement]:
    """Return the replacements for the installed version of kafka-python."""
    import kafka
    from kafka import codec
    from kafka.consumer import fetcher

    client_class = fetcher.Fetcher.PartitionRecords
    namespace = {
        "_fetcher_module": fetcher,
        "_codecs": find_codecs(codec),
        "_gives_headers": int(kafka.__version__.partition(".")[0]) >= 3,
        "__qualname__": client_class.__qualname__,
        "__module__": client_class.__module__,
    }
    fast_class = type(
        client_class.__name__, (FastPartitionRecords, client_class), namespace
    )
    return [Replacement(fetcher.Fetcher, "PartitionRecords", fast_class)]


if TYPE_CHECKING:

    class _Own:
        """Attributes of the client's class that the replacement uses."""

        topic_partition: Any
        leader_epoch: int
        next_fetch_offset: int
        bytes_read: int
        records_read: int
        isolation_level: int
        aborted_transactions: Iterable[AbortedTransaction]
        aborted_producer_ids: set[int]
        check_crcs: bool
        fetch_offset: int

        def drain(self) -> None: ...
        def _unpack_records(self, *arguments: Any) -> Iterator[Any]: ...
        def _deserialize(self, *arguments: Any) -> Any: ...
        def _consume_aborted_transactions_up_to(self, offset: int) -> None: ...
else:
    _Own = object


class FastPartitionRecords(_Own):
    """Subclass of the client's class. It returns records that kwire has decoded."""

    _fetcher_module: Any
    _codecs: Mapping[int, Callable[[bytes], bytes]]
    _gives_headers: bool

    def _unpack_records(
        self, tp: Any, records: Any, key_deserializer: Any, value_deserializer: Any
    ) -> Iterator[Any]:
        client = self._fetcher_module
        if type(records) is not client.MemoryRecords:
            yield from super()._unpack_records(
                tp, records, key_deserializer, value_deserializer
            )
            return
        data = records._buffer
        aborted = self.aborted_transactions if self.isolation_level == 1 else None
        reader = RunReader(
            data, self.fetch_offset, self.check_crcs, aborted, self._codecs
        )
        is_deserialized = key_deserializer is not None or value_deserializer is not None
        end_offset = self.next_fetch_offset
        is_before_start = True
        topic, partition = tp
        record_class, new = client.ConsumerRecord, tuple.__new__
        for rows, header, next_offset, is_gapless in reader:
            epoch = self.leader_epoch = header.partition_leader_epoch
            timestamp_type = header.timestamp_type
            hidden_count = 0
            if is_before_start:
                # The client deserializes the records before the requested offset and
                # drops them. Drop them before deserialization instead.
                hidden_count = _count_before(rows, self.fetch_offset)
                is_before_start = hidden_count == len(rows)
                if hidden_count:
                    self.next_fetch_offset = rows[hidden_count - 1].offset + 1
            for row in rows[hidden_count:]:
                offset = row.offset
                key = raw_key = row.key
                value = raw_value = row.value
                headers = list(row.headers)
                size = LEAST_BODY
                key_size = value_size = header_size = -1
                if is_deserialized and is_gapless and offset > header.base_offset:
                    # Skip the hidden batches before this record now, as the client
                    # does, because a deserializer may raise an exception.
                    self.next_fetch_offset = offset
                if raw_key is not None:
                    size += (key_size := len(raw_key))
                if raw_value is not None:
                    size += (value_size := len(raw_value))
                if headers:
                    size += (header_size := _sum_sizes(headers))
                if key_deserializer is not None:
                    key = self._apply(key_deserializer, topic, headers, raw_key)
                if value_deserializer is not None:
                    value = self._apply(value_deserializer, topic, headers, raw_value)
                self.records_read += 1
                self.bytes_read += size
                self.next_fetch_offset = offset + 1
                yield new(
                    record_class,
                    (
                        topic,
                        partition,
                        epoch,
                        offset,
                        row.timestamp,
                        timestamp_type,
                        key,
                        value,
                        headers,
                        None,
                        key_size,
                        value_size,
                        header_size,
                    ),
                )
            end_offset = next_offset
            if is_gapless or header.is_control or (header.record_count and not rows):
                # The client passes hidden batches immediately, and the end of any other
                # batch when it reaches the end of the fetched bytes.
                self.next_fetch_offset = next_offset
        if reader.rest is None:
            self.next_fetch_offset = end_offset
            self.drain()
            return
        for header, is_abort in read_batches(data, reader.rest):
            records.next_batch()
            if aborted is not None:
                self._show_transaction(header, is_abort)
        if not records.has_next():
            self.next_fetch_offset = end_offset
        yield from super()._unpack_records(
            tp, records, key_deserializer, value_deserializer
        )

    def _apply(self, deserializer: Any, topic: str, headers: Any, data: Any) -> Any:
        if self._gives_headers:
            return self._deserialize(deserializer, topic, headers, data)
        return self._deserialize(deserializer, topic, data)

    def _show_transaction(self, header: BatchHeader, is_abort: bool) -> None:
        """Update the client's set of aborted producers after a batch."""
        if header.producer_id >= 0:
            self._consume_aborted_transactions_up_to(header.last_offset)
            if is_abort:
                self.aborted_producer_ids.discard(header.producer_id)


def _count_before(rows: list[Record], offset: int) -> int:
    """Count the rows at the beginning whose offsets are less than ``offset``."""
    for index, row in enumerate(rows):
        if row.offset >= offset:
            return index
    return len(rows)


def _sum_sizes(headers: list[tuple[str, bytes | None]]) -> int:
    return sum(len(key.encode()) + len(value or b"") for key, value in headers)
