# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes records to a Parquet or Arrow file, in groups of bounded size.

Keys and values are the bytes of the log; the columns are those of
``kwire.arrow.records_to_arrow`` after topic and partition. Where an internal topic is
among the input, ``key_json``, ``value_json`` and ``error`` come after them.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from ..arrow_types import load_pyarrow
from ..atomic_files import create_file
from .byte_formats import compact_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .byte_formats import Cell
    from .record_rows import RecordRow

_GROUP_ROWS = 100_000
_GROUP_BYTES = 16 * 1024 * 1024
_ROW_BYTES = 100
"""About what a row takes besides its key, its value and its headers."""


@contextmanager
def open_arrow_file(
    path: str, form: str, headers: bool, decoded: bool
) -> Iterator[RecordGroups]:
    """Open a new file, "parquet" or "arrow"; it appears when the block succeeds."""
    pyarrow = load_pyarrow(form)
    with create_file(path) as file:
        writer = RecordGroups(pyarrow, file, form, headers, decoded)
        try:
            yield writer
            writer.close()
        except BaseException:
            writer.abandon()
            raise


class RecordGroups:
    """Collects rows and columns, and writes them as row groups of bounded size."""

    def __init__(
        self, pyarrow: Any, file: BinaryIO, form: str, headers: bool, decoded: bool
    ) -> None:
        pair = [("key", pyarrow.string()), ("value", pyarrow.binary())]
        topic = pyarrow.string()
        if form == "parquet":
            # A file of Arrow has one dictionary, which would have to be known now.
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
        if form == "parquet":
            self._file = pyarrow.parquet.ParquetWriter(
                file, self._schema, compression="zstd"
            )
        else:
            options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
            self._file = pyarrow.ipc.new_file(file, self._schema, options=options)
        self._headers = headers
        self._decoded = decoded
        # Record batches, and the rows that came after them.
        self._batches: list[Any] = []
        self._rows: list[tuple[Any, ...]] = []
        self._count = 0
        self._bytes = 0

    @property
    def takes_columns(self) -> bool:
        """Whether ``write_columns`` can be called: no message is decoded."""
        return not self._decoded

    def write(self, row: RecordRow) -> None:
        """Take one row."""
        record = row.record
        values: list[Any] = [row.topic, row.partition, record.offset, record.timestamp]
        values += [row.timestamp_type, record.key, record.value]
        size = _ROW_BYTES + len(record.key or b"") + len(record.value or b"")
        if self._headers:
            values.append(record.headers)
            for name, content in record.headers:
                size += _ROW_BYTES + len(name) + len(content or b"")
        if self._decoded:
            texts = _text(row.key), _text(row.value), row.error or None
            values += texts
            size += sum(len(text or "") for text in texts)
        self._rows.append(tuple(values))
        self._add_size(1, size)

    def write_columns(self, topic: str, partition: int, batch: Any) -> None:
        """Take the records of a partition in order: a ``pyarrow.RecordBatch``.

        Its columns are those of ``columns.decode_records``; nothing is decoded further.
        """
        assert self.takes_columns, "decoded messages are written row by row"
        count = batch.num_rows
        if not count:
            return
        repeat = self._pyarrow.repeat
        place = {"topic": repeat(topic, count), "partition": repeat(partition, count)}
        arrays = [
            (place[name] if name in place else batch.column(name)).cast(kind)
            for name, kind in zip(self._schema.names, self._schema.types, strict=True)
        ]
        self._close_batch()
        self._batches.append(self._make_batch(arrays))
        self._add_size(count, batch.nbytes + count * len(topic))

    def close(self) -> None:
        """Write what is left, and the end of the file."""
        self._flush()
        self._file.close()

    def abandon(self) -> None:
        """Close a file that will not be published."""
        with suppress(OSError):
            self._file.close()

    def _add_size(self, count: int, size: int) -> None:
        self._count += count
        self._bytes += size
        if self._count >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def _make_batch(self, arrays: list[Any]) -> Any:
        return self._pyarrow.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _close_batch(self) -> None:
        """Make a record batch of the rows."""
        if self._rows:
            columns = zip(*self._rows, strict=True)
            arrays = map(self._pyarrow.array, columns, self._schema.types)
            self._batches.append(self._make_batch(list(arrays)))
            self._rows.clear()

    def _flush(self) -> None:
        self._close_batch()
        if self._batches:
            group = self._pyarrow.Table.from_batches(self._batches)
            # A file of Arrow gets one record batch, Parquet one dictionary.
            group = group.unify_dictionaries().combine_chunks()
            self._file.write_table(group, _GROUP_ROWS)
        self._batches.clear()
        self._count = self._bytes = 0


def _text(cell: Cell) -> str | None:
    if cell.encoding == "json":
        return compact_json(cell.content)
    return str(cell.content) if cell.encoding == "control" else None
