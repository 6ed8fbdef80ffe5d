# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Logs on a disk as partition logs of a test cluster, for ``kwire serve``.

A log is read when a client fetches from it, and only the requested batches. Damaged
batches are omitted.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ...schema.topic_names import CLUSTER_METADATA
from ...testing.state.partition_log import AbortedTransaction, PartitionLog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ... import log
    from ...records import BatchHeader, Record

_LAST_OFFSET = 2**62
_MAX_POSITIONS = 100


class StoredLog(PartitionLog):
    """Read-only log of one partition on a disk.

    * ``report``: function that receives each damaged region once.

    The first Fetch reads all batch headers, which is required to find aborted and open
    transactions.
    """

    is_read_only = True

    def __init__(
        self, partition: log.Partition, report: Callable[[log.Problem], object]
    ) -> None:
        super().__init__()
        self._partition = partition
        self._report = report
        self._reported: set[tuple[str, int]] = set()
        self._transactions: log.Transactions | None = None
        self._newest_timestamp: int | None = None
        self._positions: dict[int, tuple[int, int]] = {}
        self.size_bytes = partition.size
        last = self._find_last_header()
        self.start_offset = partition.start_offset
        self.end_offset = last.next_offset if last else self.start_offset
        self.start_offset = min(self.start_offset, self.end_offset)
        self._epoch_starts = dict(partition.leader_epochs)
        self.leader_epoch = max(
            0, last.partition_leader_epoch if last else 0, *self._epoch_starts
        )

    @property
    def last_stable_offset(self) -> int:
        """First offset of the oldest open transaction, or the log end offset."""
        stable = self._load_transactions().last_stable_offset
        return self.end_offset if stable is None else min(stable, self.end_offset)

    def find_leader_epoch(self, offset: int) -> int:
        """Return the leader epoch of an offset, or the current one if it is unknown."""
        epochs = [
            epoch
            for epoch, start in self._epoch_starts.items()
            if start <= offset < self.end_offset
        ]
        return max(epochs, default=self.leader_epoch)

    def find_epoch_end(self, leader_epoch: int) -> tuple[int, int]:
        """Return the largest epoch up to ``leader_epoch`` and its end offset.

        Without ``leader-epoch-checkpoint``, all epochs end at the log end offset.
        """
        if not self._epoch_starts and 0 <= leader_epoch <= self.leader_epoch:
            return leader_epoch, self.end_offset
        return super().find_epoch_end(leader_epoch)

    def read(self, offset: int, max_bytes: int, limit: int, minimum_one: bool) -> bytes:
        """Return the batches from ``offset`` on that begin before ``limit``."""
        pieces: list[bytes] = []
        size = 0
        if offset >= limit:
            # A consumer at the end would otherwise read the last segment repeatedly.
            return b""
        for header, data in self._iter_batches(offset):
            if header.base_offset >= limit:
                break
            if size + len(data) > max_bytes and not (minimum_one and not pieces):
                pieces.append(data[: max(max_bytes - size, 0)])
                break
            pieces.append(data)
            size += len(data)
        return b"".join(pieces)

    def find_aborted(self, offset: int, limit: int) -> list[AbortedTransaction]:
        """List the aborted transactions with records between two offsets."""
        aborted = self._load_transactions().aborted
        first = bisect_left(aborted, offset, key=lambda entry: entry.last_offset)
        return [
            AbortedTransaction(*entry)
            for entry in aborted[first:]
            if entry.first_offset < limit
        ]

    def find_timestamp(self, timestamp_ms: int) -> tuple[int, int, int] | None:
        """Find the first record that is not older than a timestamp."""
        offset = self._partition.offset_for_timestamp(timestamp_ms)
        if offset is None:
            return None
        for batch in self._partition.batches(
            start_offset=offset, end_offset=offset + 1, on_corrupt="skip"
        ):
            for record in batch.records:
                return offset, record.timestamp, batch.header.partition_leader_epoch
        return None

    def find_max_timestamp(self) -> tuple[int, int, int] | None:
        """Find the first record with the largest timestamp."""
        if self._newest_timestamp is None:
            headers = self._partition.headers(on_corrupt="skip")
            self._newest_timestamp = max(
                (header.max_timestamp for header in headers), default=-1
            )
        if self._newest_timestamp < 0:
            return None
        return self.find_timestamp(self._newest_timestamp)

    def records(self) -> Iterator[Record]:
        """Iterate over all records, without transaction markers."""
        for batch in self._partition.batches(
            start_offset=self.start_offset, on_corrupt=self._note_problem
        ):
            if not batch.is_control:
                yield from batch.records

    def end_transaction(
        self, producer_id: int, epoch: int, marker: int, timestamp_ms: int
    ) -> None:
        """Ignore the end of a transaction, which has no records in this log."""

    def delete_records_before(self, offset: int) -> None:
        """Ignore the request, because the log is read-only."""

    def truncate(self, offset: int) -> None:
        """Ignore the request, because the log is read-only."""

    def _iter_batches(self, offset: int) -> Iterator[tuple[BatchHeader, bytes]]:
        """Yield the headers and bytes of the intact batches from ``offset`` on."""
        number, start = self._positions.pop(offset, (-1, 0))
        for index, segment in enumerate(self._partition.segments):
            next_base_offset = segment.next_base_offset
            if next_base_offset is not None and next_base_offset <= offset:
                continue
            position = start if index == number else segment.seek_before(offset)
            with segment.open() as file:
                for header in segment.headers(
                    position, check_crc=True, on_corrupt=self._note_problem
                ):
                    end = header.position + header.size
                    if header.last_offset < offset:
                        continue
                    if file.fill(header.position, end) < end:
                        return
                    self._note_position(header.base_offset, index, header.position)
                    yield header, bytes(file.data[header.position : end])

    def _note_position(self, offset: int, index: int, position: int) -> None:
        """Remember where a batch begins, because most Fetches continue a previous one.

        Without an index file, the segment would otherwise be read from its start.
        """
        self._positions[offset] = index, position
        if len(self._positions) > _MAX_POSITIONS:
            del self._positions[next(iter(self._positions))]

    def _find_last_header(self) -> BatchHeader | None:
        """Return the header of the last intact batch."""
        for segment in reversed(self._partition.segments):
            last = None
            start = segment.seek_before(_LAST_OFFSET)
            for header in segment.headers(
                start, check_crc=True, on_corrupt=self._note_problem
            ):
                last = header
            if last is not None:
                return last
        return None

    def _load_transactions(self) -> log.Transactions:
        if self._transactions is None:
            self._transactions = self._partition.transactions()
        return self._transactions

    def _note_problem(self, problem: log.Problem) -> None:
        key = problem.path, problem.position
        if key not in self._reported:
            self._reported.add(key)
            self._report(problem)


