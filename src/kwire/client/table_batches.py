# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tables as record batches, without an object for each row.

table -> columns by name -> row numbers sorted by partition -> batches

The rows stay where they are in the table, and their batches read them there: sorting a
copy of them takes longer than encoding where values are large.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from .._backend import record_engine as engine
from ..arrow_input import split_table
from ..cluster import BatchSender, check_partition
from ..partitioners import crc32_column, murmur2_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..cluster import ProducerMachine, TopicInfo
    from ..cluster.pending_batch import RowBatch

_FEW = 1 << 15
"""The most partitions whose numbers are 16 bits."""

_SHARE = 8
"""The rows that are taken at once have one in so many of ``memory_bytes``."""

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

    def pieces(self) -> Iterator[Any]:
        """Iterate over record batches."""
        return iter(self._table.to_batches(ROWS_AT_ONCE))


class Run(NamedTuple):
    """Rows of one partition, by their numbers; None is any partition."""

    partition: int | None
    numbers: Any
    start: int


class TableSender(BatchSender):
    """Takes rows of a table: ``begin`` with some, and ``fill`` until none are left.

    Rows without a timestamp get ``timestamp`` (ms).
    """

    def __init__(
        self,
        machine: ProducerMachine,
        topic: TopicInfo,
        partition: str | int | None,
        timestamp: int,
        *,
        is_background: bool = False,
    ) -> None:
        super().__init__(machine, topic, is_background=is_background)
        if isinstance(partition, int):
            check_partition(topic, partition)
        self._partition = partition
        self._timestamp = timestamp
        self._columns: Any = None
        self._runs: deque[Run] = deque()

    def begin(self, rows: Any) -> None:
        """Take a record batch of ``TableColumns.pieces``, and sort its rows."""
        import numpy

        partitions = self._choose(rows)
        if isinstance(self._partition, str):
            rows = rows.drop_columns(["partition"])
        self._columns = engine.ColumnRows(*split_table(rows))
        if partitions.size and (partitions != partitions[0]).any():
            if len(self._topic.partitions) <= _FEW:
                # Sorted by counting, and not by comparing.
                partitions = partitions.astype("int16")
            order: Any = numpy.argsort(partitions, kind="stable")
            partitions = partitions[order]
        else:
            order = numpy.arange(len(partitions))
        order = order.astype("int64", copy=False)
        ends: Any = numpy.flatnonzero(numpy.diff(partitions)) + 1
        start = 0
        for end in (*ends.tolist(), len(partitions)):
            if end > start:
                chosen = int(partitions[start])
                numbers = order[start:end]
                self._runs.append(Run(None if chosen < 0 else chosen, numbers, 0))
            start = end

    def fill(self, now: float) -> bool:
        """Put some rows into batches of each partition; return whether any were left.

        So batches of all partitions are there for one request.
        """
        runs, options = self._runs, self._machine.options
        if not runs:
            return False
        most = min(options.request_bytes, options.memory_bytes // _SHARE)
        enough = self.taken_bytes + most
        while runs and self.taken_bytes < enough:
            partition, numbers, start = runs.popleft()
            start = self._fill(partition, numbers, start, self._timestamp, now)
            if start < len(numbers):
                runs.append(Run(partition, numbers, start))
        return True

    def _extend(self, batch: RowBatch, rows: Any, start: int, timestamp: int) -> int:
        return batch.extend_columns(self._columns, rows, start, timestamp)

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
