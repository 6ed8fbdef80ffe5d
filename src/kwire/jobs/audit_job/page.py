# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""HTML audit report: verdict, heat map, clients by risk, timeline and tables.

All figures come from the tables. This module does not make any decisions.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..._text import format_count
from ...recording.requests import find_fate
from .. import charts
from ..report import Report, describe_rest, list_columns
from .findings import TABLES
from .sightings import MINUTE, SeenRequests
from .verdicts import BREAKS, OK, UNKNOWN, find_api_name

if TYPE_CHECKING:
    from .findings import AuditFindings

TONES = {BREAKS: "bad", UNKNOWN: "warning", OK: "good"}

_SHOWN = {
    "breaks": "client_id address api api_version requests target_speaks removed_in"
    " what_to_do software_name software_version first_seen last_seen",
    "clients": "client_id address requests breaking_requests reason apis software_name"
    " software_version first_seen last_seen",
    "problems": "path line reason text",
}
"""Names of the columns that the report shows, separated by spaces, by table name."""

_LABELS = {
    "api": "API",
    "api_version": "Version",
    "software_name": "Software",
    "first_seen": "First",
    "last_seen": "Last",
    "breaking_requests": "Breaking",
    "apis": "Versions used",
    "path": "File",
    "text": "Begins with",
}

_MAX_CLIENTS = 20
_MAX_COLUMNS = 30
_MAX_TRACKS = 20
_MAX_SPANS = 120
_MINUTE_MS = MINUTE // 1000


def write_page(findings: AuditFindings) -> str:
    """Create the audit report from the findings. Returns the HTML document."""
    target = findings.target.name
    report = Report(
        f"Upgrade audit: Kafka {target}",
        "Clients that break when the brokers become this release",
    )
    verdicts = Counter(row["verdict"] for row in findings.clients)
    requests = sum(row["requests"] for row in findings.clients)
    _add_verdict(report, verdicts, target)
    report.add_figures(
        [
            ("requests", f"{requests:,}", ""),
            ("clients", f"{len(findings.clients):,}", ""),
            ("break", f"{verdicts[BREAKS]:,}", "bad" if verdicts[BREAKS] else "good"),
            (
                "unknown",
                f"{verdicts[UNKNOWN]:,}",
                _choose_count_tone(verdicts[UNKNOWN]),
            ),
            (
                "inputs not read",
                f"{len(findings.problems):,}",
                _choose_count_tone(len(findings.problems)),
            ),
        ]
    )
    if requests:
        _add_heat_map(report, findings)
        _add_risks(report, findings)
        _add_version_timeline(report, findings)
    _add_tables(report, findings)
    return report.html()


def _choose_count_tone(count: int) -> str:
    return "warning" if count else ""


def _add_verdict(report: Report, verdicts: Counter[str], target: str) -> None:
    count = sum(verdicts.values())
    if verdicts[BREAKS]:
        who = "clients needs" if verdicts[BREAKS] == 1 else "clients need"
        report.add_verdict(
            "bad",
            BREAKS,
            f"{verdicts[BREAKS]:,} of {count:,} {who} versions that {target} does not"
            " support",
        )
    elif verdicts[UNKNOWN]:
        report.add_verdict(
            "warning",
            UNKNOWN,
            f"No observed client breaks, but the input is not sufficient to judge"
            f" {verdicts[UNKNOWN]:,} of {count:,} clients",
        )
    elif count:
        report.add_verdict(
            "good", OK, f"{target} supports all {count:,} observed clients"
        )
    else:
        report.add_verdict("warning", "NOTHING", "The input contains no requests")


def _add_heat_map(report: Report, findings: AuditFindings) -> None:
    target = findings.target
    counts = {
        pair: seen.count for pair, seen in findings.sightings.by_version().items()
    }
    if not counts:
        # No frame was readable, for example because all traffic is encrypted with TLS.
        return
    broken = findings.list_broken()
    keys = sorted({key for key, _ in counts})
    removed_pairs = [
        (key, version)
        for key in keys
        for version in range(target.speaks(key).min)
        if (key, version) not in counts and target.refuses(key, version)
    ]
    cells = {
        (find_api_name(key), str(version)): _make_heat_cell(
            findings, (key, version), count, broken
        )
        for (key, version), count in [
            *counts.items(),
            *((pair, 0) for pair in removed_pairs),
        ]
    }
    columns = sorted({version for _, version in [*counts, *removed_pairs]})
    if columns[-1] <= _MAX_COLUMNS:
        columns = list(range(columns[-1] + 1))
    report.add_chart(
        "Versions in use",
        charts.draw_heat_map(
            [find_api_name(key) for key in keys],
            list(map(str, columns)),
            cells,
            legend={
                "bad": "clients break",
                "warning": "deprecated, or clients support others",
                "quiet": f"not supported by {target.name}",
            },
        ),
        f"Requests by API and version. Versions that {target.name} does not support are"
        " red if clients that break use them, and amber otherwise.",
    )


