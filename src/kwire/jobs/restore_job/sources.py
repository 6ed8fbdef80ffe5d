# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The records of a partition in order, from log files or from the tables of an export.

    log segments ----------------+
                                 +--> record batches of Arrow, some MiB each
    records/part-*.parquet ------+

Nothing is kept between partitions but the last few row groups, as small partitions
share one.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...arrow_types import load_pyarrow
from ...formatting import format_name
from ..running import JobError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ...limits import Limits
    from ...log import Partition

COLUMNS = ("timestamp", "key", "value", "headers")
"""What a record is restored with."""

_GROUPS_HELD = 4
"""Row groups of an export that are kept for the partitions that come next."""

_INTERNAL = frozenset(
    ("__consumer_offsets", "__transaction_state", "__share_group_state")
)
"""Topics whose records mean something to the cluster that wrote them only."""

_METADATA = "__cluster_metadata"


class RowPiece(NamedTuple):
    """Some records, and how far into the bytes of its partition they reach."""

    rows: Any
    position: int


class PartitionSource(Protocol):
    """The records of one partition, which can be read again and again.

    ``size`` is about how many bytes there are to read. ``open_offset`` is the first
    offset of a transaction that never ended, from which on nothing is read; or None.
    """

    topic: str
    partition: int
    size: int
    open_offset: int | None

    def read(self) -> Iterator[RowPiece]:
        """Read all records, with the columns ``COLUMNS``; timestamps are in ms."""


