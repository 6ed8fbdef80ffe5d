# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads partition records in offset order, from log files or an export.

    log segments ----------------+
                                 +--> Arrow record batches of several MiB
    records/part-*.parquet ------+

Only the most recent row groups of an export are kept in memory between partitions,
because several small partitions can share a row group.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..._files import open_regular
from ..._text import escape_line, format_name
from ...messages.arrow_types import load_pyarrow, make_arrow_schema
from ...schema.topic_names import CLUSTER_METADATA, COORDINATOR_TOPICS
from ..export_job.batches import BATCHES
from ..export_job.outcome import TABLES
from ..export_job.records import RECORDS
from ..running import JobError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ..._limits import Limits
    from ...log import Partition

COLUMNS = ("timestamp", "key", "value", "headers")
"""Columns of a record that a restore writes to the target partition."""

_MAX_CACHED_GROUPS = 4
"""Maximum number of row groups that stay in memory after a partition has been read,
because the next partitions may have rows in the same row groups.
"""

_LAST_PARQUET_MS = (2**63 - 1) // 1000
"""Maximum distance of a timestamp from 1970 in milliseconds that an export can
represent. Its timestamps are 64-bit numbers of microseconds.
"""

_UNMODIFIED_ADVICE = "pass the unchanged output of kwire export"


class RowPiece(NamedTuple):
    """Some records of a partition.

    * ``rows``: Arrow record batch with the columns ``COLUMNS``.
    * ``position``: number of bytes of the source that have been read so far.
    """

    rows: Any
    position: int


class PartitionSource(Protocol):
    """Records of one partition. They can be read repeatedly.

    * ``size``: approximate number of bytes to read.
    * ``open_offset``: first offset of a transaction that was never completed, or None.
      Records from this offset on are not read.
    """

    topic: str
    partition: int
    size: int
    open_offset: int | None

    def read(self) -> Iterator[RowPiece]:
        """Read all records with the columns ``COLUMNS``.

        Timestamps are milliseconds. They are null if a record has no timestamp.
        """


