# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes record sets, or columns of record sets, into Arrow.

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
"""Fields of Spark's records whose name here is another one."""


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
