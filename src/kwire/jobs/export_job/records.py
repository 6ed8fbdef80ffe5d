# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The last pass of an export: the chosen batches become rows of Parquet.

A task reads its pieces a few MiB at a time and writes one file. Batches whose records
cannot be decoded, though their checksums are right, become ``Failure``s and cost no
other.
"""

from __future__ import annotations

from typing import NamedTuple

from ...arrow import null_empty_lists
from ...columns import decode_records
from ...errors import DecodeError
from ...formatting import format_name
from ...limits import MIB, Limits
from ...records import read_batch_header
from ..running import JobError
from ..tables import TableWriter, load_pyarrow
from .choice import Part, Piece
from .ranges import union, without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...records import BatchHeader

_CHUNK = 4 * MIB
_COMPRESSED = MIB
_RATIO = 32
"""Of compressed batches, how many bytes are decoded at once, and how much larger they
may become; what grows more is decoded alone."""

_WINDOW = 4 * MIB


class WriteTask(NamedTuple):
    """Pieces with their topics and partitions, and the file that they go to."""

    path: str
    pieces: tuple[tuple[str, int, Piece], ...]
    compression: str
    limits: Limits


class Failure(NamedTuple):
    """A batch that could not be decoded; ``lost`` are the offsets nobody else gave."""

    topic: str
    partition: int
    path: str
    position: int
    size: int
    first_offset: int
    last_offset: int
    error: str
    lost: tuple[tuple[int, int], ...]


class Written(NamedTuple):
    """What a task wrote: the rows of each partition, and what it could not decode.

    ``miscounted`` are (topic, partition, path, position, announced, found) where
    headers and records do not tell the same number.
    """

    rows: dict[tuple[str, int], int]
    failures: tuple[Failure, ...]
    miscounted: tuple[tuple[str, int, str, int, int, int], ...]


def records_schema() -> Any:
    """Make the schema of ``records``: Spark's Kafka columns, and where they stood.

    As in Spark's source, ``headers`` is null where a record has none.
    """
    pyarrow = load_pyarrow()
    pair = [("key", pyarrow.string()), ("value", pyarrow.binary())]
    return pyarrow.schema(
        [
            ("key", pyarrow.binary()),
            ("value", pyarrow.binary()),
            ("topic", pyarrow.string()),
            ("partition", pyarrow.int32()),
            ("offset", pyarrow.int64()),
            ("timestamp", pyarrow.timestamp("us", "UTC")),
            ("timestampType", pyarrow.int32()),
            ("headers", pyarrow.list_(pyarrow.struct(pair))),
            ("file_path", pyarrow.string()),
            ("batch_position", pyarrow.int64()),
            ("partition_leader_epoch", pyarrow.int32()),
        ]
    )


def write(task: WriteTask) -> Written:
    """Write the records of a task."""
    rows: dict[tuple[str, int], int] = {}
    failures: list[Failure] = []
    miscounted = []
    with TableWriter(
        task.path, records_schema(), compression=task.compression
    ) as writer:
        for topic, partition, piece in task.pieces:
            reader = _PieceReader(topic, partition, piece, task.limits)
            before = writer.rows
            for batch in reader.batches():
                writer.write(batch)
            found = writer.rows - before
            failures += reader.failures
            rows[topic, partition] = rows.get((topic, partition), 0) + found
            if len(piece.parts) == 1 and found + reader.undecoded != piece.rows:
                part = piece.parts[0]
                miscounted.append(
                    (
                        *(topic, partition, format_name(part.segment.path), part.start),
                        *(piece.rows, found + reader.undecoded),
                    )
                )
    return Written(rows, tuple(failures), tuple(miscounted))


class _PieceReader:
    """Reads one piece; ``undecoded`` counts the records that its failures had."""

    def __init__(
        self, topic: str, partition: int, piece: Piece, limits: Limits
    ) -> None:
        self._topic = topic
        self._partition = partition
        self._piece = piece
        self._limits = limits
        self.failures: list[Failure] = []
        self.undecoded = 0

    def batches(self) -> Iterator[Any]:
        """Give the rows as record batches of Arrow."""
        parts = self._piece.parts
        if len(parts) == 1:
            yield from self._part(parts[0])
            return
        pyarrow = load_pyarrow()
        from pyarrow import compute

        tables = []
        seen: Any = None
        given: list[tuple[int, int]] = []
        for part in parts:
            failed = len(self.failures)
            table = pyarrow.Table.from_batches(self._part(part), records_schema())
            if len(self.failures) > failed:
                continue
            given.append(self._range)
            offsets = table["offset"].combine_chunks()
            if seen is not None:
                is_new = compute.invert(compute.is_in(offsets, value_set=seen))
                table = table.filter(is_new)
                offsets = pyarrow.concat_arrays([seen, offsets.filter(is_new)])
            seen = offsets
            tables.append(table)
            if len(tables) == 1 and part is parts[0] and self._piece.first_has_all:
                break
        self.failures = [
            each._replace(lost=tuple(without(each.lost, union(given))))
            for each in self.failures
        ]
        if tables:
            yield from pyarrow.concat_tables(tables).sort_by("offset").to_batches()

    def _part(self, part: Part) -> Iterator[Any]:
        """Read batches a chunk at a time."""
        path = format_name(part.segment.path)
        with part.segment.open() as file:
            chunk: list[BatchHeader] = []
            position = filled = part.start
            while position < part.end:
                header = self._header(file, path, position, filled)
                if header is None:
                    begin = chunk[0].position if chunk else position
                    wanted = max(_WINDOW, 2 * (filled - position))
                    more = file.fill(begin, min(position + wanted, part.end))
                    if more <= filled:
                        raise _changed(path)
                    filled = more
                    continue
                if chunk and not _fits(chunk, header):
                    yield from self._decode(file, path, chunk)
                    chunk = []
                self._range = header.base_offset, header.last_offset
                chunk.append(header)
                position += header.size
            yield from self._decode(file, path, chunk)

    def _header(
        self, file: Any, path: str, position: int, filled: int
    ) -> BatchHeader | None:
        try:
            found: BatchHeader | None = read_batch_header(
                file.data, position, check_crc=False, end=filled
            )
        except DecodeError:
            raise _changed(path) from None
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
            yield self._rows(path, records)
            return
        if len(chunk) > 1:
            for header in chunk:
                yield from self._decode(file, path, [header])
            return
        header = chunk[0]
        self.undecoded += max(header.count, 0)
        first, last = header.base_offset, header.last_offset
        self.failures.append(
            Failure(
                *(self._topic, self._partition, path, header.position, header.size),
                *(first, last, failure, ((first, last),)),
            )
        )

    def _rows(self, path: str, records: Any) -> Any:
        pyarrow = load_pyarrow()
        batch = pyarrow.record_batch(records)
        count = batch.num_rows
        schema = records_schema()
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
            [made[name] if name in made else batch[name] for name in schema.names],
            schema=schema,
        )


def _changed(path: str) -> JobError:
    return JobError(f"{path} changed while it was read; copy it and start again")


def _fits(chunk: list[BatchHeader], header: BatchHeader) -> bool:
    """Whether a batch can be decoded together with those before it."""
    largest = _CHUNK if header.compression == "none" else _COMPRESSED
    if chunk[-1].compression != "none":
        largest = _COMPRESSED
    return header.position + header.size - chunk[0].position <= largest
