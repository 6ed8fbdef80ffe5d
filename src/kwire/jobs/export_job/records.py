# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Last export pass: decodes the chosen batches and writes them to Parquet.

A task reads its steps in chunks of a few MiB and writes one file. If a batch cannot be
decoded although its checksum is correct, it becomes a problem, and the task continues
with the next batch.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._limits import MIB, Limits
from ..._text import format_name
from ...messages.arrow_types import make_arrow_schema
from ...records.arrow_batches import null_empty_lists
from ..running import JobError
from ..tables import open_table
from .choice import FileSlice, ReadStep
from .problems import FileProblem, LostRange
from .ranges import merge_ranges, subtract_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...log import Problem
    from .problems import PartitionKey

_CHUNK_BYTES = 4 * MIB
"""Approximate number of segment bytes that are decoded in one call, to limit memory."""


class WriteTask(NamedTuple):
    """Input for a write task.

    * ``path``: Parquet file to create.
    * ``steps``: (topic, partition, step) tuples.
    * ``compression``: Parquet codec.
    * ``limits``: decoding limits for a single batch.
    """

    path: str
    steps: tuple[tuple[str, int, ReadStep], ...]
    compression: str
    limits: Limits


class WriteSummary(NamedTuple):
    """Result of a write task.

    * ``rows``: number of written records by (topic, partition).
    * ``problems``: (partition, problem) pairs for batches that could not be decoded.
    * ``lost``: (partition, offset range) pairs with the offsets of these batches.
    """

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
"""Columns of the table ``records``: Spark's Kafka columns and the source batch.

As in Spark's Kafka source, ``headers`` is null if a record has no headers.
``timestamp`` is null if a record has no timestamp.
"""


def write(task: WriteTask) -> WriteSummary:
    """Write the records of all steps to a Parquet file.

    If the number of decoded records differs from the record counts in the batch
    headers, a "count" problem is added. Raises ``JobError`` if a segment file has
    changed since the scan.
    """
    written = WriteSummary(Counter(), [], [])
    schema = make_arrow_schema(RECORDS)
    with open_table(task.path, schema, compression=task.compression) as writer:
        for topic, partition, step in task.steps:
            key = topic, partition
            reader = _StepReader(topic, partition, step, task.limits)
            rows_before = writer.rows
            for batch in reader.read_batches():
                writer.write(batch)
            rows = writer.rows - rows_before
            written.rows[key] += rows
            written.problems.extend((key, problem) for problem in reader.problems)
            written.lost.extend((key, lost) for lost in reader.lost)
            if len(step.slices) == 1 and not reader.problems and rows != step.rows:
                [file_slice] = step.slices
                detail = (
                    f"batch headers count {step.rows} records, but {rows} were read"
                )
                path = format_name(file_slice.segment.path)
                problem = FileProblem(path, file_slice.start, 0, "count", detail)
                written.problems.append((key, problem))
    return written


class _StepReader:
    """Reads the records of one ``ReadStep``.

    * ``problems``: one problem for each batch that cannot be decoded.
    * ``lost``: offset ranges of these batches that no other slice of the step provides.
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

    def read_batches(self) -> Iterator[Any]:
        """Return the records as Arrow record batches."""
        decoded_ranges: list[tuple[int, int]] = []
        if len(self._step.slices) == 1:
            yield from self._read_slice(self._step.slices[0])
        else:
            yield from self._merge_slices(decoded_ranges).to_batches()
        for problem in self.problems:
            detail = f"records at byte {problem.position} of {problem.path}"
            for first, last in subtract_ranges(
                [(problem.low, problem.high)], merge_ranges(decoded_ranges)
            ):
                self.lost.append(LostRange(first, last, "undecodable", detail))

    def _merge_slices(self, decoded_ranges: list[tuple[int, int]]) -> Any:
        """Merge the variants of a batch into one table, sorted by offset.

        The offset range of every variant that could be decoded is appended to
        ``decoded_ranges``. A variant with decoding problems is skipped completely.
        """
        import pyarrow
        from pyarrow import compute

        tables = [self._schema.empty_table()]
        seen_offsets = tables[0]["offset"].combine_chunks()
        for file_slice in self._step.slices:
            problems_before = len(self.problems)
            table = pyarrow.Table.from_batches(
                self._read_slice(file_slice), self._schema
            )
            if len(self.problems) > problems_before:
                continue
            decoded_ranges.append((file_slice.first_offset, file_slice.last_offset))
            is_new = compute.invert(
                compute.is_in(table["offset"], value_set=seen_offsets)
            )
            table = table.filter(is_new)
            seen_offsets = pyarrow.concat_arrays(
                [seen_offsets, table["offset"].combine_chunks()]
            )
            tables.append(table)
            if file_slice is self._step.slices[0] and self._step.first_has_all:
                break
        return pyarrow.concat_tables(tables).sort_by("offset")

    def _read_slice(self, file_slice: FileSlice) -> Iterator[Any]:
        segment = file_slice.segment
        path = format_name(segment.path)
        with segment.open() as file:
            if file.size < file_slice.end:
                raise _make_change_error(path)
        for records in segment.columns(
            file_slice.start,
            file_slice.end,
            on_corrupt=self._note_problem,
            are_offsets_right=True,
            chunk_bytes=_CHUNK_BYTES,
            limits=self._limits,
            batch_columns=True,
            timestamp_unit="us",
            errors="replace",
        ):
            yield self._make_rows(path, records)

    def _note_problem(self, problem: Problem) -> None:
        if problem.reason != "records":
            # The scan reported no other problem at this position, so the file has
            # changed.
            raise _make_change_error(problem.path)
        self.problems.append(
            FileProblem(
                problem.path,
                problem.position,
                problem.length,
                problem.reason,
                problem.detail,
                problem.last_good_offset + 1,
                problem.next_good_offset - 1,
            )
        )

    def _make_rows(self, path: str, records: Any) -> Any:
        import pyarrow

        batch = pyarrow.record_batch(records)
        count = batch.num_rows
        added_columns = {
            "topic": pyarrow.repeat(self._topic, count),
            "partition": pyarrow.repeat(
                pyarrow.scalar(self._partition, pyarrow.int32()), count
            ),
            "timestampType": batch["timestamp_type"],
            "headers": null_empty_lists(batch["headers"]),
            "file_path": pyarrow.repeat(path, count),
        }
        return pyarrow.RecordBatch.from_arrays(
            [
                added_columns[name] if name in added_columns else batch[name]
                for name in RECORDS
            ],
            schema=self._schema,
        )


def _make_change_error(path: str) -> JobError:
    return JobError(f"{path} changed while it was read; copy it and start again")
