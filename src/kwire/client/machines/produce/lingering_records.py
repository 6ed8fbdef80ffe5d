# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``LingeringRecords``: collects single records until they are in batches.

    send -> Stage, in the order of the calls -> LingeringBatcher -> batches

Most calls of ``send`` only append the record to the ``Stage`` of its topic. All records
of a stage are sorted into batches together: when the stage is full, when its linger
time has passed, or when the topic gets records in another way.
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
"""Divisor of ``memory_bytes``. All stages together may use one eighth of this limit."""


class Stage(engine.RecordList):
    """Records of a topic that have not been sorted into batches.

    ``partition`` is None if the records may belong to any partition. ``linger_until``
    is the time at which the linger time of the first record ends. Then the records must
    be sorted into batches, and the batches must be closed.
    """

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
    """Open batches of a topic, to which further stages can be added."""

    def __init__(self, machine: BatchReceiver, topic: TopicInfo) -> None:
        super().__init__(machine, topic, is_lingering=True)
        # Partitions of the topic's current stages. The set contains either only None,
        # for a stage whose records may belong to any partition, or only numbers.
        self.staged: set[int | None] = set()
        self._linger_until: dict[int, float] = {}

    def take(self, stage: Stage, now: float) -> None:
        """Sort the records of a stage into batches."""
        self._topic = stage.topic
        self._partition = stage.partition
        self.add(stage.records, -1, now)
        for partition in self._open:
            self._linger_until.setdefault(partition, stage.linger_until)

    def close_partition(self, partition: int, now: float) -> None:
        """Close a partition's batch, if there is one."""
        if partition in self._open:
            self._close(partition, now)

    def close_due(self, now: float) -> float:
        """Close the batches whose linger time has passed.

        Returns the time at which the next batch must be closed, or infinity if no batch
        is open.
        """
        for partition in list(self._open):
            if now >= self._linger_until[partition]:
                self._close(partition, now)
        return min(self._linger_until.values(), default=float("inf"))

    def is_empty(self) -> bool:
        """Whether the topic has neither open batches nor stages."""
        return not self._open and not self.staged

    def _close(self, partition: int, now: float) -> None:
        self._linger_until.pop(partition, None)
        if self._sticky == partition:
            self._sticky = None
        super()._close(partition, now)


class LingeringRecords:
    """Lingering records of all topics.

    ``stages`` has either one stage of a topic for any partition, whose key is the topic
    name, or stages for single partitions, whose keys are (topic, partition). A topic
    never has both kinds of stages, so the records of a partition keep their order. To
    save the call of ``send``, a producer may append to an existing stage itself.

    Call ``close_due`` after every event. It closes batches and sets the next wake-up.
    """

    def __init__(self, machine: BatchReceiver, options: ProducerOptions) -> None:
        self.stages: dict[Place, Stage] = {}
        self._machine = machine
        self._options = options
        self._batchers: dict[str, LingeringBatcher] = {}

    @property
    def open_bytes(self) -> int:
        """Size in bytes of the open batches, without the stages."""
        return sum(batcher.open_bytes for batcher in self._batchers.values())

    def send(
        self,
        topic: TopicInfo,
        partition: int | None,
        record: tuple[Any, Any, Any, Any],
        now: float,
    ) -> bool:
        """Append one record to its stage; return whether this began a new stage.

        A new stage has a linger time, so the caller must update its timer. Raises
        ``EncodeError`` for an invalid record, and changes nothing in this case.
        """
        key: Place = topic.name if partition is None else (topic.name, partition)
        stage = self.stages.get(key)
        if stage is not None and stage.append(*record):
            return False
        options, count = self._options, len(self.stages) + (stage is None)
        share = options.memory_bytes // _SHARE // count
        max_bytes = min(options.max_batch_bytes, share)
        begun = Stage(topic, partition, max_bytes, now + options.linger_s)
        # Append to the new stage first, because an invalid record raises an error here.
        begun.append(*record)
        batcher = self._batchers.get(topic.name)
        if batcher is None:
            batcher = LingeringBatcher(self._machine, topic)
            self._batchers[topic.name] = batcher
        for staged in list(batcher.staged):
            if staged == partition or partition is None or staged is None:
                self._drain(batcher, staged, now)
        batcher.staged.add(partition)
        self.stages[key] = begun
        self._machine.cluster.wake(begun.linger_until)
        return True

    def release(self, topic: str, partition: int, now: float) -> None:
        """Close a partition's batch, including the records of its stages.

        The machine calls this before it appends another batch to the partition, so that
        the order of the records is kept.
        """
        batcher = self._batchers.get(topic)
        if batcher is not None:
            for staged in (None, partition):
                if staged in batcher.staged:
                    self._drain(batcher, staged, now)
            batcher.close_partition(partition, now)

    def close_due(self, now: float) -> None:
        """Close the batches whose linger time has passed."""
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
        """Close all batches, including the records of all stages."""
        for batcher in self._batchers.values():
            for partition in list(batcher.staged):
                self._drain(batcher, partition, now)
            batcher.finish(now)
        self._batchers.clear()

    def abandon(self) -> bool:
        """Drop all records of stages and open batches; return whether any existed."""
        has_records = not self.is_empty()
        for batcher in self._batchers.values():
            batcher.abandon()
        self._batchers.clear()
        self.stages.clear()
        return has_records

    def is_empty(self) -> bool:
        """Whether there are neither stages nor open batches."""
        return all(batcher.is_empty() for batcher in self._batchers.values())

    def _drain(
        self, batcher: LingeringBatcher, partition: int | None, now: float
    ) -> None:
        batcher.staged.remove(partition)
        name = batcher.topic_name
        stage = self.stages.pop(name if partition is None else (name, partition))
        batcher.take(stage, now)
