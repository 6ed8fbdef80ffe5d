# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes records as Parquet or Arrow, in row groups with bounded size.

A pipe receives Arrow's stream format, so that its reader can process batches before the
end. Files, including a redirected stdout, receive the file format.

Keys and values are the original bytes. The columns topic and partition are followed by
the ``kwire.records.arrow.records_to_arrow`` columns. If the input contains an internal
topic, the columns ``key_json``, ``value_json`` and ``error`` are added.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from ..._files import create_file
from ...messages.arrow_types import load_pyarrow
from .byte_formats import compact_json
from .record_rows import read_timestamp
from .tables import BinaryStdout, stdout_is_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .byte_formats import Cell
    from .record_rows import RecordRow, RowMaker
    from .record_runs import RecordRun

_GROUP_ROWS = 100_000
_GROUP_BYTES = 16 * 1024 * 1024
_ROW_BYTES = 100
"""Approximate memory in bytes that a row, or a header of a row, requires in addition to
its key and value.
"""


@contextmanager
def open_arrow_output(
    path: str | None, form: str, headers: bool, decoded: bool, maker: RowMaker
) -> Iterator[RecordGroups]:
    """Open a new file, or stdout without a path.

    ``form`` is "parquet" or "arrow". The file becomes visible only if the ``with``
    block succeeds. If the block fails, stdout receives no end marker, so that
    incomplete output is not mistaken for the complete result.
    """
    pyarrow = load_pyarrow(form)
    with ExitStack() as stack:
        if path is not None:
            file = stack.enter_context(create_file(path))
        else:
            file = cast("BinaryIO", BinaryStdout())
            if form == "arrow" and not stdout_is_file():
                form = "stream"
        writer = RecordGroups(pyarrow, file, form, headers, decoded, maker)
        try:
            yield writer
            writer.close()
        except BaseException:
            if isinstance(file, BinaryStdout):
                file.is_ended = True
            writer.abandon()
            raise


