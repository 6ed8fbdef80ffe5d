# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Chunk``: fetched records of one partition, which are decoded on first use.

Chunk -> records (columns)  or  rows() and batches() (objects)
      -> to_arrow() (a record batch)
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .. import columns
from ..formatting import escape_line, format_time
from ..records import TransactionFilter, decode_batches, decode_rows
from .descriptions import make_html_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..cluster import Fetched
    from ..limits import Limits
    from ..records import Batch, Headers, Record

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
    """Options that determine how chunks are decoded."""

    columns: tuple[str, ...]
    timestamp_unit: columns.Unit
    views: bool
    limits: Limits
    check_crc: bool
    errors: Literal["strict", "replace"]


class Chunk:
    """The record batches of one partition in one response, not decoded yet.

    ``next_offset`` is where reading goes on after it, ``high_watermark`` where the
    partition ended when it was read. ``aborted_transactions`` is None unless committed
    records are read. Decoding raises ``DecodeError`` for bytes that
    are wrong, with the offset in ``data``.
    """

    def __init__(self, fetched: Fetched, options: DecodingOptions) -> None:
        self.topic = fetched.topic
        self.partition = fetched.partition
        self.start_offset = fetched.start_offset
        self.next_offset = fetched.next_offset
        self.high_watermark = fetched.high_watermark
        self.aborted_transactions = fetched.aborted_transactions
        self.data = fetched.data
        self.fetched = fetched
        self._options = options

    @cached_property
    def records(self) -> columns.Records:
        """The records as columns."""
        return columns.decode_records(
            self.data,
            start_offset=self.fetched.start_offset,
            end_offset=self.fetched.end_offset,
            headers="headers" in self._options.columns,
            timestamp_unit=self._options.timestamp_unit,
            views=self._options.views,
            aborted_transactions=self.aborted_transactions,
            errors=self._options.errors,
            check_crc=self._options.check_crc,
            limits=self._options.limits,
        )

    def rows(self) -> list[Record]:
        """The records as objects."""
        return decode_rows(
            self.data,
            start_offset=self.fetched.start_offset,
            end_offset=self.fetched.end_offset,
            aborted_transactions=self.aborted_transactions,
            errors=self._options.errors,
            check_crc=self._options.check_crc,
            limits=self._options.limits,
        )[0]

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

    def messages(self) -> Iterator[ConsumerRecord]:
        """The records one by one, each with its topic and partition."""
        make, topic, partition = tuple.__new__, self.topic, self.partition
        for row in self.rows():
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

    def to_arrow(self) -> Any:
        """The columns of the scan, as a ``pyarrow.RecordBatch``."""
        import pyarrow

        records = pyarrow.record_batch(self.records)
        count = records.num_rows
        arrays = []
        for name in self._options.columns:
            if name == "topic":
                arrays.append(pyarrow.repeat(pyarrow.scalar(self.topic), count))
            elif name == "partition":
                partition = pyarrow.scalar(self.partition, pyarrow.int32())
                arrays.append(pyarrow.repeat(partition, count))
            else:
                arrays.append(records.column(name))
        schema = arrow_schema(self._options)
        return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)

    def _repr_html_(self) -> str:
        rows = [
            (record.offset, format_time(record.timestamp), record.key, record.value)
            for record in self.messages()
        ]
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

    empty = columns.decode_records(
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
