# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RowSender``: the rows of one call, sorted into batches of their partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .._backend import record_engine as engine
from .errors import TopicNotFound

if TYPE_CHECKING:
    from .machine import ClusterMachine
    from .metadata import TopicInfo
    from .pending_batch import BatchContent, PendingBatch, RowBatch
    from .producer_options import ProducerOptions


_POSITIVE = 0x7FFFFFFF


class BatchTaker(Protocol):
    """What takes the batches of senders: a ``ProducerMachine``."""

    cluster: ClusterMachine
    options: ProducerOptions
    held_bytes: int

    def new_batch(self) -> RowBatch:
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
        is_appended: bool = False,
    ) -> PendingBatch:
        """Take records as one batch."""


class RowSender:
    """Puts rows into batches that have no other rows, and gives these to a machine.

    ``add`` takes some rows; ``finish`` closes the batches that are not full, and
    ``abandon`` drops them. ``batches`` are those that the machine has, ``taken_bytes``
    counts the bytes of all rows. Rows with a key
    go where its hash says, or the partitioner of the options; those without a key fill
    a batch of one partition, then of another. ``partition`` is for all rows. No one
    waits for rows that are ``is_appended``: their batches are not in ``batches``.
    """

    def __init__(
        self,
        machine: BatchTaker,
        topic: TopicInfo,
        partition: int | None = None,
        *,
        is_appended: bool = False,
    ) -> None:
        if partition is not None:
            check_partition(topic, partition)
        self.batches: list[PendingBatch] = []
        self.taken_bytes = 0
        self._machine = machine
        self._topic = topic
        self._partition = partition
        self._is_appended = is_appended
        self._open: dict[int, RowBatch] = {}
        self._sticky: int | None = None

    def add(self, rows: list[Any], timestamp: int, now: float) -> None:
        """Take rows; those without a timestamp get ``timestamp`` (ms).

        Raises ``EncodeError`` for what is no row.
        """
        if self._partition is not None:
            self._fill(self._partition, rows, timestamp, now)
            return
        options = self._machine.options
        if options.partitioner is None:
            count = len(self._topic.partitions)
            lists, others = engine.split_rows(rows, count, options.hash)
        else:
            lists, others = self._split(rows), []
        for partition, chosen in enumerate(lists):
            if chosen:
                self._fill(partition, chosen, timestamp, now)
        start = 0
        while start < len(others):
            if self._sticky is None:
                self._sticky = self._machine.choose_partition(self._topic)
            start = self._extend(self._sticky, others, start, timestamp)
            if start < len(others):
                self._close(self._sticky, now)
                self._sticky = None

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
            self._machine.held_bytes -= batch.content
        self._open.clear()

    def _fill(
        self, partition: int, rows: list[Any], timestamp: int, now: float
    ) -> None:
        start = 0
        while start < len(rows):
            start = self._extend(partition, rows, start, timestamp)
            if start < len(rows):
                self._close(partition, now)

    def _extend(
        self, partition: int, rows: list[Any], start: int, timestamp: int
    ) -> int:
        """Put rows into the open batch while they fit; return the index after."""
        batch = self._open.get(partition)
        if batch is None:
            batch = self._open[partition] = self._machine.new_batch()
        before = batch.content
        try:
            return batch.extend(rows, start, timestamp)
        finally:
            # Also those before one that is no row.
            added = batch.content - before
            self._machine.held_bytes += added
            self.taken_bytes += added

    def _close(self, partition: int, now: float) -> None:
        batch = self._open.pop(partition)
        self._machine.held_bytes -= batch.content
        is_appended = self._is_appended
        pending = self._machine.add_batch(
            self._topic.name, partition, batch, now, is_appended=is_appended
        )
        if not is_appended:
            self.batches.append(pending)

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
