# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire dump``: records, or batches, as lines or as a Parquet file.

Here is what is chosen and in which order it is read; how a row looks is the business of
``record_rows.py``, ``batch_rows.py`` and ``parquet.py``.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

import click

from ... import log
from ...plain_text import count_text, one_line, read_time
from ..batch_rows import open_batches
from ..cells import BYTE_FORMATS, read_bytes
from ..decoded import is_internal
from ..inputs import Inputs, files_of, say_unreadable, takes_partitions
from ..output import RowFormat, csv_option, open_output
from ..parquet import load_pyarrow, open_parquet
from ..program import CANNOT, EXIT_CODES, FINE
from ..progress import Progress
from ..record_rows import RowMaker, open_records
from ..terminal import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ...records import Batch, BatchHeader, Record

_FORMS = "table", "jsonl", "csv", "parquet"
_SUFFIXES = {".parquet": "parquet", ".jsonl": "jsonl", ".csv": "csv"}


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


class Wanted(NamedTuple):
    """Which records are wanted; None is no condition."""

    from_offset: int | None
    to_offset: int | None
    from_time: int | None
    to_time: int | None
    key: bytes | None

    def has(self, record: Record) -> bool:
        """Whether a record meets all but the offsets, which were met in reading."""
        return (
            (self.key is None or record.key == self.key)
            and (self.from_time is None or record.timestamp >= self.from_time)
            and (self.to_time is None or record.timestamp < self.to_time)
        )

    def has_batch(self, header: BatchHeader) -> bool:
        """Whether a batch may hold what is wanted."""
        return (
            (self.from_offset is None or header.last_offset >= self.from_offset)
            and (self.to_offset is None or header.base_offset < self.to_offset)
            and (self.from_time is None or header.max_timestamp >= self.from_time)
            and (self.to_time is None or header.base_timestamp < self.to_time)
        )


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
    type=click.Choice(_FORMS),
    help="By default what the name of --output says, else a table.",
)
@csv_option
@click.option(
    "--output",
    metavar="FILE",
    help="A new file in place of stdout; it appears when it is whole.",
)
def command(
    form: str | None,
    csv_safe: bool | None,
    output: str | None,
    limit: int | None,
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
    suffix = "." + (output or "").rpartition(".")[2]
    form = form or _SUFFIXES.get(suffix, "table")
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
            if batches:
                writer = open_batches(out, rows_form)
            else:
                writer = open_records(out, rows_form, format_bytes, headers)
        progress = stack.enter_context(Progress(inputs.size, wanted=not to_terminal))
        reader = _Reader(inputs, wanted, progress, skip_corrupt)
        if batches:
            rows: Iterator[Any] = reader.batch_rows()
        else:
            rows = reader.record_rows(RowMaker(format_bytes, raw), isolation, control)
        _write(rows, limit, writer.write)
    if reader.skipped:
        say(f"passed over {count_text(reader.skipped, 'damaged region')}")
    return FINE if inputs.is_complete else CANNOT


def _write(
    rows: Iterator[Any], limit: int | None, write: Callable[[Any], object]
) -> None:
    if limit is None:
        for row in rows:
            write(row)
        return
    for _, row in zip(range(limit), rows, strict=False):
        write(row)


class _Reader:
    """Reads what is wanted, file by file, and tells how far it is."""

    def __init__(
        self, inputs: Inputs, wanted: Wanted, progress: Progress, skip_corrupt: bool
    ) -> None:
        self.skipped = 0
        self._inputs = inputs
        self._wanted = wanted
        self._progress = progress
        self._on_corrupt: Any = self._skip if skip_corrupt else self._stop

    def _skip(self, problem: log.Problem) -> None:
        self.skipped += 1
        with self._progress.hidden():
            say(one_line(str(problem)))

    def _stop(self, problem: log.Problem) -> None:
        raise click.ClickException(
            f"{one_line(str(problem))}; add --skip-corrupt to go on behind it"
        )

    def record_rows(
        self, maker: RowMaker, isolation: str, control: bool
    ) -> Iterator[Any]:
        """Go through the rows of the records that are wanted."""
        wanted = self._wanted
        for partition in self._inputs.partitions:
            topic, number = partition.topic, partition.partition
            for batch in self._batches(partition, isolation):
                if batch.is_control and not control:
                    continue
                for record in batch.records:
                    if wanted.has(record):
                        yield maker.row(topic, number, batch, record)

    def _batches(self, partition: log.Partition, isolation: str) -> Iterator[Batch]:
        wanted = self._wanted
        options: dict[str, Any] = {}
        if isolation == "read_committed":
            options["transactions"] = partition.transactions()
        for file, start in self._files(partition):
            yield from self._watched(
                start,
                file,
                file.batches(
                    start,
                    start_offset=wanted.from_offset,
                    end_offset=wanted.to_offset,
                    isolation_level=isolation,
                    on_corrupt=self._on_corrupt,
                    errors="replace",
                    **options,
                ),
            )

    def batch_rows(self) -> Iterator[tuple[log.Segment, BatchHeader]]:
        """Go through the batches that are wanted, each with its file."""
        for partition in self._inputs.partitions:
            for file, start in self._files(partition):
                headers = file.headers(start, on_corrupt=self._on_corrupt)
                for header in self._watched(start, file, headers):
                    if self._wanted.has_batch(header):
                        yield file, header

    def _files(self, partition: log.Partition) -> Iterator[tuple[log.Segment, int]]:
        """Go through the files of a partition, each with the first byte to read."""
        wanted = self._wanted
        for file in files_of(partition):
            self._progress.name(str(file.path))
            start: int | None = 0
            above = file.next_base_offset
            if wanted.from_offset is not None:
                passed = above is not None and above <= wanted.from_offset
                start = None if passed else file.seek(wanted.from_offset)
            if wanted.to_offset is not None and file.base_offset >= wanted.to_offset:
                start = None
            if start is not None and wanted.from_time is not None:
                found = file.seek_timestamp(wanted.from_time)
                start = None if found is None else max(start, found)
            if start is None:
                self._progress.advance(file.size)
            else:
                yield file, start

    def _watched(self, start: int, file: log.Segment, items: Any) -> Iterator[Any]:
        base = self._progress.done
        for item in items:
            yield item
            self._progress.reach(base + item.position + item.size)
        self._progress.reach(base + file.size)
