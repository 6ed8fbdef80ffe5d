# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Partition``: a partition directory with its segments in offset order.

``segments.py`` reads individual segments, and this module combines them into one log.
``directory.py`` finds the partition directories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._limits import DEFAULT
from ..schema.topic_names import COMPACTED_TOPICS
from .checkpoints import read_leader_epochs, read_partition_metadata
from .examine import examine
from .segments import find_transactions
from .snapshots import ProducerSnapshot
from .transactions import check_isolation_level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from uuid import UUID

    from .._limits import Limits
    from ..records import Batch, BatchHeader
    from ..records.columns import Records
    from .problems import Problem
    from .segments import Segment
    from .storage import Place
    from .transactions import Transactions


class Partition:
    """One partition in one directory: a replica, or a replica's remaining files.

    * ``partition``: partition number, or -1 if the directory name contains none.
    * ``state``: empty if the partition is in use, otherwise "future", "stray" or
      "delete" as named by Kafka.
    * ``segments``: segments, sorted by base offset.
    * ``snapshots``: KRaft checkpoints. Their offsets are independent of the segments.
    * ``checkpoints``: offsets from checkpoint files in the data directory, by name:
      "recovery-point", "log-start", "replication" (the high watermark) and "cleaner".
    """

    __slots__ = (
        "_compacted",
        "_topic_id",
        "checkpoints",
        "partition",
        "path",
        "producer_snapshot_paths",
        "segments",
        "snapshots",
        "state",
        "topic",
    )

    def __init__(
        self,
        path: Place,
        topic: str,
        partition: int,
        *,
        segments: tuple[Segment, ...],
        snapshots: tuple[Segment, ...] = (),
        producer_snapshot_paths: tuple[Place, ...] = (),
        state: str = "",
        topic_id: UUID | None = None,
        checkpoints: Mapping[str, int] | None = None,
        compacted: bool | None = None,
    ) -> None:
        self.path = path
        self.topic = topic
        self.partition = partition
        self.segments = segments
        self.snapshots = snapshots
        self.producer_snapshot_paths = producer_snapshot_paths
        self.state = state
        self.checkpoints = dict(checkpoints or {})
        self._topic_id = topic_id
        self._compacted = compacted

    def __repr__(self) -> str:
        return (
            f"<Partition {self.topic}-{self.partition}, {len(self.segments)} segments,"
            f" {self.size} bytes>"
        )

    @property
    def size(self) -> int:
        """Total size of all segments in bytes."""
        return sum(segment.size for segment in self.segments)

    @property
    def topic_id(self) -> UUID | None:
        """Topic id from ``partition.metadata`` or from the directory name, or None.

        Raises ``DecodeError`` if ``partition.metadata`` is damaged.
        """
        if self._topic_id is None:
            try:
                metadata = read_partition_metadata(self.path / "partition.metadata")
            except FileNotFoundError:
                return None
            self._topic_id = metadata.topic_id
        return self._topic_id

    @property
    def leader_epochs(self) -> tuple[tuple[int, int], ...]:
        """Pairs of (epoch, first offset). Empty without ``leader-epoch-checkpoint``.

        The file is read on every access. Raises ``DecodeError`` if it is damaged.
        """
        try:
            return read_leader_epochs(self.path / "leader-epoch-checkpoint")
        except FileNotFoundError:
            return ()

    @property
    def producer_snapshots(self) -> tuple[ProducerSnapshot, ...]:
        """Decoded ``.snapshot`` files. Raises ``DecodeError`` if a file is damaged."""
        return tuple(ProducerSnapshot(path) for path in self.producer_snapshot_paths)

    @property
    def start_offset(self) -> int:
        """Log start offset according to the checkpoint and the first segment."""
        first = max(self.segments[0].base_offset, 0) if self.segments else 0
        return max(first, self.checkpoints.get("log-start", 0))

    @property
    def end_offset(self) -> int:
        """Log end offset, computed from the batch headers in the newest segments."""
        for segment in reversed(self.segments):
            last = None
            start = segment.seek_before(2**62)
            for header in segment.headers(start, on_corrupt="skip"):
                last = header.next_offset
            if last is not None:
                return last
        return self.start_offset

    @property
    def is_compacted(self) -> bool:
        """Whether the log has been compacted, so that offsets may be missing.

        True if ``cleaner-offset-checkpoint`` in the data directory lists the partition,
        if Kafka always compacts the topic, or if ``has_holes`` is true for a segment.
        The last condition requires reading headers up to the batch that shows it. The
        result is cached.
        """
        if self._compacted is None:
            self._compacted = (
                "cleaner" in self.checkpoints
                or self.topic in COMPACTED_TOPICS
                or any(segment.has_holes for segment in self.segments)
            )
        return self._compacted

    def transactions(self) -> Transactions:
        """Find all aborted transactions, and all transactions without an end marker."""
        return find_transactions(self.segments)

    def _iter_overlapping(
        self, start_offset: int | None, end_offset: int | None
    ) -> Iterator[Segment]:
        """Yield the segments that may contain offsets in a range."""
        for segment in self.segments:
            next_base_offset = segment.next_base_offset
            if (
                start_offset is not None
                and next_base_offset is not None
                and next_base_offset <= start_offset
            ):
                continue
            if end_offset is not None and segment.base_offset >= end_offset:
                return
            yield segment

    def headers(
        self,
        *,
        start_offset: int | None = None,
        end_offset: int | None = None,
        **options: Any,
    ) -> Iterator[BatchHeader]:
        """Yield the headers of all batches that overlap an offset range.

        ``options`` are passed to ``Segment.headers``. Positions are relative to the
        segment.
        """
        for segment in self._iter_overlapping(start_offset, end_offset):
            for header in segment.headers(**options):
                if end_offset is not None and header.base_offset >= end_offset:
                    return
                if start_offset is None or header.last_offset >= start_offset:
                    yield header

    def batches(
        self,
        *,
        start_offset: int | None = None,
        end_offset: int | None = None,
        isolation_level: str = "read_uncommitted",
        **options: Any,
    ) -> Iterator[Batch]:
        """Decode all segments batch by batch. Parameters as in ``Segment.batches``.

        With "read_committed", ``transactions`` are by default collected from all
        segments of the partition.
        """
        return self._decode_segments(
            "batches", start_offset, end_offset, isolation_level, options
        )

    def columns(
        self,
        *,
        start_offset: int | None = None,
        end_offset: int | None = None,
        isolation_level: str = "read_uncommitted",
        **options: Any,
    ) -> Iterator[Records]:
        """Decode all segments into columns incrementally.

        Parameters as in ``Segment.columns``. With "read_committed", ``transactions``
        are by default collected from all segments of the partition.
        """
        return self._decode_segments(
            "columns", start_offset, end_offset, isolation_level, options
        )

    def _decode_segments(
        self,
        form: str,
        start_offset: int | None,
        end_offset: int | None,
        isolation_level: str,
        options: dict[str, Any],
    ) -> Iterator[Any]:
        """Decode all segments, and filter transactions across the complete log."""
        only_committed = check_isolation_level(isolation_level)
        if only_committed and options.get("transactions") is None:
            options["transactions"] = self.transactions()
        transactions = options.get("transactions")
        stable_offset = (
            transactions.last_stable_offset
            if only_committed and transactions is not None
            else None
        )
        if stable_offset is not None:
            end_offset = (
                stable_offset if end_offset is None else min(stable_offset, end_offset)
            )
        for segment in self._iter_overlapping(start_offset, end_offset):
            yield from getattr(segment, form)(
                start_offset=start_offset,
                end_offset=end_offset,
                isolation_level=isolation_level,
                **options,
            )

    def seek(self, offset: int) -> tuple[Segment, int] | None:
        """Find the batch that contains ``offset``, or otherwise the next batch.

        Returns its segment and byte position, or None if the log ends before
        ``offset``.
        """
        for segment in self._iter_overlapping(offset, None):
            position = segment.seek(offset)
            if position is not None:
                return segment, position
        return None

    def seek_timestamp(self, timestamp: int) -> tuple[Segment, int] | None:
        """Find the first batch with a record at or after ``timestamp`` (ms).

        Returns its segment and byte position, or None if no batch matches.
        """
        for segment in self.segments:
            position = segment.seek_timestamp(timestamp)
            if position is not None:
                return segment, position
        return None

    def offset_for_timestamp(
        self, timestamp: int, *, limits: Limits = DEFAULT
    ) -> int | None:
        """Find the first offset whose record is at or after ``timestamp`` (ms).

        The result is the same as for Kafka's ListOffsets: the first record by offset,
        not by time, and never before the log start offset in
        ``log-start-offset-checkpoint``. Returns None if no record matches.
        """
        start_offset = self.checkpoints.get("log-start")
        for segment in self._iter_overlapping(start_offset, None):
            offset = segment.offset_for_timestamp(
                timestamp, start_offset=start_offset, limits=limits
            )
            if offset is not None:
                return offset
        return None

    def problems(
        self,
        *,
        deep: bool = False,
        strict_tail: bool = False,
        progress: Callable[[int], object] | None = None,
        limits: Limits = DEFAULT,
    ) -> Iterator[Problem]:
        """Find problems in the segments and between adjacent segments.

        Parameters as in ``Segment.problems``. Use ``verify`` to check index files as
        well.
        """
        return examine(
            self.segments,
            are_gaps_wrong=lambda: not self.is_compacted,
            deep=deep,
            strict_tail=strict_tail,
            progress=progress,
            limits=limits,
        )
