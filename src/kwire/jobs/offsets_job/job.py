# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``offsets``: what consumer groups did, from the logs that brokers keep.

Two passes over partitions, each in tasks of their own: ``reading`` reads
``__consumer_offsets``, ``lag`` the headers of the topics that groups commit to.
Here they are put in a row, and their summaries become the small tables and the page.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import running
from ..tables import Output
from .inputs import LogInputs
from .lag import LagTask, PartitionCommits, measure_lag
from .page import write_page
from .reading import OffsetsTask, read_offsets
from .sums import COMMIT_COLUMNS, STATE_COLUMNS, GroupTotals
from .tables import COLUMNS, make_table_of, read_back, write_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from ..running import Progress
    from ..tables import Result
    from .inputs import Paths
    from .lag import LagSummary
    from .reading import OffsetsSummary

STUCK_AFTER_MS = 300_000
"""How long something must have waited before its reader counts as stuck."""

_TASK_BYTES = 256 * 1024 * 1024
_TASK_PLACES = 64
_TASK_COMMITS = 200_000


def offsets(
    paths: Paths,
    out: str | os.PathLike[str],
    *,
    groups: Iterable[str] | None = None,
    stuck_after_ms: int = STUCK_AFTER_MS,
    spark: Any = None,
    progress: Progress | None = None,
) -> Result:
    """Tell what consumer groups did: commits, states, lag, rebalances, who is stuck.

    ``paths`` are log directories of one or several brokers, with at least a partition
    of ``__consumer_offsets``; lag needs the segments of the topics, too. ``groups``
    are the names of the only ones to look at. A partition is stuck if new records came
    after its commit had moved for the last time, and the first of them has waited for
    ``stuck_after_ms``.

    ``out`` gets the tables and ``report.html``; it must not exist, or be empty.
    ``spark`` and ``progress`` as in ``running.run_tasks``; the calls of ``progress``
    add up to the bytes of all segments. ``findings`` of the result is the number of
    stuck partitions. Memory in this process: about 200 bytes for each commit.
    Raises ``OSError`` for paths without ``__consumer_offsets`` and for an ``out`` that
    is taken; what is damaged or too new is a row of the table ``problems``.
    """
    return run(
        LogInputs(paths),
        out,
        groups=groups,
        stuck_after_ms=stuck_after_ms,
        spark=spark,
        progress=progress,
    )


def run(
    inputs: LogInputs,
    out: str | os.PathLike[str],
    *,
    groups: Iterable[str] | None = None,
    stuck_after_ms: int = STUCK_AFTER_MS,
    spark: Any = None,
    progress: Progress | None = None,
) -> Result:
    """Run the job over logs that were found; all else as in ``offsets``."""
    if stuck_after_ms < 0:
        raise ValueError(f"stuck_after_ms must be 0 or more (got {stuck_after_ms})")
    if isinstance(groups, str):
        groups = (groups,)
    wanted = None if groups is None else frozenset(groups)
    if spark is None:
        spark = running.choose_spark(None, inputs.work)
    with Output(out) as output, _open_session(spark) as session:
        read = _read(inputs, output, wanted, session, progress)
        files = read.files
        sums = GroupTotals(
            read_back("commits", files["commits"], COMMIT_COLUMNS),
            read_back("group_state", files["group_state"], STATE_COLUMNS),
            read.summaries,
        )
        lags, problems = _measure(
            inputs, output, sums, stuck_after_ms, session, progress
        )
        for lag in lags:
            sums.add_lag(lag)
        last = output.table_path("problems", len(files["problems"]) + len(problems))
        write_rows("problems", last, inputs.problems)
        for name, rows in sums.tables().items():
            output.write_table(name, make_table_of(name, rows))
        found = read_back(
            "problems", [*files["problems"], *problems, last], COLUMNS["problems"]
        )
        output.write_report(write_page(inputs, sums, found, stuck_after_ms))
    return output.result(findings=len(sums.stuck))


class _Read(NamedTuple):
    """What the first pass leaves: the files of each table, the summaries of tasks."""

    files: dict[str, list[str]]
    summaries: list[OffsetsSummary]


def _read(
    inputs: LogInputs,
    output: Output,
    groups: frozenset[str] | None,
    session: Any,
    progress: Progress | None,
) -> _Read:
    """Read the partitions of ``__consumer_offsets``."""
    names = inputs.topic_names()
    tasks = [
        OffsetsTask(
            log,
            names,
            groups,
            output.table_path("commits", number),
            output.table_path("group_state", number),
            output.table_path("problems", number),
        )
        for number, log in enumerate(inputs.offsets)
    ]
    summaries = running.run_tasks(
        read_offsets,
        tasks,
        sizes=[task.partition.size for task in tasks],
        spark=session,
        progress=progress,
    )
    files = {
        "commits": [task.commits for task in tasks],
        "group_state": [task.states for task in tasks],
        "problems": [task.problems for task in tasks],
    }
    return _Read(files, summaries)


def _measure(
    inputs: LogInputs,
    output: Output,
    sums: GroupTotals,
    stuck_after_ms: int,
    session: Any,
    progress: Progress | None,
) -> tuple[list[LagSummary], list[str]]:
    """Measure the lag of all commits; return what came of it and files of problems."""
    places = [
        PartitionCommits(
            *(topic, partition, inputs.topics.get((topic, partition)), commits),
            sums.assigned.get((topic, partition), {}),
        )
        for topic, partition, commits in sums.list_commits()
    ]
    tasks = []
    for number, some in enumerate(_split_places(places)):
        tasks.append(
            LagTask(
                tuple(some),
                sums.end,
                sums.samples,
                stuck_after_ms,
                output.table_path("lag", number),
                output.table_path("problems", len(inputs.offsets) + number),
            )
        )
    sizes = [sum(map(_measure_place, task.places)) for task in tasks]
    lags = running.run_tasks(
        measure_lag, tasks, sizes=sizes, spark=session, progress=progress
    )
    if progress is not None:
        # Logs that no group reads were passed over.
        progress(inputs.size - sum(sizes) - sum(log.size for log in inputs.offsets))
    return lags, [task.problems for task in tasks]


def _split_places(places: Iterable[PartitionCommits]) -> list[list[PartitionCommits]]:
    """Put places together until a portion is worth a task; there is one at least."""
    portions: list[list[PartitionCommits]] = [[]]
    size = rows = 0
    for place in places:
        full = size > _TASK_BYTES or rows > _TASK_COMMITS
        if full or len(portions[-1]) == _TASK_PLACES:
            portions.append([])
            size = rows = 0
        portions[-1].append(place)
        size += _measure_place(place)
        rows += place.commits.num_rows
    return portions


def _measure_place(place: PartitionCommits) -> int:
    return 0 if place.log is None else place.log.size


@contextmanager
def _open_session(spark: Any) -> Iterator[Any]:
    """Open one session for both passes if a master was named."""
    if isinstance(spark, str):
        with running.open_session(spark) as session:
            yield session
    else:
        yield spark
