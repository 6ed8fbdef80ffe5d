# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire verify``: checks log files and their auxiliary files."""

from __future__ import annotations

import time
from typing import Any

import click

from ... import log
from ..._text import format_count, format_size
from ...errors import DecodeError, KwireError
from ..input.logs import LogInputs, add_partition_options
from ..main import CANNOT, EXIT_CODES, FINE, PROBLEMS, explain
from ..output.problems import ProblemWriter
from ..output.progress import Progress
from ..output.tables import RowFormat, format_option, open_output
from ..output.terminal import say


@click.command(epilog=EXIT_CODES, short_help="Check log files and report problems.")
@add_partition_options
@click.option("--deep", is_flag=True, help="Also decode all records.")
@click.option(
    "--strict-tail",
    is_flag=True,
    help="Also report an incomplete batch at the end of the newest segment.",
)
@format_option
def command(form: RowFormat, deep: bool, strict_tail: bool, **chosen: Any) -> int:
    """Check checksums, offsets, gaps, indexes and the other files of a log.

    Each problem is a line on stdout: file, byte, length, what is wrong, and the good
    offsets before and after it. A summary is printed on stderr.
    """
    inputs = LogInputs(**chosen)
    began = time.monotonic()
    failed = not inputs.is_complete
    with open_output() as output, Progress(inputs.size) as progress:
        problems = ProblemWriter(output, form)
        for error in inputs.unreadable:
            if isinstance(error, DecodeError):
                problems.write(_make_problem(error))
            else:
                say(explain(error))
        for partition in inputs.partitions:
            progress.name(f"{partition.topic}-{partition.partition}")
            try:
                for problem in log.verify(
                    partition,
                    deep=deep,
                    strict_tail=strict_tail,
                    progress=progress.advance,
                ):
                    with progress.hidden():
                        problems.write(problem)
            except BrokenPipeError:
                raise
            except (OSError, KwireError) as error:
                failed = True
                with progress.hidden():
                    say(explain(error))
        done = progress.done
    seconds = max(time.monotonic() - began, 1e-9)
    result = (
        format_count(problems.count, "problem") if problems.count else "no problems"
    )
    say(
        f"verified {format_count(len(inputs.partitions), 'partition')},"
        f" {format_size(done)} in {seconds:.1f} s ({format_size(done / seconds)}/s):"
        f" {result}{', but some files could not be read' if failed else ''}"
    )
    if failed:
        return CANNOT
    return PROBLEMS if problems.count else FINE


def _make_problem(error: DecodeError) -> log.Problem:
    return log.Problem(
        error.path, "", -1, error.offset, 0, "checkpoint", detail=error.reason
    )
