# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Second offsets pass: computes lag from historical log end offsets.

Only batch headers are read. The commits to a partition are numpy arrays, so that a
single vectorized binary search covers all of them.

A batch is assumed to have been appended at its maximum timestamp, or at the maximum
timestamp of an earlier batch if that is later. Under this assumption, log end offsets
increase with time. Timestamps after the last ``__consumer_offsets`` record are ignored
if an earlier timestamp follows, because producer clocks can be incorrect.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import DecodeError
from ..tables import open_table
from .groups import format_uuid
from .problems import make_failure_row, make_problem_row
from .tables import (
    PartitionRow,
    StuckRow,
    make_schema_of,
    make_timestamps,
    open_rows_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ...log import Partition, Problem
    from ..tables import RowWriter

_HEADER = [("time", "i8"), ("end", "i8"), ("has_data", "?")]
_SUM_COLUMNS = 4


class PartitionCommits(NamedTuple):
    """Partition that groups have committed to, or that is assigned to a group member.

    * ``log``: None if the input contains no segments of this partition.
    * ``commits``: Arrow table with the columns group, timestamp (milliseconds, or -1),
      offset, log_offset and topic_id. It is sorted by group and log offset.
    * ``assigned``: for every group, a boolean array that indicates whether a member was
      assigned the partition at every sample time.
    """

    topic: str
    partition: int
    log: Partition | None
    commits: Any
    assigned: dict[str, NDArray[Any]]

    def list_groups(self) -> Iterator[tuple[str, slice]]:
        """Yield (group, rows) pairs for all groups of the partition.

        ``rows`` is a slice of ``commits``. It is empty if the partition is assigned to
        the group, but the group has never committed an offset.
        """
        first_row = 0
        committed = set()
        for group, rows in groupby(self.commits["group"].to_pylist()):
            stop_row = first_row + len(list(rows))
            committed.add(group)
            yield group, slice(first_row, stop_row)
            first_row = stop_row
        for group in sorted(self.assigned.keys() - committed):
            yield group, slice(0, 0)


class LagTask(NamedTuple):
    """Input for a lag task.

    * ``places``: partitions to process.
    * ``end``: last record timestamp in ``__consumer_offsets``, milliseconds.
    * ``samples``: lag chart timestamps, milliseconds.
    * ``stuck_after_ms``: minimum waiting time for stuck partitions.
    * ``lag``, ``problems``: Parquet files to create.
    """

    places: tuple[PartitionCommits, ...]
    end: int
    samples: tuple[int, ...]
    stuck_after_ms: int
    lag: str
    problems: str


class LagSummary(NamedTuple):
    """Result of a lag task.

    * ``stuck``: ``stuck`` rows.
    * ``positions``: ``partitions`` rows. ``committed`` is None if the partition is
      assigned, but has no commit.
    * ``samples``: for (group, topic), an array with one row per sample time and four
      columns: total lag, partitions with known lag, partitions with unknown lag, and
      partitions with unknown lag because the input contains no log. Values are Python
      integers, because adding two lags can exceed 64 bits.
    """

    stuck: list[Any]
    positions: list[Any]
    samples: dict[tuple[str, str], NDArray[Any]]


class LogEnds:
    """Log end offsets of a partition over time, computed from its batch headers.

    ``log`` is None if the log is not available: all end offsets are unknown then.
    ``end`` is the timestamp (milliseconds) after which wrong producer clocks are
    suspected.

    * ``final``: log end offset, or None without a log. A log without batches ends at
      its log start offset.
    * ``last_time``: timestamp of the last append in milliseconds, or -1.
    * ``topic_id``: topic id as text, or None if it is unknown.
    * ``problems``: damaged regions, which are skipped.

    Raises ``OSError`` if a segment file cannot be read.
    """

    def __init__(self, log: Partition | None, end: int) -> None:
        self.problems: list[Problem] = []
        self.topic_id: str | None = None
        self.final: int | None = None
        headers: NDArray[Any] = np.empty(0, _HEADER)
        if log is not None:
            self.topic_id = _find_topic_id(log)
            start = self.final = log.start_offset
            rows = (
                (
                    header.max_timestamp,
                    header.next_offset,
                    header.record_count and not header.is_control,
                )
                for header in log.headers(on_corrupt=self.problems.append)
            )
            headers = np.fromiter(rows, _HEADER)
        times = headers["time"]
        (early,) = np.nonzero((times >= 0) & (times <= end))
        is_believed = times <= end
        is_believed[early[-1] + 1 if early.size else 0 :] = True
        times = np.where(is_believed, times, -1)
        self._times = np.maximum.accumulate(np.maximum(times, -1))
        if headers.size:
            self.final = int(headers["end"][-1])
        # If the log start offset is 0, the log end offset was 0 before the first batch.
        # Otherwise older records have been deleted, and the offset is unknown.
        initial_end = 0 if log is not None and start == 0 else -1
        self._ends: NDArray[Any] = np.append(initial_end, headers["end"])
        self.last_time = int(self._times[-1]) if headers.size else -1
        self._data_times = self._times[headers["has_data"]]
        self._data_ends = headers["end"][headers["has_data"]]

    def find_lag(
        self, committed: NDArray[Any], now: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Compute log end offset, lag and its age in milliseconds for several commits.

        ``committed`` and ``now`` are parallel arrays of committed offsets and
        timestamps. The fourth result is False where the log does not contain the
        required information. A commit proves that the log end offset was at least the
        committed offset.
        """
        ends = self._ends[np.searchsorted(self._times, now, "right")]
        is_known = (committed >= 0) & (now >= 0) & (ends >= 0)
        if self._times.size and self.last_time < 0:
            is_known[:] = False
        ends = np.maximum(ends, committed)
        # If the committed offset equals the log end offset, no record is waiting: the
        # next record in the log was appended later.
        index = np.searchsorted(self._data_ends, committed, "right")
        is_waiting = (index < self._data_times.size) & (ends > committed)
        arrivals = np.append(self._data_times, 0)[index]
        ages = np.where(is_waiting, np.maximum(now - arrivals, 0), 0)
        return ends, ends - committed, ages, is_known

    def find_waiting(self, offset: int, after: int) -> int | None:
        """Find the timestamp of the first unread record after a certain time.

        Only records from ``offset`` on are considered. Transaction markers do not
        count. Returns None if there is no such record.
        """
        index = max(
            np.searchsorted(self._data_ends, offset, "right"),
            np.searchsorted(self._data_times, after, "right"),
        )
        return int(self._data_times[index]) if index < self._data_times.size else None


def measure_lag(task: LagTask) -> LagSummary:
    """Compute the lag of every commit to a task's partitions."""
    summary = LagSummary([], [], {})
    with (
        open_table(task.lag, make_schema_of("lag")) as lag,
        open_rows_of("problems", task.problems) as problems,
    ):
        for partition in task.places:
            ends = _read_log(partition, task.end, problems)
            partition_lag = _PartitionLag(task, partition, ends)
            lag.write(partition_lag.make_rows())
            for group, rows in partition.list_groups():
                partition_lag.add_samples(group, rows, summary)
                partition_lag.add_position(group, rows, summary)
    return summary


def _read_log(partition: PartitionCommits, end: int, problems: RowWriter) -> LogEnds:
    try:
        ends = LogEnds(partition.log, end)
    except OSError as error:
        path = "" if partition.log is None else partition.log.path
        row = make_failure_row(path, partition.topic, partition.partition, error)
        problems.write(row)
        return LogEnds(None, end)
    for problem in ends.problems:
        problems.write(make_problem_row(problem))
    return ends


class _PartitionLag:
    """Lag of all commits to one partition.

    ``_comparable`` contains committed offsets that refer to this log, and -1 for other
    commits: tombstones, negative offsets (committed by groups without a position), and
    commits to a deleted topic with the same name but another topic id.
    """

    def __init__(
        self, task: LagTask, partition: PartitionCommits, ends: LogEnds
    ) -> None:
        self._task, self._partition, self._ends = task, partition, ends
        commits = partition.commits
        self._times = commits["timestamp"].to_numpy()
        self._is_commit = commits["offset"].is_valid().to_numpy()
        self._offsets = commits["offset"].fill_null(-1).to_numpy()
        is_same_topic = [
            None in (topic_id, ends.topic_id) or topic_id == ends.topic_id
            for topic_id in commits["topic_id"].to_pylist()
        ]
        is_comparable = np.array(is_same_topic, bool) & (self._offsets >= 0)
        self._comparable = np.where(is_comparable, self._offsets, -1)

    def make_rows(self) -> Any:
        """Return the rows of the table ``lag``.

        There is one row per commit, except for tombstones.
        """
        import pyarrow

        commits, count = self._partition.commits, len(self._times)
        *measured, is_known = self._ends.find_lag(self._comparable, self._times)
        columns = [
            make_timestamps(self._times),
            commits["group"],
            pyarrow.repeat(self._partition.topic, count),
            pyarrow.array(np.full(count, self._partition.partition, "i4")),
            commits["offset"],
            *(pyarrow.array(values, mask=~is_known) for values in measured),
            commits["log_offset"],
        ]
        rows = pyarrow.table(columns, schema=make_schema_of("lag"))
        return rows.filter(self._is_commit)

    def add_samples(self, group: str, rows: slice, summary: LagSummary) -> None:
        """Add the lag of this partition to its topic, for every sample time.

        If a member is assigned the partition but has not committed, the lag is unknown.
        """
        samples = np.array(self._task.samples, "i8")
        # Commits are sorted by log offset, but their timestamps can decrease. A commit
        # is effective as soon as all previous commits are effective.
        passed = np.maximum.accumulate(self._times[rows])
        index = np.searchsorted(passed, samples, "right")
        committed = np.append(-1, self._comparable[rows])[index]
        has_commit = np.append(False, self._is_commit[rows])[index]
        _, lags, _, is_known = self._ends.find_lag(committed, samples)
        is_assigned = self._partition.assigned.get(group, np.zeros(len(samples), bool))
        is_unknown = (has_commit | is_assigned) & ~is_known
        counts = (
            np.where(is_known, lags, 0),
            is_known,
            is_unknown,
            is_unknown & (self._partition.log is None),
        )
        key = group, self._partition.topic
        sums = summary.samples.setdefault(key, make_sums(len(samples)))
        sums += np.stack(counts, axis=1).astype(object)

    def add_position(self, group: str, rows: slice, summary: LagSummary) -> None:
        """Add the group's final position, and report it if the group is stuck."""
        task, partition, ends = self._task, self._partition, self._ends
        assigned = partition.assigned.get(group, ())
        is_assigned = bool(len(assigned) and assigned[-1])
        key_columns = group, partition.topic, partition.partition
        if rows.start == rows.stop or not self._is_commit[rows.stop - 1]:
            if is_assigned:
                summary.positions.append(
                    PartitionRow(*key_columns, None, ends.final, None, is_assigned)
                )
            return
        offset = int(self._offsets[rows.stop - 1])
        final_end = lag = None
        if ends.final is not None and self._comparable[rows.stop - 1] >= 0:
            final_end = max(ends.final, offset)
            lag = final_end - offset
        summary.positions.append(
            PartitionRow(*key_columns, offset, final_end, lag, is_assigned)
        )
        if final_end is None:
            return
        is_moved = (self._offsets[rows] != offset) | ~self._is_commit[rows]
        since, *_ = self._times[rows][np.append(0, np.nonzero(is_moved)[0] + 1)[-1] :]
        waiting = ends.find_waiting(offset, since)
        if waiting is None:
            return
        if max(task.end, ends.last_time) - waiting >= task.stuck_after_ms:
            last_commit = self._times[rows.stop - 1]
            summary.stuck.append(
                StuckRow(*key_columns, offset, final_end, int(since), int(last_commit))
            )


def make_sums(count: int) -> NDArray[Any]:
    """Return an array for ``LagSummary.samples`` with ``count`` rows of zeros."""
    return np.zeros((count, _SUM_COLUMNS), object)


def _find_topic_id(log: Partition) -> str | None:
    try:
        return format_uuid(log.topic_id)
    except (DecodeError, OSError):
        return None
