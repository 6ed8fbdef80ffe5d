# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Chunk``: fetched records of one partition, which are decoded on first use.

Chunk -> columns  or  records() and batches() (objects)
      -> to_arrow() (a record batch)

A response of a few KiB may decompress to gigabytes. Therefore each form of the whole
chunk has a limit, and a form that is decoded in pieces: ``iter_records()`` for
``records()``, ``iter_columns()`` for ``columns``, ``iter_arrow()`` for ``to_arrow()``.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .._text import escape_line, format_time
from .._text.name_advice import advise_on_attributes
from ..records import (
    TransactionFilter,
    decode_batches,
    decode_records,
    iter_records,
)
from ..records import columns as record_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._limits import Limits
    from ..records import Batch, Headers, Record
    from .machines import Fetched

COLUMNS = (
    "topic",
    "partition",
    "offset",
    "timestamp",
    "timestamp_type",
    "key",
    "value",
    "headers",
)
"""The columns of a scan, in order."""


class ConsumerRecord(NamedTuple):
    """One record, and where it was read. ``timestamp`` is in ms, -1 for none."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class DecodingOptions(NamedTuple):
    """Options that determine how chunks are decoded.

    ``batch_rows`` is the maximum number of records of a chunk; None for no limit.
    """

    columns: tuple[str, ...]
    timestamp_unit: record_columns.Unit
    views: bool
    limits: Limits
    check_crc: bool
    errors: Literal["strict", "replace"]
    batch_rows: int | None = None


@advise_on_attributes("Chunk")
class Chunk:
    """The record batches of one partition in one response, not decoded yet.

    ``next_offset`` is where reading goes on after it, ``high_watermark`` where the
    partition ended when it was read. ``aborted_transactions`` is None unless committed
    records are read. Decoding raises ``DecodeError`` for bytes that
    are wrong, with the offset in ``data``.
    """

    def __init__(
        self,
        fetched: Fetched,
        options: DecodingOptions,
        columns: record_columns.Records | None = None,
    ) -> None:
        self.topic = fetched.topic
        self.partition = fetched.partition
        self.start_offset = fetched.start_offset
        self.next_offset = fetched.next_offset
        self.high_watermark = fetched.high_watermark
        self.aborted_transactions = fetched.aborted_transactions
        self.data = fetched.data
        self.fetched = fetched
        self._options = options
        # The columns, if ``batch_rows`` required that they are decoded already.
        self._decoded = columns

    @cached_property
    def columns(self) -> record_columns.Records:
        """The records as columns.

        Raises ``LimitExceeded`` as ``records``; ``iter_columns`` has no such limit.
        """
        if self._decoded is not None:
            return self._decoded
        return record_columns.decode_records(self.data, **self._column_arguments())

    def records(self) -> list[Record]:
        """The records as objects.

        Raises ``LimitExceeded`` if the batches of the chunk together pass
        ``total_decompressed_bytes`` of the limits; ``iter_records`` has no such limit.
        """
        rows: list[Record]
        rows, _ = decode_records(self.data, **self._row_arguments())
        return rows

    def iter_columns(self) -> Iterator[record_columns.Records]:
        """Iterate over the records as columns, in pieces.

        A chunk of usual size is one piece. A piece ends after the batch with which its
        records reach 16 MiB after decompression.
        """
        if self._decoded is not None:
            return iter((self._decoded,))
        return record_columns.iter_records(self.data, **self._column_arguments())

    def batches(
        self, *, errors: Literal["strict", "replace"] | None = None
    ) -> Iterator[Batch]:
        """The record batches, whose headers have more than records do.

        The last one may have records from ``next_offset`` on, which are not meant.
        ``errors`` applies to header names that are not UTF-8. Default: the option of
        the scan.
        """
        return decode_batches(
            self.data,
            start_offset=self.fetched.start_offset,
            aborted_transactions=TransactionFilter(self.aborted_transactions or ()),
            errors=errors or self._options.errors,
            limits=self._options.limits,
        )

    def iter_records(self) -> Iterator[ConsumerRecord]:
        """The records one by one, each with its topic and partition.

        They are decoded in pieces, so that the memory does not depend on the number of
        batches.
        """
        make, topic, partition = tuple.__new__, self.topic, self.partition
        for rows in iter_records(self.data, **self._row_arguments()):
            for row in rows:
                yield make(
                    ConsumerRecord,
                    (
                        topic,
                        partition,
                        row.offset,
                        row.timestamp,
                        row.key,
                        row.value,
                        row.headers,
                    ),
                )
            # Release the records of this piece before the next piece is decoded.
            del rows

    def to_arrow(self) -> Any:
        """The columns of the scan, as a ``pyarrow.RecordBatch``.

        Raises ``LimitExceeded`` as ``records``; ``iter_arrow`` has no such limit.
        """
        return self._make_batch(self.columns)

    def iter_arrow(self) -> Iterator[Any]:
        """Iterate over the columns of the scan as ``pyarrow.RecordBatch``, in pieces.

        The pieces end at the same batches as in ``iter_columns``.
        """
        return map(self._make_batch, self.iter_columns())

    def _make_batch(self, records: record_columns.Records) -> Any:
        import pyarrow

        batch = pyarrow.record_batch(records)
        count = batch.num_rows
        arrays = []
        for name in self._options.columns:
            if name == "topic":
                arrays.append(pyarrow.repeat(pyarrow.scalar(self.topic), count))
            elif name == "partition":
                partition = pyarrow.scalar(self.partition, pyarrow.int32())
                arrays.append(pyarrow.repeat(partition, count))
            else:
                arrays.append(batch.column(name))
        schema = arrow_schema(self._options)
        return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)

    def _row_arguments(self) -> dict[str, Any]:
        return {
            "start_offset": self.fetched.start_offset,
            "end_offset": self.fetched.end_offset,
            "aborted_transactions": self.aborted_transactions,
            "errors": self._options.errors,
            "check_crc": self._options.check_crc,
            "limits": self._options.limits,
        }

    def _column_arguments(self) -> dict[str, Any]:
        return self._row_arguments() | {
            "headers": "headers" in self._options.columns,
            "timestamp_unit": self._options.timestamp_unit,
            "views": self._options.views,
        }

    def _repr_html_(self) -> str:
        from .html_tables import make_html_table

        rows = (
            (record.offset, format_time(record.timestamp), record.key, record.value)
            for record in self.iter_records()
        )
        columns = ("offset", "timestamp", "key", "value")
        return make_html_table(repr(self), columns, rows)

    def __repr__(self) -> str:
        return (
            f"<Chunk of {escape_line(self.topic)}-{self.partition}, offsets"
            f" {self.start_offset} to {self.next_offset}, {len(self.data)} bytes>"
        )


def arrow_schema(options: DecodingOptions) -> Any:
    """Return the ``pyarrow.Schema`` of the columns of a scan."""
    import pyarrow

    empty = record_columns.decode_records(
        b"",
        headers="headers" in options.columns,
        timestamp_unit=options.timestamp_unit,
        views=options.views,
    )
    known = pyarrow.record_batch(empty).schema
    first = {"topic": pyarrow.string(), "partition": pyarrow.int32()}
    return pyarrow.schema(
        pyarrow.field(name, first[name]) if name in first else known.field(name)
        for name in options.columns
    )
