# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The second pass of ``offsets``: the log end offsets at the times of commits.

Only batch headers are read. The commits to a partition are numpy arrays, and each step
is one search over all of them. A batch is assumed to have arrived at its maximum
timestamp, or at that of an earlier batch if that is later, so that log end offsets
ascend with time. Times after the last record of ``__consumer_offsets`` count only if no
earlier time follows, because clocks of producers may be wrong.
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
_SUMS = 4


class PartitionCommits(NamedTuple):
    """A partition that groups commit to.

    ``log`` is None if its segments are not in the input. ``commits`` is an Arrow table
    with the columns group, timestamp, offset, log_offset and topic_id, sorted by group
    and log offset; the timestamp is in milliseconds, or -1. ``assigned`` has for each
    group a boolean array: whether a member was assigned the partition at each sample
    time of the report.
    """

    topic: str
    partition: int
    log: Partition | None
    commits: Any
    assigned: dict[str, NDArray[Any]]

    def list_groups(self) -> Iterator[tuple[str, slice]]:
        """List the groups with the rows of their commits; assigned groups may have
        none.
        """
        start = 0
        committed = set()
        for group, rows in groupby(self.commits["group"].to_pylist()):
            stop = start + len(list(rows))
            committed.add(group)
            yield group, slice(start, stop)
            start = stop
        for group in sorted(self.assigned.keys() - committed):
            yield group, slice(0, 0)


class LagTask(NamedTuple):
    """Some partitions to look at, what to measure, and the files to write.

    ``end`` is the time of the last record of ``__consumer_offsets``; ``samples`` are
    the times at which the report shows the lag.
    """

    places: tuple[PartitionCommits, ...]
    end: int
    samples: tuple[int, ...]
    stuck_after_ms: int
    lag: str
    problems: str


class LagSummary(NamedTuple):
    """The result of a task.

    ``stuck`` are rows of that table. ``positions`` are rows of ``partitions``, where
    ``committed`` is None if the partition is assigned and nothing is committed.
    ``samples`` has for each group and topic an array with a row for each sample time:
    the lag, the number of partitions with a known lag, the number without, and how many
    of these have no log in the input. Its numbers are Python's, because the sum of two
    lags may exceed 64 bits.
    """

    stuck: list[Any]
    positions: list[Any]
    samples: dict[tuple[str, str], NDArray[Any]]


class LogEnds:
    """The log end offsets of one partition over time, from the headers of its batches.

    Without a log every end is unknown.
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
                    each.max_timestamp,
                    each.next_offset,
                    each.record_count and not each.is_control,
                )
                for each in log.headers(on_corrupt=self.problems.append)
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
        # The records before the start of a log that does not begin with 0 are deleted.
        before = 0 if log is not None and start == 0 else -1
        self._ends: NDArray[Any] = np.append(before, headers["end"])
        self.last_time = int(self._times[-1]) if headers.size else -1
        self._data_times = self._times[headers["has_data"]]
        self._data_ends = headers["end"][headers["has_data"]]

    def find_lag(
        self, committed: NDArray[Any], now: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Find the end of the log, the lag and its age in milliseconds, at some times.

        The fourth array has the value false where the log does not contain the answer.
        A commit itself proves that the log went as far as its offset.
        """
        ends = self._ends[np.searchsorted(self._times, now, "right")]
        is_known = (committed >= 0) & (now >= 0) & (ends >= 0)
        if self._times.size and self.last_time < 0:
            is_known[:] = False
        ends = np.maximum(ends, committed)
        # A commit at the end of the data waits for nothing: its record arrives now.
        index = np.searchsorted(self._data_ends, committed, "right")
        is_waiting = (index < self._data_times.size) & (ends > committed)
        arrivals = np.append(self._data_times, 0)[index]
        ages = np.where(is_waiting, np.maximum(now - arrivals, 0), 0)
        return ends, ends - committed, ages, is_known

    def find_waiting(self, offset: int, after: int) -> int | None:
        """Find when the first record from ``offset`` on arrived, after a time.

        Markers of transactions are no records. Returns None without such a record.
        """
        index = max(
            np.searchsorted(self._data_ends, offset, "right"),
            np.searchsorted(self._data_times, after, "right"),
        )
        return int(self._data_times[index]) if index < self._data_times.size else None


def measure_lag(task: LagTask) -> LagSummary:
    """Measure the lag of every commit to some partitions."""
    summary = LagSummary([], [], {})
    with (
        open_table(task.lag, make_schema_of("lag")) as lag,
        open_rows_of("problems", task.problems) as problems,
    ):
        for place in task.places:
            ends = _read_log(place, task.end, problems)
            measured = _PartitionLag(task, place, ends)
            lag.write(measured.make_rows())
            for group, rows in place.list_groups():
                measured.add_samples(group, rows, summary)
                measured.add_position(group, rows, summary)
    return summary


