# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The last pass of an export: the chosen batches become rows of Parquet.

A task reads its steps a few MiB at a time and writes one file. Batches whose records
cannot be decoded, though their checksums are right, become problems and cost no
other.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ...arrow import null_empty_lists
from ...arrow_types import make_arrow_schema
from ...columns import decode_records
from ...errors import DecodeError
from ...formatting import format_name
from ...limits import MIB, Limits
from ...records import read_batch_header
from ..running import JobError
from ..tables import open_table
from .choice import FileSlice, ReadStep
from .problems import FileProblem, LostRange
from .ranges import merge_ranges, subtract_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...records import BatchHeader
    from .problems import PartitionKey

_CHUNK = 4 * MIB
_COMPRESSED = MIB
_RATIO = 32
"""Of compressed batches, how many bytes are decoded at once, and how much larger they
may become; what grows more is decoded alone."""

_WINDOW = 4 * MIB


class WriteTask(NamedTuple):
    """Pieces with their topics and partitions, and the file that they go to."""

    path: str
    steps: tuple[tuple[str, int, ReadStep], ...]
    compression: str
    limits: Limits


class WriteSummary(NamedTuple):
    """What a task wrote: the rows of each partition, and what it could not decode."""

    rows: Counter[PartitionKey]
    problems: list[tuple[PartitionKey, FileProblem]]
    lost: list[tuple[PartitionKey, LostRange]]


RECORDS = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
    "headers": [{"key": "string", "value": "binary"}],
    "file_path": "string",
    "batch_position": "bigint",
    "partition_leader_epoch": "int",
}
"""The columns of ``records``: Spark's Kafka columns, and the batch of the record.

As in Spark's source, ``headers`` is null where a record has none.
"""


def write(task: WriteTask) -> WriteSummary:
    """Write the records of a task."""
    written = WriteSummary(Counter(), [], [])
    schema = make_arrow_schema(RECORDS)
    with open_table(task.path, schema, compression=task.compression) as writer:
        for topic, partition, step in task.steps:
            key = topic, partition
            reader = _StepReader(topic, partition, step, task.limits)
            before = writer.rows
            for batch in reader.read_batches():
                writer.write(batch)
            rows = writer.rows - before
            written.rows[key] += rows
            written.problems.extend((key, problem) for problem in reader.problems)
            written.lost.extend((key, lost) for lost in reader.lost)
            found = rows + reader.undecoded
            if len(step.slices) == 1 and found != step.rows:
                path, start = (
                    format_name(step.slices[0].segment.path),
                    step.slices[0].start,
                )
                detail = f"headers announce {step.rows} records, there are {found}"
                problem = FileProblem(path, start, 0, "count", detail)
                written.problems.append((key, problem))
    return written


