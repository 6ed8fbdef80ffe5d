# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Small tables of the offsets job, aggregated from the task results.

Rows have the same order as in the report: the most urgent rows come first.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..chart_text import choose_time_step
from .lag import PartitionCommits, make_sums
from .reading import order_growth
from .tables import GroupRow, TopicLagRow, read_milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ...log import Partition
    from .lag import LagSummary
    from .reading import OffsetsSummary

    Row = tuple[Any, ...]

COMMIT_COLUMNS = (
    "timestamp",
    "group",
    "topic",
    "partition",
    "offset",
    "log_offset",
    "topic_id",
)
"""Columns of the table ``commits`` that are required for the aggregation."""

STATE_COLUMNS = ("timestamp", "group", "kind", "generation", "state", "members")
"""Columns of the table ``group_state`` that are required for the aggregation."""

_MAX_BIGINT = 2**63 - 1

_MAX_SAMPLES = 96
_MAX_CHART_COLUMNS = 24


class GroupState(NamedTuple):
    """State of a group, and the timestamp (milliseconds) at which it began.

    * ``members``: number of members.
    * ``row``: row index in the table ``group_state``.
    """

    timestamp: int | None
    kind: str | None
    generation: int | None
    state: str | None
    members: int | None
    row: int


_NO_STATE = GroupState(None, None, None, None, None, -1)
"""State of groups that only commit offsets, because their log contains no state."""


