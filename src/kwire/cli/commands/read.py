# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire read``: prints records from live topics, or writes them to a file.

This module defines the options, and converts chunks to records.
``cli/output/records.py`` writes the records, as for ``kwire dump``.
"""

from __future__ import annotations

from contextlib import ExitStack, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import click

from ...client.machines import DataLost
from ...errors import DecodeError
from ..input.brokers import add_cluster_options, connect_cluster
from ..input.cluster_address import ClusterCommand
from ..input.selection import (
    from_option,
    isolation_level_option,
    key_option,
    limit_option,
    partition_option,
    to_option,
)
from ..interrupts import delay_interrupt
from ..main import EXIT_CODES, FINE, INTERRUPTED
from ..output.internal_records import is_internal
from ..output.parquet import RecordGroups
from ..output.progress import Progress
from ..output.record_runs import join_runs, make_run, write_runs
from ..output.records import add_output_options
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ...client import Chunk, KafkaSync
    from ...records import Record
    from ..input.selection import Position
    from ..output.record_runs import RecordRun
    from ..output.records import RecordOutput, Writer

_FEW_BYTES = 2048
"""Chunk size in bytes up to which reading rows is faster than reading columns, which
has a fixed cost of about 100 us.
"""


@click.command(
    cls=ClusterCommand,
    epilog=EXIT_CODES,
    short_help="Print the records of live topics.",
)
@add_cluster_options
@click.argument("topics", metavar="TOPIC...", nargs=-1, required=True)
@from_option
@to_option
@click.option(
    "--follow", is_flag=True, help="Continue with new records as they are written."
)
@partition_option
@key_option
@limit_option
@isolation_level_option
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
    partition: tuple[int, ...],
    key: bytes | None,
    limit: int | None,
    isolation_level: Any,
    on_data_loss: Any,
    output: RecordOutput,
    **access: Any,
) -> int:
    """Print the records of topics, up to their end, or until Ctrl-C with --follow.

    Records of a partition are in the order of their offsets; partitions take turns.
    Keys and values that are not printable text are printed as base64, and marked.
    Nothing is committed: no consumer group is involved. --output creates a file, which
    appears when it is complete; the default is stdout.
    """
    if follow and end is not None:
        raise click.UsageError("--follow and --to exclude each other; give one of them")
    with ExitStack() as stack:
        kafka = stack.enter_context(connect_cluster(address, **access))
        chosen: Any = list(dict.fromkeys(topics))
        if partition:
            chosen = dict.fromkeys(topics, partition)
        begin: Any = start
        if isinstance(start, int) and start < 0:
            begin = _find_last(kafka, chosen, -start, isolation_level)
        scan = kafka.scan(
            chosen,
            start=begin,
            end="latest" if end is None else end,
            follow=follow,
            isolation_level=isolation_level,
            on_data_loss=on_data_loss,
        )
        is_decoded = any(map(is_internal, topics))
        writer, out = stack.enter_context(output.open(is_decoded))
        is_terminal = out is not None and out.width is not None
        progress = stack.enter_context(Progress(None, wanted=not is_terminal))
        reader = _Reader(scan, key, progress)
        code = FINE
        try:
            flush = None if out is None else out.flush
            if follow and isinstance(writer, RecordGroups) and writer.is_stream:
                flush = writer.flush
            # Delay Ctrl-C until the current chunk is complete, so that the output does
            # not end inside a record or a batch. This applies to files, and with
            # --follow also to Parquet and Arrow on stdout, because readers of these
            # formats need whole batches.
            is_whole = output.path is not None or (follow and output.is_binary)
            reader.copy(writer, limit, flush, is_whole)
        except DataLost as loss:
            raise click.ClickException(
                f"{_loss_text(loss)}; add --on-data-loss earliest, or latest, to"
                " continue"
            ) from loss
        except KeyboardInterrupt:
            if not follow:
                raise
            # The records that have been read so far form a complete file.
            code = INTERRUPTED
    for lost in scan.losses:
        say(_loss_text(lost))
    return code


def _loss_text(loss: DataLost) -> str:
    return f"{loss.topic}-{loss.partition} at offset {loss.offset}: {loss.reason}"


def _find_last(
    kafka: KafkaSync, topics: Any, count: int, isolation_level: Any
) -> dict[tuple[str, int], int]:
    """Return {(topic, partition): start offset} for the last ``count`` offsets.

    If a partition has fewer offsets, its earliest offset is returned.
    """
    starts: dict[tuple[str, int], int] = kafka.offsets(topics, at="earliest")
    ends: dict[tuple[str, int], int]
    ends = kafka.offsets(topics, at="latest", isolation_level=isolation_level)
    return {
        position: max(ends.get(position, start) - count, start)
        for position, start in starts.items()
    }


class _Reader:
    """Copies records from chunks to a writer, as rows or as columns.

    Columns are faster, because they require no object per record. If ``key`` is not
    None, only records with this key are copied.
    """

    def __init__(
        self,
        chunks: Iterable[Chunk],
        key: bytes | None,
        progress: Progress,
    ) -> None:
        self._chunks = chunks
        self._key = key
        self._progress = progress

    def copy(
        self,
        writer: Writer,
        limit: int | None,
        flush: Callable[[], object] | None,
        is_whole: bool,
    ) -> None:
        """Write at most ``limit`` records, and flush after every chunk.

        If ``is_whole``, Ctrl-C takes effect between two chunks, when no record is
        partially written. A command with ``--follow`` then completes its output file.
        """
        left = limit
        chunks = iter(self._chunks)
        while left != 0 and (chunk := next(chunks, None)) is not None:
            self._progress.name(f"{chunk.topic}-{chunk.partition}")
            with delay_interrupt() if is_whole else nullcontext():
                count = self._write_chunk(chunk, writer, left)
                if flush is not None:
                    flush()
            left = None if left is None else left - count
            self._progress.advance(len(chunk.data))

    def _write_chunk(self, chunk: Chunk, writer: Writer, limit: int | None) -> int:
        is_large = len(chunk.data) > _FEW_BYTES
        if is_large and isinstance(writer, RecordGroups) and writer.takes_columns:
            # If the chunk is damaged, its columns cannot be decoded. Read it row by row
            # below, because the records before the damage may satisfy the limit.
            with suppress(DecodeError):
                batch = self._read_columns(chunk).slice(0, limit)
                writer.write_columns(chunk.topic, chunk.partition, batch)
                return int(batch.num_rows)
        return write_runs(join_runs(self._read_runs(chunk)), limit, writer.write)

    def _read_columns(self, chunk: Chunk) -> Any:
        """Decode a chunk as a ``pyarrow.RecordBatch`` with the selected records."""
        import pyarrow
        from pyarrow import compute

        batch = pyarrow.record_batch(chunk.columns)
        if self._key is None:
            return batch
        return batch.filter(compute.equal(batch.column("key"), self._key))

    def _read_runs(self, chunk: Chunk) -> Iterator[RecordRun]:
        """Decode a chunk as runs with the selected records.

        Raises ``ClickException`` if the chunk is damaged. The preceding records are
        yielded first.
        """
        try:
            for batch in chunk.batches(errors="replace"):
                records: Sequence[Record] = batch.records
                if batch.last_offset >= chunk.next_offset:
                    records = [r for r in records if r.offset < chunk.next_offset]
                if self._key is not None:
                    records = [r for r in records if r.key == self._key]
                if records:
                    yield make_run(chunk.topic, chunk.partition, batch, records)
        except DecodeError as error:
            raise click.ClickException(
                f"reading {chunk.topic}-{chunk.partition} from offset"
                f" {chunk.start_offset} on: {error}"
            ) from error
