# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LingeringRecords``: records that are sent one by one, until they are in batches.

    send -> stage, in the order of the calls -> LingeringBatcher -> batches

Sending a record only adds it to the ``Stage`` of its topic. The records of a stage are
sorted into batches together: when the stage is full, when its linger time has passed,
or when the topic gets records in another way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...._engine.active import record_engine as engine
from .record_batcher import RecordBatcher

if TYPE_CHECKING:
    from ..metadata import TopicInfo
    from .options import ProducerOptions
    from .record_batcher import BatchTaker

    Place = str | tuple[str, int]

_SHARE = 8
"""The stages of all topics have one in so many of the bytes that are held at most."""


class Stage(engine.RecordList):
    """Rows for any partition of a topic, or for one of them."""

    __slots__ = ("linger_until", "partition", "topic")

    def __init__(
        self, topic: TopicInfo, partition: int | None, most: int, linger_until: float
    ) -> None:
        super().__init__(2, most)
        self.topic = topic
        self.partition = partition
        self.linger_until = linger_until


class LingeringBatcher(RecordBatcher):
    """The batches of a topic that appended rows may still join."""

    def __init__(self, machine: BatchTaker, topic: TopicInfo) -> None:
        super().__init__(machine, topic, is_lingering=True)
        # The partitions of its stages; None is any. Never None and others.
        self.staged: set[int | None] = set()
        self._linger_until: dict[int, float] = {}

    def take(self, stage: Stage, now: float) -> None:
        """Take the rows of a stage."""
        self._topic = stage.topic
        self._partition = stage.partition
        self.add(stage.records, -1, now)
        for partition in self._open:
            self._linger_until.setdefault(partition, stage.linger_until)

    def close_partition(self, partition: int, now: float) -> None:
        """Close the batch of a partition, if there is one."""
        if partition in self._open:
            self._close(partition, now)

    def close_lingering(self, now: float) -> float:
        """Close what waited long enough; return when there is more to close."""
        for partition in list(self._open):
            if now >= self._linger_until[partition]:
                self._close(partition, now)
        return min(self._linger_until.values(), default=float("inf"))

    def is_empty(self) -> bool:
        """Whether it has no rows, and no stage has any for it."""
        return not self._open and not self.staged

    def _close(self, partition: int, now: float) -> None:
        self._linger_until.pop(partition, None)
        if self._sticky == partition:
            self._sticky = None
        super()._close(partition, now)


class LingeringRecords:
    """The appended rows of all topics. A producer may append to ``stages`` itself.

    A topic has one stage, by its name, or others by name and partition: what was given
    first to a partition is written first.
    """

    def __init__(self, machine: BatchTaker, options: ProducerOptions) -> None:
        self.stages: dict[Place, Stage] = {}
        self._machine = machine
        self._options = options
        self._senders: dict[str, LingeringBatcher] = {}

    def append(
        self,
        topic: TopicInfo,
        partition: int | None,
        row: tuple[Any, Any, Any, Any],
        now: float,
    ) -> bool:
        """Take one record; return whether a stage was begun for it."""
        place: Place = topic.name if partition is None else (topic.name, partition)
        stage = self.stages.get(place)
        if stage is not None and stage.append(*row):
            return False
        options, count = self._options, len(self.stages) + (stage is None)
        most = min(options.max_batch_bytes, options.memory_bytes // _SHARE // count)
        begun = Stage(topic, partition, most, now + options.linger_s)
        # Raises for what is no row, before anything has changed.
        begun.append(*row)
        sender = self._senders.get(topic.name)
        if sender is None:
            sender = LingeringBatcher(self._machine, topic)
            self._senders[topic.name] = sender
        for other in list(sender.staged):
            if other == partition or partition is None or other is None:
                self._drain(sender, other, now)
        sender.staged.add(partition)
        self.stages[place] = begun
        self._machine.cluster.wake(begun.linger_until)
        return True

    def release(self, topic: str, partition: int, now: float) -> None:
        """Close the batch of what was appended for a partition up to now."""
        sender = self._senders.get(topic)
        if sender is not None:
            for staged in (None, partition):
                if staged in sender.staged:
                    self._drain(sender, staged, now)
            sender.close_partition(partition, now)

    def close_lingering(self, now: float) -> None:
        """Close the batches of rows that have waited for others long enough."""
        for stage in list(self.stages.values()):
            if now >= stage.linger_until:
                self._drain(self._senders[stage.topic.name], stage.partition, now)
            else:
                self._machine.cluster.wake(stage.linger_until)
        for name, sender in list(self._senders.items()):
            self._machine.cluster.wake(sender.close_lingering(now))
            if sender.is_empty():
                del self._senders[name]

    def flush(self, now: float) -> None:
        """Close the batches of everything that was appended."""
        for sender in self._senders.values():
            for partition in list(sender.staged):
                self._drain(sender, partition, now)
            sender.finish(now)
        self._senders.clear()

    def abandon(self) -> bool:
        """Drop everything; return whether there was anything."""
        has_rows = not self.is_empty()
        for sender in self._senders.values():
            sender.abandon()
        self._senders.clear()
        self.stages.clear()
        return has_rows

    def is_empty(self) -> bool:
        """Whether every row that was appended is in a batch that is closed."""
        return all(sender.is_empty() for sender in self._senders.values())

    def _drain(
        self, sender: LingeringBatcher, partition: int | None, now: float
    ) -> None:
        sender.staged.remove(partition)
        name = sender.topic_name
        stage = self.stages.pop(name if partition is None else (name, partition))
        sender.take(stage, now)
