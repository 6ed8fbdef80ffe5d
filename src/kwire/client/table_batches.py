# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tables as record batches, without an object for each row.

table -> columns by name -> row numbers sorted by partition -> those of one batch each

The rows stay where they are in the table until their batch is encoded: sorting a copy
of them takes longer than encoding where values are large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import columns
from .._backend import record_engine as engine
from ..batch_layout import BATCH_OVERHEAD
from ..cluster import check_partition
from ..compression import bound, codec_of
from ..partitioners import crc32_column, murmur2_column

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from ..cluster import PendingBatch, ProducerMachine, ProducerOptions, TopicInfo

_ROW_OVERHEAD = 31
"""The most bytes of a record besides its key, value and headers."""

_HEADER_OVERHEAD = 10
"""The most bytes of a header besides its key and value."""

_FEW = 1 << 15
"""The most partitions whose numbers are 16 bits."""

ROWS_AT_ONCE = 1 << 16
"""The most rows that are sorted by partition at once."""


class TableColumns:
    """The columns of a table by the names that the caller gives."""

    def __init__(
        self,
        table: Any,
        *,
        key: str | None,
        value: str,
        headers: str | None,
        timestamp: str | None,
        partition: str | int | None,
    ) -> None:
        import pyarrow

        if not isinstance(table, (pyarrow.Table, pyarrow.RecordBatch)):
            table = pyarrow.table(table)
        if isinstance(table, pyarrow.RecordBatch):
            table = pyarrow.Table.from_batches([table])
        self.partition = partition
        names = {"key": key, "value": value, "headers": headers, "timestamp": timestamp}
        binary = pyarrow.binary()
        pair = pyarrow.struct([("key", pyarrow.string()), ("value", binary)])
        kinds = {
            "key": binary,
            "value": binary,
            "headers": pyarrow.list_(pair),
            "timestamp": pyarrow.timestamp("ms", "UTC"),
            "partition": pyarrow.int32(),
        }
        if isinstance(partition, str):
            names["partition"] = partition
        found = {}
        for role, name in names.items():
            if name is None:
                continue
            if name not in table.column_names:
                has = ", ".join(table.column_names)
                raise ValueError(
                    f"{role} must be the name of a column of the table (got {name!r};"
                    f" it has {has})"
                )
            column = table.column(name)
            if role == "timestamp" and pyarrow.types.is_integer(column.type):
                column = column.cast(pyarrow.int64())
            try:
                found[role] = column.cast(kinds[role])
            except pyarrow.ArrowException as error:
                reason = str(error).partition("\n")[0]
                raise TypeError(
                    f"{role} cannot be of the column {name!r}, {column.type}: {reason}"
                ) from None
        if "key" not in found:
            found["key"] = pyarrow.nulls(table.num_rows, binary)
        self._table = pyarrow.table(found)

    def pieces(self, timestamp: int) -> Iterator[Any]:
        """Iterate over record batches; ``timestamp`` (ms) is for rows without one."""
        import pyarrow
        import pyarrow.compute

        kind = pyarrow.timestamp("ms", "UTC")
        now = pyarrow.scalar(timestamp, pyarrow.int64()).cast(kind)
        for piece in self._table.to_batches(ROWS_AT_ONCE):
            names = piece.schema.names
            if "timestamp" not in names:
                times = pyarrow.repeat(now, piece.num_rows)
                yield piece.append_column("timestamp", times)
                continue
            index = names.index("timestamp")
            times = pyarrow.compute.fill_null(piece.column(index), now)
            yield piece.set_column(index, "timestamp", times)


class TableBatch:
    """Rows of a table that are one batch: a slice of it, or those with some numbers."""

    def __init__(
        self, rows: Any, numbers: Any, size: int, options: ProducerOptions
    ) -> None:
        self._rows = rows
        self._numbers = numbers
        self._content = size
        self._options = options

    def __len__(self) -> int:
        return int(self._rows.num_rows if self._numbers is None else len(self._numbers))

    @property
    def size_bound(self) -> int:
        """The most bytes of the batch."""
        codec = codec_of(self._options.compression)
        return BATCH_OVERHEAD + bound(codec, self._content)

    def build(
        self, *, producer_id: int, producer_epoch: int, base_sequence: int
    ) -> bytes:
        """Encode the batch."""
        rows = self._rows
        return columns.encode_batch(
            rows if self._numbers is None else rows.take(self._numbers),
            compression=self._options.compression,
            compression_level=self._options.compression_level,
            is_transactional=self._options.transactional_id is not None,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
        )

    def halves(self) -> tuple[Self, Self]:
        """Return two batches of half as many rows, in order."""
        middle = len(self) // 2
        # What each half has is not known; no half has more than the whole.
        size, options, kind = self._content, self._options, type(self)
        rows, numbers = self._rows, self._numbers
        if numbers is not None:
            return (
                kind(rows, numbers[:middle], size, options),
                kind(rows, numbers[middle:], size, options),
            )
        return (
            kind(rows.slice(0, middle), None, size, options),
            kind(rows.slice(middle), None, size, options),
        )