class StoredTopics:
    """Topics of the partitions on a disk.

    * ``logs``: partition logs by topic name, in the order of the partitions.
    * ``missing``: partitions that no directory contains, such as "orders-1". They are
      empty logs.
    """

    def __init__(
        self,
        partitions: Sequence[log.Partition],
        report: Callable[[log.Problem], object],
    ) -> None:
        logs: dict[str, dict[int, StoredLog]] = {}
        for partition in partitions:
            topic, index = partition.topic, partition.partition
            if index < 0 or topic == CLUSTER_METADATA:
                continue
            stored = StoredLog(partition, report)
            replica = logs.setdefault(topic, {}).setdefault(index, stored)
            # Replicas of other brokers may have more records.
            if stored.end_offset > replica.end_offset:
                logs[topic][index] = stored
        self.missing: list[str] = []
        self.logs: Mapping[str, Sequence[PartitionLog]] = {
            topic: [
                logs[topic].get(index) or self._add_missing(topic, index)
                for index in range(max(logs[topic]) + 1)
            ]
            for topic in sorted(logs)
        }

    def _add_missing(self, topic: str, index: int) -> PartitionLog:
        self.missing.append(f"{topic}-{index}")
        return MissingLog()


class MissingLog(PartitionLog):
    """Empty read-only log of a partition that no directory contains."""

    is_read_only = True