class _StepReader:
    """Reads one step.

    ``problems`` are batches that cannot be decoded, ``undecoded`` counts their records,
    ``lost`` has those of their offsets that no other slice gave.
    """

    def __init__(
        self, topic: str, partition: int, step: ReadStep, limits: Limits
    ) -> None:
        self._topic = topic
        self._partition = partition
        self._step = step
        self._limits = limits
        self._schema = make_arrow_schema(RECORDS)
        self.problems: list[FileProblem] = []
        self.lost: list[LostRange] = []
        self.undecoded = 0

    def read_batches(self) -> Iterator[Any]:
        """Give the rows as record batches of Arrow."""
        given: list[tuple[int, int]] = []
        if len(self._step.slices) == 1:
            yield from self._read_slice(self._step.slices[0])
        else:
            yield from self._merge_slices(given).to_batches()
        for each in self.problems:
            detail = f"records at byte {each.position} of {each.path}"
            for first, last in subtract_ranges(
                [(each.low, each.high)], merge_ranges(given)
            ):
                self.lost.append(LostRange(first, last, "undecodable", detail))

    def _merge_slices(self, given: list[tuple[int, int]]) -> Any:
        """Read slices that overlap; the offsets of each go to ``given``."""
        import pyarrow
        from pyarrow import compute

        tables = [self._schema.empty_table()]
        seen = tables[0]["offset"].combine_chunks()
        for file_slice in self._step.slices:
            failed = len(self.problems)
            table = pyarrow.Table.from_batches(
                self._read_slice(file_slice), self._schema
            )
            if len(self.problems) > failed:
                continue
            given.append(self._range)
            is_new = compute.invert(compute.is_in(table["offset"], value_set=seen))
            table = table.filter(is_new)
            seen = pyarrow.concat_arrays([seen, table["offset"].combine_chunks()])
            tables.append(table)
            if file_slice is self._step.slices[0] and self._step.first_has_all:
                break
        return pyarrow.concat_tables(tables).sort_by("offset")

    def _read_slice(self, file_slice: FileSlice) -> Iterator[Any]:
        """Read batches a chunk at a time."""
        path = format_name(file_slice.segment.path)
        with file_slice.segment.open() as file:
            chunk: list[BatchHeader] = []
            position = filled = file_slice.start
            while position < file_slice.end:
                header = self._read_header(file, path, position, filled)
                if header is None:
                    begin = chunk[0].position if chunk else position
                    wanted = max(_WINDOW, 2 * (filled - position))
                    more = file.fill(begin, min(position + wanted, file_slice.end))
                    if more <= filled:
                        raise _make_change_error(path)
                    filled = more
                    continue
                if chunk and not _is_small_enough(chunk, header):
                    yield from self._decode(file, path, chunk)
                    chunk = []
                self._range = header.base_offset, header.last_offset
                chunk.append(header)
                position += header.size
            yield from self._decode(file, path, chunk)

    def _read_header(
        self, file: Any, path: str, position: int, filled: int
    ) -> BatchHeader | None:
        try:
            found: BatchHeader | None = read_batch_header(
                file.data, position, check_crc=False, end=filled
            )
        except DecodeError:
            raise _make_change_error(path) from None
        return found

    def _decode(self, file: Any, path: str, chunk: list[BatchHeader]) -> Iterator[Any]:
        """Decode neighbours in one call, or one by one if something is wrong there."""
        if not chunk:
            return
        start, end = chunk[0].position, chunk[-1].position + chunk[-1].size
        limits = self._limits
        if len(chunk) > 1:
            ratio = limits.decompressed_ratio
            limits = Limits(
                frame_bytes=limits.frame_bytes,
                decompressed_bytes=limits.decompressed_bytes,
                decompressed_ratio=_RATIO if ratio is None else min(ratio, _RATIO),
                records=limits.records,
            )
        try:
            records = decode_records(
                file.data,
                position=start,
                end=end,
                batch_columns=True,
                timestamp_unit="us",
                errors="replace",
                limits=limits,
            )
        except DecodeError as error:
            failure = str(error)
        else:
            yield self._make_rows(path, records)
            return
        if len(chunk) > 1:
            for header in chunk:
                yield from self._decode(file, path, [header])
            return
        header = chunk[0]
        self.undecoded += max(header.count, 0)
        self.problems.append(
            FileProblem(
                *(path, header.position, header.size, "records", failure),
                *(header.base_offset, header.last_offset),
            )
        )

    def _make_rows(self, path: str, records: Any) -> Any:
        import pyarrow

        batch = pyarrow.record_batch(records)
        count = batch.num_rows
        made = {
            "topic": pyarrow.repeat(self._topic, count),
            "partition": pyarrow.repeat(
                pyarrow.scalar(self._partition, pyarrow.int32()), count
            ),
            "timestampType": batch["timestamp_type"],
            "headers": null_empty_lists(batch["headers"]),
            "file_path": pyarrow.repeat(path, count),
        }
        return pyarrow.RecordBatch.from_arrays(
            [made[name] if name in made else batch[name] for name in RECORDS],
            schema=self._schema,
        )


def _make_change_error(path: str) -> JobError:
    return JobError(f"{path} changed while it was read; copy it and start again")


def _is_small_enough(chunk: list[BatchHeader], header: BatchHeader) -> bool:
    """Whether a batch can be decoded together with those before it."""
    largest = _CHUNK if header.compression == "none" else _COMPRESSED
    if chunk[-1].compression != "none":
        largest = _COMPRESSED
    return header.position + header.size - chunk[0].position <= largest
