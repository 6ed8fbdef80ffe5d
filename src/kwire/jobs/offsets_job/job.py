# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Offsets job entry point: consumer group history from log directories.

Both passes run as parallel tasks: ``reading`` processes ``__consumer_offsets``, then
``lag`` processes batch headers from topics that groups commit to. This module schedules
the tasks, and writes small tables and the report from their summaries.
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
"""Default time in seconds that a record must wait before its group counts as stuck."""

_TASK_BYTES = 256 * MIB
"""Approximate size in bytes of the logs per task of the second pass, which reads their
batch headers.
"""
_PARTITION_BYTES = 4 * MIB
"""Log size in bytes that costs as much time as the overhead per partition."""
_COMMIT_BYTES = 1024
"""Log size in bytes that costs as much time as a commit."""


def offsets(
    paths: Paths | LogInputs,
    out: str | os.PathLike[str],
    *,
    groups: Iterable[str] | None = None,
    stuck_after_s: float = STUCK_AFTER_S,
    spark: Any = None,
    progress: Progress | None = None,
) -> Result:
    """Report the history of consumer groups: commits, states, lag and rebalances.

    A partition counts as stuck if new records were appended after its committed offset
    last changed, and the oldest of them has been waiting for at least
    ``stuck_after_s``.

    * ``paths``: log directories from one or several brokers, with at least one
      ``__consumer_offsets`` partition. To compute lag, the segments of the topics are
      required as well. Pass a ``LogInputs`` if its size is needed in advance.
    * ``out``: local directory for the tables and ``report.html``. It must not exist, or
      be empty.
    * ``groups``: only include these group names. Default: all groups.
    * ``stuck_after_s``: minimum waiting time for stuck partitions, in seconds.
    * ``spark``, ``progress``: see ``running.open_runner``. The numbers passed to
      ``progress`` add up to the total segment size in bytes.

    The main process needs about 200 bytes of memory per commit. Damaged regions and
    unsupported record versions are reported in the table ``problems``.

    Returns a ``Result``, where ``findings`` counts stuck partitions. Raises ``OSError``
    if ``paths`` contain no ``__consumer_offsets`` partition or ``out`` is not empty,
    ``ValueError`` if ``stuck_after_s`` is negative, and ``JobError`` if Spark fails.
    """
    if stuck_after_s < 0:
        raise ValueError(f"stuck_after_s must be 0 or more (got {stuck_after_s})")
    stuck_after_ms = round(stuck_after_s * 1000)
    if isinstance(groups, str):
        groups = (groups,)
    inputs = paths if isinstance(paths, LogInputs) else LogInputs(paths)
    group_names = None if groups is None else frozenset(groups)
    with (
        Output(out) as output,
        running.open_runner(spark, inputs.work, progress) as run_tasks,
    ):
        tasks = _make_read_tasks(inputs, output, group_names)
        sizes = [log.size for log in inputs.offsets]
        summaries = run_tasks(read_offsets, tasks, sizes=sizes)
        sums = GroupTotals(
            read_back("commits", [task.commits for task in tasks], COMMIT_COLUMNS),
            read_back("group_state", [task.states for task in tasks], STATE_COLUMNS),
            summaries,
        )
        lag_tasks = _make_lag_tasks(inputs, output, sums, stuck_after_ms)
        lag_sizes = [sum(map(_measure_log, task.places)) for task in lag_tasks]
        for lag_summary in run_tasks(measure_lag, lag_tasks, sizes=lag_sizes):
            sums.add_lag(lag_summary)
        if progress is not None:
            # Report the logs that were skipped because no group has committed to them.
            progress(inputs.size - sum(sizes) - sum(lag_sizes))
        problems = [task.problems for task in tasks]
        problems += [task.problems for task in lag_tasks]
        problems.append(output.table_path("problems", len(problems)))
        with open_table(problems[-1], make_schema_of("problems")) as writer:
            writer.write(make_table_of("problems", inputs.problems))
        tables = sums.tables()
        for name, rows in tables.items():
            output.write_table(name, make_table_of(name, rows))
        problem_table = read_back("problems", problems, COLUMNS["problems"])
        output.write_report(
            write_page(inputs, sums, tables, problem_table, stuck_after_ms)
        )
    return output.result(findings=len(sums.stuck))


def _make_read_tasks(
    inputs: LogInputs, output: Output, groups: frozenset[str] | None
) -> list[OffsetsTask]:
    """Return one task for every ``__consumer_offsets`` partition."""
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
    """Return tasks that compute the lag of all commits.

    If there are no commits, a single empty task is returned.
    """
    sized = [
        (
            _measure_log(partition)
            + _COMMIT_BYTES * partition.commits.num_rows
            + _PARTITION_BYTES,
            partition,
        )
        for partition in sums.list_places(inputs.topics)
    ]
    return [
        LagTask(
            partitions,
            sums.end,
            sums.samples,
            stuck_after_ms,
            output.table_path("lag", number),
            output.table_path("problems", len(inputs.offsets) + number),
        )
        for number, partitions in enumerate(running.pack_tasks(sized, _TASK_BYTES))
    ]


def _measure_log(partition: PartitionCommits) -> int:
    return 0 if partition.log is None else partition.log.size
