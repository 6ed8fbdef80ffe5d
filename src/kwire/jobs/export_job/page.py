# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""HTML export report: recovered records, lost offsets and recommended actions.

All figures come from the tables. This module does not make any decisions.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..._text import format_count, format_size
from .. import charts
from ..report import Report, describe_rest, list_columns
from .outcome import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .outcome import ExportOutcome

_MAX_TRACKS = 40

_SHOWN = {
    "coverage": "topic partition start_offset end_offset records lost_offsets replicas"
    " replicas_agree recovered_percent",
    "lost": "topic partition first_offset last_offset offsets reason detail",
    "problems": "path position length reason detail last_good_offset next_good_offset"
    " records_lost filled",
}
"""Names of the columns that the report shows, separated by spaces, by table name."""

_LABELS = {
    "replicas_agree": "Agree",
    "recovered_percent": "Recovered, %",
    "path": "File",
    "position": "Byte",
    "last_good_offset": "Last good offset",
    "next_good_offset": "Next good offset",
    "records_lost": "Records lost, about",
}


def write_page(outcome: ExportOutcome) -> str:
    """Create the export report from the outcome. Returns the HTML document."""
    report = Report(
        "Segment recovery", "Records that the brokers' log files still contain"
    )
    coverage, lost = outcome.coverage, outcome.lost
    records = sum(row["records"] for row in coverage)
    offsets = sum(row["offsets"] for row in lost)
    apart = sum(not row["replicas_agree"] for row in coverage)
    _add_verdict(report, records, offsets, outcome)
    report.add_figures(
        [
            ("records", f"{records:,}", ""),
            ("read", format_size(outcome.bytes_read), ""),
            ("partitions", f"{len(coverage):,}", ""),
            ("directories", f"{outcome.folders:,}", ""),
            ("lost offsets", f"{offsets:,}", "bad" if offsets else "good"),
            (
                "problems",
                f"{len(outcome.problems):,}",
                _choose_count_tone(len(outcome.problems)),
            ),
            ("replicas disagree", f"{apart:,}", _choose_count_tone(apart)),
        ]
    )
    _add_coverage(report, outcome)
    if lost:
        report.add_table(
            "lost",
            _list_columns("lost"),
            lost,
            title="Lost offsets",
            note="No replica contains a record with one of these offsets.",
        )
    _add_advice(report, outcome, apart)
    _add_codecs(report, outcome)
    report.add_table(
        "problems",
        _list_columns("problems"),
        sorted(outcome.problems, key=_order_by_urgency),
        title="Problems in the files",
        note="Filled: other replicas contain all records that the problem affects.",
    )
    report.add_table(
        "coverage",
        _list_columns("coverage"),
        sorted(coverage, key=_order_by_loss),
        title="All partitions",
    )
    return report.html()


def _list_columns(name: str) -> list[tuple[str, str, str]]:
    return list_columns(TABLES[name], _SHOWN[name], _LABELS)


def _choose_count_tone(number: int) -> str:
    return "warning" if number else ""


def _order_by_urgency(row: Mapping[str, Any]) -> tuple[bool, bool]:
    return row["filled"] is not False, row["filled"] is not None


def _order_by_loss(row: Mapping[str, Any]) -> tuple[int, str, int]:
    return -row["lost_offsets"], row["topic"], row["partition"]


def _add_verdict(
    report: Report, records: int, offsets: int, outcome: ExportOutcome
) -> None:
    partitions = format_count(len(outcome.coverage), "partition")
    held = f"{format_count(records, 'record')} of {partitions}"
    if offsets:
        reasons = Counter(row["reason"] for row in outcome.lost)
        reason_counts = ", ".join(
            f"{number:,} {reason}" for reason, number in reasons.items()
        )
        report.add_verdict(
            "bad",
            f"{format_count(len(outcome.lost), 'range')} lost",
            f"{format_count(offsets, 'offset')} are not in any replica"
            f" ({reason_counts}). Recovered: {held}.",
        )
    elif not outcome.problems:
        report.add_verdict(
            "good", "All recovered", f"{held}. The files have no problems."
        )
    else:
        count = format_count(len(outcome.problems), "problem")
        report.add_verdict(
            "good", "All recovered", f"{held}, although the files have {count}."
        )


def _add_coverage(report: Report, outcome: ExportOutcome) -> None:
    holes: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in outcome.lost:
        holes.setdefault((row["topic"], row["partition"]), []).append(row)
    tracks = []
    for row in sorted(outcome.coverage, key=_order_by_loss)[:_MAX_TRACKS]:
        spans = [
            charts.Span(recovered["first_offset"], recovered["last_offset"] + 1, "good")
            for recovered in row["ranges"]
        ]
        spans += [
            charts.Span(
                hole["first_offset"], hole["last_offset"] + 1, "bad", hole["reason"]
            )
            for hole in holes.get((row["topic"], row["partition"]), ())
        ]
        tracks.append(
            charts.Track(
                f"{row['topic']}-{row['partition']}",
                row["start_offset"],
                row["end_offset"],
                spans,
                f"{row['recovered_percent']:.4g} %",
            )
        )
    note = (
        "Offsets per partition, from its start to its end. Partitions with the largest"
        " loss come first."
    )
    rest_note = describe_rest(
        len(tracks), len(outcome.coverage), "partitions", "coverage"
    )
    report.add_chart(
        "Coverage",
        charts.draw_coverage(tracks, legend={"good": "recovered", "bad": "lost"}),
        f"{note} {rest_note}",
    )


def _add_codecs(report: Report, outcome: ExportOutcome) -> None:
    items = [
        (codec, sums.bytes, "", format_count(sums.records, "record"))
        for codec, sums in outcome.codecs.items()
    ]
    if items:
        items.sort(key=lambda item: -item[1])
        report.add_chart(
            "Bytes by compression",
            charts.draw_bars(items, "bytes"),
            "Size of the selected batches in the segments, before decompression.",
        )


def _add_advice(report: Report, outcome: ExportOutcome, apart: int) -> None:
    """Add paragraphs about lost records, rejected batches, and the use of the records.

    ``apart`` is the number of partitions whose replicas disagree.
    """
    if outcome.lost:
        report.add_text(
            "Look for other copies of the lost records: additional replicas, disks that"
            " were removed from brokers, volume snapshots, or tiered storage. Add the"
            " directory and export again. The job combines the records of all inputs."
        )
    if apart:
        report.add_text(
            "If replicas disagree, the table of problems names the selected replica and"
            " the reason: the higher leader epoch, otherwise the content that more"
            " replicas have. The table of batches contains the rejected batches as"
            " diverged or disagrees."
        )
    report.add_text(
        "The table of records has the same columns as Spark's Kafka source. Therefore"
        " Spark's Kafka sink can write the records to a cluster: key, value, headers,"
        " topic and partition, in offset order. The brokers assign new offsets."
    )
