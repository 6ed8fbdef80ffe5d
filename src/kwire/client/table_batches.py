# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``TableBatcher``: converts Arrow tables to record batches for ``send_table``.

table -> columns by role -> row indexes sorted by partition -> batches

Only row indexes are sorted. The batches read the rows directly from the table, without
a Python object per row. If values are large, sorting a copy of the rows would take
longer than encoding them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from .._engine.active import record_engine as engine
from .._text import escape_line
from ..errors import EncodeError
from ..messages.arrow_arrays import describe_arrow_error
from ..records.partitioners import crc32_column, murmur2_column
from ..records.tables import (
    admit_column,
    cast_column,
    import_table,
    load_column_types,
    split_columns,
)
from .machines import Batcher, check_partition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .machines import ProducerMachine, TopicInfo
    from .machines.produce.batch_records import BatchRecords

_FEW = 1 << 15
"""Maximum number of partitions whose numbers fit into a signed 16-bit integer."""

_SHARE = 8
"""Divisor of ``memory_bytes``. One call of ``fill`` encodes at most about one eighth of
this limit.
"""

ROWS_AT_ONCE = 1 << 16
"""Maximum number of rows that are sorted by partition in one step, which limits the
memory for row indexes.
"""


class TableColumns:
    """Columns of a table by role: key, value, headers, timestamp and partition.

    The parameters have the same meaning as in ``Producer.send_table``. Every column is
    cast to the type of its role. If no key column is specified, all keys are null.

    Raises ``ValueError`` if the table does not have a column, ``TypeError`` if the type
    of a column cannot be cast, and ``EncodeError`` if the table or its data is invalid.
    """

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

        table = import_table(_convert_table(table))
        self.partition = partition
        roles = {"key": key, "value": value, "headers": headers, "timestamp": timestamp}
        kinds = load_column_types() | {"partition": pyarrow.int32()}
        if isinstance(partition, str):
            roles["partition"] = partition
        columns = {
            role: _read_column(table, role, name, kinds[role])
            for role, name in roles.items()
            if name is not None
        }
        if "key" not in columns:
            columns["key"] = pyarrow.nulls(table.num_rows, kinds["key"])
        self._table = pyarrow.table(columns)

    def pieces(self) -> Iterator[Any]:
        """Iterate over record batches of up to ``ROWS_AT_ONCE`` rows."""
        return iter(self._table.to_batches(ROWS_AT_ONCE))


def _convert_table(table: Any) -> Any:
    """Return the object itself if it has the Arrow interface.

    Otherwise, convert it with pyarrow, for example a dict of lists. Raises
    ``EncodeError`` if pyarrow cannot convert it.
    """
    import pyarrow

    if hasattr(table, "__arrow_c_array__") or hasattr(table, "__arrow_c_stream__"):
        return table
    try:
        return pyarrow.table(table)
    except MemoryError:
        raise
    except pyarrow.ArrowException as error:
        raise EncodeError(
            f"the table cannot be converted to Arrow: {describe_arrow_error(error)}"
        ) from None


def _read_column(table: Any, role: str, name: str, kind: Any) -> Any:
    """Return a column, cast to the type of its role.

    Raises ``ValueError`` if the table has no column ``name``, and ``TypeError`` if its
    type cannot be cast at all. Raises ``EncodeError`` if its data is invalid, or if a
    single value cannot be cast.
    """
    import pyarrow

    if name not in table.schema.names:
        has = ", ".join(map(escape_line, table.schema.names))
        raise ValueError(
            f"{role} must be the name of a column of the table (got {name!r};"
            f" it has {has})"
        )
    column = admit_column(table, name)
    words = f"{role} cannot be column {name!r} of type {escape_line(str(column.type))}"
    try:
        return cast_column(column, kind)
    except MemoryError:
        raise
    except (pyarrow.ArrowNotImplementedError, pyarrow.ArrowTypeError) as error:
        raise TypeError(f"{words}: {describe_arrow_error(error)}") from None
    except pyarrow.ArrowException as error:
        raise EncodeError(f"{words}: {describe_arrow_error(error)}", name) from None


class Run(NamedTuple):
    """Remaining rows of one partition in the current record batch of the table.

    * ``partition``: partition of the rows, or None if they may go to any partition.
    * ``numbers``: array with the row indexes.
    * ``start``: position in ``numbers`` of the first row that was not added yet.
    """

    partition: int | None
    numbers: Any
    start: int


class TableBatcher(Batcher):
    """Batcher for a table's rows.

    For each record batch of the table, call ``begin``, then ``fill`` until it returns
    False. Rows without a timestamp get ``timestamp`` (ms). Raises ``TopicNotFound`` if
    ``partition`` is a number that the topic does not have.
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
        """Accept a record batch of ``TableColumns.pieces``, and sort it by partition.

        Raises ``TopicNotFound`` if the topic does not have a partition that the
        partition column or the partitioner specifies.
        """
        import numpy

        partitions = self._choose_partitions(rows)
        columns = dict(zip(rows.schema.names, rows.columns, strict=True))
        self._columns = engine.ColumnRows(*split_columns(rows.num_rows, columns))
        if partitions.size and (partitions != partitions[0]).any():
            if len(self._topic.partitions) <= _FEW:
                # numpy sorts 16-bit integers with a radix sort, which is faster than
                # the comparison sort of larger types.
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
        """Add rows to batches, alternating between the partitions.

        The partitions alternate so that the next request can contain a batch per
        partition. One call adds about ``max_request_bytes``, or one eighth of
        ``memory_bytes`` if that is less. Returns False if there were no rows left to
        add.
        """
        runs, options = self._runs, self._machine.options
        if not runs:
            return False
        max_bytes = min(options.max_request_bytes, options.memory_bytes // _SHARE)
        end_bytes = self.taken_bytes + max_bytes
        while runs and self.taken_bytes < end_bytes:
            partition, numbers, start = runs.popleft()
            start = self._fill(partition, numbers, start, self._timestamp, now)
            if start < len(numbers):
                runs.append(Run(partition, numbers, start))
        return True

    def _extend(
        self, batch: BatchRecords, rows: Any, start: int, timestamp: int
    ) -> int:
        return batch.extend_columns(self._columns, rows, start, timestamp)

    def _choose_partitions(self, rows: Any) -> Any:
        """Return an array with the partition of every row, or -1 for any partition."""
        import numpy

        if isinstance(self._partition, int):
            return numpy.full(rows.num_rows, self._partition, "int32")
        if self._partition is None:
            return self._choose_by_key(rows.column("key"))
        column = rows.column("partition")
        is_specified = column.is_valid().to_numpy(zero_copy_only=False)
        chosen = column.fill_null(-1).to_numpy(zero_copy_only=False)
        for number in numpy.unique(chosen[is_specified]).tolist():
            check_partition(self._topic, number)
        if column.null_count:
            by_key = self._choose_by_key(rows.column("key"))
            chosen = numpy.where(is_specified, chosen, by_key)
        return chosen

    def _choose_by_key(self, key: Any) -> Any:
        """Return an array with the partition of every key, or -1 for any partition.

        Without a partitioner, only rows with a null key may go to any partition.
        """
        import numpy

        count = len(self._topic.partitions)
        options = self._machine.options
        if options.partitioner is not None:
            partitions = sorted(self._topic.partitions)
            infos = self._topic.partitions
            available = [n for n in partitions if infos[n].leader >= 0]
            chosen = [
                options.partitioner(key_bytes, partitions, available)
                for key_bytes in key.to_pylist()
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
