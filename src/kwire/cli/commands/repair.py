# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire repair``: copies the valid batches in a damaged segment."""

from __future__ import annotations

import os

import click

from ... import log
from ..._files import open_regular
from ..._text import format_count, format_size
from ..main import FINE, PROBLEMS
from ..output.problems import ProblemWriter
from ..output.progress import Progress
from ..output.tables import RowFormat, format_option, open_output, output_option
from ..output.terminal import say


@click.command(
    short_help="Copy the intact batches of a damaged segment.",
    epilog=(
        "Exit codes: 0 the copy is complete; 1 some bytes were omitted, or no batch is"
        " intact and no file was written; 2 wrong usage, or a failure to read or"
        " write; 130 interrupted; 141 the reader of the output closed it."
    ),
)
@click.argument("segment", metavar="SEGMENT")
@output_option(required=True)
@format_option
def command(segment: str, output_path: str, form: RowFormat) -> int:
    """Copy the intact batches of a .log file to a new file, byte for byte.

    The file of --output must not exist. The damaged file is not changed. Each omitted
    region is a row on stdout. Offsets do not change. Indexes are not copied, because
    brokers rebuild them.
    """
    if os.path.isdir(segment):
        raise click.UsageError(f"{segment} is a directory; give one of its .log files")
    open_regular(segment).close()
    log_directory = log.LogDirectory(segment)
    source = (
        *log_directory.segments,
        *(s for partition in log_directory for s in partition.snapshots),
    )[0]
    with open_output() as output, Progress(source.size) as progress:
        progress.name(source.path.name)
        report = log.copy_good(source, output_path, progress=progress.advance)
        problems = ProblemWriter(output, form)
        with progress.hidden():
            for problem in report.problems:
                problems.write(problem)
    if not report.batches:
        say(f"{segment} has no intact batch; {output_path} was not written")
        return PROBLEMS
    say(
        f"wrote {output_path}: {format_count(report.batches, 'batch')},"
        f" {format_size(report.bytes_copied)}; left out"
        f" {format_size(report.bytes_left_out)}"
    )
    return PROBLEMS if report.problems or report.bytes_left_out else FINE
