# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RecordBatcher``: sorts records into batches of their partitions.

Its base class ``Batcher`` fills the batches. ``client/table_batches.py`` has the
subclass for tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ...._engine.active import record_engine as engine
from ...errors import TopicNotFound

if TYPE_CHECKING:
    from ..cluster import ClusterMachine
    from ..metadata import TopicInfo
    from .options import ProducerOptions
    from .pending_batch import BatchContent, BatchRecords, PendingBatch


_POSITIVE = 0x7FFFFFFF


class BatchTaker(Protocol):
    """What takes the batches of senders: a ``ProducerMachine``."""

    cluster: ClusterMachine
    options: ProducerOptions
    held_bytes: int
    open_bytes: int

    def new_batch(self) -> BatchRecords:
        """Return an empty batch of rows."""

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
        """Take records as one batch."""


class Batcher:
    """Fills batches that have no rows of other senders, and gives these to a machine.

    A subclass takes rows. ``finish`` closes the batches that are not full, and
    ``abandon`` drops them. ``batches`` are those that the machine has, ``taken_bytes``
    counts the bytes of all rows. Rows for any partition fill a batch of one, then of
    another. No one waits for rows that are ``is_lingering``: their batches are not in
    ``batches``. ``is_background`` is that of ``ProducerMachine.add_batch``.
    """

    def __init__(
        self,
        machine: BatchTaker,
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
        self._sticky: int | None = None

    @property
    def topic_name(self) -> str:
        """The name of its topic."""
        return self._topic.name

    def finish(self, now: float) -> list[PendingBatch]:
        """Give the last batches to the machine; return all that it has got."""
        for partition in list(self._open):
            self._close(partition, now)
        return self.batches

    def abandon(self) -> None:
        """Drop the rows that the machine has not got."""
        for batch in self._open.values():
            self._hold(-batch.content)
        self._open.clear()

    def give_way(self, now: float) -> None:
        """Close the batches that are not full, if such have half of the memory.

        Otherwise acknowledgements will make room, and full batches cost less.
        """
        if 2 * self._machine.open_bytes >= self._machine.options.memory_bytes:
            self.finish(now)

    def _fill(
        self, partition: int | None, rows: Any, start: int, timestamp: int, now: float
    ) -> int:
        """Put rows into one batch, and close it if it is full; return the index after.

        None is any partition.
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
            start = self._extend(batch, rows, start, timestamp)
        finally:
            # Also those before one that is no row.
            added = batch.content - before
            self._hold(added)
            self.taken_bytes += added
        if start < len(rows):
            self._close(partition, now)
            if is_sticky:
                self._sticky = None
        return start

    def _extend(
        self, batch: BatchRecords, rows: Any, start: int, timestamp: int
    ) -> int:
        """Put rows into a batch while they fit; return the index after."""
        raise NotImplementedError

    def _hold(self, size: int) -> None:
        """Count bytes of open batches."""
        self._machine.held_bytes += size
        self._machine.open_bytes += size

    def _close(self, partition: int, now: float) -> None:
        batch = self._open.pop(partition)
        self._hold(-batch.content)
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
    """Takes rows, by ``add``.

    Rows with a key go where its hash says, or the partitioner of the options;
    ``partition`` is for all rows.
    """

    def __init__(
        self,
        machine: BatchTaker,
        topic: TopicInfo,
        partition: int | None = None,
        *,
        is_lingering: bool = False,
    ) -> None:
        super().__init__(machine, topic, is_lingering=is_lingering)
        if partition is not None:
            check_partition(topic, partition)
        self._partition = partition

    def add(self, rows: list[Any], timestamp: int, now: float) -> None:
        """Take rows; those without a timestamp get ``timestamp`` (ms).

        Raises ``EncodeError`` for what is no row.
        """
        if self._partition is not None:
            self._fill_all(self._partition, rows, timestamp, now)
            return
        options = self._machine.options
        if options.partitioner is None:
            count = len(self._topic.partitions)
            lists, others = engine.split_rows(rows, count, options.hash)
        else:
            lists, others = self._split(rows), []
        for partition, chosen in enumerate(lists):
            self._fill_all(partition, chosen, timestamp, now)
        self._fill_all(None, others, timestamp, now)

    def _fill_all(
        self, partition: int | None, rows: list[Any], timestamp: int, now: float
    ) -> None:
        start = 0
        while start < len(rows):
            start = self._fill(partition, rows, start, timestamp, now)

    def _extend(
        self, batch: BatchRecords, rows: Any, start: int, timestamp: int
    ) -> int:
        return batch.extend(rows, start, timestamp)

    def _split(self, rows: list[Any]) -> list[list[Any]]:
        """Sort rows by the partition that the user's function chooses."""
        # Refuses what is no row.
        engine.split_rows(rows, 1, engine.MURMUR2)
        lists: list[list[Any]] = [[] for _ in self._topic.partitions]
        for row in rows:
            key = row[0] if isinstance(row, (tuple, list)) else row.key
            lists[choose_by_key(self._machine, self._topic, key)].append(row)
        return lists


def choose_by_key(machine: BatchTaker, topic: TopicInfo, key: Any) -> int:
    """Return the partition of a record with a key."""
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
    """Refuse a partition that the topic does not have."""
    if partition not in topic.partitions:
        raise TopicNotFound(
            f"topic {topic.name!r} has no partition {partition}; it has"
            f" {len(topic.partitions)}, numbered from 0"
        )
