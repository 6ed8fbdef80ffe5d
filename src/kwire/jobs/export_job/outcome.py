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

    ``codecs`` has totals by compression codec, ``bytes_read`` is the total segment
    size, and ``folders`` the number of partition directories.
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
        outcome.problems.append(_problem_row(*key, problem, [], 0))
    for decision in decisions:
        key = decision.topic, decision.partition
        lost = _join([*decision.lost, *undecodable.get(key, ())])
        ranges = merge_ranges(each[:2] for each in lost)
        outcome.coverage.append(_coverage_row(decision, records[key], ranges))
        for each in lost:
            offsets = each.last_offset - each.first_offset + 1
            place = {"topic": key[0], "partition": key[1], "offsets": offsets}
            outcome.lost.append(place | each._asdict())
        found_here = [*decision.problems, *problems.get(key, ())]
        found_here.sort(key=lambda each: (each.path, each.position, each.low))
        outcome.problems.extend(
            _problem_row(*key, each, ranges, decision.end_offset) for each in found_here
        )
        for codec, sums in decision.codecs.items():
            before = outcome.codecs.get(codec, CodecSums())
            outcome.codecs[codec] = CodecSums(*map(sum, zip(before, sums, strict=True)))
    return outcome


def _join(lost: list[LostRange]) -> list[LostRange]:
    """Merge lost ranges that overlap or are adjacent.

    Reasons are joined by ", ", without repetition, and details by "; ".
    """
    found: list[LostRange] = []
    for each in sorted(lost):
        if found and each.first_offset <= found[-1].last_offset + 1:
            before = found[-1]
            reasons = [before.reason]
            if each.reason not in before.reason.split(", "):
                reasons.append(each.reason)
            found[-1] = LostRange(
                before.first_offset,
                max(before.last_offset, each.last_offset),
                ", ".join(reasons),
                f"{before.detail}; {each.detail}",
            )
        else:
            found.append(each)
    return found


def _coverage_row(
    decision: Decision, records: int, lost: list[Range]
) -> dict[str, Any]:
    start, end = decision.start_offset, decision.end_offset
    gone = count(lost)
    recovered = subtract_ranges([(start, end - 1)] if end > start else [], lost)
    percent = 100.0 * (end - start - gone) / (end - start) if end > start else 100.0
    row = {
        name: value
        for name, value in decision._asdict().items()
        if name in TABLES["coverage"]
    }
    return row | {
        "records": records,
        "lost_offsets": gone,
        "lost_ranges": len(lost),
        "ranges": [
            {"first_offset": first, "last_offset": last} for first, last in recovered
        ],
        # Never round up to 100 % if offsets are lost.
        "recovered_percent": min(percent, 99.99) if gone else percent,
    }


def _problem_row(
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
