# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire dump``: prints records or batches from log files, or writes them to a file.

This module defines the options. ``cli/input/log_records.py`` reads the selected records
in order. ``cli/output/records.py`` writes records, and ``cli/output/batch_rows.py``
writes batches.
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from ..._text import format_count
from ..input.log_records import RecordReader
from ..input.logs import LogInputs, add_partition_options, say_unreadable
from ..input.selection import (
    from_option,
    isolation_level_option,
    key_option,
    limit_option,
    to_option,
)
from ..main import CANNOT, EXIT_CODES, FINE
from ..output.batch_rows import open_batches
from ..output.internal_records import is_internal
from ..output.progress import Progress
from ..output.record_runs import write_runs
from ..output.records import add_output_options
from ..output.tables import open_output
from ..output.terminal import say

if TYPE_CHECKING:
    from ..input.selection import Position
    from ..output.records import RecordOutput
    from ..output.tables import Output


@click.command(epilog=EXIT_CODES, short_help="Print records or batches of log files.")
@add_partition_options
@from_option
@to_option
@key_option
@limit_option
@click.option(
    "--tail",
    type=click.IntRange(0),
    metavar="N",
    help="Print the last N rows of each partition; they are held in memory.",
)
@isolation_level_option
@click.option("--control", is_flag=True, help="Also print control records, decoded.")
@click.option(
    "--batches",
    is_flag=True,
    help="Print a row for each batch, not for each record; --limit counts batches.",
)
@click.option("--skip-corrupt", is_flag=True, help="Continue after damaged regions.")
@add_output_options
def command(
    output: RecordOutput,
    limit: int | None,
    tail: int | None,
    batches: bool,
    skip_corrupt: bool,
    isolation_level: str,
    control: bool,
    start: Position,
    end: Position | None,
    key: bytes | None,
    **chosen: Any,
) -> int:
    """Print records, partition by partition in the order of their offsets.

    Keys and values that are not printable text are printed as base64, and marked:
    "key_base64" in JSON lines, a column "key_encoding" in CSV. Those of Kafka's
    internal topics are decoded. Files are read piece by piece, never as a whole.
    --output creates a file, which appears when it is complete; the default is stdout.
    """
    committed = isolation_level == "read_committed"
    if batches and output.own is not None:
        raise click.UsageError(
            "--record-format and --batches exclude each other; give one of them"
        )
    if batches and (output.is_binary or key is not None or committed or control):
        raise click.UsageError(
            "--batches excludes Parquet, Arrow, --key, --isolation-level and"
            " --control; omit it or them"
        )
    if control and committed:
        raise click.UsageError(
            "--control and --isolation-level read_committed exclude each other: control"
            " records are not part of what read_committed returns"
        )
    inputs = LogInputs(**chosen)
    say_unreadable(inputs)
    with ExitStack() as stack:
        out: Output | None
        if batches:
            out = stack.enter_context(open_output(output.path))
            writer: Any = open_batches(out, output.form)
        else:
            decoded = control or any(is_internal(p.topic) for p in inputs.partitions)
            writer, out = stack.enter_context(output.open(decoded))
        to_terminal = out is not None and out.width is not None
        progress = stack.enter_context(Progress(inputs.size, wanted=not to_terminal))
        reader = RecordReader(inputs, start, end, key, tail, progress, skip_corrupt)
        if batches:
            for item in islice(reader.batch_rows(), limit):
                writer.write(item)
        else:
            write_runs(
                reader.record_runs(isolation_level, control), limit, writer.write
            )
    if reader.skipped:
        say(f"skipped {format_count(reader.skipped, 'damaged region')}")
    return FINE if inputs.is_complete else CANNOT
