# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire dump``: prints records or batches of log files, or writes them to a file.

This file has the options. ``cli/input/log_records.py`` decides what is read and in
which order; ``cli/output/records.py`` writes records, ``cli/output/batch_rows.py``
batches.
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from ..._text import format_count, read_time
from ..input.log_records import RecordReader, Wanted
from ..input.logs import LogInputs, add_partition_options, say_unreadable
from ..main import CANNOT, EXIT_CODES, FINE
from ..output.batch_rows import open_batches
from ..output.internal_records import is_internal
from ..output.progress import Progress
from ..output.record_runs import write_runs
from ..output.records import KeyBytes, add_output_options
from ..output.tables import open_output
from ..output.terminal import say

if TYPE_CHECKING:
    from ..output.records import RecordOutput
    from ..output.tables import Output


class _Time(click.ParamType[int]):
    """A time: ISO-8601, or milliseconds since 1970."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        try:
            return read_time(value)
        except ValueError:
            self.fail(
                f"{value!r} is not a time; give one such as 2026-11-20T08:30:00Z, or"
                " milliseconds since 1970",
                param,
                ctx,
            )


@click.command(epilog=EXIT_CODES, short_help="Print records or batches of log files.")
@add_partition_options
@click.option("--from-offset", type=int, help="Start at this offset.")
@click.option("--to-offset", type=int, help="Stop before this offset.")
@click.option(
    "--from-time", type=_Time(), help="Start at this time: ISO-8601 or milliseconds."
)
@click.option("--to-time", type=_Time(), help="Stop before this time.")
@click.option(
    "--key", type=KeyBytes(), help="Only this key: text, hex:00ff or base64:AP8=."
)
@click.option("--limit", "-n", type=click.IntRange(0), help="Print at most N rows.")
@click.option(
    "--tail",
    type=click.IntRange(0),
    metavar="N",
    help="Print the last N rows of each partition; they are held in memory.",
)
@click.option(
    "--isolation",
    type=click.Choice(("read_uncommitted", "read_committed")),
    default="read_uncommitted",
    help="read_committed leaves out aborted and unfinished transactions.",
)
@click.option("--control", is_flag=True, help="Also print control records, decoded.")
@click.option(
    "--batches", is_flag=True, help="Print a row for each batch, not for each record."
)
@click.option("--skip-corrupt", is_flag=True, help="Continue after damaged regions.")
@add_output_options
def command(
    output: RecordOutput,
    limit: int | None,
    tail: int | None,
    batches: bool,
    skip_corrupt: bool,
    isolation: str,
    control: bool,
    from_offset: int | None,
    to_offset: int | None,
    from_time: int | None,
    to_time: int | None,
    key: bytes | None,
    **chosen: Any,
) -> int:
    """Print records, partition by partition in the order of their offsets.

    Keys and values that are not printable text are printed as base64, and marked:
    "key_base64" in JSON lines, a column "key_encoding" in CSV. Those of Kafka's
    internal topics are decoded. Files are read piece by piece, never as a whole.
    """
    committed = isolation == "read_committed"
    if batches and output.own is not None:
        raise click.UsageError(
            "--record-format and --batches exclude each other; give one of them"
        )
    if batches and (output.is_binary or key is not None or committed or control):
        raise click.UsageError(
            "--batches excludes Parquet, Arrow, --key, --isolation and --control;"
            " leave it or them out"
        )
    if control and committed:
        raise click.UsageError(
            "--control and --isolation read_committed exclude each other: control"
            " records are not part of what read_committed returns"
        )
    inputs = LogInputs(**chosen)
    say_unreadable(inputs)
    wanted = Wanted(from_offset, to_offset, from_time, to_time, key)
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
        reader = RecordReader(inputs, wanted, tail, progress, skip_corrupt)
        if batches:
            for item in islice(reader.batch_rows(), limit):
                writer.write(item)
        else:
            write_runs(reader.record_runs(isolation, control), limit, writer.write)
    if reader.skipped:
        say(f"skipped {format_count(reader.skipped, 'damaged region')}")
    return FINE if inputs.is_complete else CANNOT
