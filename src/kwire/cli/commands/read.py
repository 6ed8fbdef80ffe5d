# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire read``: prints records of live topics, or writes them to a file.

This file has the options, and turns chunks into records. ``record_output.py`` writes
them, as it does for ``kwire dump``.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ...cluster import DataLost
from ...errors import DecodeError
from ..brokers import add_cluster_options, connect_cluster
from ..internal_records import is_internal
from ..main import EXIT_CODES, FINE, INTERRUPTED
from ..progress import Progress
from ..record_output import KeyBytes, add_output_options, write_rows
from ..terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...client import Chunk, KafkaSync
    from ..record_output import RecordOutput
    from ..record_rows import RecordRow, RowMaker

    Position: TypeAlias = "str | int | datetime | timedelta"

_NAMES = {
    "earliest": "earliest",
    "beginning": "earliest",
    "latest": "latest",
    "end": "latest",
}
_DURATION = re.compile(r"([0-9]{1,9})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class _Position(click.ParamType[object]):
    """Where to begin or end: an offset, a name, a time, or how long ago."""

    name = "position"

    def convert(self, value: Any, param: Any, ctx: Any) -> Position:
        if value in _NAMES:
            return _NAMES[value]
        try:
            if re.fullmatch("-?[0-9]{1,19}", value):
                return int(value)
            if duration := _DURATION.fullmatch(value):
                return timedelta(**{_UNITS[duration[2]]: int(duration[1])})
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r:.100} is not a position; give an offset, earliest, latest,"
                " a time such as 2026-11-20T08:30:00Z, or a duration such as 1h",
                *(param, ctx),
            )


@click.command(epilog=EXIT_CODES, short_help="Print the records of live topics.")
@add_cluster_options
@click.argument("topics", metavar="TOPIC...", nargs=-1, required=True)
@click.option(
    "--from",
    "start",
    type=_Position(),
    default="earliest",
    help=(
        "Where to start: an offset, earliest (default), latest, an ISO-8601 time, or"
        " a duration ago such as 1h; -10 is the last 10 offsets of each partition."
    ),
)
@click.option(
    "--to",
    "end",
    type=_Position(),
    help=(
        "Stop before this position; the default is latest: the end when the command"
        " starts."
    ),
)
@click.option(
    "--follow", is_flag=True, help="Continue with new records as they are written."
)
@click.option(
    "--partition",
    "-p",
    "partitions",
    type=click.IntRange(0),
    multiple=True,
    metavar="N",
    help="Only this partition; repeatable.",
)
@click.option(
    "--record-key",
    type=KeyBytes(),
    help="Only records of this key: text, hex:00ff or base64:AP8=.",
)
@click.option(
    "--max",
    "-n",
    "limit",
    type=click.IntRange(0),
    metavar="N",
    help="Print at most N records.",
)
@click.option(
    "--isolation",
    type=click.Choice(("read_uncommitted", "read_committed")),
    default="read_uncommitted",
    help="read_committed leaves out aborted and unfinished transactions.",
)
@click.option(
    "--on-data-loss",
    type=click.Choice(("raise", "earliest", "latest")),
    default="raise",
    help="Where to continue if unread records were deleted; default: fail.",
)
@add_output_options
def command(
    address: str,
    topics: tuple[str, ...],
    start: Position,
    end: Position | None,
    follow: bool,
    partitions: tuple[int, ...],
    record_key: bytes | None,
    limit: int | None,
    isolation: Any,
    on_data_loss: Any,
    output: RecordOutput,
    **access: Any,
) -> int:
    """Print the records of topics, up to their end, or until Ctrl-C with --follow.

    Records of a partition are in the order of their offsets; partitions take turns.
    Keys and values that are not printable text are printed as base64, and marked.
    Nothing is committed: no consumer group is involved.
    """
    if follow and end is not None:
        raise click.UsageError("--follow and --to exclude each other; give one of them")
    if isinstance(end, int) and end < 0:
        raise click.UsageError(f"--to must be an offset of 0 or more (got {end})")
    with ExitStack() as stack:
        kafka = stack.enter_context(connect_cluster(address, **access))
        chosen: Any = list(dict.fromkeys(topics))
        if partitions:
            chosen = dict.fromkeys(topics, partitions)
        begin: Any = start
        if isinstance(start, int) and start < 0:
            begin = _find_last(kafka, chosen, -start, isolation)
        scan = kafka.scan(
            chosen,
            start=begin,
            end="latest" if end is None else end,
            follow=follow,
            isolation=isolation,
            on_data_loss=on_data_loss,
        )
        is_decoded = any(map(is_internal, topics))
        writer, out = stack.enter_context(output.open(is_decoded))
        is_terminal = out is not None and out.width is not None
        progress = stack.enter_context(Progress(None, wanted=not is_terminal))
        flush = None if out is None else out.flush
        rows = _read_rows(scan, output.row_maker(), record_key, progress, flush)
        code = FINE
        try:
            write_rows(rows, limit, writer.write)
        except DataLost as loss:
            raise click.ClickException(
                f"{_loss_text(loss)}; add --on-data-loss earliest, or latest, to"
                " continue"
            ) from loss
        except KeyboardInterrupt:
            if not follow:
                raise
            # What was read by then is a complete file.
            code = INTERRUPTED
    for lost in scan.losses:
        say(_loss_text(lost))
    return code


def _loss_text(loss: DataLost) -> str:
    return f"{loss.topic}-{loss.partition} at offset {loss.offset}: {loss.reason}"


def _find_last(
    kafka: KafkaSync, topics: Any, count: int, isolation: Any
) -> dict[tuple[str, int], int]:
    """Find where the last offsets of each partition begin."""
    starts: dict[tuple[str, int], int] = kafka.offsets(topics, at="earliest")
    ends: dict[tuple[str, int], int]
    ends = kafka.offsets(topics, at="latest", isolation=isolation)
    return {
        place: max(ends.get(place, start) - count, start)
        for place, start in starts.items()
    }


def _read_rows(
    chunks: Iterator[Chunk],
    maker: RowMaker,
    key: bytes | None,
    progress: Progress,
    flush: Callable[[], object] | None,
) -> Iterator[RecordRow]:
    """Iterate over the rows of the records; output is flushed before a wait."""
    for chunk in chunks:
        progress.name(f"{chunk.topic}-{chunk.partition}")
        try:
            for batch in chunk.batches(errors="replace"):
                for record in batch.records:
                    if record.offset >= chunk.next_offset:
                        break
                    if key is None or record.key == key:
                        yield maker.row(chunk.topic, chunk.partition, batch, record)
        except DecodeError as error:
            raise click.ClickException(
                f"reading {chunk.topic}-{chunk.partition} from offset"
                f" {chunk.start_offset} on: {error}"
            ) from error
        progress.advance(len(chunk.data))
        if flush is not None:
            flush()
