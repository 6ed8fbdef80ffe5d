# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes several partitions to a cluster, continuing after the records it contains.

    source -> records after the target's end offset -> batch -> acknowledged -> next

There is at most one batch in flight per partition. The first batch of a run contains a
single record. As soon as the broker has accepted it, the broker knows the sequence
number of the producer and rejects any gap.
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
"""Number of partitions that are written concurrently. Each of them needs several MiB of
memory.
"""

_CATCH_UP_TIMEOUT_S = 30.0
"""Maximum time in seconds for which the end offset that clients see may be lower than
the leader's log end offset, because replicas are lagging.
"""

_POLL_INTERVAL_S = 0.2

NEW_TOPIC_CONFIGS = {"message.timestamp.type": "CreateTime", "retention.ms": "-1"}
"""Configuration for new topics.

With these settings, brokers store the original record timestamps, and do not delete
restored records because of their age.
"""


class RestoreOptions(NamedTuple):
    """Restore settings.

    ``bytes_per_s`` limits the write rate. It applies to records before compression.
    None means no limit.
    """

    compression: str = "zstd"
    bytes_per_s: float | None = None


class RestoreCounts:
    """Record counts of a restore.

    * ``written``: number of records that this restore has written.
    * ``present``: number of records that the target already contained. It is increased
      only when a partition is complete.
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
    """Create a topic, unless a topic with this name exists.

    * ``kafka``: client for the target cluster.
    * ``name``, ``partitions``, ``replication_factor``: properties of the topic.
    * ``configs``: topic configuration, for example ``NEW_TOPIC_CONFIGS``.

    The request is repeated after retriable errors and if its outcome is unknown,
    because a second request for the same topic has no effect. Repetition stops after
    ``kafka.settings.timeout_s`` seconds, and the last error is raised.
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
        time.sleep(_POLL_INTERVAL_S)


def restore(
    kafka: KafkaSync,
    sources: Sequence[PartitionSource],
    names: Mapping[str, str],
    options: RestoreOptions,
    counts: RestoreCounts,
    progress: Callable[[int], object],
) -> None:
    """Write all source records that the target partitions do not contain.

    * ``sources``: partitions to read.
    * ``names``: maps source topic names to target topic names.
    * ``options``: compression and rate limit.
    * ``counts``: is updated while records are written.
    * ``progress``: callback for processed byte counts. They add up to the total source
      size.

    Raises ``JobError`` if a target partition contains records that this restore did not
    write, and ``ClusterError`` if records were not acknowledged. If a source is
    damaged, raises ``DecodeError`` for log files and ``JobError`` for an export. After
    an error the call can be repeated: it continues after the acknowledged records.
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
                started = waiting.popleft()
                started.begin(ends[started.topic, started.source.partition])
                active.append(started)
            for partition_restore in list(active):
                if not partition_restore.advance(writer, counts):
                    active.remove(partition_restore)
            if active and all(
                partition_restore.is_waiting for partition_restore in active
            ):
                writer.wait(active)


class _Writer:
    """Sends batches through a producer, and limits the write rate."""

    def __init__(self, kafka: KafkaSync, options: RestoreOptions) -> None:
        # Disable the producer's idempotence, because restored batches contain their own
        # producer id and sequence numbers.
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
        self._started_at = time.monotonic()
        self._sent_bytes = 0

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._machine.close(time.monotonic())
        self._runner.close()

    def open_topic(self, name: str) -> None:
        """Request a topic's metadata, and wait until its leaders are known."""
        machine = self._machine
        machine.want_topic(name, time.monotonic())
        self._runner.run_until(lambda: machine.is_settled(name))
        machine.topic(name)

    def send(self, topic: str, partition: int, batch: RestoredBatch) -> PendingBatch:
        """Send a batch, after waiting if the rate limit requires it."""
        self._sent_bytes += batch.row_bytes
        if self._bytes_per_s is not None:
            due = self._started_at + self._sent_bytes / self._bytes_per_s
            time.sleep(max(due - time.monotonic(), 0.0))
        return self._machine.add_batch(topic, partition, batch, time.monotonic())

    def wait(self, active: list[_PartitionRestore]) -> None:
        """Wait until at least one active partition has a result for its batch."""
        self._runner.run_until(
            lambda: not all(partition.is_waiting for partition in active)
        )


