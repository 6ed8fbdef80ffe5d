# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes record sets into Arrow record batches.

The engine makes the columns; the functions here return them as pyarrow's types. They
import pyarrow when they are called: ``pip install kwire[arrow]``.
"""

from __future__ import annotations

from .._engine.active import record_engine as engine
from .._limits import DEFAULT, Limits
from ..messages.arrow import keeps_errors
from ..messages.arrow_arrays import load_pyarrow, load_short_binary_array
from .columns import check_unit
from .options import make_read_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal

    import pyarrow
    from typing_extensions import Buffer

    from .batches import AbortedTransaction
    from .columns import Unit

__all__ = ["record_sets_to_arrow", "records_to_arrow"]

_NAMES = {"timestampType": "timestamp_type"}
"""Fields of Spark's records whose name here is another one."""

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

    The arguments are those of ``columns.decode_records``. Columns: offset int64,
    timestamp timestamp[``timestamp_unit``, UTC], timestamp_type int32, key and value
    binary, headers list<struct<key: string, value: binary>>, all nullable. A record
    without a timestamp has null: all records of magic 0, and those with -1. A record
    without headers has an empty list, as on the wire, where headers cannot be null; the
    tables of ``kwire.spark`` and of ``kwire export`` have null there, as those of
    Spark's Kafka source have. With ``views``, key and value are binary_view: bytes that
    are not compressed stay in ``data``, which the batch holds as long as it lives.
    Raises ``DecodeError`` as ``records.decode_batches`` does, ``LimitExceeded`` if keys
    or values are over 2 GiB and no views.
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
    # The same columns have the same schema: pyarrow need not read it again.
    made: pyarrow.RecordBatch = array.import_with(
        library.RecordBatch._import_from_c, schema
    )
    return made


def record_sets_to_arrow(
    array: Any,
    *,
    errors: Literal["strict", "replace"] = "strict",
    on_error: Literal["raise", "null"] = "raise",
    schema: pyarrow.ListType | None = None,
) -> pyarrow.ListArray:
    """Decode an array of record sets, one a row, into lists of records.

    ``array`` is a pyarrow array or chunked array of a binary type, an object with
    ``__arrow_c_array__`` or ``__arrow_c_stream__``, such as a polars series, or a
    pandas series. A record is struct<offset int64, timestamp timestamp[us, UTC],
    timestamp_type int32, key binary, value binary, headers list<struct<key string,
    value binary>>>; headers are null if a record has none. A null row stays null.

    ``schema`` is the type of the result, a list of structs. It names the fields to
    decode, in any order and without regard to case and underscores; other fields cost
    nothing. A ``timestamp`` of int64 is Kafka's own number: milliseconds since 1970, or
    -1. ``ValueError`` for a field that records do not have, and for a type that cannot
    hold the values of its field.

    Raises the ``DecodeError`` of the first bad row, as ``records_to_arrow`` does. With
    ``on_error="null"``, a damaged batch is one record that has null in every field and
    the text of its error in a last field ``_error``; the batches around it are decoded.
    If a schema is passed that lacks ``_error``, a damaged batch is a null record.
    """
    keep_errors = keeps_errors(on_error)
    library = load_pyarrow("kwire.records.arrow")
    from ..messages.columns.chosen_fields import narrow_type
    from .record_lists import RECORD_LIST, read_records

    if schema is None:
        fields = [
            field.with_name(_NAMES.get(field.name, field.name))
            for field in RECORD_LIST.value_type
        ]
        schema = library.list_(library.struct(fields if keep_errors else fields[:-1]))
    narrow_type(RECORD_LIST, schema, str)
    lists: pyarrow.ListArray = read_records(
        load_short_binary_array(array),
        errors=errors,
        failfast=not keep_errors,
        schema=schema,
    )
    return lists


def null_empty_lists(lists: pyarrow.ListArray) -> pyarrow.ListArray:
    """Make each empty list null, as Spark's Kafka source returns headers.

    Cost: about 1 ns a row; the content is not copied.
    """
    from pyarrow import compute

    offsets = lists.offsets
    is_empty = compute.equal(offsets[:-1], offsets[1:])
    return load_pyarrow("kwire.records.arrow").ListArray.from_arrays(
        offsets, lists.values, lists.type, mask=is_empty
    )
