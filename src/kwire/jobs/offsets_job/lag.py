# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The second pass of ``offsets``: where the logs ended when groups committed.

Only headers of batches are read. A batch is taken to have come at its largest
timestamp, or at that of an earlier one if that is later: so the ends of a log ascend
with time, as they do. Times after the last record of ``__consumer_offsets`` count
only where no earlier one follows: clocks of producers may be wrong.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import compress, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import DecodeError
from .groups import format_uuid
from .problems import make_failure_row, make_problem_row
from .tables import StuckRow, open_rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...log import Partition, Problem
    from ..tables import RowWriter


class Commit(NamedTuple):
    """A commit as the lag of a group goes by it; ``offset`` is None in a tombstone."""

    timestamp: int
    offset: int | None
    log_offset: int
    topic_id: str | None


class PartitionCommits(NamedTuple):
    """A partition that groups commit to.

    ``log`` is None if its segments are not in the input. ``commits`` is an Arrow table
    of groups and the fields of ``Commit``: group by group, in the order of their log.
    ``assigned`` has a bit for each of the report's times at which a member of the group
    was assigned the partition, the lowest bit for the first time.
    """

    topic: str
    partition: int
    log: Partition | None
    commits: Any
    assigned: dict[str, int]

    def groups(self) -> Iterator[tuple[str, list[Commit]]]:
        """Go through the groups with their commits; assigned groups may have none."""
        committed = set()
        names = self.commits["group"].to_pylist()
        columns = [self.commits[name].to_pylist() for name in Commit._fields]
        rows = zip(names, map(Commit, *columns), strict=True)
        for group, found in groupby(rows, itemgetter(0)):
            committed.add(group)
            yield group, [commit for _, commit in found]
        for group in sorted(self.assigned.keys() - committed):
            yield group, []


class LagTask(NamedTuple):
    """Some partitions to look at, what to measure, and the files to write.

    ``end`` is the time of the last record of ``__consumer_offsets``; ``samples`` are
    the times at which the report wants to know the lag.
    """

    places: tuple[PartitionCommits, ...]
    end: int
    samples: tuple[int, ...]
    stuck_after_ms: int
    lag: str
    problems: str


class GroupPosition(NamedTuple):
    """Where a group is in a partition when the history ends.

    ``committed`` is None where the partition is assigned and nothing is committed.
    """

    group: str
    topic: str
    partition: int
    committed: int | None
    log_end: int | None
    lag: int | None
    is_assigned: bool


class LagSummary(NamedTuple):
    """The result of a task.

    ``samples`` has for each group and topic, at each time of the task, the lag,
    the number of partitions with and without a known one, and of those without how many
    have no log in the input.
    """

    stuck: list[Any]
    positions: list[GroupPosition]
    samples: dict[tuple[str, str], list[list[int]]]


class LogEnds:
    """The ends of one partition's log over time, from the headers of its batches."""

    def __init__(self, log: Partition, end: int) -> None:
        self.problems: list[Problem] = []
        self.topic_id = _find_topic_id(log)
        self._start = log.start_offset
        times, ends, data = array("q"), array("q"), array("b")
        believed = 0
        for header in log.headers(on_corrupt=self.problems.append):
            times.append(header.max_timestamp)
            ends.append(header.next_offset)
            data.append(header.count != 0 and not header.is_control)
            if 0 <= header.max_timestamp <= end:
                believed = len(times)
        latest = -1
        for index, time in enumerate(times):
            if time > latest and (time <= end or index >= believed):
                latest = time
            times[index] = latest
        self._times, self._ends = times, ends
        self._data_times = array("q", compress(times, data))
        self._data_ends = array("q", compress(ends, data))

    @property
    def last_time(self) -> int:
        """When the last batch came; -1 if that is not known."""
        return self._times[-1] if self._times else -1

    @property
    def final(self) -> int:
        """The end of the log as it is."""
        return self._ends[-1] if self._ends else self._start

    def at(self, timestamp: int) -> int | None:
        """Give the end of the log at a time; None if the log does not say."""
        if timestamp < 0 or (self._times and self.last_time < 0):
            return None
        index = bisect_right(self._times, timestamp)
        if index:
            return self._ends[index - 1]
        # What was before the start of a log that does not begin with 0 is gone.
        return 0 if self._start == 0 else None

    def waiting_since(self, offset: int, after: int = -2) -> int | None:
        """Return when the first record from ``offset`` on came, after a time.

        Markers of transactions are no records. None if there is no such record.
        """
        index = max(
            bisect_right(self._data_ends, offset),
            bisect_right(self._data_times, after),
        )
        return self._data_times[index] if index < len(self._data_times) else None


