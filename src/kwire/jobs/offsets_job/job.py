# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``offsets``: what consumer groups did, from the logs that brokers keep.

Two passes over partitions, each in tasks of their own: ``reading`` reads
``__consumer_offsets``, ``lag`` the headers of the topics that groups commit to.
Here they are put in a row, and their summaries become the small tables and the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._limits import MIB
from .. import running
from ..tables import Output, open_table
from .inputs import LogInputs
from .lag import LagTask, measure_lag
from .page import write_page
from .reading import OffsetsTask, read_offsets
from .sums import COMMIT_COLUMNS, STATE_COLUMNS, GroupTotals
from .tables import COLUMNS, make_schema_of, make_table_of, read_back

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from ..running import Progress
    from ..tables import Result
    from .inputs import Paths
    from .lag import PartitionCommits

STUCK_AFTER_S = 300.0
"""How long something must have waited before its reader counts as stuck."""

_TASK_BYTES = 256 * MIB
_PLACE_BYTES = 4 * MIB
_COMMIT_BYTES = 1024
"""About how much a task of the second pass reads; a partition and a commit take as
long as these many bytes of batch headers."""


def offsets(
    paths: Paths | LogInputs,
    out: str | os.PathLike[str],
    *,
    groups: Iterable[str] | None = None,
    stuck_after_s: float = STUCK_AFTER_S,
    spark: Any = None,
    progress: Progress | None = None,
) -> Result:
    """Report what consumer groups did: commits, states, lag, rebalances, stuck groups.

    ``paths`` are log directories of one or several brokers, with at least a partition
    of ``__consumer_offsets``; lag needs the segments of the topics, too. A caller that
    needs their size before the job begins passes ``LogInputs``. ``groups`` are the
    names of the only groups to look at. A partition is stuck if new records came after
    its commit had moved for the last time, and the first of them has waited for
    ``stuck_after_s``.

    ``out`` gets the tables and ``report.html``; it must not exist, or be empty.
    ``spark`` and ``progress`` as in ``running.run_tasks``; the calls of ``progress``
    add up to the bytes of all segments. ``findings`` of the result is the number of
    stuck partitions. Memory in this process: about 200 bytes for each commit.
    Raises ``OSError`` for paths without ``__consumer_offsets`` and for an ``out`` that
    is taken; what is damaged or too new is a row of the table ``problems``.
    """
    if stuck_after_s < 0:
        raise ValueError(f"stuck_after_s must be 0 or more (got {stuck_after_s})")
    stuck_after_ms = round(stuck_after_s * 1000)
    if isinstance(groups, str):
        groups = (groups,)
    inputs = paths if isinstance(paths, LogInputs) else LogInputs(paths)
    wanted = None if groups is None else frozenset(groups)
    with (
        Output(out) as output,
        running.open_runner(spark, inputs.work, progress) as run_tasks,
    ):
        tasks = _make_read_tasks(inputs, output, wanted)
        sizes = [log.size for log in inputs.offsets]
        summaries = run_tasks(read_offsets, tasks, sizes=sizes)
        sums = GroupTotals(
            read_back("commits", [task.commits for task in tasks], COMMIT_COLUMNS),
            read_back("group_state", [task.states for task in tasks], STATE_COLUMNS),
            summaries,
        )
        lag_tasks = _make_lag_tasks(inputs, output, sums, stuck_after_ms)
        lag_sizes = [sum(map(_measure_log, task.places)) for task in lag_tasks]
        for lag in run_tasks(measure_lag, lag_tasks, sizes=lag_sizes):
            sums.add_lag(lag)
        if progress is not None:
            # Logs that no group reads were passed over.
            progress(inputs.size - sum(sizes) - sum(lag_sizes))
        problems = [task.problems for task in tasks]
        problems += [task.problems for task in lag_tasks]
        problems.append(output.table_path("problems", len(problems)))
        with open_table(problems[-1], make_schema_of("problems")) as writer:
            writer.write(make_table_of("problems", inputs.problems))
        tables = sums.tables()
        for name, rows in tables.items():
            output.write_table(name, make_table_of(name, rows))
        found = read_back("problems", problems, COLUMNS["problems"])
        output.write_report(write_page(inputs, sums, tables, found, stuck_after_ms))
    return output.result(findings=len(sums.stuck))


def _make_read_tasks(
    inputs: LogInputs, output: Output, groups: frozenset[str] | None
) -> list[OffsetsTask]:
    """Make the tasks that read the partitions of ``__consumer_offsets``."""
    names = inputs.topic_names()
    return [
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


def _make_lag_tasks(
    inputs: LogInputs, output: Output, sums: GroupTotals, stuck_after_ms: int
) -> list[LagTask]:
    """Make the tasks that measure the lag of all commits; there is one at least."""
    sized = [
        (
            _measure_log(place) + _COMMIT_BYTES * place.commits.num_rows + _PLACE_BYTES,
            place,
        )
        for place in sums.list_places(inputs.topics)
    ]
    return [
        LagTask(
            places,
            sums.end,
            sums.samples,
            stuck_after_ms,
            output.table_path("lag", number),
            output.table_path("problems", len(inputs.offsets) + number),
        )
        for number, places in enumerate(running.pack_tasks(sized, _TASK_BYTES))
    ]


def _measure_log(place: PartitionCommits) -> int:
    return 0 if place.log is None else place.log.size
