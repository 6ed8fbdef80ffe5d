# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes partitions to a cluster, some at a time, each from where it ends there.

    source -> records after the end of the target -> batch -> acknowledged -> next

A partition has one batch on its way. The first one of each run is a single record: the
broker knows the producer once it has it, and refuses any later gap.
"""

from __future__ import annotations

import time
from collections import deque
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from ...client.machines import (
    DeliveryFailed,
    OutcomeUnknown,
    ProducerMachine,
    ProducerOptions,
    RequestRefused,
)
from ...client.runners.blocking import BlockingRunner
from ...schema import error_codes
from ..running import JobError
from .batches import Numbering, RestoredBatch, cut_rows, make_producer_id
from .target import (
    TargetEnd,
    check_end,
    check_rows,
    find_ends,
    make_append_time_error,
    make_foreign_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from ...client import KafkaSync
    from ...client.machines import PendingBatch
    from .sources import PartitionSource

AT_ONCE = 8
"""Partitions that are written at the same time; each holds some MiB."""

_SECONDS_TO_CATCH_UP = 30.0
"""How long a partition may end before what its leader has taken, as replicas lag."""

_SECONDS_BETWEEN_LOOKS = 0.2

NEW_TOPIC_CONFIGS = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
"""Records keep their timestamps, and brokers do not delete them for being old."""


class RestoreOptions(NamedTuple):
    """How to write; ``bytes_per_s`` is of records before compression, or None."""

    compression: str = "zstd"
    bytes_per_s: float | None = None


class RestoreCounts:
    """Records that a restore has written so far, and those that were there before.

    ``present`` counts partitions that are done.
    """

    def __init__(self) -> None:
        self.written = 0
        self.present = 0


def create_topic(
    kafka: KafkaSync,
    name: str,
    partitions: int,
    replication_factor: int,
    configs: Mapping[str, str],
) -> None:
    """Create a topic, unless there is one with this name.

    A second request for the same topic has no effect of its own. So the request is sent
    again if its outcome is unknown, and after an error that may pass.
    """
    until = time.monotonic() + kafka.settings.timeout_s
    while True:
        try:
            return kafka.create_topics(
                {name: partitions},
                replication_factor=replication_factor,
                configs=configs,
            )
        except (OutcomeUnknown, RequestRefused) as error:
            code = getattr(error, "error_code", error_codes.REQUEST_TIMED_OUT)
            if code == error_codes.TOPIC_ALREADY_EXISTS:
                return None
            if not error_codes.retriable(code) or time.monotonic() >= until:
                raise
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def restore(
    kafka: KafkaSync,
    sources: Sequence[PartitionSource],
    names: Mapping[str, str],
    options: RestoreOptions,
    counts: RestoreCounts,
    progress: Callable[[int], object],
) -> None:
    """Write the records of partitions that the target does not have yet.

    ``names`` maps the topics of the sources to those of the cluster. ``progress`` is
    called with bytes, of which there are as many as in the sources. Raises ``JobError``
    where a partition has records of others, and ``ClusterError`` where records were not
    acknowledged; a later call continues after those that were.
    """
    by_topic: dict[str, list[int]] = {}
    for source in sources:
        by_topic.setdefault(names[source.topic], []).append(source.partition)
    ends = {
        (topic, partition): end
        for topic, partitions in by_topic.items()
        for partition, end in find_ends(kafka, topic, partitions).items()
    }
    with _Writer(kafka, options) as writer:
        for topic in by_topic:
            writer.open_topic(topic)
        waiting = deque(
            _PartitionRestore(kafka, names[source.topic], source, options, progress)
            for source in sources
        )
        active: list[_PartitionRestore] = []
        while waiting or active:
            while waiting and len(active) < AT_ONCE:
                new = waiting.popleft()
                new.begin(ends[new.topic, new.source.partition])
                active.append(new)
            for each in list(active):
                if not each.advance(writer, counts):
                    active.remove(each)
            if active and all(each.is_waiting for each in active):
                writer.wait(active)


class _Writer:
    """The producer, and the time it takes."""

    def __init__(self, kafka: KafkaSync, options: RestoreOptions) -> None:
        # Its batches have numbers of their own.
        numberless = ProducerOptions(
            compression=options.compression, acks=-1, is_idempotent=False
        )
        self._machine = ProducerMachine(
            kafka.addresses,
            kafka.settings,
            numberless,
            now=time.monotonic(),
            random=Random(),
        )
        self._runner = BlockingRunner(
            self._machine, self._machine.cluster, kafka.network
        )
        self._bytes_per_s = options.bytes_per_s
        self._begun = time.monotonic()
        self._sent = 0

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._machine.close(time.monotonic())
        self._runner.close()

    def open_topic(self, name: str) -> None:
        """Find the leaders of a topic."""
        machine = self._machine
        machine.want_topic(name, time.monotonic())
        self._runner.run_until(lambda: machine.is_settled(name))
        machine.topic(name)

    def send(self, topic: str, partition: int, batch: RestoredBatch) -> PendingBatch:
        """Take a batch; waits where that would be too fast."""
        self._sent += batch.row_bytes
        if self._bytes_per_s is not None:
            due = self._begun + self._sent / self._bytes_per_s
            time.sleep(max(due - time.monotonic(), 0.0))
        return self._machine.add_batch(topic, partition, batch, time.monotonic())

    def wait(self, active: list[_PartitionRestore]) -> None:
        """Wait until a batch is acknowledged, or has failed."""
        self._runner.run_until(lambda: not all(each.is_waiting for each in active))


class _PartitionRestore:
    """One partition on its way: the records to come, and the batch that was sent."""

    def __init__(
        self,
        kafka: KafkaSync,
        topic: str,
        source: PartitionSource,
        options: RestoreOptions,
        progress: Callable[[int], object],
    ) -> None:
        self.topic = topic
        self.source = source
        self.name = f"{topic}-{source.partition}"
        self._kafka = kafka
        self._options = options
        self._progress = progress
        self._shown = 0
        self._pending: PendingBatch | None = None
        self._batch: RestoredBatch | None = None
        self._batches: Iterator[RestoredBatch] = iter(())
        self._end = 0
        self._written = 0
        self._behind_since: float | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a batch is neither acknowledged nor failed."""
        return self._pending is not None and not self._pending.is_over

    def begin(self, found: TargetEnd) -> None:
        """Begin after what the partition has."""
        self._pending = None
        self._end = found.end
        self._batches = self._make_batches(found)

    def advance(self, writer: _Writer, counts: RestoreCounts) -> bool:
        """Send the next batch, if none is on its way; False at the end."""
        if self.is_waiting:
            return True
        if self._pending is not None and not self._take_results(self._pending, counts):
            return True
        self._pending = None
        self._batch = next(self._batches, None)
        if self._batch is None:
            counts.present += self._end - self._written
            self._show(self.source.size)
            return False
        self._pending = writer.send(self.topic, self.source.partition, self._batch)
        return True

    def _take_results(self, pending: PendingBatch, counts: RestoreCounts) -> bool:
        """Take receipts; False where the partition has to be begun again."""
        assert self._batch is not None
        position = self._batch.position
        for leaf in pending.leaves():
            if leaf.failure is not None:
                self._recover(leaf.failure)
                return False
            assert leaf.receipt is not None
            if leaf.receipt.base_offset not in (-1, position):
                raise make_foreign_error(self.name)
            if leaf.receipt.timestamp != -1:
                raise make_append_time_error(self.name)
            position += leaf.count
            self._written += leaf.count
            counts.written += leaf.count
            self._end = position
        self._behind_since = None
        return True

    def _recover(self, failure: Exception) -> None:
        """Begin again, if the partition has more than it had; otherwise raise.

        A run that was killed may have had a batch on its way, or replicas may lag, so
        that the end of the partition is not that of its leader's log.
        """
        is_behind = (
            isinstance(failure, DeliveryFailed)
            and failure.error_code == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
        )
        if not is_behind:
            raise failure
        now = time.monotonic()
        if self._behind_since is None:
            self._behind_since = now
        elif now - self._behind_since > _SECONDS_TO_CATCH_UP:
            raise JobError(
                f"restoring {self.name}: the broker does not take record"
                f" {self._end} as the next one; its replicas may lag, or a second"
                " restore may write it: run the same command again"
            ) from failure
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        number = self.source.partition
        self.begin(find_ends(self._kafka, self.topic, [number])[number])

    def _make_batches(self, found: TargetEnd) -> Iterator[RestoredBatch]:
        """Read the source, compare what is there, make batches of the rest."""
        position = 0
        numbering: Numbering | None = None
        is_first = True
        for piece in self.source.read():
            rows = piece.rows
            if numbering is None:
                check_end(self.name, found, rows)
                numbering = Numbering(make_producer_id(rows), self._options.compression)
            if position < found.end:
                check_rows(self.name, found, rows, position)
            skipped = min(max(found.end - position, 0), rows.num_rows)
            position += skipped
            if skipped < rows.num_rows:
                rest: Any = rows.slice(skipped)
                yield from cut_rows(rest, position, numbering, is_first=is_first)
                is_first = False
                position += rest.num_rows
            self._show(piece.position)
        if numbering is None:
            check_end(self.name, found, None)
        if position < found.end:
            raise JobError(
                f"restoring {self.name}: the partition has {found.end} records, and the"
                f" source {position}; restore from the source that was begun with, or"
                " to an empty topic"
            )

    def _show(self, position: int) -> None:
        """Report progress, which does not go back where a partition is begun again."""
        if position > self._shown:
            self._progress(position - self._shown)
            self._shown = position
