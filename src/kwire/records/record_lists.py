# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes columns with record sets into lists of records, or into rows.

A record set is the content of the ``records`` field in Produce and Fetch: batches in
any magic, and optionally an incomplete last batch. If all rows of an array are valid,
they are decoded in one call. This module does not import Spark: input and output are
pyarrow arrays.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from struct import Struct
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from ..errors import DecodeError
from ..messages.columns.array_rows import (
    as_binary,
    is_valid,
    make_struct,
    text_column,
    view_memory,
)
from ..messages.columns.chosen_fields import arrange_fields, narrow_type
from ..messages.columns.message_types import (
    ERROR,
    make_list_type,
    with_error,
    without_error,
)
from ..schema.batch_layout import LOG_OVERHEAD, MESSAGE_OVERHEADS, SIZE_AT
from .arrow_batches import null_empty_lists, records_to_arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])

RECORD = pa.struct(
    [
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("timestampType", pa.int32()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", make_list_type(_HEADER)),
    ]
)
"""Record with the names and types of Spark's own source ``kafka``.

As in that source, ``headers`` is null if a record has no headers.
"""

RECORD_LIST = make_list_type(with_error(RECORD))
"""Records of a row. A damaged batch is a record in which only ``_error`` is set."""

_CHUNK = 4 << 20
"""Maximum total size in bytes of the record sets that are decoded into one Arrow batch,
unless a single row is larger.
"""


class RowFault(NamedTuple):
    """Damage in a row.

    * ``row``: number of the row.
    * ``place``: number of decoded records before the damage, in all rows together.
    * ``text``: error message.
    """

    row: int
    place: int
    text: str


_POSITION = "batch_position"
_COLUMNS = {"timestampType": "timestamp_type"}
"""Record fields with a different column name in ``records_to_arrow``."""

_size_at = Struct(">i").unpack_from


def read_records(
    data: Any,
    *,
    errors: Literal["strict", "replace"] = "strict",
    failfast: bool = False,
    schema: pa.ListType | None = None,
) -> pa.ListArray:
    """Decode a column with record sets into lists of ``RECORD``; null rows remain null.

    A damaged part of a row becomes a record in which only ``_error`` is set, with the
    reason. The batches around it are decoded normally. With ``failfast``, there is no
    ``_error``, and the first invalid row raises the error from
    ``kwire.records.arrow.records_to_arrow``.

    ``schema`` is the result type, as described in ``chosen_fields``. If it has no
    ``_error``, a damaged part becomes a null element.
    """
    kind = RECORD
    if schema is not None:
        kind = narrow_type(RECORD_LIST, schema).value_type
    elif not failfast:
        kind = with_error(kind)
    rows = as_binary(data)
    made, counts, faults = _decode(rows, errors, failfast, without_error(kind))
    if kind.get_field_index(ERROR) >= 0 or faults:
        made = _with_faults(made, faults, kind)
        for fault in faults:
            counts[fault.row] += 1
    ends: np.ndarray = np.zeros(len(rows) + 1, np.int32)
    np.cumsum(counts, out=ends[1:])
    validity = None
    if rows.null_count:
        validity = pa.py_buffer(np.packbits(is_valid(rows), bitorder="little"))
    result = pa.Array.from_buffers(
        make_list_type(made.type),
        len(rows),
        [validity, pa.py_buffer(ends)],
        children=[made],
    )
    return result if schema is None else arrange_fields(result, schema)


def explode_records(
    batches: Iterable[pa.RecordBatch],
    column: str,
    keep: Sequence[str] = (),
    *,
    errors: Literal["strict", "replace"] = "strict",
    failfast: bool = False,
    schema: pa.StructType | None = None,
) -> Iterator[pa.RecordBatch]:
    """Decode a column with record sets into one row per record.

    The result has the columns in ``keep``, repeated for all records of a row, followed
    by the record columns. Invalid rows are handled as in ``read_records``. Null and
    empty rows have no records. ``schema`` selects the record columns.
    """
    lists_type = None if schema is None else make_list_type(schema)
    for batch in batches:
        for part in _chunks(batch, column):
            rows = as_binary(part.column(column))
            lists = read_records(
                rows, errors=errors, failfast=failfast, schema=lists_type
            )
            records = lists.values
            parents: np.ndarray = np.repeat(
                np.arange(len(rows)), np.diff(lists.offsets)
            )
            kept = part.select(list(keep)).take(pa.array(parents))
            yield pa.RecordBatch.from_arrays(
                [*kept.columns, *records.flatten()],
                schema=pa.schema([*kept.schema, *records.type]),
            )


def _chunks(batch: pa.RecordBatch, column: str) -> Iterator[pa.RecordBatch]:
    """Split a batch into parts with a few MiB of record sets each."""
    _, places = view_memory(as_binary(batch.column(column)))
    start = 0
    while start < batch.num_rows:
        end = int(np.searchsorted(places, int(places[start]) + _CHUNK, "right")) - 1
        end = min(max(end, start + 1), batch.num_rows)
        yield batch.slice(start, end - start)
        start = end


def _decode(
    rows: pa.BinaryArray,
    errors: Literal["strict", "replace"],
    failfast: bool,
    kind: pa.StructType,
) -> tuple[pa.StructArray, np.ndarray, list[RowFault]]:
    """Decode all rows; return the records, their number per row, and the faults.

    ``kind`` contains the record fields to decode.
    """
    read = _make_reader(kind, errors)
    data, places = view_memory(rows)
    if _are_whole(rows, data, places):
        first, last = int(places[0]), int(places[-1])
        try:
            made = read(memoryview(data)[first:last], batch_columns=True)
        except DecodeError:
            # Decode row by row below, to locate the damage and to keep the valid
            # batches.
            pass
        else:
            found = made.column(_POSITION).to_numpy()
            ends = np.searchsorted(found, places[1:] - first)
            return _records([made], kind), np.diff(ends, prepend=0), []
    batches: list[Any] = []
    faults: list[RowFault] = []
    counts: np.ndarray = np.zeros(len(rows), np.int64)
    total = 0
    for row in np.flatnonzero(is_valid(rows)).tolist():
        raw = memoryview(data)[places[row] : places[row + 1]]
        for made, text in [(read(raw), None)] if failfast else _salvage(raw, read):
            batches.append(made)
            counts[row] += made.num_rows
            total += made.num_rows
            if text is not None:
                faults.append(RowFault(row, total, text))
    return _records(batches, kind), counts, faults


def _salvage(raw: memoryview, read: Any) -> Iterator[tuple[Any, str | None]]:
    """Decode the valid parts of a row, and skip the damaged batches between them.

    Yields (records, error message) pairs. The message describes the damage after the
    records, and is None if the remaining row is valid.
    """
    start = 0
    while True:
        try:
            yield read(raw[start:]), None
            return
        except DecodeError as error:
            error.offset += start
            before, after = _around(raw, start, error.offset)
            text = str(error)
        try:
            yield read(raw[start:before]), text
        except DecodeError:
            # The batches before the error are invalid as well. Skip the remaining
            # bytes of the row, and report only the first error.
            yield read(b""), text
            return
        if after is None:
            return
        start = after


def _around(raw: memoryview, start: int, at: int) -> tuple[int, int | None]:
    """Return the start of the batch that contains byte ``at``, and where it ends.

    The search begins with the batch at ``start``. The second value is the position
    after the batch, or None if the batch is incomplete or has an invalid size.
    """
    while (end := _next_batch(raw, start, len(raw))) is not None:
        if at < end:
            return start, end
        start = end
    return start, None


def _next_batch(data: memoryview, at: int, end: int) -> int | None:
    """Return the position after the batch that begins at ``at``.

    Returns None if the batch has an invalid size, or is not complete before ``end``.
    """
    if at + LOG_OVERHEAD > end:
        return None
    (size,) = _size_at(data, at + SIZE_AT)
    after: int = at + LOG_OVERHEAD + size
    return after if size >= MESSAGE_OVERHEADS[0] and after <= end else None


def _are_whole(rows: pa.BinaryArray, data: Any, places: np.ndarray) -> bool:
    """Return whether every row ends with a complete batch.

    Only then all rows may be decoded as one record set: an incomplete batch at the end
    of a row would otherwise hide the batches of the next row.
    """
    if rows.null_count and np.diff(places)[~is_valid(rows)].any():
        return False
    view = memoryview(data)
    for start, end in pairwise(places.tolist()):
        at: int | None = start
        while at is not None and at != end:
            at = _next_batch(view, at, end)
        if at is None:
            return False
    return True


_HAS_VIEWS = hasattr(pa.DataType, "has_variadic_buffers")


def _make_reader(
    kind: pa.StructType, errors: Literal["strict", "replace"]
) -> Callable[..., pa.RecordBatch]:
    """Return a record set decoder that skips fields which are not requested."""
    names = [field.name for field in kind]
    in_milliseconds = (
        "timestamp" in names and kind.field("timestamp").type == pa.int64()
    )
    return partial(
        records_to_arrow,
        timestamp_unit="ms" if in_milliseconds else "us",
        headers="headers" in names,
        # If keys and values are not requested, views avoid copying their bytes. The
        # Python engine makes them with pyarrow 19 or newer.
        views=_HAS_VIEWS and "key" not in names and "value" not in names,
        errors=errors,
    )


def _records(batches: list[pa.RecordBatch], kind: pa.StructType) -> pa.StructArray:
    """Combine decoded batches into one struct array."""
    if not batches:
        return pa.array([], kind)
    columns = []
    for field in kind:
        parts = [
            batch.column(_COLUMNS.get(field.name, field.name)) for batch in batches
        ]
        column = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
        if field.name == "headers":
            column = arrange_fields(null_empty_lists(column), field.type)
        if field.name == "timestamp" and field.type == pa.int64() and column.null_count:
            # As a number, a missing timestamp is Kafka's own -1.
            column = column.cast(field.type).fill_null(-1)
        columns.append(column if column.type == field.type else column.cast(field.type))
    count = sum(batch.num_rows for batch in batches)
    return make_struct(kind, columns, np.ones(count, bool))


def _with_faults(
    made: pa.StructArray, faults: list[RowFault], kind: pa.StructType
) -> pa.StructArray:
    """Insert one record for every fault.

    If ``kind`` has the field ``_error``, this field contains the message of the fault.
    All other fields of the record are null.
    """
    count = len(made)
    texts = {}
    if faults:
        # Index ``count`` refers to an additional null record after the last record.
        places: np.ndarray = np.insert(
            np.arange(count), [fault.place for fault in faults], count
        )
        made = pa.concat_arrays([made, pa.nulls(1, made.type)]).take(pa.array(places))
        texts = {fault.place + turn: fault.text for turn, fault in enumerate(faults)}
    if made.type == kind:
        return made
    fields = [*made.flatten(), text_column(texts, len(made))]
    return make_struct(kind, fields, np.ones(len(made), bool))
