# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes one record set into an Arrow record batch.

``arrow`` is the public module. pyarrow is imported when a function is called.
"""

from __future__ import annotations

from .._engine.active import record_engine as engine
from .._limits import DEFAULT, Limits
from ..messages.arrow_arrays import load_pyarrow
from .columns import check_unit
from .options import make_read_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    import pyarrow
    from typing_extensions import Buffer

    from .batches import AbortedTransaction
    from .columns import Unit

_schemas: dict[tuple[bool, bool, str, bool], pyarrow.Schema] = {}


def records_to_arrow(
    data: Buffer,
    *,
    timestamp_unit: Unit = "ms",
    headers: bool = True,
    batch_columns: bool = False,
    views: bool = False,
    aborted_transactions: Iterable[AbortedTransaction] | None = None,
    start_offset: int | None = None,
    end_offset: int | None = None,
    errors: Literal["strict", "replace"] = "strict",
    check_crc: bool = True,
    limits: Limits = DEFAULT,
) -> pyarrow.RecordBatch:
    """Decode a record set into one Arrow record batch, without an object per record.

    * ``timestamp_unit``: "s", "ms", "us" or "ns".
    * ``headers``, ``batch_columns``: include the optional columns.
    * ``views``: return keys and values as binary_view. Uncompressed bytes then remain
      in ``data``, which the record batch keeps alive.

    All other arguments are described in ``columns.decode_records``.

    Columns: offset int64, timestamp timestamp[``timestamp_unit``, UTC], timestamp_type
    int32, key and value binary, headers list<struct<key: string, value: binary>>, all
    nullable. The timestamp is null if the record has none, which includes magic 0 and
    the timestamp -1, or if the unit cannot represent it. A record without headers has
    an empty list, as on the wire, where headers cannot be null. The tables of
    ``kwire.spark`` and ``kwire export`` contain null in this case, as those from
    Spark's Kafka source do.

    Raises ``DecodeError`` as ``records.decode_batches`` does. Raises ``LimitExceeded``
    if headers exceed 2 GiB, if keys or values exceed 2 GiB and ``views`` is false, or
    if the batches together exceed ``total_decompressed_bytes`` in ``limits``.
    """
    library = load_pyarrow("kwire.records.arrow")
    options = make_read_options(
        errors=errors,
        check_crc=check_crc,
        limits=limits,
        start_offset=start_offset,
        end_offset=end_offset,
        aborted_transactions=aborted_transactions,
    )
    check_unit(timestamp_unit)
    array, _, _ = engine.decode_columns(
        data, options, 0, None, headers, batch_columns, timestamp_unit, views
    )
    key = (headers, batch_columns, timestamp_unit, views)
    schema = _schemas.get(key)
    if schema is None:
        batch: pyarrow.RecordBatch = library.record_batch(array)
        _schemas[key] = batch.schema
        return batch
    # Equal columns have an equal schema, so pyarrow does not have to import it again.
    made: pyarrow.RecordBatch = array.import_with(
        library.RecordBatch._import_from_c, schema
    )
    return made


def null_empty_lists(lists: pyarrow.ListArray) -> pyarrow.ListArray:
    """Replace each empty list by null, as Spark's Kafka source returns headers.

    This takes about 1 ns per row and does not copy the list content.
    """
    from pyarrow import compute

    offsets = lists.offsets
    is_empty = compute.equal(offsets[:-1], offsets[1:])
    return load_pyarrow("kwire.records.arrow").ListArray.from_arrays(
        offsets, lists.values, lists.type, mask=is_empty
    )