class _PartitionRestore:
    """Progress of a partition: its remaining batches and the batch in flight."""

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
        self._reported_bytes = 0
        self._pending: PendingBatch | None = None
        self._batch: RestoredBatch | None = None
        self._batches: Iterator[RestoredBatch] = iter(())
        self._end = 0
        self._written = 0
        self._behind_since: float | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a batch is in flight, which is neither acknowledged nor failed."""
        return self._pending is not None and not self._pending.is_over

    def begin(self, target_end: TargetEnd) -> None:
        """Start or restart with the first record that the target does not contain."""
        self._pending = None
        self._end = target_end.end
        self._batches = self._make_batches(target_end)

    def advance(self, writer: _Writer, counts: RestoreCounts) -> bool:
        """Send the next batch, unless a batch is still in flight.

        Returns False when all records have been acknowledged.
        """
        if self.is_waiting:
            return True
        if self._pending is not None and not self._process_receipts(
            self._pending, counts
        ):
            return True
        self._pending = None
        self._batch = next(self._batches, None)
        if self._batch is None:
            counts.present += self._end - self._written
            self._report_progress(self.source.size)
            return False
        self._pending = writer.send(self.topic, self.source.partition, self._batch)
        return True

    def _process_receipts(self, pending: PendingBatch, counts: RestoreCounts) -> bool:
        """Process a batch's receipts.

        Returns False if the partition was restarted after an error. Raises ``JobError``
        if the broker has assigned another offset or another timestamp than expected.
        """
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
        """Restart the partition if its end offset was outdated.

        The broker reports OUT_OF_ORDER_SEQUENCE_NUMBER if its log contains more records
        than the visible end offset indicated: a killed run still had a batch in flight,
        or replicas are lagging. Raises ``JobError`` if this does not stop within 30
        seconds. Any other ``failure`` is raised immediately.
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
        elif now - self._behind_since > _CATCH_UP_TIMEOUT_S:
            raise JobError(
                f"restoring {self.name}: the broker rejects record {self._end} as out"
                " of sequence; its replicas may lag, or a second restore may write"
                " the same partition: run the same command again"
            ) from failure
        time.sleep(_POLL_INTERVAL_S)
        number = self.source.partition
        self.begin(find_ends(self._kafka, self.topic, [number])[number])

    def _make_batches(self, target_end: TargetEnd) -> Iterator[RestoredBatch]:
        """Compare the target records with the source, and encode the missing records.

        Raises ``JobError`` if the target contains other records, or more than the
        source.
        """
        position = 0
        numbering: Numbering | None = None
        is_first = True
        for piece in self.source.read():
            rows = piece.rows
            if numbering is None:
                check_end(self.name, target_end, rows)
                numbering = Numbering(make_producer_id(rows), self._options.compression)
            if position < target_end.end:
                check_rows(self.name, target_end, rows, position)
            skipped = min(max(target_end.end - position, 0), rows.num_rows)
            position += skipped
            if skipped < rows.num_rows:
                remaining_rows: Any = rows.slice(skipped)
                yield from cut_rows(
                    remaining_rows, position, numbering, is_first=is_first
                )
                is_first = False
                position += remaining_rows.num_rows
            self._report_progress(piece.position)
        if numbering is None:
            check_end(self.name, target_end, None)
        if position < target_end.end:
            raise JobError(
                f"restoring {self.name}: the partition has {target_end.end} records,"
                f" but the source has {position}; restore from the original source,"
                " or to an empty topic"
            )

    def _report_progress(self, position: int) -> None:
        """Report that ``position`` bytes of the source have been processed.

        A restarted partition reports nothing until it reaches a new position.
        """
        if position > self._reported_bytes:
            self._progress(position - self._reported_bytes)
            self._reported_bytes = position