class RecordGroups:
    """Collects rows and columns, and writes them as row groups with bounded size."""

    def __init__(
        self,
        pyarrow: Any,
        file: BinaryIO,
        form: str,
        headers: bool,
        decoded: bool,
        maker: RowMaker,
    ) -> None:
        pair = [("key", pyarrow.string()), ("value", pyarrow.binary())]
        topic = pyarrow.string()
        if form == "parquet":
            # An Arrow file has a single dictionary, which would have to be complete at
            # this point. Therefore only Parquet uses a dictionary for topics.
            topic = pyarrow.dictionary(pyarrow.int32(), topic)
        fields = [
            ("topic", topic),
            ("partition", pyarrow.int32()),
            ("offset", pyarrow.int64()),
            ("timestamp", pyarrow.timestamp("ms", "UTC")),
            ("timestamp_type", pyarrow.int32()),
            ("key", pyarrow.binary()),
            ("value", pyarrow.binary()),
        ]
        if headers:
            fields.append(("headers", pyarrow.list_(pyarrow.struct(pair))))
        if decoded:
            for name in ("key_json", "value_json", "error"):
                fields.append((name, pyarrow.string()))
        self._pyarrow = pyarrow
        self._schema = pyarrow.schema(fields)
        self._sink = file
        self._form = form
        self._file: Any = None
        self._headers = headers
        self._decoded = decoded
        self._maker = maker
        # Records that have not been written yet. The records in ``_tables`` come first.
        # They are followed by the records in ``_rows`` or ``_columns``, of which at
        # most one list is not empty. An element of ``_columns`` is a tuple (topic,
        # partition, record batch).
        self._tables: list[Any] = []
        self._rows: list[tuple[Any, ...]] = []
        self._columns: list[tuple[str, int, Any]] = []
        self._count = 0
        self._bytes = 0

    @property
    def takes_columns(self) -> bool:
        """Whether ``write_columns`` may be called instead of ``write``.

        Output with decoded messages requires ``write``.
        """
        return not self._decoded

    def write(self, run: RecordRun) -> None:
        """Collect the records in a run, and write a row group if it is full."""
        for row in self._maker.rows(run):
            self._write_row(row)

    def _write_row(self, row: RecordRow) -> None:
        record = row.record
        values: list[Any] = [row.topic, row.partition, record.offset]
        values += [read_timestamp(record), row.timestamp_type, record.key, record.value]
        size = _ROW_BYTES + len(record.key or b"") + len(record.value or b"")
        if self._headers:
            values.append(record.headers)
            for name, content in record.headers:
                size += _ROW_BYTES + len(name) + len(content or b"")
        if self._decoded:
            texts = _text(row.key), _text(row.value), row.error or None
            values += texts
            size += sum(len(text or "") for text in texts)
        if self._columns:
            self._gather_columns()
        self._rows.append(tuple(values))
        self._add_size(1, size)

    def write_columns(self, topic: str, partition: int, batch: Any) -> None:
        """Collect consecutive records of a partition from a ``pyarrow.RecordBatch``.

        The batch must have the columns that ``columns.decode_records`` returns.
        Messages are not decoded.
        """
        assert self.takes_columns, "decoded messages are written row by row"
        if batch.num_rows:
            self._gather_rows()
            self._columns.append((topic, partition, batch))
            self._add_size(batch.num_rows, batch.nbytes)

    @property
    def is_stream(self) -> bool:
        """Whether the output is an Arrow stream, as opposed to a file."""
        return self._form == "stream"

    def flush(self) -> None:
        """Write all collected records and flush the pipe. Call this before waiting."""
        self._flush()
        self._sink.flush()

    def close(self) -> None:
        """Write all collected records and complete the file."""
        self._flush()
        self._open().close()
        self._sink.flush()

    def abandon(self) -> None:
        """Close a file that will not be published."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def _open(self) -> Any:
        """Return the pyarrow writer, and create it on the first call.

        Creating the writer also writes the beginning of the file. It is delayed until
        there are records or the output ends, so that a command that fails early writes
        nothing except its error.
        """
        if self._file is None:
            pyarrow = self._pyarrow
            if self._form == "parquet":
                self._file = pyarrow.parquet.ParquetWriter(
                    self._sink, self._schema, compression="zstd"
                )
            else:
                options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
                is_stream = self.is_stream
                new = pyarrow.ipc.new_stream if is_stream else pyarrow.ipc.new_file
                self._file = new(self._sink, self._schema, options=options)
        return self._file

    def _add_size(self, count: int, size: int) -> None:
        self._count += count
        self._bytes += size
        if self._count >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def _gather_rows(self) -> None:
        """Convert the records in ``_rows`` to a table, and append it to ``_tables``."""
        if self._rows:
            columns = zip(*self._rows, strict=True)
            self._add_table(map(self._pyarrow.array, columns, self._schema.types))
            self._rows.clear()

    def _gather_columns(self) -> None:
        """Convert the records in ``_columns`` to a table, and append it to ``_tables``.

        The topic and the partition are repeated for each record.
        """
        if not self._columns:
            return
        topics, partitions, batches = zip(*self._columns, strict=True)
        record_table = self._pyarrow.Table.from_batches(batches)
        ends = list(accumulate(batch.num_rows for batch in batches))
        partition_values = {"topic": topics, "partition": partitions}
        self._add_table(
            self._repeat(partition_values[field.name], ends, field.type)
            if field.name in partition_values
            else record_table.column(field.name).cast(field.type)
            for field in self._schema
        )
        self._columns.clear()

    def _repeat(self, values: Sequence[Any], ends: list[int], kind: Any) -> Any:
        """Create a column in which each value is repeated for a run of rows.

        ``ends`` contains the row number after each run. ``kind`` is the column type.
        """
        from pyarrow import compute

        runs = self._pyarrow.array(ends, self._pyarrow.int32())
        array = self._pyarrow.RunEndEncodedArray.from_arrays(runs, values)
        return compute.run_end_decode(array).cast(kind)

    def _add_table(self, arrays: Iterable[Any]) -> None:
        table = self._pyarrow.Table.from_arrays(list(arrays), schema=self._schema)
        self._tables.append(table)

    def _flush(self) -> None:
        self._gather_rows()
        self._gather_columns()
        if self._tables:
            group = self._pyarrow.concat_tables(self._tables)
            # Write a group as one record batch in Arrow, and with one dictionary in
            # Parquet.
            group = group.unify_dictionaries().combine_chunks()
            self._open().write_table(group, _GROUP_ROWS)
        self._tables.clear()
        self._count = self._bytes = 0


def _text(cell: Cell) -> str | None:
    """Return a decoded message as JSON, or the type name of a control record.

    Returns None for a cell with any other encoding.
    """
    if cell.encoding == "json":
        return compact_json(cell.content)
    return str(cell.content) if cell.encoding == "control" else None
