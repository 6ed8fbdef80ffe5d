# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire audit``: finds clients that a Kafka upgrade breaks."""

from __future__ import annotations

import os
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from ..._text import format_count
from ...schema import releases
from ..input.jobs import read_rows, spark_option
from ..main import FINE, PROBLEMS
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
    from click.shell_completion import CompletionItem

BREAKS = 3

_SHOWN = ("verdict", "address", "client_id", "software_name", "software_version")
_NAMES = (*_SHOWN, "requests", "breaking_requests", "reason")


class _Release(click.ParamType[str]):
    """Parameter type for a Kafka release, for example 4.1 or 4.1.2.

    The value becomes its release line (4.1). Shell completion offers all known lines.
    """

    name = "release"

    def convert(
        self,
        value: str,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        from ...jobs.audit_job.verdicts import find_release

        try:
            return find_release(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name)
            for name in reversed(releases.NAMES)
            if name.startswith(incomplete)
        ]


class _Timezone(click.ParamType[tzinfo]):
    """Parameter type for time zone names, for example UTC or Europe/Berlin."""

    name = "zone"

    def convert(
        self,
        value: str | tzinfo,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tzinfo:
        if isinstance(value, tzinfo):
            return value
        if value.upper() in ("UTC", "Z"):
            return UTC
        try:
            return ZoneInfo(value)
        except (ValueError, OSError, LookupError):
            self.fail(
                f"{value!r} is not a time zone; give a name such as Europe/Berlin",
                param,
                ctx,
            )


@click.command(
    short_help="Find the clients that an upgrade breaks.",
    epilog=(
        "Exit codes: 0 no client breaks; 1 none, but some input could not be read; 2"
        " wrong usage, or a failure to read or write; 3 a client breaks; 130"
        " interrupted; 141 the reader of the output closed it."
    ),
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--target",
    required=True,
    type=_Release(),
    metavar="RELEASE",
    help="The release to upgrade to, such as 4.1.",
)
@output_option(required=True)
@spark_option
@click.option(
    "--time-zone",
    default="UTC",
    type=_Timezone(),
    metavar="ZONE",
    help="The time zone of request logs. Default: UTC.",
)
@format_option
def command(
    paths: tuple[str, ...],
    target: str,
    output_path: str,
    spark: str | None,
    time_zone: tzinfo,
    form: RowFormat,
) -> int:
    """Find the clients that break when brokers are upgraded.

    PATH is a capture of kwire record, a request log of a broker (JSON, of 2.8 or
    newer; gzip too), or a directory of these. Each client is a row on stdout, the
    riskiest first: OK, UNKNOWN or BREAKS, and the reason. --output is a new directory
    for the tables requests, clients, breaks and problems as Parquet, and for
    report.html.
    """
    from ... import jobs
    from ...jobs.audit_job.tasks import find_sources

    size = sum(find_sources(paths)[1])
    with Progress(size) as progress:
        result = jobs.audit(
            paths,
            output_path,
            target=target,
            spark=spark,
            progress=progress.advance,
            timezone=time_zone,
        )
    rows = read_rows(result.tables["clients"])
    with open_output() as output:
        if form.is_table:
            titles = ("verdict", "client", " requests", " breaking", "why")
            write_table(output, titles, [("", _cells(row)) for row in rows])
        else:
            writer = form.open_rows(output, _NAMES)
            for row in rows:
                writer.write({name: row[name] for name in _NAMES})
    problems = result.counts["problems"]
    say(
        f"{format_count(result.counts['requests'], 'request')} of"
        f" {format_count(len(rows), 'client')}:"
        + (
            f" {result.findings or 'none'}"
            f" {'breaks' if result.findings == 1 else 'break'} on {target}"
            if rows
            else " nothing to judge"
        )
        + (f"; {format_count(problems, 'problem')} in the input" if problems else "")
    )
    say(f"report: {os.path.relpath(result.report)}")
    if result.findings:
        return BREAKS
    # If the input contains no clients, report a problem, because the upgrade is not
    # known to be safe.
    return PROBLEMS if problems or not rows else FINE


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the table cells of a client row."""
    client_id = "(no client id)" if row["client_id"] is None else row["client_id"]
    return (
        row["verdict"],
        f"{client_id}@{row['address'] or '?'}",
        str(row["requests"]),
        str(row["breaking_requests"]),
        row["reason"] or "",
    )
