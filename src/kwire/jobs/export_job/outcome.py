# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What an export found, as rows of its small tables: the summaries of all tasks."""

from __future__ import annotations

from typing import NamedTuple

from .choice import Sums
from .losses import Decision, Finding, Lost
from .ranges import count, overlapping, union, without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .inputs import Found
    from .ranges import Range
    from .records import Written


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
"""The columns of the tables, with the names of their types."""


class Outcome(NamedTuple):
    """All rows of the small tables, as the page shows them too."""

    coverage: list[dict[str, Any]]
    lost: list[dict[str, Any]]
    problems: list[dict[str, Any]]
    codecs: dict[str, Sums]
    bytes_read: int
    folders: int


def put_together(
    found: Found, total: int, decisions: list[Decision], written: list[Written]
) -> Outcome:
    """Bring the summaries of all tasks together."""
    rows: dict[tuple[str, int], int] = {}
    failures: dict[tuple[str, int], list[Finding]] = {}
    undecodable: dict[tuple[str, int], list[Lost]] = {}
    for each in written:
        for key, number in each.rows.items():
            rows[key] = rows.get(key, 0) + number
        for failure in each.failures:
            key = failure.topic, failure.partition
            failures.setdefault(key, []).append(
                Finding(
                    *(failure.path, failure.position, failure.size, "records"),
                    *(failure.error, failure.first_offset, failure.last_offset),
                )
            )
            words = f"records at byte {failure.position} of {failure.path}"
            undecodable.setdefault(key, []).extend(
                Lost(first, last, "undecodable", words) for first, last in failure.lost
            )
        for topic, partition, path, position, announced, read in each.miscounted:
            detail = f"headers announce {announced} records, there are {read}"
            failures.setdefault((topic, partition), []).append(
                Finding(path, position, 0, "count", detail, -1, -1)
            )
    outcome = Outcome([], [], [], {}, total, sum(map(len, found.folders.values())))
    for path, topic, partition, position, reason, detail in found.unreadable:
        finding = Finding(path, position, 0, reason, detail, -1, -1)
        outcome.problems.append(_problem(topic, partition, finding, [], 0))
    for decision in decisions:
        key = decision.topic, decision.partition
        lost = _joined([*decision.lost, *undecodable.get(key, ())])
        ranges = union(each[:2] for each in lost)
        outcome.coverage.append(_coverage(decision, rows.get(key, 0), ranges))
        outcome.lost.extend(
            {
                "topic": decision.topic,
                "partition": decision.partition,
                "first_offset": each.first_offset,
                "last_offset": each.last_offset,
                "offsets": each.last_offset - each.first_offset + 1,
                "reason": each.reason,
                "detail": each.detail,
            }
            for each in lost
        )
        findings = [*decision.findings, *failures.get(key, ())]
        findings.sort(key=lambda each: (each.path, each.position, each.low))
        outcome.problems.extend(
            _problem(*key, each, ranges, decision.end_offset) for each in findings
        )
        for codec, sums in decision.codecs.items():
            before = outcome.codecs.get(codec, Sums())
            outcome.codecs[codec] = Sums(*map(sum, zip(before, sums, strict=True)))
    return outcome


def _joined(lost: list[Lost]) -> list[Lost]:
    """Make one range of those that touch."""
    found: list[Lost] = []
    for each in sorted(lost):
        if found and each.first_offset <= found[-1].last_offset + 1:
            before = found[-1]
            reasons = [before.reason]
            if each.reason not in before.reason.split(", "):
                reasons.append(each.reason)
            found[-1] = Lost(
                before.first_offset,
                max(before.last_offset, each.last_offset),
                ", ".join(reasons),
                f"{before.detail}; {each.detail}",
            )
        else:
            found.append(each)
    return found


def _coverage(decision: Decision, records: int, lost: list[Range]) -> dict[str, Any]:
    start, end = decision.start_offset, decision.end_offset
    whole, gone = end - start, count(lost)
    recovered = without([(start, end - 1)] if whole else [], lost)
    percent = 100.0 * (whole - gone) / whole if whole else 100.0
    return {
        "topic": decision.topic,
        "partition": decision.partition,
        "start_offset": start,
        "end_offset": end,
        "log_start_offset": decision.log_start_offset,
        "records": records,
        "control_batches": decision.control_batches,
        "lost_offsets": gone,
        "lost_ranges": len(lost),
        "ranges": [
            {"first_offset": first, "last_offset": last} for first, last in recovered
        ],
        "is_compacted": decision.is_compacted,
        "replicas": decision.replicas,
        "replicas_agree": decision.replicas_agree,
        # A loss must not be rounded away.
        "recovered_percent": min(percent, 99.99)
        if gone and percent > 99.99
        else percent,
    }


def _problem(
    topic: str, partition: int, finding: Finding, lost: Sequence[Range], end: int
) -> dict[str, Any]:
    low, high = finding.low, finding.high
    is_known = 0 <= low <= high
    return {
        "path": finding.path,
        "topic": topic,
        "partition": partition,
        "position": finding.position,
        "length": finding.length,
        "reason": finding.reason,
        "last_good_offset": low - 1 if low >= 0 else -1,
        "next_good_offset": high + 1 if is_known and high + 1 < end else -1,
        "detail": finding.detail,
        "records_lost": high - low + 1 if is_known else 0 if low < 0 else None,
        "filled": not overlapping(lost, low, high) if is_known else None,
    }
