# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RecordBatcher``: sorts records into batches of their partitions.

Its base class ``Batcher`` fills and closes the batches. ``client/table_batches.py``
contains the subclass for tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ...._engine.active import record_engine as engine
from ...errors import TopicNotFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..cluster import ClusterMachine
    from ..metadata import TopicInfo
    from .batch_records import BatchContent, BatchRecords
    from .deliveries import Deliveries
    from .options import ProducerOptions
    from .pending_batch import PendingBatch

_POSITIVE = 0x7FFFFFFF


class BatchReceiver(Protocol):
    """Methods of ``ProducerMachine`` that a batcher uses.

    This protocol avoids an import cycle, because ``machine.py`` imports this module.
    """

    cluster: ClusterMachine
    options: ProducerOptions
    deliveries: Deliveries
    new_batch: Callable[[], BatchRecords]

    def choose_partition(self, topic: TopicInfo) -> int:
        """Choose a partition for records without a key."""

    def add_batch(
        self,
        topic: str,
        partition: int,
        content: BatchContent,
        now: float,
        *,
        is_background: bool = False,
        is_lingering: bool = False,
    ) -> PendingBatch:
        """Append a batch to a partition's queue."""


class Batcher:
    """Fills batches, which contain no records from other batchers.

    A subclass accepts records. A batch is passed to the machine when it is full.
    ``finish`` passes the remaining batches, and ``abandon`` drops them. Records that
    may belong to any partition fill a batch of one partition before the next partition
    is chosen.

    * ``batches``: all batches that were passed to the machine. Empty if
      ``is_lingering`` is True, because no caller waits for these batches.
    * ``taken_bytes``: size of all accepted records.
    """

    def __init__(
        self,
        machine: BatchReceiver,
        topic: TopicInfo,
        *,
        is_background: bool = False,
        is_lingering: bool = False,
    ) -> None:
        self.batches: list[PendingBatch] = []
        self.taken_bytes = 0
        self._machine = machine
        self._topic = topic
        self._is_background = is_background
        self._is_lingering = is_lingering
        self._open: dict[int, BatchRecords] = {}
        # Partition that currently receives the records without a partition.
        self._sticky: int | None = None

    @property
    def topic_name(self) -> str:
        """Name of the topic to which the records are added."""
        return self._topic.name

    @property
    def open_bytes(self) -> int:
        """Size in bytes of the batches that are still being filled."""
        return sum(batch.content for batch in self._open.values())

    def finish(self, now: float) -> list[PendingBatch]:
        """Pass the open batches to the machine; return ``batches``."""
        for partition in list(self._open):
            self._close(partition, now)
        return self.batches

    def abandon(self) -> None:
        """Drop the open batches, which the machine has not received."""
        self._machine.deliveries.hold_open(-self.open_bytes)
        self._open.clear()

    def give_way(self, now: float) -> None:
        """Release memory for a caller that waits for it.

        Close the open batches if all open batches of the producer use at least half the
        memory. Otherwise, wait for acknowledgements, which release memory too, because
        full batches are more efficient.
        """
        open_bytes = self._machine.deliveries.open_bytes
        if 2 * open_bytes >= self._machine.options.memory_bytes:
            self.finish(now)

    def _fill(
        self,
        partition: int | None,
        records: Any,
        start: int,
        timestamp: int,
        now: float,
    ) -> int:
        """Add records to a partition's batch, beginning with the index ``start``.

        * ``partition``: None to let the machine choose a partition per batch.
        * ``timestamp`` (ms): default timestamp of the records.

        Closes the batch when it is full. Returns the index after the last added record.
        """
        is_sticky = partition is None
        if partition is None:
            if self._sticky is None:
                self._sticky = self._machine.choose_partition(self._topic)
            partition = self._sticky
        batch = self._open.get(partition)
        if batch is None:
            batch = self._open[partition] = self._machine.new_batch()
        before = batch.content
        try:
            start = self._extend(batch, records, start, timestamp)
        finally:
            # Valid records before an invalid one have been added to the batch, so count
            # them even if there is an exception.
            added = batch.content - before
            self._machine.deliveries.hold_open(added)
            self.taken_bytes += added
        if start < len(records):
            self._close(partition, now)
            if is_sticky:
                self._sticky = None
        return start

    def _extend(
        self, batch: BatchRecords, records: Any, start: int, timestamp: int
    ) -> int:
        """Add records to a batch until it is full.

        The first record is that with the index ``start``. Returns the index after the
        last added record.
        """
        raise NotImplementedError

    def _close(self, partition: int, now: float) -> None:
        batch = self._open.pop(partition)
        self._machine.deliveries.hold_open(-batch.content)
        pending = self._machine.add_batch(
            self._topic.name,
            partition,
            batch,
            now,
            is_background=self._is_background,
            is_lingering=self._is_lingering,
        )
        if not self._is_lingering:
            self.batches.append(pending)


