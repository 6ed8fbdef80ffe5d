# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Chunk``: fetched records of one partition, which are decoded on first use.

A few KiB of compressed records may expand to gigabytes. Therefore, decoding a complete
chunk is limited to ``Limits.total_decompressed_bytes``. For each of these methods,
there is another one without this limit, which decodes the chunk in pieces:

    complete chunk    in pieces
    records()         iter_records(), batches()
    columns           iter_columns()
    to_arrow()        iter_arrow()
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
"""Names of a scan's columns, in their default order."""


class ConsumerRecord(NamedTuple):
    """Record with its topic, partition and offset.

    * ``timestamp``: milliseconds since 1970, or -1 if the record has no timestamp.
    * ``key``, ``value``: bytes, or None for null.
    * ``headers``: (name, value) pairs.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class DecodingOptions(NamedTuple):
    """Options of a scan or consumer that determine how its chunks are decoded.

    ``Kafka.scan`` describes them. ``batch_rows`` is None if chunks are not split.
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
    """Records of one partition from one response, which are decoded on first use.

    Scans and consumers return chunks.

    * ``topic``, ``partition``: the partition that contains the records.
    * ``start_offset``: offset at which the chunk begins. Earlier records in ``data`` do
      not belong to the chunk.
    * ``next_offset``: offset at which reading continues after this chunk. If
      ``batch_rows`` or an end offset limits the chunk, ``data`` may also contain later
      records, which do not belong to the chunk.
    * ``high_watermark``: high watermark of the partition when the chunk was read.
    * ``aborted_transactions``: aborted transactions in this range of offsets. None
      unless the isolation level is "read_committed".
    * ``data``: the encoded record batches.

    Decoding raises ``DecodeError`` if the data is malformed. The error contains the
    position in ``data``.
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
        # The columns, if the chunk is a part of a larger one (``batch_rows``). They
        # have been decoded already, because the position of the split depends on them.
        self._decoded = columns

    @cached_property
    def columns(self) -> record_columns.Records:
        """All records as columns. Further accesses return the same object.

        Raises ``LimitExceeded`` if the batches are too large after decompression, as
        ``records`` does. ``iter_columns`` has no such limit.
        """
        if self._decoded is not None:
            return self._decoded
        return record_columns.decode_records(self.data, **self._column_arguments())

    def records(self) -> list[Record]:
        """Decode all records, and return them as a list of objects.

        Raises ``LimitExceeded`` if the total size of the decompressed batches is above
        ``Limits.total_decompressed_bytes``. ``iter_records`` has no such limit.
        """
        rows: list[Record]
        rows, _ = decode_records(self.data, **self._row_arguments())
        return rows

    def iter_columns(self) -> Iterator[record_columns.Records]:
        """Iterate over the records as columns, in pieces.

        A piece ends after the batch with which its size after decompression reaches
        16 MiB. Therefore, most chunks consist of a single piece.
        """
        if self._decoded is not None:
            return iter((self._decoded,))
        return record_columns.iter_records(self.data, **self._column_arguments())

    def batches(
        self, *, errors: Literal["strict", "replace"] | None = None
    ) -> Iterator[Batch]:
        """Iterate over the record batches with their batch headers.

        Control records and the records of aborted transactions are omitted, but their
        batches are returned. Unlike the other methods, this one also returns records
        and batches from ``next_offset`` on if ``data`` contains them. ``errors``
        specifies how to decode header names that are not UTF-8. Default: the value that
        was passed to the scan.
        """
        return decode_batches(
            self.data,
            start_offset=self.fetched.start_offset,
            aborted_transactions=TransactionFilter(self.aborted_transactions or ()),
            check_crc=self._options.check_crc,
            errors=errors or self._options.errors,
            limits=self._options.limits,
        )

    def iter_records(self) -> Iterator[ConsumerRecord]:
        """Iterate over the records, each with its topic and partition.

        The records are decoded in pieces, so that the required memory does not grow
        with the number of batches.
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
        """Return all records as a ``pyarrow.RecordBatch`` with the scan's columns.

        Raises ``LimitExceeded`` if the batches are too large after decompression, as
        ``records`` does. ``iter_arrow`` has no such limit.
        """
        return self._make_batch(self.columns)

    def iter_arrow(self) -> Iterator[Any]:
        """Iterate over the records as ``pyarrow.RecordBatch`` objects, in pieces.

        Every batch has the scan's columns. The pieces end at the same record batches as
        in ``iter_columns``.
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
    """Return the ``pyarrow.Schema`` of a scan's record batches."""
    import pyarrow

    empty = record_columns.decode_records(
        b"",
        headers="headers" in options.columns,
        timestamp_unit=options.timestamp_unit,
        views=options.views,
    )
    record_schema = pyarrow.record_batch(empty).schema
    # Encoded records contain neither the topic nor the partition.
    chunk_types = {"topic": pyarrow.string(), "partition": pyarrow.int32()}
    return pyarrow.schema(
        pyarrow.field(name, chunk_types[name])
        if name in chunk_types
        else record_schema.field(name)
        for name in options.columns
    )
