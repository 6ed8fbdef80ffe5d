# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""First offsets pass: reads a ``__consumer_offsets`` partition.

Commits, group states and problems are written to Parquet files. All records of a group
are in the same partition, so partitions can be processed independently. Transactional
commits only count after the transaction has been committed, as in the group
coordinator. Damaged records, and records from a newer Kafka version, are reported in
the table ``problems`` and do not affect other records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ... import messages
from ..._text import format_count, format_name
from ...errors import DecodeError, UnsupportedVersion
from ...messages import internal_topics
from .groups import GroupRecords, format_uuid
from .problems import ProblemRow, make_failure_row, make_problem_row
from .tables import GrowthRow, HistoryRow, open_rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...log import Partition, Problem, Segment
    from ...records.classes import Batch, Record
    from ..tables import RowWriter

TOPIC = "__consumer_offsets"

_MAX_TIMESTAMP = 253_402_300_799_999
"""Last millisecond of the year 9999, in milliseconds since 1970. Later timestamps are
considered invalid, because ``datetime`` does not support later years.
"""

_MAX_GROWTH_ROWS = 1000
"""Maximum number of rows in the table ``growth``, one per key. A log can contain
millions of different keys, but only those with the most bytes are of interest.
"""

_COMMIT_KEYS = (messages.OffsetCommitKey, messages.LegacyOffsetCommitKey)

_MAX_NAMED_GROUPS = 3


class OffsetsTask(NamedTuple):
    """Input for a read task.

    * ``partition``: ``__consumer_offsets`` partition to read.
    * ``topics``: topic names by topic id.
    * ``groups``: only include these groups. None includes all.
    * ``commits``, ``states``, ``problems``: Parquet files to create.
    """

    partition: Partition
    topics: dict[str, str]
    groups: frozenset[str] | None
    commits: str
    states: str
    problems: str


class OffsetsSummary(NamedTuple):
    """Result of a read task.

    * ``rebalances``, ``growth``, ``history``: rows of the tables with these names.
    * ``end``: timestamp of the last record in milliseconds since 1970, or -1 if the
      partition contains no records.
    """

    rebalances: list[Any]
    growth: list[Any]
    history: Any
    end: int


def read_offsets(task: OffsetsTask) -> OffsetsSummary:
    """Read a ``__consumer_offsets`` partition, and write its tables."""
    with (
        open_rows_of("commits", task.commits) as commits,
        open_rows_of("group_state", task.states) as states,
        open_rows_of("problems", task.problems) as problems,
    ):
        reading = _PartitionReader(task, commits, states, problems)
        reading.run()
    return reading.summary()


def order_growth(rows: Iterable[Any]) -> list[Any]:
    """Return up to 1,000 ``growth`` rows with the most bytes, in descending order."""
    ordered = sorted(rows, key=lambda row: (-row.bytes, *map(str, row[:5])))
    return ordered[:_MAX_GROWTH_ROWS]


class _KeyCounts:
    """Number and size of all ``__consumer_offsets`` records with the same key."""

    __slots__ = ("bytes", "group", "is_commit", "key", "records", "tombstones")

    def __init__(self, key: Any) -> None:
        self.key = key
        self.group: str = key.group if hasattr(key, "group") else key.group_id
        self.is_commit = isinstance(key, _COMMIT_KEYS)
        self.records = self.tombstones = self.bytes = 0

    def count(self, record: Record) -> None:
        """Add a record's size to the totals. The record must have this key."""
        self.records += 1
        self.tombstones += record.value is None
        self.bytes += len(record.key or b"") + len(record.value or b"")

    def row(self, log_partition: int) -> Any:
        """Return the totals as a row of the table ``growth``."""
        key = self.key
        return GrowthRow(
            record_type=type(key).__name__.removesuffix("Key"),
            group=self.group,
            topic=getattr(key, "topic", None),
            partition=getattr(key, "partition", None),
            member=getattr(key, "member_id", getattr(key, "regular_expression", None)),
            records=self.records,
            tombstones=self.tombstones,
            bytes=self.bytes,
            log_partition=log_partition,
        )