class LogSource:
    """Reads records from a partition's log files.

    Control records are skipped. If ``is_committed`` is set, records of aborted
    transactions are skipped as well, and reading stops at the first transaction that
    was never completed.
    """

    def __init__(
        self, partition: Partition, *, is_committed: bool, limits: Limits
    ) -> None:
        self.topic = partition.topic
        self.partition = partition.partition
        self.size = partition.size
        self.open_offset: int | None = None
        self._log = partition
        self._limits = limits
        self._options: dict[str, Any] = {}
        if is_committed:
            transactions = partition.transactions()
            self.open_offset = transactions.last_stable_offset
            self._options = {
                "isolation_level": "read_committed",
                "transactions": transactions,
            }

    def read(self) -> Iterator[RowPiece]:
        """Read all records. Raises ``DecodeError`` if a file is damaged."""
        import pyarrow

        start = self._log.start_offset
        span = max(self._log.end_offset - start, 1)
        for records in self._log.columns(limits=self._limits, **self._options):
            rows = pyarrow.record_batch(records)
            if rows.num_rows:
                offsets_read = rows.column("offset")[-1].as_py() + 1 - start
                position = min(self.size * offsets_read // span, self.size)
                yield RowPiece(rows.select(COLUMNS), position)


class ExportSource:
    """Reads one partition's records from export tables."""

    def __init__(
        self,
        folder: Path,
        topic: str,
        partition: int,
        groups: _RowGroups,
        row_count: int,
    ) -> None:
        self._folder = folder
        self.topic = topic
        self.partition = partition
        self.open_offset: int | None = None
        self._groups = groups
        self._row_count = row_count
        self.size = groups.size * row_count // max(groups.row_count, 1)

    def read(self) -> Iterator[RowPiece]:
        """Read all records.

        Raises ``JobError`` if the files were modified after the export: offsets are not
        ascending, the record count differs from the table ``coverage``, or a file is
        damaged. Also raises it if the export could not represent a record's timestamp.
        """
        import pyarrow
        from pyarrow import compute

        name = f"{self.topic}-{self.partition}"
        last_offset, count = -1, 0
        milliseconds = pyarrow.timestamp("ms", "UTC")
        for path, rows in self._groups.read(self.topic, self.partition):
            offsets = rows.column("offset")
            ascends = compute.all(
                compute.greater(offsets.slice(1), offsets.slice(0, len(offsets) - 1))
            ).as_py()
            if (
                ascends is False
                or offsets.null_count
                or not last_offset < offsets[0].as_py()
            ):
                raise JobError(
                    f"restoring {name}: the records in {format_name(path)} are not in"
                    f" offset order; {_UNMODIFIED_ADVICE}"
                )
            last_offset = offsets[-1].as_py()
            count += rows.num_rows
            timestamps = rows.column("timestamp")
            if timestamps.null_count and self._has_distant_timestamps():
                raise JobError(
                    f"restoring {name}: a record in {format_name(path)} has a timestamp"
                    " outside of the range of Parquet, which became null; give the"
                    " log files instead"
                )
            index = rows.schema.get_field_index("timestamp")
            with _convert_errors(path):
                timestamps = timestamps.cast(milliseconds)
            rows = rows.set_column(index, "timestamp", timestamps)
            position = self.size * count // max(self._row_count, 1)
            yield RowPiece(rows.select(COLUMNS), position)
        if count != self._row_count:
            raise JobError(
                f"restoring {name}: the export has {count} records, but its table"
                f" coverage has {self._row_count}; {_UNMODIFIED_ADVICE}"
            )

    def _has_distant_timestamps(self) -> bool:
        """Return whether any timestamp in the partition is outside the Parquet range.

        The table ``records`` contains null for such a timestamp, and for a missing
        timestamp. The table ``batches`` has the original numbers, so it shows the
        difference.
        """
        from pyarrow import compute

        names = ("topic", "partition", "base_timestamp", "max_timestamp")
        rows = _read_table(self._folder / "batches", BATCHES, *names)
        is_here = compute.and_(
            compute.equal(rows["topic"], self.topic),
            compute.equal(rows["partition"], self.partition),
        )
        is_distant = compute.or_(
            compute.less(rows["base_timestamp"], -_LAST_PARQUET_MS),
            compute.greater(rows["max_timestamp"], _LAST_PARQUET_MS),
        )
        return bool(compute.any(compute.and_(is_here, is_distant)).as_py())


class _RowGroups:
    """Row group index for all Parquet files in ``records``."""

    def __init__(self, folder: Path) -> None:
        self.size = self.row_count = 0
        self._cached_groups: OrderedDict[tuple[str, int], Any] = OrderedDict()
        # (path, row group number, ranges). The ranges are the minimum and maximum of
        # the columns topic and partition, or None if the file has no statistics.
        self._groups: list[tuple[str, int, list[tuple[Any, Any] | None]]] = []
        for path in sorted(folder.glob("*.parquet")):
            with _open_table(path) as file:
                metadata = file.metadata
                columns = [
                    metadata.schema.names.index(name) for name in ("topic", "partition")
                ]
                for number in range(metadata.num_row_groups):
                    group = metadata.row_group(number)
                    topics, partitions = (
                        _read_range(group.column(column)) for column in columns
                    )
                    ranges = [
                        value_range
                        if value_range and isinstance(value_range[0], value_type)
                        else None
                        for value_range, value_type in (
                            (topics, str),
                            (partitions, int),
                        )
                    ]
                    self._groups.append((str(path), number, ranges))
            self.size += path.stat().st_size
            self.row_count += metadata.num_rows

    def read(self, topic: str, partition: int) -> Iterator[tuple[str, Any]]:
        """Find a partition's rows, as (file path, record batch) pairs."""
        from pyarrow import compute

        for path, number, ranges in self._groups:
            if any(
                value_range is not None
                and not value_range[0] <= value <= value_range[1]
                for value_range, value in zip(ranges, (topic, partition), strict=True)
            ):
                continue
            is_shared = any(
                value_range is None or value_range[0] != value_range[1]
                for value_range in ranges
            )
            table = self._load_row_group(path, number, is_shared)
            if is_shared:
                is_here = compute.and_(
                    compute.equal(table.column("topic"), topic),
                    compute.equal(table.column("partition"), partition),
                )
                table = table.filter(is_here)
            for rows in table.to_batches():
                if rows.num_rows:
                    yield path, rows

    def _load_row_group(self, path: str, number: int, is_shared: bool) -> Any:
        """Read one row group. Shared row groups are cached for the next partitions."""
        table = self._cached_groups.pop((path, number), None)
        if table is None:
            names = ["topic", "partition", "offset", *COLUMNS]
            with _open_table(path) as file:
                table = _select_columns(
                    file.read_row_group(number, columns=names), RECORDS, names
                )
        if is_shared:
            self._cached_groups[path, number] = table
            if len(self._cached_groups) > _MAX_CACHED_GROUPS:
                self._cached_groups.popitem(last=False)
        return table


@contextmanager
def _convert_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Convert errors that a damaged file can cause to ``JobError`` with its path."""
    import pyarrow

    try:
        yield
    except (
        pyarrow.ArrowException,
        LookupError,
        ValueError,
        TypeError,
        OverflowError,
        OSError,
    ) as error:
        # An OSError with an error number is a system failure, for example a missing
        # file. It does not mean that the file content is damaged.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = escape_line(" ".join(str(error).split()))
        raise JobError(
            f"{format_name(path)} is not a table of an export, or is damaged"
            f" ({reason}); {_UNMODIFIED_ADVICE}"
        ) from error


@contextmanager
def _open_table(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Open a Parquet file, if it is a regular file.

    Raises ``NotRegularFile`` for a FIFO, a device or a directory, and ``JobError`` if
    the file content is damaged.
    """
    from pyarrow import parquet

    with (
        _convert_errors(path),
        open_regular(path) as data,
        parquet.ParquetFile(data) as file,
    ):
        yield file


def _read_range(column: Any) -> tuple[Any, Any] | None:
    """Return the minimum and the maximum value of a Parquet column chunk.

    Returns None if the file contains no statistics about the column.
    """
    statistics = column.statistics
    if statistics is None or not statistics.has_min_max:
        return None
    return statistics.min, statistics.max


def _select_columns(
    table: Any, columns: Mapping[str, Any], names: Iterable[str]
) -> Any:
    """Select columns of a table, and cast them to the types that an export writes."""
    schema = make_arrow_schema({name: columns[name] for name in names})
    selected = table.select(schema.names)
    # Validate the arrays first, because offsets in a damaged file can point outside the
    # allocated memory.
    selected.validate(full=True)
    return selected.cast(schema)


def _read_table(folder: Path, columns: Mapping[str, Any], *names: str) -> Any:
    """Read columns of a small export table.

    Raises ``JobError`` if there is no Parquet file, or if a column contains nulls.
    """
    import pyarrow

    tables = []
    for path in sorted(folder.glob("*.parquet")):
        with _open_table(path) as file:
            tables.append(
                _select_columns(file.read(columns=list(names)), columns, names)
            )
    with _convert_errors(folder):
        if not tables:
            raise ValueError("it has no Parquet files")
        table = pyarrow.concat_tables(tables)
        if any(column.null_count for column in table.columns):
            raise ValueError(f"nulls in {', '.join(names)}")
        return table


def is_export(path: str | os.PathLike[str]) -> bool:
    """Return whether a directory is the output of ``kwire export``."""
    return all(Path(path, name).is_dir() for name in ("records", "coverage"))


def has_transactions(path: str | os.PathLike[str]) -> bool:
    """Return whether an export contains transactional batches.

    Some of these transactions may have been aborted. Raises ``JobError`` if the table
    ``batches`` is missing or damaged.
    """
    name = "is_transactional"
    is_transactional = _read_table(Path(path, "batches"), BATCHES, name)[name]
    return True in is_transactional.unique().to_pylist()


def find_export(
    path: str | os.PathLike[str],
    topics: Collection[str] = (),
    partitions: Collection[int] = (),
) -> list[ExportSource]:
    """Find the partitions in an export, sorted by topic and partition.

    ``topics`` and ``partitions`` select partitions. By default all partitions are
    returned, except for internal topics. Raises ``JobError`` if a file in ``records``
    or the table ``coverage`` is damaged, or if there is no table ``coverage``. Raises
    ``ImportError`` if pyarrow is not installed.
    """
    load_pyarrow("restore")
    groups = _RowGroups(Path(path, "records"))
    rows = _read_table(
        Path(path, "coverage"), TABLES["coverage"], "topic", "partition", "records"
    ).to_pylist()
    return [
        ExportSource(Path(path), row["topic"], row["partition"], groups, row["records"])
        for row in sorted(rows, key=lambda row: (row["topic"], row["partition"]))
        if (row["topic"] in topics if topics else _is_restorable(row["topic"]))
        and (not partitions or row["partition"] in partitions)
    ]


def find_logs(
    found: Iterable[Partition],
    topics: Collection[str] = (),
    *,
    is_committed: bool,
    limits: Limits,
) -> list[LogSource]:
    """Prepare log partitions for a restore, sorted by topic and partition.

    * ``found``: log partitions.
    * ``topics``: topic names that the caller has specified. If empty, internal topics
      are skipped.
    * ``is_committed``, ``limits``: see ``LogSource``.

    Raises ``JobError`` if the partition number of a file is unknown, or if the same
    partition occurs twice.
    """
    load_pyarrow("restore")
    chosen: dict[tuple[str, int], Partition] = {}
    for partition in found:
        if not topics and not _is_restorable(partition.topic):
            continue
        if partition.partition < 0:
            raise JobError(
                f"{format_name(partition.path)}: neither the file nor its directory"
                " names a partition; put the file into a directory such as"
                " orders-0"
            )
        earlier = chosen.setdefault((partition.topic, partition.partition), partition)
        if earlier is not partition:
            raise JobError(
                f"{partition.topic}-{partition.partition} is in"
                f" {format_name(earlier.path)} and in {format_name(partition.path)};"
                " give one of them, or merge them with kwire export and restore its"
                " output"
            )
    return [
        LogSource(chosen[key], is_committed=is_committed, limits=limits)
        for key in sorted(chosen)
    ]


def _is_restorable(topic: str) -> bool:
    return topic not in COORDINATOR_TOPICS and topic != CLUSTER_METADATA