class TableSender:
    """Puts rows of a table into batches, and gives these to a machine.

    ``is_background`` is that of ``ProducerMachine.add_batch``.
    """

    def __init__(
        self,
        machine: ProducerMachine,
        topic: TopicInfo,
        partition: str | int | None,
        *,
        is_background: bool = False,
    ) -> None:
        if isinstance(partition, int):
            check_partition(topic, partition)
        self.batches: list[PendingBatch] = []
        self._machine = machine
        self._topic = topic
        self._partition = partition
        self._is_background = is_background

    def add(self, rows: Any, now: float) -> None:
        """Take a record batch of ``TableColumns.pieces``."""
        import numpy

        partitions = self._choose(rows)
        if isinstance(self._partition, str):
            rows = rows.drop_columns(["partition"])
        sizes, order = row_sizes(rows), None
        if partitions.size and (partitions != partitions[0]).any():
            if len(self._topic.partitions) <= _FEW:
                # Sorted by counting, and not by comparing.
                partitions = partitions.astype("int16")
            order = numpy.argsort(partitions, kind="stable")
            sizes, partitions = sizes[order], partitions[order]
        sizes = numpy.cumsum(sizes)
        ends: Any = numpy.flatnonzero(numpy.diff(partitions)) + 1
        start = 0
        for end in (*ends.tolist(), len(partitions)):
            if end > start:
                place = int(partitions[start])
                self._cut(rows, order, sizes, start, end, place, now)
            start = end

    def _cut(
        self,
        rows: Any,
        order: Any,
        sizes: Any,
        start: int,
        end: int,
        partition: int,
        now: float,
    ) -> None:
        """Cut rows of one partition into batches; -1 is any partition."""
        options = self._machine.options
        room = options.batch_bytes - BATCH_OVERHEAD
        while start < end:
            before = int(sizes[start - 1]) if start else 0
            stop = int(sizes.searchsorted(before + room, "right"))
            stop = min(max(stop, start + 1), end)
            size = int(sizes[stop - 1]) - before
            if order is None:
                chosen_rows, numbers = rows.slice(start, stop - start), None
            else:
                chosen_rows, numbers = rows, order[start:stop]
            content = TableBatch(chosen_rows, numbers, size, options)
            chosen = partition
            if chosen < 0:
                chosen = self._machine.choose_partition(self._topic)
            place = self._topic.name, chosen
            self.batches.append(
                self._machine.add_batch(
                    *place, content, now, is_background=self._is_background
                )
            )
            start = stop

    def _choose(self, rows: Any) -> Any:
        """Return the partition of each row; -1 for any."""
        import numpy

        if isinstance(self._partition, int):
            return numpy.full(rows.num_rows, self._partition, "int32")
        if self._partition is None:
            return self._choose_by_key(rows.column("key"))
        column = rows.column("partition")
        given = column.is_valid().to_numpy(zero_copy_only=False)
        chosen = column.fill_null(-1).to_numpy(zero_copy_only=False)
        for number in numpy.unique(chosen[given]).tolist():
            check_partition(self._topic, number)
        if column.null_count:
            by_key = self._choose_by_key(rows.column("key"))
            chosen = numpy.where(given, chosen, by_key)
        return chosen

    def _choose_by_key(self, key: Any) -> Any:
        """Return the partition of each key; -1 for any."""
        import numpy

        count = len(self._topic.partitions)
        options = self._machine.options
        if options.partitioner is not None:
            partitions = sorted(self._topic.partitions)
            found = self._topic.partitions
            available = [n for n in partitions if found[n].leader >= 0]
            chosen = [
                options.partitioner(each, partitions, available)
                for each in key.to_pylist()
            ]
            for number in set(chosen):
                check_partition(self._topic, number)
            return numpy.array(chosen, "int32")
        if options.hash == engine.CRC32:
            hashes = crc32_column(key)
        else:
            hashes = murmur2_column(key).view("uint32") & 0x7FFFFFFF
        chosen = (hashes % count).astype("int32")
        if key.null_count:
            chosen[key.is_null().to_numpy(zero_copy_only=False)] = -1
        return chosen


def row_sizes(rows: Any) -> Any:
    """Return the most bytes that each row takes in a batch."""
    import numpy
    import pyarrow.compute

    def lengths(column: Any) -> Any:
        found = pyarrow.compute.binary_length(column).fill_null(0)
        return found.to_numpy(zero_copy_only=False).astype("int64")

    sizes = lengths(rows.column("key")) + lengths(rows.column("value"))
    sizes += _ROW_OVERHEAD
    if "headers" in rows.schema.names:
        lists = rows.column("headers")
        counts = pyarrow.compute.list_value_length(lists).fill_null(0)
        ends = numpy.cumsum(counts.to_numpy(zero_copy_only=False).astype("int64"))
        pairs = pyarrow.compute.list_flatten(lists)
        names, values = pairs.flatten()
        items = lengths(names) + lengths(values) + _HEADER_OVERHEAD
        sums = numpy.concatenate(([0], numpy.cumsum(items)))
        totals = sums[ends]
        sizes += numpy.diff(totals, prepend=0)
    return sizes
