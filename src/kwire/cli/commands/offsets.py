# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire offsets``: reports on consumer groups, based on broker logs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ..._text import format_count, format_time
from ..input.jobs import read_rows, spark_option
from ..main import EXIT_CODES, FINE
from ..output.progress import Progress
from ..output.tables import (
    RowFormat,
    format_option,
    open_output,
    output_option,
    write_table,
)
from ..output.terminal import say

if TYPE_CHECKING:
    from datetime import datetime

_TITLES = (
    "GROUP",
    "STATE",
    " PARTITIONS",
    " LAG",
    " UNKNOWN",
    " STUCK",
    "LAST COMMIT (UTC)",
)
_LINES = 40
"""Maximum number of groups in the printed table. The most urgent groups come first. The
table ``groups`` in the output directory contains all groups.
"""


@click.command(
    epilog=EXIT_CODES.replace(" 1 problems found;", ""),
    short_help="Report commits, lag and rebalances of groups.",
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@output_option(required=True)
@click.option("--group", "-g", multiple=True, help="Only this; repeatable.")
@click.option(
    "--stuck-after",
    type=click.FloatRange(min=0),
    default=300,
    show_default=True,
    metavar="SECONDS",
    help="How long a new record waits before the partition counts as stuck.",
)
@spark_option
@format_option
def command(
    paths: tuple[str, ...],
    output_path: str,
    group: tuple[str, ...],
    stuck_after: float,
    spark: str | None,
    form: RowFormat,
) -> int:
    """Report commits, lag and rebalances of consumer groups, from log files of brokers.

    PATH is a data directory with partitions of __consumer_offsets, or a parent
    directory of several; lag requires the segments of the topics as well. Each group is
    a row on stdout, the worst first. --output is a new directory for tables as Parquet
    (commits, lag, group states, rebalances, stuck partitions and others), and for
    report.html.
    """
    from ... import jobs
    from ...jobs.offsets_job.inputs import LogInputs

    inputs = LogInputs(paths)
    with Progress(inputs.size) as progress:
        result = jobs.offsets(
            inputs,
            output_path,
            groups=group or None,
            stuck_after_s=stuck_after,
            spark=spark,
            progress=progress.advance,
        )
    rows = _rows(result.tables["groups"])
    with open_output() as output:
        if form.is_table:
            write_table(output, _TITLES, [("", _cells(row)) for row in rows[:_LINES]])
            if len(rows) > _LINES:
                output.write(f"and {len(rows) - _LINES:,} more\n")
        else:
            names = list(rows[0]) if rows else []
            writer = form.open_rows(output, names)
            for row in rows:
                writer.write(row)
    missing = sorted(set(group) - {row["group"] for row in rows})
    if missing:
        say(f"no group {', '.join(map(repr, missing))} in __consumer_offsets")
    problems = result.counts["problems"]
    unknown = sum(row["unknown_lags"] for row in rows)
    commits = sum(row["commits"] for row in rows)
    say(
        f"{format_count(len(rows), 'group')}, {format_count(commits, 'commit')},"
        f" {format_count(result.findings, 'partition')} stuck"
        + (f", lag of {format_count(unknown, 'partition')} unknown" if unknown else "")
        + (f"; {format_count(problems, 'problem')} in the input" if problems else "")
    )
    say(f"report: {os.path.relpath(result.report)}")
    return FINE


def _rows(folder: str) -> list[dict[str, Any]]:
    rows = read_rows(folder)
    for row in rows:
        for name in ("first_commit", "last_commit"):
            row[name] = _milliseconds(row[name])
    return rows


def _milliseconds(moment: datetime | None) -> int | None:
    """Convert a datetime to milliseconds since 1970. None stays None."""
    return None if moment is None else round(moment.timestamp() * 1000)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    has_known_lag = row["known_lag"] is not None
    bound = "" if row["lag"] is not None else ">="
    return (
        row["group"],
        row["state"] or "-",
        str(row["partitions"]),
        f"{bound}{row['known_lag']}" if has_known_lag else "-",
        str(row["unknown_lags"]),
        str(row["stuck"]) if has_known_lag else "-",
        format_time(-1 if row["last_commit"] is None else row["last_commit"]),
    )