class RecordBatcher(Batcher):
    """Batcher for Python records, which ``add`` accepts.

    A record's partition is ``partition``, if that is specified. Otherwise, the
    partitioner in the options or the key's hash determines it.
    """

    def __init__(
        self,
        machine: BatchReceiver,
        topic: TopicInfo,
        partition: int | None = None,
        *,
        is_lingering: bool = False,
    ) -> None:
        super().__init__(machine, topic, is_lingering=is_lingering)
        if partition is not None:
            check_partition(topic, partition)
        self._partition = partition

    def add(self, records: list[Any], timestamp: int, now: float) -> None:
        """Add records to the batches of their partitions.

        ``timestamp`` (ms) is used for records without a timestamp. Raises
        ``EncodeError`` for an invalid record.
        """
        if self._partition is not None:
            self._fill_all(self._partition, records, timestamp, now)
            return
        options = self._machine.options
        if options.partitioner is None:
            count = len(self._topic.partitions)
            lists, others = engine.split_rows(records, count, options.hash)
        else:
            lists, others = self._split(records), []
        for partition, chosen in enumerate(lists):
            self._fill_all(partition, chosen, timestamp, now)
        self._fill_all(None, others, timestamp, now)

    def _fill_all(
        self, partition: int | None, records: list[Any], timestamp: int, now: float
    ) -> None:
        start = 0
        while start < len(records):
            start = self._fill(partition, records, start, timestamp, now)

    def _extend(
        self, batch: BatchRecords, records: Any, start: int, timestamp: int
    ) -> int:
        return batch.extend(records, start, timestamp)

    def _split(self, records: list[Any]) -> list[list[Any]]:
        """Group records by the partition that the configured partitioner chooses."""
        # Raises an error for an invalid record before the partitioner is called.
        engine.split_rows(records, 1, engine.MURMUR2)
        lists: list[list[Any]] = [[] for _ in self._topic.partitions]
        for record in records:
            key = record[0] if isinstance(record, (tuple, list)) else record.key
            lists[choose_by_key(self._machine, self._topic, key)].append(record)
        return lists


def choose_by_key(machine: BatchReceiver, topic: TopicInfo, key: Any) -> int:
    """Return the partition for a key.

    Uses the partitioner of the options, or else their hash function. Raises
    ``TopicNotFound`` if the partitioner returns a partition that does not exist.
    """
    options, count = machine.options, len(topic.partitions)
    if options.partitioner is None:
        if options.hash == engine.CRC32:
            return engine.crc32(key) % count
        return (engine.murmur2(key) & _POSITIVE) % count
    partitions = sorted(topic.partitions)
    available = [n for n in partitions if topic.partitions[n].leader >= 0]
    chosen = options.partitioner(
        None if key is None else bytes(key), partitions, available
    )
    check_partition(topic, chosen)
    return chosen


def check_partition(topic: TopicInfo, partition: int) -> None:
    """Raise ``TopicNotFound`` if the topic does not have the partition."""
    if partition not in topic.partitions:
        raise TopicNotFound(
            f"topic {topic.name!r} has no partition {partition}; it has"
            f" {len(topic.partitions)}, numbered from 0"
        )
