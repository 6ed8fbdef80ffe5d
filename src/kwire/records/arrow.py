# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes record sets, or columns with record sets, into Arrow.

pyarrow is imported when a function is called: ``pip install kwire[arrow]``.
"""

from __future__ import annotations

from ..messages.arrow_arrays import load_pyarrow, load_short_binary_array
from ..messages.arrow_messages import keeps_errors
from .arrow_batches import records_to_arrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    import pyarrow

__all__ = ["record_sets_to_arrow", "records_to_arrow"]

_NAMES = {"timestampType": "timestamp_type"}
"""Column names for fields that Spark's source names differently."""


def record_sets_to_arrow(
    array: Any,
    *,
    errors: Literal["strict", "replace"] = "strict",
    on_error: Literal["raise", "null"] = "raise",
    schema: pyarrow.ListType | None = None,
) -> pyarrow.ListArray:
    """Decode an array with one record set per row into lists of records.

    ``array`` is a pyarrow array or chunked array of a binary type, an object with
    ``__arrow_c_array__`` or ``__arrow_c_stream__`` such as a polars series, or a pandas
    series. A record is struct<offset int64, timestamp timestamp[us, UTC],
    timestamp_type int32, key binary, value binary, headers list<struct<key string,
    value binary>>>. ``headers`` is null if a record has no headers. A null row remains
    null.

    * ``errors``: "strict" or "replace", for header keys that are not valid UTF-8.
    * ``on_error``: "raise" (default) raises the ``DecodeError`` of the first invalid
      row, as ``records_to_arrow`` does. With "null", a damaged batch becomes one record
      with the error message in an additional last field ``_error`` and null in all
      other fields. The batches around it are decoded.
    * ``schema``: result type, a list of structs with the fields to decode, in any
      order. Names are compared without case and underscores. Omitted fields are not
      decoded. A ``timestamp`` of type int64 is Kafka's own number: milliseconds since
      1970, or -1. If the schema has no ``_error``, a damaged batch becomes a null
      record.

    Raises ``ValueError`` if records do not have a field of ``schema``, or if a type
    cannot represent all values of its field. Raises ``TypeError`` if ``array`` contains
    neither bytes nor strings, and ``LimitExceeded`` if all rows together have 2 GiB or
    more.
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