class _PartitionReader:
    """Reads the records of one partition in log order."""

    def __init__(
        self,
        task: OffsetsTask,
        commits: RowWriter,
        states: RowWriter,
        problems: RowWriter,
    ) -> None:
        self._partition = task.partition
        self._number = task.partition.partition
        self._group_names = task.groups
        self._commits = commits
        self._problems = problems
        self._groups = GroupRecords(self._number, task.topics, states.write)
        self._keys: dict[bytes | None, _KeyCounts] = {}
        self._pending: dict[int, tuple[int, str, list[str]]] = {}
        self._path = ""
        self._time = -1
        self._end = -1
        self._first: tuple[int, int] | None = None
        self._last: tuple[int, int] | None = None
        self._records = self._committed = self._aborted = self._flaws = 0
        self._clean_start = task.partition.checkpoints.get("cleaner", 0)
        self._complete: tuple[int, int] | None = None

    def run(self) -> None:
        """Read all segments, and report transactions that were never completed."""
        try:
            self._transactions = self._partition.transactions()
            for segment in self._partition.segments:
                self._read_segment(segment)
        except OSError as error:
            self._note_problem(
                make_failure_row(self._partition.path, TOPIC, self._number, error)
            )
        for producer, (offset, path, groups) in sorted(self._pending.items()):
            names = ", ".join(dict.fromkeys(groups[:_MAX_NAMED_GROUPS]))
            explanation = (
                f"not counted: {format_count(len(groups), 'offset commit')} of {names},"
                f" in a transaction of producer {producer} that was never ended"
            )
            self._note_problem(self._make_row(path, offset, "pending", explanation))

    def summary(self) -> OffsetsSummary:
        """Return the summary. Must be called after ``run``."""
        growth = [key.row(self._number) for key in self._keys.values() if key.records]
        no_position = None, None
        first, last = self._first or no_position, self._last or no_position
        complete_from = self._complete or no_position
        history = HistoryRow(
            log_partition=self._number,
            path=format_name(self._partition.path),
            bytes=self._partition.size,
            first_offset=first[0],
            end_offset=None if last[0] is None else last[0] + 1,
            first_timestamp=first[1],
            last_timestamp=last[1],
            complete_from_offset=complete_from[0],
            complete_from=complete_from[1],
            records=self._records,
            commits=self._committed,
            aborted_commits=self._aborted,
            pending_commits=sum(len(groups) for *_, groups in self._pending.values()),
            problems=self._flaws,
        )
        return OffsetsSummary(
            self._groups.rebalances, order_growth(growth), history, self._end
        )

    def _note_problem(self, row: ProblemRow) -> None:
        self._problems.write(row)
        self._flaws += 1

    def _read_segment(self, segment: Segment) -> None:
        """Read all batches of a segment, and detect whether it was compacted."""
        self._path = format_name(segment.path)
        damaged: list[Problem] = []
        expected: int | None = max(segment.base_offset, 0)
        for batch in segment.batches(on_corrupt=damaged.append):
            if damaged:
                expected = None
                self._note_damage(damaged)
            if _has_holes(batch, expected):
                self._note_compaction(segment)
            expected = batch.last_offset + 1
            self._read_batch(batch)
        next_base_offset = segment.next_base_offset
        if (
            next_base_offset is not None
            and not damaged
            and expected not in (None, next_base_offset)
        ):
            self._note_compaction(segment)
        self._note_damage(damaged)

    def _note_compaction(self, segment: Segment) -> None:
        """Move the start of the complete history to the end of a compacted segment.

        The log cleaner may have removed any record before that offset, so only the
        history after it is certainly complete. If the last segment is compacted, no
        part of the history counts as complete.
        """
        next_base_offset = segment.next_base_offset
        segment_end = 2**63 - 1 if next_base_offset is None else next_base_offset
        self._clean_start = max(self._clean_start, segment_end)
        self._complete = None

    def _note_damage(self, damaged: list[Problem]) -> None:
        for problem in damaged:
            self._note_problem(make_problem_row(problem))
        damaged.clear()

    def _read_batch(self, batch: Batch) -> None:
        header = batch.header
        if header.is_control:
            return
        is_aborted = self._transactions.hides(header)
        open_offset = self._transactions.open.get(header.producer_id)
        is_pending = (
            header.is_transactional
            and open_offset is not None
            and batch.base_offset >= open_offset
        )
        for record in batch.records:
            self._records += 1
            key: Any
            try:
                key, value = internal_topics.decode(TOPIC, record.key, record.value)
            except (DecodeError, UnsupportedVersion) as error:
                self._note_time(record, -1)
                self._note_undecodable(record, error)
                continue
            self._note_time(record, getattr(value, "commit_timestamp", -1))
            key_counts = self._keys.get(record.key)
            if key_counts is None:
                key_counts = self._keys[record.key] = _KeyCounts(key)
            if (
                self._group_names is not None
                and key_counts.group not in self._group_names
            ):
                continue
            key_counts.count(record)
            if is_aborted:
                self._aborted += key_counts.is_commit
            elif is_pending:
                self._keep_pending(header.producer_id, record.offset, key_counts.group)
            elif key_counts.is_commit:
                self._apply_commit(key, value, record)
            else:
                for explanation in self._groups.apply(
                    key, value, self._time, record.offset
                ):
                    self._note_problem(
                        self._make_row(
                            self._path, record.offset, "undecodable", explanation
                        )
                    )
        self._groups.end_batch()

    def _note_time(self, record: Record, commit_timestamp: int) -> None:
        """Determine the effective timestamp of a record.

        This is the record's own timestamp, or the commit timestamp if the record has
        none, or otherwise the timestamp of the previous record.
        """
        for timestamp in (record.timestamp, commit_timestamp):
            if 0 <= timestamp <= _MAX_TIMESTAMP:
                self._time = timestamp
                self._end = max(self._end, timestamp)
                break
        self._last = record.offset, self._time
        if self._first is None:
            self._first = self._last
        if self._complete is None and record.offset >= self._clean_start:
            self._complete = self._last

    def _apply_commit(self, key: Any, value: Any, record: Record) -> None:
        columns = self._time, key.group, key.topic, key.partition
        log_columns = record.offset, self._number
        if value is None:
            self._commits.write(
                (*columns, None, None, None, None, True, *log_columns, None, None)
            )
            return
        self._committed += 1
        # Commit records from brokers older than 0.9 do not contain these fields.
        epoch = getattr(value, "leader_epoch", -1)
        expires = getattr(value, "expire_timestamp", -1)
        topic_id = format_uuid(getattr(value, "topic_id", None))
        self._groups.learn_topic(topic_id, key.topic)
        self._commits.write(
            (
                *columns,
                value.offset,
                epoch if epoch >= 0 else None,
                value.metadata,
                expires if 0 <= expires <= _MAX_TIMESTAMP else None,
                False,
                *log_columns,
                int.from_bytes((record.value or b"")[:2], "big"),
                topic_id,
            )
        )

    def _keep_pending(self, producer: int, offset: int, group: str) -> None:
        _, _, groups = self._pending.setdefault(producer, (offset, self._path, []))
        groups.append(group)

    def _note_undecodable(self, record: Record, error: Exception) -> None:
        reason = "newer" if isinstance(error, UnsupportedVersion) else "undecodable"
        explanation = str(error)
        try:
            key, _ = internal_topics.decode(TOPIC, record.key, None)
            explanation = f"{explanation}; the key is {key!r}"
        except (DecodeError, UnsupportedVersion):
            pass
        self._note_problem(
            self._make_row(self._path, record.offset, reason, explanation)
        )

    def _make_row(self, path: str, offset: int, reason: str, error: str) -> ProblemRow:
        number = self._number
        return ProblemRow(
            path, TOPIC, number, offset=offset, reason=reason, error=error
        )


def _has_holes(batch: Batch, expected: int | None) -> bool:
    """Return whether the log cleaner has removed records within or before a batch.

    ``expected`` is the offset after the previous batch, or None if it is unknown
    because of damage. Records before the batch are not checked then.
    """
    start: int = batch.base_offset
    last: int = batch.last_offset
    if batch.records and batch.magic < 2:
        start = batch.records[0].offset
    if expected is not None and start > expected:
        return True
    if batch.header.delete_horizon is not None:
        return True
    return len(batch.records) < last + 1 - start
