# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ScanMachine``: reads partitions from one offset to another, or follows them.

    topics --PartitionFinder--> partitions --Fetcher--> Fetched

The partition finder detects new, deleted and recreated partitions. The fetcher reads
each partition between the offsets in the options. A bounded scan fails if there is no
progress for ``ClusterSettings.timeout_s``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..cluster import ClusterMachine
from .fetcher import Fetcher
from .options import EARLIEST, LATEST, choose_spec
from .partition_finder import PartitionFinder
from .partition_reader import PartitionReader, ReaderState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from ....errors import KwireError
    from ...errors import DataLost
    from ..metadata import TopicInfo
    from ..settings import ClusterSettings
    from .options import Fetched, ScanOptions


class ScanMachine:
    """State machine of a scan. It owns a ``ClusterMachine`` with its own connections.

    Call ``advance`` after every event, and when the clock reaches ``wake_at``.

    * To read: wait until ``has_result`` is True, and call ``take``. When the chunk's
      data is no longer needed, call ``release`` to return its memory to the budget.
    * ``is_done`` becomes True when all records have been taken. A scan that follows its
      topics is never done.
    * To close: call ``begin_close``, continue until ``is_closable`` is True, and call
      ``close``.

    ``failure`` is the error that ended the scan early, or None.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        options: ScanOptions,
        *,
        now: float,
        random: Random,
    ) -> None:
        self.cluster = ClusterMachine(bootstrap, settings, now=now, random=random)
        self.options = options
        self.fetcher = Fetcher(self.cluster, options, now=now)
        self.failure: KwireError | None = None
        self._finder = PartitionFinder(self.cluster, options, now)
        # True if the caller has released a chunk since the last ``advance``.
        self._was_taken = False
        self._is_closing = False
        labels = {"client_rack": options.rack} if options.rack else {}
        self.cluster.push_metrics("consumer", self.read_metrics, labels, now)

    @property
    def wake_at(self) -> float:
        """Time of the next ``advance`` if nothing happens before."""
        return self.cluster.wake_at

    @property
    def losses(self) -> list[DataLost]:
        """The data losses that were skipped, at most the last 10,000."""
        return self.fetcher.losses

    @property
    def is_done(self) -> bool:
        """Whether all records have been read and taken by the caller."""
        return not self.fetcher.has_chunk() and self._is_read()

    def has_result(self) -> bool:
        """Return whether a chunk is available, or the scan has ended."""
        return self.fetcher.has_chunk() or self.failure is not None or self._is_read()

    def take(self) -> Fetched | None:
        """Return the oldest chunk that has not been taken, or None."""
        return self.fetcher.take()

    def split(self, fetched: Fetched, offset: int) -> Fetched:
        """Return the part of a chunk before ``offset``; ``take`` returns the remainder.

        ``fetched`` must be the last result of ``take``.
        """
        return self.fetcher.split(fetched, offset)

    def release(self, fetched: Fetched) -> None:
        """Return the memory of a chunk to the budget.

        The caller must not use the chunk afterwards.
        """
        self._was_taken = True
        self.fetcher.release(fetched)

    def position(self) -> dict[tuple[str, int], int]:
        """Return the offset per partition after the chunks that were taken.

        Partitions whose offset is unknown are omitted.
        """
        return self.fetcher.position()

    def read_metrics(self, now: float) -> dict[str, Any]:
        """Return the metrics that ``SCAN_SNAPSHOT`` lists.

        This method may be called from any thread.
        """
        return self.fetcher.read_metrics(now)

    def remaining_offsets(self) -> int | None:
        """Return the number of offsets from ``position`` to the end of the scan.

        Returns None if the scan follows its topics, or if an end offset is unknown yet.
        """
        if self.options.follow or not self._finder.is_complete:
            return None
        position = self.position()
        count = 0
        for partition, reader in self.fetcher.readers.items():
            if reader.end is None or partition not in position:
                return None
            count += max(reader.end - position[partition], 0)
        return count

    def advance(self, now: float) -> None:
        """Find partitions, send the requests that are due, and check the progress."""
        self.cluster.advance(now)
        self._collect_failure()
        if self.failure is None and not self._is_closing:
            self._choose_partitions(now)
            self.fetcher.advance(now)
            self._check_progress(now)
            self._collect_failure()
            # Send the metadata request now if one of the steps above has required it.
            self.cluster.refresh_metadata(now)

    def begin_close(self, now: float) -> None:
        """Stop reading, and push the metrics for the last time."""
        self._is_closing = True
        self.cluster.begin_close(now)

    def is_closable(self) -> bool:
        """Return whether all requests after ``begin_close`` are complete."""
        return self.cluster.is_closable

    def close(self, now: float) -> None:
        """Close all connections."""
        self.cluster.close(now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        self.fetcher.check_invariants()

    def _collect_failure(self) -> None:
        self.failure = (
            self.failure
            or self.cluster.failure
            or self._finder.failure
            or self.fetcher.partitions.failure
        )

    def _is_read(self) -> bool:
        """Return whether all records were fetched. False for unbounded scans."""
        if self.options.follow or not self._finder.is_complete:
            return False
        return self.fetcher.partitions.is_done()

    def _choose_partitions(self, now: float) -> None:
        """Start to read new partitions, and stop reading deleted partitions."""
        finder, readers = self._finder, self.fetcher.readers
        for reader in finder.take_deleted(readers, now):
            self.fetcher.remove(reader, keeps_chunks=True)
        if self._is_read():
            return
        is_late = finder.is_complete
        changes = finder.find(readers, now)
        for topic, partition in changes.new:
            self._read_partition(topic, partition, is_late)
        for reader, topic in changes.recreated:
            if reader.state is not ReaderState.DONE:
                self.fetcher.start_over(reader, topic)

    def _read_partition(self, topic: TopicInfo, partition: int, is_late: bool) -> None:
        """Begin to read a partition.

        A partition that was created after the beginning of the scan (``is_late``) is
        read from its first record, so that no record is skipped.
        """
        reader = PartitionReader(topic.name, partition, topic.topic_id)
        options, topic_partition = self.options, reader.place
        start = (
            EARLIEST
            if is_late
            else choose_spec(options.start, topic_partition, EARLIEST)
        )
        end = (
            None
            if options.follow
            else choose_spec(options.end, topic_partition, LATEST)
        )
        self.fetcher.add(reader, start, end=end)

    def _check_progress(self, now: float) -> None:
        """Fail a bounded scan, or the search for topics, if there is no progress."""
        if (self.options.follow and self._finder.is_complete) or self.is_done:
            return
        partitions = self.fetcher.partitions
        if (
            self._was_taken
            or self.fetcher.has_chunk()
            or self.cluster.frame_budget.held
        ):
            # The scan may be waiting for its caller, which may keep chunks for any
            # time. This is not a lack of progress.
            partitions.progress_at = now
        self._was_taken = False
        partitions.check_progress(now)