class GroupTotals:
    """Aggregated results of the first pass. ``add_lag`` adds the second pass.

    * ``start``: beginning of the time axis in charts. From this time on, the history of
      at least one ``__consumer_offsets`` partition is complete.
    * ``end``: end of the time axis in charts, which is the maximum timestamp of the
      last records of all partitions.

    Both times are milliseconds since 1970.
    """

    def __init__(
        self, commits: Any, states: Any, summaries: Sequence[OffsetsSummary]
    ) -> None:
        from pyarrow import compute

        self._compute = compute
        self._commits = self._sort_commits(commits)
        self.history = [summary.history for summary in summaries]
        self.rebalances = sorted(
            chain.from_iterable(summary.rebalances for summary in summaries),
            key=lambda row: (row.timestamp, row.group, row.to_generation),
        )
        self.growth = order_growth(
            chain.from_iterable(summary.growth for summary in summaries)
        )
        self.stuck: list[Any] = []
        self.states = self._list_states(states)
        self._positions: list[Any] = []
        self._lags: dict[tuple[str, str], NDArray[Any]] = {}
        self.end = max((summary.end for summary in summaries), default=-1)
        began = _list_valid_times(row.first_timestamp for row in self.history)
        complete = _list_valid_times(row.complete_from for row in self.history)
        self.start = min(min(complete or began, default=0), max(self.end, 0))
        self.step = choose_time_step(self.end - self.start, _MAX_CHART_COLUMNS)
        self.samples = tuple(_choose_times(self.start, self.end, _MAX_SAMPLES))
        self.assigned = self._list_assigned(states)

    def _sort_commits(self, commits: Any) -> Any:
        """Sort commits by topic, partition, group and log offset.

        Timestamps become milliseconds. Unknown timestamps become -1.
        """
        times = read_milliseconds(commits["timestamp"]).fill_null(-1)
        order = ("topic", "partition", "group", "log_offset")
        return commits.set_column(0, "timestamp", times).sort_by(
            [(name, "ascending") for name in order]
        )

    def list_places(
        self, logs: Mapping[tuple[str, int], Partition]
    ) -> Iterator[PartitionCommits]:
        """Yield the partitions with commits, and then the partitions without commits.

        A partition without commits is assigned to a group member.
        """
        import pyarrow

        keys = self._commits.group_by(["topic", "partition"], use_threads=False)
        counts = {
            (row["topic"], row["partition"]): row["count_all"]
            for row in keys.aggregate([([], "count_all")]).to_pylist()
        }
        first_row = 0
        for key in (*counts, *sorted(self.assigned.keys() - counts.keys())):
            stop_row = first_row + counts.get(key, 0)
            # Copy the rows, because a slice would be pickled together with the whole
            # table.
            commits = self._commits.take(
                pyarrow.array(range(first_row, stop_row), "int64")
            )
            yield PartitionCommits(
                *key, logs.get(key), commits, self.assigned.get(key, {})
            )
            first_row = stop_row

    def _list_assigned(self, states: Any) -> dict[tuple[str, int], dict[str, Any]]:
        """Determine the assigned groups of every partition at the sample times.

        The values have the format of ``PartitionCommits.assigned``. Topics are omitted
        if the log only contains their id, and the name is unknown.
        """
        assigned: dict[tuple[str, int], dict[str, Any]] = {}
        samples = np.array(self.samples, "i8")
        nothing: NDArray[Any] = np.zeros(len(samples), bool)
        for name, group_states in self.states.items():
            times = [
                -1 if state.timestamp is None else state.timestamp
                for state in group_states
            ]
            effective_times = np.maximum.accumulate(np.array(times, "i8"))
            latest: NDArray[Any] = (
                np.searchsorted(effective_times, samples, "right") - 1
            )
            for index in set(latest[latest >= 0].tolist()):
                for partition in _list_assigned_partitions(
                    states["members"][group_states[index].row].as_py()
                ):
                    groups = assigned.setdefault(partition, {})
                    groups[name] = groups.get(name, nothing) | (latest == index)
        return assigned

    def _list_states(self, states: Any) -> dict[str, list[GroupState]]:
        states_by_group: dict[str, list[GroupState]] = {}
        columns = [
            states["group"],
            read_milliseconds(states["timestamp"]),
            states["kind"],
            states["generation"],
            states["state"],
            self._compute.list_value_length(states["members"]),
        ]
        values = [column.to_pylist() for column in columns]
        for name, *state in zip(*values, range(states.num_rows), strict=True):
            states_by_group.setdefault(name, []).append(GroupState(*state))
        return states_by_group

    def add_lag(self, lag: LagSummary) -> None:
        """Add the stuck partitions, positions and lag samples that a task has found."""
        self.stuck += lag.stuck
        self._positions += lag.positions
        for key, counts in lag.samples.items():
            sums = self._lags.setdefault(key, make_sums(len(self.samples)))
            sums += counts

    def tables(self) -> dict[str, list[Row]]:
        """Return the rows of all small tables, by table name."""
        self.stuck.sort(key=lambda row: (row.committed - row.log_end, *row[:3]))
        return {
            "rebalances": self.rebalances,
            "stuck": self.stuck,
            "groups": self.groups(),
            "partitions": sorted(self._positions),
            "lag_over_time": self.lag_over_time(),
            "commit_rate": self.commit_rate(),
            "growth": self.growth,
            "history": self.history,
        }

    @property
    def uncommitted(self) -> int:
        """Number of partitions that are assigned to a member, but have no commit.

        The assignment at the end of the history counts.
        """
        return sum(position.committed is None for position in self._positions)

    def groups(self) -> list[Row]:
        """Return the ``groups`` rows.

        If the lag of any partition is unknown, the lag of its group is None.
        """
        compute = self._compute
        commits = self._commits.filter(compute.is_valid(self._commits["offset"]))
        summed = commits.group_by("group", use_threads=False).aggregate(
            [([], "count_all"), ("timestamp", "min"), ("timestamp", "max")]
        )
        columns = ("group", "count_all", "timestamp_min", "timestamp_max")
        values = (summed[name].to_pylist() for name in columns)
        by_group = {name: row for name, *row in zip(*values, strict=True)}
        lags: dict[str, list[int | None]] = {}
        for position in self._positions:
            lags.setdefault(position.group, []).append(position.lag)
        rebalances = Counter(row.group for row in self.rebalances)
        stuck = Counter(row.group for row in self.stuck)
        rows = []
        for name in {*by_group, *self.states, *lags}:
            state = self.states[name][-1] if name in self.states else _NO_STATE
            known_lags = [lag for lag in lags.get(name, ()) if lag is not None]
            count = len(lags.get(name, ()))
            known_lag = min(sum(known_lags), _MAX_BIGINT) if known_lags else None
            commits, first_commit, last_commit = by_group.get(name, (0, None, None))
            rows.append(
                GroupRow(
                    group=name,
                    kind=state.kind,
                    state=state.state,
                    members=state.members,
                    partitions=count,
                    commits=commits,
                    first_commit=first_commit,
                    last_commit=last_commit,
                    rebalances=rebalances[name],
                    lag=known_lag if len(known_lags) == count else None,
                    unknown_lags=count - len(known_lags),
                    stuck=stuck[name],
                    known_lag=known_lag,
                )
            )
        return sorted(
            rows, key=lambda row: (-row.stuck, -(row.known_lag or 0), row.group)
        )

    def lag_over_time(self) -> list[Row]:
        """Return ``lag_over_time`` rows: total lag per group, topic and sample time.

        If the lag of any partition is unknown, the total lag is None.
        """
        rows: list[Any] = []
        for key, sums in sorted(self._lags.items()):
            for timestamp, sample in zip(self.samples, sums, strict=True):
                lag, known_count, unknown_count, without_log = sample
                known_lag = min(lag, _MAX_BIGINT) if known_count else None
                counts = (
                    None if unknown_count else known_lag,
                    known_count,
                    unknown_count,
                    known_lag,
                )
                if known_count or unknown_count:
                    rows.append(TopicLagRow(timestamp, *key, *counts, without_log))
        return rows

    def commit_rate(self) -> list[Row]:
        """Return ``commit_rate`` rows: commit count per group and chart interval."""
        compute = self._compute
        is_shown = compute.and_(
            compute.is_valid(self._commits["offset"]),
            compute.greater_equal(self._commits["timestamp"], self.start),
        )
        commits = self._commits.filter(is_shown)
        starts = compute.multiply(
            compute.divide(commits["timestamp"], self.step), self.step
        )
        counted = (
            commits.append_column("start", starts)
            .group_by(["start", "group"], use_threads=False)
            .aggregate([([], "count_all")])
            .sort_by([("group", "ascending"), ("start", "ascending")])
            .select(["start", "group", "count_all"])
        )
        return list(
            zip(*(column.to_pylist() for column in counted.columns), strict=True)
        )


def _list_assigned_partitions(members: Sequence[Any] | None) -> set[tuple[str, int]]:
    """Return the (topic, partition) pairs that are assigned to members of a group."""
    return {
        (assignment["topic"], partition)
        for member in members or ()
        for assignment in member["assignment"] or ()
        if assignment["topic"] is not None
        for partition in assignment["partitions"]
    }


def _list_valid_times(times: Iterable[int | None]) -> list[int]:
    return [time for time in times if time is not None and time >= 0]


def _choose_times(start: int, end: int, max_count: int) -> Iterator[int]:
    """Return round timestamps after ``start``, and finally ``end`` itself."""
    if end < 0:
        return
    step = choose_time_step(end - start, max_count)
    yield from range(start - start % step + step, end, step)
    yield end
