# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""HTML report about consumer groups: stuck partitions, lag over time and rebalances."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..._text import format_count, format_name, format_size, format_time
from .. import charts
from ..chart_text import format_duration
from ..report import ROWS_SHOWN, Report, describe_rest, list_columns
from .groups import ASSIGNING, DEAD, EMPTY, RECONCILING, STABLE
from .reading import TOPIC
from .tables import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .inputs import LogInputs
    from .sums import GroupTotals

_MAX_CHARTS = 4
_MAX_TOPICS = 6
_MAX_HEAT_ROWS = 24
_MAX_TRACKS = 24
_MAX_BARS = 15
_MIN_SPAN_FRACTION = 200
"""Divisor for the minimum width of a rebalance. A short rebalance is drawn as wide as
1/200 of the timeline, because it would otherwise be invisible.
"""

_STATE_TONES = {
    STABLE: "good",
    EMPTY: "quiet",
    ASSIGNING: "warning",
    RECONCILING: "warning",
    None: "",
}

_SHOWN = {
    "stuck": "group topic partition committed log_end since last_commit",
    "groups": "group kind state members partitions lag unknown_lags stuck commits"
    " last_commit rebalances",
    "rebalances": "timestamp group from_generation to_generation joined left"
    " duration_ms settled_ms",
    "growth": "record_type group topic partition member records tombstones bytes",
    "problems": "path position length offset reason error",
    "history": "log_partition bytes first_offset end_offset first_timestamp"
    " complete_from last_timestamp records commits aborted_commits pending_commits"
    " problems",
}
"""Names of the columns that the report shows, separated by spaces, by table name."""

_LABELS = {
    "unknown_lags": "Lag unknown",
    "timestamp": "Time",
    "from_generation": "From",
    "to_generation": "To",
    "duration_ms": "Lasted",
    "settled_ms": "Settled after",
    "record_type": "Record",
    "path": "File",
    "position": "Byte",
    "error": "Error",
    "log_partition": "Partition",
    "first_timestamp": "First record",
    "last_timestamp": "Last record",
    "aborted_commits": "Aborted",
    "pending_commits": "Pending",
}


def write_page(
    inputs: LogInputs,
    sums: GroupTotals,
    tables: Mapping[str, Sequence[Any]],
    problems: Any,
    stuck_after_ms: int,
) -> str:
    """Create the report about consumer groups. Returns the HTML document.

    * ``inputs``: partitions found in the input.
    * ``sums``: totals from both passes.
    * ``tables``: rows of the small tables, from ``sums.tables()``.
    * ``problems``: the table ``problems`` in Arrow format.
    * ``stuck_after_ms``: minimum waiting time for stuck partitions.
    """
    groups = tables["groups"]
    report = Report(
        "Consumer groups",
        f"{TOPIC} of {', '.join(map(format_name, inputs.paths))}:"
        f" {format_count(len(groups), 'group')},"
        f" {format_size(inputs.size)} of logs",
    )
    _add_verdict(report, sums, groups, stuck_after_ms)
    _add_figures(report, sums, groups, problems.num_rows)
    report.add_text(_describe_history(sums))
    if sums.stuck:
        _add_table(
            report,
            "stuck",
            sums.stuck,
            "The log received new records after the last commit that advanced (since),"
            f" and the first new record has waited {format_duration(stuck_after_ms)} or"
            " longer.",
        )
    _add_lag_charts(report, groups, tables["lag_over_time"])
    _add_commit_map(report, sums, tables["commit_rate"])
    _add_timeline(report, sums)
    _add_growth(report, sums)
    _add_table(report, "groups", groups, "State at the end of the logs.")
    _add_table(
        report,
        "rebalances",
        sums.rebalances,
        "Lasted: time until the next rebalance. Settled: time until all members owned"
        " their assigned partitions. Only the consumer and streams protocols log this.",
    )
    _add_table(
        report, "growth", sums.growth, f"The largest keys in {TOPIC}, by total bytes."
    )
    shown_problems = problems.slice(0, ROWS_SHOWN).to_pylist()
    report.add_table(
        "problems",
        _list_columns("problems"),
        shown_problems,
        problems.num_rows,
        "Data that could not be read. All other data is complete.",
    )
    _add_table(report, "history", sums.history, f"The partitions of {TOPIC}.")
    return report.html()


def _list_columns(name: str) -> list[tuple[str, str, str]]:
    return list_columns(COLUMNS[name], _SHOWN[name], _LABELS)


def _add_table(report: Report, name: str, rows: Sequence[Any], note: str) -> None:
    dicts = [_make_cells(name, row) for row in rows[:ROWS_SHOWN]]
    report.add_table(name, _list_columns(name), dicts, len(rows), note)


def _make_cells(name: str, row: Any) -> dict[str, Any]:
    cells = {}
    for (key, column_type), value in zip(COLUMNS[name].items(), row, strict=True):
        if column_type == "timestamp" and value is not None and value < 0:
            value = None
        if isinstance(value, list):
            # Only show the member count, because there can be hundreds of long ids.
            key, value = key.removeprefix("members_"), len(value)
        cells[key] = value
    return cells