def _read_log(place: PartitionCommits, end: int, problems: RowWriter) -> LogEnds:
    try:
        ends = LogEnds(place.log, end)
    except OSError as error:
        path = "" if place.log is None else place.log.path
        row = make_failure_row(path, place.topic, place.partition, error)
        problems.write(row)
        return LogEnds(None, end)
    for problem in ends.problems:
        problems.write(make_problem_row(problem))
    return ends


class _PartitionLag:
    """The commits to one partition as arrays, and their lag.

    ``_comparable`` has the committed offsets that mean a position of this log, and -1
    for all others: for tombstones, for negative offsets, which groups commit when they
    have no position, and for commits to another topic that had the same name.
    """

    def __init__(self, task: LagTask, place: PartitionCommits, ends: LogEnds) -> None:
        self._task, self._place, self._ends = task, place, ends
        commits = place.commits
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
        """Make the rows of the table ``lag``: one for each commit but tombstones."""
        import pyarrow

        commits, count = self._place.commits, len(self._times)
        *measured, is_known = self._ends.find_lag(self._comparable, self._times)
        columns = [
            make_timestamps(self._times),
            commits["group"],
            pyarrow.repeat(self._place.topic, count),
            pyarrow.array(np.full(count, self._place.partition, "i4")),
            commits["offset"],
            *(pyarrow.array(each, mask=~is_known) for each in measured),
            commits["log_offset"],
        ]
        rows = pyarrow.table(columns, schema=make_schema_of("lag"))
        return rows.filter(self._is_commit)

    def add_samples(self, group: str, rows: slice, summary: LagSummary) -> None:
        """Add the lag of this partition to that of its topic, at each sample time.

        A member without a commit has an unknown lag in each partition assigned to it.
        """
        samples = np.array(self._task.samples, "i8")
        # The commits of a group are in the order of the log, their times may not be: a
        # commit counts when all earlier ones do.
        passed = np.maximum.accumulate(self._times[rows])
        index = np.searchsorted(passed, samples, "right")
        committed = np.append(-1, self._comparable[rows])[index]
        has_commit = np.append(False, self._is_commit[rows])[index]
        _, lags, _, is_known = self._ends.find_lag(committed, samples)
        is_assigned = self._place.assigned.get(group, np.zeros(len(samples), bool))
        is_unknown = (has_commit | is_assigned) & ~is_known
        counts = (
            np.where(is_known, lags, 0),
            is_known,
            is_unknown,
            is_unknown & (self._place.log is None),
        )
        key = group, self._place.topic
        sums = summary.samples.setdefault(key, make_sums(len(samples)))
        sums += np.stack(counts, axis=1).astype(object)

    def add_position(self, group: str, rows: slice, summary: LagSummary) -> None:
        """Add the position of a group at the end, and whether it is stuck there."""
        task, place, ends = self._task, self._place, self._ends
        assigned = place.assigned.get(group, ())
        is_assigned = bool(len(assigned) and assigned[-1])
        where = group, place.topic, place.partition
        if rows.start == rows.stop or not self._is_commit[rows.stop - 1]:
            if is_assigned:
                summary.positions.append(
                    PartitionRow(*where, None, ends.final, None, is_assigned)
                )
            return
        offset = int(self._offsets[rows.stop - 1])
        final = lag = None
        if ends.final is not None and self._comparable[rows.stop - 1] >= 0:
            final = max(ends.final, offset)
            lag = final - offset
        summary.positions.append(PartitionRow(*where, offset, final, lag, is_assigned))
        if final is None:
            return
        is_moved = (self._offsets[rows] != offset) | ~self._is_commit[rows]
        since, *_ = self._times[rows][np.append(0, np.nonzero(is_moved)[0] + 1)[-1] :]
        waiting = ends.find_waiting(offset, since)
        if waiting is None:
            return
        if max(task.end, ends.last_time) - waiting >= task.stuck_after_ms:
            last = self._times[rows.stop - 1]
            summary.stuck.append(StuckRow(*where, offset, final, int(since), int(last)))


def make_sums(count: int) -> NDArray[Any]:
    """Make the sums of ``LagSummary.samples`` for ``count`` times, all 0."""
    return np.zeros((count, _SUMS), object)


def _find_topic_id(log: Partition) -> str | None:
    try:
        return format_uuid(log.topic_id)
    except (DecodeError, OSError):
        return None
