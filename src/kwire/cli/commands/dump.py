# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire dump``: records, or batches, as lines or as a Parquet file.

Here are the options; what is read in which order is decided in ``record_reading.py``,
how a row looks in ``record_rows.py``, ``batch_rows.py`` and ``parquet.py``.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

import click

from ...plain_text import count_text, read_time
from ..batch_rows import open_batches
from ..cells import BYTE_FORMATS, read_bytes
from ..decoded import is_internal
from ..inputs import Inputs, say_unreadable, takes_partitions
from ..output import RowFormat, csv_option, open_output
from ..parquet import load_pyarrow, open_parquet
from ..program import CANNOT, EXIT_CODES, FINE
from ..progress import Progress
from ..record_format import RecordFormat, RecordWriter
from ..record_reading import RecordReader, Wanted
from ..record_rows import RowMaker, open_records
from ..terminal import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


_SUFFIXES = {
    ".txt": "table",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
}


class _Time(click.ParamType[int]):
    """A time: ISO-8601, or milliseconds since 1970."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        try:
            return read_time(value)
        except ValueError:
            self.fail(
                f"{value!r} is no time: give 2026-11-20T08:30:00Z or milliseconds",
                *(param, ctx),
            )


class _Bytes(click.ParamType[bytes]):
    """Bytes: text, or with a prefix hex or base64."""

    name = "key"

    def convert(self, value: Any, param: Any, ctx: Any) -> bytes:
        try:
            return read_bytes(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command(
    epilog=EXIT_CODES, short_help="Print records or batches, or write Parquet."
)
@takes_partitions
@click.option("--from-offset", type=int, help="From this offset on.")
@click.option("--to-offset", type=int, help="Up to this offset, itself left out.")
@click.option("--from-time", type=_Time(), help="From this time on: ISO-8601 or ms.")
@click.option("--to-time", type=_Time(), help="Up to this time, itself left out.")
@click.option(
    "--key", type=_Bytes(), help="Only this key: text, hex:00ff or base64:AP8=."
)
@click.option("--limit", "-n", type=click.IntRange(0), help="At most so many rows.")
@click.option(
    "--tail",
    type=click.IntRange(0),
    metavar="N",
    help="The last N rows of each partition that are chosen; they are held in memory.",
)
@click.option(
    "--isolation",
    type=click.Choice(("read_uncommitted", "read_committed")),
    default="read_uncommitted",
    help="With read_committed: without aborted and unfinished transactions.",
)
@click.option("--control", is_flag=True, help="Control records as well, decoded.")
@click.option("--headers/--no-headers", default=True, help="Headers of records.")
@click.option(
    "--format-bytes",
    type=click.Choice(BYTE_FORMATS),
    default="text",
    help="Keys and values: text, else base64 (the default); always base64; hex.",
)
@click.option("--raw", is_flag=True, help="Do not decode Kafka's internal topics.")
@click.option("--batches", is_flag=True, help="A row for each batch, not each record.")
@click.option("--skip-corrupt", is_flag=True, help="Go on behind what is damaged.")
@click.option(
    "--format",
    "-o",
    "form",
    type=click.Choice(tuple(_SUFFIXES.values())),
    help="By default what the name of --output says, else a table.",
)
@csv_option
@click.option(
    "--record-format",
    "-f",
    "own",
    type=RecordFormat(),
    metavar="FORMAT",
    help=r"As kcat: %t topic, %p partition, %o offset, %T time, %k key, %v or %s value,"
    r" %h headers, %K %S %R lengths; \n \t \xNN.",
)
@click.option(
    "--output",
    metavar="FILE",
    help="A new file in place of stdout; it appears when it is whole.",
)
def command(
    form: str | None,
    csv_safe: bool | None,
    own: list[Any] | None,
    output: str | None,
    limit: int | None,
    tail: int | None,
    batches: bool,
    skip_corrupt: bool,
    isolation: str,
    control: bool,
    headers: bool,
    format_bytes: str,
    raw: bool,
    from_offset: int | None,
    to_offset: int | None,
    from_time: int | None,
    to_time: int | None,
    key: bytes | None,
    **chosen: Any,
) -> int:
    """Print records, partition by partition in the order of their offsets.

    Keys and values that are no printable text are base64, and say so: "key_base64"
    in JSON lines, a column "key_encoding" in CSV. Those of Kafka's internal topics
    are decoded. Printing begins at once, and no file is held in memory.
    """
    committed = isolation == "read_committed"
    if own is not None and (form is not None or batches):
        raise click.UsageError(
            "--record-format is a form of its own: leave --format and --batches out"
        )
    if form is None:
        form = "table" if output is None or own is not None else _form_of(output)
    if form == "parquet" and output is None:
        raise click.UsageError("parquet needs a file: add --output FILE")
    if batches and (form == "parquet" or key is not None or committed or control):
        raise click.UsageError(
            "--batches goes with neither parquet nor --key, --isolation and --control"
        )
    if control and committed:
        raise click.UsageError(
            "read_committed leaves control records out; take --control away"
        )
    inputs = Inputs(**chosen)
    say_unreadable(inputs)
    wanted = Wanted(from_offset, to_offset, from_time, to_time, key)
    with ExitStack() as stack:
        if form == "parquet":
            load_pyarrow()
            decoded = control or any(is_internal(p.topic) for p in inputs.partitions)
            assert output is not None
            writer: Any = stack.enter_context(
                open_parquet(output, headers, decoded and not raw)
            )
            to_terminal = False
        else:
            out = stack.enter_context(open_output(output))
            to_terminal = out.width is not None
            rows_form = RowFormat(form, csv_safe)
            if own is not None:
                writer = RecordWriter(out, own, format_bytes)
            elif batches:
                writer = open_batches(out, rows_form)
            else:
                writer = open_records(out, rows_form, format_bytes, headers)
        progress = stack.enter_context(Progress(inputs.size, wanted=not to_terminal))
        reader = RecordReader(inputs, wanted, tail, progress, skip_corrupt)
        if batches:
            rows: Iterator[Any] = reader.batch_rows()
        else:
            rows = reader.record_rows(RowMaker(format_bytes, raw), isolation, control)
        _write(rows, limit, writer.write)
    if reader.skipped:
        say(f"passed over {count_text(reader.skipped, 'damaged region')}")
    return FINE if inputs.is_complete else CANNOT


def _form_of(output: str) -> str:
    suffix = os.path.splitext(output)[1]
    form = _SUFFIXES.get(suffix.lower())
    if form is None:
        what = f"no format has the suffix {suffix}" if suffix else "it has no suffix"
        raise click.UsageError(
            f"--output {output}: {what}; end the name in {', '.join(_SUFFIXES)}, or"
            " name the format with --format"
        )
    return form


def _write(
    rows: Iterator[Any], limit: int | None, write: Callable[[Any], object]
) -> None:
    if limit is None:
        for row in rows:
            write(row)
        return
    for _, row in zip(range(limit), rows, strict=False):
        write(row)
