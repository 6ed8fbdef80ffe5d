# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Merges the task summaries into rows for the small export tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from .decide import CodecSums
from .problems import LostRange
from .ranges import count, find_overlapping, merge_ranges, subtract_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .decide import Decision
    from .inputs import ExportInputs
    from .problems import FileProblem, PartitionKey
    from .ranges import Range
    from .records import WriteSummary


TABLES: dict[str, dict[str, Any]] = {
    "coverage": {
        "topic": "string",
        "partition": "int",
        "start_offset": "bigint",
        "end_offset": "bigint",
        "log_start_offset": "bigint",
        "records": "bigint",
        "control_batches": "bigint",
        "lost_offsets": "bigint",
        "lost_ranges": "bigint",
        "ranges": [{"first_offset": "bigint", "last_offset": "bigint"}],
        "is_compacted": "boolean",
        "replicas": "int",
        "replicas_agree": "boolean",
        "recovered_percent": "double",
    },
    "lost": {
        "topic": "string",
        "partition": "int",
        "first_offset": "bigint",
        "last_offset": "bigint",
        "offsets": "bigint",
        "reason": "string",
        "detail": "string",
    },
    "problems": {
        "path": "string",
        "topic": "string",
        "partition": "int",
        "position": "bigint",
        "length": "bigint",
        "reason": "string",
        "last_good_offset": "bigint",
        "next_good_offset": "bigint",
        "detail": "string",
        "records_lost": "bigint",
        "filled": "boolean",
    },
}
"""Column types by table name and column name."""


class ExportOutcome(NamedTuple):
    """Rows of the small tables, and totals for the report.

    * ``codecs``: totals by compression codec.
    * ``bytes_read``: total size of all segments in bytes.
    * ``folders``: number of partition directories.
    """

    coverage: list[dict[str, Any]]
    lost: list[dict[str, Any]]
    problems: list[dict[str, Any]]
    codecs: dict[str, CodecSums]
    bytes_read: int
    folders: int


def make_outcome(
    found: ExportInputs,
    total: int,
    decisions: list[Decision],
    written: list[WriteSummary],
) -> ExportOutcome:
    """Merge all task results.

    * ``found``: input files.
    * ``total``: total segment size in bytes.
    * ``decisions``: decision task results.
    * ``written``: write task results.
    """
    records: Counter[PartitionKey] = Counter()
    problems: dict[PartitionKey, list[FileProblem]] = {}
    undecodable: dict[PartitionKey, list[LostRange]] = {}
    for task in written:
        records.update(task.rows)
        for key, problem in task.problems:
            problems.setdefault(key, []).append(problem)
        for key, lost_range in task.lost:
            undecodable.setdefault(key, []).append(lost_range)
    outcome = ExportOutcome(
        [], [], [], {}, total, sum(map(len, found.folders.values()))
    )
    for key, problem in found.unreadable:
        outcome.problems.append(_make_problem_row(*key, problem, [], 0))
    for decision in decisions:
        key = decision.topic, decision.partition
        lost = _join_lost_ranges([*decision.lost, *undecodable.get(key, ())])
        ranges = merge_ranges(lost_range[:2] for lost_range in lost)
        outcome.coverage.append(_make_coverage_row(decision, records[key], ranges))
        for lost_range in lost:
            offsets = lost_range.last_offset - lost_range.first_offset + 1
            columns = {"topic": key[0], "partition": key[1], "offsets": offsets}
            outcome.lost.append(columns | lost_range._asdict())
        partition_problems = [*decision.problems, *problems.get(key, ())]
        partition_problems.sort(
            key=lambda problem: (problem.path, problem.position, problem.low)
        )
        outcome.problems.extend(
            _make_problem_row(*key, problem, ranges, decision.end_offset)
            for problem in partition_problems
        )
        for codec, sums in decision.codecs.items():
            previous_sums = outcome.codecs.get(codec, CodecSums())
            outcome.codecs[codec] = CodecSums(
                *map(sum, zip(previous_sums, sums, strict=True))
            )
    return outcome


def _join_lost_ranges(lost: list[LostRange]) -> list[LostRange]:
    """Merge lost ranges that overlap or are adjacent.

    Reasons are joined by ", ", without repetition, and details by "; ".
    """
    joined: list[LostRange] = []
    for lost_range in sorted(lost):
        if joined and lost_range.first_offset <= joined[-1].last_offset + 1:
            previous = joined[-1]
            reasons = [previous.reason]
            if lost_range.reason not in previous.reason.split(", "):
                reasons.append(lost_range.reason)
            joined[-1] = LostRange(
                previous.first_offset,
                max(previous.last_offset, lost_range.last_offset),
                ", ".join(reasons),
                f"{previous.detail}; {lost_range.detail}",
            )
        else:
            joined.append(lost_range)
    return joined


def _make_coverage_row(
    decision: Decision, records: int, lost: list[Range]
) -> dict[str, Any]:
    start, end = decision.start_offset, decision.end_offset
    lost_offsets = count(lost)
    recovered = subtract_ranges([(start, end - 1)] if end > start else [], lost)
    recovered_percent = (
        100.0 * (end - start - lost_offsets) / (end - start) if end > start else 100.0
    )
    row = {
        name: value
        for name, value in decision._asdict().items()
        if name in TABLES["coverage"]
    }
    return row | {
        "records": records,
        "lost_offsets": lost_offsets,
        "lost_ranges": len(lost),
        "ranges": [
            {"first_offset": first, "last_offset": last} for first, last in recovered
        ],
        # Never round up to 100 % if offsets are lost.
        "recovered_percent": min(recovered_percent, 99.99)
        if lost_offsets
        else recovered_percent,
    }


def _make_problem_row(
    topic: str, partition: int, problem: FileProblem, lost: Sequence[Range], end: int
) -> dict[str, Any]:
    low, high = problem.low, problem.high
    is_known = 0 <= low <= high
    return problem._asdict() | {
        "topic": topic,
        "partition": partition,
        "last_good_offset": low - 1 if low >= 0 else -1,
        "next_good_offset": high + 1 if is_known and high + 1 < end else -1,
        "records_lost": high - low + 1 if is_known else 0 if low < 0 else None,
        "filled": not find_overlapping(lost, low, high) if is_known else None,
    }