def _add_verdict(
    report: Report, sums: GroupTotals, groups: Sequence[Any], stuck_after_ms: int
) -> None:
    count = format_count(len(groups), "group")
    waited = format_duration(stuck_after_ms)
    if sums.stuck:
        owners = len({row.group for row in sums.stuck})
        report.add_verdict(
            "bad",
            f"{len(sums.stuck):,} stuck",
            f"{count}. In {format_count(owners, 'group')}, the commits of"
            f" {format_count(len(sums.stuck), 'partition')} did not advance for"
            f" {waited} or longer although the log grew.",
        )
    elif not any(row.partitions > row.unknown_lags for row in groups):
        why = "The input does not contain the logs of the topics that they read."
        if sums.uncommitted:
            why = _describe_uncommitted(sums)
        report.add_verdict("quiet", "Lag unknown", f"{count}. {why}")
    else:
        report.add_verdict(
            "warning" if sums.uncommitted else "good",
            "None stuck",
            f"{count}. If the log grew, every commit advanced within {waited}."
            + (f" {_describe_uncommitted(sums)}" if sums.uncommitted else ""),
        )


def _describe_uncommitted(sums: GroupTotals) -> str:
    return (
        f"{format_count(sums.uncommitted, 'partition')} assigned without a commit, so"
        " that the lag is unknown (committed is null in partitions/)."
    )


def _add_figures(
    report: Report, sums: GroupTotals, groups: Sequence[Any], problems: int
) -> None:
    lags = [row.known_lag for row in groups if row.known_lag is not None]
    unknown = sum(row.unknown_lags for row in groups)
    pending = sum(row.pending_commits for row in sums.history)
    figures = [
        ("Groups", f"{len(groups):,}", ""),
        ("Stuck partitions", f"{len(sums.stuck):,}", "bad" if sums.stuck else "good"),
        (
            "Lag at the end"
            + (f", {format_count(unknown, 'partition')} unknown" if unknown else ""),
            f"{sum(lags):,}" if lags else "unknown",
            "warning" if sums.uncommitted else "",
        ),
        ("Commits", f"{sum(row.commits for row in sums.history):,}", ""),
        ("Rebalances", f"{len(sums.rebalances):,}", ""),
        ("Commits pending", f"{pending:,}", "warning" if pending else ""),
        ("Problems", f"{problems:,}", "warning" if problems else ""),
    ]
    report.add_figures(figures)


def _describe_history(sums: GroupTotals) -> str:
    """Describe from which time on the history contains every commit.

    The log cleaner may have removed earlier commits.
    """
    filled = [row for row in sums.history if row.first_offset is not None]
    compacted = [row for row in filled if row.complete_from_offset != row.first_offset]
    if not filled:
        return f"{TOPIC} contains no records."
    if not compacted:
        return (
            "The history is complete, because no segment was compacted. It begins at"
            f" {format_time(min(row.first_timestamp for row in filled))} UTC."
        )
    starts = [row.complete_from for row in filled if row.complete_from is not None]
    text = (
        f"Compacted segments of {TOPIC} only contain the last commit per key."
        f" {len(compacted):,} of {format_count(len(filled), 'partition')}"
        f" {'has' if len(compacted) == 1 else 'have'} such segments."
    )
    if len(starts) < len(filled):
        without_start = format_count(len(filled) - len(starts), "partition")
        return f"{text} In {without_start}, all segments are compacted."
    text += f" The history is complete from {format_time(max(starts))} UTC on"
    if min(starts) < max(starts):
        text += f" (in some partitions, from {format_time(min(starts))} UTC on)"
    return f"{text}. The charts begin at this time."


def _add_lag_charts(report: Report, groups: Sequence[Any], lags: Sequence[Any]) -> None:
    series: dict[str, dict[str, list[tuple[int, float | None]]]] = {}
    worst: dict[str, int] = {}
    has_gaps = has_no_log = False
    for row in lags:
        # If another partition's lag is temporarily unknown, draw a gap, because the
        # total would decrease although no record was read. Partitions without a log are
        # omitted for the whole time, so they need no gap.
        is_gap = row.unknown_lags > row.missing_logs
        lag = None if is_gap else row.known_lag
        has_gaps = has_gaps or is_gap
        has_no_log = has_no_log or row.missing_logs > 0
        points = series.setdefault(row.group, {}).setdefault(row.topic, [])
        points.append((row.timestamp, lag))
        worst[row.group] = max(worst.get(row.group, 0), lag or 0)
    stuck = {row.group: row.stuck for row in groups}
    drawable = [
        group
        for group, topics in series.items()
        if worst[group] and max(map(len, topics.values())) > 1
    ]
    order = sorted(
        drawable,
        key=lambda group: (-stuck.get(group, 0), -worst[group], group),
    )
    for group in order[:_MAX_CHARTS]:
        topics = series[group]
        ranked = sorted(
            topics,
            key=lambda topic: (-max(lag or 0 for _, lag in topics[topic]), topic),
        )
        drawing = charts.draw_lines(
            {name: topics[name] for name in ranked[:_MAX_TOPICS]}, "records"
        )
        rest_note = describe_rest(_MAX_TOPICS, len(ranked), "topics", "lag_over_time")
        report.add_chart(f"Lag of {group}", drawing, rest_note)
    gap_note = (
        " A line has a gap while the lag of a partition is unknown, because it is"
        " assigned without a commit, or because its log no longer contains that time."
        if has_gaps
        else ""
    ) + (" Partitions without a log in the input are omitted." if has_no_log else "")
    if not order:
        report.add_text(f"There is no lag to draw.{gap_note}")
        return
    report.add_text(
        "Lag is the number of offsets between the commit and the log end offset, added"
        f" up over the partitions of a topic.{gap_note}"
        f" {describe_rest(_MAX_CHARTS, len(order), 'groups', 'lag_over_time')}".rstrip()
    )


