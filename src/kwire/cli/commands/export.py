# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire export``: recovers records from log files as Parquet, and lists losses."""

from __future__ import annotations

import os
from typing import Any

import click

from ..._text import format_count
from ..input.jobs import read_rows, spark_option
from ..input.logs import add_partition_options
from ..main import EXIT_CODES, FINE, PROBLEMS
from ..output.progress import Progress
from ..output.tables import (
    RowFormat,
    clear_unknown,
    format_option,
    open_output,
    output_option,
    write_table,
)
from ..output.terminal import say

_NAMES = (
    "topic",
    "partition",
    "start_offset",
    "end_offset",
    "records",
    "lost_offsets",
    "lost_ranges",
    "replicas",
    "replicas_agree",
    "recovered_percent",
)
_TITLES = (
    " PARTITION",
    "OFFSETS",
    " RECORDS",
    " LOST",
    " REPLICAS",
    "AGREE",
    " RECOVERED",
)
_LINES = 40
"""Maximum number of partitions in the printed table. If there are more, partitions with
losses are preferred. The table ``coverage`` in the output directory contains all
partitions.
"""


@click.command(
    epilog=EXIT_CODES.replace("1 problems found", "1 something is lost"),
    short_help="Recover the records of damaged logs, as Parquet.",
)
@add_partition_options
@output_option(required=True)
@spark_option
@format_option
def command(
    paths: tuple[str, ...],
    topic: tuple[str, ...],
    partition: tuple[int, ...],
    include: tuple[str, ...],
    output_path: str,
    spark: str | None,
    form: RowFormat,
) -> int:
    """Recover the records of log files, damaged or not, into Parquet files.

    PATH is a data directory of a broker, a parent directory of several, or tiered
    storage. Replicas of a partition fill each other's gaps, and each record is written
    once. Each partition is a row on stdout. --output is a new directory for the tables
    records, batches, problems, coverage and lost as Parquet, and for report.html. The
    input is not changed.
    """
    from ... import jobs
    from ...jobs.export_job.inputs import find_inputs

    chosen: dict[str, Any] = {
        "topics": topic or None,
        "partitions": partition or None,
        "include": include,
    }
    size = sum(segment.size for _, segment in find_inputs(paths, **chosen).segments)
    with Progress(size) as progress:
        result = jobs.export(
            paths, output_path, **chosen, spark=spark, progress=progress.advance
        )
    rows = read_rows(result.tables["coverage"])
    with open_output() as output:
        if form.is_table:
            shown = sorted(rows, key=lambda row: row["lost_offsets"] == 0)[:_LINES]
            shown.sort(key=lambda row: (row["topic"], row["partition"]))
            write_table(output, _TITLES, [(row["topic"], _cells(row)) for row in shown])
            if len(shown) < len(rows):
                output.write(f"and {len(rows) - len(shown):,} more\n")
        else:
            writer = form.open_rows(output, _NAMES)
            for row in rows:
                writer.write(clear_unknown({name: row[name] for name in _NAMES}))
    lost = sum(row["lost_offsets"] for row in rows)
    say(
        f"{format_count(result.counts['records'], 'record')} of"
        f" {format_count(len(rows), 'partition')} recovered,"
        f" {format_count(lost, 'offset')} lost in"
        f" {format_count(result.findings, 'range')},"
        f" {format_count(result.counts['problems'], 'problem')}"
    )
    # Partitions without a complete batch. It is not known how many of their records
    # are lost, so damaged files of these partitions count as unread.
    empty = {
        (row["topic"], row["partition"])
        for row in rows
        if row["start_offset"] == row["end_offset"]
    }
    unread = {
        row["path"]
        for row in read_rows(result.tables["problems"])
        if row["reason"] == "unreadable"
        or (row["length"] and (row["topic"], row["partition"]) in empty)
    }
    if unread:
        say(
            f"{format_count(len(unread), 'path')} could not be read at all, such as"
            f" {min(unread)}; their records are not counted as lost"
        )
    say(f"report: {os.path.relpath(result.report)}")
    return PROBLEMS if result.findings or unread else FINE


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(row["partition"]) if row["partition"] >= 0 else "-",
        f"{row['start_offset']}..{row['end_offset']}",
        str(row["records"]),
        str(row["lost_offsets"]),
        str(row["replicas"]),
        "yes" if row["replicas_agree"] else "no",
        f"{row['recovered_percent']:.4g} %",
    )