class LogSource:
    """The records of a partition's log files.

    Control records are left out. With ``is_committed`` so are aborted transactions, and
    whatever comes after one that never ended.
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
            known = partition.transactions()
            self.open_offset = known.last_stable_offset
            self._options = {
                "isolation_level": "read_committed",
                "transactions": known,
            }

    def read(self) -> Iterator[RowPiece]:
        """Read all records; ``DecodeError`` for what is damaged."""
        import pyarrow

        start = self._log.start_offset
        span = max(self._log.end_offset - start, 1)
        for records in self._log.columns(limits=self._limits, **self._options):
            rows = pyarrow.record_batch(records)
            if rows.num_rows:
                done = rows.column("offset")[-1].as_py() + 1 - start
                position = min(self.size * done // span, self.size)
                yield RowPiece(rows.select(COLUMNS), position)


class ExportSource:
    """The records of one partition in the tables of an export."""

    def __init__(
        self, topic: str, partition: int, groups: _RowGroups, row_count: int
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.open_offset: int | None = None
        self._groups = groups
        self._row_count = row_count
        self.size = groups.size * row_count // max(groups.row_count, 1)

    def read(self) -> Iterator[RowPiece]:
        """Read all records; ``JobError`` if they are not as the export wrote them."""
        import pyarrow
        from pyarrow import compute

        name = f"{self.topic}-{self.partition}"
        last, count = -1, 0
        milliseconds = pyarrow.timestamp("ms", "UTC")
        for path, rows in self._groups.read(self.topic, self.partition):
            offsets = rows.column("offset")
            ascends = compute.all(
                compute.greater(offsets.slice(1), offsets.slice(0, len(offsets) - 1))
            ).as_py()
            if ascends is False or offsets[0].as_py() <= last:
                raise JobError(
                    f"restoring {name}: the records in {path} are not in the order of"
                    " their offsets; give the folder as kwire export wrote it"
                )
            last = offsets[-1].as_py()
            count += rows.num_rows
            times = rows.column("timestamp")
            if times.null_count:
                raise JobError(
                    f"restoring {name}: a record in {path} has no timestamp, as its own"
                    " is beyond the range of Parquet; give the log files instead"
                )
            index = rows.schema.get_field_index("timestamp")
            rows = rows.set_column(index, "timestamp", times.cast(milliseconds))
            position = self.size * count // max(self._row_count, 1)
            yield RowPiece(rows.select(COLUMNS), position)
        if count != self._row_count:
            raise JobError(
                f"restoring {name}: the export has {count} records of it, and its table"
                f" coverage {self._row_count}; give the folder as kwire export wrote it"
            )


class _RowGroups:
    """The row groups of all files of the table ``records``."""

    def __init__(self, folder: Path) -> None:
        from pyarrow import parquet

        self.size = self.row_count = 0
        self._held: OrderedDict[tuple[str, int], Any] = OrderedDict()
        # Path, number, and the lowest and the highest of its topics and partitions.
        self._groups: list[tuple[str, int, tuple[str, str], tuple[int, int]]] = []
        for path in sorted(folder.glob("*.parquet")):
            found = parquet.read_metadata(path)
            self.size += path.stat().st_size
            self.row_count += found.num_rows
            columns = [found.schema.names.index(n) for n in ("topic", "partition")]
            for number in range(found.num_row_groups):
                group = found.row_group(number)
                topics, partitions = (group.column(n).statistics for n in columns)
                self._groups.append(
                    (
                        str(path),
                        number,
                        (topics.min, topics.max),
                        (partitions.min, partitions.max),
                    )
                )

    def read(self, topic: str, partition: int) -> Iterator[tuple[str, Any]]:
        """Read the rows of a partition, and the file of each piece."""
        from pyarrow import compute

        for path, number, topics, partitions in self._groups:
            if not topics[0] <= topic <= topics[1]:
                continue
            if not partitions[0] <= partition <= partitions[1]:
                continue
            is_shared = topics[0] != topics[1] or partitions[0] != partitions[1]
            table = self._load(path, number, is_shared)
            if is_shared:
                is_here = compute.and_(
                    compute.equal(table.column("topic"), topic),
                    compute.equal(table.column("partition"), partition),
                )
                table = table.filter(is_here)
            for rows in table.to_batches():
                if rows.num_rows:
                    yield path, rows

    def _load(self, path: str, number: int, is_shared: bool) -> Any:
        """Read one row group; those that partitions share are kept for a while."""
        from pyarrow import parquet

        table = self._held.pop((path, number), None)
        if table is None:
            with parquet.ParquetFile(path) as file:
                names = ["topic", "partition", "offset", *COLUMNS]
                table = file.read_row_group(number, columns=names)
        if is_shared:
            self._held[path, number] = table
            if len(self._held) > _GROUPS_HELD:
                self._held.popitem(last=False)
        return table


def is_export(path: str | os.PathLike[str]) -> bool:
    """Whether a folder is what ``kwire export`` wrote."""
    return all(Path(path, name).is_dir() for name in ("records", "coverage"))


def has_transactions(path: str | os.PathLike[str]) -> bool:
    """Whether an export has batches of transactions, aborted ones among them maybe."""
    from pyarrow import parquet

    name = "is_transactional"
    return any(
        True in parquet.read_table(file, columns=[name])[name].unique().to_pylist()
        for file in Path(path, "batches").glob("*.parquet")
    )


def find_export(
    path: str | os.PathLike[str],
    topics: Collection[str] = (),
    partitions: Collection[int] = (),
) -> list[ExportSource]:
    """Find the partitions of an export; those named, or all but internal topics."""
    load_pyarrow("restore")
    from pyarrow import parquet

    groups = _RowGroups(Path(path, "records"))
    rows = parquet.read_table(
        Path(path, "coverage"), columns=["topic", "partition", "records"]
    ).to_pylist()
    return [
        ExportSource(row["topic"], row["partition"], groups, row["records"])
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
    """Make sources of partitions; ``JobError`` where two are the same."""
    load_pyarrow("restore")
    chosen: dict[tuple[str, int], Partition] = {}
    for each in found:
        if not topics and not _is_restorable(each.topic):
            continue
        if each.partition < 0:
            raise JobError(
                f"{format_name(each.path)}: neither the file nor its folder has the"
                " number of a partition; put the file into a folder such as orders-0"
            )
        other = chosen.setdefault((each.topic, each.partition), each)
        if other is not each:
            raise JobError(
                f"{each.topic}-{each.partition} is in {format_name(other.path)} and in"
                f" {format_name(each.path)}; give one of them, or merge them with kwire"
                " export and restore its output"
            )
    return [
        LogSource(chosen[key], is_committed=is_committed, limits=limits)
        for key in sorted(chosen)
    ]


def _is_restorable(topic: str) -> bool:
    return topic not in _INTERNAL and topic != _METADATA