def _add_commit_map(report: Report, sums: GroupTotals, rate: Sequence[Any]) -> None:
    totals: dict[str, int] = {}
    for _, group, commits in rate:
        totals[group] = totals.get(group, 0) + commits
    rows = sorted(totals, key=lambda group: (-totals[group], group))
    if not rows:
        return
    step, start = sums.step, sums.start - sums.start % sums.step
    times = range(start, sums.end + 1, step)
    names = {time: _format_clock(time, step) for time in times}
    cells = {
        (group, names[time]): charts.HeatCell(commits)
        for time, group, commits in rate
        if time in names
    }
    rest_note = describe_rest(_MAX_HEAT_ROWS, len(rows), "groups", "commit_rate")
    report.add_chart(
        "Commits over time",
        charts.draw_heat_map(rows[:_MAX_HEAT_ROWS], list(names.values()), cells),
        f"Commits per {format_duration(step)}. Times are in UTC. {rest_note}",
    )


def _format_clock(time: int, step: int) -> str:
    """Format the start time of a chart column, with the required precision."""
    text = format_time(time)
    if step >= 86_400_000:
        return text[:10]
    if step >= 60_000:
        return text[5:16]
    return text[11:19] if step >= 1000 else text[11:]


def _add_timeline(report: Report, sums: GroupTotals) -> None:
    counts = Counter(row.group for row in sums.rebalances)
    rows = sorted(sums.states, key=lambda group: (-counts[group], group))
    min_length = max((sums.end - sums.start) // _MIN_SPAN_FRACTION, 1)
    tracks = []
    for group in rows[:_MAX_TRACKS]:
        count = counts[group]
        spans = _make_spans(sums, group, min_length)
        note = format_count(count, "rebalance") if count else ""
        tracks.append(
            charts.Track(group, sums.start, sums.end + min_length, spans, note)
        )
    if not tracks:
        return
    legend = {"good": "stable", "warning": "rebalance", "quiet": "no members"}
    rest_note = describe_rest(_MAX_TRACKS, len(rows), "groups", "group_state")
    report.add_chart(
        "Groups and their rebalances",
        charts.draw_timeline(tracks, legend),
        f"Times in UTC. {rest_note}",
    )


def _make_spans(sums: GroupTotals, group: str, min_length: int) -> list[charts.Span]:
    """Return timeline spans for a group's states, and for its rebalances.

    A state lasts until the next state begins.
    """
    spans = []
    states = [
        group_state
        for group_state in sums.states[group]
        if group_state.timestamp is not None
    ]
    ends = [group_state.timestamp or 0 for group_state in states[1:]] + [
        sums.end + min_length
    ]
    # If no state has a timestamp, ``ends`` has one element more than ``states``.
    for state, end in zip(states, ends, strict=False):
        begin = max(state.timestamp or 0, sums.start)
        if end > begin and state.state != DEAD:
            note = f"{state.state or 'unknown state'}"
            if state.generation is not None:
                note += f", generation {state.generation}"
            note += f", {format_count(state.members or 0, 'member')}"
            spans.append(
                charts.Span(begin, end, _STATE_TONES.get(state.state, ""), note)
            )
    for row in sums.rebalances:
        if row.group == group and row.timestamp >= sums.start:
            description = (
                f"generation {row.from_generation} to {row.to_generation}:"
                f" {len(row.members_joined)} joined, {len(row.members_left)} left"
            )
            end = row.timestamp + min_length
            spans.append(charts.Span(row.timestamp, end, "warning", description))
    return spans


def _add_growth(report: Report, sums: GroupTotals) -> None:
    items = []
    for row in sums.growth[:_MAX_BARS]:
        label = row.group
        if row.topic is not None:
            label += f" {row.topic}-{row.partition}"
        if row.member is not None:
            label += f" {row.member}"
        note = f"{format_count(row.records, 'record')} {row.record_type}"
        items.append((label, row.bytes, "", note))
    if items:
        report.add_chart(
            f"Largest keys in {TOPIC}",
            charts.draw_bars(items, "bytes"),
            "Uncompressed size of all records per key: key and value.",
        )