def _make_heat_cell(
    findings: AuditFindings,
    pair: tuple[int, int],
    count: int,
    broken: set[tuple[int, int]],
) -> charts.HeatCell:
    target, fate = findings.target, find_fate(*pair)
    if not target.refuses(*pair):
        if fate.deprecated:
            removal_note = f", removed in {fate.removed_in}" if fate.removed_in else ""
            return charts.HeatCell(count, "warning", f"deprecated{removal_note}")
        return charts.HeatCell(count)
    note = f"removed in {fate.removed_in}" if fate.removed_in else "not supported"
    if pair in broken:
        return charts.HeatCell(count, "bad", f"{note}: clients break")
    return charts.HeatCell(count, "warning" if count else "quiet", note)


def _add_risks(report: Report, findings: AuditFindings) -> None:
    risky = [row for row in findings.clients if row["verdict"] != OK]
    if not risky:
        return
    shown_clients = risky[:_MAX_CLIENTS]
    items = [
        (
            _format_client(row),
            row["breaking_requests"] or row["requests"],
            TONES[row["verdict"]],
            f"{row['verdict']}: {row['reason']}",
        )
        for row in shown_clients
    ]
    note = "Requests that break, or all requests of a client whose verdict is UNKNOWN."
    rest_note = describe_rest(len(shown_clients), len(risky), "clients", "clients")
    report.add_chart("Clients by risk", charts.draw_bars(items), f"{note} {rest_note}")


def _format_client(row: dict[str, Any]) -> str:
    name = "(no id)" if row["client_id"] is None else row["client_id"] or '""'
    return f"{name} {row['address'] or ''}".strip()


def _add_version_timeline(report: Report, findings: AuditFindings) -> None:
    minutes = findings.sightings.minutes
    target = findings.target
    broken = findings.list_broken()
    if not minutes:
        return
    first_minute = min(minute for *_, minute in minutes)
    end_minute = max(minute for *_, minute in minutes) + 1
    step = -(-(end_minute - first_minute) // _MAX_SPANS)
    counts: dict[tuple[int, int], Counter[int]] = {}
    for (key, version, minute), count in minutes.items():
        bins = counts.setdefault((key, version), Counter())
        bins[(minute - first_minute) // step] += count
    requests_by_version = findings.sightings.by_version()
    ranked = sorted(
        counts, key=lambda pair: (pair not in broken, -counts[pair].total(), pair)
    )
    tracks = []
    for pair in ranked[:_MAX_TRACKS]:
        tone = "bad" if pair in broken else "warning"
        removed_in = find_fate(*pair).removed_in
        spans = [
            _make_span(
                first_minute + number * step,
                step,
                requests_by_version[pair],
                tone,
                count,
            )
            for number, count in sorted(counts[pair].items())
        ]
        tracks.append(
            charts.Track(
                f"{find_api_name(pair[0])} {pair[1]}",
                first_minute * _MINUTE_MS,
                (first_minute + step * -(-(end_minute - first_minute) // step))
                * _MINUTE_MS,
                spans,
                f"{counts[pair].total():,}"
                + (f", removed in {removed_in}" if removed_in else ""),
            )
        )
    note = f"Requests of versions that are deprecated, or that {target.name} refuses."
    rest_note = describe_rest(len(tracks), len(counts), "versions", "requests")
    report.add_chart(
        "When old versions were used",
        charts.draw_timeline(
            tracks,
            legend={"bad": "clients break", "warning": "deprecated or not supported"},
        ),
        f"{note} {rest_note}",
    )


def _make_span(
    minute: int, minutes: int, requests: SeenRequests, tone: str, count: int
) -> charts.Span:
    """Return a timeline span for several minutes, limited to the observed period.

    Requests are counted per minute, but the timestamps of the first and the last
    request are exact, so a single request becomes a single moment.
    """
    start, end = minute * _MINUTE_MS, (minute + minutes) * _MINUTE_MS
    if requests.first is not None and requests.last is not None:
        start = min(max(start, requests.first // 1000), end)
        end = max(min(end, requests.last // 1000), start)
    return charts.Span(start, end, tone, format_count(count, "request"))


def _add_tables(report: Report, findings: AuditFindings) -> None:
    labels = _LABELS | {"target_speaks": f"{findings.target.name} supports"}

    def list_shown(name: str) -> list[tuple[str, str, str]]:
        return list_columns(TABLES[name], _SHOWN[name], labels)

    report.add_table(
        "breaks",
        list_shown("breaks"),
        list(map(_convert_times, findings.breaks)),
        title="What breaks",
    )
    report.add_table(
        "clients",
        [("verdict", "Verdict", "tone"), *list_shown("clients")],
        [
            _convert_times(row) | {"verdict": (TONES[row["verdict"]], row["verdict"])}
            for row in findings.clients
        ],
        note="A client is an address, a client id, and the software that it reports.",
    )
    report.add_table(
        "problems",
        list_shown("problems"),
        findings.problems,
        title="What could not be read",
    )


def _convert_times(row: dict[str, Any]) -> dict[str, Any]:
    return row | {
        name: None if row[name] is None else row[name] // 1000
        for name in ("first_seen", "last_seen")
    }
