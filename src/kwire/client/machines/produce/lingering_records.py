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
from .record_batcher import BatchReceiver, RecordBatcher

if TYPE_CHECKING:
    from ..metadata import TopicInfo
    from .options import ProducerOptions

    Place = str | tuple[str, int]

_SHARE = 8
"""The stages of all topics share this fraction of ``memory_bytes``: one eighth."""


class Stage(engine.RecordList):
    """Records for any partition of a topic (``partition`` None), or for one of them."""

    __slots__ = ("linger_until", "partition", "topic")

    def __init__(
        self,
        topic: TopicInfo,
        partition: int | None,
        max_bytes: int,
        linger_until: float,
    ) -> None:
        super().__init__(2, max_bytes)
        self.topic = topic
        self.partition = partition
        self.linger_until = linger_until


class LingeringBatcher(RecordBatcher):
    """The batches of a topic that lingering records may still join."""

    def __init__(self, machine: BatchReceiver, topic: TopicInfo) -> None:
        super().__init__(machine, topic, is_lingering=True)
        # Partitions of the stages of the topic. It contains None alone, or numbers.
        self.staged: set[int | None] = set()
        self._linger_until: dict[int, float] = {}

    def take(self, stage: Stage, now: float) -> None:
        """Accept the records of a stage."""
        self._topic = stage.topic
        self._partition = stage.partition
        self.add(stage.records, -1, now)
        for partition in self._open:
            self._linger_until.setdefault(partition, stage.linger_until)

    def close_partition(self, partition: int, now: float) -> None:
        """Close the batch of a partition, if there is one."""
        if partition in self._open:
            self._close(partition, now)

    def close_due(self, now: float) -> float:
        """Close batches whose linger time has passed; return the next such time."""
        for partition in list(self._open):
            if now >= self._linger_until[partition]:
                self._close(partition, now)
        return min(self._linger_until.values(), default=float("inf"))

    def is_empty(self) -> bool:
        """Whether there are no records in open batches and stages of the topic."""
        return not self._open and not self.staged

    def _close(self, partition: int, now: float) -> None:
        self._linger_until.pop(partition, None)
        if self._sticky == partition:
            self._sticky = None
        super()._close(partition, now)


class LingeringRecords:
    """Lingering records of all topics. A producer may append to ``stages`` itself.

    A topic has one stage for any partition, under its name, or stages for single
    partitions, under its name and their numbers. So the records of a partition are sent
    in the order in which they were passed.
    """

    def __init__(self, machine: BatchReceiver, options: ProducerOptions) -> None:
        self.stages: dict[Place, Stage] = {}
        self._machine = machine
        self._options = options
        self._batchers: dict[str, LingeringBatcher] = {}

    @property
    def open_bytes(self) -> int:
        """Size of the batches that lingering records may still join."""
        return sum(batcher.open_bytes for batcher in self._batchers.values())

    def send(
        self,
        topic: TopicInfo,
        partition: int | None,
        record: tuple[Any, Any, Any, Any],
        now: float,
    ) -> bool:
        """Accept one record; return whether it began a new stage."""
        place: Place = topic.name if partition is None else (topic.name, partition)
        stage = self.stages.get(place)
        if stage is not None and stage.append(*record):
            return False
        options, count = self._options, len(self.stages) + (stage is None)
        share = options.memory_bytes // _SHARE // count
        max_bytes = min(options.max_batch_bytes, share)
        begun = Stage(topic, partition, max_bytes, now + options.linger_s)
        # Raises for an invalid record, before anything has changed.
        begun.append(*record)
        batcher = self._batchers.get(topic.name)
        if batcher is None:
            batcher = LingeringBatcher(self._machine, topic)
            self._batchers[topic.name] = batcher
        for other in list(batcher.staged):
            if other == partition or partition is None or other is None:
                self._drain(batcher, other, now)
        batcher.staged.add(partition)
        self.stages[place] = begun
        self._machine.cluster.wake(begun.linger_until)
        return True

    def release(self, topic: str, partition: int, now: float) -> None:
        """Close the batch of the records that a partition has got so far."""
        batcher = self._batchers.get(topic)
        if batcher is not None:
            for staged in (None, partition):
                if staged in batcher.staged:
                    self._drain(batcher, staged, now)
            batcher.close_partition(partition, now)

    def close_due(self, now: float) -> None:
        """Close the batches of records whose linger time has passed."""
        for stage in list(self.stages.values()):
            if now >= stage.linger_until:
                self._drain(self._batchers[stage.topic.name], stage.partition, now)
            else:
                self._machine.cluster.wake(stage.linger_until)
        for name, batcher in list(self._batchers.items()):
            self._machine.cluster.wake(batcher.close_due(now))
            if batcher.is_empty():
                del self._batchers[name]

    def flush(self, now: float) -> None:
        """Close the batches of all records."""
        for batcher in self._batchers.values():
            for partition in list(batcher.staged):
                self._drain(batcher, partition, now)
            batcher.finish(now)
        self._batchers.clear()

    def abandon(self) -> bool:
        """Drop all records; return whether there were any."""
        has_records = not self.is_empty()
        for batcher in self._batchers.values():
            batcher.abandon()
        self._batchers.clear()
        self.stages.clear()
        return has_records

    def is_empty(self) -> bool:
        """Whether all records are in closed batches."""
        return all(batcher.is_empty() for batcher in self._batchers.values())

    def _drain(
        self, batcher: LingeringBatcher, partition: int | None, now: float
    ) -> None:
        batcher.staged.remove(partition)
        name = batcher.topic_name
        stage = self.stages.pop(name if partition is None else (name, partition))
        batcher.take(stage, now)
