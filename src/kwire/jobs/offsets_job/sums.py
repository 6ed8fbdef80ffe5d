# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The small tables of ``offsets``, summed up from the results of tasks.

Their rows are in the order in which the page shows them: the worst first.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from ..chart_text import choose_time_step
from .reading import order_growth
from .tables import GroupRow, TopicLagRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .lag import GroupPosition, LagSummary
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
"""The columns of ``commits`` that are needed."""

STATE_COLUMNS = ("timestamp", "group", "kind", "generation", "state", "members")
"""The columns of ``group_state`` that are needed."""

_HIGHEST = 2**63 - 1

_SAMPLES = 96
_COLUMNS = 24


class GroupState(NamedTuple):
    """A state of a group, and from when on it was so."""

    timestamp: int | None
    kind: str | None
    generation: int | None
    state: str | None
    members: int | None


_NO_STATE = GroupState(None, None, None, None, None)
"""Of a group that commits and does nothing else."""


class GroupTotals:
    """The sums of the first pass; ``add_lag`` adds the results of the second.

    ``start`` and ``end`` are the times that the charts show: from where history is
    complete in some partition of ``__consumer_offsets``, to the last record of any.
    """

    def __init__(
        self, commits: Any, states: Any, summaries: Sequence[OffsetsSummary]
    ) -> None:
        from pyarrow import compute

        self._compute = compute
        self._commits = self._sort_commits(commits)
        self.history = [each.history for each in summaries]
        self.rebalances = sorted(
            chain.from_iterable(each.rebalances for each in summaries),
            key=lambda row: (row.timestamp, row.group, row.to_generation),
        )
        self.growth = order_growth(
            chain.from_iterable(each.growth for each in summaries)
        )
        self.stuck: list[Any] = []
        self.states = self._list_states(states)
        self._positions: list[GroupPosition] = []
        self._lags: dict[tuple[str, str], list[list[int]]] = {}
        self.end = max((each.end for each in summaries), default=-1)
        began = _list_known(row.first_timestamp for row in self.history)
        complete = _list_known(row.complete_from for row in self.history)
        self.start = min(min(complete or began, default=0), max(self.end, 0))
        self.step = choose_time_step(self.end - self.start, _COLUMNS)
        self.samples = tuple(_choose_times(self.start, self.end, _SAMPLES))
        self.assigned = self._list_assigned(states)

    def _sort_commits(self, commits: Any) -> Any:
        """Order commits by partition and group, each group's as they were logged."""
        import pyarrow as arrow

        milliseconds = self._compute.cast(
            commits["timestamp"], arrow.timestamp("ms", tz="UTC")
        )
        known = self._compute.fill_null(
            self._compute.cast(milliseconds, arrow.int64()), -1
        )
        return commits.set_column(0, "timestamp", known).sort_by(
            [
                (name, "ascending")
                for name in ("topic", "partition", "group", "log_offset")
            ]
        )

    def list_commits(self) -> Iterator[tuple[str, int, Any]]:
        """Go through the partitions that were committed to, with their commits."""
        import pyarrow

        places = self._commits.group_by(["topic", "partition"], use_threads=False)
        counts = places.aggregate([([], "count_all")]).to_pylist()
        begin = 0
        for each in counts:
            commits = self._commits.slice(begin, each["count_all"])
            begin += each["count_all"]
            # A slice is pickled with all that it was cut from, a copy is not.
            rows = pyarrow.array(range(commits.num_rows))
            yield each["topic"], each["partition"], commits.take(rows)
        committed = {(each["topic"], each["partition"]) for each in counts}
        nothing = self._commits.slice(0, 0)
        for topic, partition in sorted(self.assigned.keys() - committed):
            yield topic, partition, nothing

    def _list_assigned(self, states: Any) -> dict[tuple[str, int], dict[str, int]]:
        """Find which groups had which partitions at the times that are sampled.

        For each partition the groups, with a bit for each time, as ``PartitionCommits``
        has them. Topics that the log names by an unknown id alone are left out.
        """
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(states["group"].to_pylist()):
            rows.setdefault(name, []).append(row)
        found: dict[tuple[str, int], dict[str, int]] = {}
        for name, own in rows.items():
            bits: dict[int, int] = {}
            index = 0
            for number, time in enumerate(self.samples):
                while index < len(own) and _is_by(self.states[name][index], time):
                    index += 1
                if index:
                    row = own[index - 1]
                    bits[row] = bits.get(row, 0) | 1 << number
            for row, bit in bits.items():
                for place in _list_places(states["members"][row].as_py()):
                    groups = found.setdefault(place, {})
                    groups[name] = groups.get(name, 0) | bit
        return found

    def _list_states(self, states: Any) -> dict[str, list[GroupState]]:
        found: dict[str, list[GroupState]] = {}
        counts = self._compute.list_value_length(states["members"])
        import pyarrow as arrow

        times = self._compute.cast(
            self._compute.cast(states["timestamp"], arrow.timestamp("ms", tz="UTC")),
            arrow.int64(),
        )
        columns = [times, states["kind"], states["generation"], states["state"], counts]
        rows = zip(*(each.to_pylist() for each in columns), strict=True)
        for name, row in zip(states["group"].to_pylist(), rows, strict=True):
            found.setdefault(name, []).append(GroupState(*row))
        return found

    def add_lag(self, lag: LagSummary) -> None:
        """Take what a task of the second pass found."""
        self.stuck += lag.stuck
        self._positions += lag.positions
        for key, counts in lag.samples.items():
            sums = self._lags.setdefault(key, [[0, 0, 0, 0] for _ in self.samples])
            for have, more in zip(sums, counts, strict=True):
                have[:] = [one + other for one, other in zip(have, more, strict=True)]

    def tables(self) -> dict[str, list[Row]]:
        """Give the rows of the small tables."""
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
        """How many partitions are assigned at the end without a commit."""
        return sum(position.committed is None for position in self._positions)

    def groups(self) -> list[Row]:
        """Sum up each group; its lag is known if that of each partition is."""
        compute = self._compute
        commits = self._commits.filter(compute.is_valid(self._commits["offset"]))
        summed = commits.group_by("group", use_threads=False).aggregate(
            [([], "count_all"), ("timestamp", "min"), ("timestamp", "max")]
        )
        by_group = {
            row["group"]: (row["count_all"], row["timestamp_min"], row["timestamp_max"])
            for row in summed.to_pylist()
        }
        lags: dict[str, list[int | None]] = {}
        for position in self._positions:
            lags.setdefault(position.group, []).append(position.lag)
        rebalances = Counter(row.group for row in self.rebalances)
        stuck = Counter(row.group for row in self.stuck)
        rows = []
        for name in {*by_group, *self.states, *lags}:
            state = self.states[name][-1] if name in self.states else _NO_STATE
            known = [lag for lag in lags.get(name, ()) if lag is not None]
            count = len(lags.get(name, ()))
            known_lag = min(sum(known), _HIGHEST) if known else None
            commits, first, last = by_group.get(name, (0, None, None))
            rows.append(
                GroupRow(
                    group=name,
                    kind=state.kind,
                    state=state.state,
                    members=state.members,
                    partitions=count,
                    commits=commits,
                    first_commit=first,
                    last_commit=last,
                    rebalances=rebalances[name],
                    lag=known_lag if len(known) == count else None,
                    unknown_lags=count - len(known),
                    stuck=stuck[name],
                    known_lag=known_lag,
                )
            )
        return sorted(
            rows, key=lambda row: (-row.stuck, -(row.known_lag or 0), row.group)
        )

    def lag_over_time(self) -> list[Row]:
        """Sum up the lag of each group and topic, at each time that was sampled.

        It is known if that of each partition is.
        """
        rows: list[Any] = []
        for key, counts in sorted(self._lags.items()):
            for time, each in zip(self.samples, counts, strict=True):
                lag, known, unknown, without_log = each
                known_lag = min(lag, _HIGHEST) if known else None
                if known or unknown:
                    total = None if unknown else known_lag
                    rows.append(
                        TopicLagRow(
                            time,
                            *key,
                            total,
                            known,
                            unknown,
                            known_lag,
                            without_log,
                        )
                    )
        return rows

    def commit_rate(self) -> list[Row]:
        """Count the commits of each group in each stretch of time of the charts."""
        compute = self._compute
        commits = self._commits
        is_shown = compute.and_(
            compute.is_valid(commits["offset"]),
            compute.greater_equal(commits["timestamp"], self.start),
        )
        commits = commits.filter(is_shown)
        stretch = compute.multiply(
            compute.divide(commits["timestamp"], self.step), self.step
        )
        counted = (
            commits.append_column("stretch", stretch)
            .group_by(["group", "stretch"], use_threads=False)
            .aggregate([([], "count_all")])
        )
        return sorted(
            (
                (row["stretch"], row["group"], row["count_all"])
                for row in counted.to_pylist()
            ),
            key=lambda row: (row[1], row[0]),
        )


def _is_by(state: GroupState, time: int) -> bool:
    return state.timestamp is None or state.timestamp <= time


def _list_places(members: Sequence[Any] | None) -> set[tuple[str, int]]:
    """Collect the partitions that members of a group are assigned."""
    return {
        (each["topic"], partition)
        for member in members or ()
        for each in member["assignment"] or ()
        if each["topic"] is not None
        for partition in each["partitions"]
    }


def _list_known(times: Iterable[int | None]) -> list[int]:
    return [time for time in times if time is not None and time >= 0]


def _choose_times(start: int, end: int, most: int) -> Iterator[int]:
    """Give round times after ``start``, and the end itself."""
    if end < 0:
        return
    step = choose_time_step(end - start, most)
    yield from range(start - start % step + step, end, step)
    yield end