def measure_lag(task: LagTask) -> LagSummary:
    """Measure the lag of every commit to some partitions."""
    summary = LagSummary([], [], {})
    with (
        open_rows_of("lag", task.lag) as lag,
        open_rows_of("problems", task.problems) as bad,
    ):
        for place in task.places:
            ends = _open(place, task.end, bad)
            for group, commits in place.groups():
                _measure(task, place, ends, group, commits, lag, summary)
    return summary


def _open(place: PartitionCommits, end: int, problems: RowWriter) -> LogEnds | None:
    if place.log is None:
        return None
    try:
        ends = LogEnds(place.log, end)
    except OSError as error:
        problems.write(
            make_failure_row(place.log.path, place.topic, place.partition, error)
        )
        return None
    for problem in ends.problems:
        problems.write(make_problem_row(problem))
    return ends


def _measure(
    task: LagTask,
    place: PartitionCommits,
    ends: LogEnds | None,
    group: str,
    commits: Sequence[Commit],
    lag: RowWriter,
    summary: LagSummary,
) -> None:
    for commit in commits:
        if commit.offset is not None:
            lag.write(
                (
                    commit.timestamp,
                    group,
                    place.topic,
                    place.partition,
                    commit.offset,
                    *_find_lag(ends, commit),
                    commit.log_offset,
                )
            )
    _sample(task.samples, place, ends, group, commits, summary)
    is_assigned = bool(place.assigned.get(group, 0) >> max(len(task.samples) - 1, 0))
    where = group, place.topic, place.partition
    last = commits[-1] if commits else None
    if last is None or last.offset is None:
        if is_assigned:
            end = None if ends is None else ends.final
            summary.positions.append(
                GroupPosition(*where, None, end, None, is_assigned)
            )
        return
    known = _find_ends(ends, last)
    final = None if known is None else max(known.final, last.offset)
    lag_now = None if final is None else final - last.offset
    summary.positions.append(
        GroupPosition(*where, last.offset, final, lag_now, is_assigned)
    )
    if known is None or final is None:
        return
    since = last.timestamp
    for commit in reversed(commits):
        if commit.offset != last.offset:
            break
        since = commit.timestamp
    waiting = known.waiting_since(last.offset, since)
    if waiting is None:
        return
    if max(task.end, known.last_time) - waiting >= task.stuck_after_ms:
        summary.stuck.append(
            StuckRow(*where, last.offset, final, since, last.timestamp)
        )


def _find_lag(
    ends: LogEnds | None, commit: Commit, timestamp: int | None = None
) -> tuple[int | None, int | None, int | None]:
    """Give the end of the log, the lag and its age at the time of a commit, or later.

    The commit itself proves that the log went as far as it.
    """
    now = commit.timestamp if timestamp is None else timestamp
    known = _find_ends(ends, commit)
    end = None if known is None else known.at(now)
    if known is None or end is None or commit.offset is None:
        return None, None, None
    end = max(end, commit.offset)
    waiting = known.waiting_since(commit.offset)
    age = 0 if waiting is None or end == commit.offset else max(now - waiting, 0)
    return end, end - commit.offset, age


def _find_ends(ends: LogEnds | None, commit: Commit) -> LogEnds | None:
    """Give the log if the commit was to this topic, not to one that had its name.

    Below 0 there is nothing to commit: then what the group has read is unknown.
    """
    if commit.offset is None or commit.offset < 0:
        return None
    if ends is None or None in (ends.topic_id, commit.topic_id):
        return ends
    return ends if ends.topic_id == commit.topic_id else None


def _sample(
    samples: Sequence[int],
    place: PartitionCommits,
    ends: LogEnds | None,
    group: str,
    commits: Sequence[Commit],
    summary: LagSummary,
) -> None:
    """Add the lag of one partition to its topic's, at each time of the report.

    Without a commit it is unknown what a member has read of its partitions.
    """
    sums = summary.samples.setdefault(
        (group, place.topic), [[0, 0, 0, 0] for _ in samples]
    )
    assigned = place.assigned.get(group, 0)
    index = 0
    for number, (timestamp, counts) in enumerate(zip(samples, sums, strict=True)):
        while index < len(commits) and commits[index].timestamp <= timestamp:
            index += 1
        lag = None
        if index and commits[index - 1].offset is not None:
            _, lag, _ = _find_lag(ends, commits[index - 1], timestamp)
        elif not assigned >> number & 1:
            continue
        if lag is None:
            counts[2] += 1
            counts[3] += place.log is None
        else:
            counts[0] += lag
            counts[1] += 1


def _find_topic_id(log: Partition) -> str | None:
    try:
        return format_uuid(log.topic_id)
    except (DecodeError, OSError):
        return None
